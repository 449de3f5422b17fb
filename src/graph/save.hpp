// Graphs as bytes, and back.
#pragma once

#include "base/bytes.hpp"
#include "graph/graph.hpp"

namespace smelt {

void write(ByteWriter& out, const IntExpr& expr);
void write(ByteWriter& out, const Shape& shape);
void write(ByteWriter& out, const SizeBinding& sizes);
// Throws UserError for a program with the user's own code, which has no bytes.
void write(ByteWriter& out, const Graph& graph);

// Throw DamagedBytes.
IntExpr read_expr(ByteReader& in);
Shape read_shape(ByteReader& in);
SizeBinding read_sizes(ByteReader& in);
Graph read_graph(ByteReader& in);

}  // namespace smelt

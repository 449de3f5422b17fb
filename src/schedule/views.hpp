// Lowering is evaluation at an index: a view is a rewrite of the index, and costs no memory.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace smelt::schedule {

using Index = std::vector<IntExpr>;

// Where element `index` of the view lies in its argument.
Index through_view(const Graph& graph, const Node& view, const Index& index, const Ranges& ranges);

// Where element `index` of the argument lies in the view, for views that keep every element
// (Reshape, Permute, whole flips); nothing for the others.
std::optional<Index> into_view(const Graph& graph, const Node& view, const Index& index, const Ranges& ranges);

// The index in `to` of the element that is at `index` in `from`, in row-major order; counts are
// equal.
Index reshaped_index(const Shape& from, const Shape& to, const Index& index, const Ranges& ranges);

// e >= 0, also where sizes are 0: the pieces of a joined array may have no elements although it has
// some.
bool holds_when_empty(const IntExpr& e, const Ranges& ranges);

// Joining nodes read an argument only where a guard holds: 0 <= value < extent.
struct Guard {
  IntExpr value, extent;
};
struct Piece {
  NodeId arg;
  Index index;                // in the argument
  std::vector<Guard> guards;  // those that do not hold always; where one fails the piece gives no value
};
// Pad: one piece, the padded array (its value is args[1]). Concat: one piece an argument that may
// have the value; the first whose guards hold counts.
std::vector<Piece> pieces(const Graph& graph, const Node& joined, const Index& index, const Ranges& ranges);

// The index into Gather's index array, and the one into its data, where `picked` stands for the
// gathered index.
Index gather_indices_index(const Graph& graph, const Node& gather, const Index& index);
Index gather_data_index(const Graph& graph, const Node& gather, const Index& index, const IntExpr& picked);

}  // namespace smelt::schedule

// Lowering is evaluation at an index: a view is a rewrite of the index, and costs no memory.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace smelt::schedule {

using Index = std::vector<IntExpr>;

bool is_view(NodeKind kind);  // Reshape, Permute, Broadcast, Slice

// Where element `index` of the view lies in its argument.
Index through_view(const Graph& graph, const Node& view, const Index& index, const Ranges& ranges);

// Where element `index` of the argument lies in the view, for views that keep every element (Reshape, Permute, whole flips);
// nothing for the others.
std::optional<Index> into_view(const Graph& graph, const Node& view, const Index& index, const Ranges& ranges);

// The index in `to` of the element that stands at `index` in `from`, in row-major order; counts are equal.
Index reshaped_index(const Shape& from, const Shape& to, const Index& index, const Ranges& ranges);

}  // namespace smelt::schedule

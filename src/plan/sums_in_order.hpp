// Results of products whose axes are stored in another order are summed in that order.
//
//   %2 = sum [m, n] of %1            %4 = permute %1, n before m
//   %3 = permute %2, n before m  →   %5 = sum [n, m] of %4
#pragma once

#include <optional>

#include "graph/graph.hpp"

namespace smelt::plan {

// Nothing where there are none.
std::optional<Graph> with_sums_in_order(const Graph& graph);

}  // namespace smelt::plan

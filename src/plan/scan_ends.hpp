// Single elements of the rows of a scan as reductions, where the kernel of the scan then has them.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace smelt::plan {

// The graph with such reductions; nothing where there is no such element, or where its plan is
// predicted to take about as long.
std::optional<Graph> with_scan_ends_in_rows(const Graph& graph, const Options& options);

}  // namespace smelt::plan

// Reductions over short axes that are computed wherever they are needed, like operations on
// elements, where that takes fewer kernels.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace smelt::plan {

// The graph with such reductions local; nothing where it has none, or where its plan is predicted
// to take about as long.
std::optional<Graph> with_short_reductions_local(const Graph& graph, const Options& options);

}  // namespace smelt::plan

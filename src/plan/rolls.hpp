// Rolls as slices of arrays that go on around their ends, where stencils then keep their rows.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace smelt::plan {

// The graph with such rolls; nothing where it has none, or where its plan is predicted to take
// about as long.
std::optional<Graph> with_rolls_in_stencils(const Graph& graph, const Options& options);

}  // namespace smelt::plan

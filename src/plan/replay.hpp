// The way from one kernel per operation to a plan, step by step, with what each step makes of bytes
// and time.
#pragma once

#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace smelt::plan {

struct ReplayState {
  size_t steps = 0;  // of Plan::steps that have been made
  size_t kernels = 0;
  int64_t bytes = 0;
  std::optional<double> us;  // predicted; nothing where a kernel has no prediction, or was not asked for
};

// At most `most` states: the first is unfused, the last has the groups of the plan before batches
// are made.
std::vector<ReplayState> replay(const Graph& graph, const Plan& plan, const Options& options, size_t most);

}  // namespace smelt::plan

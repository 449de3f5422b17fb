// Horizontal fusion: independent groups of like kind become the parts of one launch.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace smelt::plan {

// Groups in the order of execution, each with its word (Verdict::batch). The result is in an order of execution too.
std::vector<FusionGroup> batch_groups(const Graph& graph, std::vector<FusionGroup> groups,
                                      const std::vector<std::string>& words, const Options& options);

}  // namespace smelt::plan

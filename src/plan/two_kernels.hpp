// Groups that had better be two kernels, by the cost model.
#pragma once

#include <vector>

#include "plan/partition.hpp"

namespace smelt::plan {

// Times as fast, for more kernels: smaller differences may be errors of the model.
inline constexpr double kDecisive = 1.5;

// Where to cut each group that is predicted to take much longer than two kernels.
std::vector<Split> splits_that_pay(const Partition& parts, const std::vector<FusionGroup>& groups);

}  // namespace smelt::plan

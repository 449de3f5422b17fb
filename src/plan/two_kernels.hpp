// Groups that had better be two kernels, by the cost model.
#pragma once

#include <vector>

#include "plan/partition.hpp"

namespace smelt::plan {

// Where to cut each group that is predicted to take much longer than two kernels.
std::vector<Split> splits_that_pay(const Partition& parts, const std::vector<FusionGroup>& groups);

}  // namespace smelt::plan

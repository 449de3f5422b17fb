// A graph with copies of arrays that another kernel had better read in another order.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace smelt::plan {

struct StoredCopies {
  Graph graph;
  std::vector<Split> splits;  // keep the copies apart from what reads them
};

}  // namespace smelt::plan

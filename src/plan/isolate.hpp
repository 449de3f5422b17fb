// A group as a program of its own, in which groups that do the same are the same text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace smelt::plan {

struct Isolated {
  Graph graph;
  schedule::Group group;                          // within `graph`
  std::vector<NodeId> original;                   // per node of `graph`; -1 for what is only here
  std::vector<std::pair<Symbol, IntExpr>> sizes;  // symbols of its own, and what of the program they are
  std::string key;                                // equal for groups that run the same kernel
};

// Nodes are numbered in the order in which the group's outputs reach them. With `open_sizes`, a
// group whose values all have one shape becomes one over a single axis whose length is a symbol, so
// that groups of any number of elements are the same.
Isolated isolate(const Graph& graph, const FusionGroup& group, bool open_sizes);

}  // namespace smelt::plan

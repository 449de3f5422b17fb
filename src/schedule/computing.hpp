// Which nodes of a graph compute anything.
#pragma once

#include <unordered_set>
#include <vector>

#include "graph/graph.hpp"

namespace smelt::schedule {

// Whether a node computes anything; the others (inputs, constants, sizes, views) fold into their
// readers, unless they are outputs. After a few questions outputs are looked up instead of gone
// through.
class Computing {
 public:
  explicit Computing(const Graph& graph) : graph_(graph) {}
  bool operator()(NodeId id) const;

 private:
  const Graph& graph_;
  mutable size_t asked_ = 0;
  mutable std::unordered_set<NodeId> outputs_;
};

// The same of all nodes at once.
std::vector<bool> computing_nodes(const Graph& graph);

}  // namespace smelt::schedule

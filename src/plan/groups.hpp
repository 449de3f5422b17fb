// Which nodes are one group while the planner merges them, and the paths between groups.
#pragma once

#include <set>
#include <vector>

#include "plan/edges.hpp"

namespace smelt::plan {

class Groups {
 public:
  explicit Groups(const Edges& edges);  // every computing node is a group of its own, in the order of the graph

  size_t count() const { return bag_in_.size(); }  // the emptied ones too
  int of(NodeId id) const;                         // -1 for a node that computes nothing
  const std::vector<NodeId>& members(int g) const { return bag(g).nodes; }
  void merge(int from, int into);  // leaves `from` empty
  // A number that stays with the larger of two groups that merge, whichever keeps its own.
  int core(int g) const { return bag_in_[static_cast<size_t>(g)]; }

  // Whether group b reads what group a computes.
  bool adjacent(int a, int b) const;
  // A way from group a to group b through another group: merging them would close a cycle.
  bool path_around(int a, int b) const;

 private:
  // Groups merge by moving the smaller bag into the larger one, so that merging n nodes one by one
  // takes n log n steps, not n^2.
  struct Bag {
    int group;
    std::vector<NodeId> nodes;
    NodeId first, last;                  // the smallest and the largest of them
    mutable std::set<NodeId> consumers;  // of all of them; those that joined the group are dropped when they are met
  };
  Bag& bag(int g) { return bags_[static_cast<size_t>(bag_in_[static_cast<size_t>(g)])]; }
  const Bag& bag(int g) const { return bags_[static_cast<size_t>(bag_in_[static_cast<size_t>(g)])]; }
  template <class F>
  bool any_consumer(int g, NodeId last, const F& f) const;

  std::vector<int> bag_of_;  // per node
  std::vector<Bag> bags_;
  std::vector<int> bag_in_;  // per group
};

}  // namespace smelt::plan

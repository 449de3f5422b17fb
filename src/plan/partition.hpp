// How the nodes of a graph are divided into kernels while the planner works: groups, what they
// would store, the nodes that they compute again for themselves, and what speaks against merging
// two of them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "plan/edges.hpp"
#include "plan/groups.hpp"
#include "plan/plan.hpp"

namespace smelt::plan {

// Why a group is not to be one kernel, and what would change it.
std::pair<std::string, std::string> words_of(const std::variant<schedule::Schedule, schedule::Refusal>& made);

class Partition {
 public:
  Partition(const Graph& graph, const Options& options);

  const Graph& graph() const { return graph_; }
  const Options& options() const { return options_; }
  const Edges& edges() const { return edges_; }
  const Groups& groups() const { return groups_; }
  std::variant<schedule::Schedule, schedule::Refusal> scheduled(const FusionGroup& group) const {
    return schedule::make_schedule(graph_, group, options_);
  }

  int group_of(NodeId id) const { return groups_.of(id); }
  const std::vector<NodeId>& members(int g) const { return groups_.members(g); }
  bool computing(NodeId id) const { return edges_.computing[static_cast<size_t>(id)]; }
  const std::vector<NodeId>& consumers(NodeId id) const { return edges_.consumers[static_cast<size_t>(id)]; }
  const std::vector<NodeId>& sources(NodeId id) const { return edges_.sources[static_cast<size_t>(id)]; }
  bool has_product(int g) const;
  const std::set<NodeId>& copies(int g) const { return copies_[static_cast<size_t>(g)]; }
  bool has_copies() const { return !copiers_.empty(); }
  FusionGroup describe_group(int g) const { return describe(members(g), copies_[static_cast<size_t>(g)]); }
  bool copied_into(int g, NodeId id) const { return copies_[static_cast<size_t>(g)].count(id) > 0; }

  // Whether the group finds `id` in memory.
  bool reads(int g, NodeId id) const;

  // The group that these nodes would be. Copies are computed for its own use only. They may be
  // those of two groups of which one has copies of nodes that read the other in memory: these read
  // it still, unless they are taken `as_one`.
  FusionGroup describe(const std::vector<NodeId>& own, const std::set<NodeId>& copies = {}, bool as_one = false) const;
  // Whether they have a schedule as one, with what `apart` says of them otherwise.
  bool stands_as_one(const FusionGroup& apart, const std::vector<NodeId>& own,
                     const std::set<NodeId>& copies = {}) const;
  std::vector<NodeId> united(int a, int b) const;
  void merge(int from, int into);
  // What comes after belongs to this pass of the planner.
  void begin_pass(std::string_view name) { pass_ = name; }
  const std::vector<Step>& steps() const { return steps_; }
  // Does again what a planner did with the same graph.
  void apply(const Step& step);
  // Merges them if they can be one kernel, and had better be.
  bool try_merge(int from, int into);
  // The same where values are computed again: if that is predicted to take less.
  bool try_merge_for_less(int from, int into);
  // The two would compute too much again, and so would all that is larger.
  bool never_one(int a, int b) const;
  // Why the two were refused, and a remedy, where larger groups would be too.
  const std::pair<std::string, std::string>* why_never(int a, int b) const;
  // Whether it can be one kernel, and had better be.
  bool takes(const FusionGroup& group) const;

  // Products that share a factor also share the registers of a tile.
  bool are_slower_as_one_product(int a, int b) const;

  // The split that keeps these two groups apart, if there is one.
  const Split* apart(int a, int b) const;
  bool too_deep(int a, int b) const;
  bool too_long(int a, int b) const;

  // A small value that costs much is not computed again for every element of a large reader.
  bool repeats_too_much(NodeId producer, NodeId consumer) const;
  // Whether `cost` operations for each of these points take longer than storing the value by a
  // kernel of its own.
  bool repeats_too_much(int64_t cost, NodeId id, int64_t points) const;
  // Whether what others read of a group would be.
  bool repeats_too_much(int producers) const;
  // A single number does not count: every thread computes it.
  bool is_read_more_often(NodeId id, int64_t points) const;
  // Points over which a node is evaluated: of a reduction, its argument's; where its group has
  // none, those of the largest next to it.
  int64_t reach(NodeId id) const;

  // The groups that compute a node of another group again.
  const std::set<int>& copiers(NodeId id) const;
  std::set<NodeId> united_copies(int a, int b) const;
  void set_copies(int g, std::set<NodeId> copies);
  std::vector<FusionGroup> described_groups() const;
  // The group that computes a node for good: its own, or the first with a copy when its own stores
  // nothing any more.
  int home(NodeId id) const;

 private:
  // Whether the loops of `from` will do for both, so that there is no need to ask the schedules,
  // which go through the whole group each time: `into` computes at one index, at which what it
  // reads of `from` is computed already, and nothing else changes.
  bool surely_accepted(int from, int into) const;
  // Whether all that `into` reads of `from` is read at the same index, at which `from` computes it
  // for its outputs.
  bool reads_here(int from, int into) const;
  bool reads_only(NodeId reader, int group) const;
  // Whether a copy of `c` finds `id` in memory: one of a group that is not among those `inside`,
  // which may be several that would be one.
  bool read_by_copy(NodeId c, NodeId id, const std::set<NodeId>& inside) const;
  // Whether others read one of its values for far more elements than it has.
  bool is_rare(int g) const;
  void merge_as(const schedule::Schedule& schedule, int from, int into);
  // Whether both as one, scheduled so, are predicted to take clearly less on a GPU.
  bool is_less_as_one(int a, int b, const FusionGroup& both, const schedule::Schedule& schedule) const;
  // The two as one have been refused, and nothing has changed since.
  bool known_refusal(int a, int b) const;
  int64_t evaluations(NodeId id, int64_t elements) const;
  // What it is predicted to take; nothing where it is no product.
  std::optional<double> us_of_product(const FusionGroup& group) const;
  // All results of a call of the user's code are made at once. They have the same arguments, so
  // there is no path between them.
  void merge_results();

  const Graph& graph_;
  const Options& options_;
  Edges edges_;
  Groups groups_;
  std::vector<int> instructions_;  // per group
  std::vector<int64_t> repeat_;    // per group: operations, if all of it can be repeated
  std::vector<bool> repeatable_;   // per group
  std::vector<bool> direct_;       // per node: what it reads of other nodes, it reads at its own index
  std::vector<bool> here_;         // per node: computed at the index of its group's outputs
  std::vector<bool> still_;        // per group: every node is computed at one index
  std::unordered_map<uint64_t, std::pair<std::string, std::string>> reasons_;  // of those refused for good
  std::unordered_map<uint64_t, size_t> refused_;                               // pairs of groups, and their nodes then
  std::vector<std::optional<int64_t>>
      points_;  // per group without reductions and the like: how often its largest value is evaluated
  std::vector<std::optional<Shape>> even_;  // per group: the shape of every value, if equal and none is reduced
  std::vector<std::set<NodeId>> copies_;    // per group: nodes of other groups that it computes again
  std::unordered_map<NodeId, std::set<int>> copiers_;  // the other way round
  const std::set<int> nobody_;
  std::vector<NodeId> first_;  // per group: the node that it began with
  std::vector<Step> steps_;
  std::string_view pass_;
};

}  // namespace smelt::plan

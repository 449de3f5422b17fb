// Plan: which nodes of a graph become one kernel, and why. Explanation is data: every
// producer-consumer edge has a Decision.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.hpp"

namespace smelt::plan {

using schedule::name_of;
using schedule::Strategy;
using schedule::Target;
using schedule::Tuning;

// A group that is not to be one kernel: its nodes up to `last`, and the others, may not be in one
// group.
struct Split {
  std::vector<NodeId> nodes;  // ascending
  NodeId last = -1;
  int64_t spilled_bytes = 0;  // of each thread of that kernel, if that is why
  double times_as_long = 0;   // that one kernel is predicted to take, compared with two; if that is why
};

struct Options : schedule::Options {
  bool fuse = true;  // false: one kernel per primitive operation; views still cost nothing
  int depth = 0;     // operations that one kernel may have; 0: no limit
  std::vector<Split> splits;
};

// Whether the nodes, inputs or outputs of a group contain this one.
inline bool contains(const std::vector<NodeId>& ascending, NodeId id) {
  return std::binary_search(ascending.begin(), ascending.end(), id);
}

struct Batch;  // batch.hpp

// One kernel.
struct FusionGroup : schedule::Group {
  std::shared_ptr<const schedule::Schedule> schedule;  // chosen with the plan; nothing for a batch
  Tuning tuning = {};                                  // that the schedule was made with
  std::string rebuilt = {};                            // why that is not the schedule's own choice; empty when it is
  std::string untuned = {};                            // why tuning measured nothing; empty if it did, or did not run
  std::vector<FusionGroup> parts = {};      // Batch: the groups that run side by side; what is above is of all of them
  std::shared_ptr<const Batch> batch = {};  // of these parts

  Strategy strategy() const { return parts.empty() ? schedule->strategy : Strategy::Batch; }
  std::string note() const;  // one line for people: "a row of 1024 per iteration, 2 passes, 1 value kept"
};

struct Decision {
  NodeId producer, consumer;  // an edge between two computing nodes (views in between are skipped)
  bool fused;
  std::string reason;        // "elementwise into its only consumer"
  int64_t bytes;             // fused: bytes of traffic saved; cut: bytes paid for the round trip
  std::string remedy;        // cut: what would change it; empty when fused
  std::string value_policy;  // a value with several consumers: "kept", "recomputed", "stored"; else empty
  int times = 1;             // that the value moves, of which `bytes` is made
};

// An input of the program that another kernel reads too.
struct ReadAgain {
  NodeId input;
  NodeId first, again;  // nodes that read it: of the first kernel that does, and of this one
  std::string reason;   // why the two are not one kernel
  int64_t bytes;        // that are read once more
  std::string remedy;
};

// One step of the planner: a group joins another, or computes values of others again. Groups are
// named by a node that was theirs before any step.
struct Step {
  enum class Kind : uint8_t { Merge, Recompute } kind = Kind::Merge;
  std::string_view pass;       // "producers", "siblings", ...
  NodeId from = -1;            // Merge: the group that ends
  NodeId into = -1;            // the group that goes on
  std::vector<NodeId> copies;  // Recompute: all that it computes again from here on
};

// Bytes that move between memory and the kernels, for the sizes at hand.
struct Traffic {
  int64_t unfused_bytes = 0;        // every operation reads its inputs and writes its output
  int64_t fused_bytes = 0;          // every kernel reads its inputs and writes its outputs
  int64_t ideal_bytes = 0;          // every input of the program once, every output once
  double savings_pct() const;       // 100 * (1 - fused/unfused); 0 when nothing moves
  double speedup_estimate() const;  // unfused/fused; 0 when nothing moves
};

struct Plan {
  std::vector<FusionGroup> groups;    // in the order of execution
  std::vector<Decision> decisions;    // ascending by producer, consumer
  std::vector<ReadAgain> read_again;  // ascending by input
  Traffic traffic;
  std::vector<Step> steps;  // from one kernel per operation to these groups, in order
};

Plan make_plan(const Graph& graph, const Options& options);
// Its bytes, of decisions and as a whole, for other sizes than those that it was made with.
void count_bytes(const Graph& graph, const SizeBinding& sizes, Plan& plan);
std::string print(const Graph& graph, const Plan& plan);
// Throws InternalError unless every computing node is in at least one group, groups are in order,
// and edges are decided.
void verify(const Graph& graph, const Plan& plan);

}  // namespace smelt::plan

// Plan: which nodes of a graph become one kernel, and why. Explanation is data: every producer-consumer edge has a Decision.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace smelt::plan {

// What the planner must know of the machine.
struct Target {
  std::string device = "cpu";
  bool gpu = false;  // iterations of the grid are run by teams of threads, not by one thread each
  int threads = 1;   // CPU threads, or multiprocessors of a GPU
  int vector_bits = 256;
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 1 << 20;  // per core
  int64_t l3_bytes = 8 << 20;
  // GPU
  int compute = 90;                  // compute capability, times ten
  int64_t shared_bytes = 227 << 10;  // that one workgroup may have
  bool clusters = false;             // workgroups of a cluster read each other's shared memory
};

// What a schedule for a GPU would choose itself; 0: it does.
struct Tuning {
  int lanes = 0, unroll = 0;  // elements of a thread at a time, and times
  int threads = 0;            // of a workgroup
  int cluster = 0;            // workgroups to a row
  bool operator==(const Tuning&) const = default;
};

// A group that was found not to fit one kernel: its nodes up to `last`, and the others, may not be in one group.
struct Split {
  std::vector<NodeId> nodes;  // ascending
  NodeId last = -1;
  int64_t spilled_bytes = 0;  // of each thread of that kernel
};

struct Options {
  bool fuse = true;  // false: one kernel per primitive operation; views still cost nothing
  int depth = 0;     // operations that one kernel may have; 0: no limit
  Target target;
  Tuning tuning;
  std::vector<Split> splits;
  SizeBinding sizes;  // the sizes at hand: estimates use them, results never depend on them
};

// How a group runs.
enum class Strategy : uint8_t {
  Pointwise,  // every output element on its own
  Tiled,      // pointwise in two-dimensional tiles, because an input or output runs across the others
  Stencil,  // pointwise, down the rows of strips of columns: what is needed at several neighbouring places is kept in rings of rows
  Row,      // reductions along the fastest axis, a row per iteration, row values kept on chip
  Column,   // reductions along other axes, vector lanes across the fastest kept axis
  Split,    // rows spread over the grid: reductions by partial results and a combining phase, scans in order
  Batch,    // independent groups of like kind, each with a schedule of its own, in one launch
  Custom,   // one operation with the user's own code
  Scatter,  // updates to rows that the data names
};
std::string_view name_of(Strategy strategy);

// One kernel.
struct FusionGroup {
  std::vector<NodeId>
      nodes;  // ascending; what the kernel computes (views and constants that it folds in are not listed)
  std::vector<NodeId> outputs;  // of these, the values that it stores: graph outputs and what other groups read
  std::vector<NodeId> inputs;   // values that it reads from memory: graph inputs and outputs of other groups
  Strategy strategy{};
  std::string schedule_note;            // one line for people: "a row of 1024 per iteration, 2 passes, 1 value kept"
  Tuning tuning = {};                   // that its kernel was built with
  std::string rebuilt = {};             // why that is not the schedule's own choice; empty when it is
  std::vector<FusionGroup> parts = {};  // Batch: the groups that run side by side; what stands above is of all of them
};

struct Decision {
  NodeId producer, consumer;  // an edge between two computing nodes (views in between are skipped)
  bool fused;
  std::string reason;        // "elementwise into its only consumer"
  int64_t bytes;             // fused: bytes of traffic saved; cut: bytes paid for the round trip
  std::string remedy;        // cut: what would change it; empty when fused
  std::string value_policy;  // a value with several consumers: "kept", "recomputed", "stored"; else empty
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
  std::vector<FusionGroup> groups;  // in the order of execution
  std::vector<Decision> decisions;  // ascending by producer, consumer
  Traffic traffic;
};

// What a schedule says to a merged group: accepted with a strategy, or refused with a reason and what would change it.
struct Verdict {
  bool accepted = false;
  Strategy strategy{};
  std::string note;
  std::string reason, remedy;
  std::string batch;  // groups of the same word may run side by side in one launch; empty: this one may not
  std::string dear;   // accepted, but several kernels would be faster: why
  std::vector<std::pair<NodeId, std::string>> kept = {};  // values that are computed once for several readers, and how
};
using Accepts = std::function<Verdict(const Graph&, const FusionGroup&, const Options&)>;

Plan make_plan(const Graph& graph, const Options& options, const Accepts& accepts);
std::string print(const Graph& graph, const Plan& plan);
// Throws InternalError unless every computing node stands in at least one group, groups are in order, and edges are decided.
void verify(const Graph& graph, const Plan& plan);

// Which nodes compute anything, as class Computing (computing.hpp) says it of one at a time.
std::vector<bool> computing_nodes(const Graph& graph);

}  // namespace smelt::plan

// What a schedule is made for: the nodes of one kernel, the machine that runs it, and the sizes at
// hand.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace smelt::schedule {

struct Calibration;

// What schedules must know of the machine.
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
  // OpenCL: threads meet in the memory of their workgroup alone, each team in one of its own;
  // workgroups know nothing of each other; functions are those of every target; no batches. Where
  // this is no `gpu`, the device is a CPU: one thread runs an iteration, in loops that the driver
  // vectorizes.
  bool plain = false;
  int workgroup = 1024;   // threads that it may have
  bool atomics64 = true;  // words of 64 bits are joined atomically, and f64 is there
  double memory_gbs = 0;  // GPU: that its memory could deliver at most; 0: unknown
  // CPU: dot products of pairs of bf16, and of four u8 with four i8.
  bool dot_bf16 = false, dot_bytes = false;
  bool tiles = false;                           // CPU: matrix units multiply tiles of bf16 and of bytes
  std::shared_ptr<const Calibration> measured;  // for the cost model alone; empty: nothing is
};

// What a schedule would choose itself; 0: it does.
struct Tuning {
  int lanes = 0, unroll = 0;  // elements of a thread at a time, and times; on a CPU those of a vector loop
  int threads = 0;            // of a workgroup
  // Workgroups to a row or a tile of columns; of stencils, to a multiprocessor.
  int cluster = 0;
  // Lanes along a kept axis where the family has them along a reduced one; a stencil's columns
  // apart where it has them side by side, and the other way round.
  bool turned = false;
  bool rings = false;  // of what is in memory, where caches would serve its neighbours
  // On a CPU, of one iteration: elements of the vector axis, of a tile the rows and columns. On a
  // GPU the columns of a tile.
  int64_t tile = 0;
  // The other way than the family has it: rows split over the grid, or each done as a whole; all
  // axes as one, or loops over the last alone. On a GPU `merged` keeps a short axis among the
  // others.
  bool split = false, merged = false;
  bool operator==(const Tuning&) const = default;
};

struct Options {
  Target target;
  Tuning tuning;
  SizeBinding sizes;  // the sizes at hand: estimates use them, results never depend on them
};

// The nodes of one kernel.
struct Group {
  std::vector<NodeId>
      nodes;  // ascending; what the kernel computes (views and constants that it folds in are not listed)
  std::vector<NodeId> outputs;     // of these, the values that it stores: graph outputs and what other groups read
  std::vector<NodeId> inputs;      // values that it reads from memory: graph inputs and outputs of other groups
  std::vector<NodeId> alone = {};  // of these, ascending, graph inputs that no other group of a plan finds in a cache
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
  Product,  // sums of products of two factors, in tiles
  Chain,    // a product whose rows are weights of the results of another one
  Scatter,  // updates to rows that the data names
};
std::string_view name_of(Strategy strategy);

// Why there is no schedule, and what would change that.
struct Refusal {
  std::string reason, remedy;
  bool too_long = false;  // and larger groups would be refused for the same reason
};

}  // namespace smelt::schedule

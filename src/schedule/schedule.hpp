// How a group runs on a target: the single definition of what may be fused. A group is legal
// exactly when it has a Schedule.
#pragma once

#include <string>
#include <variant>

#include "schedule/blocked.hpp"
#include "schedule/chain.hpp"
#include "schedule/cut.hpp"
#include "schedule/domain.hpp"
#include "schedule/operations.hpp"
#include "schedule/product.hpp"
#include "schedule/stencil.hpp"

namespace smelt::schedule {

// How updates are applied to rows (kernel/lower_scatter*.cpp).
enum class ScatterForm : uint8_t {
  Ranges,  // each part of the rows belongs to one iteration, which scans the updates in order for its own
  Copies,  // CPU: each part of the updates has its own copy of the result; then the copies are combined
  Atomic,  // GPU: any thread anywhere, by atomic operations
  Exact,   // GPU: sums of floats as integers relative to the largest of each element, so that the order does not matter
  Levels,  // GPU: sums of f32 as integers at the level of their exponent, so that the order does not matter
  Newest,  // GPU: the number of the last update of each row first, then that update alone
  Few,     // GPU: each update looks for others of its row; the first of them joins all in order, the last one is set
  Listed,  // GPU: the updates of each row are listed first, then each row takes its own
};

struct Schedule {
  Strategy strategy{};
  Domain domain;           // axes merged
  int vector_axis = -1;    // the axis whose points are lanes; -1: the domain has one point
  bool flattened = false;  // Pointwise, Column on a GPU: several kept axes as one vector axis, indices by division
  int flat_from = 0;       // Pointwise, flattened: the first of those axes; those before it are loops
  bool pieces = false;     // Pointwise: a short last axis is a vector, and the axis before it a loop
  int across_axis = -1;    // Tiled: the axis along which the reads of `staged`, or most reads, are contiguous
  int narrow_axis = -1;    // Split: the reduced axis after which a few columns lie; `tile` is then what one step takes
  std::optional<Cut> cut;  // Pointwise: the loops go over ranges of an axis, one array of a concat each
  std::optional<Blocking> blocking;  // Pointwise on a GPU: each thread has a block of results of local reductions
  // Pointwise on a GPU: outputs with several neighbours for each point. They go through scratch, so
  // that they are stored as words.
  std::vector<NodeId> interleaved;
  std::vector<Read> staged;    // Tiled: what is read across the vector axis, and goes through scratch tile by tile
  bool turns_results = false;  // Tiled on a GPU: what is stored goes through scratch, computed along `across_axis`
  int64_t unit =
      1;  // Tiled: elements that stay together, as the channels of a pixel do: the extent of the last axis, or 1
  int lanes = 1;           // elements of one vector step
  int64_t tile = 0;        // points of the vector axis in one grid iteration; 0: all
  bool flat = false;       // Row on a GPU: one vector loop over all reduced axes, indices by division
  int columns = 0;         // of a flat Row: number of neighbours of the last kept axis side by side; 0: it reduces rows
  int rows = 0;            // Row on a CPU: number of rows whose results are computed side by side
  int64_t keep_bytes = 0;  // Row, Column: on-chip memory for values that several stages need
  int64_t cache_bytes = 0;  // on a CPU: size of the last-level cache, where results may stay until they are read
  // GPU: the threads that run one iteration together, of a workgroup, and steps of a Vector loop
  // taken at once.
  int team = 0, workgroup = 0;
  int unroll = 1;
  ScatterForm scatter{};           // Scatter
  bool on_chip = false;            // Scatter, Atomic: workgroups combine updates in shared memory first
  bool copies_first = false;       // Scatter, Ranges: what is scattered into is copied as a whole, not range by range
  bool stores_updates = false;     // Scatter, Levels: the phase that computes the updates stores them for a later one
  bool sparse = false;             // Scatter, Listed: fewer updates than rows, as estimated
  int resident = 0;                // workgroups of a multiprocessor that registers must do for; 0: any number
  bool plain = false;              // Target::plain
  std::vector<NodeId> passing;     // GPU: what is read once where little is stored; the L1 cache need not keep it
  std::vector<NodeId> lasting;     // GPU: what is read once by neighbours; the L2 cache had better evict it last
  bool held = false;               // one step covers a row: what its passes read stays in registers
  std::optional<Stencil> stencil;  // Stencil: what is kept in rings of rows
  std::optional<Product> product;  // Product
  std::optional<Chain> chain;      // Chain
  std::string unprofitable;        // why several kernels would be faster; empty when they would not
  bool repeats = false;            // that is since values are computed again, at several indices
  std::string note;                // one line for people
};

std::variant<Schedule, Refusal> make_schedule(const Graph& graph, const Group& group, const Options& options);

// Groups with the same word may share a launch; empty: this one may not.
std::string batch_word(const Graph& graph, const Group& group, const Schedule& schedule, const Target& target);

}  // namespace smelt::schedule

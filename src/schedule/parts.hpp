// What the schedules of both kinds of target ask of a domain. Internal to this folder.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

#include "schedule/schedule.hpp"

namespace smelt::schedule {

// schedule_scatter.cpp: groups with a Scatter.
bool has_scatter(const Graph& graph, const Group& group);
std::variant<Schedule, Refusal> scatter_schedule(const Graph& graph, const Group& group, const Options& options);

// How often the rows are gone over: once for each level of reductions, and once more for outputs
// that need the last of them.
int passes_of(const Domain& domain);
std::string scans_text(const Domain& domain);
// The same group in fewer passes than so many, where reductions may run along with those that they
// need.
std::optional<Domain> domain_of_fewer_passes(const Graph& graph, const Group& group, const Options& options,
                                             Online online, int passes);
std::string passes_text(const Domain& domain);

// Reductions of fewer elements are not split: there is nothing to gain from spreading them over
// threads.
constexpr int64_t kSmallWork = 1 << 16;
// A reduction over at least this many rows is split, so that threads share it and its error stays
// small.
constexpr int64_t kTallColumn = 512;
// Bounds of the lanes of a CPU's vectors.
constexpr int64_t kFewestLanes = 4, kMostLanes = 64;

// Points that a part of a split reduction has at least. More parts than kMaxParts only lengthen the
// second phase; rows have at most kTeamsPerProcessor parts for each multiprocessor of a GPU.
constexpr int64_t kPartElements = 32768, kMaxParts = 1024, kTeamsPerProcessor = 4;
// Columns of a GPU that a warp each takes: the second phase goes over the parts one after another.
constexpr int64_t kMostColumnParts = 512, kWarpsPerProcessor = 32;

// The reduced axis that is split where lanes run along rows: the first one where the lanes run
// along all, else that of which most parts can be made; parts of the axis of the lanes are not
// short.
const Axis& axis_in_parts(const Schedule& schedule);
int64_t most_parts_of(const Axis& axis, bool of_lanes);

// Whether the lanes of a row could as well run along its last kept axis, since no operand changes
// along that axis and along a reduced one; and the domain with that axis innermost.
bool may_turn(const Domain& domain);
void turn(Domain& domain);

// Elements from one row of a tile in scratch, of units of so many elements, to the next: a word, or
// a unit, more than it has keeps neighbours in a column out of the same bank, or cache set.
inline int64_t staged_row(int64_t side, DType dtype, int64_t unit = 1) {
  const int64_t word = std::max(1, 4 / size_of(dtype));
  return side * unit + (unit % word == 0 && (unit & (unit - 1)) == 0 ? unit : word);
}

// The same of the elements of a point: an odd number of words.
int64_t row_of_points(int64_t elements, DType dtype);

int64_t power_of_two_from(int64_t n);  // the least one of at least n

// Whether the rows of columns on a CPU are so far apart, and so many, that a core which takes a few
// lines of each waits for memory: every row is another page, and nothing is fetched ahead.
bool has_far_rows(const Schedule& schedule, const Target& target);

// The innermost axis that is reduced, or that is kept; -1 when there is none.
int last_axis(const Domain& domain, bool reduced);

// Whether some reduction is an argmin or argmax, which keeps a position with every value.
bool finds_positions(const Graph& graph, const Domain& domain);

// The axis along which an access is contiguous, if there is one; -1 for values that are the same
// everywhere or stepped over.
int contiguous_axis(const Graph& graph, const Domain& domain, NodeId node, const Index& index);

// Whether the place of an element steps through an array as through the axes from this one on,
// which lie one after the other in it.
bool lies_as_axes(const Domain& domain, const IntExpr& place, int from, const SizeBinding& sizes);

// Whether every element that is read lies in its array, whatever guards it.
bool always_inside(const Graph& graph, const Domain& domain, const Read& read);

// Lanes follow the first output; an axis order in which it is stored across would waste every cache
// line.
void follow_output(const Graph& graph, Domain& domain);

// Reads that are contiguous along one other axis than the lanes; the tile of such a read is turned
// in scratch.
void find_staged(const Graph& graph, Schedule& s);

// The same where a short last axis is contiguous in what is read and in what is stored, and the
// axes before it change places: units of a few bytes are turned, each as a whole.
void find_staged_units(const Graph& graph, Schedule& s);

// Whether an array has so few elements for the points of a domain that caches hold it.
bool stays_in_caches(const Graph& graph, const SizeBinding& sizes, const Domain& domain, NodeId array);

// For a GPU, where reads that begin anywhere have neighbours along another axis than the lanes, as
// what is picked, padded, or joined along the lanes: results are computed along that one, and
// turned in scratch.
void find_turned_results(const Graph& graph, const SizeBinding& sizes, bool joined, Schedule& s);

// Tiled: the axis along which outputs are contiguous, by elements or by units.
inline size_t tiled_columns(const Schedule& s) { return s.domain.axes.size() - (s.unit > 1 ? 2 : 1); }

// schedule_product.cpp: nothing where the group is no product, or one too small for tiles.
std::optional<Schedule> product_on_cpu(const Graph& graph, const Domain& domain, const Group& group,
                                       const Options& options);
std::optional<Schedule> product_on_gpu(const Graph& graph, const Domain& domain, const Group& group,
                                       const Options& options);

// schedule_chain.cpp: nothing where the group is no chain of products, or the target has no matrix
// units.
std::optional<Schedule> chain_on_gpu(const Graph& graph, const Group& group, const Options& options);

// schedule_cpu.cpp
int natural_lanes(const Target& target);  // of a vector, of elements of 32 bits
std::variant<Schedule, Refusal> cpu_schedule(const Graph& graph, Domain domain, const Group& group,
                                             const Options& options);

// schedule_gpu.cpp
std::variant<Schedule, Refusal> gpu_schedule(const Graph& graph, Domain domain, const Group& group,
                                             const Options& options);

// schedule_blocked.cpp: for pointwise domains with sums over windows of products; nothing where
// blocks of results would save nothing.
std::optional<Schedule> blocked_schedule(const Graph& graph, const Domain& domain, const Group& group,
                                         const Options& options);

// Why a group that is not blocked should not be one kernel: a long sum of it would be blocked by
// itself.
std::optional<Refusal> loses_blocks(const Graph& graph, const Group& group, const Options& options);

// schedule_stencil.cpp: for pointwise domains whose values are needed at several neighbouring
// places; nothing for others. `unprofitable` says why another schedule of this group would take
// longer than several kernels, where it would.
std::optional<Schedule> stencil_schedule(const Graph& graph, const Domain& domain, const Group& group,
                                         const Options& options, std::string& unprofitable);

// free_lanes.cpp
// The longest kept axis along which no operand changes that also changes along a reduced one: lanes
// along it have their own in registers, and read what they share one element at a time. -1: none.
int free_axis(const Domain& domain);
// So many lanes that their own operands, which every step of the reduced axes reads again, stay in
// half of the vector registers. Positions are selected: where they do not stay in registers, that
// is a store under a mask, which takes some cores as long as ten other instructions.
int lanes_that_hold(const Domain& domain, int lanes, const Target& target);

}  // namespace smelt::schedule

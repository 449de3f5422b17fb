// Scatters are kernels of their own: what they read is computed on the way, what they write is
// complete when all of them is done.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "schedule/computing.hpp"
#include "schedule/levels.hpp"
#include "schedule/parts.hpp"

namespace smelt::schedule {
namespace {

constexpr int64_t kScatterChunk = 8192;
// Copies of the result, one for each part of the updates, are worth their making where they stay in
// the caches.
constexpr int64_t kMostCopied = 1 << 16;
constexpr int64_t kUpdatesPerCopied = 4;
constexpr int kScatterWorkgroup = 256, kLanesOfGpu = 4;
// What a workgroup may join in shared memory, so that several of them fit a multiprocessor; and
// where it has more of it than the least that devices have.
constexpr int64_t kOnChipBytes = 32 << 10, kLargeOnChipBytes = 64 << 10;
// From so many bytes of a row and elements of all rows or updates on, each row takes its own
// updates, which are listed before: one by one they would meet in memory.
constexpr int64_t kListedBytes = 32, kListedElements = 1 << 18;
constexpr int64_t kMostOfLevels = int64_t{1} << 28;
// So many updates, whatever the sizes of a call, may each look at all of them. On an H200 that
// takes 3 us, and of 4096 11.
constexpr int64_t kFew = 1024;
// On a CPU a row has so many updates that it had better be in the caches still when they come.
constexpr int64_t kRowsPerUpdate = 4;
// What finds a row is computed again by every part of the rows.
constexpr int kMostIndexCost = 40;

int64_t power_of_two_to(int64_t n) {
  int64_t p = 1;
  while (2 * p <= n) p *= 2;
  return p;
}

int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Sizes {
  int64_t rows = 0, columns = 0, updates = 0;  // at hand
  int64_t most_updates = 0;                    // of any call, whose rows are found easily
};

// What of the group an argument is computed from.
std::set<NodeId> computed_for(const Graph& graph, const Group& group, NodeId argument) {
  const Computing computes(graph);
  std::set<NodeId> found;
  std::vector<NodeId> waiting{argument};
  while (!waiting.empty()) {
    const NodeId id = waiting.back();
    waiting.pop_back();
    const bool folds = !computes(id);
    const bool member = std::binary_search(group.nodes.begin(), group.nodes.end(), id);
    if (graph.at(id).kind == NodeKind::Input || (!folds && !member)) continue;
    if (!found.insert(id).second) continue;
    for (const NodeId arg : graph.at(id).args) waiting.push_back(arg);
  }
  return found;
}

// Only plain expressions are asked of many elements at once, and each of them many times.
bool plain(const Graph& graph, const std::set<NodeId>& nodes) {
  int cost = 0;
  for (const NodeId id : nodes) {
    if (graph.at(id).kind == NodeKind::Gather || graph.at(id).kind == NodeKind::Reduce) return false;
    cost += cost_of(graph.at(id));
  }
  return cost <= kMostIndexCost;
}

// Whether updates are stored once they are computed, rather than computed by two phases.
bool is_dear(const Graph& graph, const std::set<NodeId>& nodes) {
  constexpr int kMostInstructions = 40;
  int instructions = 0;
  for (const NodeId id : nodes) {
    const Node& node = graph.at(id);
    if (node.kind == NodeKind::Gather || node.kind == NodeKind::Reduce) return true;
    instructions += instructions_of(node);
  }
  return instructions > kMostInstructions;
}

bool fits_on_chip(const Node& node, bool exact, const Target& target) {
  const auto elements = count(node.shape).constant();
  const int64_t bytes = exact ? 8 : std::max(4, size_of(node.dtype));
  const int64_t room = target.shared_bytes >= 3 * kLargeOnChipBytes ? kLargeOnChipBytes : kOnChipBytes;
  return elements && *elements <= room / bytes;
}

// Where the sums of all levels fit.
bool fits_in_levels(const Node& node, const Sizes& sizes) {
  if (size_of(compute_type(node.dtype)) == 8) return false;
  const int64_t levels = levels_of(sizes.updates * sizes.columns).count.constant().value();
  return sizes.rows * sizes.columns * levels * 8 <= kMostOfLevels;
}

ScatterForm form_of(const Node& node, const Sizes& sizes, const Options& options) {
  const Target& target = options.target;
  const bool extreme = node.scatter == ScatterKind::Max || node.scatter == ScatterKind::Min;
  if (!target.gpu) {
    const int64_t elements = sizes.rows * sizes.columns;
    const bool may_copy = node.scatter != ScatterKind::Set && elements <= kMostCopied;
    const bool many = sizes.updates * sizes.columns >= kUpdatesPerCopied * elements;
    return may_copy && many != options.tuning.split ? ScatterForm::Copies : ScatterForm::Ranges;
  }
  if (!target.plain && sizes.most_updates <= kFew) return ScatterForm::Few;
  if (!target.atomics64 && (node.scatter == ScatterKind::Set || size_of(compute_type(node.dtype)) == 8 || !extreme))
    return ScatterForm::Ranges;
  if (node.scatter == ScatterKind::Set) return ScatterForm::Newest;
  const bool wide = sizes.columns * size_of(compute_type(node.dtype)) >= kListedBytes &&
                    std::max(sizes.updates, sizes.rows) * sizes.columns >= kListedElements;
  if (!extreme && node.scatter != ScatterKind::Add) return ScatterForm::Ranges;
  const bool exact = !extreme && is_float(node.dtype) && !node.atomic;
  if (!target.plain && wide && !fits_on_chip(node, exact, target)) return ScatterForm::Listed;
  if (exact && !fits_on_chip(node, exact, target) && fits_in_levels(node, sizes)) return ScatterForm::Levels;
  return exact ? ScatterForm::Exact : ScatterForm::Atomic;
}

void for_gpu(const Node& node, const Sizes& sizes, const Target& target, Schedule& s) {
  const auto width = count(Shape(node.shape.begin() + 1, node.shape.end())).constant();
  s.lanes = kLanesOfGpu;
  while (s.lanes > 1 && width && *width % s.lanes != 0 && *width > 1) s.lanes /= 2;
  s.workgroup = s.team = kScatterWorkgroup;
  if (s.scatter == ScatterForm::Ranges) {
    if (size_of(node.dtype) == 8) s.lanes = std::min(s.lanes, 2);
    while (s.lanes > 1 && width && *width % s.lanes != 0) s.lanes /= 2;
    s.team = static_cast<int>(std::clamp<int64_t>(power_of_two_to(sizes.columns / s.lanes), 32, kScatterWorkgroup));
  } else {
    s.unroll = 2;
  }
  if (s.scatter == ScatterForm::Listed || s.scatter == ScatterForm::Few) {
    s.tile = int64_t{s.team} * s.lanes * s.unroll;
    const int64_t threads = ceil_of(sizes.columns, s.lanes), blocks = ceil_of(threads, kScatterWorkgroup);
    const int least = s.scatter == ScatterForm::Few ? 32 : 1;  // that look through the updates
    s.team = std::max(least, static_cast<int>(std::bit_ceil(static_cast<uint64_t>(ceil_of(threads, blocks)))));
    // Warps that join what they have found meet as a workgroup.
    if (s.scatter == ScatterForm::Few && s.team > kWarp) s.workgroup = s.team;
    return;
  }
  const bool exact = s.scatter == ScatterForm::Exact;
  s.on_chip = (exact || s.scatter == ScatterForm::Atomic) && fits_on_chip(node, exact, target);
  if (s.on_chip) s.workgroup = s.team = 2 * kScatterWorkgroup;
  s.tile = int64_t{s.team} * s.lanes * s.unroll;
}

std::string note_of(const Schedule& s, ScatterKind kind, const std::string& updates) {
  switch (s.scatter) {
    case ScatterForm::Ranges:
      return fmt::format("each part of the rows takes its own of {} updates, in order", updates);
    case ScatterForm::Copies: return fmt::format("parts of {} updates into copies of the result, then joined", updates);
    case ScatterForm::Atomic:
      return fmt::format("{} updates in any order, by atomic operations{}", updates,
                         s.on_chip ? ", first in each workgroup's shared memory" : "");
    case ScatterForm::Levels:
    case ScatterForm::Exact:
      return fmt::format("{} updates added as integers, so that their order does not matter{}", updates,
                         s.on_chip ? ", first in each workgroup's shared memory" : "");
    case ScatterForm::Listed:
      return fmt::format("{} updates are listed by their rows, then each row joins its own", updates);
    case ScatterForm::Few:
      return fmt::format("{} updates into a copy, each where it is the {} of its row", updates,
                         kind == ScatterKind::Set ? "last" : "first, with the others");
    case ScatterForm::Newest: return fmt::format("the last of {} updates of each row is found, then read", updates);
  }
  return "";
}

}  // namespace

Levels levels_of(const IntExpr& terms) {
  constexpr int kF32Infinite = 255;  // the exponent of infinities and NaN
  const auto at_most = [&](int bits) { return 1 - min(1, floordiv(max(terms, 1) - 1, int64_t{1} << bits)); };
  const IntExpr exponents = 6 + 6 * at_most(27) + 7 * at_most(20);
  return {exponents, floordiv(kF32Infinite - 2, exponents) + 2};
}

bool has_scatter(const Graph& graph, const Group& group) {
  return std::any_of(group.nodes.begin(), group.nodes.end(),
                     [&](NodeId id) { return graph.at(id).kind == NodeKind::Scatter; });
}

std::variant<Schedule, Refusal> scatter_schedule(const Graph& graph, const Group& group, const Options& options) {
  int scatters = 0;
  for (NodeId id : group.nodes) {
    const Node& node = graph.at(id);
    if ((node.kind == NodeKind::Reduce && !node.local) || node.kind == NodeKind::Scan)
      return Refusal{"a scatter visits its updates in another order, so a whole row would be computed again for each",
                     "nothing: it takes a kernel before"};
    scatters += node.kind == NodeKind::Scatter;
  }
  if (scatters > 1) return Refusal{"each scatter is complete only when all of its updates are in", "nothing"};
  if (group.outputs.size() != 1 || graph.at(group.outputs[0]).kind != NodeKind::Scatter)
    return Refusal{"a row is complete only when all updates are in", "nothing: it takes a kernel after"};
  const NodeId id = group.outputs[0];
  const Node& node = graph.at(id);
  const IntExpr rows = node.shape[0], columns = count(Shape(node.shape.begin() + 1, node.shape.end()));
  const IntExpr updates = count(graph.at(node.args[1]).shape);
  const bool plain_indices = plain(graph, computed_for(graph, group, node.args[1]));
  const Sizes sizes{rows.evaluate(options.sizes), columns.evaluate(options.sizes), updates.evaluate(options.sizes),
                    plain_indices ? updates.constant().value_or(INT64_MAX) : INT64_MAX};
  Schedule s;
  s.strategy = Strategy::Scatter;
  s.scatter = form_of(node, sizes, options);
  if (s.scatter == ScatterForm::Ranges && !plain_indices)
    return Refusal{"each part of the rows looks through all indices, which cost too much to be computed that often",
                   "nothing: storing the indices is cheaper"};
  s.domain.axes = {{Symbol::loop("a0"), rows, false, sizes.rows}, {Symbol::loop("a1"), columns, false, sizes.columns}};
  for (const Axis& axis : s.domain.axes) s.domain.ranges[axis.var] = {0, axis.extent - 1};
  s.vector_axis = 1;
  s.lanes = options.tuning.lanes ? options.tuning.lanes : std::max(4, options.target.vector_bits / 32);
  s.tile = options.tuning.tile ? options.tuning.tile : kScatterChunk;
  if (options.target.gpu) for_gpu(node, sizes, options.target, s);
  s.copies_first =
      !options.target.gpu && s.scatter == ScatterForm::Ranges && sizes.updates * kRowsPerUpdate <= sizes.rows;
  s.sparse = s.scatter == ScatterForm::Listed && sizes.updates < sizes.rows;
  s.stores_updates = s.scatter == ScatterForm::Levels && is_dear(graph, computed_for(graph, group, node.args[2]));
  s.note = note_of(s, node.scatter, updates.str());
  return s;
}

}  // namespace smelt::schedule

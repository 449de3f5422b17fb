#include "schedule/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "base/check.hpp"
#include "schedule/local.hpp"

namespace smelt::schedule {

// No more staged tiles than stay in the second-level cache.
constexpr size_t kMaxStaged = 4;

// How often the rows are gone over: once for each level of reductions, and once more for outputs
// that need the last of them.
int passes_of(const Domain& domain) {
  int passes = domain.levels;
  for (const Output& o : domain.outputs)
    if (!o.per_row) passes = std::max(passes, o.level + 1);
  return passes;
}

std::optional<Domain> domain_of_fewer_passes(const Graph& graph, const Group& group, const Options& options,
                                             Online online, int passes) {
  auto found = find_domain(graph, group, options.sizes, online);
  Domain* domain = std::get_if<Domain>(&found);
  if (!domain || passes_of(*domain) >= passes) return std::nullopt;
  merge_axes(graph, *domain);
  return std::move(*domain);
}

std::string passes_text(const Domain& domain) {
  const int passes = passes_of(domain);
  return fmt::format("{} pass{}", passes, passes == 1 ? "" : "es");
}

// ", with a scan along it".
std::string scans_text(const Domain& domain) {
  const size_t n = domain.scans.size();
  if (n == 0) return "";
  const std::string_view from = domain.reversed ? " from its end" : "";
  return n == 1 ? fmt::format(", with a scan along it{}", from) : fmt::format(", with {} scans along it{}", n, from);
}

int64_t row_of_points(int64_t elements, DType dtype) {
  constexpr int64_t kBankBytes = 4;
  const int64_t bank = std::max<int64_t>(kBankBytes, size_of(dtype)), bytes = elements * size_of(dtype);
  return bytes % (2 * bank) == 0 ? (bytes + bank) / size_of(dtype) : elements;
}

int64_t most_parts_of(const Axis& axis, bool of_lanes) {
  constexpr int64_t kShortest = 2048;
  return std::max<int64_t>(1, of_lanes ? axis.estimate / kShortest : axis.estimate);
}

const Axis& axis_in_parts(const Schedule& schedule) {
  const Domain& domain = schedule.domain;
  const int64_t wanted = std::min(kMaxParts, (domain.estimate(true) + kPartElements - 1) / kPartElements);
  const Axis* best = nullptr;
  int64_t most = 0;
  for (size_t d = 0; d < domain.axes.size(); ++d) {
    if (!domain.axes[d].reduced) continue;
    const bool of_lanes = static_cast<int>(d) == schedule.vector_axis && !schedule.flat;
    const int64_t parts = std::min(wanted, most_parts_of(domain.axes[d], of_lanes));
    if (!best || (parts > most && !schedule.flat)) best = &domain.axes[d], most = parts;
  }
  SMELT_CHECK(best, "a split without a reduced axis");
  return *best;
}

int64_t power_of_two_from(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, n))));
}

int last_axis(const Domain& domain, bool reduced) {
  for (int d = static_cast<int>(domain.axes.size()); d-- > 0;)
    if (domain.axes[static_cast<size_t>(d)].reduced == reduced) return d;
  return -1;
}

bool may_turn(const Domain& domain) {
  constexpr int64_t kFewest = 32;
  const int kept = last_axis(domain, false);
  if (kept < 0 || !domain.axes.back().reduced || passes_of(domain) > 1 || !domain.scans.empty()) return false;
  const Axis& lanes = domain.axes[static_cast<size_t>(kept)];
  bool any = false;
  for (const Read& read : domain.reads) {
    if (!mentions(read.index, lanes.var)) continue;
    any = true;
    for (const Axis& axis : domain.axes)
      if (axis.reduced && mentions(read.index, axis.var)) return false;
  }
  return any && lanes.estimate >= kFewest;
}

void turn(Domain& domain) {
  const auto kept = domain.axes.begin() + last_axis(domain, false);
  std::rotate(kept, kept + 1, domain.axes.end());
}

bool finds_positions(const Graph& graph, const Domain& domain) {
  return std::any_of(domain.reductions.begin(), domain.reductions.end(), [&](const Reduction& r) {
    return graph.at(r.node).reduce == ReduceKind::ArgMax || graph.at(r.node).reduce == ReduceKind::ArgMin;
  });
}

// The axis along which an access is contiguous, if there is one; -1 for values that are the same
// everywhere or stepped over.
int contiguous_axis(const Graph& graph, const Domain& domain, NodeId node, const Index& index) {
  const IntExpr flat = flat_offset(graph.at(node), index);
  for (size_t d = 0; d < domain.axes.size(); ++d) {
    const auto step = flat.coefficient_of(domain.axes[d].var);
    if (step && (step->is(1) || step->is(-1))) return static_cast<int>(d);
  }
  return -1;
}

bool lies_as_axes(const Domain& domain, const IntExpr& place, int from, const SizeBinding& sizes) {
  int64_t step = 1;
  for (size_t d = domain.axes.size(); d-- > static_cast<size_t>(from);) {
    const Axis& axis = domain.axes[d];
    const auto own = place.coefficient_of(axis.var);
    if (axis.estimate > 1 && !(own && own->evaluate(sizes) == step)) return false;
    step *= axis.estimate;
  }
  return true;
}

bool always_inside(const Graph& graph, const Domain& domain, const Read& read) {
  const Shape& shape = graph.at(read.node).shape;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!proves_nonnegative(read.index[d], domain.ranges) ||
        !proves_nonnegative(shape[d] - 1 - read.index[d], domain.ranges))
      return false;
  return true;
}

// Lanes follow the first output; an axis order in which it is stored across would waste every cache
// line.
void follow_output(const Graph& graph, Domain& domain) {
  const int axis = contiguous_axis(graph, domain, domain.outputs[0].node, domain.outputs[0].store_index);
  if (axis < 0 || axis + 1 == static_cast<int>(domain.axes.size())) return;
  std::rotate(domain.axes.begin() + axis, domain.axes.begin() + axis + 1, domain.axes.end());
}

// Reads that are contiguous along one other axis than the lanes; the tile of such a read is turned
// in scratch.
void find_staged(const Graph& graph, Schedule& s) {
  const int last = static_cast<int>(s.domain.axes.size()) - 1;
  if (last < 1 || s.domain.axes.back().estimate < 8) return;
  for (const Read& read : s.domain.reads) {
    const int axis = contiguous_axis(graph, s.domain, read.node, read.index);
    if (reads_windows(read.index) || reads_gathered(read.index)) continue;
    if (axis < 0 || axis == last || s.domain.axes[static_cast<size_t>(axis)].estimate < 8) continue;
    const IntExpr flat = flat_offset(graph.at(read.node), read.index);
    const auto step = flat.coefficient_of(s.domain.axes.back().var);
    if (!step || step->is(0) || !always_inside(graph, s.domain, read)) continue;
    if (s.across_axis >= 0 && s.across_axis != axis) continue;
    if (s.staged.size() == kMaxStaged) continue;
    s.across_axis = axis;
    s.staged.push_back(read);
  }
}

// The axis along which a read has neighbours, also where it picks them, or steps; -1: none.
static int axis_of_neighbours(const Graph& graph, const Domain& domain, const Read& read) {
  if (const int axis = contiguous_axis(graph, domain, read.node, read.index); axis >= 0) return axis;
  const std::set<Symbol> along = symbols_behind(domain, read.index.back().symbols());
  for (size_t d = domain.axes.size(); d-- > 0;)
    if (along.count(domain.axes[d].var)) return static_cast<int>(d);
  return -1;
}

static bool changes_along(const Domain& domain, const Read& read, const Axis& axis) {
  return std::any_of(read.index.begin(), read.index.end(),
                     [&](const IntExpr& i) { return symbols_behind(domain, i.symbols()).count(axis.var) > 0; });
}

bool stays_in_caches(const Graph& graph, const SizeBinding& sizes, const Domain& domain, NodeId array) {
  constexpr int64_t kPoints = 64;  // for each element
  return element_count(evaluate(graph.at(array).shape, sizes)) * kPoints <= domain.estimate(false);
}

void find_turned_results(const Graph& graph, const SizeBinding& sizes, bool joined, Schedule& s) {
  constexpr int64_t kFewest = 8, kTimesAsMuch = 2;
  constexpr size_t kMostOutputs = 2;
  const Domain& domain = s.domain;
  const int last = static_cast<int>(domain.axes.size()) - 1;
  if (last < 1 || domain.axes.back().estimate < kFewest || domain.stores_components()) return;
  if (domain.outputs.size() > kMostOutputs) return;
  for (const Output& o : domain.outputs)
    if (contiguous_axis(graph, domain, o.node, o.store_index) != last) return;
  std::vector<int64_t> bytes(domain.axes.size(), 0), staged(domain.axes.size(), 0);  // of a point, by axis
  for (const Read& read : domain.reads) {
    if (stays_in_caches(graph, sizes, domain, read.node)) continue;
    if (!changes_along(domain, read, domain.axes.back())) continue;
    const int axis = axis_of_neighbours(graph, domain, read);
    if (axis < 0 || domain.axes[static_cast<size_t>(axis)].estimate < kFewest) continue;
    const int64_t read_bytes = window_elements(domain, read.index) * size_of(graph.at(read.node).dtype);
    bytes[static_cast<size_t>(axis)] += read_bytes;
    const bool is_staged = std::any_of(s.staged.begin(), s.staged.end(),
                                       [&](const Read& r) { return r.node == read.node && r.index == read.index; });
    if (is_staged) staged[static_cast<size_t>(axis)] += read_bytes;
  }
  const auto most = static_cast<size_t>(std::max_element(bytes.begin(), bytes.end() - 1) - bytes.begin());
  if (bytes[most] == 0 || bytes[most] < kTimesAsMuch * bytes.back()) return;
  if (!joined && staged[most] == bytes[most]) return;
  // Places in the last tiles of open axes are divisions by what there is of them, of which little
  // is proved.
  if (!domain.axes[most].extent.constant() || !domain.axes.back().extent.constant()) return;
  s.staged.clear();
  s.across_axis = static_cast<int>(most);
  s.turns_results = true;
}

void find_staged_units(const Graph& graph, Schedule& s) {
  constexpr int64_t kSector = 32;  // bytes: longer units fill what memory is read by
  const std::vector<Axis>& axes = s.domain.axes;
  if (axes.size() < 3 || s.domain.stores_components()) return;
  const auto unit = axes.back().extent.constant();
  const size_t columns = axes.size() - 2;
  if (!unit || *unit < 2 || axes[columns].estimate < 8) return;
  const auto steps_by = [](const IntExpr& flat, const Axis& axis, int64_t step) {
    const auto own = flat.coefficient_of(axis.var);
    return own && (own->is(step) || own->is(-step));
  };
  for (const Output& o : s.domain.outputs) {
    const IntExpr flat = flat_offset(graph.at(o.node), o.store_index);
    if (!steps_by(flat, axes.back(), 1) || !steps_by(flat, axes[columns], *unit)) return;
    if (*unit * size_of(graph.at(o.node).dtype) >= kSector) return;
  }
  for (const Read& read : s.domain.reads) {
    if (reads_windows(read.index) || reads_gathered(read.index) || s.staged.size() == kMaxStaged) continue;
    const IntExpr flat = flat_offset(graph.at(read.node), read.index);
    const auto moves = flat.coefficient_of(axes[columns].var);
    if (!moves || moves->is(0) || steps_by(flat, axes[columns], *unit) || !steps_by(flat, axes.back(), 1)) continue;
    if (*unit * size_of(graph.at(read.node).dtype) >= kSector || !always_inside(graph, s.domain, read)) continue;
    for (size_t axis = 0; axis < columns; ++axis) {
      if (axes[axis].estimate < 8 || !steps_by(flat, axes[axis], *unit)) continue;
      if (s.across_axis >= 0 && s.across_axis != static_cast<int>(axis)) continue;
      s.across_axis = static_cast<int>(axis);
      s.staged.push_back(read);
      s.unit = *unit;
      break;
    }
  }
}

}  // namespace smelt::schedule

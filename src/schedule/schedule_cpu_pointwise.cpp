// Pointwise schedules for a CPU: lanes over one axis, or over several as one, tiles of what is read
// across, and short axes that are written out.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "schedule/candidates.hpp"
#include "schedule/local.hpp"
#include "schedule/operations.hpp"
#include "schedule/parts.hpp"
#include "schedule/schedule_cpu.hpp"
#include "schedule/stencil.hpp"

namespace smelt::schedule {
namespace {

// Tiles of transposed reads: this many rows and columns. Large arrays take large ones, which read
// longer pieces of every row; what the caches hold is as well read in small ones. The largest are
// for caches that hold a tile twice in less than a half.
constexpr int64_t kTile = 64, kLargeTile = 128, kLargestTile = 256;
constexpr int64_t kLargeArray = 1 << 22;

// Vectors of so few pieces of rows are read in whole steps, which seldom meet the end of an axis of
// so many.
constexpr int64_t kFewPieces = 8, kManyPieces = 128;

// Results that are computed side by side, in as many places.
constexpr size_t kMostSideBySide = 8;

int64_t odd_part(int64_t n) { return n / (n & -n); }

// Elements of the last axes that are short together, as the two of many small matrices.
int64_t short_run(const Domain& domain) {
  int64_t run = 1;
  for (size_t d = domain.axes.size(); d-- > 1;) {
    const int64_t longer = run * std::max<int64_t>(1, domain.axes[d].extent.constant().value_or(kMostLanes + 1));
    if (run > 1 && (longer > kMostLanes || odd_part(longer) > kMostLanes / 4)) break;
    run = longer;
  }
  return run;
}

// Lanes that a short run of elements divides: each then has the same place in it in every step.
int even_lanes(int lanes, int64_t length, const Options& options) {
  const int64_t odd = odd_part(length);
  if (odd == 1 || odd > kMostLanes / 4) return lanes;
  const int64_t times =
      std::max<int64_t>(lanes / odd, std::min<int64_t>(natural_lanes(options.target), kMostLanes / odd));
  const auto even = static_cast<int>(odd * static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(times))));
  return even % length == 0 ? even : lanes;
}

// Whether some array is read (or stored) by strides along the last axis, so that neighbours of a
// short row lie in as many places.
bool strides_along(const Graph& graph, const Domain& domain) {
  const auto strides = [&](NodeId node, const Index& index) {
    const auto step = flat_offset(graph.at(node), index).coefficient_of(domain.axes.back().var);
    return !step || step->constant().value_or(2) > 1;
  };
  return std::any_of(domain.reads.begin(), domain.reads.end(),
                     [&](const Read& r) { return !reads_windows(r.index) && strides(r.node, r.index); }) ||
         std::any_of(domain.outputs.begin(), domain.outputs.end(),
                     [&](const Output& o) { return strides(o.node, o.store_index); });
}

// The first of the last axes that fill steps of `lanes` together: those before it are loops, and no
// step meets the end of one of their rows, where indices jump. A step that is partly empty costs
// less than that; all axes as one where most of the last step of each row would be.
int axes_that_fill(const Domain& domain, int lanes, int64_t fewest_steps) {
  int64_t run = domain.axes.back().estimate;
  for (size_t d = domain.axes.size() - 1; d-- > 1;) {
    run *= std::max<int64_t>(1, domain.axes[d].estimate);
    const int64_t computed = (run + lanes - 1) / lanes * lanes;
    if (run >= fewest_steps * lanes && computed * 8 <= run * 9) return static_cast<int>(d);
  }
  return 0;
}

// Whether some array is not read in order across the ends of the axes from `first` on, as one is
// not whose rows are repeated: a step across such an end is a gather.
bool jumps_at_ends(const Graph& graph, const Domain& domain, size_t first) {
  return std::any_of(domain.reads.begin(), domain.reads.end(), [&](const Read& r) {
    const IntExpr place = flat_offset(graph.at(r.node), r.index);
    std::optional<IntExpr> run;  // elements of the axes so far, where the array has them in order
    for (size_t d = domain.axes.size(); d-- > first;) {
      const auto step = place.coefficient_of(domain.axes[d].var);
      if (!step) return true;
      if (step->is(0)) continue;  // elements that follow each other are there several times
      if (run && !(*step == *run)) return true;
      run = *step * domain.axes[d].extent;
    }
    return false;
  });
}

// Lanes of the last axes as one, and the first of these. Where crossing their ends is slow, lanes
// that fill them, if fewer do.
void fill_axes(const Graph& graph, const Options& options, Schedule& s, const Domain& domain) {
  constexpr int64_t kFewestStepsOfRow = 4;
  s.flat_from = axes_that_fill(domain, s.lanes, kFewestStepsOfRow);
  if (s.flat_from > 0 || !jumps_at_ends(graph, domain, 0)) return;
  const int64_t length = std::max<int64_t>(1, domain.axes.back().extent.constant().value_or(1));
  for (int lanes = s.lanes; lanes >= natural_lanes(options.target) && lanes % std::lcm(kFewestLanes, length) == 0;
       lanes /= 2)
    if (const int from = axes_that_fill(domain, lanes, 1); from > 0) {
      s.flat_from = from;
      s.lanes = lanes;
      return;
    }
}

// As even lanes as there may be, but few: what is read by strides has as many pieces as a row has
// elements. A few pieces are no matter.
int fewest_even_lanes(int lanes, int64_t length, const Options& options) {
  constexpr int64_t kFewPiecesOfLanes = 4;
  if (length <= kFewPiecesOfLanes) return even_lanes(lanes, length, options);
  int64_t even = odd_part(length);
  while (even < natural_lanes(options.target) || even % length != 0 || even % 4 != 0) even *= 2;
  return even <= kMostLanes ? static_cast<int>(even) : even_lanes(lanes, length, options);
}

// A short last axis in which all reads are contiguous, but not beyond it, as in transpose(x, (1, 0,
// 2)) of a picture: little is done with each piece, and what takes time is to find it.
bool in_pieces(const Graph& graph, const Domain& domain, const Group& group, int flat_lanes) {
  const size_t last = domain.axes.size() - 1;
  if (last < 1 || !domain.draws.empty() || !domain.pinned.empty()) return false;
  const int64_t length = domain.axes[last].extent.constant().value_or(0);
  // A few long rows are read side by side by shuffles as well.
  if (length < 2 || (flat_lanes / length <= kFewPieces && domain.axes[last - 1].estimate >= kManyPieces)) return false;
  int cost = 0;
  for (const NodeId id : group.nodes) cost += cost_of(graph.at(id));
  if (cost > kLightBody) return false;
  const Axis &loop = domain.axes[last - 1], &lanes = domain.axes[last];
  bool apart = false;
  const auto contiguous = [&](NodeId node, const Index& index) {
    const IntExpr flat = flat_offset(graph.at(node), index);
    const auto step = flat.coefficient_of(lanes.var), along = flat.coefficient_of(loop.var);
    if (!step || !(step->is(1) || step->is(0)) || reads_gathered(index)) return false;
    apart = apart || (step->is(1) && !(along && *along == lanes.extent));
    return true;
  };
  return std::all_of(domain.reads.begin(), domain.reads.end(),
                     [&](const Read& r) { return contiguous(r.node, r.index); }) &&
         apart && std::all_of(domain.outputs.begin(), domain.outputs.end(), [&](const Output& o) {
           return contiguous(o.node, o.store_index);
         });
}

// Whether its points take no more operations than the values of the group have elements, but for
// what a value from memory costs.
bool computes_once(const Graph& graph, const Group& group, const Domain& domain, const SizeBinding& sizes) {
  const auto points = static_cast<double>(std::max<int64_t>(1, domain.estimate(false)));
  const auto needed = operations_of_point(graph, group, domain);
  return needed && *needed <= static_cast<double>(operations_of(graph, group.nodes, sizes)) / points + kRoundTrip;
}

// The side of tiles along the last axis of a domain and `across`.
int64_t side_of_tiles(const Domain& domain, int across, const Target& target) {
  if (domain.estimate(false) < kLargeArray) return kTile;
  const int64_t shorter = std::min(domain.axes.back().estimate, domain.axes[static_cast<size_t>(across)].estimate);
  const bool roomy = 2 * kLargestTile * kLargestTile * 4 < target.l2_bytes / 2;
  if (roomy && shorter >= kLargestTile) return kLargestTile;
  return shorter >= kLargeTile ? kLargeTile : kTile;
}

// Loops over rows in the order in which most of what is read lies, as where heads are split off,
// where the order of the results would jump on the whole of a long axis: a core finds by itself
// what follows in memory, in some rows at a time. 12 x 2048 rows of 128 bytes for each of 16 heads
// took 7.0 ms in the order of the results, and 4.3 so; merging them again takes longer so (Intel
// Xeon).
void follow_reads(const Graph& graph, const Options& options, Domain& domain) {
  constexpr double kLines = 128;                      // bytes of a row
  constexpr int64_t kRowsAtATime = 64, kClearly = 4;  // that results jump between; how many times as many it was
  const size_t rows = domain.axes.size() - 1;
  if (domain.axes.size() < 3) return;
  const Axis& last = domain.axes.back();
  double written = 0;
  for (const Output& o : domain.outputs) {
    const int size = size_of(graph.at(o.node).dtype);
    if (stride_of(graph, domain, options.sizes, o.node, o.store_index, last.var) != 1 ||
        static_cast<double>(last.estimate) * size < kLines)
      return;
    written += array_bytes(graph, options.sizes, o.node);
  }
  if (written <= static_cast<double>(options.target.l2_bytes)) return;
  // Bytes that lie in each order of the axes.
  std::map<std::vector<size_t>, double> orders;
  for (const Read& r : domain.reads) {
    const auto stride = [&](size_t axis) {
      return stride_of(graph, domain, options.sizes, r.node, r.index, domain.axes[axis].var);
    };
    std::vector<size_t> order(rows);
    std::iota(order.begin(), order.end(), size_t{0});
    const bool moves = std::all_of(order.begin(), order.end(), [&](size_t axis) { return stride(axis) > 0; });
    if (!moves || reads_gathered(r.index) || stride(rows) != 1) continue;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return stride(a) > stride(b); });
    orders[order] += array_bytes(graph, options.sizes, r.node);
  }
  const auto most =
      std::max_element(orders.begin(), orders.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == orders.end() || 2 * most->second < written) return;
  const auto jumps = [&](size_t axis) { return domain.axes[axis].estimate; };
  if (jumps(most->first.back()) > kRowsAtATime || kClearly * jumps(most->first.back()) > jumps(rows - 1)) return;
  std::vector<Axis> axes;
  for (const size_t axis : most->first) axes.push_back(domain.axes[axis]);
  axes.push_back(last);
  domain.axes = std::move(axes);
}

}  // namespace

Schedule pointwise_cpu(const Graph& graph, Domain domain, const Group& group, const Options& options) {
  Schedule s;
  s.strategy = Strategy::Pointwise;
  follow_output(graph, domain);
  const auto between = options.tuning.merged
                           ? std::nullopt
                           : axis_between_lanes(graph, group, domain, 2 * natural_lanes(options.target));
  std::string repeats;
  if (auto stencil = stencil_schedule(graph, domain, group, options, repeats)) return std::move(*stencil);
  if (between) write_out(graph, *between, domain);
  if (!repeats.empty() && !(between && computes_once(graph, group, domain, options.sizes))) s.unprofitable = repeats;
  // Ranges side by side are one loop, which may be short, but fills its vectors.
  auto cut = find_cut(graph, group, domain, options.sizes, 2 * natural_lanes(options.target));
  bool joined = false;
  while (cut && domain.outputs.size() * cut->starts.size() <= kMostSideBySide &&
         join_ranges(graph, *cut, options.sizes, domain)) {
    joined = true;
    cut = find_cut(graph, group, domain, options.sizes, 2 * natural_lanes(options.target));
  }
  if (!joined) cut = find_cut(graph, group, domain, options.sizes);
  if (!cut || joined) merge_short_axis(graph, domain, 2 * natural_lanes(options.target));
  if (joined) cut = find_cut(graph, group, domain, options.sizes);
  s.vector_axis = static_cast<int>(domain.axes.size()) - 1;
  const Tuning& tuning = options.tuning;
  s.flattened =
      domain.axes.size() > 1 && (domain.axes.back().estimate < 2 * natural_lanes(options.target)) != tuning.merged;
  s.lanes = lanes_for(graph, group, domain, s.flattened ? -1 : s.vector_axis, options);
  if (s.flattened)
    s.lanes = (strides_along(graph, domain) ? fewest_even_lanes : even_lanes)(s.lanes, short_run(domain), options);
  // Windows over short rows are gathers, many of them: wide vectors of these take long to compile.
  const auto local = [&](NodeId id) { return graph.at(id).local; };
  if (s.flattened && std::any_of(group.nodes.begin(), group.nodes.end(), local))
    s.lanes = natural_lanes(options.target);
  if (s.flattened && !tuning.merged && in_pieces(graph, domain, group, s.lanes)) {
    const int64_t length = domain.axes.back().extent.constant().value();
    s.flattened = false;
    s.pieces = true;
    s.lanes = static_cast<int>(std::min<int64_t>(length, natural_lanes(options.target)));
    s.tile = std::max<int64_t>(1, (tuning.tile ? tuning.tile : kChunk) / length);
    s.note = fmt::format("pieces of {} elements from elsewhere", length);
    s.domain = std::move(domain);
    return s;
  }
  if (tuning.lanes) s.lanes = tuning.lanes;
  if (s.flattened && !cut) fill_axes(graph, options, s, domain);
  s.tile = std::max<int64_t>(1, (tuning.tile ? tuning.tile : kChunk) / s.lanes) * s.lanes;
  std::string over;
  for (const Axis& axis : domain.axes) over += (over.empty() ? "" : " x ") + axis.extent.str();
  s.note = fmt::format("every element on its own over {}, {} lanes", over.empty() ? "one point" : over, s.lanes);
  s.domain = std::move(domain);
  if (!s.flattened) find_staged(graph, s);
  if (s.across_axis >= 0) {
    s.strategy = Strategy::Tiled;
    s.tile = tuning.tile ? tuning.tile : side_of_tiles(s.domain, s.across_axis, options.target);
    // What is staged is in the memory of a workgroup there.
    if (options.target.plain)
      while (s.tile > 16 && static_cast<int64_t>(s.staged.size()) * s.tile * (s.tile + 1) * 8 > options.target.l2_bytes)
        s.tile /= 2;
    s.lanes = std::min<int>(s.lanes, kTile);
    s.note = fmt::format("tiles of {} x {}, {} read{} transposed on chip", s.tile, s.tile, s.staged.size(),
                         s.staged.size() == 1 ? "" : "s");
  } else {
    take_cut(s, std::move(cut));
    if (s.cut && !s.flattened && s.cut->axis < s.vector_axis)
      s.cut->by_rows = s.domain.axes.back().estimate >= 2 * natural_lanes(options.target) &&
                       jumps_at_ends(graph, s.domain, static_cast<size_t>(s.cut->axis));
    if (!s.cut && !s.flattened && !options.target.plain) follow_reads(graph, options, s.domain);
  }
  return s;
}

}  // namespace smelt::schedule

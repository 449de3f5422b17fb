// Rows on a GPU: how many threads share one, and whether it stays in their registers between
// passes.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/schedule_gpu.hpp"

namespace smelt::schedule {
namespace {

constexpr int64_t kRereadBytes = 64 << 10;
constexpr int64_t kLongRow = 8192;
// Rows of scans that are worth several workgroups.
constexpr int64_t kLongScan = 1 << 15;
// Elements of a row that keep a workgroup busy.
constexpr int64_t kFewElements = 2048;
// Rows shorter than this are not worth groups that begin at words of memory.
constexpr int64_t kShortOddRow = 512;

struct TeamSize {
  int workgroup = 1, cluster = 1;
};

// Threads for a row of so many bytes. Measured on an H200: two accesses of 16 bytes to a thread are
// best for rows of up to 8 KB, but more of them for longer rows (of 72 kernels 12 gain by it, up to
// a third where rows take several passes) and for those of some KB, where barriers within a
// workgroup cost more than a few more bytes under way (two warps to rows of 300 floats take twice
// as long as one), and for short rows of which only results are stored. Longer rows take several
// workgroups, with 64 bytes to a thread; where exponentials and the like are computed, fewer
// threads, and twice as much to each.
TeamSize team_for(int64_t length, int lanes, int bytes, bool heavy, bool writes_rows, const Target& target) {
  constexpr int64_t kElements = 16, kWarpRow = 1024, kShort = 4096, kMedium = 8192, kLong = 32 << 10;
  const int64_t row = length * bytes;
  const auto threads_of = [&](int64_t per_thread) {
    const int64_t elements = std::max<int64_t>(lanes, per_thread / bytes);
    return power_of_two_from((length + elements - 1) / elements);
  };
  if (row <= kLong) {
    const int64_t results_only = std::min<int64_t>(64, kElements * bytes);
    const int64_t per_thread = row > kMedium    ? 64
                               : row > kShort   ? 32
                               : row > kWarpRow ? 64
                               : writes_rows    ? 32
                                                : results_only;
    return {static_cast<int>(std::min<int64_t>(threads_of(per_thread), kMostThreads)), 1};
  }
  const int64_t threads = threads_of(heavy ? kMostBytesPerThread : 64);
  if (target.clusters && row > kMostCluster * 512 * kMostBytesPerThread) return {kMostThreads, kMostCluster};
  if (!target.clusters) return {static_cast<int>(std::min<int64_t>(threads_of(kMostBytesPerThread), kMostThreads)), 1};
  const int64_t workgroup = heavy && threads <= kMostCluster * 256 ? 256 : 512;
  return {static_cast<int>(std::min(threads, workgroup)),
          static_cast<int>(std::clamp<int64_t>(threads / workgroup, 1, kMostCluster))};
}

// Elements that are read and stored one by one: side by side in a warp, so that an access touches
// few lines. Measured on an H100, f32 rows of 31 take 310 us where 4 threads have 8 elements each,
// 244 where 8 have 4, 269 where 16 have 2; a copy takes 248.
void spread_short_rows(TeamSize& size, int64_t along, int lanes) {
  constexpr int64_t kFewest = 16, kSteps = 4;
  if (lanes > 1 || size.cluster > 1 || along <= kFewest) return;
  const int64_t threads = power_of_two_from(steps_of(along, kSteps));
  size.workgroup = static_cast<int>(std::max<int64_t>(size.workgroup, std::min<int64_t>(kWarp, threads)));
}

// Half of the threads, where more than a few of them would have no element in their last step.
// Measured on an H100: bf16 rows of 40,960 to 4 x 512 threads take 115 us, to 4 x 256 60.
void use_all_threads(TeamSize& size, int64_t along, int lanes, int bytes, int64_t written_out) {
  const auto places = [&](int64_t threads) {
    const int64_t step = threads * size.cluster * lanes;
    return steps_of(along, step) * step;
  };
  const int64_t half = size.workgroup / 2;
  if (half < kWarp) return;
  const int64_t each = places(half) / (half * size.cluster);
  if (each * bytes > kMostBytesPerThread || 2 * each > written_out) return;
  if (6 * places(half) <= 5 * places(size.workgroup)) size.workgroup = static_cast<int>(half);
}

// So many threads that one step covers the row, where an element takes a sum of its own: what no
// step covers is computed again by every pass.
void compute_once(TeamSize& size, int& lanes, int64_t along, int64_t written_out) {
  int fewer = lanes;
  while (fewer > written_out) fewer /= 2;
  const int64_t threads = power_of_two_from(steps_of(along, fewer));
  if (size.cluster > 1 || size.workgroup >= threads || threads > kWarp) return;
  size.workgroup = static_cast<int>(threads), lanes = fewer;
}

// Whether some element takes a transcendental function.
bool is_heavy(const Graph& graph, const Group& group) {
  return std::any_of(group.nodes.begin(), group.nodes.end(), [&](NodeId id) {
    return graph.at(id).kind == NodeKind::Elementwise && cost_of(graph.at(id)) >= 20;
  });
}

// Whether all that changes along an axis is contiguous along it.
bool steps_by_one(const Graph& graph, const Domain& domain, const Axis& axis) {
  bool any = false;
  for (const Read& read : domain.reads) {
    const auto step = flat_offset(graph.at(read.node), read.index).coefficient_of(axis.var);
    if (!step || !(step->is(0) || step->is(1))) return false;
    any = any || step->is(1);
  }
  return any;
}

// The axis that threads share: the last one, unless a pass over it alone finds another axis that is
// longer and as contiguous, as where operands are broadcast.
int row_axis(const Graph& graph, const Domain& domain, bool one_pass) {
  const int last = last_axis(domain, true);
  if (last < 0 || !one_pass || domain.axes[static_cast<size_t>(last)].estimate >= kFewElements) return last;
  int best = last;
  for (size_t d = 0; d < domain.axes.size(); ++d) {
    const Axis& axis = domain.axes[d];
    if (axis.reduced && axis.estimate > domain.axes[static_cast<size_t>(best)].estimate &&
        steps_by_one(graph, domain, axis))
      best = static_cast<int>(d);
  }
  return best;
}

// Whether the last axis by itself is too short for a warp, or so short, and rows so few, that the
// threads of its rows leave the GPU idle: then all reduced axes are one loop, which takes a
// division an element. Measured on an H100: 60,000 x 50 x 7 elements of f32 took 391 us with the
// axis of 50 shared by threads, which read every seventh element.
bool too_few_threads(const Schedule& s, int64_t rows, const Target& target) {
  constexpr int64_t kPerProcessor = 1024, kPerThread = 16;
  const int64_t along = s.domain.axes[static_cast<size_t>(s.vector_axis)].estimate;
  return along < kWarp || (along < kFewElements && rows * (along / kPerThread) < target.threads * kPerProcessor);
}

std::string rows_text(int64_t rows) { return fmt::format("{} row{}", rows, rows == 1 ? "" : "s"); }

// Few long rows in one pass: their parts, in any order. Where a thread takes many registers, half
// of the threads: a multiprocessor then has all of its parts at a time. Measured on an H100, 512
// threads take 1.1 to 1.3 times as long for sums of log1p and exp and for argmax, and 256 of them
// for the maximum of products.
Schedule split_row(Schedule s, bool many_registers, const Options& options) {
  s.strategy = Strategy::Split;
  s.team = s.workgroup = options.tuning.threads ? options.tuning.threads : many_registers ? kWorkgroup : 2 * kWorkgroup;
  // Rows of a part that are shorter than a step of the team are one loop with those around them.
  const bool several =
      std::count_if(s.domain.axes.begin(), s.domain.axes.end(), [](const Axis& a) { return a.reduced; }) > 1;
  const int64_t step = int64_t{s.team} * s.lanes, along = s.domain.axes[static_cast<size_t>(s.vector_axis)].estimate;
  s.flat = several && along < int64_t{2 * kWorkgroup} * s.lanes && s.vector_axis == last_axis(s.domain, true);
  int64_t most = std::max(1, 16 / s.lanes);
  if (several && !s.flat) most = std::min(most, steps_of(along, step));
  s.unroll = options.tuning.unroll ? options.tuning.unroll : static_cast<int>(most);
  const bool at_once = last_axis(s.domain, false) < 0 && !options.target.plain;
  s.note = fmt::format("{} of {} split over the grid, {}", rows_text(s.domain.estimate(false)), s.domain.estimate(true),
                       at_once ? "combined by the last workgroup" : "then combined");
  return s;
}

// Few long rows to scan: their parts, one after the other.
std::variant<Schedule, Refusal> scan_in_parts(Schedule s, bool alone, const Options& options) {
  const int64_t rows = s.domain.estimate(false), length = s.domain.estimate(true);
  if (!alone)
    return Refusal{fmt::format("{} of {} {} scanned in parts, which know nothing of the whole row's reductions",
                               rows_text(rows), length, rows == 1 ? "is" : "are"),
                   "more rows"};
  s.strategy = Strategy::Split;
  s.team = s.workgroup = options.tuning.threads ? std::clamp(options.tuning.threads, 64, 512) : 256;
  // Workgroups wait for each other: more under way in each of them.
  s.unroll = options.tuning.unroll ? options.tuning.unroll : std::max(1, 32 / s.lanes);
  s.tile = int64_t{s.team} * s.lanes * s.unroll;
  s.note = fmt::format("{} of {} in parts of {} that follow on each other{}", rows_text(rows), length, s.tile,
                       scans_text(s.domain));
  return s;
}

}  // namespace

std::variant<Schedule, Refusal> row_gpu(const Graph& graph, Domain domain, const Group& group, const Options& options) {
  Schedule s;
  const Target& target = options.target;
  const int64_t rows = domain.estimate(false), length = domain.estimate(true);
  const bool one_pass = passes_of(domain) == 1, scans = !domain.scans.empty();
  s.vector_axis = scans ? last_axis(domain, true) : row_axis(graph, domain, one_pass);
  s.domain = std::move(domain);
  const Widths w = widths_of(graph, s);
  const auto reduced_axes =
      std::count_if(s.domain.axes.begin(), s.domain.axes.end(), [](const Axis& a) { return a.reduced; });
  const bool parts = one_pass && !scans && rows < target.threads && length >= kLongRow && length * rows > kSmallWork;
  s.flat = !scans && s.vector_axis >= 0 && s.vector_axis == last_axis(s.domain, true) && reduced_axes > 1 &&
           (!one_pass || (!parts && too_few_threads(s, rows, target)));
  const IntExpr extent = s.vector_axis < 0 ? IntExpr(1)
                         : s.flat          ? s.domain.reduced_count()
                                           : s.domain.axes[static_cast<size_t>(s.vector_axis)].extent;
  const int64_t along = s.vector_axis < 0 ? 1
                        : s.flat          ? length
                                          : s.domain.axes[static_cast<size_t>(s.vector_axis)].estimate;
  // Too few rows to keep the GPU busy.
  const bool scans_parts = scans && !target.plain && rows < 4 * int64_t{target.threads} && length >= kLongScan;
  // Wider stores would write each sector in halves; parts of scans have that many elements the
  // fewer other parts to wait for.
  s.lanes = scans_parts ? lanes_of(w) : std::min(lanes_of(w), std::max(1, 16 / w.stored));
  if (options.tuning.lanes) s.lanes = std::min(s.lanes, options.tuning.lanes);
  while (s.lanes > 1 && ((!may_divide(s.lanes, extent) && along < kShortOddRow) || along < s.lanes)) s.lanes /= 2;
  if (parts) {
    // In sums over pairs, arrays much smaller than the pairs are in registers and caches anyway.
    const bool large = std::any_of(s.domain.reads.begin(), s.domain.reads.end(), [&](const Read& r) {
      return 2 * element_count(evaluate(graph.at(r.node).shape, options.sizes)) >= rows * length;
    });
    const bool odd = w.any && s.domain.axes.size() > 1 && !may_divide(lanes_of(w), extent);
    const bool hungry = odd || is_heavy(graph, group) || finds_positions(graph, s.domain);
    return split_row(std::move(s), large && hungry, options);
  }
  if (scans_parts) {
    const bool only_scans = one_pass && s.domain.reductions.empty() && reduced_axes == 1;
    return scan_in_parts(std::move(s), only_scans, options);
  }
  s.strategy = Strategy::Row;
  const bool writes_rows =
      std::any_of(s.domain.outputs.begin(), s.domain.outputs.end(), [](const Output& o) { return !o.per_row; });
  TeamSize size = team_for(along, s.lanes, w.largest, is_heavy(graph, group), writes_rows, target);
  if (writes_rows) spread_short_rows(size, along, s.lanes);
  const bool sums = has_local(graph, group);
  const int64_t written_out = most_written_out(graph, group, s.domain, options.sizes);
  use_all_threads(size, along, s.lanes, w.largest, written_out);
  // Positions take as many registers and instructions again, where threads meet most of all.
  if (finds_positions(graph, s.domain) && one_pass) size = {std::min(size.workgroup, kWorkgroup), 1};
  if (!one_pass && !scans && writes_rows && sums) compute_once(size, s.lanes, along, written_out);
  if (options.tuning.threads) size = {options.tuning.threads, std::max(1, options.tuning.cluster)};
  // Rows of some elements: steps that no thread sits out.
  if (extent.constant() && along < kWarp && !options.tuning.lanes)
    while (s.lanes > 1 && along % (int64_t{size.workgroup} * s.lanes) != 0) s.lanes /= 2;
  // Long rows of which only results are kept: a second reading from the caches costs less than
  // waiting for each other.
  const int64_t row_bytes = along * w.largest;
  const bool rereads = !one_pass && !writes_rows && row_bytes > kRereadBytes;
  if (rereads && !options.tuning.threads) size = {kMostThreads, 1};
  // Measured on an H200: logsumexp of bf16 rows of 32,000 takes 43 us in clusters of 2, 34 to 39
  // so.
  if (!one_pass && !writes_rows && size.cluster > 1 && row_bytes <= kRereadBytes && rows >= 4 * target.threads &&
      !options.tuning.threads)
    size = {kWorkgroup, 1};
  if (one_pass || scans) size.cluster = 1;
  // One warp scans the totals of 32 warps, or of 8 in four steps, in one step.
  if (one_pass && scans && along * w.largest > kRereadBytes / 2 && !options.tuning.threads) size = {kWorkgroup, 1};
  s.team = size.workgroup * size.cluster;
  s.workgroup = std::max(size.workgroup, s.team <= kWarp ? kWorkgroup / 2 : 1);
  const int64_t step = int64_t{s.team} * s.lanes;
  const bool constant = extent.constant().has_value();
  const int64_t steps = steps_of(along / s.lanes * s.lanes, step);
  const bool single_axis = s.flat || reduced_axes <= 1;
  // What is read stays as it was in memory; what is computed of it is kept where there is room for
  // that too. Windows have enough under way by themselves, and of one element they are read in
  // words.
  const int64_t bytes = sums ? w.largest : std::max<int64_t>(w.largest, w.windows);  // of one element
  s.held = single_axis && steps * s.lanes * bytes <= kMostBytesPerThread && steps * s.lanes <= written_out &&
           (w.windows == 0 || steps == 1);
  const int64_t most = w.windows > 0 ? 1 : std::min<int64_t>(16, written_out) / s.lanes;
  s.unroll = static_cast<int>(s.held ? steps : std::clamp<int64_t>(steps, 1, std::max<int64_t>(1, most)));
  if (options.tuning.unroll && !s.held) s.unroll = options.tuning.unroll;
  if (s.held && constant)
    s.keep_bytes = length * 4 * (kMostBytesPerThread / (steps * s.lanes * 4));
  else if (constant && s.workgroup == s.team) {
    // A buffer in shared memory has room for whole steps.
    const int64_t room =
        length / std::max<int64_t>(1, along) * (steps_of(along, step * s.unroll) * s.unroll + 1) * step;
    s.keep_bytes = (target.shared_bytes - 4096) / (room * 4) * length * 4;
  }
  if (!one_pass && rows * 8 < target.threads && length > (int64_t{1} << 20))
    return Refusal{fmt::format("{} of {} cannot keep {} multiprocessors busy in one kernel", rows_text(rows), length,
                               target.threads),
                   "more rows"};
  const std::string who = s.team > s.workgroup
                              ? fmt::format("a cluster of {} x {} threads", s.team / s.workgroup, s.workgroup)
                              : fmt::format("{} thread{}", s.team, s.team == 1 ? "" : "s");
  s.note = fmt::format("a row of {} to {}, {} over it{}{}", length, who, passes_text(s.domain), scans_text(s.domain),
                       s.held && !one_pass ? ", held in registers" : "");
  return s;
}

}  // namespace smelt::schedule

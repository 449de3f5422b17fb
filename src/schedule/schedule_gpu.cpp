// Schedules for a GPU. A team of threads runs one iteration of the grid; how large it is, and how much each thread takes at a time,
// follows from the length of the rows and the width of the elements.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/local.hpp"
#include "schedule/parts.hpp"

namespace smelt::schedule {
namespace {

constexpr int kWarp = 32;
constexpr int kWorkgroup = 256;
constexpr int kMostThreads = 1024;  // of a workgroup
constexpr int kMostCluster = 8;     // workgroups that every GPU with clusters takes
// Bytes of a row that one thread holds at most: enough accesses under way, and registers left to
// compute with.
constexpr int64_t kMostBytesPerThread = 128;
constexpr int64_t kRereadBytes = 64 << 10;
// Tiles of transposed reads.
constexpr int64_t kTile = 64;
// From this many elements on, more of them at a time are worth fewer workgroups.
constexpr int64_t kLargeWork = 1 << 23;
// A reduction over at least this many rows is split.
constexpr int64_t kTallColumn = 512;
constexpr int64_t kSmallWork = 1 << 16;
constexpr int64_t kLongRow = 8192;
// Rows of scans that are worth several workgroups.
constexpr int64_t kLongScan = 1 << 15;
// A row of a column's pass waits so long for memory; starting two more kernels takes so long; memory moves so much.
constexpr int64_t kRowLatencyNs = 700, kKernelsNs = 5000, kBytesPerNs = 4000;
// Of a scan down columns, what a multiprocessor reads at once.
constexpr int64_t kScanBytes = 96 << 10;

int64_t power_of_two_from(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

struct Widths {
  int smallest = 8, largest = 1;  // bytes of the elements read and written along the lanes
  int reads = 0, stored = 1;      // stored: bytes of the widest element written
  bool any = false;               // something is read or written along the lanes
};

Widths widths_of(const Graph& graph, const Schedule& s) {
  Widths w;
  auto note = [&](NodeId node, const Index& index) {
    if (contiguous_axis(graph, s.domain, node, index) != s.vector_axis) return;
    w.any = true;
    w.smallest = std::min(w.smallest, size_of(graph.at(node).dtype));
    w.largest = std::max(w.largest, size_of(graph.at(node).dtype));
  };
  for (const Read& r : s.domain.reads) {
    note(r.node, r.index);
    if (!graph.at(r.node).shape.empty()) ++w.reads;
  }
  for (const Output& o : s.domain.outputs)
    if (!o.per_row) {
      note(o.node, o.store_index);
      w.stored = std::max(w.stored, size_of(graph.at(o.node).dtype));
    }
  return w;
}

// Neighbours that one thread takes: accesses of 16 bytes, at least of the widest elements.
int lanes_of(const Widths& w) {
  if (!w.any) return 1;
  const int wide = 16 / w.largest, narrow = std::min(8, 16 / w.smallest);
  return std::max(wide, narrow);
}

// Rows shorter than this are not worth groups that begin at words of memory.
constexpr int64_t kShortOddRow = 512;

int64_t steps_of(int64_t elements, int64_t step) { return std::max<int64_t>(1, (elements + step - 1) / step); }

bool divides(int lanes, const IntExpr& extent) {
  const auto c = extent.constant();
  return !c || *c % lanes == 0;
}

// Whether most of what a thread reads for its lanes is not one access: windows, steps, and rows
// that do not begin at words.
bool reads_lane_by_lane(const Graph& graph, const Schedule& s) {
  constexpr int64_t kOfWindow = 4;  // elements at least
  if (s.vector_axis < 0) return false;
  const Axis& last = s.domain.axes[static_cast<size_t>(s.vector_axis)];
  const bool rows_fit = divides(s.lanes, last.extent), short_rows = last.extent.constant().value_or(s.lanes) < s.lanes;
  int64_t apart = 0, together = 0;  // bytes
  const auto note = [&](NodeId node, const Index& index) {
    const auto step = flat_offset(graph.at(node).shape, index).coefficient_of(last.var);
    const int64_t bytes = size_of(graph.at(node).dtype);
    if (graph.at(node).shape.empty() || (step && step->is(0) && !short_rows)) return;
    if (reads_windows(index))
      apart += bytes * kOfWindow;
    else
      (step && step->is(1) && rows_fit ? together : apart) += bytes;
  };
  for (const Read& r : s.domain.reads) note(r.node, r.index);
  for (const Output& o : s.domain.outputs) together += size_of(graph.at(o.node).dtype);
  return apart > together;
}

// Elements of a thread that are read one by one. A large window has enough under way by itself.
int steps_apart(const Graph& graph, const Domain& domain, const Group& group) {
  constexpr int64_t kLargeWindow = 16;
  for (const Read& r : domain.reads)
    for (const NodeId id : group.nodes)
      if (reads_windows(r.index) && graph.at(id).local && local_elements(graph, graph.at(id)) >= kLargeWindow) return 2;
  return 4;
}

// Lanes that read side by side share words, where they stay in one row.
int lanes_apart(const Domain& domain) { return !domain.axes.empty() && divides(2, domain.axes.back().extent) ? 2 : 1; }

Schedule pointwise(const Graph& graph, Domain domain, const Group& group, const Options& options) {
  Schedule s;
  s.strategy = Strategy::Pointwise;
  follow_output(graph, domain);
  if (auto stencil = stencil_schedule(graph, domain, group, options, s.unprofitable)) return std::move(*stencil);
  if (auto blocked = blocked_schedule(graph, domain, group, options)) return std::move(*blocked);
  auto cut = find_cut(graph, group, domain, options.sizes);
  if (cut && join_ranges(graph, *cut, options.sizes, domain)) cut = find_cut(graph, group, domain, options.sizes);
  s.vector_axis = static_cast<int>(domain.axes.size()) - 1;
  s.domain = std::move(domain);
  s.team = s.workgroup = kWorkgroup;
  const Widths w = widths_of(graph, s);
  // Two stores of 16 bytes side by side would write each sector in halves; measured, f32 from i8 takes 228 us so, and 177.
  s.lanes = std::min(lanes_of(w), std::max(1, 16 / w.stored));
  const Tuning& tuning = options.tuning;
  if (tuning.threads) s.team = s.workgroup = tuning.threads;
  const int64_t points = s.domain.estimate(false);
  const bool scattered = reads_lane_by_lane(graph, s);
  if (scattered) s.lanes = std::min(s.lanes, lanes_apart(s.domain));
  // Small work is spread over all multiprocessors before a thread takes more than one element.
  while (s.lanes > 1 && points / s.lanes < int64_t{options.target.threads} * kWorkgroup) s.lanes /= 2;
  s.unroll = points < kLargeWork                   ? 1
             : scattered                           ? steps_apart(graph, s.domain, group)
             : w.reads * s.lanes * w.largest <= 16 ? 2
                                                   : 1;
  if (tuning.lanes) s.lanes = tuning.lanes;
  if (tuning.unroll) s.unroll = tuning.unroll;
  s.tile = int64_t{s.team} * s.lanes * s.unroll;
  // Rows that are no whole number of tiles leave threads idle; then all axes are one.
  const IntExpr last = s.domain.axes.empty() ? IntExpr(1) : s.domain.axes.back().extent;
  const auto length = last.constant();
  s.flattened = s.domain.axes.size() > 1 && !(length && (*length % s.tile == 0 || *length >= 64 * s.tile));
  std::string over;
  for (const Axis& axis : s.domain.axes) over += (over.empty() ? "" : " x ") + axis.extent.str();
  s.note = fmt::format("every element on its own over {}, {} x {} to a thread", over.empty() ? "one point" : over,
                       s.unroll, s.lanes);
  find_staged(graph, s);
  if (s.across_axis >= 0) {
    s.strategy = Strategy::Tiled;
    s.flattened = false;
    s.tile = kTile;
    s.lanes = 1;
    s.unroll = options.tuning.unroll ? options.tuning.unroll : 8;
    if (options.tuning.lanes) s.tile = options.tuning.lanes;
    s.note = fmt::format("tiles of {} x {}, {} read{} turned on chip", kTile, kTile, s.staged.size(),
                         s.staged.size() == 1 ? "" : "s");
  } else {
    take_cut(s, std::move(cut));
  }
  return s;
}

struct TeamSize {
  int workgroup = 1, cluster = 1;
};

// Threads for a row of so many bytes. Measured on an H200: two accesses of 16 bytes to a thread are best for rows of up to 32 KB, but
// more of them for rows of some KB, where barriers within a workgroup cost more than a few more bytes under way (two warps to rows of 300
// floats take twice as long as one), and for short rows of which only results are stored. Longer rows take several workgroups, with 64
// bytes to a thread; where exponentials and the like are computed, fewer threads, and twice as much to each.
TeamSize team_for(int64_t length, int lanes, int bytes, bool heavy, bool writes_rows, const Target& target) {
  constexpr int64_t kElements = 16, kWarpRow = 1024, kShort = 4096, kLong = 32 << 10;
  const int64_t row = length * bytes;
  const auto threads_of = [&](int64_t per_thread) {
    const int64_t elements = std::max<int64_t>(lanes, per_thread / bytes);
    return power_of_two_from((length + elements - 1) / elements);
  };
  if (row <= kLong) {
    const int64_t results_only = std::min<int64_t>(64, kElements * bytes);
    const int64_t per_thread = row > kShort ? 32 : row > kWarpRow ? 64 : writes_rows ? 32 : results_only;
    return {static_cast<int>(std::min<int64_t>(threads_of(per_thread), kMostThreads)), 1};
  }
  const int64_t threads = threads_of(heavy ? kMostBytesPerThread : 64);
  if (target.clusters && row > kMostCluster * 512 * kMostBytesPerThread) return {kMostThreads, kMostCluster};
  if (!target.clusters) return {static_cast<int>(std::min<int64_t>(threads_of(kMostBytesPerThread), kMostThreads)), 1};
  const int64_t workgroup = heavy && threads <= kMostCluster * 256 ? 256 : 512;
  return {static_cast<int>(std::min(threads, workgroup)),
          static_cast<int>(std::clamp<int64_t>(threads / workgroup, 1, kMostCluster))};
}

// Whether some element takes a transcendental function.
bool is_heavy(const Graph& graph, const Group& group) {
  return std::any_of(group.nodes.begin(), group.nodes.end(), [&](NodeId id) {
    return graph.at(id).kind == NodeKind::Elementwise && cost_of(graph.at(id)) >= 20;
  });
}

// The axis that threads share: the last one, unless that is too short for them and another is longer.
int row_axis(const Domain& domain) {
  int best = last_axis(domain, true);
  if (best < 0 || domain.axes[static_cast<size_t>(best)].estimate >= kWarp) return best;
  for (size_t d = 0; d < domain.axes.size(); ++d)
    if (domain.axes[d].reduced && domain.axes[d].estimate > domain.axes[static_cast<size_t>(best)].estimate)
      best = static_cast<int>(d);
  return best;
}

std::variant<Schedule, Refusal> row(const Graph& graph, Domain domain, const Group& group, const Options& options) {
  Schedule s;
  const Target& target = options.target;
  const int64_t rows = domain.estimate(false), length = domain.estimate(true);
  const bool one_pass = passes_of(domain) == 1, scans = !domain.scans.empty();
  s.vector_axis = scans ? last_axis(domain, true) : row_axis(domain);
  s.domain = std::move(domain);
  const Widths w = widths_of(graph, s);
  const auto reduced_axes =
      std::count_if(s.domain.axes.begin(), s.domain.axes.end(), [](const Axis& a) { return a.reduced; });
  s.flat = !one_pass && !scans && s.vector_axis >= 0 && s.vector_axis == last_axis(s.domain, true) && reduced_axes > 1;
  const IntExpr extent = s.vector_axis < 0 ? IntExpr(1)
                         : s.flat          ? s.domain.reduced_count()
                                           : s.domain.axes[static_cast<size_t>(s.vector_axis)].extent;
  const int64_t along = s.vector_axis < 0 ? 1
                        : s.flat          ? length
                                          : s.domain.axes[static_cast<size_t>(s.vector_axis)].estimate;
  s.lanes = lanes_of(w);
  if (options.tuning.lanes) s.lanes = std::min(s.lanes, options.tuning.lanes);
  while (s.lanes > 1 && ((!divides(s.lanes, extent) && along < kShortOddRow) || along < s.lanes)) s.lanes /= 2;
  if (one_pass && !scans && rows < target.threads && length >= kLongRow && length * rows > kSmallWork) {
    s.strategy = Strategy::Split;
    s.team = s.workgroup = options.tuning.threads ? options.tuning.threads : 512;
    s.unroll = options.tuning.unroll ? options.tuning.unroll : std::max(1, 16 / s.lanes);
    s.note = fmt::format("{} row{} of {} split over the grid, {}", rows, rows == 1 ? "" : "s", length,
                         last_axis(s.domain, false) < 0 && !target.plain ? "combined by the workgroup that is done last"
                                                                         : "then combined");
    return s;
  }
  // Too few rows to keep the GPU busy: their parts, one after the other.
  if (scans && !target.plain && rows < 4 * int64_t{target.threads} && length >= kLongScan) {
    const bool alone = one_pass && s.domain.reductions.empty() && reduced_axes == 1;
    if (!alone)
      return Refusal{fmt::format("{} row{} of {} {} scanned in parts, which know nothing of the whole row's reductions",
                                 rows, rows == 1 ? "" : "s", length, rows == 1 ? "is" : "are"),
                     "more rows"};
    s.strategy = Strategy::Split;
    s.team = s.workgroup = options.tuning.threads ? std::clamp(options.tuning.threads, 64, 512) : 256;
    // Workgroups wait for each other: more under way in each of them.
    s.unroll = options.tuning.unroll ? options.tuning.unroll : std::max(1, 32 / s.lanes);
    s.tile = int64_t{s.team} * s.lanes * s.unroll;
    s.note = fmt::format("{} row{} of {} in parts of {} that follow on each other{}", rows, rows == 1 ? "" : "s",
                         length, s.tile, scans_text(s.domain));
    return s;
  }
  s.strategy = Strategy::Row;
  const bool writes_rows =
      std::any_of(s.domain.outputs.begin(), s.domain.outputs.end(), [](const Output& o) { return !o.per_row; });
  TeamSize size = team_for(along, s.lanes, w.largest, is_heavy(graph, group), writes_rows, target);
  // Positions take as many registers and instructions again, where threads meet most of all.
  if (finds_positions(graph, s.domain) && one_pass) size = {std::min(size.workgroup, kWorkgroup), 1};
  if (options.tuning.threads) size = {options.tuning.threads, std::max(1, options.tuning.cluster)};
  // Rows of some elements: steps that no thread sits out.
  if (extent.constant() && along < kWarp && !options.tuning.lanes)
    while (s.lanes > 1 && along % (int64_t{size.workgroup} * s.lanes) != 0) s.lanes /= 2;
  // Long rows of which only results are kept: a second reading from the caches costs less than waiting for each other.
  const bool rereads = !one_pass && !writes_rows && along * w.largest > kRereadBytes;
  if (rereads && !options.tuning.threads) size = {kMostThreads, 1};
  if (one_pass || scans) size.cluster = 1;
  // Of the totals of 32 warps, or of 8 in four steps, one warp makes running values at once.
  if (one_pass && scans && along * w.largest > kRereadBytes / 2 && !options.tuning.threads) size = {kWorkgroup, 1};
  s.team = size.workgroup * size.cluster;
  s.workgroup = std::max(size.workgroup, s.team <= kWarp ? kWorkgroup / 2 : 1);
  const int64_t step = int64_t{s.team} * s.lanes;
  const bool constant = extent.constant().has_value();
  const int64_t steps = steps_of(along / s.lanes * s.lanes, step);
  const bool single_axis = s.flat || reduced_axes <= 1;
  // What is read stays as it was in memory; what is computed of it is kept where there is room for that too.
  s.held = single_axis && steps * s.lanes * w.largest <= kMostBytesPerThread;
  s.unroll = static_cast<int>(s.held ? steps : std::clamp<int64_t>(steps, 1, std::max(1, 16 / s.lanes)));
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
    return Refusal{fmt::format("{} row{} of {} cannot keep {} multiprocessors busy in one kernel", rows,
                               rows == 1 ? "" : "s", length, target.threads),
                   "more rows"};
  const std::string who = s.team > s.workgroup
                              ? fmt::format("a cluster of {} x {} threads", s.team / s.workgroup, s.workgroup)
                              : fmt::format("{} thread{}", s.team, s.team == 1 ? "" : "s");
  s.note = fmt::format("a row of {} to {}, {} over it{}{}", length, who, passes_text(s.domain), scans_text(s.domain),
                       s.held && !one_pass ? ", held in registers" : "");
  return s;
}

// A tile of neighbouring columns to a workgroup: rows of threads, each of which takes some of the
// rows.
struct ColumnTile {
  int lanes = 1;
  int64_t row = 1, rows = 1;  // threads
  int64_t groups = 1;         // of `lanes` elements, to a thread at a time
};

constexpr int64_t kLineBytes = 128, kSectorBytes = 32;
constexpr int64_t kColumnThreads = 512;  // two workgroups of these hold 128 bytes a thread on one multiprocessor
// From this many rows on a tile reads them once faster than a warp that goes down its columns
// alone.
constexpr int64_t kTallTile = 128;

// All rows stay in registers between the passes; nothing where there are too many of them.
std::optional<ColumnTile> held_tile(int64_t height, int64_t width, int lanes, int bytes) {
  ColumnTile tile{lanes, std::max<int64_t>(1, kLineBytes / (lanes * bytes)), 1, 0};
  const int64_t most = std::max<int64_t>(1, kMostBytesPerThread / (lanes * bytes));
  tile.rows = std::max<int64_t>(lanes, power_of_two_from(steps_of(height, most)));
  while (tile.row * tile.rows > kColumnThreads && tile.row * lanes * bytes > 2 * kSectorBytes) tile.row /= 2;
  while (tile.row * tile.rows > kMostThreads && tile.row * lanes * bytes > kSectorBytes) tile.row /= 2;
  if (tile.row * tile.rows > kMostThreads) return std::nullopt;
  while (tile.row * tile.rows < kWorkgroup && tile.row < kWarp && tile.row * lanes < width) tile.row *= 2;
  tile.rows = std::max(tile.rows, kWarp / tile.row);
  tile.groups = steps_of(height, tile.rows);
  return tile.groups <= most ? std::optional(tile) : std::nullopt;
}

// One pass, where there are workgroups enough for all multiprocessors.
std::optional<ColumnTile> passing_tile(int64_t height, int64_t width, int lanes, int bytes, const Target& target) {
  constexpr int64_t kGroups = 8;
  if (height < kTallTile) return std::nullopt;
  ColumnTile tile{lanes, std::max<int64_t>(1, kLineBytes / (lanes * bytes)), 1, kGroups};
  tile.rows = std::max<int64_t>(lanes, std::min(kColumnThreads / tile.row, power_of_two_from(height / kGroups)));
  if (width / (tile.row * lanes) < 2 * target.threads) return std::nullopt;
  return tile;
}

// Parts of tall columns, whatever their number: rows as wide as lines and warps go, and all threads.
ColumnTile split_tile(int64_t width, int lanes, const Widths& w, bool positions, const Tuning& tuning) {
  ColumnTile tile{lanes, std::min<int64_t>(kWarp, power_of_two_from(steps_of(width, lanes))), 1, 0};
  tile.rows = std::max<int64_t>(lanes, (tuning.threads ? tuning.threads : kColumnThreads) / tile.row);
  // Positions need registers of their own, and two workgroups are to fit a multiprocessor.
  const int64_t bytes = positions ? kMostBytesPerThread / 2 : kMostBytesPerThread;
  const int64_t most = bytes / (int64_t{lanes} * w.largest * std::max(1, w.reads));
  tile.groups = tuning.unroll ? tuning.unroll : std::clamp<int64_t>(most, 1, std::max(8, 16 / lanes));
  return tile;
}

// Bytes of the widest element that is another in each row: what registers hold of the rows.
int held_bytes(const Graph& graph, const Domain& domain) {
  const auto moves = [&](const IntExpr& e) {
    return std::any_of(domain.axes.begin(), domain.axes.end(),
                       [&](const Axis& axis) { return axis.reduced && e.mentions(axis.var); });
  };
  int widest = 1;
  for (const Read& read : domain.reads)
    if (std::any_of(read.index.begin(), read.index.end(), moves))
      widest = std::max(widest, size_of(graph.at(read.node).dtype));
  return widest;
}

std::optional<Schedule> columns_tile(const Graph& graph, const Domain& domain, const Options& options) {
  Schedule s;
  s.domain = domain;
  s.vector_axis = last_axis(domain, false);
  const Widths w = widths_of(graph, s);
  if (!w.any) return std::nullopt;
  const Axis& columns = domain.axes[static_cast<size_t>(s.vector_axis)];
  int lanes = std::min(options.tuning.lanes ? options.tuning.lanes : 4, lanes_of(w));
  while (lanes > 1 && (!divides(lanes, columns.extent) || lanes > columns.estimate)) lanes /= 2;
  const int64_t height = domain.estimate(true), width = domain.estimate(false);
  const bool one_pass = passes_of(domain) == 1;
  if (one_pass && finds_positions(graph, domain)) return std::nullopt;
  const int bytes = held_bytes(graph, domain);
  auto tile = one_pass ? passing_tile(height, width, lanes, w.largest, options.target)
                       : held_tile(height, columns.estimate, lanes, bytes);
  if (!tile) return std::nullopt;
  if (options.tuning.threads) {
    tile->rows = std::max<int64_t>(tile->lanes, options.tuning.threads / tile->row);
    tile->groups = one_pass ? tile->groups : steps_of(height, tile->rows);
    if (!one_pass && tile->groups * tile->lanes * bytes > kMostBytesPerThread) return std::nullopt;
  }
  if (options.tuning.unroll && one_pass) tile->groups = options.tuning.unroll;
  s.strategy = Strategy::Row;
  s.flat = true;
  s.held = !one_pass;
  s.lanes = tile->lanes;
  s.columns = static_cast<int>(tile->row * tile->lanes);
  s.team = s.workgroup = static_cast<int>(tile->row * tile->rows);
  s.unroll = static_cast<int>(tile->groups);
  if (s.held) s.keep_bytes = height * s.columns * 4 * (kMostBytesPerThread / (tile->groups * tile->lanes * 4));
  s.note = fmt::format("{} columns of {} to {} threads, {} over them{}", s.columns, height, s.team, passes_text(domain),
                       s.held ? ", held in registers" : "");
  return s;
}

std::variant<Schedule, Refusal> column(const Graph& graph, Domain domain, const Options& options) {
  if (domain.scans.empty() && !options.target.plain)
    if (auto tile = columns_tile(graph, domain, options)) return std::move(*tile);
  Schedule s;
  const int64_t height = domain.estimate(true), width = domain.estimate(false);
  s.vector_axis = last_axis(domain, false);
  const bool one_pass = passes_of(domain) == 1;
  s.domain = std::move(domain);
  const Axis& columns = s.domain.axes[static_cast<size_t>(s.vector_axis)];
  const Widths w = widths_of(graph, s);
  s.lanes = std::min(options.tuning.lanes ? options.tuning.lanes : 4, lanes_of(w));
  while (s.lanes > 1 && !divides(s.lanes, columns.extent)) s.lanes /= 2;
  s.team = kWarp;
  s.workgroup = kWorkgroup / 2;
  if (one_pass && s.domain.scans.empty() && height >= kTallColumn && height * width > kSmallWork) {
    s.strategy = Strategy::Split;
    s.note = fmt::format("{} columns of {}, rows split over the grid, then combined", width, height);
    // Positions of many columns: a warp for each part is enough, and joins nothing.
    const bool positions = finds_positions(graph, s.domain);
    const bool many = width >= int64_t{options.target.threads} * kWarp * s.lanes;
    if (!options.target.plain && !(positions && many)) {
      const ColumnTile tile = split_tile(columns.estimate, s.lanes, w, positions, options.tuning);
      s.columns = static_cast<int>(tile.row * tile.lanes);
      s.team = s.workgroup = static_cast<int>(tile.row * tile.rows);
      s.unroll = static_cast<int>(tile.groups);
    }
  } else {
    s.strategy = Strategy::Column;
    while (s.lanes > 1 && width / s.lanes < int64_t{options.target.threads} * kWorkgroup) s.lanes /= 2;
    // What is stored on the way keeps a scan's next loads waiting, so that many rows are taken at once where columns are few.
    const int64_t columns = std::max<int64_t>(1, width / std::max(1, options.target.threads));
    const int most = s.domain.scans.empty() ? 16 : 128;
    s.unroll = 8;
    while (s.unroll < most && columns * s.unroll * 4 < kScanBytes) s.unroll *= 2;
    if (options.tuning.unroll) s.unroll = options.tuning.unroll;
    const bool constant = std::all_of(s.domain.axes.begin(), s.domain.axes.end(),
                                      [](const Axis& a) { return !a.reduced || a.extent.constant(); });
    if (constant) s.keep_bytes = options.target.shared_bytes / (s.workgroup / s.team) - 1024;
    const int64_t passes = passes_of(s.domain);
    const bool kept = height * s.team * s.lanes * 4 <= s.keep_bytes;
    if (!one_pass && !kept && s.domain.scans.empty() && height >= kTallColumn && height * width > kSmallWork &&
        passes * height / s.unroll * kRowLatencyNs > kKernelsNs + (passes + 1) * height * width * 4 / kBytesPerNs)
      return Refusal{fmt::format("{} columns of {} are too few to keep {} multiprocessors busy in {} passes", width,
                                 height, options.target.threads, passes),
                     "more columns"};
    s.note = fmt::format("{} columns of {} side by side, {}{}", s.team * s.lanes, height, passes_text(s.domain),
                         scans_text(s.domain));
  }
  s.tile = int64_t{s.team} * s.lanes;
  return s;
}

std::variant<Schedule, Refusal> any_schedule(const Graph& graph, Domain domain, const Group& group,
                                             const Options& options) {
  if (domain.overlap) {
    follow_output(graph, domain);
    if (auto blocked = blocked_schedule(graph, domain, group, options)) return std::move(*blocked);
    return *domain.overlap;
  }
  if (domain.pointwise()) return pointwise(graph, std::move(domain), group, options);
  const int last = static_cast<int>(domain.axes.size()) - 1;
  const bool along_rows = last < 0 || domain.axes[static_cast<size_t>(last)].reduced;
  const bool has_columns = last_axis(domain, false) >= 0, has_rows = last_axis(domain, true) >= 0;
  if (has_columns && (!along_rows || !has_rows)) return column(graph, std::move(domain), options);
  auto made = row(graph, std::move(domain), group, options);
  // Rows that do not stay on chip between passes: every pass less is a reading less.
  const Schedule* plain = std::get_if<Schedule>(&made);
  if (!plain || plain->strategy != Strategy::Row || plain->held || passes_of(plain->domain) == 1) return made;
  if (plain->domain.estimate(false) < options.target.threads) return made;
  auto online = find_domain(graph, group, options.sizes, true);
  Domain& shorter = std::get<Domain>(online);
  merge_axes(graph, shorter);
  if (passes_of(shorter) == passes_of(plain->domain)) return made;
  return row(graph, std::move(shorter), group, options);
}

}  // namespace

std::variant<Schedule, Refusal> gpu_schedule(const Graph& graph, Domain domain, const Group& group,
                                             const Options& options) {
  auto made = any_schedule(graph, std::move(domain), group, options);
  const Schedule* schedule = std::get_if<Schedule>(&made);
  if (schedule && !schedule->blocking)
    if (auto refusal = loses_blocks(graph, group, options)) return *refusal;
  return made;
}

}  // namespace smelt::schedule

// Columns on a GPU: tiles of neighbours that a workgroup holds between passes, parts of tall ones,
// or a lane to each.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "schedule/cost_parts.hpp"
#include "schedule/local.hpp"
#include "schedule/schedule_gpu.hpp"

namespace smelt::schedule {
namespace {

// A row of a column's pass waits so long for memory; starting two more kernels takes so long;
// memory moves so much.
constexpr int64_t kRowLatencyNs = 700, kKernelsNs = 5000, kBytesPerNs = 4000;
// A lane that scans takes so long for a row of which the loads are under way; parts of columns move
// so much.
constexpr int64_t kScannedRowNs = 18, kPartBytesPerNs = 3000;
// Bytes that a multiprocessor has in flight in a scan down columns.
constexpr int64_t kScanBytes = 96 << 10;

// A tile of neighbouring columns to a workgroup: rows of threads, each of which takes some of the
// rows.
struct ColumnTile {
  int lanes = 1;
  int64_t row = 1, rows = 1;  // threads
  int64_t groups = 1;         // of `lanes` elements, to a thread at a time
  int64_t cluster = 1;        // workgroups that share the rows
};

constexpr int64_t kLineBytes = 128, kSectorBytes = 32;
constexpr int64_t kColumnThreads = 512;  // two workgroups of these hold 128 bytes a thread on one multiprocessor
// From this many rows on a tile reads them once faster than a warp that goes down its columns
// alone.
constexpr int64_t kTallTile = 128;

// What is held of a column and stored along it, in bytes an element: the widest, and the narrowest.
struct ColumnBytes {
  int held, widest, narrowest;
  bool stored = false;
};

// Rows that a cluster shares, so that a tile is as wide as a line though its columns are tall;
// nothing where it need not be, or cannot. Measured on an H200: a softmax down 4001 x 8191 elements
// took 219 us in tiles of 32 bytes and takes 134 so, in clusters of 8 x 512 threads; one down 770
// odd rows 82 in tiles of 64 bytes, and 58.
std::optional<ColumnTile> shared_tile(int64_t height, int64_t width, int lanes, const ColumnBytes& bytes) {
  constexpr int64_t kHalfLine = 2 * kSectorBytes, kRegister = 4;
  const bool odd = bytes.stored && width * bytes.held % kHalfLine != 0;
  const int64_t most = kMostBytesPerThread / (lanes * std::max<int64_t>(kRegister, bytes.held));
  ColumnTile tile{lanes, std::max<int64_t>(1, kLineBytes / (lanes * bytes.widest)), 1, 0};
  tile.rows = std::max<int64_t>(lanes, power_of_two_from(steps_of(height, most)));
  const auto threads = [&] { return tile.row * tile.rows; };
  const auto may_halve = [&] {
    const int64_t columns = tile.row / 2 * lanes;
    return columns * bytes.widest >= kHalfLine && columns * bytes.narrowest >= kSectorBytes;
  };
  const auto places = [&](int64_t row) { return steps_of(width, row * lanes) * row; };
  // One workgroup has room enough for half a line of even rows.
  if (!odd && may_halve() && threads() / 2 <= kColumnThreads) return std::nullopt;
  // Parts of lines of odd rows cost more than another kernel: batch norm of 14821 x 1979 elements
  // takes 148 us in one, 108 in two.
  if (odd && threads() > kMostCluster * kMostThreads) return std::nullopt;
  while (may_halve() && (threads() > kMostCluster * (odd ? kMostThreads : kColumnThreads) ||
                         10 * places(tile.row) > 11 * places(tile.row / 2)))
    tile.row /= 2;
  const int64_t workgroup = threads() > kMostCluster * kColumnThreads ? kMostThreads : kColumnThreads;
  tile.cluster = threads() / workgroup;
  tile.groups = steps_of(height, tile.rows);
  return tile.cluster >= 2 && tile.cluster <= kMostCluster && tile.groups <= most ? std::optional(tile) : std::nullopt;
}

// All rows stay in registers between the passes; nothing where there are too many of them.
std::optional<ColumnTile> held_tile(int64_t height, int64_t width, int lanes, int bytes) {
  constexpr int64_t kFewGroups = 8;
  ColumnTile tile{lanes, std::max<int64_t>(1, kLineBytes / (lanes * bytes)), 1, 0};
  const int64_t most = std::max<int64_t>(1, kMostBytesPerThread / (lanes * bytes));
  tile.rows = std::max<int64_t>(lanes, power_of_two_from(steps_of(height, most)));
  while (tile.row * tile.rows > kColumnThreads && tile.row * lanes * bytes > 2 * kSectorBytes) tile.row /= 2;
  while (tile.row * tile.rows > kMostThreads && tile.row * lanes * bytes > kSectorBytes) tile.row /= 2;
  if (tile.row * tile.rows > kMostThreads) return std::nullopt;
  while (tile.row * tile.rows < kWorkgroup && tile.row < kWarp && tile.row * lanes < width) tile.row *= 2;
  tile.rows = std::max(tile.rows, kWarp / tile.row);
  // Threads that take single elements are more, with fewer of them each: 512 with 5 instead of 128
  // with 18 took 316 us instead of 370 on an H100.
  if (lanes == 1)
    tile.rows =
        std::max(tile.rows, std::min(power_of_two_from(steps_of(height, kFewGroups)), kColumnThreads / tile.row));
  tile.groups = steps_of(height, tile.rows);
  return tile.groups <= most ? std::optional(tile) : std::nullopt;
}

// One pass, where there are workgroups enough for all multiprocessors.
std::optional<ColumnTile> passing_tile(int64_t height, int64_t width, int64_t columns, int lanes, int bytes,
                                       const Target& target) {
  constexpr int64_t kGroups = 8;
  if (height < kTallTile) return std::nullopt;
  ColumnTile tile{lanes, std::max<int64_t>(1, kLineBytes / (lanes * bytes)), 1, kGroups};
  // With few columns, as with coordinates, further threads would have nothing to do.
  while (tile.row > 1 && tile.row * lanes / 2 >= columns) tile.row /= 2;
  tile.rows = std::max<int64_t>(lanes, std::min(kColumnThreads / tile.row, power_of_two_from(height / kGroups)));
  tile.rows = std::max(tile.rows, kWarp / tile.row);
  if (width / (tile.row * lanes) < 2 * target.threads) return std::nullopt;
  return tile;
}

// Whether an array of words is read along both the columns and their rows.
bool reads_words(const Graph& graph, const Schedule& s) {
  const Symbol column = s.domain.axes[static_cast<size_t>(s.vector_axis)].var;
  return std::any_of(s.domain.reads.begin(), s.domain.reads.end(), [&](const Read& read) {
    return size_of(graph.at(read.node).dtype) >= 4 && mentions(read.index, column) && moves_along(s.domain, read, true);
  });
}

// Parts of tall columns, whatever their number: rows as wide as lines and warps go, and all
// threads. Where each reads single words, four smaller workgroups of a multiprocessor read more
// evenly than two: ten such reductions took 0.93 times as long on an H100.
ColumnTile split_tile(int64_t width, int lanes, const Widths& w, bool positions, bool words, const Tuning& tuning) {
  constexpr int64_t kSingleThreads = 256, kMostGroups = 8;
  const bool singly = lanes == 1 && words;
  ColumnTile tile{lanes, std::min<int64_t>(kWarp, power_of_two_from(steps_of(width, lanes))), 1, 0};
  const int64_t threads = tuning.threads ? tuning.threads : singly ? kSingleThreads : kColumnThreads;
  tile.rows = std::max<int64_t>(lanes, threads / tile.row);
  // Positions need registers of their own, and two workgroups are to fit a multiprocessor.
  const int64_t bytes = positions ? kMostBytesPerThread / 2 : kMostBytesPerThread;
  const int64_t most = bytes / (int64_t{lanes} * w.largest * std::max(1, w.reads));
  const int64_t allowed = singly ? kMostGroups : std::max(8, 16 / lanes);
  tile.groups = tuning.unroll ? tuning.unroll : std::clamp<int64_t>(most, 1, allowed);
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

ColumnBytes bytes_of_columns(const Graph& graph, const Domain& domain, int held) {
  ColumnBytes bytes{held, held, held};
  for (const Output& output : domain.outputs) {
    if (output.per_row) continue;
    const int stored = size_of(graph.at(output.node).dtype);
    bytes.widest = std::max(bytes.widest, stored), bytes.narrowest = std::min(bytes.narrowest, stored);
    bytes.stored = true;
  }
  return bytes;
}

// What is read for these values, but not through a reduction.
std::set<NodeId> read_for(const Graph& graph, const Domain& domain, std::vector<NodeId> below) {
  const auto is_read = [&](NodeId id) {
    return std::any_of(domain.reads.begin(), domain.reads.end(), [&](const Read& r) { return r.node == id; });
  };
  std::set<NodeId> seen, read;
  while (!below.empty()) {
    const NodeId id = below.back();
    below.pop_back();
    const Node& node = graph.at(id);
    if (!seen.insert(id).second) continue;
    if (is_read(id))
      read.insert(id);
    else if (node.kind != NodeKind::Reduce || node.local)
      below.insert(below.end(), node.args.begin(), node.args.end());
  }
  return read;
}

// Whether a later pass needs an array that an earlier one has reduced. As with `q * sum(k,
// axis=0)`, workgroups would wait for each other for nothing.
bool reads_again(const Graph& graph, const Domain& domain) {
  std::map<NodeId, std::set<int>> passes;
  for (const Reduction& r : domain.reductions)
    for (const NodeId id : read_for(graph, domain, graph.at(r.node).args)) passes[id].insert(r.level);
  for (const Output& o : domain.outputs)
    for (const NodeId id : read_for(graph, domain, {o.base}))
      if (const auto reduced = passes.find(id); reduced != passes.end()) reduced->second.insert(o.level);
  return std::any_of(passes.begin(), passes.end(), [](const auto& array) { return array.second.size() > 1; });
}

bool has_constant_rows(const Domain& domain) {
  return std::all_of(domain.axes.begin(), domain.axes.end(),
                     [](const Axis& a) { return !a.reduced || a.extent.constant(); });
}

// Whether a window of the group is a loop, which a workgroup's loop over columns has no place for.
bool loops_over_windows(const Graph& graph, const Group& group) {
  std::map<NodeId, int64_t> written_out;  // elements of the windows that are inside of each other, up to a node
  for (const NodeId id : group.nodes) {
    const Node& node = graph.at(id);
    int64_t most = 1;
    std::vector<NodeId> below = node.args;
    while (!below.empty()) {  // through views, which are not listed
      const NodeId arg = below.back();
      below.pop_back();
      if (const auto known = written_out.find(arg); known != written_out.end())
        most = std::max(most, known->second);
      else if (is_view(graph.at(arg).kind))
        below.insert(below.end(), graph.at(arg).args.begin(), graph.at(arg).args.end());
    }
    if (node.kind == NodeKind::Reduce && node.local) {
      const int64_t own = local_elements(graph, node);
      most *= own;
      if (own > kMostWrittenOut || most > kMostWrittenOutInside) return true;
    }
    written_out[id] = most;
  }
  return false;
}

std::optional<Schedule> columns_tile(const Graph& graph, const Domain& domain, const Group& group,
                                     const Options& options) {
  Schedule s;
  s.domain = domain;
  s.vector_axis = last_axis(domain, false);
  const Widths w = widths_of(graph, s);
  if (!w.any) return std::nullopt;
  const Axis& columns = domain.axes[static_cast<size_t>(s.vector_axis)];
  int lanes = std::min(options.tuning.lanes ? options.tuning.lanes : 4, lanes_of(w));
  while (lanes > 1 && (!may_divide(lanes, columns.extent) || lanes > columns.estimate)) lanes /= 2;
  const int64_t height = domain.estimate(true), width = domain.estimate(false);
  const bool one_pass = passes_of(domain) == 1;
  if (one_pass && finds_positions(graph, domain)) return std::nullopt;
  const int bytes = held_bytes(graph, domain);
  std::optional<ColumnTile> tile;
  if (!one_pass && options.target.clusters && reads_again(graph, domain))
    tile = shared_tile(height, columns.estimate, lanes, bytes_of_columns(graph, domain, bytes));
  if (!tile)
    tile = one_pass ? passing_tile(height, width, columns.estimate, lanes, w.largest, options.target)
                    : held_tile(height, columns.estimate, lanes, bytes);
  if (!tile) return std::nullopt;
  if (options.tuning.threads) {
    if (options.tuning.tile) tile->row = std::clamp<int64_t>(options.tuning.tile / lanes, 1, kWarp);
    tile->cluster = one_pass ? 1 : std::max(1, options.tuning.cluster);
    tile->rows = std::max<int64_t>(tile->lanes, options.tuning.threads * tile->cluster / tile->row);
    tile->groups = one_pass ? tile->groups : steps_of(height, tile->rows);
    if (!one_pass && tile->groups * tile->lanes * bytes > kMostBytesPerThread) return std::nullopt;
  }
  if (tile->row * tile->rows < kWarp) return std::nullopt;  // its warps join what they have
  if (options.tuning.unroll && one_pass) tile->groups = options.tuning.unroll;
  const int64_t most = most_written_out(graph, group, domain, options.sizes);
  if (!one_pass && tile->groups * tile->lanes > most) return std::nullopt;
  tile->groups = std::clamp<int64_t>(most / tile->lanes, 1, tile->groups);
  s.strategy = Strategy::Row;
  s.flat = true;
  s.held = !one_pass;
  s.lanes = tile->lanes;
  s.columns = static_cast<int>(tile->row * tile->lanes);
  s.team = static_cast<int>(tile->row * tile->rows);
  s.workgroup = s.team / static_cast<int>(tile->cluster);
  s.unroll = static_cast<int>(tile->groups);
  // Registers for all workgroups that the held rows leave room for: softmax down 16 x 4096 x 512
  // elements took 74 of them and 114 us on an H200, and in 64 it takes 74 us.
  if (s.held && s.workgroup < kMostThreads && tile->groups * tile->lanes * 4 <= kMostBytesPerThread)
    s.resident = kMostThreads / s.workgroup;
  // Columns that a later call makes longer are read again instead.
  if (s.held && has_constant_rows(domain))
    s.keep_bytes = height * s.columns * 4 * (kMostBytesPerThread / (tile->groups * tile->lanes * 4));
  s.note = fmt::format("{} columns of {} to {} threads, {} over them{}", s.columns, height, s.team, passes_text(domain),
                       s.held ? ", held in registers" : "");
  return s;
}

// Rows that a lane goes down at once. What is stored on the way keeps a scan's next loads waiting,
// so that many rows are taken at once where columns are few.
int rows_at_once(const Domain& domain, const Target& target) {
  const int64_t columns = std::max<int64_t>(1, domain.estimate(false) / std::max(1, target.threads));
  const int most = domain.scans.empty() ? 16 : 128;
  int rows = 8;
  while (rows < most && columns * rows * 4 < kScanBytes) rows *= 2;
  return rows;
}

// Whether lanes along the last kept axis alone would have no column, and others could have: of
// 4,000,000 x 10 x 2 elements summed over 10, an H100 took 758 us for two lanes a warp.
bool leaves_lanes_empty(const Schedule& s) {
  const Axis& last = s.domain.axes[static_cast<size_t>(s.vector_axis)];
  const int64_t step = int64_t{s.team} * s.lanes, places = steps_of(last.estimate, step) * step;
  const auto kept = std::count_if(s.domain.axes.begin(), s.domain.axes.end(), [](const Axis& a) { return !a.reduced; });
  return kept > 1 && 4 * places > 5 * last.estimate;
}

// Whether a scan of the group takes what another one makes.
bool scans_of_scans(const Graph& graph, const Domain& domain) {
  const auto is_scan = [&](NodeId id) {
    return std::any_of(domain.scans.begin(), domain.scans.end(), [&](const Scan& s) { return s.node == id; });
  };
  const auto is_read = [&](NodeId id) {
    return std::any_of(domain.reads.begin(), domain.reads.end(), [&](const Read& r) { return r.node == id; });
  };
  std::set<NodeId> seen;
  std::vector<NodeId> below;
  for (const Scan& s : domain.scans) {
    const std::vector<NodeId>& args = graph.at(s.node).args;
    below.insert(below.end(), args.begin(), args.end());
  }
  while (!below.empty()) {
    const NodeId id = below.back();
    below.pop_back();
    if (!seen.insert(id).second || is_read(id)) continue;
    if (is_scan(id)) return true;
    below.insert(below.end(), graph.at(id).args.begin(), graph.at(id).args.end());
  }
  return false;
}

// Scans down columns that are too few to keep a GPU busy, in parts of their rows: what they read is
// read twice. Nothing where that takes longer.
std::optional<std::variant<Schedule, Refusal>> scans_in_parts(const Graph& graph, const Domain& domain,
                                                              const Options& options) {
  constexpr int kRows = 16, kJoiners = 256;
  if (domain.scans.empty() || options.target.workgroup < kJoiners) return std::nullopt;
  Schedule s;
  s.domain = domain;
  s.vector_axis = last_axis(domain, false);
  const Widths w = widths_of(graph, s);
  const int64_t height = domain.estimate(true), width = domain.estimate(false);
  const auto of_bytes = [&](int64_t times) { return times * height * width * w.largest / kBytesPerNs; };
  const int64_t stored = static_cast<int64_t>(domain.outputs.size());
  const int64_t whole =
      std::max(passes_of(domain) * height * (kRowLatencyNs / rows_at_once(domain, options.target) + kScannedRowNs),
               of_bytes(w.reads + stored));
  const int64_t parts = of_bytes(2 * w.reads + stored) * kBytesPerNs / kPartBytesPerNs;
  if (whole <= 3 * kKernelsNs + parts) return std::nullopt;
  if (domain.levels > 0 || scans_of_scans(graph, domain))
    return Refusal{
        fmt::format("{} columns of {} are scanned in parts, which know nothing of whole columns", width, height),
        "more columns"};
  const Axis& columns = domain.axes[static_cast<size_t>(s.vector_axis)];
  s.strategy = Strategy::Split;
  s.lanes = std::min(options.tuning.lanes ? options.tuning.lanes : 4, lanes_of(w));
  while (s.lanes > 1 && (!may_divide(s.lanes, columns.extent) || columns.estimate < kWarp * s.lanes)) s.lanes /= 2;
  s.team = kWarp;
  s.workgroup = kWorkgroup / 2;
  s.unroll = options.tuning.unroll ? options.tuning.unroll : kRows;
  s.tile = int64_t{s.team} * s.lanes;
  s.note = fmt::format("{} columns of {}, rows in parts, joined before the second pass{}", width, height,
                       scans_text(domain));
  return s;
}

}  // namespace

std::variant<Schedule, Refusal> column_gpu(const Graph& graph, Domain domain, const Group& group,
                                           const Options& options) {
  // Tiles share what neighbouring columns read, and turned rows have that in registers.
  const bool tiles = !options.target.plain && !options.tuning.turned && !loops_over_windows(graph, group);
  if (domain.scans.empty() && tiles)
    if (auto tile = columns_tile(graph, domain, group, options)) return std::move(*tile);
  if (auto parts = scans_in_parts(graph, domain, options)) return std::move(*parts);
  Schedule s;
  const int64_t height = domain.estimate(true), width = domain.estimate(false);
  s.vector_axis = last_axis(domain, false);
  const bool one_pass = passes_of(domain) == 1;
  s.domain = std::move(domain);
  const Axis& columns = s.domain.axes[static_cast<size_t>(s.vector_axis)];
  const Widths w = widths_of(graph, s);
  s.lanes = std::min(options.tuning.lanes ? options.tuning.lanes : 4, lanes_of(w));
  while (s.lanes > 1 && !may_divide(s.lanes, columns.extent)) s.lanes /= 2;
  s.team = kWarp;
  s.workgroup = kWorkgroup / 2;
  if (one_pass && s.domain.scans.empty() && height >= kTallColumn && height * width > kSmallWork) {
    s.strategy = Strategy::Split;
    s.note = fmt::format("{} columns of {}, rows split over the grid, then combined", width, height);
    // Positions of many columns: a warp for each part is enough, and joins nothing.
    const bool positions = finds_positions(graph, s.domain);
    const bool many = width >= int64_t{options.target.threads} * kWarp * s.lanes;
    if (options.tuning.turned) s.unroll = options.tuning.unroll ? options.tuning.unroll : 8;
    if (tiles && !(positions && many)) {
      const ColumnTile tile =
          split_tile(columns.estimate, s.lanes, w, positions, reads_words(graph, s), options.tuning);
      if (tile.row * tile.rows >= kWarp) {
        s.columns = static_cast<int>(tile.row * tile.lanes);
        s.team = s.workgroup = static_cast<int>(tile.row * tile.rows);
        s.unroll = static_cast<int>(tile.groups);
      }
    }
  } else {
    s.strategy = Strategy::Column;
    while (s.lanes > 1 && width / s.lanes < int64_t{options.target.threads} * kWorkgroup) s.lanes /= 2;
    s.flattened = leaves_lanes_empty(s);
    s.unroll = options.tuning.unroll ? options.tuning.unroll : rows_at_once(s.domain, options.target);
    if (has_constant_rows(s.domain)) s.keep_bytes = options.target.shared_bytes / (s.workgroup / s.team) - 1024;
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
  s.unroll = static_cast<int>(
      std::clamp<int64_t>(most_written_out(graph, group, s.domain, options.sizes) / s.lanes, 1, std::max(1, s.unroll)));
  return s;
}

}  // namespace smelt::schedule

// Schedules for a CPU, and for devices of OpenCL that are one: which axis the lanes run along, how
// many there are, and how much of it one iteration of the grid takes.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "schedule/candidates.hpp"
#include "schedule/cost_parts.hpp"
#include "schedule/local.hpp"
#include "schedule/parts.hpp"
#include "schedule/schedule_cpu.hpp"

namespace smelt::schedule {
namespace {

// Column sums keep their accumulators in the first-level cache.
constexpr int64_t kColumnTile = 2048;
// Passes over columns whose rows are far apart: at least a kilobyte of each row, so that what comes
// next is fetched ahead. Where no cache holds a tile from pass to pass, more.
constexpr int64_t kFarTile = 256, kWideTile = 1024;
constexpr int kRowsAtOnce = 4;         // of a tile
constexpr int64_t kLeastStream = 512;  // bytes of a row
// Rows shorter than this leave most lanes of a vector empty.
constexpr int64_t kShortRow = 16;
// One row to a thread leaves threads idle where rows are few. Rows fewer than the first, reduced in
// one pass, are therefore split over the grid. Fewer than the second that take several passes
// become kernels of one pass each. Both are fixed: parts of a row are added in another order than a
// whole one, and the order of a sum must not follow from the threads at hand.
constexpr int64_t kFewRows = 32, kFewestRows = 8;
// So few columns share vectors, of which a step takes this many, where there are more steps than
// few: joining the lanes takes as long as those. Indices and values fill the registers
// sooner, and are joined in more time.
constexpr int64_t kFewColumns = 40, kFewestVectors = 3, kMostVectors = 16, kFewSteps = 3;
constexpr int64_t kFewColumnsOfIndices = 24, kFewStepsOfIndices = 12;

constexpr int64_t kSeveralGathers = 3;

// Approximate bytes of an element that passes over a row read again.
constexpr int64_t kBytesOfElement = 4;

// Elements between lanes are read with those of the lanes, and all are in registers until they are
// dealt out.
constexpr int kVectorsBetween = 8;

// An array that is read down its columns while others are read along their rows: stored in the
// order of the rows first, it is turned in tiles, which takes less than fetching a line of the
// cache for every element.
std::optional<Refusal> turned_read(const Graph& graph, const Domain& domain, const Group& group) {
  constexpr int64_t kLong = 64;
  const int row = last_axis(domain, true);
  if (row < 0 || group.nodes.size() < 2 || domain.axes[static_cast<size_t>(row)].estimate < kLong) return std::nullopt;
  const Read* turned = nullptr;
  bool along = false;
  for (const Read& read : domain.reads) {
    const int axis = contiguous_axis(graph, domain, read.node, read.index);
    along = along || axis == row;
    if (axis < 0 || axis == row || domain.axes[static_cast<size_t>(axis)].estimate < kLong) continue;
    const auto step =
        flat_offset(graph.at(read.node), read.index).coefficient_of(domain.axes[static_cast<size_t>(row)].var);
    if (step && !step->is(0)) turned = &read;
  }
  if (!along || !turned) return std::nullopt;
  const Node& node = graph.at(turned->node);
  return Refusal{fmt::format("{} is read across the rows that are reduced, other arrays along them",
                             node.name.empty() ? node.label : node.name),
                 "arrays whose last axis is the same one"};
}

// Reductions whose rows lie along the fastest axis.
// Rows of which the outputs of one element a row are computed together, a lane to each: where these
// take long compared with the reduction of a row. A function of one value takes as long as of a
// vector. 0: each row on its own.
int rows_together(const Graph& graph, const Group& group, const Domain& domain, const Options& options) {
  constexpr int64_t kLongRow = 512;
  const int rows = 4 * natural_lanes(options.target);
  const int last = last_axis(domain, false);
  if (options.target.plain || !domain.scans.empty() || last < 0 || domain.estimate(true) > kLongRow ||
      domain.axes[static_cast<size_t>(last)].estimate < rows ||
      domain.estimate(false) < int64_t{2} * rows * options.target.threads)
    return 0;
  for (const Reduction& r : domain.reductions)
    if (r.moment || r.online || is_half(graph.at(r.node).dtype)) return 0;
  const auto per_row = [](const Output& o) { return o.per_row; };
  if (std::none_of(domain.outputs.begin(), domain.outputs.end(), per_row)) return 0;
  int cost = 0;
  for (const NodeId id : group.nodes) {
    const Node& node = graph.at(id);
    int64_t elements = 1;
    for (const IntExpr& size : node.shape) elements *= size.evaluate(options.sizes);
    if (node.kind != NodeKind::Elementwise || elements > domain.estimate(false)) continue;
    // Lanes beyond the last row divide by what they find.
    if (!is_float(node.dtype) &&
        (node.op == Op::Div || node.op == Op::FloorDiv || node.op == Op::Mod || node.op == Op::Fmod))
      return 0;
    cost += cost_of(node);
  }
  return cost >= kWorthKeeping ? rows : 0;
}

std::variant<Schedule, Refusal> row(const Graph& graph, Domain domain, const Group& group, const Options& options) {
  if (auto refusal = turned_read(graph, domain, group)) return *refusal;
  Schedule s;
  const int64_t rows = domain.estimate(false), length = domain.estimate(true);
  const bool few_rows = rows < kFewRows && length > kChunk && length * rows > kSmallWork;
  s.vector_axis = last_axis(domain, true);
  s.lanes = lanes_for(graph, group, domain, s.vector_axis, options);
  if (options.tuning.lanes) s.lanes = options.tuning.lanes;
  const bool one_pass = passes_of(domain) == 1, other_way = options.tuning.split && s.vector_axis >= 0;
  if (few_rows != other_way && one_pass && domain.scans.empty()) {
    s.strategy = Strategy::Split;
    s.note = fmt::format("{} row{} of {} split over the grid, then combined", rows, rows == 1 ? "" : "s", length);
  } else if (rows < kFewestRows && !one_pass && length * rows > 16 * kSmallWork) {
    return Refusal{fmt::format("{} row{} of {} would leave threads idle; kernels of one pass each split them", rows,
                               rows == 1 ? "" : "s", length),
                   fmt::format("{} rows or more in one call", kFewestRows)};
  } else {
    s.strategy = Strategy::Row;
    s.keep_bytes = options.target.l2_bytes / 2;
    s.rows = rows_together(graph, group, domain, options);
    s.note = fmt::format("{} of {} per iteration, {} over {}{}", s.rows ? fmt::format("{} rows", s.rows) : "a row",
                         length, passes_text(domain), s.rows ? "each" : "it", scans_text(domain));
  }
  s.domain = std::move(domain);
  return s;
}

// Tall columns, so few that they would not fill a vector: vectors of whole rows, several side by
// side, of which the last ends where a row does.
bool few_columns(const Graph& graph, const Group& group, const Options& options, Schedule& s) {
  const std::vector<Axis>& axes = s.domain.axes;
  const int inner = last_axis(s.domain, true), lanes = natural_lanes(options.target);
  if (inner < 0 || inner > s.vector_axis) return false;
  const bool indices = finds_positions(graph, s.domain);
  int64_t columns = 1;
  for (size_t d = static_cast<size_t>(inner) + 1; d < axes.size(); ++d) {
    const int64_t extent = axes[d].extent.constant().value_or(0);
    if (extent < 1 || columns * extent > (indices ? kFewColumnsOfIndices : kFewColumns)) return false;
    columns *= extent;
  }
  int64_t step = std::lcm<int64_t>(columns, lanes);
  while (step < kFewestVectors * lanes) step *= 2;
  if (step > kMostVectors * lanes) return false;
  int cost = 0;
  for (const NodeId id : group.nodes) {
    cost += cost_of(graph.at(id));
    if (graph.at(id).local) return false;  // windows
  }
  const int64_t elements = axes[static_cast<size_t>(inner)].estimate * columns;
  if (cost * (step / lanes) > 4 * kLongBody || elements < (indices ? kFewStepsOfIndices : kFewSteps) * step)
    return false;
  s.strategy = Strategy::Split;
  s.narrow_axis = inner;
  s.lanes = lanes;
  s.tile = step;
  s.note = fmt::format("{} columns of {}, {} rows at a time, split over the grid, then combined", columns,
                       s.domain.estimate(true), step / columns);
  return true;
}

// Columns of a tile of far rows. Whole rows follow each other in memory, and of high tiles nothing
// is left near from pass to pass, so that longer pieces of each row count for more: as many columns
// as leave each thread a tile, in equal tiles.
int64_t far_tile(const Schedule& s, const Target& target) {
  const int64_t height = s.domain.estimate(true),
                row = std::max<int64_t>(1, s.domain.axes[static_cast<size_t>(s.vector_axis)].estimate);
  int64_t tile = kFarTile;
  if (row <= kColumnTile || height * kFarTile * kBytesOfElement > target.l2_bytes) {
    const int64_t rows = std::max<int64_t>(1, s.domain.estimate(false) / row);
    const int64_t fewest = std::max((target.threads + rows - 1) / rows, (row + kColumnTile - 1) / kColumnTile);
    tile = std::max(kFarTile, (row + fewest - 1) / fewest);
  }
  return std::max<int64_t>(s.lanes, (tile + s.lanes - 1) / s.lanes * s.lanes);
}

// Whether a column goes through more rows than a core finds at once, each on a page of its own,
// where whole rows could be tiles for all threads.
bool reads_many_pages(const Schedule& s, const Target& target) {
  constexpr int64_t kManyRows = 1024;
  const int64_t row = s.domain.axes[static_cast<size_t>(s.vector_axis)].estimate, tile = far_tile(s, target);
  const int64_t tiles = s.domain.estimate(false) / std::max<int64_t>(1, row) * ((row + tile - 1) / tile);
  const int64_t height = s.domain.estimate(true);
  const bool goes_down = height * s.lanes * kBytesOfElement <= target.l2_bytes / 2;  // higher ones are other kernels
  return goes_down && height > kManyRows && row >= kFarTile && row <= kColumnTile && tiles >= target.threads;
}

// Whether there are enough wide tiles for the threads, and the second level holds most of one until
// its last pass.
bool takes_far_tiles(const Schedule& s, const Target& target) {
  const int64_t height = s.domain.estimate(true), width = s.domain.estimate(false);
  return width >= kFarTile * kThreadsOfACpu / 2 && height * kFarTile * kBytesOfElement <= 2 * target.l2_bytes;
}

// Whether the rows of columns lie in the same sets of the first-level cache, as those of 1024
// elements of 32 bits do: a few push each other out, of the second level too, so that a lane going
// down its own column finds nothing of it again.
bool has_colliding_rows(const Graph& graph, const Schedule& s, const Options& options) {
  constexpr int64_t kWays = 8, kWaySize = 4096;  // of the first level, mostly
  const int reduced = last_axis(s.domain, true);
  if (reduced < 0) return false;  // axes of one element
  const Axis& row = s.domain.axes[static_cast<size_t>(reduced)];
  const auto collides = [&](NodeId node, const Index& index) {
    const double step = stride_of(graph, s.domain, options.sizes, node, index, row.var) * size_of(graph.at(node).dtype);
    return step > 0 && std::fmod(step, kWaySize) == 0;
  };
  return row.estimate > 2 * kWays && std::any_of(s.domain.reads.begin(), s.domain.reads.end(),
                                                 [&](const Read& read) { return collides(read.node, read.index); });
}

// Whether a tile has all columns, and its rows come from memory in order, which one row at a time
// reads as one stream. Several at once are as many streams, which end with every row; from the
// caches they take less, since accumulators are loaded and stored once for all of them, as do
// short rows, of which each waits for what the one before has stored.
bool streams_rows(const Graph& graph, const Schedule& s, const Options& options) {
  const std::vector<Axis>& axes = s.domain.axes;
  const Axis& column = axes[static_cast<size_t>(s.vector_axis)];
  const Axis& row = axes[static_cast<size_t>(last_axis(s.domain, true))];
  if (column.estimate > s.tile) return false;
  if (std::count_if(axes.begin(), axes.end(), [](const Axis& a) { return a.reduced; }) > 1) return false;
  int64_t bytes = 0;
  for (const Read& read : s.domain.reads) {
    const auto stride = [&](const Axis& axis) {
      return stride_of(graph, s.domain, options.sizes, read.node, read.index, axis.var);
    };
    if (stride(row) == 0 || stride(column) == 0) continue;
    if (stride(column) != 1 || stride(row) != static_cast<double>(column.estimate)) return false;
    const int64_t size = size_of(graph.at(read.node).dtype);
    if (column.estimate * size < kLeastStream) return false;
    bytes += s.domain.estimate(true) * s.domain.estimate(false) * size;
  }
  return bytes > 2 * options.target.l2_bytes;
}

// Columns of a tile of colliding rows: as many as leave each thread a tile, and as the second level
// holds the values of that are kept between passes.
int64_t colliding_tile(const Graph& graph, const Group& group, const Schedule& s, const Target& target) {
  const auto is_kept = [&](NodeId id) { return cost_of(graph.at(id)) >= kWorthKeeping; };
  const bool keeps = std::any_of(group.nodes.begin(), group.nodes.end(), is_kept);
  const int64_t kept = s.keep_bytes / (s.domain.estimate(true) * kBytesOfElement);
  const int64_t most = keeps && kept >= 2 * s.lanes ? std::min(kFarTile, kept) : kWideTile;
  const int64_t row = s.domain.axes[static_cast<size_t>(s.vector_axis)].estimate;
  return std::min({most, row, s.domain.estimate(false) / target.threads}) / s.lanes * s.lanes;
}

// Reductions across the fastest axis: lanes are neighbouring columns. `turned`: in place of rows.
std::variant<Schedule, Refusal> column(const Graph& graph, Domain domain, const Group& group, const Options& options,
                                       bool turned) {
  Schedule s;
  s.domain = std::move(domain);
  const int64_t height = s.domain.estimate(true), width = s.domain.estimate(false);
  s.vector_axis = last_axis(s.domain, false);
  const bool one_pass = passes_of(s.domain) == 1;
  const Tuning& tuning = options.tuning;
  if (one_pass && s.domain.scans.empty() && !tuning.merged && few_columns(graph, group, options, s)) return s;
  const bool other_way = tuning.split && last_axis(s.domain, true) >= 0;
  const int free = one_pass && s.domain.scans.empty() ? free_axis(s.domain) : -1;
  const bool is_short = s.domain.axes[static_cast<size_t>(s.vector_axis)].estimate < natural_lanes(options.target);
  const bool along_free = free >= 0 && (turned || is_short);
  if (along_free) s.vector_axis = free;
  s.lanes = lanes_for(graph, group, s.domain, s.vector_axis, options);
  if (along_free && finds_positions(graph, s.domain)) s.lanes = lanes_that_hold(s.domain, s.lanes, options.target);
  if (tuning.lanes) s.lanes = tuning.lanes;
  const bool far = !one_pass && s.domain.scans.empty() && has_far_rows(s, options.target);
  const int64_t wide = std::max<int64_t>(s.lanes, tuning.tile ? tuning.tile / s.lanes * s.lanes : kColumnTile);
  if (one_pass && !s.domain.scans.empty()) {
    s.strategy = Strategy::Column;
    s.tile = std::min(wide, std::max<int64_t>(s.lanes, width / options.target.threads / s.lanes * s.lanes));
    s.note =
        fmt::format("{} columns of {} side by side, {}{}", s.tile, height, passes_text(s.domain), scans_text(s.domain));
  } else if (one_pass && !along_free && (height >= kTallColumn && height * width > kSmallWork) != other_way) {
    s.strategy = Strategy::Split;
    s.tile = wide;
    if (!options.target.plain) s.unroll = streams_rows(graph, s, options) ? 1 : kRowsAtOnce;
    s.note = fmt::format("{} columns of {}, rows split over the grid, then combined", width, height);
  } else {
    s.strategy = Strategy::Column;
    s.keep_bytes = options.target.l2_bytes / 2;
    const bool passes_down = !one_pass && s.domain.scans.empty();
    int64_t tile = tuning.tile ? wide : far_tile(s, options.target);
    bool in_rows = s.domain.scans.empty() &&
                   (tuning.tile ? !one_pass || height < kTallColumn : far && takes_far_tiles(s, options.target));
    if (!tuning.tile && passes_down && !far && has_colliding_rows(graph, s, options)) {
      tile = colliding_tile(graph, group, s, options.target);
      in_rows = tile >= 2 * s.lanes;
    } else if (!tuning.tile && passes_down && reads_many_pages(s, options.target)) {
      in_rows = true;
    }
    // Lanes that go down their own columns take some lines of every row, which must stay near until
    // the last pass. Fewer lanes take less of each line, so that every pass fetches it several
    // times.
    const bool too_high =
        !one_pass && height * std::min<int64_t>(s.lanes, width) * kBytesOfElement > options.target.l2_bytes / 2;
    if (!in_rows && too_high && height * width * kBytesOfElement > options.target.l2_bytes / 2)
      return Refusal{fmt::format("a column of {} does not stay on chip between its passes", height),
                     fmt::format("columns of at most {}", options.target.l2_bytes / 2 / kBytesOfElement / s.lanes)};
    s.tile = in_rows ? tile : s.lanes;
    s.note =
        fmt::format("{} columns of {} side by side, {}{}", s.tile, height, passes_text(s.domain), scans_text(s.domain));
  }
  return s;
}

}  // namespace

// How many elements a step of the Vector loop takes. What a core waits for is mostly the chain of
// dependent steps that a function is, so four vectors go side by side; values that do not fit the
// registers then cost less than the wait. Elements of 8 bytes are two vectors already: eight of
// those in each array are seldom in the order that the processor reads ahead in (x + y of f64 took
// up to 1.8 times as long), and of very long bodies there is more to lose in compiling them than in
// waiting.
// Along `axis`, where one is known: no more lanes than it fills, and in vain, in its last step, no
// more than a quarter of all.
int lanes_for(const Graph& graph, const Group& group, const Domain& domain, int axis, const Options& options) {
  int cost = static_cast<int>(domain.again - domain.once);
  bool wide = false, stored_wide = false;
  for (NodeId id : group.nodes) {
    cost += cost_of(graph.at(id));
    wide = wide || graph.at(id).dtype == DType::F64;
    stored_wide = stored_wide || (domain.pointwise() && size_of(graph.at(id).dtype) == 8);
  }
  const bool light = cost <= kLightBody;
  const int natural = natural_lanes(options.target);
  // Elements from anywhere are loaded one by one, whatever goes side by side.
  if (std::count_if(domain.reads.begin(), domain.reads.end(), [](const Read& r) { return reads_gathered(r.index); }) >=
      kSeveralGathers)
    return natural;
  int lanes = natural * (cost <= kLongBody ? 4 : 2) / ((wide && !light) || stored_wide ? 2 : 1);
  if (axis >= 0)
    lanes = std::max(natural, std::min(lanes, kVectorsBetween * natural / between_lanes(graph, domain, axis)));
  const auto extent = axis < 0 ? std::nullopt : domain.axes[static_cast<size_t>(axis)].extent.constant();
  if (!extent) return lanes;
  const auto computed = [&](int64_t step) { return (*extent + step - 1) / step * step; };
  while (!light && lanes > natural && computed(lanes) * 4 > computed(natural) * 5) lanes /= 2;
  // After a row that is reduced its lanes are joined, and the last step may need a mask: both take
  // longer for more lanes.
  const auto few_steps = [&] { return *extent < (*extent % lanes == 0 ? 4 : 16) * lanes; };
  const bool joined = domain.axes[static_cast<size_t>(axis)].reduced;
  while (!light && joined && lanes > 2 * natural && few_steps()) lanes /= 2;
  const int64_t filled = std::max(*extent, kFewestLanes);
  return filled >= lanes ? lanes : static_cast<int>(std::bit_ceil(static_cast<uint64_t>(filled)));
}

bool has_far_rows(const Schedule& s, const Target& target) {
  constexpr int64_t kFewRowsOfColumn = 16, kNearCaches = 8;  // of the second level
  const int64_t height = s.domain.estimate(true), width = s.domain.estimate(false);
  return height >= kFewRowsOfColumn && s.domain.axes[static_cast<size_t>(s.vector_axis)].estimate >= kFarTile &&
         height * width * kBytesOfElement > kNearCaches * target.l2_bytes;
}

int natural_lanes(const Target& target) { return std::max(4, target.vector_bits / 32); }

std::variant<Schedule, Refusal> cpu_schedule(const Graph& graph, Domain domain, const Group& group,
                                             const Options& options) {
  if (domain.pointwise()) return pointwise_cpu(graph, std::move(domain), group, options);
  if (!options.target.plain)
    if (auto product = product_on_cpu(graph, domain, group, options)) return std::move(*product);
  const int last = static_cast<int>(domain.axes.size()) - 1;
  const bool along_rows = last < 0 || domain.axes[static_cast<size_t>(last)].reduced;
  const bool has_columns = last_axis(domain, false) >= 0, has_rows = last_axis(domain, true) >= 0;
  const bool short_rows =
      along_rows && domain.estimate(true) < kShortRow && domain.estimate(false) >= 4 * natural_lanes(options.target);
  const bool as_columns = has_columns && (!along_rows || !has_rows || short_rows);
  const bool turned = options.tuning.turned && has_columns && has_rows;
  const int passes = passes_of(domain);
  const bool columns = as_columns != turned;
  // A lane measures from its first element, which may be far from the others (moments.hpp): columns
  // that a register of lanes keeps near take the passes that they need.
  const bool on_chip =
      columns ? domain.estimate(true) * natural_lanes(options.target) * kBytesOfElement <= options.target.l2_bytes / 2
              : domain.estimate(true) * kBytesOfElement <= options.target.l2_bytes;
  const auto make = [&](Domain of) {
    if (columns) return column(graph, std::move(of), group, options, turned);
    return row(graph, std::move(of), group, options);
  };
  auto made = make(std::move(domain));
  if (passes == 1 || (on_chip && (columns || std::holds_alternative<Schedule>(made)))) return made;
  // What does not stay on chip between passes: every pass less is a reading less.
  auto shorter = domain_of_fewer_passes(graph, group, options, Online::Moments, passes);
  if (!shorter) return made;
  auto better = make(std::move(*shorter));
  return std::holds_alternative<Schedule>(better) ? std::move(better) : std::move(made);
}

}  // namespace smelt::schedule

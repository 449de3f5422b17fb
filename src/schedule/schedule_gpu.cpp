// Schedules for a GPU. A team of threads runs one iteration of the grid; how large it is, and how
// much each thread takes at a time, follows from the length of the rows and the width of the
// elements.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "schedule/cost_gpu_accesses.hpp"
#include "schedule/schedule_gpu.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {

// Tiles of transposed reads.
constexpr int64_t kTile = 64;
// From this many elements on, more of them at a time are worth fewer workgroups.
constexpr int64_t kLargeWork = 1 << 23, kLargeScattered = 1 << 21;

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
    if (reads_windows(r.index) && s.vector_axis >= 0 &&
        mentions(r.index, s.domain.axes[static_cast<size_t>(s.vector_axis)].var))
      w.windows += window_elements(s.domain, r.index) * size_of(graph.at(r.node).dtype);
  }
  for (const Output& o : s.domain.outputs)
    if (!o.per_row) {
      note(o.node, o.store_index);
      w.stored = std::max(w.stored, size_of(graph.at(o.node).dtype));
    }
  return w;
}

int lanes_of(const Widths& w) {
  if (!w.any) return 1;
  const int wide = 16 / w.largest, narrow = std::min(8, 16 / w.smallest);
  return std::max(wide, narrow);
}

// What a GPU has an instruction for, or nearly so.
static bool has_short_form(const Node& node) {
  if (node.kind != NodeKind::Elementwise || node.dtype == DType::F64) return false;
  return node.op == Op::Exp || node.op == Op::Exp2 || node.op == Op::Tanh || node.op == Op::Erf;
}

bool has_local(const Graph& graph, const Group& group) {
  return std::any_of(group.nodes.begin(), group.nodes.end(), [&](NodeId id) { return graph.at(id).local; });
}

int64_t most_written_out(const Graph& graph, const Group& group, const Domain& domain, const SizeBinding& sizes) {
  const int64_t kept = domain.estimate(false);
  const bool of_rows = domain.estimate(true) > 1;
  // What takes many operations is kept for the passes after it, and the rest is little; random
  // numbers are drawn again.
  constexpr int64_t kAnewInAPass = 16;
  int64_t instructions = kAnewInAPass * passes_of(domain);
  for (const NodeId id : group.nodes) {
    const Node& node = graph.at(id);
    const bool per_row = of_rows && element_count(evaluate(node.shape, sizes)) <= kept;
    if (per_row && node.kind != NodeKind::Reduce) continue;
    const int shortest = has_short_form(node) ? 10 : instructions_of(node);
    const int64_t once = node.local ? std::min(local_elements(graph, node), kMostWrittenOut) : shortest;
    instructions += once * (node.kind == NodeKind::Random ? passes_of(domain) : std::min(passes_of(domain), 2));
  }
  // What branches of a stack compute, each at another index, is code of its own.
  const double repeated = has_local(graph, group) ? 1 : std::max(1.0, domain.again / std::max(1.0, domain.once));
  return std::max<int64_t>(1, static_cast<int64_t>(kMostWrittenOutInstructions / (double(instructions) * repeated)));
}

int64_t steps_of(int64_t elements, int64_t step) { return std::max<int64_t>(1, (elements + step - 1) / step); }

bool may_divide(int lanes, const IntExpr& extent) {
  const auto c = extent.constant();
  return !c || *c % lanes == 0;
}

namespace {

// Whether the first of the lanes is where a word of as many elements may begin, for the sizes at
// hand.
bool begins_at_words(const IntExpr& flat, const Schedule& s, const SizeBinding& sizes) {
  SizeBinding at = sizes;
  for (const Symbol symbol : flat.symbols())
    if (!symbol.is_size()) at[symbol] = 0;
  const int64_t first = flat.evaluate(at);
  if (first % s.lanes != 0) return false;
  for (const Axis& axis : s.domain.axes) {
    const bool lanes = &axis == &s.domain.axes[static_cast<size_t>(s.vector_axis)];
    if (lanes || !flat.mentions(axis.var)) continue;
    at[axis.var] = 1;
    if ((flat.evaluate(at) - first) % s.lanes != 0) return false;
    at[axis.var] = 0;
  }
  return true;
}

// Whether most of what a thread reads for its lanes is not one access: windows, steps, and rows
// that do not begin at words, unless all axes are gone through as one (`flat`).
bool reads_lane_by_lane(const Graph& graph, const Schedule& s, const SizeBinding& sizes, bool flat) {
  constexpr int64_t kOfWindow = 4;  // elements at least
  if (s.vector_axis < 0) return false;
  const Axis& last = s.domain.axes[static_cast<size_t>(s.vector_axis)];
  const bool rows_fit = may_divide(s.lanes, last.extent),
             short_rows = last.extent.constant().value_or(s.lanes) < s.lanes;
  int64_t apart = 0, together = 0;  // bytes
  const auto note = [&](NodeId node, const Index& index) {
    const IntExpr place = flat_offset(graph.at(node), index);
    const auto step = place.coefficient_of(last.var);
    const int64_t bytes = size_of(graph.at(node).dtype);
    if (graph.at(node).shape.empty() || (step && step->is(0) && !short_rows)) return;
    if (reads_windows(index))
      apart += bytes * kOfWindow;
    else if (step && step->is(1) && rows_fit)
      (begins_at_words(place, s, sizes) ? together : apart) += bytes;
    else
      (flat && !rows_fit && lies_as_axes(s.domain, place, 0, sizes) ? together : apart) += bytes;
  };
  // With more, as in stencils of stencils, the first represent the others.
  constexpr size_t kMostLookedAt = 64;
  const size_t reads = std::min(s.domain.reads.size(), kMostLookedAt);
  for (size_t r = 0; r < reads; ++r) note(s.domain.reads[r].node, s.domain.reads[r].index);
  for (const Output& o : s.domain.outputs) {
    const auto step = flat_offset(graph.at(o.node), o.store_index).coefficient_of(last.var);
    (step && step->is(1) ? together : apart) += size_of(graph.at(o.node).dtype);
  }
  return apart > together;
}

// Lanes of a short last axis, as of the channels of pixels that are taken in another order: those
// of one pixel are neighbours in what is read, those of two are not.
int lanes_of_pixels(const Graph& graph, const Schedule& s) {
  const std::vector<Axis>& axes = s.domain.axes;
  const auto channels = axes.empty() ? std::nullopt : axes.back().extent.constant();
  if (axes.size() < 2 || !channels || *channels < 2 || *channels >= s.lanes ||
      !std::has_single_bit(static_cast<uint64_t>(*channels)))
    return s.lanes;
  const bool apart = std::any_of(s.domain.reads.begin(), s.domain.reads.end(), [&](const Read& read) {
    if (reads_windows(read.index) || reads_gathered(read.index)) return false;
    const IntExpr flat = flat_offset(graph.at(read.node), read.index);
    const auto own = flat.coefficient_of(axes.back().var), next = flat.coefficient_of(axes[axes.size() - 2].var);
    return own && own->is(1) && next && !next->is(0) && !next->is(*channels);
  });
  return apart ? static_cast<int>(*channels) : s.lanes;
}

// Elements of a thread that are read one by one. A large window has enough under way by itself, and
// so have many reads.
int steps_apart(const Graph& graph, const Domain& domain, const Group& group, int lanes, int stored, bool whole) {
  constexpr int64_t kLargeWindow = 16;
  constexpr int kMost = 4;
  const int loads = whole ? 8 : 32 * 4 / std::max(4, stored);
  for (const Read& r : domain.reads)
    for (const NodeId id : group.nodes)
      if (reads_windows(r.index) && graph.at(id).local && local_elements(graph, graph.at(id)) >= kLargeWindow) return 2;
  return std::clamp(loads / (lanes * std::max(1, static_cast<int>(domain.reads.size()))), whole ? 2 : 1, kMost);
}

// Whether what it reads comes from memory.
bool streams(const Graph& graph, const Domain& domain, const SizeBinding& sizes) {
  return std::any_of(domain.reads.begin(), domain.reads.end(),
                     [&](const Read& r) { return !stays_in_caches(graph, sizes, domain, r.node); });
}

// Lanes that read side by side share words, where they stay in one row.
int lanes_apart(const Domain& domain) {
  return !domain.axes.empty() && may_divide(2, domain.axes.back().extent) ? 2 : 1;
}

int64_t side_of_tiles(const Graph& graph, const Schedule& s) {
  constexpr int64_t kMostScratch = 36 << 10;  // of a tile of 64 x 64 elements of 8 bytes
  int64_t bytes = 0;
  for (const Read& read : s.staged) bytes = std::max<int64_t>(bytes, s.unit * size_of(graph.at(read.node).dtype));
  return kTile * (kTile + 1) * bytes <= kMostScratch ? kTile : kTile / 2;
}

// Neighbours of a tile that a thread reads, and stores, as one word of 4 bytes.
int lanes_of_tiles(const Graph& graph, const SizeBinding& sizes, const Schedule& s) {
  int largest = 1;
  for (const Read& r : s.domain.reads)
    if (contiguous_axis(graph, s.domain, r.node, r.index) >= 0 && !stays_in_caches(graph, sizes, s.domain, r.node))
      largest = std::max(largest, size_of(graph.at(r.node).dtype));
  for (const Output& o : s.domain.outputs) largest = std::max(largest, size_of(graph.at(o.node).dtype));
  // Units of a power of two are words themselves.
  int lanes = s.unit > 1 && (s.unit & (s.unit - 1)) == 0 ? static_cast<int>(std::min<int64_t>(s.unit, 16 / largest))
                                                         : std::max(1, 4 / largest);
  const IntExpr rows = s.domain.axes[static_cast<size_t>(s.across_axis)].extent * s.unit,
                columns = s.domain.axes[tiled_columns(s)].extent * s.unit;
  while (lanes > 1 && !(may_divide(lanes, rows) && may_divide(lanes, columns))) lanes /= 2;
  return lanes;
}

bool joins_along_last(const std::optional<Cut>& cut, const Domain& domain) {
  return cut && cut->axis + 1 == static_cast<int>(domain.axes.size());
}

// Whether results are computed along another axis than they are stored along.
bool turns_results(const Graph& graph, const Domain& domain, const SizeBinding& sizes, const std::optional<Cut>& cut) {
  Schedule s;
  s.domain = domain;
  find_staged(graph, s);
  find_turned_results(graph, sizes, joins_along_last(cut, domain), s);
  return s.turns_results;
}

// Tiles of such results.
void take_turned_results(const Graph& graph, const Tuning& tuning, Schedule& s) {
  constexpr int kElements = 8;  // of a thread at a time
  const std::vector<Axis>& axes = s.domain.axes;
  int largest = 1;
  for (const Output& o : s.domain.outputs) largest = std::max(largest, size_of(graph.at(o.node).dtype));
  s.strategy = Strategy::Tiled;
  s.flattened = false;
  s.vector_axis = s.across_axis;
  s.tile = tuning.lanes ? tuning.lanes : largest < 8 ? kTile : kTile / 2;
  s.lanes = std::max(1, 4 / largest);
  while (s.lanes > 1 && !(may_divide(s.lanes, axes[static_cast<size_t>(s.across_axis)].extent) &&
                          may_divide(s.lanes, axes.back().extent)))
    s.lanes /= 2;
  s.unroll = std::max(1, (tuning.unroll ? tuning.unroll : kElements) / s.lanes);
  s.note = fmt::format("tiles of {0} x {0}, computed along {1} and stored along {2}", s.tile,
                       axes[static_cast<size_t>(s.across_axis)].extent.str(), axes.back().extent.str());
}

// All points as they are: the last axis along the lanes.
Schedule along_last(const Graph& graph, Domain domain) {
  Schedule s;
  s.vector_axis = static_cast<int>(domain.axes.size()) - 1;
  s.domain = std::move(domain);
  const Widths w = widths_of(graph, s);
  // Two stores of 16 bytes side by side would write each sector in halves; measured, f32 from i8
  // takes 228 us so, and 177.
  s.lanes = std::min(lanes_of(w), std::max(1, 16 / w.stored));
  return s;
}

// Whether the ranges of a cut along rows begin within sectors, which then are written in two parts,
// far from each other.
bool parts_sectors(const Graph& graph, const Domain& domain, const Cut& cut, const SizeBinding& sizes) {
  constexpr int64_t kSectorBytes = 32;
  if (cut.axis + 1 != static_cast<int>(domain.axes.size()) || domain.axes.size() < 2) return false;
  for (const Output& o : domain.outputs) {
    const int64_t size = size_of(graph.at(o.node).dtype), row = domain.axes.back().extent.evaluate(sizes);
    if (row * size % kSectorBytes != 0) return true;
    for (const IntExpr& start : cut.starts)
      if (start.evaluate(sizes) * size % kSectorBytes != 0) return true;
  }
  return false;
}

// The axis of which each thread has the whole: where that keeps no thread from reading words.
std::optional<int> axis_of_thread(const Graph& graph, const Domain& domain, const Options& options) {
  const auto axis = options.tuning.merged ? std::nullopt : short_axis(graph, domain);
  const bool last = axis && *axis + 1 == static_cast<int>(domain.axes.size());
  return last && !reads_lane_by_lane(graph, along_last(graph, domain), options.sizes, false) ? std::nullopt : axis;
}

// Outputs whose elements at a point lie side by side, too many for a thread to store them as words.
void find_interleaved(const Graph& graph, Schedule& s) {
  constexpr int64_t kMostBytes = 8;  // of a point that threads store one by one: [N, 3] of f32 takes 165 us so, and 119
  constexpr int64_t kMostScratch = 32 << 10;
  if (s.vector_axis < 0) return;
  const std::vector<Axis>& axes = s.domain.axes;
  std::map<NodeId, std::vector<IntExpr>> places;
  for (const Output& o : s.domain.outputs) places[o.node].push_back(flat_offset(graph.at(o.node), o.store_index));
  int64_t scratch = 0;
  for (const auto& [id, flats] : places) {
    const auto k = static_cast<int64_t>(flats.size());
    const int64_t bytes = k * size_of(graph.at(id).dtype);
    const auto steps_by = [&, &flats = flats](size_t axis, const IntExpr& step) {  // Clang 14 captures no binding
      const auto own = flats[0].coefficient_of(axes[axis].var);
      return own && *own == step;
    };
    bool side_by_side = bytes > kMostBytes;
    IntExpr step = k;
    for (size_t axis = axes.size(); side_by_side && axis-- > (s.flattened ? 0 : axes.size() - 1);) {
      side_by_side = steps_by(axis, step);
      step = step * axes[axis].extent;
    }
    std::set<int64_t> apart;
    for (const IntExpr& flat : flats) apart.insert((flat - flats[0]).constant().value_or(k * k));
    side_by_side = side_by_side && static_cast<int64_t>(apart.size()) == k && *apart.rbegin() - *apart.begin() == k - 1;
    scratch += s.tile * row_of_points(k, graph.at(id).dtype) * size_of(graph.at(id).dtype);
    if (side_by_side && scratch <= kMostScratch) s.interleaved.push_back(id);
  }
}

// Whether a thread stores elements of an output that lie between those of the next point.
bool stores_between_points(const Graph& graph, const Schedule& s) {
  if (s.vector_axis < 0 || !s.domain.stores_components()) return false;
  const Symbol var = s.domain.axes[static_cast<size_t>(s.vector_axis)].var;
  return std::any_of(s.domain.outputs.begin(), s.domain.outputs.end(), [&](const Output& o) {
    const auto step = flat_offset(graph.at(o.node), o.store_index).coefficient_of(var);
    return !step || !(step->is(0) || step->is(1));
  });
}

// Lanes of threads that have the whole of a short axis: as many as make words of the elements of
// several points, where one alone has none, and nothing is read that is neither a word nor one of
// neighbours.
int lanes_in_turn(const Graph& graph, Schedule s, const SizeBinding& sizes) {
  constexpr int kLanes = 4;
  s.lanes = kLanes;
  s.flattened = s.domain.axes.size() > 1 && !may_divide(kLanes, s.domain.axes.back().extent);
  const GpuAccesses at(graph, s, sizes);
  bool any = false, all = true;
  const auto look = [&](const auto& access, NodeId node, const Index& index) {
    const int size = size_of(graph.at(node).dtype);
    const double bytes = at.step_along(node, index) * size;
    const bool word = bytes <= size || bytes == 2 || bytes == 4 || bytes == 8;
    const bool in_turn = at.in_turn(access);
    any = any || (in_turn && !word);
    all = all && (in_turn || word || size >= 4);
  };
  for (const Read& r : s.domain.reads) look(r, r.node, r.index);
  for (const Output& o : s.domain.outputs) look(o, o.node, o.store_index);
  return any && all ? kLanes : 1;
}

Schedule pointwise_gpu(const Graph& graph, Domain domain, const Group& group, const Options& options) {
  std::string unprofitable;
  follow_output(graph, domain);
  if (auto stencil = stencil_schedule(graph, domain, group, options, unprofitable)) return std::move(*stencil);
  if (auto blocked = blocked_schedule(graph, domain, group, options)) return std::move(*blocked);
  const std::optional<int> whole = axis_of_thread(graph, domain, options);
  if (whole) write_out(graph, *whole, domain);
  auto cut = find_cut(graph, group, domain, options.sizes);
  const bool joins = cut && !turns_results(graph, domain, options.sizes, cut);
  if (joins && join_ranges(graph, *cut, options.sizes, domain)) cut = find_cut(graph, group, domain, options.sizes);
  if (cut && parts_sectors(graph, domain, *cut, options.sizes)) cut.reset();
  Schedule s = along_last(graph, std::move(domain));
  s.strategy = Strategy::Pointwise;
  s.unprofitable = std::move(unprofitable);
  s.team = s.workgroup = kWorkgroup;
  const Widths w = widths_of(graph, s);
  const Tuning& tuning = options.tuning;
  if (tuning.threads) s.team = s.workgroup = tuning.threads;
  const int64_t points = s.domain.estimate(false);
  const bool between = whole || stores_between_points(graph, s);
  if (!between) s.lanes = lanes_of_pixels(graph, s);
  const bool scattered = between || reads_lane_by_lane(graph, s, options.sizes, true);
  const bool words_of_rows = s.domain.axes.empty() || may_divide(s.lanes, s.domain.axes.back().extent);
  if (scattered) s.lanes = between ? lanes_in_turn(graph, s, options.sizes) : std::min(s.lanes, lanes_apart(s.domain));
  // Small work is spread over all multiprocessors before a thread takes more than one element.
  while (s.lanes > 1 && points / s.lanes < int64_t{options.target.threads} * kWorkgroup) s.lanes /= 2;
  s.unroll = points < (scattered ? kLargeScattered : kLargeWork) ? 1
             : between && s.lanes > 1                            ? 1
             : scattered ? steps_apart(graph, s.domain, group, s.lanes, w.stored, whole.has_value())
             : !streams(graph, s.domain, options.sizes) || w.reads * s.lanes * w.largest <= 16 ? 2
                                                                                               : 1;
  if (tuning.lanes) s.lanes = tuning.lanes;
  if (tuning.unroll) s.unroll = tuning.unroll;
  s.tile = int64_t{s.team} * s.lanes * s.unroll;
  // Rows that are no whole number of tiles leave threads idle; then all axes are one, which takes
  // divisions.
  std::optional<int64_t> length;
  if (!s.domain.axes.empty()) length = s.domain.axes.back().extent.constant();
  const auto fits = [&](int64_t tile) { return length && 50 * steps_of(*length, tile) * tile <= 51 * *length; };
  const bool in_turn = between && s.lanes > 1;
  const bool for_words = (!scattered && !words_of_rows) ||
                         (in_turn && !s.domain.axes.empty() && !may_divide(s.lanes, s.domain.axes.back().extent));
  s.flattened = s.domain.axes.size() > 1 && (!fits(s.tile) || for_words);
  if (s.flattened && !for_words && !tuning.threads && fits(s.tile / 2)) {
    s.team = s.workgroup = kWorkgroup / 2;
    s.tile /= 2;
    s.flattened = false;
  }
  std::string over;
  for (const Axis& axis : s.domain.axes) over += (over.empty() ? "" : " x ") + axis.extent.str();
  s.note = fmt::format("every element on its own over {}, {} x {} to a thread{}", over.empty() ? "one point" : over,
                       s.unroll, s.lanes, whole ? ", each with the whole of a short axis" : "");
  find_staged(graph, s);
  if (s.across_axis < 0) find_staged_units(graph, s);
  if (s.unit == 1 && !options.tuning.rings)
    find_turned_results(graph, options.sizes, joins_along_last(cut, s.domain), s);
  if (s.turns_results) {
    take_turned_results(graph, options.tuning, s);
    if (joins_along_last(cut, s.domain)) take_cut(s, std::move(cut));
  } else if (s.across_axis >= 0) {
    s.strategy = Strategy::Tiled;
    s.flattened = false;
    s.tile = side_of_tiles(graph, s);
    s.lanes = lanes_of_tiles(graph, options.sizes, s);
    s.unroll =
        static_cast<int>(std::max<int64_t>(1, (options.tuning.unroll ? options.tuning.unroll : 16) * s.unit / s.lanes));
    if (options.tuning.lanes) s.tile = options.tuning.lanes;
    s.note = fmt::format("tiles of {0} x {0}{1}, {2} read{3} transposed on chip", s.tile,
                         s.unit > 1 ? fmt::format(" units of {}", s.unit) : "", s.staged.size(),
                         s.staged.size() == 1 ? "" : "s");
  } else {
    take_cut(s, std::move(cut));
    if (!s.cut) find_interleaved(graph, s);
    if (!s.interleaved.empty()) s.note += ", whose elements are stored through scratch";
  }
  return s;
}

// Threads of a team that join what they have are a power of two, and so are columns of a tile and
// workgroups of a cluster; those of a tuning that is meant for tiles of products may be any number.
Options for_teams(const Options& options) {
  Options even = options;
  Tuning& t = even.tuning;
  t.threads = static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max(0, t.threads))));
  t.tile = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(0, t.tile))));
  t.cluster = std::min(kMostCluster, static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max(0, t.cluster)))));
  return even;
}

std::variant<Schedule, Refusal> any_schedule(const Graph& graph, Domain domain, const Group& group,
                                             const Options& options) {
  if (domain.overlap) {
    follow_output(graph, domain);
    if (auto blocked = blocked_schedule(graph, domain, group, options)) return std::move(*blocked);
    return *domain.overlap;
  }
  if (domain.pointwise()) return pointwise_gpu(graph, std::move(domain), group, options);
  if (auto product = product_on_gpu(graph, domain, group, options)) return std::move(*product);
  const Options even = for_teams(options);
  if (options.tuning.turned) {
    if (!may_turn(domain))
      return Refusal{"lanes along a kept axis would read elements that are not neighbours",
                     "operands that are broadcast"};
    turn(domain);
  }
  const int last = static_cast<int>(domain.axes.size()) - 1;
  const bool along_rows = last < 0 || domain.axes[static_cast<size_t>(last)].reduced;
  const bool has_columns = last_axis(domain, false) >= 0, has_rows = last_axis(domain, true) >= 0;
  const auto make = has_columns && (!along_rows || !has_rows) ? column_gpu : row_gpu;
  const int passes = passes_of(domain);
  const int64_t rows = domain.estimate(false);
  auto made = make(graph, std::move(domain), group, even);
  const Schedule* plain = std::get_if<Schedule>(&made);
  // Workgroups that share tall columns wait for each other, which results alone are not worth: std
  // down 4096 x 29056 elements of bf16 took an H200 121 us held, and 71 in one pass over parts.
  const bool only_results = plain && plain->columns > 0 && plain->team > plain->workgroup &&
                            std::all_of(plain->domain.outputs.begin(), plain->domain.outputs.end(),
                                        [](const Output& o) { return o.per_row; });
  if (passes == 1 || options.tuning.turned || (plain && plain->held && !only_results)) return made;
  // What does not stay on chip between passes: every pass less is a reading less. Exponentials run
  // online in whole rows.
  const bool whole_rows = make == row_gpu && plain && rows >= options.target.threads;
  auto shorter = domain_of_fewer_passes(graph, group, options, whole_rows ? Online::All : Online::Moments, passes);
  if (!shorter) return made;
  auto better = make(graph, std::move(*shorter), group, even);
  return std::holds_alternative<Schedule>(better) ? std::move(better) : std::move(made);
}

// Arrays of which every element is read once, by one access.
std::vector<NodeId> arrays_read_once(const Graph& graph, const Schedule& s, const SizeBinding& sizes) {
  std::map<NodeId, int> times;
  for (const Read& r : s.domain.reads) ++times[r.node];
  const double points = static_cast<double>(s.domain.estimate(false)) * static_cast<double>(s.domain.estimate(true));
  std::vector<NodeId> once;
  for (const auto& [node, count] : times)
    if (count == 1 && array_bytes(graph, sizes, node) >= points * size_of(graph.at(node).dtype)) once.push_back(node);
  return once;
}

// Arrays that kernels without reductions read once, neighbouring threads neighbouring elements: the
// L2 cache evicts less of what is written meanwhile, however few bytes an access has. On an H200
// f32 from i8 takes 163 us in place of 166, sums of two arrays 50 in place of 51.
std::vector<NodeId> lasting_arrays(const Graph& graph, const Schedule& s, const Options& options) {
  if (options.target.plain || s.vector_axis < 0 || (s.strategy != Strategy::Pointwise && s.strategy != Strategy::Tiled))
    return {};
  const Symbol lane = s.domain.axes[static_cast<size_t>(s.vector_axis)].var;
  std::vector<NodeId> lasting;
  for (const NodeId node : arrays_read_once(graph, s, options.sizes)) {
    const auto read =
        std::find_if(s.domain.reads.begin(), s.domain.reads.end(), [&](const Read& r) { return r.node == node; });
    const bool near =
        s.strategy == Strategy::Tiled || stride_of(graph, s.domain, options.sizes, node, read->index, lane) == 1;
    if (near && !reads_windows(read->index) && !reads_gathered(read->index)) lasting.push_back(node);
  }
  return lasting;
}

// Arrays that a kernel reads once and stores next to nothing for. What is under way in the L2 cache
// then leaves it before what others have written, and that need not go to memory meanwhile. On an
// H200 whose L2 cache is full of what was written, a sum of 67 MB takes 21 us in place of 24, one
// of 134 MB 38 in place of 42; of 1 GB, which drives all of that out anyway, 263 in place of 250.
std::vector<NodeId> passing_arrays(const Graph& graph, const Schedule& s, const Options& options) {
  // Lines that rows share are read twice: those of rows that lie in the cache meanwhile alone.
  constexpr double kCaches = 3.5, kCachesOfOddRows = 2, kFarFewer = 8;
  constexpr int kLine = 128, kSector = 32;  // bytes
  const Domain& domain = s.domain;
  const bool reduces = s.strategy == Strategy::Row || s.strategy == Strategy::Split || s.strategy == Strategy::Column;
  if (options.target.plain || !reduces || !domain.scans.empty() || (passes_of(domain) > 1 && !s.held)) return {};
  // Neighbouring threads have the rest of a line by other accesses.
  const int side_by_side = s.columns > 0 ? s.columns : s.team * s.lanes;
  const auto kept = static_cast<double>(domain.estimate(false));
  double read = 0, stored = 0;
  for (const Output& output : domain.outputs) {
    if (!output.per_row) return {};
    stored += kept * size_of(graph.at(output.node).dtype);
  }
  std::set<NodeId> arrays;
  for (const Read& r : domain.reads)
    if (arrays.insert(r.node).second) read += array_bytes(graph, options.sizes, r.node);
  const auto cache = static_cast<double>(facts_of(options.target).cache_bytes_total);
  const int last = last_axis(domain, s.columns == 0);
  const int64_t row = last < 0 ? 1 : domain.axes[static_cast<size_t>(last)].estimate;
  if (stored * kFarFewer > read) return {};
  std::vector<NodeId> passing;
  for (const NodeId node : arrays_read_once(graph, s, options.sizes))
    if (const int bytes = size_of(graph.at(node).dtype);
        side_by_side * bytes >= kLine && read <= cache * (row * bytes % kSector == 0 ? kCaches : kCachesOfOddRows))
      passing.push_back(node);
  return passing;
}

}  // namespace

std::variant<Schedule, Refusal> gpu_schedule(const Graph& graph, Domain domain, const Group& group,
                                             const Options& options) {
  auto made = any_schedule(graph, std::move(domain), group, options);
  Schedule* schedule = std::get_if<Schedule>(&made);
  if (schedule && !schedule->blocking)
    if (auto refusal = loses_blocks(graph, group, options)) return *refusal;
  if (schedule) {
    schedule->passing = passing_arrays(graph, *schedule, options);
    schedule->lasting = lasting_arrays(graph, *schedule, options);
  }
  return made;
}

}  // namespace smelt::schedule

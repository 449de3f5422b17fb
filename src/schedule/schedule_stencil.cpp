// Schedules for chains of stencils: how wide the strips are, and how many rows one iteration goes
// down.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "schedule/parts.hpp"
#include "schedule/schedule_gpu.hpp"

namespace smelt::schedule {
namespace {

constexpr int64_t kNarrowStrip = 256, kWideStrip = 8192;
// Registers of a thread that rings may take.
constexpr int64_t kMostRingRegisters = 128;
// Operations of a point, with what it reads, that are done by the time that its row comes from
// memory.
constexpr double kCheapReads = 24;
constexpr int kStencilThreads = 128;
// Registers of a multiprocessor, and those that a thread needs besides its rings.
constexpr int64_t kRegisters = 65536, kRegistersToCompute = 44, kMostWarps = 32;
// Rows by which arrays are read ahead.
constexpr int kAhead = 3;
// On a CPU: columns by which they are, at least.
constexpr int64_t kAheadColumns = 1024;
// Loops over the columns of a row that take as long as its memory, on a CPU.
constexpr size_t kManyLoops = 4;
// Narrower arrays would leave most threads of a warp without a column.
constexpr int64_t kNarrow = 48;
constexpr int64_t kMostHaloThreads = 12;
// Columns of a halo on either side where a warp has columns apart, at most.
constexpr int64_t kMostHaloApart = 16;
// Rows that a warp goes down on a GPU: of fewer that are under way at a time, the caches still have
// what their neighbours read. Measured on an H100, a filter of 5 x 5 over u8 takes 589 us with 469
// rows, 441 with 64.
constexpr int64_t kMostRowsOfWarp = 64, kWarmUps = 16;
// Fewer, where that computes little again. On an H100 Sobel took 164 us with 16 rows and 192 with
// 58, two steps of a reaction 130 with 32 and 148 with 64, eight steps of a cellular automaton 650
// and 632.
constexpr int64_t kFewestRowsOfChunk = 16, kShortWarmUp = 5, kShortWarmUps = 8;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t estimate_of(const Domain& domain, int axis) {
  return axis < 0 ? 1 : std::max<int64_t>(1, domain.axes[static_cast<size_t>(axis)].estimate);
}

std::string rings_text(const Stencil& stencil, const char* where) {
  int64_t most = 1, halo = 0;
  for (const Ring& ring : stencil.rings) {
    most = std::max(most, ring.rows);
    halo = std::max({halo, ring.left, ring.right});
  }
  const size_t n = stencil.rings.size();
  if (n == 0) return "no values kept: what neighbours read comes from the caches";
  return fmt::format("{} value{} kept in {} of up to {} row{}, halo {}, {:.2f}x the operations", n, n == 1 ? "" : "s",
                     where, most, most == 1 ? "" : "s", halo, stencil.repeated);
}

// Rows of outputs to an iteration: many, so that those before the first are few compared with them,
// but enough iterations for all threads.
int64_t rows_for(int64_t rows, int64_t columns_of_work, int64_t wanted, int64_t warm_up, int64_t most) {
  const int64_t parts = std::max<int64_t>(1, ceil_div(wanted, columns_of_work));
  const int64_t least = std::max<int64_t>(8, 4 * warm_up);
  return std::max(least, std::min(most, ceil_div(rows, parts)));
}

// Neighbouring columns of one thread: a word of 16 bytes of what is read, if that is not too many.
int64_t columns_of_thread(const Graph& graph, const Domain& domain, const Options& options) {
  if (options.tuning.lanes) return options.tuning.lanes;
  int widest = 1;
  for (const Read& read : domain.reads) widest = std::max(widest, size_of(graph.at(read.node).dtype));
  return widest >= 8 ? 2 : widest <= 2 ? 8 : 4;
}

int64_t registers_of(const Graph& graph, const Stencil& stencil, int64_t lanes) {
  int64_t registers = 0;
  for (const Ring& ring : stencil.rings)
    registers += ring.rows * lanes * std::max(1, size_of(compute_type(graph.at(ring.node).dtype)) / 4);
  return registers;
}

bool keeps_computed(const Stencil& stencil) {
  return std::any_of(stencil.rings.begin(), stencil.rings.end(), [](const Ring& r) { return !r.memory; });
}

bool keeps_rows(const Stencil& stencil) {
  return std::any_of(stencil.rings.begin(), stencil.rings.end(), [](const Ring& r) { return !r.memory && r.rows > 1; });
}

// Whether rows of words have odd lengths. Neighbours are then stored one by one, and from columns
// side by side each store reaches all sectors of the warp's columns: on an H100 Sobel over such
// rows takes 153 us with columns apart and 176 without. Where anything read is narrower, the
// shuffles of each column cost more than that: three steps of a cellular automaton of bytes take
// 387 us and 297, two of a propagation of labels with a mask 155 and 128.
bool has_odd_rows_of_words(const Graph& graph, const Domain& domain, const SizeBinding& sizes) {
  const auto is_word = [&](NodeId id) { return size_of(graph.at(id).dtype) == 4; };
  return std::all_of(domain.reads.begin(), domain.reads.end(), [&](const Read& read) { return is_word(read.node); }) &&
         std::any_of(domain.outputs.begin(), domain.outputs.end(), [&](const Output& output) {
           const Shape& shape = graph.at(output.node).shape;
           return is_word(output.node) && shape.size() > 1 && shape.back().evaluate(sizes) % 2 != 0;
         });
}

// What of a warp computes columns beyond its strip, for its neighbours: threads, or of columns
// apart single columns.
void find_halo(Stencil& stencil, int64_t lanes) {
  const int64_t of_each = stencil.apart ? 1 : lanes;
  for (const Ring& ring : stencil.rings) {
    stencil.before = std::max(stencil.before, ceil_div(std::max<int64_t>(0, ring.left), of_each));
    stencil.behind = std::max(stencil.behind, ceil_div(std::max<int64_t>(0, ring.right), of_each));
  }
}

bool is_wide_halo(const Stencil& stencil) {
  if (stencil.apart) return std::max(stencil.before, stencil.behind) > kMostHaloApart;
  return stencil.before + stencil.behind > kMostHaloThreads;
}

Schedule on_cpu(const Domain& domain, const Graph& graph, Stencil stencil, const Options& options) {
  Schedule s;
  plan_loops(stencil);
  int64_t column_bytes = 0;
  for (const Ring& ring : stencil.rings) column_bytes += ring.lines * size_of(compute_type(graph.at(ring.node).dtype));
  const int64_t width = estimate_of(domain, stencil.column_axis), height = estimate_of(domain, stencil.row_axis);
  // The lines of many loops stay in the first-level cache; where a row is soon done, wide strips
  // are better for the memory.
  const int64_t cache =
      stencil.output_loop + 1 >= kManyLoops ? options.target.l1_bytes * 3 / 4 : options.target.l2_bytes / 4;
  const int64_t most = cache / std::max<int64_t>(1, column_bytes);
  s.tile = std::clamp<int64_t>(power_of_two_from(most) / 2, kNarrowStrip, kWideStrip);
  if (options.tuning.tile) s.tile = options.tuning.tile;
  if (width <= s.tile + s.tile / 2) s.tile = width;
  stencil.ahead = std::clamp<int64_t>(ceil_div(kAheadColumns, s.tile), 1, 8);
  s.lanes = options.tuning.lanes ? options.tuning.lanes : std::max(4, options.target.vector_bits / 32) * 2;
  const int64_t others = std::max<int64_t>(1, domain.estimate(false) / std::max<int64_t>(1, width * height));
  stencil.chunk = rows_for(height, others * ceil_div(width, s.tile), 8 * options.target.threads, stencil.warm_up, 1024);
  if (options.tuning.unroll) stencil.chunk = options.tuning.unroll;
  s.note = fmt::format("down {} rows of {} columns at a time, {}", stencil.chunk, s.tile, rings_text(stencil, "rings"));
  s.stencil = std::move(stencil);
  return s;
}

// After as many steps as a ring has rows its registers have their first names again: a loop that
// writes out so many moves none. Rings are rarely alike; most should be served.
int unroll_of(const Stencil& stencil) {
  std::map<int64_t, int> rings;  // by rows
  for (const Ring& ring : stencil.rings)
    if (!ring.memory && ring.rows > 1) ++rings[ring.rows];
  int64_t rows = 4;
  int most = 0;
  for (const auto& [of, count] : rings)
    if (count > most) most = count, rows = of;
  return static_cast<int>(rows == 2 ? 4 : std::min<int64_t>(rows, 6));
}

// Workgroups that a multiprocessor holds at a time: what its registers allow besides those for
// computing.
int resident_workgroups(int64_t registers, int workgroup) {
  const int64_t wanted = ceil_div(registers + kRegistersToCompute, 8) * 8;
  return static_cast<int>(std::clamp<int64_t>(kRegisters / (workgroup * wanted), 1, kMostWarps * kWarp / workgroup));
}

// Rows of an iteration, so that the warps of all iterations fill the GPU evenly, some number of
// times: a few left over would take as long as all others did. The fewer the iterations, the fewer
// rows before the first are computed again.
int64_t rows_of_warps(int64_t height, int64_t strips, int64_t warps, int64_t warm_up) {
  const int64_t least = std::max<int64_t>(8, 2 * warm_up);
  int64_t best = std::max(least, height);
  double least_time = 0;
  for (int64_t times = 1; times <= 4; ++times) {
    const int64_t parts = std::max<int64_t>(1, times * warps / strips);
    const int64_t rows = std::max(least, ceil_div(height, parts));
    const double turns = std::ceil(static_cast<double>(strips * ceil_div(height, rows)) / static_cast<double>(warps));
    const double time = turns * static_cast<double>(rows + warm_up);
    if (least_time == 0 || time < least_time) least_time = time, best = rows;
  }
  return best;
}

Schedule on_gpu(const Domain& domain, Stencil stencil, int64_t lanes, int64_t registers, const Options& options) {
  Schedule s;
  s.lanes = static_cast<int>(lanes);
  s.team = kWarp;
  s.workgroup = options.tuning.threads ? options.tuning.threads : kStencilThreads;
  s.tile = stencil.apart ? kWarp * lanes - stencil.before - stencil.behind
                         : (kWarp - stencil.before - stencil.behind) * lanes;
  s.unroll = unroll_of(stencil);
  s.resident = options.tuning.cluster ? options.tuning.cluster : resident_workgroups(registers, s.workgroup);
  const int64_t width = estimate_of(domain, stencil.column_axis), height = estimate_of(domain, stencil.row_axis);
  const int64_t others = std::max<int64_t>(1, domain.estimate(false) / std::max<int64_t>(1, width * height));
  const int64_t warps = int64_t{options.target.threads} * s.resident * (s.workgroup / kWarp);
  stencil.chunk = std::min(rows_of_warps(height, others * ceil_div(width, s.tile), warps, stencil.warm_up),
                           std::max(kMostRowsOfWarp, kWarmUps * stencil.warm_up));
  // Where little is computed again, more workgroups than run at a time: those of one wave go down
  // their rows in step, and then all wait for the same rows of memory.
  if (stencil.warm_up > 0 && stencil.warm_up <= kShortWarmUp)
    stencil.chunk = std::min(stencil.chunk, std::max(kFewestRowsOfChunk, kShortWarmUps * stencil.warm_up));
  if (options.tuning.unroll >= 8) stencil.chunk = options.tuning.unroll;
  // Halo columns of a strip, and warm-up rows before its first row.
  stencil.repeated *= static_cast<double>(kWarp * lanes) / static_cast<double>(s.tile);
  if (stencil.row_axis >= 0)
    stencil.repeated *= static_cast<double>(stencil.chunk + stencil.warm_up) / static_cast<double>(stencil.chunk);
  s.note = fmt::format("down {} rows of {} columns at a time, {} columns{} to a thread, {}", stencil.chunk, s.tile,
                       lanes, stencil.apart ? " apart" : "", rings_text(stencil, "registers"));
  s.stencil = std::move(stencil);
  return s;
}

}  // namespace

std::string text_of(const Ring& ring) {
  const int64_t halo = std::max(ring.left, ring.right);
  if (ring.rows == 1) return fmt::format("kept for a row, halo {}", halo);
  return fmt::format("kept in a ring of {} rows, halo {}", ring.rows, halo);
}

bool may_have_rings(const Domain& domain) {
  return domain.pointwise() && !domain.axes.empty() && domain.estimate(false) >= kSmallStencil;
}

std::optional<Schedule> stencil_schedule(const Graph& graph, const Domain& domain, const Group& group,
                                         const Options& options, std::string& unprofitable) {
  if (!may_have_rings(domain) || group.nodes.size() < 2) return std::nullopt;
  const bool gpu = options.target.gpu;
  const int64_t width = estimate_of(domain, static_cast<int>(domain.axes.size()) - 1);
  StencilNeeds needs;
  needs.columns = gpu ? int64_t{1} << 20 : std::min<int64_t>(width, 1024);
  needs.rings_of_inputs = gpu;
  int64_t lanes = gpu ? columns_of_thread(graph, domain, options) : 1;
  // Without shuffles each is two barriers.
  const bool apart = gpu && !options.target.plain && lanes > 1 &&
                     has_odd_rows_of_words(graph, domain, options.sizes) != options.tuning.turned;
  needs.ahead = gpu ? kAhead : 0;
  needs.ring_cost = gpu ? 0.25 : 1;
  needs.pixels = !gpu;
  if (!gpu) needs.idle = std::max(1.0, static_cast<double>(natural_lanes(options.target)) / static_cast<double>(width));
  needs.guard_cost = gpu ? 2 : 0.5;  // on a CPU only the ends of rows ask
  std::optional<Schedule> s;
  for (;;) {
    needs.lanes = apart ? 1 : lanes;
    StencilSearch search = find_stencil(graph, group, domain, needs);
    const int64_t registers = gpu && search.stencil ? registers_of(graph, *search.stencil, lanes) : 0;
    if (gpu && search.stencil) {
      search.stencil->apart = apart;
      find_halo(*search.stencil, lanes);
      if (width < kNarrow || is_wide_halo(*search.stencil)) search.stencil.reset();
    }
    // The caches of a GPU give neighbours of what is in memory to those who read little else, and a
    // thread's own neighbours along a row need no ring.
    if (gpu && search.stencil && !options.tuning.rings && search.once <= kCheapReads &&
        (!keeps_computed(*search.stencil) ||
         (!keeps_rows(*search.stencil) && search.again && *search.again <= 2 * kCheapReads)))
      return std::nullopt;
    const double repeated = search.stencil ? search.stencil->repeated : 1;
    if (search.stencil && registers <= kMostRingRegisters && repeated <= kMostRepeated) {
      s = gpu ? on_gpu(domain, std::move(*search.stencil), lanes, registers, options)
              : on_cpu(domain, graph, std::move(*search.stencil), options);
      break;
    }
    if (search.stencil && registers > kMostRingRegisters && lanes > 4) {
      lanes /= 2;
      continue;
    }
    if (!gpu && search.rows && search.again && *search.again <= search.once + kRoundTrip &&
        width >= 4 * int64_t{options.target.vector_bits} / 32) {
      s = on_cpu(domain, graph, std::move(*search.rows), options);
      break;
    }
    if (search.again && *search.again <= search.once + kRoundTrip) return std::nullopt;
    if (domain.stores_components()) return std::nullopt;  // needs values of several elements by itself
    unprofitable =
        registers > kMostRingRegisters
            ? fmt::format("what neighbours share would take {} registers of a thread", registers)
        : search.again
            ? fmt::format(
                  "{:.0f} operations an element would become {:.0f}, since values are needed at several indices",
                  search.once, *search.again)
            : "values would be computed again at too many indices to count";
    return std::nullopt;
  }
  s->strategy = Strategy::Stencil;
  s->domain = domain;
  s->vector_axis = s->stencil->column_axis;
  return s;
}

}  // namespace smelt::schedule

// Schedules for chains of stencils: how wide the strips are, and how many rows one iteration goes down.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/parts.hpp"

namespace smelt::schedule {
namespace {

// Smaller arrays are done by the time that rings begin to pay.
constexpr int64_t kSmallWork = 1 << 10;
constexpr int64_t kNarrowStrip = 256, kWideStrip = 4096;
// Registers of a thread that rings may take.
constexpr int64_t kMostRegisters = 170;
// Operations of a point that take about as long as storing a value and reading it again.
constexpr double kRoundTrip = 60;
constexpr int kStencilThreads = 128;
// Off until the random chains of tests/programs agree with the reference on a GPU again: one of forty did not.
constexpr bool kOnGpus = false;
// How often an operation may be done for the sake of neighbours, on the average.
constexpr double kMostRepeated = 2.5;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t power_of_two_from(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

int64_t estimate_of(const Domain& domain, int axis) {
  return axis < 0 ? 1 : std::max<int64_t>(1, domain.axes[static_cast<size_t>(axis)].estimate);
}

std::string rings_text(const Stencil& stencil) {
  int64_t most = 1, halo = 0;
  for (const Ring& ring : stencil.rings) {
    most = std::max(most, ring.rows);
    halo = std::max({halo, ring.left, ring.right});
  }
  const size_t n = stencil.rings.size();
  return fmt::format("{} value{} kept in rings of up to {} row{}, halo {}, {:.2f}x the operations", n,
                     n == 1 ? "" : "s", most, most == 1 ? "" : "s", halo, stencil.repeated);
}

// Rows of outputs to an iteration: many, so that those before the first are few beside them, but enough iterations for all threads.
int64_t rows_for(int64_t rows, int64_t columns_of_work, int64_t wanted, int64_t warm_up, int64_t most) {
  const int64_t parts = std::max<int64_t>(1, ceil_div(wanted, columns_of_work));
  const int64_t least = std::max<int64_t>(8, 4 * warm_up);
  return std::max(least, std::min(most, ceil_div(rows, parts)));
}

// Neighbouring columns of one thread: a word of 16 bytes of what is read, if that is not too many.
int64_t columns_of_thread(const Graph& graph, const Domain& domain, const plan::Options& options) {
  if (options.tuning.lanes) return options.tuning.lanes;
  int widest = 1;
  for (const Read& read : domain.reads) widest = std::max(widest, size_of(graph.at(read.node).dtype));
  return widest >= 8 ? 2 : widest <= 2 ? 8 : 4;
}

// Rows of arrays are read by whole words: a few columns more, but each access is one of 16 bytes.
void align_columns(Ring& ring, int64_t lanes) {
  const auto floor_to = [&](int64_t x) { return x - ((x % lanes) + lanes) % lanes; };
  const int64_t offset = *ring.memory;
  ring.left = offset - floor_to(offset - ring.left);
  ring.right = floor_to(offset + ring.right + 2 * lanes - 1) - lanes - offset;
}

int64_t registers_of(const Graph& graph, const Stencil& stencil, int64_t lanes) {
  int64_t registers = 0;
  for (const Ring& ring : stencil.rings)
    registers += ring.rows * (lanes + ring.halo()) * std::max(1, size_of(compute_type(graph.at(ring.node).dtype)) / 4);
  return registers;
}

Schedule on_cpu(const Domain& domain, const Graph& graph, Stencil stencil, const plan::Options& options) {
  Schedule s;
  int64_t column_bytes = 0;
  for (const Ring& ring : stencil.rings) column_bytes += ring.rows * size_of(compute_type(graph.at(ring.node).dtype));
  const int64_t width = estimate_of(domain, stencil.column_axis), height = estimate_of(domain, stencil.row_axis);
  const int64_t most = options.target.l2_bytes / 4 / std::max<int64_t>(1, column_bytes);
  s.tile = std::clamp<int64_t>(power_of_two_from(most) / 2, kNarrowStrip, kWideStrip);
  if (width <= s.tile + s.tile / 2) s.tile = width;
  s.lanes = std::max(4, options.target.vector_bits / 32) * 2;
  const int64_t others = std::max<int64_t>(1, domain.estimate(false) / std::max<int64_t>(1, width * height));
  stencil.chunk = rows_for(height, others * ceil_div(width, s.tile), 8 * options.target.threads, stencil.warm_up, 1024);
  s.note = fmt::format("down {} rows of {} columns at a time, {}", stencil.chunk, s.tile, rings_text(stencil));
  s.stencil = std::move(stencil);
  return s;
}

Schedule on_gpu(const Domain& domain, Stencil stencil, int64_t lanes, const plan::Options& options) {
  Schedule s;
  s.lanes = static_cast<int>(lanes);
  for (Ring& ring : stencil.rings)
    if (ring.memory) align_columns(ring, lanes);
  const int64_t width = estimate_of(domain, stencil.column_axis), height = estimate_of(domain, stencil.row_axis);
  const int64_t groups = ceil_div(width, lanes);
  const int64_t most = options.tuning.threads ? options.tuning.threads : kStencilThreads;
  s.team = static_cast<int>(std::clamp<int64_t>(power_of_two_from(groups), std::min<int64_t>(32, most), most));
  s.workgroup = static_cast<int>(most);
  s.tile = s.team;
  const int64_t others = std::max<int64_t>(1, domain.estimate(false) / std::max<int64_t>(1, width * height));
  const int64_t threads = others * ceil_div(groups, s.team) * s.team;
  stencil.chunk = rows_for(height, threads, int64_t{options.target.threads} * 4096, stencil.warm_up, 128);
  if (options.tuning.unroll >= 8) stencil.chunk = options.tuning.unroll;
  s.note = fmt::format("down {} rows at a time, {} columns to a thread, {}", stencil.chunk, lanes, rings_text(stencil));
  s.stencil = std::move(stencil);
  return s;
}

}  // namespace

std::string text_of(const Ring& ring) {
  const int64_t halo = std::max(ring.left, ring.right);
  if (ring.rows == 1) return fmt::format("kept for a row, halo {}", halo);
  return fmt::format("kept in a ring of {} rows, halo {}", ring.rows, halo);
}

std::optional<Schedule> stencil_schedule(const Graph& graph, const Domain& domain, const plan::FusionGroup& group,
                                         const plan::Options& options, std::string& dear) {
  if (domain.axes.empty() || domain.levels > 0 || group.nodes.size() < 2) return std::nullopt;
  const bool gpu = options.target.gpu, small = domain.estimate(false) < kSmallWork;
  const int64_t width = estimate_of(domain, static_cast<int>(domain.axes.size()) - 1);
  StencilNeeds needs;
  needs.columns = gpu ? columns_of_thread(graph, domain, options) : std::min<int64_t>(width, 1024);
  needs.rings_of_inputs = gpu;
  needs.ahead = gpu ? 1 : 0;
  needs.ring_cost = gpu ? 0.25 : 1;
  std::optional<Schedule> s;
  for (;;) {
    StencilSearch search = find_stencil(graph, group, domain, needs);
    const int64_t registers = gpu && search.stencil ? registers_of(graph, *search.stencil, needs.columns) : 0;
    const double repeated = search.stencil ? search.stencil->repeated : 1;
    if (search.stencil && !small && (!gpu || kOnGpus) && registers <= kMostRegisters && repeated <= kMostRepeated) {
      s = gpu ? on_gpu(domain, std::move(*search.stencil), needs.columns, options)
              : on_cpu(domain, graph, std::move(*search.stencil), options);
      break;
    }
    if (search.stencil && registers > kMostRegisters && needs.columns > 2) {
      needs.columns /= 2;
      continue;
    }
    if (small || (search.again && *search.again <= search.once + kRoundTrip)) return std::nullopt;
    dear =
        registers > kMostRegisters ? fmt::format("what neighbours share would take {} registers of a thread", registers)
        : search.again
            ? fmt::format("{:.0f} operations an element would become {:.0f}, since values are needed at several places",
                          search.once, *search.again)
            : "values would be computed again at thousands of places";
    return std::nullopt;
  }
  s->strategy = plan::Strategy::Stencil;
  s->domain = domain;
  s->vector_axis = s->stencil->column_axis;
  return s;
}

}  // namespace smelt::schedule

// Schedules for chains of stencils: how wide the strips are, and how many rows one iteration goes down.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "schedule/parts.hpp"

namespace smelt::schedule {
namespace {

// Smaller arrays are done by the time that rings begin to pay.
constexpr int64_t kSmallWork = 1 << 10;
constexpr int64_t kNarrowStrip = 256, kWideStrip = 4096;
constexpr int kStencilLanes = 4;  // neighbouring columns of one thread of a GPU
constexpr int64_t kMostRegisters = 160;

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

}  // namespace

std::optional<Schedule> stencil_schedule(const Graph& graph, const Domain& domain, const plan::FusionGroup& group,
                                         const plan::Options& options) {
  if (domain.axes.empty() || domain.estimate(false) < kSmallWork) return std::nullopt;
  const bool gpu = options.target.gpu;
  if (gpu) return std::nullopt;
  const int columns_axis = static_cast<int>(domain.axes.size()) - 1;
  const int64_t width = estimate_of(domain, columns_axis), height = estimate_of(domain, columns_axis - 1);
  StencilNeeds needs;
  needs.columns = gpu ? (options.tuning.lanes ? options.tuning.lanes : kStencilLanes) : std::min<int64_t>(width, 1024);
  needs.rings_of_inputs = gpu;
  needs.ahead = gpu ? 1 : 0;
  needs.ring_cost = gpu ? 0.25 : 1;
  Schedule s;
  s.stencil = find_stencil(graph, group, domain, needs);
  if (!s.stencil) return std::nullopt;
  Stencil& stencil = *s.stencil;
  s.strategy = plan::Strategy::Stencil;
  s.vector_axis = columns_axis;
  int64_t column_bytes = 0;
  for (const Ring& ring : stencil.rings) column_bytes += ring.rows * size_of(compute_type(graph.at(ring.node).dtype));
  const int64_t others = std::max<int64_t>(1, domain.estimate(false) / std::max<int64_t>(1, width * height));
  if (gpu) {
    s.lanes = static_cast<int>(needs.columns);
    const int64_t groups = ceil_div(width, s.lanes);
    s.team = static_cast<int>(std::clamp<int64_t>(power_of_two_from(groups), 32, 256));
    s.workgroup = options.tuning.threads ? options.tuning.threads : std::max(s.team, 128);
    s.team = std::min(s.team, s.workgroup);
    s.tile = s.team;
    const int64_t teams = others * ceil_div(groups, s.team) * s.team;
    stencil.chunk = rows_for(height, teams, int64_t{options.target.threads} * 2048 * 2, stencil.warm_up, 128);
    if (options.tuning.unroll) stencil.chunk = options.tuning.unroll;
    s.note =
        fmt::format("down {} rows at a time, {} columns to a thread, {}", stencil.chunk, s.lanes, rings_text(stencil));
  } else {
    const int64_t most = options.target.l2_bytes / 4 / std::max<int64_t>(1, column_bytes);
    s.tile = std::clamp<int64_t>(power_of_two_from(most) / 2, kNarrowStrip, kWideStrip);
    if (width <= s.tile + s.tile / 2) s.tile = width;
    s.lanes = std::max(4, options.target.vector_bits / 32) * 2;
    const int64_t strips = others * ceil_div(width, s.tile);
    stencil.chunk = rows_for(height, strips, 8 * options.target.threads, stencil.warm_up, 1024);
    s.note = fmt::format("down {} rows of {} columns at a time, {}", stencil.chunk, s.tile, rings_text(stencil));
  }
  s.domain = domain;
  return s;
}

}  // namespace smelt::schedule

// Kernels that spill registers, or whose workgroups leave a multiprocessor nearly empty, are made
// again.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compile/gpu_kernel.hpp"
#include "schedule/target_facts.hpp"
#include "smelt/error.hpp"

namespace smelt {
namespace {

// Resident threads, of those that a multiprocessor can hold, below which it waits for memory.
constexpr double kFewThreads = 0.12;
// Spills stay in the caches most of the time, where a byte costs less than one of the memory.
constexpr int64_t kCachedBytes = 4;

bool better(const Pressure& a, const Pressure& b) {
  if (a.spilled_bytes != b.spilled_bytes) return 2 * a.spilled_bytes <= b.spilled_bytes;
  return b.starves() && a.occupancy > b.occupancy;
}

std::string trouble(const Pressure& p) {
  return p.spills() ? fmt::format("spills {} bytes per thread", p.spilled_bytes)
                    : fmt::format("fills {:.0f} % of a multiprocessor", 100 * p.occupancy);
}

int64_t bytes_of(const Executable::State& state, NodeId id) {
  const Node& node = state.graph.at(id);
  return element_count(evaluate(node.shape, state.target.sizes)) * size_of(node.dtype);
}

// What two kernels would move beyond one, when the second begins after this node.
int64_t cost_of_split(const Executable::State& state, const plan::FusionGroup& group, NodeId last) {
  const Graph& graph = state.graph;
  std::set<NodeId> crossing, read[2];
  std::map<NodeId, std::set<NodeId>> sources;  // computing nodes and inputs under views
  const std::set<NodeId> inside(group.nodes.begin(), group.nodes.end()),
      inputs(group.inputs.begin(), group.inputs.end());
  for (const NodeId id : group.nodes) {
    std::vector<NodeId> todo = graph.at(id).args;
    std::set<NodeId> seen;
    while (!todo.empty()) {
      const NodeId arg = todo.back();
      todo.pop_back();
      if (!seen.insert(arg).second) continue;
      if (inputs.count(arg)) read[id > last].insert(arg);
      if (inside.count(arg)) {
        if (arg <= last && id > last) crossing.insert(arg);
      } else {
        todo.insert(todo.end(), graph.at(arg).args.begin(), graph.at(arg).args.end());
      }
    }
  }
  int64_t bytes = 0;
  for (const NodeId id : crossing) bytes += 2 * bytes_of(state, id);
  for (const NodeId id : read[1])
    if (read[0].count(id)) bytes += bytes_of(state, id);
  return bytes;
}

// Bytes of memory that take as long as what a kernel spills.
int64_t traffic_of_spills(Executable::State& state, const Pressure& pressure, const schedule::Schedule& schedule) {
  int64_t points = 1;
  for (const schedule::Axis& axis : schedule.domain.axes) points *= axis.extent.evaluate(state.target.sizes);
  // A thread has a part of a tile at a time, of products all points of it.
  int64_t at_once = schedule.lanes * schedule.unroll;
  const auto* tiles = schedule.product ? &*schedule.product : schedule.chain ? &schedule.chain->product : nullptr;
  if (tiles) at_once = tiles->tile_rows * tiles->tile_columns * tiles->tile_inner / schedule.workgroup;
  return points / std::max<int64_t>(1, at_once) * 2 * pressure.spilled_bytes / kCachedBytes;
}

// Where a group that spills is cut with least traffic; nothing when its spills cost less than that.
std::optional<plan::Split> find_split(Executable::State& state, size_t k, const Pressure& pressure,
                                      const schedule::Schedule& schedule) {
  const plan::FusionGroup& group = state.plan.groups[k];
  if (group.nodes.size() < 4) return std::nullopt;
  plan::Split best;
  int64_t least = traffic_of_spills(state, pressure, schedule);
  for (size_t i = group.nodes.size() / 4; i < 3 * group.nodes.size() / 4; ++i) {
    const int64_t cost = cost_of_split(state, group, group.nodes[i]);
    // Equal ones are ordered by their distance from the middle.
    const auto from_middle = [&](size_t at) {
      return std::abs(static_cast<int64_t>(2 * at) - static_cast<int64_t>(group.nodes.size()));
    };
    const auto at =
        static_cast<size_t>(std::find(group.nodes.begin(), group.nodes.end(), best.last) - group.nodes.begin());
    if (cost < least || (cost == least && !best.nodes.empty() && from_middle(i) < from_middle(at)))
      least = cost, best = {group.nodes, group.nodes[i], pressure.spilled_bytes};
  }
  return best.nodes.empty() ? std::nullopt : std::optional(best);
}

// The lighter schedules, compiled side by side; the best of them, if it is better than what there
// is. Those that are predicted to lose more than the spills cost are none.
void rebuild(Executable::State& state, size_t k, GpuKernel& kernel, Pressure& pressure) {
  std::vector<schedule::Candidate> alternatives = lighter_schedules(state, k, pressure.spills());
  if (pressure.spills() && !pressure.starves()) {
    const plan::FusionGroup& group = state.plan.groups[k];
    const double spills = static_cast<double>(traffic_of_spills(state, pressure, *group.schedule)) /
                          schedule::facts_of(state.target.target).memory_bytes;
    const double most = schedule::predict(state.graph, group, *group.schedule, state.target).us + spills;
    alternatives.erase(std::remove_if(alternatives.begin(), alternatives.end(),
                                      [&](const schedule::Candidate& c) { return c.cost.us > most; }),
                       alternatives.end());
  }
  std::vector<std::optional<GpuKernel>> tried;
  try {
    tried = try_kernels(state, k, alternatives);
  } catch (const UserError&) {
    return;  // the kernel at hand runs, if slowly
  }
  const Pressure before = pressure;
  std::optional<size_t> best;
  for (size_t a = 0; a < tried.size() && (pressure.spills() || pressure.starves()); ++a) {
    if (!tried[a]) continue;
    const Pressure now = pressure_of(state, *tried[a]);
    if (better(now, pressure)) best = a, pressure = now;
  }
  if (!best) return;
  kernel = std::move(*tried[*best]);
  const std::string first = schedule::form_of(*state.plan.groups[k].schedule);
  take(state, k, alternatives[*best],
       fmt::format("with {} it {}; with {} it {}", first, trouble(before),
                   schedule::form_of(*alternatives[*best].schedule),
                   pressure.spills() ? trouble(pressure) : "does not"));
}

}  // namespace

bool Pressure::starves() const { return occupancy < kFewThreads; }

Pressure pressure_of(const Executable::State& state, const GpuKernel& kernel) {
  Pressure worst;
  SizeBinding all = state.target.sizes;
  all[kernel::kLaunchThreads] = state.threads;
  for (const kernel::LaunchSize& s : kernel.kernel.launch_sizes) all[s.symbol] = s.value.evaluate(all);
  for (const GpuPhase& phase : kernel.phases)
    for (const auto& function : phase.variants) {
      const GpuCode* code = function->loaded();
      if (!code) continue;
      const emit::DeviceFunction& f = function->emitted();
      const int resident =
          code->module->workgroups_per_processor(code->handle, f.threads, f.shared_bytes.evaluate(all));
      worst.spilled_bytes = std::max(worst.spilled_bytes, code->facts.local_bytes);
      worst.occupancy = std::min(worst.occupancy, static_cast<double>(resident) * f.threads /
                                                      std::max(1, state.device.gpu_facts.threads_per_processor));
    }
  return worst;
}

void relieve(Executable::State& state, std::vector<GpuKernel>& kernels) {
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (!has_own_schedule(state, k)) continue;
    Pressure pressure = pressure_of(state, kernels[k]);
    if (!pressure.spills() && !pressure.starves()) continue;
    rebuild(state, k, kernels[k], pressure);
    if (!pressure.spills()) continue;
    if (const auto split = find_split(state, k, pressure, *state.plan.groups[k].schedule))
      state.splits.push_back(*split);
  }
}

}  // namespace smelt

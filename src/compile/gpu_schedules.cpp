// Which candidates of a group are built when its own schedule will not do.
#include <algorithm>

#include "compile/gpu_kernel.hpp"
#include "schedule/parts.hpp"

namespace smelt {
namespace {

constexpr size_t kMostLighter = 8;

// Registers that a workgroup needs, of those that a multiprocessor has.
int64_t registers_of(const schedule::Candidate& c) { return int64_t{c.cost.registers} * c.schedule->workgroup; }

// The same stencil with fewer workgroups to a multiprocessor, each of which then has more
// registers. Fewer columns to a thread were slower than spills: 278 us and 251 for two steps of
// Allen-Cahn on an H100, 184 and 166 for an advection of fifth order.
std::vector<schedule::Candidate> with_more_registers(const Executable::State& state, const plan::FusionGroup& planned) {
  std::vector<schedule::Candidate> found;
  for (int resident = planned.schedule->resident - 1; resident >= 1; --resident) {
    schedule::Tuning tuning = planned.tuning;
    tuning.cluster = resident, tuning.unroll = static_cast<int>(planned.schedule->stencil->chunk);
    auto made = schedule::candidate(state.graph, planned, state.target, tuning);
    if (auto* one = std::get_if<schedule::Candidate>(&made)) found.push_back(std::move(*one));
  }
  return found;
}

}  // namespace

std::vector<schedule::Candidate> lighter_schedules(const Executable::State& state, size_t group, bool spills) {
  const plan::FusionGroup& planned = state.plan.groups[group];
  const schedule::Schedule& first = *planned.schedule;
  if (first.stencil && spills) return with_more_registers(state, planned);
  const schedule::Candidate own{planned.tuning, planned.schedule,
                                schedule::predict(state.graph, planned, first, state.target)};
  std::vector<schedule::Candidate> found = candidates_of(state, group);
  // What was held in registers between passes would be read again.
  const bool holds = schedule::passes_of(first.domain) > 1 && first.held;
  const auto useless = [&](const schedule::Candidate& c) {
    return registers_of(c) >= registers_of(own) || (holds && !c.schedule->held);
  };
  found.erase(std::remove_if(found.begin(), found.end(), useless), found.end());
  std::stable_sort(found.begin(), found.end(), [](const schedule::Candidate& a, const schedule::Candidate& b) {
    return registers_of(a) > registers_of(b);
  });
  if (found.size() > kMostLighter) found.resize(kMostLighter);
  return found;
}

}  // namespace smelt

// Which candidates of a group are built when its own schedule will not do.
#include <algorithm>

#include "compile/gpu_kernel.hpp"
#include "schedule/parts.hpp"

namespace smelt {
namespace {

constexpr size_t kMostLighter = 8;

// Registers that a workgroup needs, of those that a multiprocessor has.
int64_t registers_of(const schedule::Candidate& c) { return int64_t{c.cost.registers} * c.schedule->workgroup; }

}  // namespace

std::vector<schedule::Candidate> lighter_schedules(const Executable::State& state, size_t group) {
  const plan::FusionGroup& planned = state.plan.groups[group];
  const schedule::Schedule& first = *planned.schedule;
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

// Which candidates of a group are built when its own schedule will not do, or when they are to be
// measured.
#include <algorithm>

#include "compile/gpu_kernel.hpp"
#include "schedule/parts.hpp"

namespace smelt {
namespace {

constexpr size_t kMostLighter = 8, kMostMeasured = 12;

// Registers that a workgroup needs, of those that a multiprocessor has.
int64_t registers_of(const schedule::Candidate& c) { return int64_t{c.cost.registers} * c.schedule->workgroup; }

}  // namespace

std::vector<schedule::Candidate> candidates_of(const GpuBuild& build, size_t group) {
  plan::Options options = build.options;
  options.tuning = {};
  auto found = schedule::candidates(build.state.graph, build.state.plan.groups[group], options);
  auto* all = std::get_if<std::vector<schedule::Candidate>>(&found);
  return all ? std::move(*all) : std::vector<schedule::Candidate>{};
}

std::optional<schedule::Candidate> candidate_with(const GpuBuild& build, size_t group, const plan::Tuning& tuning) {
  auto made = schedule::candidate(build.state.graph, build.state.plan.groups[group], build.options, tuning);
  auto* found = std::get_if<schedule::Candidate>(&made);
  return found ? std::optional(std::move(*found)) : std::nullopt;
}

void take(const GpuBuild& build, size_t group, const schedule::Candidate& other, std::string why) {
  plan::FusionGroup& planned = build.state.plan.groups[group];
  planned.tuning = other.tuning;
  planned.schedule = other.schedule;
  planned.rebuilt = std::move(why);
}

std::vector<schedule::Candidate> lighter_schedules(const GpuBuild& build, size_t group) {
  const plan::FusionGroup& planned = build.state.plan.groups[group];
  const schedule::Schedule& first = *planned.schedule;
  const schedule::Candidate own{planned.tuning, planned.schedule,
                                schedule::predict(build.state.graph, planned, first, build.options)};
  std::vector<schedule::Candidate> found = candidates_of(build, group);
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

std::vector<schedule::Candidate> other_schedules(const GpuBuild& build, size_t group) {
  const schedule::Schedule& first = *build.state.plan.groups[group].schedule;
  std::vector<schedule::Candidate> found = candidates_of(build, group);
  const auto same = [&](const schedule::Candidate& c) { return schedule::same_form(*c.schedule, first); };
  found.erase(std::remove_if(found.begin(), found.end(), same), found.end());
  std::stable_sort(found.begin(), found.end(),
                   [](const schedule::Candidate& a, const schedule::Candidate& b) { return a.cost.us < b.cost.us; });
  if (found.size() > kMostMeasured) found.resize(kMostMeasured);
  return found;
}

}  // namespace smelt

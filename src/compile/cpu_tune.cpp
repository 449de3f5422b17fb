// Which schedule is fastest on this CPU, by measurement.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "compile/cpu_build.hpp"
#include "compile/lower_groups.hpp"
#include "kernel/lower.hpp"
#include "smelt/error.hpp"

namespace smelt {
namespace {

// The group's kernel by another schedule, in the place of the one that it has.
void replace_kernel(Executable::State& state, size_t group, kernel::Kernel kernel) {
  state.kernels[group] = std::move(kernel);
  for (size_t k = 0; k < state.alike.size(); ++k)
    if (k != group && state.alike[k] == group) state.kernels[k] = for_group(state, state.kernels[group], k);
}

kernel::Kernel lower(const Executable::State& state, size_t group, const schedule::Schedule& schedule) {
  return kernel::lower(state.graph, state.plan.groups[group], schedule, fmt::format("k{}", group));
}

using Tried = std::vector<std::vector<std::optional<kernel::Kernel>>>;  // per group: others in its place

// A kernel for each candidate; where one cannot be made, nothing.
Tried try_kernels(const Executable::State& state, const std::vector<std::vector<schedule::Candidate>>& candidates) {
  Tried made;
  for (size_t k = 0; k < candidates.size(); ++k) {
    made.emplace_back();
    for (const schedule::Candidate& c : candidates[k]) {
      made[k].emplace_back();
      try {
        made[k].back() = lower(state, k, *c.schedule);
      } catch (const Error&) {
        made[k].back().reset();
      }
    }
  }
  return made;
}

// Milliseconds of one run: the least, since what other processes take is no property of a schedule.
double time_of(const std::function<void()>& run) {
  using Time = std::chrono::steady_clock;
  constexpr int kFewest = 3, kMost = 25;
  constexpr double kMoment = 30;
  run();
  double least = 0, sum = 0;
  for (int i = 0; i < kFewest || (i < kMost && sum < kMoment); ++i) {
    const Time::time_point start = Time::now();
    run();
    const double ms = std::chrono::duration<double, std::milli>(Time::now() - start).count();
    least = i == 0 ? ms : std::min(least, ms);
    sum += ms;
  }
  return least;
}

// Milliseconds of each kernel of a program.
std::vector<double> times_of(const Executable::State& state, const Arrays& arrays) {
  std::vector<double> ms(state.kernels.size(), 0);
  const std::shared_ptr<const Prepared> prepared = prepare(state, arrays.input_views);
  execute(state, *prepared, arrays.input_views, arrays.output_views, [&](size_t k, const std::function<void()>& run) {
    // What has no other schedule only runs, since others read its results: it may be the user's own code.
    if (has_own_schedule(state, k))
      ms[k] = time_of(run);
    else
      run();
  });
  return ms;
}

// A program with other kernels in the place of some, built.
std::unique_ptr<Executable::State> variant_of(const Executable::State& from, const Tried& made, size_t round) {
  auto state = std::make_unique<Executable::State>();
  state->graph = from.graph;
  state->plan = from.plan;
  state->device = from.device;
  state->target = from.target;
  state->threads = from.threads;
  state->alike = from.alike;
  state->original = from.original;
  state->kernels = from.kernels;
  for (size_t k = 0; k < made.size(); ++k)
    if (round < made[k].size() && made[k][round]) replace_kernel(*state, k, *made[k][round]);
  build_kernels(*state);
  return state;
}

}  // namespace

// Every round builds the whole program with one other schedule of every kernel that has one left; all of them are timed in turns,
// since other processes disturb some turns.
Times times_on_cpu(const Executable::State& state, const std::vector<std::vector<schedule::Candidate>>& candidates) {
  constexpr int kTurns = 3;
  const Tried made = try_kernels(state, candidates);
  size_t rounds = 0;
  for (const auto& of_kernel : made) rounds = std::max(rounds, of_kernel.size());
  std::vector<std::unique_ptr<Executable::State>> variants;
  variants.push_back(variant_of(state, made, rounds));  // none of them
  for (size_t round = 0; round < rounds; ++round) variants.push_back(variant_of(state, made, round));
  const Arrays arrays = arrays_of(state);
  Times times{std::vector<double>(made.size(), -1), {}};
  for (const auto& of_kernel : made) times.others.emplace_back(of_kernel.size(), -1);
  const auto note = [](double& ms, double measured) { ms = ms < 0 ? measured : std::min(ms, measured); };
  for (int turn = 0; turn < kTurns; ++turn)
    for (size_t v = 0; v < variants.size(); ++v) {
      const std::vector<double> ms = times_of(*variants[v], arrays);
      for (size_t k = 0; k < made.size(); ++k)
        if (v == 0)
          note(times.first[k], ms[k]);
        else if (v - 1 < made[k].size() && made[k][v - 1])
          note(times.others[k][v - 1], ms[k]);
    }
  return times;
}

bool take_tuned(Executable::State& state, const std::vector<std::string>& keys) {
  bool any = false;
  for (size_t k = 0; k < keys.size(); ++k) {
    if (!has_own_schedule(state, k)) continue;
    const auto found = tuned_before(state, k, keys[k]);
    if (!found) continue;
    replace_kernel(state, k, lower(state, k, *found->schedule));
    take(state, k, *found, "as it was tuned: " + schedule::form_of(*found->schedule));
    any = true;
  }
  share_schedules(state);
  return any;
}

void tune(Executable::State& state, const std::vector<std::string>& keys) {
  std::vector<std::vector<schedule::Candidate>> others(keys.size());
  for (size_t k = 0; k < keys.size(); ++k)
    if (has_own_schedule(state, k)) others[k] = other_schedules(state, k);
  Times times;
  try {
    times = times_on_cpu(state, others);
  } catch (const UserError& e) {  // indices that are computed may be outside for data that is made up
    for (size_t k = 0; k < keys.size(); ++k)
      if (has_own_schedule(state, k)) state.plan.groups[k].rebuilt = fmt::format("not tuned: {}", e.what());
    return share_schedules(state);
  }
  const std::vector<std::optional<size_t>> winners = take_fastest(state, others, times, keys);
  share_schedules(state);
  bool any = false;
  for (size_t k = 0; k < keys.size(); ++k)
    if (winners[k]) replace_kernel(state, k, lower(state, k, *others[k][*winners[k]].schedule)), any = true;
  if (any) build_kernels(state);
}

}  // namespace smelt

// Which schedule is fastest on this CPU, by measurement.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/check.hpp"
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

// Milliseconds of the kernels that are asked for. The others only run, since they make what those read.
std::vector<double> times_of(const Executable::State& state, const std::vector<bool>& asked, const Arrays& arrays) {
  std::vector<double> ms(state.kernels.size(), -1);
  const std::shared_ptr<const Prepared> prepared = prepare(state, arrays.input_views);
  execute(state, *prepared, arrays.input_views, arrays.output_views, [&](size_t k, const std::function<void()>& run) {
    if (asked[k])
      ms[k] = time_of(run);
    else
      run();
  });
  return ms;
}

// The program with one other schedule of every kernel that has one left; none where LLVM does not take one of them.
std::shared_ptr<Executable::State> built_with(const Executable::State& from, const Tried& made, size_t round) {
  const std::shared_ptr<Executable::State> state = without_kernels(from);
  state->kernels = from.kernels;
  for (size_t k = 0; k < made.size(); ++k)
    if (round < made[k].size() && made[k][round]) replace_kernel(*state, k, *made[k][round]);
  try {
    build_kernels(*state);
  } catch (const Error&) {
    return nullptr;
  }
  return state;
}

void note(double& least, double ms) {
  if (ms >= 0) least = least < 0 ? ms : std::min(least, ms);
}

}  // namespace

// Every round is the whole program, with one other schedule of every kernel that has one left; all of them are timed in turns, since
// other processes disturb some turns. What takes twice as long in the first is not timed again.
Times times_on_cpu(const Executable::State& state, const std::vector<std::vector<schedule::Candidate>>& candidates) {
  constexpr int kTurns = 3;
  constexpr double kHopeless = 2;
  const Tried made = try_kernels(state, candidates);
  size_t rounds = 0;
  for (const auto& of_kernel : made) rounds = std::max(rounds, of_kernel.size());
  const std::shared_ptr<Executable::State> first = built_with(state, {}, 0);
  SMELT_CHECK(first, "the kernels of a program that was built cannot be built again");
  std::vector<std::shared_ptr<Executable::State>> variants;
  for (size_t round = 0; round < rounds; ++round) variants.push_back(built_with(state, made, round));
  const Arrays arrays = arrays_of(state);
  Times times{std::vector<double>(made.size(), -1), {}};
  for (const auto& of_kernel : made) times.others.emplace_back(of_kernel.size(), -1);
  for (int turn = 0; turn < kTurns; ++turn) {
    // What has no other schedule may be the user's own code.
    std::vector<bool> asked(made.size());
    for (size_t k = 0; k < made.size(); ++k) asked[k] = has_own_schedule(state, k);
    const std::vector<double> own = times_of(*first, asked, arrays);
    for (size_t k = 0; k < made.size(); ++k) note(times.first[k], own[k]);
    for (size_t round = 0; round < rounds; ++round) {
      const auto hopes = [&](size_t k) { return turn == 0 || times.others[k][round] < kHopeless * times.first[k]; };
      for (size_t k = 0; k < made.size(); ++k) asked[k] = round < made[k].size() && made[k][round] && hopes(k);
      if (!variants[round] || std::find(asked.begin(), asked.end(), true) == asked.end()) continue;
      const std::vector<double> ms = times_of(*variants[round], asked, arrays);
      for (size_t k = 0; k < made.size(); ++k)
        if (asked[k]) note(times.others[k][round], ms[k]);
    }
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
  } catch (const UserError& e) {
    return say_not_tuned(state, e);
  }
  const std::vector<std::optional<size_t>> winners = take_fastest(state, others, times, keys);
  share_schedules(state);
  bool any = false;
  for (size_t k = 0; k < keys.size(); ++k)
    if (winners[k]) replace_kernel(state, k, lower(state, k, *others[k][*winners[k]].schedule)), any = true;
  if (any) build_kernels(state);
}

}  // namespace smelt

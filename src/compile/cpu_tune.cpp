// Which schedule is fastest on this CPU, by measurement.
#include <algorithm>
#include <chrono>

#include "compile/cpu_build.hpp"
#include "compile/lower_groups.hpp"
#include "smelt/error.hpp"

namespace smelt {
namespace {

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

// Milliseconds of the kernels that are asked for. The others only run, since they make what those
// read.
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

void note(double& least, double ms) {
  if (ms >= 0) least = least < 0 ? ms : std::min(least, ms);
}

// The kernels of a program that is built, and of each round.
Times measure(const Executable::State& state, const OtherKernels& made) {
  std::vector<bool> tuned;
  std::vector<std::vector<bool>> built(made.size());
  for (size_t k = 0; k < made.size(); ++k) {
    // What has no other schedule may be the user's own code.
    tuned.push_back(has_own_schedule(state, k));
    for (const auto& other : made[k]) built[k].push_back(other.has_value());
  }
  const Arrays arrays = arrays_of(state);
  // Kernels change places in one copy, since the state's own stays as it is until all are timed.
  const std::shared_ptr<Executable::State> copy = without_kernels(state);
  return times_in_turns(tuned, built, [&](std::optional<size_t> round, const std::vector<bool>& asked) {
    Replacements others;
    for (size_t k = 0; k < made.size(); ++k)
      if (round && asked[k]) others[k] = &*made[k][*round];
    copy->kernels = state.kernels;
    copy->launches = state.launches;
    replace_kernels(*copy, others);
    return times_of(*copy, asked, arrays);
  });
}

}  // namespace

Times times_in_turns(const std::vector<bool>& tuned, const std::vector<std::vector<bool>>& built, const RunRound& run) {
  constexpr int kTurns = 3;  // other processes disturb some of them
  constexpr double kHopeless = 2;
  Times times{std::vector<double>(built.size(), -1), {}};
  size_t rounds = 0;
  for (const std::vector<bool>& of_kernel : built) {
    times.others.emplace_back(of_kernel.size(), -1);
    rounds = std::max(rounds, of_kernel.size());
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    const std::vector<double> own = run(std::nullopt, tuned);
    for (size_t k = 0; k < built.size(); ++k) note(times.first[k], own[k]);
    for (size_t round = 0; round < rounds; ++round) {
      const auto hopes = [&](size_t k) { return turn == 0 || times.others[k][round] < kHopeless * times.first[k]; };
      std::vector<bool> asked(built.size());
      for (size_t k = 0; k < built.size(); ++k) asked[k] = round < built[k].size() && built[k][round] && hopes(k);
      if (std::find(asked.begin(), asked.end(), true) == asked.end()) continue;
      const std::vector<double> ms = run(round, asked);
      for (size_t k = 0; k < built.size(); ++k)
        if (asked[k]) note(times.others[k][round], ms[k]);
    }
  }
  return times;
}

Times times_on_cpu(const Executable::State& state, const std::vector<std::vector<schedule::Candidate>>& candidates) {
  return measure(state, build_others(state, candidates));
}

bool take_tuned(Executable::State& state, const std::vector<std::string>& keys) {
  bool any = false;
  for (size_t k = 0; k < keys.size(); ++k) {
    if (!has_own_schedule(state, k)) continue;
    const auto found = tuned_before(state, k, keys[k]);
    if (!found) continue;
    set_kernel(state, k, lower_with(state, k, *found->schedule));
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
  OtherKernels made;
  Times times;
  try {
    made = build_others(state, others);
    times = measure(state, made);
  } catch (const UserError& e) {
    return say_not_tuned(state, e);
  }
  const std::vector<std::optional<size_t>> winners = take_fastest(state, others, times, keys);
  share_schedules(state);
  Replacements fastest;
  for (size_t k = 0; k < keys.size(); ++k)
    if (winners[k]) fastest[k] = &*made[k][*winners[k]];
  if (fastest.empty()) return;
  replace_kernels(state, fastest);
  print_sources(state);
}

}  // namespace smelt

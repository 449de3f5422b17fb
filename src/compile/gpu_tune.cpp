// What schedules take on the GPU that is here.
#include <algorithm>

#include "base/median.hpp"
#include "compile/gpu_call.hpp"
#include "compile/gpu_kernel.hpp"

namespace smelt {
namespace {

constexpr int kSamples = 15, kWarmUps = 2;
constexpr int64_t kFlushBytes = int64_t{256} << 20;
// Milliseconds of launches by the device's clock, caches flushed before each.
class Stopwatch {
 public:
  // Delegates, so that the destructor runs when an event cannot be made.
  explicit Stopwatch(runtime::Gpu& gpu)
      : Stopwatch(gpu, std::min(std::max(kFlushBytes, 4 * gpu.facts().l2_bytes), gpu.free_bytes() / 4)) {
    for (int i = 0; i < 2 * kSamples; ++i) events_.push_back(gpu.create_event(true));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    for (const runtime::EventHandle event : events_) gpu_.destroy_event(event);
    gpu_.release(flush_);
  }
  double median_ms(const std::function<void()>& run) {
    const runtime::StreamHandle stream = gpu_.stream();
    for (int i = 0; i < kWarmUps; ++i) run();
    for (size_t i = 0; i < kSamples; ++i) {
      gpu_.fill(flush_, 1, bytes_, stream);
      gpu_.record(events_[2 * i], stream);
      run();
      gpu_.record(events_[2 * i + 1], stream);
    }
    gpu_.synchronize_event(events_.back());
    std::vector<double> ms;
    for (size_t i = 0; i < kSamples; ++i) ms.push_back(gpu_.elapsed_ms(events_[2 * i], events_[2 * i + 1]));
    return median(std::move(ms));
  }

 private:
  Stopwatch(runtime::Gpu& gpu, int64_t bytes) : gpu_(gpu), bytes_(bytes), flush_(gpu.allocate(bytes)) {}

  runtime::Gpu& gpu_;
  int64_t bytes_;
  uint64_t flush_;
  std::vector<runtime::EventHandle> events_;
};

// Runs the program with these kernels, and times each.
std::vector<double> times_of(const Executable::State& from, const std::vector<const GpuKernel*>& kernels,
                             const Arrays& arrays, Stopwatch& watch) {
  const std::shared_ptr<Executable::State> state = without_kernels(from);
  bind_kernels(*state, kernels);
  std::vector<double> ms(kernels.size(), 0);
  GpuCall call(state, prepare(*state, arrays.input_views), arrays.input_views, arrays.output_views,
               state->device.gpu->stream());
  call.run_each([&](size_t k, const std::function<void()>& run) { ms[k] = watch.median_ms(run); });
  state->device.gpu->synchronize(state->device.gpu->stream());
  return ms;
}

using Tried = std::vector<std::vector<std::optional<GpuKernel>>>;  // per kernel: others in its place

Times measure(const Executable::State& state, const std::vector<const GpuKernel*>& current, const Tried& made) {
  const Arrays arrays = arrays_of(state);
  Stopwatch watch(*state.device.gpu);
  Times times{times_of(state, current, arrays, watch), {}};
  size_t rounds = 0;
  for (const auto& of_kernel : made) {
    times.others.emplace_back(of_kernel.size(), -1);
    rounds = std::max(rounds, of_kernel.size());
  }
  // Every round runs the whole program, with one other schedule of every kernel that has one left.
  for (size_t round = 0; round < rounds; ++round) {
    std::vector<const GpuKernel*> tried = current;
    for (size_t k = 0; k < current.size(); ++k)
      if (round < made[k].size() && made[k][round]) tried[k] = &*made[k][round];
    const std::vector<double> ms = times_of(state, tried, arrays, watch);
    for (size_t k = 0; k < current.size(); ++k)
      if (tried[k] != current[k]) times.others[k][round] = ms[k];
  }
  return times;
}

}  // namespace

void take_tuned(Executable::State& state, std::vector<GpuKernel>& kernels) {
  if (!state.device.gpu || !(state.settled || state.device.cache)) return;
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (!has_own_schedule(state, k)) continue;
    const auto found = tuned_before(state, k, tuned_key(state, kernels[k].kernel, kernels[k].source));
    if (!found) continue;
    kernels[k] = make_kernel(state, k, *found->schedule);
    take(state, k, *found, "as it was tuned: " + schedule::form_of(*found->schedule));
  }
}

void tune(Executable::State& state, std::vector<GpuKernel>& kernels) {
  std::vector<std::vector<schedule::Candidate>> others(kernels.size());
  std::vector<std::string> keys(kernels.size());
  std::vector<const GpuKernel*> current;
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (has_own_schedule(state, k)) {
      others[k] = other_schedules(state, k);
      keys[k] = tuned_key(state, kernels[k].kernel, kernels[k].source);
    }
    current.push_back(&kernels[k]);
  }
  Tried made;
  Times times;
  try {
    for (size_t k = 0; k < kernels.size(); ++k) made.push_back(try_kernels(state, k, others[k]));
    times = measure(state, current, made);
  } catch (const UserError& e) {
    return say_not_tuned(state, e);
  }
  const std::vector<std::optional<size_t>> winners = take_fastest(state, others, times, keys);
  for (size_t k = 0; k < kernels.size(); ++k)
    if (winners[k]) kernels[k] = std::move(*made[k][*winners[k]]);
}

std::vector<std::vector<double>> times_on_gpu(Executable::State& state,
                                              const std::vector<std::vector<schedule::Candidate>>& candidates) {
  std::vector<GpuKernel> kernels;
  for (size_t k = 0; k < state.kernels.size(); ++k) {
    const Launch& launch = state.launches[k];
    kernels.push_back({state.kernels[k], "", launch.gpu_phases, launch.table});
  }
  Tried made;
  std::vector<const GpuKernel*> current;
  for (size_t k = 0; k < kernels.size(); ++k) {
    made.push_back(try_kernels(state, k, candidates[k]));
    current.push_back(&kernels[k]);
  }
  return measure(state, current, made).others;
}

}  // namespace smelt

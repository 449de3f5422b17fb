// Which schedule is fastest on this GPU, by measurement, and what is remembered of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "compile/gpu_call.hpp"
#include "compile/gpu_kernel.hpp"
#include "runtime/disk_cache.hpp"

namespace smelt {
namespace {

constexpr int kSamples = 15, kWarmUps = 2;
constexpr int64_t kFlushBytes = int64_t{256} << 20;
// Another schedule must be faster by this much: less is noise.
constexpr double kGain = 0.98;

// What a winner is remembered by: the kernel as its first schedule prints it, the GPU, and the sizes, halves and doubles apart.
std::string key_of(const GpuBuild& build, const GpuKernel& first) {
  const runtime::GpuFacts& gpu = build.state.device.gpu_facts;
  std::string sizes;
  for (const kernel::Param& p : first.kernel.params) {
    const auto size = p.symbol ? build.sizes.find(*p.symbol) : build.sizes.end();
    if (size != build.sizes.end())
      sizes += fmt::format(" {}~2^{}", *p.symbol,
                           std::lround(std::log2(std::max<double>(1, static_cast<double>(size->second)))));
  }
  return fmt::format("tuned\nsmelt {}\n{}, sm_{}, {} multiprocessors\n{}\n{}", SMELT_VERSION, gpu.name, gpu.compute,
                     gpu.processors, sizes, first.source);
}

std::string text_of(const plan::Tuning& t) {
  return fmt::format("{} {} {} {} {} {}", t.lanes, t.unroll, t.threads, t.cluster, int{t.turned}, int{t.rings});
}

std::optional<plan::Tuning> tuning_of(const std::string& text) {
  plan::Tuning t;
  int turned = 0, rings = 0;
  if (std::sscanf(text.c_str(), "%d %d %d %d %d %d", &t.lanes, &t.unroll, &t.threads, &t.cluster, &turned, &rings) != 6)
    return std::nullopt;
  t.turned = turned != 0;
  t.rings = rings != 0;
  return t;
}

// Arrays of the program at the sizes at hand: floats near one, other things zero, which no gather minds.
struct Arrays {
  std::vector<Tensor> inputs, outputs;
  std::vector<TensorView> input_views, output_views;
};
Arrays arrays_of(const GpuBuild& build) {
  const Graph& graph = build.state.graph;
  const Machine& device = build.state.device;
  Arrays arrays;
  for (const NodeId id : graph.inputs) {
    const Node& node = graph.at(id);
    if (node.shape.empty()) {
      arrays.inputs.push_back(Tensor::empty(node.dtype, {}));
      store_scalar(convert(Scalar::of_int(DType::I64, 1), node.dtype), arrays.inputs.back().data);
      continue;
    }
    arrays.inputs.push_back(device_empty(device, node.dtype, evaluate(node.shape, build.sizes)));
    device.gpu->fill(reinterpret_cast<uint64_t>(arrays.inputs.back().data), is_float(node.dtype) ? 0x3f : 0,
                     arrays.inputs.back().bytes(), device.gpu->stream());
  }
  for (const NodeId id : graph.outputs)
    arrays.outputs.push_back(device_empty(device, graph.at(id).dtype, evaluate(graph.at(id).shape, build.sizes)));
  arrays.input_views = {arrays.inputs.begin(), arrays.inputs.end()};
  arrays.output_views = {arrays.outputs.begin(), arrays.outputs.end()};
  return arrays;
}

// Milliseconds of launches by the device's clock, caches flushed before each.
class Stopwatch {
 public:
  explicit Stopwatch(runtime::Gpu& gpu)
      : gpu_(gpu),
        bytes_(std::min(std::max(kFlushBytes, 4 * gpu.facts().l2_bytes), gpu.free_bytes() / 4)),
        flush_(gpu.allocate(bytes_)) {
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
    std::nth_element(ms.begin(), ms.begin() + kSamples / 2, ms.end());
    return ms[kSamples / 2];
  }

 private:
  runtime::Gpu& gpu_;
  int64_t bytes_;
  uint64_t flush_;
  std::vector<runtime::EventHandle> events_;
};

// Runs the program with these kernels, and times each.
std::vector<double> times_of(const GpuBuild& build, const std::vector<const GpuKernel*>& kernels, const Arrays& arrays,
                             Stopwatch& watch) {
  auto state = std::make_shared<Executable::State>();
  state->graph = build.state.graph;
  state->plan = build.state.plan;
  state->device = build.state.device;
  state->nvrtc = build.state.nvrtc;
  state->threads = build.state.threads;
  state->alike = build.state.alike;
  bind_kernels(*state, kernels);
  std::vector<double> ms(kernels.size(), 0);
  GpuCall call(state, prepare(*state, arrays.input_views), arrays.input_views, arrays.output_views,
               state->device.gpu->stream());
  call.run_each([&](size_t k, const std::function<void()>& run) { ms[k] = watch.median_ms(run); });
  state->device.gpu->synchronize(state->device.gpu->stream());
  return ms;
}

using Tried = std::vector<std::vector<std::optional<GpuKernel>>>;  // per kernel: others in its place

// Milliseconds of the kernels as they are, and of the others; -1 for those that could not be built.
struct Times {
  std::vector<double> first;
  std::vector<std::vector<double>> others;
};

Times measure(const GpuBuild& build, const std::vector<const GpuKernel*>& current, const Tried& made) {
  const Arrays arrays = arrays_of(build);
  Stopwatch watch(*build.state.device.gpu);
  Times times{times_of(build, current, arrays, watch), {}};
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
    const std::vector<double> ms = times_of(build, tried, arrays, watch);
    for (size_t k = 0; k < current.size(); ++k)
      if (tried[k] != current[k]) times.others[k][round] = ms[k];
  }
  return times;
}

}  // namespace

void take_tuned(const GpuBuild& build, std::vector<GpuKernel>& kernels) {
  const Machine& device = build.state.device;
  if (!device.gpu || !device.cache) return;
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (!has_own_schedule(build.state, k)) continue;
    const auto known = device.cache->find(key_of(build, kernels[k]), runtime::DiskCache::Kind::Note);
    const auto tuning = known ? tuning_of(*known) : std::nullopt;
    if (!tuning || *tuning == plan::Tuning{}) continue;
    const auto found = candidate_with(build, k, *tuning);
    if (!found) continue;
    kernels[k] = make_kernel(build, k, *found->schedule);
    take(build, k, *found, "as it was tuned: " + schedule::form_of(*found->schedule));
  }
}

void tune(const GpuBuild& build, std::vector<GpuKernel>& kernels) {
  std::vector<std::vector<schedule::Candidate>> others;
  Tried made;
  std::vector<const GpuKernel*> current;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const bool own = has_own_schedule(build.state, k);
    others.push_back(own ? other_schedules(build, k) : std::vector<schedule::Candidate>());
    made.push_back(try_kernels(build, k, others[k]));
    current.push_back(&kernels[k]);
  }
  const Times times = measure(build, current, made);
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (!has_own_schedule(build.state, k)) continue;
    const double first = times.first[k];
    double best = kGain * first;
    std::optional<size_t> winner;
    for (size_t c = 0; c < made[k].size(); ++c)
      if (const double ms = times.others[k][c]; ms >= 0 && ms < best) best = ms, winner = c;
    const std::string key = key_of(build, kernels[k]);
    plan::FusionGroup& group = build.state.plan.groups[k];
    const plan::Tuning tuning = winner ? others[k][*winner].tuning : group.tuning;
    if (build.state.device.cache) build.state.device.cache->store(key, text_of(tuning), runtime::DiskCache::Kind::Note);
    if (!winner) {
      group.rebuilt =
          fmt::format("tuned: the schedule stays, {:.1f} us; {} others were tried", 1e3 * first, made[k].size());
      continue;
    }
    const std::string before = schedule::form_of(*group.schedule);
    kernels[k] = std::move(*made[k][*winner]);
    take(build, k, others[k][*winner],
         fmt::format("tuned: {:.1f} us with {}, {:.1f} us with {}; {} others were tried", 1e3 * best,
                     schedule::form_of(*others[k][*winner].schedule), 1e3 * first, before, made[k].size()));
  }
}

void measure_candidates(const GpuBuild& build, std::vector<std::vector<Considered>>& considered) {
  std::vector<GpuKernel> kernels;
  for (size_t k = 0; k < build.state.kernels.size(); ++k) {
    const Launch& launch = build.state.launches[k];
    kernels.push_back({build.state.kernels[k], "", launch.gpu_phases, launch.table});
  }
  Tried made;
  std::vector<const GpuKernel*> current;
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<schedule::Candidate> all;
    for (const Considered& c : considered[k]) all.push_back(c.candidate);
    made.push_back(try_kernels(build, k, all));
    current.push_back(&kernels[k]);
  }
  const Times times = measure(build, current, made);
  for (size_t k = 0; k < kernels.size(); ++k)
    for (size_t c = 0; c < considered[k].size(); ++c) considered[k][c].measured_ms = times.others[k][c];
}

}  // namespace smelt

#include "report/bench_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/check.hpp"
#include "report/traffic.hpp"

namespace smelt::report {
namespace {

constexpr int kPairs = 16;  // samples that are queued before the host waits for them
constexpr int kMostSamples = 2000, kFewestSamples = 32;
constexpr int64_t kFlushBytes = int64_t{256} << 20;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Times what is queued on smelt's stream, by events.
class DeviceClock {
 public:
  DeviceClock(runtime::Gpu& gpu, const BenchOptions& options) : gpu_(gpu), options_(options), stream_(gpu.stream()) {
    const int64_t wanted = std::max(kFlushBytes, 4 * gpu.facts().l2_bytes);
    flush_bytes_ = std::min(wanted, gpu.free_bytes() / 4);
    flush_ = gpu.allocate(flush_bytes_);
    for (int i = 0; i < 2 * kPairs; ++i) events_.push_back(gpu.create_event(true));
  }
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;
  ~DeviceClock() {
    for (const runtime::EventHandle event : events_) gpu_.destroy_event(event);
    gpu_.release(flush_);
  }

  // Milliseconds of one `work`, the L2 cache flushed before each.
  Summary cold(const std::function<void()>& work) {
    return sample(
        1, [&] { flush(); }, work);
  }
  // The same with what the work before left in the cache. The flush only keeps the device busy until the host has queued the rest.
  Summary hot(const std::function<void()>& work) {
    const double once = std::max(estimate(work), 1e-4);
    const int batch = static_cast<int>(std::clamp(0.1 / once, 1.0, 16.0));
    return sample(
        batch,
        [&] {
          flush();
          work();
        },
        work);
  }
  // Wall time per call of calls back to back, the host's part included.
  Summary call(const std::function<void()>& work) {
    const auto many = [&](int count) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < count; ++i) work();
      gpu_.synchronize(stream_);
      return seconds_since(start) * 1e3 / count;
    };
    const double once = many(10);
    const int count = static_cast<int>(std::clamp(5 / std::max(once, 1e-4), 10.0, 2000.0));
    const auto start = std::chrono::steady_clock::now();
    std::vector<double> samples;
    while (samples.size() < 7 || (seconds_since(start) < options_.time_limit_s / 2 && samples.size() < 50))
      samples.push_back(many(count));
    return summarize(samples);
  }

 private:
  void flush() { gpu_.fill(flush_, 1, flush_bytes_, stream_); }

  double estimate(const std::function<void()>& work) {
    for (int i = 0; i < 3; ++i) work();
    gpu_.record(events_[0], stream_);
    for (int i = 0; i < 3; ++i) work();
    gpu_.record(events_[1], stream_);
    gpu_.synchronize_event(events_[1]);
    return gpu_.elapsed_ms(events_[0], events_[1]) / 3;
  }

  Summary sample(int batch, const std::function<void()>& before, const std::function<void()>& work) {
    for (int i = 0; i < 3; ++i) {
      before();
      work();
    }
    gpu_.synchronize(stream_);
    const auto start = std::chrono::steady_clock::now();
    std::vector<double> samples;
    for (;;) {
      for (size_t i = 0; i < kPairs; ++i) {
        before();
        gpu_.record(events_[2 * i], stream_);
        for (int b = 0; b < batch; ++b) work();
        gpu_.record(events_[2 * i + 1], stream_);
      }
      gpu_.synchronize_event(events_.back());
      for (size_t i = 0; i < kPairs; ++i)
        samples.push_back(gpu_.elapsed_ms(events_[2 * i], events_[2 * i + 1]) / batch);
      const Summary summary = summarize(samples);
      const auto count = static_cast<int>(samples.size());
      const bool late = seconds_since(start) > options_.time_limit_s;
      if (late || count >= kMostSamples || (count >= kFewestSamples && summary.noise < options_.noise / 4))
        return summary;
    }
  }

  runtime::Gpu& gpu_;
  const BenchOptions& options_;
  runtime::StreamHandle stream_;
  int64_t flush_bytes_ = 0;
  uint64_t flush_ = 0;
  std::vector<runtime::EventHandle> events_;
};

// One executable with its arrays on the GPU.
struct Runner {
  const Executable& executable;
  std::vector<Tensor> outputs;
  BoundCall call;

  Runner(const Executable& e, const std::vector<TensorView>& inputs) : executable(e) {
    const std::vector<Dims> dims = e.output_dims(inputs);
    for (size_t o = 0; o < dims.size(); ++o)
      outputs.push_back(device_empty(e.device(), e.graph().at(e.graph().outputs[o]).dtype, dims[o]));
    call = e.bind(inputs, {outputs.begin(), outputs.end()});
    call.run();
    call.synchronize();
  }
  std::vector<Tensor> results() const {
    std::vector<Tensor> all;
    for (const Tensor& output : outputs) all.push_back(to_host(executable.device(), output));
    return all;
  }
};

Side measure_side(const Runner& runner, const char* name, int64_t bytes, const SizeBinding& sizes, DeviceClock& clock,
                  const BenchOptions& options) {
  runtime::Gpu& gpu = *runner.executable.device().gpu;
  Side side;
  side.kernels = static_cast<int>(runner.executable.plan().groups.size());
  side.bytes = bytes;
  side.functions = runner.executable.built(sizes);
  const auto note = [&](const char* what) { options.progress(fmt::format("measuring {}, {}", name, what)); };
  const auto run = [&] { runner.call.run(); };
  note("cold");
  side.time_ms.cold = clock.cold(run);
  note("hot");
  side.time_ms.hot = clock.hot(run);
  note("calls back to back");
  side.call_ms = clock.call(run);
  runner.call.synchronize();
  note("copy of as many bytes");
  // A copy reads every byte once and writes it once: half as many bytes, moved twice.
  if (const int64_t half = bytes / 2; half > 0) {
    const Tensor memory = device_empty(runner.executable.device(), DType::U8, {2 * ((half + 255) / 256 * 256)});
    const auto from = reinterpret_cast<uint64_t>(memory.data),
               to = from + static_cast<uint64_t>((half + 255) / 256 * 256);
    const auto copy = [&] { gpu.copy(to, from, half, gpu.stream()); };
    side.copy_ms.cold = clock.cold(copy);
    side.copy_ms.hot = clock.hot(copy);
  }
  const auto gbs = [&](double ms) { return ms > 0 ? static_cast<double>(bytes) / ms * 1e-6 : 0; };
  side.bandwidth_gbs = gbs(side.time_ms.cold.median);
  side.copy_gbs = gbs(side.copy_ms.cold.median);
  return side;
}

}  // namespace

BenchResult bench_gpu(const Executable& fused, const Executable& unfused, const std::vector<Tensor>& inputs,
                      const BenchOptions& options) {
  BenchResult result;
  const Machine& device = fused.device();
  SMELT_CHECK(device.gpu, "a benchmark of a GPU that is not here");
  std::vector<Dims> dims;
  for (const Tensor& input : inputs) dims.push_back(input.dims);
  result.sizes = bind_sizes(fused.graph(), dims);
  result.compile_ms = fused.compile_ms();
  result.cache = fused.cache_use();

  options.progress("bringing inputs to the GPU");
  std::vector<Tensor> there;
  std::vector<TensorView> views;
  for (const Tensor& input : inputs) {
    if (!input.dims.empty()) there.push_back(to_device(device, input));
    views.push_back(input.dims.empty() ? TensorView(input) : TensorView(there.back()));
  }
  options.progress("running both once");
  const Runner fused_runner(fused, views), unfused_runner(unfused, views);
  if (options.check) {
    options.progress("computing the float64 reference");
    const std::vector<Tensor> reference = interpret(fused.graph(), {inputs.begin(), inputs.end()});
    options.progress("comparing");
    result.accuracy =
        compare(fused.graph(), fused_runner.results(), unfused_runner.results(), reference, device.facts.threads);
    result.checked = true;
  }
  DeviceClock clock(*device.gpu, options);
  const auto bytes = [&](const Executable& e) { return kernel_bytes(e.graph(), e.plan(), result.sizes); };
  result.fused = measure_side(fused_runner, "fused", bytes(fused), result.sizes, clock, options);
  result.unfused = measure_side(unfused_runner, "unfused", bytes(unfused), result.sizes, clock, options);
  return result;
}

}  // namespace smelt::report

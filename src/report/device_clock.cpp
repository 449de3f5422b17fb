#include "report/device_clock.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace smelt::report {
namespace {

constexpr int kPairs = 16;  // samples that are queued before the host waits for them
constexpr int kMostSamples = 2000, kFewestSamples = 32;
constexpr int64_t kFlushBytes = int64_t{256} << 20;

}  // namespace

DeviceInputs bring_inputs(const Machine& device, const std::vector<Tensor>& inputs) {
  DeviceInputs there;
  for (const Tensor& input : inputs) {
    if (!input.dims.empty()) there.arrays.push_back(to_device(device, input));
    there.views.push_back(input.dims.empty() ? TensorView(input) : TensorView(there.arrays.back()));
  }
  return there;
}

DeviceClock::DeviceClock(runtime::Gpu& gpu, const BenchOptions& options)
    : gpu_(gpu), options_(options), stream_(gpu.stream()) {
  // An OpenCL device that is the CPU names its last cache.
  const int64_t wanted =
      gpu.facts().is_processor ? 2 * gpu.facts().l2_bytes : std::max(kFlushBytes, 4 * gpu.facts().l2_bytes);
  flush_bytes_ = std::min(wanted, gpu.free_bytes() / 4);
  flush_ = gpu.allocate(flush_bytes_);
  for (int i = 0; i < 2 * kPairs; ++i) events_.push_back(gpu.create_event(true));
}

DeviceClock::~DeviceClock() {
  for (const runtime::EventHandle event : events_) gpu_.destroy_event(event);
  gpu_.release(flush_);
}

Summary DeviceClock::cold(const std::function<void()>& work) {
  return sample(
      1, [&] { flush(); }, work);
}

Summary DeviceClock::hot(const std::function<void()>& work) {
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

Summary DeviceClock::call(const std::function<void()>& work) {
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

// A copy reads every byte once and writes it once: half as many bytes, moved twice.
template <class F>
Summary DeviceClock::with_copy(int64_t bytes, const F& measured) {
  const int64_t half = bytes / 2, place = (half + 255) / 256 * 256;
  if (half <= 0) return {};
  const std::shared_ptr<void> memory(reinterpret_cast<void*>(gpu_.allocate(2 * place)),
                                     [this](void* p) { gpu_.release(reinterpret_cast<uint64_t>(p)); });
  const auto from = reinterpret_cast<uint64_t>(memory.get());
  return measured([&] { gpu_.copy(from + static_cast<uint64_t>(place), from, half, stream_); });
}

Summary DeviceClock::cold_copy(int64_t bytes) {
  return with_copy(bytes, [this](const std::function<void()>& copy) { return cold(copy); });
}
Summary DeviceClock::hot_copy(int64_t bytes) {
  return with_copy(bytes, [this](const std::function<void()>& copy) { return hot(copy); });
}

double DeviceClock::estimate(const std::function<void()>& work) {
  for (int i = 0; i < 3; ++i) work();
  gpu_.record(events_[0], stream_);
  for (int i = 0; i < 3; ++i) work();
  gpu_.record(events_[1], stream_);
  gpu_.synchronize_event(events_[1]);
  return gpu_.elapsed_ms(events_[0], events_[1]) / 3;
}

Summary DeviceClock::sample(int batch, const std::function<void()>& before, const std::function<void()>& work) {
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
    for (size_t i = 0; i < kPairs; ++i) samples.push_back(gpu_.elapsed_ms(events_[2 * i], events_[2 * i + 1]) / batch);
    const Summary summary = summarize(samples);
    const auto count = static_cast<int>(samples.size());
    const bool late = seconds_since(start) > options_.time_limit_s;
    if (late || count >= kMostSamples || (count >= kFewestSamples && summary.noise < options_.noise / 4))
      return summary;
  }
}

}  // namespace smelt::report

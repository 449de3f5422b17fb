#include "report/measure_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "report/device_clock.hpp"
#include "report/traffic.hpp"

namespace smelt::report {
namespace {

// What copies and pointwise kernels reach of a GPU memory's rate, and what a launch takes beside its bytes.
constexpr double kReached = 0.9, kLaunchMs = 0.003;
// A copy that no cache helps, where there is memory for it.
constexpr int64_t kLargeCopy = int64_t{1} << 30;
constexpr int64_t kSmallestCopy = 512;

std::vector<KernelTime> start(const Executable& executable, const std::vector<Tensor>& inputs) {
  std::vector<Dims> dims;
  for (const Tensor& input : inputs) dims.push_back(input.dims);
  const SizeBinding sizes = bind_sizes(executable.graph(), dims);
  std::vector<KernelTime> times;
  for (const plan::FusionGroup& group : executable.plan().groups) {
    KernelTime time;
    time.bytes = bytes_of(executable.graph(), group, sizes);
    times.push_back(time);
  }
  return times;
}

// Outputs of the program, of the memory that `make` gives.
template <class Make>
std::vector<Tensor> outputs_of(const Executable& executable, const std::vector<TensorView>& inputs, const Make& make) {
  const std::vector<Dims> dims = executable.output_dims(inputs);
  std::vector<Tensor> outputs;
  for (size_t o = 0; o < dims.size(); ++o)
    outputs.push_back(make(executable.graph().at(executable.graph().outputs[o]).dtype, dims[o]));
  return outputs;
}

std::vector<KernelTime> measure_on_cpu(const Executable& executable, const std::vector<Tensor>& inputs,
                                       const BenchOptions& options) {
  std::vector<KernelTime> times = start(executable, inputs);
  const std::vector<Tensor> outputs = outputs_of(executable, views_of(inputs), Tensor::empty);
  executable.run_each(views_of(inputs), views_of(outputs), [&](size_t k, const std::function<void()>& run) {
    options.progress(fmt::format("measuring kernel {} of {}", k + 1, times.size()));
    times[k].measured_ms = measure(options, run);
  });
  for (KernelTime& time : times) {
    options.progress("measuring copies of as many bytes");
    const double about = std::max(time.measured_ms.median * 1e-3, 1e-6);
    const int runs = static_cast<int>(std::clamp(options.time_limit_s / 4 / about, 5.0, 50.0));
    if (time.bytes > 1) time.copy_ms = 1e3 * runtime::measure_copy_seconds(time.bytes / 2, options.threads, runs);
    time.predicted_ms = time.copy_ms;
  }
  return times;
}

std::vector<KernelTime> measure_on_gpu(const Executable& executable, const std::vector<Tensor>& inputs,
                                       const BenchOptions& options) {
  std::vector<KernelTime> times = start(executable, inputs);
  const Machine& device = executable.device();
  SMELT_CHECK(device.gpu, "a measurement of a GPU that is not here");
  options.progress("bringing inputs to the GPU");
  const DeviceInputs there = bring_inputs(device, inputs);
  const std::vector<TensorView>& views = there.views;
  const std::vector<Tensor> outputs =
      outputs_of(executable, views, [&](DType dtype, const Dims& dims) { return device_empty(device, dtype, dims); });
  DeviceClock clock(*device.gpu, options);
  executable.run_each(views, views_of(outputs), [&](size_t k, const std::function<void()>& run) {
    options.progress(fmt::format("measuring kernel {} of {}", k + 1, times.size()));
    times[k].measured_ms = clock.cold(run);
  });
  options.progress("measuring copies of as many bytes");
  const int64_t large = std::min(kLargeCopy, device.gpu->free_bytes() / 2);
  const double shortest = clock.cold_copy(kSmallestCopy).median, largest = clock.cold_copy(large).median;
  const double ms_per_byte =
      large > kSmallestCopy ? std::max(0.0, largest - shortest) / static_cast<double>(large - kSmallestCopy) : 0;
  for (KernelTime& time : times) {
    if (time.bytes > 1) time.copy_ms = clock.cold_copy(time.bytes).median;
    time.predicted_ms = shortest + static_cast<double>(time.bytes) * ms_per_byte;
  }
  return times;
}

}  // namespace

double predicted_ms(int64_t bytes, double memory_gbs) {
  return memory_gbs > 0 ? kLaunchMs + static_cast<double>(bytes) / (kReached * memory_gbs) * 1e-6 : 0;
}

std::vector<KernelTime> measure_kernels(const Executable& executable, const std::vector<Tensor>& inputs,
                                        const BenchOptions& options) {
  return executable.device().is_gpu ? measure_on_gpu(executable, inputs, options)
                                    : measure_on_cpu(executable, inputs, options);
}

}  // namespace smelt::report

#include "report/bench_gpu.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "report/device_clock.hpp"
#include "report/traffic.hpp"

namespace smelt::report {
namespace {

// One executable with its arrays on the GPU.
struct GpuRunner {
  const Executable& executable;
  std::vector<Tensor> outputs;
  BoundCall call;

  GpuRunner(const Executable& e, const std::vector<TensorView>& inputs) : executable(e) {
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

Side measure_on_gpu(const GpuRunner& runner, const char* name, int64_t bytes, const SizeBinding& sizes,
                    DeviceClock& clock, const BenchOptions& options) {
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
  side.copy_ms.cold = clock.cold_copy(bytes);
  side.copy_ms.hot = clock.hot_copy(bytes);
  const auto gbs = [&](double ms) { return ms > 0 ? static_cast<double>(bytes) / ms * 1e-6 : 0; };
  side.bandwidth_gbs = gbs(side.time_ms.cold.median);
  side.copy_gbs = gbs(side.copy_ms.cold.median);
  return side;
}

}  // namespace

BenchResult bench_gpu(const Executable& fused, const Executable* unfused, const std::vector<Tensor>& inputs,
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
  const DeviceInputs there = bring_inputs(device, inputs);
  const std::vector<TensorView>& views = there.views;
  options.progress("running once");
  const GpuRunner fused_runner(fused, views);
  std::optional<GpuRunner> unfused_runner;
  if (unfused) unfused_runner.emplace(*unfused, views);
  if (options.check && unfused) {
    options.progress("computing the float64 reference");
    const Computed from{{inputs.begin(), inputs.end()}, true};
    const std::vector<Tensor> reference = interpret(fused.graph(), from.inputs);
    options.progress("comparing");
    result.accuracy = compare(fused.graph(), fused_runner.results(), unfused_runner->results(), reference,
                              device.facts.threads, &from);
    result.checked = true;
  }
  DeviceClock clock(*device.gpu, options);
  const auto bytes = [&](const Executable& e) { return kernel_bytes(e.graph(), e.plan(), result.sizes); };
  result.fused = measure_on_gpu(fused_runner, "fused", bytes(fused), result.sizes, clock, options);
  if (unfused)
    result.unfused = measure_on_gpu(*unfused_runner, "unfused", bytes(*unfused), result.sizes, clock, options);
  return result;
}

}  // namespace smelt::report

#include "report/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/check.hpp"
#include "report/bench_gpu.hpp"
#include "report/traffic.hpp"

namespace smelt::report {
namespace {

constexpr int kFewestRuns = 7, kMostRuns = 2000;
constexpr double kShortestSample = 20e-6;  // seconds: a clock's step and its own cost stay below a hundredth

double seconds_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return seconds_since(start);
}

// Everything that one executable needs to run again and again.
struct Runner {
  const Executable& executable;
  std::vector<TensorView> inputs;
  std::vector<Tensor> outputs;
  std::vector<TensorView> targets;

  Runner(const Executable& e, const std::vector<Tensor>& in) : executable(e), inputs(views_of(in)) {
    outputs = executable.run(inputs);
    targets = views_of(outputs);
  }
  void into_existing() const { executable.run_into(inputs, targets); }
  void into_fresh() const { executable.run(inputs); }
};

Side measure_side(const Runner& runner, const char* name, int64_t bytes, const Machine& device,
                  const BenchOptions& options) {
  Side side;
  side.kernels = static_cast<int>(runner.executable.plan().groups.size());
  side.bytes = bytes;
  const auto note = [&](const char* what) { options.progress(fmt::format("measuring {}, {}", name, what)); };
  note("hot");
  side.time_ms.hot = measure(options, [&] { runner.into_existing(); });
  note("copy of as many bytes");
  // A copy reads every byte once and writes it once: half as many bytes, moved twice.
  const double about = std::max(side.time_ms.hot.median * 1e-3, 1e-6);
  const int runs = static_cast<int>(std::clamp(options.time_limit_s / 4 / about, 5.0, 50.0));
  const double copy = bytes > 1 ? runtime::measure_copy_seconds(bytes / 2, options.threads, runs) : 0;
  note("fresh outputs");
  side.time_ms.fresh = measure(options, [&] { runner.into_fresh(); });
  note("cold");
  side.time_ms.cold = measure(
      options, [&] { runner.into_existing(); }, [&] { runtime::flush_caches(device.facts, options.threads); });
  const auto gbs = [&](double seconds) { return seconds > 0 ? static_cast<double>(bytes) / seconds * 1e-9 : 0; };
  side.bandwidth_gbs = gbs(side.time_ms.hot.median * 1e-3);
  side.copy_gbs = gbs(copy);
  return side;
}

Accuracy check(const Runner& fused, const Runner& unfused, const BenchOptions& options) {
  options.progress("computing the float64 reference");
  const Graph& graph = fused.executable.graph();
  const std::vector<Tensor> reference = interpret(graph, fused.inputs);
  options.progress("comparing");
  const Computed from{{fused.inputs.begin(), fused.inputs.end()}};
  return compare(graph, fused.outputs, unfused.outputs, reference, options.threads, &from);
}

std::vector<std::string> describe_inputs(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<std::string> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string dims;
    for (const int64_t size : inputs[i].dims) dims += fmt::format("{}{}", dims.empty() ? "" : ",", size);
    const std::string brackets = inputs[i].dims.empty() ? "" : "[" + dims + "]";
    out.push_back(fmt::format("{}: {}{}", graph.at(graph.inputs[i]).name, name_of(inputs[i].dtype), brackets));
  }
  return out;
}

double ratio(const Summary& unfused, const Summary& fused) {
  return fused.median > 0 ? unfused.median / fused.median : 0;
}

void add_speedups(BenchResult& result) {
  if (!result.unfused) return;
  result.speedup = ratio(result.unfused->time_ms.hot, result.fused.time_ms.hot);
  result.cold_speedup = ratio(result.unfused->time_ms.cold, result.fused.time_ms.cold);
}

}  // namespace

Summary measure(const BenchOptions& options, const std::function<void()>& measured,
                const std::function<void()>& prepare) {
  const auto start = std::chrono::steady_clock::now();
  double once = 1;
  for (int warm = 0; warm < 3 && (warm == 0 || seconds_since(start) < options.time_limit_s / 4); ++warm) {
    if (prepare) prepare();
    once = std::min(once, seconds_of(measured));
  }
  const int batch = prepare ? 1 : static_cast<int>(std::clamp(kShortestSample / std::max(once, 1e-9), 1.0, 1000.0));
  std::vector<double> samples;
  Summary summary;
  while (static_cast<int>(samples.size()) < kMostRuns) {
    if (prepare) prepare();
    const double seconds = seconds_of([&] {
      for (int i = 0; i < batch; ++i) measured();
    });
    samples.push_back(seconds * 1e3 / batch);
    const auto runs = static_cast<int>(samples.size());
    const bool late = seconds_since(start) > options.time_limit_s;
    if (late && runs >= 3) break;
    if (runs < kFewestRuns || (runs & (runs - 1) && runs % 16 != 0 && !late)) continue;
    summary = summarize(samples);
    // Three noisy samples can agree by chance; a quarter of the time limit makes that unlikely.
    if (summary.noise < options.noise && (runs >= 32 || seconds_since(start) > options.time_limit_s / 4)) break;
  }
  return summarize(samples);
}

BenchTitle title_of(const std::string& program, const Machine& device, int threads) {
  BenchTitle title{program, device.name, device.facts.isa, threads};
  if (!device.is_gpu) return title;
  const auto version = [](int cuda) { return fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10); };
  title.isa = device.opencl ? "OpenCL" : fmt::format("sm_{}", device.gpu_facts.compute);
  title.threads = device.gpu_facts.processors;
  title.gpu = device.gpu_facts.name;
  if (!device.opencl) title.driver = version(device.gpu_facts.driver);
  title.nvrtc = device.nvrtc ? device.nvrtc->version_text() : "";
  return title;
}

BenchResult bench(const Executable& fused, const Executable* unfused, const Machine& device,
                  const std::vector<Tensor>& inputs, const BenchOptions& options) {
  if (device.is_gpu) {
    BenchResult result = bench_gpu(fused, unfused, inputs, options);
    result.on_gpu = true;
    result.inputs = describe_inputs(fused.graph(), inputs);
    add_speedups(result);
    return result;
  }
  SMELT_CHECK(!fused.interpreted() && !(unfused && unfused->interpreted()), "a benchmark of the interpreter");
  BenchResult result;
  const Graph& graph = fused.graph();
  std::vector<Dims> dims;
  for (const Tensor& input : inputs) dims.push_back(input.dims);
  result.sizes = bind_sizes(graph, dims);
  result.inputs = describe_inputs(graph, inputs);
  result.compile_ms = fused.compile_ms();
  result.cache = fused.cache_use();

  options.progress("running once");
  const Runner fused_runner(fused, inputs);
  std::optional<Runner> unfused_runner;
  if (unfused) unfused_runner.emplace(*unfused, inputs);
  if (options.check && unfused) {
    result.accuracy = check(fused_runner, *unfused_runner, options);
    result.checked = true;
  }
  const auto bytes = [&](const Executable& e) { return kernel_bytes(e.graph(), e.plan(), result.sizes); };
  result.fused = measure_side(fused_runner, "fused", bytes(fused), device, options);
  if (unfused) result.unfused = measure_side(*unfused_runner, "unfused", bytes(*unfused), device, options);
  add_speedups(result);
  return result;
}

}  // namespace smelt::report

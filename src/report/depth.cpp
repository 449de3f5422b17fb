#include "report/depth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "report/device_clock.hpp"
#include "report/table.hpp"
#include "report/traffic.hpp"
#include "report/units.hpp"

namespace smelt::report {
namespace {

constexpr double kNearlyAsFast = 1.05;
// Every measurement is made so often, all in turn, and the best counts: what else the machine does
// hits all of them.
constexpr int kRounds = 3;

// Runs and copies on one device, by one clock.
class Stopwatch {
 public:
  Stopwatch(const Machine& device, const BenchOptions& options) : device_(device), options_(options) {
    if (device.is_gpu) clock_ = std::make_unique<DeviceClock>(*device.gpu, options);
  }

  Summary run(const Executable& executable, const std::vector<Tensor>& inputs) const {
    const DeviceInputs there = clock_ ? bring_inputs(device_, inputs) : DeviceInputs{};
    const std::vector<TensorView> views = clock_ ? there.views : std::vector<TensorView>(inputs.begin(), inputs.end());
    const std::vector<Dims> dims = executable.output_dims(views);
    std::vector<Tensor> outputs;
    for (size_t o = 0; o < dims.size(); ++o) {
      const DType dtype = executable.graph().at(executable.graph().outputs[o]).dtype;
      outputs.push_back(clock_ ? device_empty(device_, dtype, dims[o]) : Tensor::empty(dtype, dims[o]));
    }
    BoundCall call = executable.bind(views, {outputs.begin(), outputs.end()});
    if (!clock_) return measure(options_, [&] { call.run(); });
    const Summary summary = clock_->cold([&] { call.run(); });
    call.synchronize();
    return summary;
  }

 private:
  const Machine& device_;
  const BenchOptions& options_;
  std::unique_ptr<DeviceClock> clock_;
};

std::vector<int> limits_up_to(int longest) {
  std::vector<int> limits;
  for (int limit = 1; limit < longest; limit += std::max(1, limit / 2)) limits.push_back(limit);
  limits.push_back(0);
  return limits;
}

int longest_of(const plan::Plan& plan) {
  size_t most = 0;
  for (const plan::FusionGroup& group : plan.groups) most = std::max(most, group.nodes.size());
  return static_cast<int>(most);
}

}  // namespace

size_t Depths::fastest() const {
  const auto faster = [](const Depth& a, const Depth& b) { return a.measured_ms.median < b.measured_ms.median; };
  return static_cast<size_t>(std::min_element(points.begin(), points.end(), faster) - points.begin());
}

size_t Depths::enough() const {
  const double limit = points[fastest()].measured_ms.median * kNearlyAsFast;
  const auto near = [&](const Depth& d) { return d.measured_ms.median <= limit; };
  return static_cast<size_t>(std::find_if(points.begin(), points.end(), near) - points.begin());
}

Depths measure_depths(const Graph& graph, const Machine& device, const CompileOptions& options,
                      const std::vector<Tensor>& inputs, const BenchOptions& bench_options) {
  Depths depths;
  Stopwatch stopwatch(device, bench_options);
  std::vector<Dims> dims;
  for (const Tensor& input : inputs) dims.push_back(input.dims);

  const auto fused_up_to = [&](int limit) {
    bench_options.progress(fmt::format("fusing up to {} operations", limit));
    CompileOptions limited = options;
    limited.depth = limit;
    return compile(graph, device, limited);
  };
  const auto describe = [&](const Executable& executable, int limit) {
    const SizeBinding sizes = bind_sizes(executable.graph(), dims);
    const plan::Plan& plan = executable.plan();
    Depth depth;
    depth.limit = limit;
    depth.longest = longest_of(plan);
    depth.kernels = static_cast<int>(plan.groups.size());
    depth.bytes = kernel_bytes(executable.graph(), plan, sizes);
    for (const BuiltFunction& f : executable.built(sizes))
      depth.spilled_bytes = std::max(depth.spilled_bytes, f.facts.local_bytes);
    const plan::Prediction predicted = executable.predicted(sizes);
    depth.predicted_ms = 1e-3 * predicted.us;
    depths.operations_per_ms = 1e3 * predicted.facts.operations * predicted.facts.processors;
    return depth;
  };

  std::vector<Executable> executables;
  const Executable whole = fused_up_to(0);
  for (const int limit : limits_up_to(longest_of(whole.plan()))) {
    const Executable executable = limit == 0 ? whole : fused_up_to(limit);
    Depth depth = describe(executable, limit);
    // Another limit may give the same kernels.
    if (!depths.points.empty() && depths.points.back().kernels == depth.kernels &&
        depths.points.back().longest == depth.longest) {
      depths.points.pop_back();
      executables.pop_back();
    }
    depths.points.push_back(depth);
    executables.push_back(executable);
  }
  for (int round = 0; round < kRounds; ++round)
    for (size_t e = 0; e < executables.size(); ++e) {
      Depth& depth = depths.points[e];
      bench_options.progress(fmt::format("measuring {} kernels, round {} of {}", depth.kernels, round + 1, kRounds));
      const Summary measured = stopwatch.run(executables[e], inputs);
      if (round == 0 || measured.median < depth.measured_ms.median) depth.measured_ms = measured;
    }
  return depths;
}

std::string to_text(const Depths& depths, const Style& style) {
  constexpr int kBar = 30;
  double longest = 0;
  for (const Depth& d : depths.points) longest = std::max(longest, d.measured_ms.median);
  const bool spills =
      std::any_of(depths.points.begin(), depths.points.end(), [](const Depth& d) { return d.spilled_bytes > 0; });
  Table table(
      {{"operations a kernel"}, {"kernels"}, {"moved"}, {"predicted (ms)"}, {"measured (ms)"}, {"", Align::Left}});
  for (const Depth& d : depths.points) {
    std::string bar;
    const int length = static_cast<int>(std::lround(kBar * d.measured_ms.median / longest));
    for (int i = 0; i < std::max(1, length); ++i) bar += "▇";
    if (spills && d.spilled_bytes > 0) bar += fmt::format(" spills {} a thread", format_memory(d.spilled_bytes));
    table.add({d.limit == 0 ? fmt::format("no limit: {}", d.longest) : fmt::format("at most {}", d.longest),
               std::to_string(d.kernels), format_bytes(d.bytes), format_significant(d.predicted_ms),
               format_significant(d.measured_ms.median), bar});
  }
  const Depth &best = depths.points[depths.fastest()], &enough = depths.points[depths.enough()],
              &whole = depths.points.back();
  std::string text = style.bold("depth of fusion") + "\n" + table.str(2);
  text += fmt::format("  fastest: {} operations a kernel, {} ms\n", best.longest,
                      format_significant(best.measured_ms.median));
  if (enough.longest != best.longest)
    text += fmt::format("  from {} operations on, longer kernels gain less than 5 %\n", enough.longest);
  text += fmt::format("  fused as far as the planner goes: {:.2f}x the time of the fastest\n",
                      whole.measured_ms.median / best.measured_ms.median);
  return text;
}

nlohmann::ordered_json to_json(const Depths& depths) {
  using nlohmann::ordered_json;
  ordered_json points = ordered_json::array();
  for (const Depth& d : depths.points)
    points.push_back({{"limit", d.limit},
                      {"longest", d.longest},
                      {"kernels", d.kernels},
                      {"bytes", d.bytes},
                      {"spilled_bytes", d.spilled_bytes},
                      {"predicted_ms", d.predicted_ms},
                      {"measured_ms", {{"median", d.measured_ms.median}, {"spread", d.measured_ms.spread}}}});
  return {{"points", points},
          {"operations_per_ms", depths.operations_per_ms},
          {"fastest", depths.points[depths.fastest()].longest},
          {"enough", depths.points[depths.enough()].longest}};
}

}  // namespace smelt::report

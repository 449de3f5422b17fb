// smelt run: runs a program, and writes or shows its outputs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "arguments.hpp"
#include "progress.hpp"
#include "report/json.hpp"
#include "report/npy.hpp"
#include "report/units.hpp"
#include "report/view.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

// Before anything is computed: it would be a pity to find out afterwards.
void check_outputs(const Graph& graph, const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  if (paths.size() != graph.outputs.size()) {
    throw UserError(fmt::format(
        "the program has {} output{}, and -o names {} file{}\nhelp: give -o once per output, in their order",
        graph.outputs.size(), graph.outputs.size() == 1 ? "" : "s", paths.size(), paths.size() == 1 ? "" : "s"));
  }
  for (size_t o = 0; o < paths.size(); ++o) {
    report::check_npy_dtype(graph.at(graph.outputs[o]).dtype, fmt::format("output {}", o + 1));
    for (size_t p = 0; p < o; ++p)
      if (paths[o] == paths[p])
        throw UserError(fmt::format("-o names {} twice\nhelp: give every output a file of its own", paths[o]));
  }
}

std::string statistics_text(const Tensor& array, const report::ArrayStatistics& s) {
  if (s.count == 0) return "no elements";
  const auto text = [](const Scalar& v) { return is_float(v.dtype) ? report::format_significant(v.f, 5) : v.str(); };
  std::string out = is_bool(array.dtype) ? fmt::format("{:.2f} % true", 100 * s.mean)
                                         : fmt::format("min {}   mean {}   max {}", text(s.min),
                                                       report::format_significant(s.mean, 5), text(s.max));
  if (s.nans > 0) out += fmt::format("   {} nan", report::format_count(s.nans));
  if (s.infinities > 0) out += fmt::format("   {} inf", report::format_count(s.infinities));
  return out;
}

nlohmann::ordered_json scalar_json(const Scalar& value) {
  if (is_float(value.dtype)) return report::number(value.f);
  if (is_bool(value.dtype)) return value.as_bool();
  if (is_unsigned_int(value.dtype)) return value.u;
  return value.i;
}

nlohmann::ordered_json output_json(const Tensor& array, const report::ArrayStatistics& s) {
  nlohmann::ordered_json out = {{"dtype", name_of(array.dtype)}, {"shape", array.dims}};
  out["min"] = s.count > 0 ? scalar_json(s.min) : nlohmann::ordered_json(nullptr);
  out["mean"] = s.count > 0 ? report::number(s.mean) : nlohmann::ordered_json(nullptr);
  out["max"] = s.count > 0 ? scalar_json(s.max) : nlohmann::ordered_json(nullptr);
  out["nan"] = s.nans;
  out["inf"] = s.infinities;
  return out;
}

}  // namespace

int run_program(const RunOptions& options) {
  const Output output(options.common);
  const Machine device = find_device_here(options.common);
  const Program program(options.program, false);
  check_outputs(program.graph(), options.outputs);
  const std::vector<Dims> dims = program.dims();
  check_memory(program, dims, device.facts.memory_bytes);
  if (device.is_gpu) check_memory(program, dims, device.gpu_facts.memory_bytes);

  auto progress = std::make_unique<Progress>();
  progress->stage("compiling");
  CompileOptions compile_options;
  compile_options.threads = thread_count(options.common, device);
  compile_options.sizes = program.sizes();
  compile_options.tune = options.tune;
  compile_options.program = program.title();
  compile_options.fallback = fallback_of(options.fallback);
  const Executable executable = compile(program.graph_for(device, compile_options.sizes), device, compile_options);
  if (executable.interpreted() && compile_options.fallback == Fallback::Warn)
    output.note("note: there is no compiler, so the reference interpreter runs the program, slowly\n  " +
                device.missing);
  progress->stage("making inputs");
  const std::vector<Tensor> arrays = program.arrays();
  progress->stage("running");
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Tensor> results = executable.run({arrays.begin(), arrays.end()});
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::vector<report::NpyOutput> files;
  for (size_t o = 0; o < options.outputs.size(); ++o) files.push_back({options.outputs[o], results[o]});
  if (!files.empty()) progress->stage("writing");
  report::write_npy(files);
  progress.reset();

  nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
  const bool look = files.empty() || !options.common.json.empty();
  for (size_t o = 0; o < results.size(); ++o) {
    const Tensor& result = results[o];
    const std::string name = results.size() > 1 ? fmt::format("output {}: ", o + 1) : "";
    const std::string type = output.style().bold(report::describe_type(result.dtype, result.dims));
    const report::ArrayStatistics statistics = look ? report::statistics_of(result) : report::ArrayStatistics{};
    if (files.empty()) {
      output.text(
          fmt::format("{}{}   {}\n{}\n", name, type, statistics_text(result, statistics), report::short_view(result)));
    } else {
      output.text(fmt::format("{}{}   written to {}\n", name, type, options.outputs[o]));
    }
    if (!look) continue;
    outputs.push_back(output_json(result, statistics));
    if (!files.empty()) outputs.back()["file"] = options.outputs[o];
  }
  output.json({{"program", program.title()},
               {"device", device.name},
               {"threads", compile_options.threads},
               {"interpreted", executable.interpreted()},
               {"sizes", report::sizes_json(compile_options.sizes)},
               {"kernels", executable.plan().groups.size()},
               {"compile_ms", executable.compile_ms()},
               {"cache", {{"hits", executable.cache_use().hits}, {"misses", executable.cache_use().misses}}},
               {"run_ms", ms},
               {"outputs", outputs}});
  return kFine;
}

}  // namespace smelt::tool

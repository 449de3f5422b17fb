// smelt explain: what became one kernel, what did not, and why.
#include "report/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "arguments.hpp"
#include "progress.hpp"
#include "report/depth.hpp"
#include "report/json.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

constexpr const char* kStages[] = {"graph", "plan", "kernel", "source", "asm", "ptx", "sass"};

void check_stages(const std::vector<std::string>& stages) {
  for (const std::string& stage : stages)
    if (!is_stage_of_kernels(stage) && std::find(std::begin(kStages), std::end(kStages), stage) == std::end(kStages))
      throw UserError(
          fmt::format("--dump: there is no stage \"{}\"\nhelp: one or more of graph,plan,passes,after:PASS,"
                      "kernel,source,asm,ptx,sass; passes lists the names",
                      report::printable(stage, 40)));
}

// Stages and depths are printed in place of the explanation; --json has both.
void refuse_idle(const ExplainOptions& options) {
  if (options.no_fuse && options.depth)
    throw UserError("--depth measures how much to fuse, and --no-fuse fuses nothing\nhelp: leave one of them out");
  const char* instead = !options.dump.empty() ? "--dump" : options.depth ? "--depth" : nullptr;
  if (!instead || !options.common.json.empty()) return;
  const std::pair<const char*, bool> given[] = {
      {"--edges", options.edges}, {"--measure", options.measure}, {"--candidates", options.candidates}};
  for (const auto& [name, is_given] : given)
    if (is_given)
      throw UserError(
          fmt::format("{} changes nothing beside {}, which prints something else\nhelp: leave one of them "
                      "out, or add --json",
                      name, instead));
}

// A bug in a late stage must not hide what the early ones made: that is what a report of it needs.
Executable compile_or_dump(const Graph& graph, const Machine& device, const CompileOptions& options,
                           const std::vector<std::string>& stages, const Output& output) {
  try {
    return compile(graph, device, options);
  } catch (const InternalError&) {
    for (const std::string& stage : stages)
      if (stage == "graph") output.text("---- graph, before it is simplified\n" + print(graph));
    throw;
  }
}

// Calls `measured` with how to measure, after seeing that there is room for the inputs.
template <class F>
auto with_progress(const CommonOptions& common, const Program& program, const Machine& device, int threads,
                   const F& measured) {
  check_memory(program, program.dims(), device.facts.memory_bytes);
  if (device.is_gpu) check_memory(program, program.dims(), device.gpu_facts.memory_bytes);
  Progress progress(common);
  report::BenchOptions bench_options;
  bench_options.threads = threads;
  bench_options.time_limit_s = 0.5;
  bench_options.progress = [&](const std::string& what) { progress.stage(what); };
  bench_options.progress("making inputs");
  return measured(bench_options);
}

}  // namespace

int run_explain(const ExplainOptions& options) {
  const Output output(options.common);
  check_stages(options.dump);
  refuse_idle(options);
  const Machine device =
      options.measure || options.tune || options.depth ? find_device_here(options.common) : find_device(options.common);
  if ((options.measure || options.depth) && !device.compiles())
    throw UserError("a measurement needs the compiler: " + device.missing);
  const Program program(options.program, true);
  CompileOptions compile_options;
  compile_options.threads = thread_count(options.common, device);
  compile_options.sizes = program.sizes();
  compile_options.fuse = !options.no_fuse;
  compile_options.tune = options.tune;
  compile_options.fallback = Fallback::Allow;  // nothing runs
  const Graph graph = program.graph_for(device, compile_options.sizes);
  auto progress = std::make_unique<Progress>(options.common);
  progress->stage(options.tune ? "tuning" : "compiling");
  const Executable executable = compile_or_dump(graph, device, compile_options, options.dump, output);
  progress->stage("predicting");

  report::Explanation explanation = report::explanation_of(
      program.title(), executable, executable.plan(), compile_options.sizes, executable.built(compile_options.sizes));
  explanation.outlook = executable.outlook(compile_options.sizes);
  explanation.all_edges = options.edges;
  progress.reset();
  if (!executable.interpreted()) explanation.temporary_bytes = executable.temporary_bytes(compile_options.sizes);
  if (options.measure)
    explanation.times = with_progress(
        options.common, program, device, compile_options.threads,
        [&](const report::BenchOptions& how) { return report::measure_kernels(executable, program.arrays(), how); });
  if (options.candidates) explanation.considered = executable.considered(compile_options.sizes, options.measure);
  nlohmann::ordered_json json = report::to_json(explanation);
  if (options.depth) {
    const report::Depths depths =
        with_progress(options.common, program, device, compile_options.threads, [&](const report::BenchOptions& how) {
          return report::measure_depths(graph, device, compile_options, program.arrays(), how);
        });
    output.text(report::to_text(depths, output.style()));
    json["depth"] = report::to_json(depths);
  } else if (options.dump.empty()) {
    output.text(report::to_text(explanation, output.style()));
  }
  for (const std::string& stage : options.dump) {
    const std::string text = executable.dump(stage);
    const std::string title = options.dump.size() > 1 ? output.style().bold("---- " + stage) + "\n" : "";
    output.text(title + text + (text.empty() || text.back() == '\n' ? "" : "\n"));
    json["dump"][stage] = text;
  }
  report::add_build(json, executable);
  if (!device.compiles())
    output.note("note: there is no compiler, so there are no kernels to look at\n  " + device.missing);
  output.json(json);
  return kFine;
}

}  // namespace smelt::tool

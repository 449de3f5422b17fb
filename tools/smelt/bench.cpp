// smelt bench: fused against unfused against a copy, checked against the reference.
#include <fmt/format.h>

#include <algorithm>

#include "arguments.hpp"
#include "progress.hpp"
#include "report/bench_text.hpp"
#include "report/file.hpp"
#include "report/json.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

// The sizes to measure, each in addition to --size; one empty entry without --sweep.
std::vector<SizeBinding> sizes_to_measure(const BenchCommand& options, const Program& program,
                                          std::optional<Symbol>& symbol) {
  if (options.sweep.empty()) return {{}};
  const report::SizeSweep sweep = report::parse_sweep(options.sweep);
  symbol = Symbol::size(sweep.name);
  if (!program.has_size(*symbol)) throw UserError(program.no_such_size("--sweep " + sweep.name, *symbol));
  std::vector<SizeBinding> all;
  for (const int64_t size : sweep.sizes) {
    all.push_back({{*symbol, size}});
    const SizeBinding bound = program.sizes(all.back());
    const auto found = bound.find(*symbol);
    if (found == bound.end() || found->second != size) {
      throw UserError(
          fmt::format("--sweep {}: no input has a size of that name that can vary\n"
                      "help: name it in a type: -i x=f32[{},1024]",
                      sweep.name, sweep.name));
    }
  }
  return all;
}

}  // namespace

int run_bench(const BenchCommand& options) {
  const Output output(options.common);
  check_ending("--plot", options.plot, ".svg", "a picture is an SVG file");
  const Machine device = find_device_here(options.common);
  if (!device.compiles()) throw UserError("a benchmark needs the compiler: " + device.missing);
  const Program program(options.program, true);
  std::optional<Symbol> symbol;
  const std::vector<SizeBinding> sizes = sizes_to_measure(options, program, symbol);
  for (const SizeBinding& s : sizes) {
    check_memory(program, program.dims(s), device.facts.memory_bytes);
    if (device.is_gpu) check_memory(program, program.dims(s), device.gpu_facts.memory_bytes);
    if (!options.no_check && !options.fused_only)
      check_reference_memory(program, program.dims(s), device.facts.memory_bytes);
  }

  CompileOptions compile_options;
  compile_options.threads = thread_count(options.common, device);
  compile_options.sizes = program.sizes(sizes.back());
  compile_options.tune = options.tune;
  const report::BenchTitle title = report::title_of(program.title(), device, compile_options.threads);
  auto progress = std::make_unique<Progress>(options.common);
  progress->stage(options.tune ? "tuning" : "compiling");
  const Graph graph = program.graph_for(device, compile_options.sizes, symbol);
  const Executable fused = compile(graph, device, compile_options);
  compile_options.fuse = false;
  std::optional<Executable> unfused;
  if (!options.fused_only) unfused = compile(graph, device, compile_options);

  std::vector<report::BenchResult> results;
  for (const SizeBinding& s : sizes) {
    const std::string place = s.empty() ? "" : fmt::format("{}={}: ", *symbol, s.begin()->second);
    report::BenchOptions bench_options;
    bench_options.threads = compile_options.threads;
    bench_options.time_limit_s = options.time_limit_s;
    bench_options.check = !options.no_check;
    bench_options.progress = [&](const std::string& what) { progress->stage(place + what); };
    bench_options.progress("making inputs");
    results.push_back(report::bench(fused, unfused ? &*unfused : nullptr, device, program.arrays(s), bench_options));
  }
  progress.reset();

  output.text(!symbol ? report::bench_table(title, results[0], output.style())
                      : report::sweep_table(title, *symbol, program.describe_inputs(symbol, compile_options.sizes),
                                            results, output.style()));
  if (!options.plot.empty()) {
    report::write_text(options.plot, report::bench_chart(title, results));
    output.text(fmt::format("picture: {}\n", options.plot));
  }
  output.json(report::to_json(title, results));
  const bool right =
      std::all_of(results.begin(), results.end(), [](const auto& r) { return !r.checked || r.accuracy.correct; });
  return right ? kFine : kCheckFailed;
}

}  // namespace smelt::tool

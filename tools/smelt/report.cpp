// smelt report: one page that shows what fusion did to a program.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "arguments.hpp"
#include "profile.hpp"
#include "progress.hpp"
#include "report/file.hpp"
#include "report/json.hpp"
#include "report/page.hpp"
#include "report/units.hpp"
#include "report_serve.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

constexpr int64_t kLargestDocument = 256 << 20;
// Kernels that are measured by themselves.
constexpr size_t kMostMeasured = 24;

bool can_run(const ReportOptions& options, const Machine& device) {
  return !options.no_run && device.compiles() && (!device.is_gpu || device.gpu);
}

// A word as a shell takes it.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_@%+=:,./-[]") == std::string::npos;
  return plain ? word : shell_quoted(word);
}

std::string command_text(const ReportOptions& options) {
  std::string text = "smelt report " + quoted(options.program.program);
  for (const std::string& input : options.program.inputs) text += " -i " + quoted(input);
  for (const std::string& size : options.program.sizes) text += " --size " + quoted(size);
  if (options.common.device != "auto") text += " --device " + options.common.device;
  return text;
}

// What a failed build leaves: the plan, as it is without a compiler.
Executable planned_only(const Graph& graph, Machine device, CompileOptions options) {
  device.llvm = nullptr;
  device.is_gpu = false;
  options.fallback = Fallback::Allow;
  return compile(graph, device, options);
}

void measure_all(const ReportOptions& options, const Machine& device, const Graph& graph,
                 const CompileOptions& compile_options, const Executable& unfused, Progress& progress,
                 report::PageInput& page) {
  report::BenchOptions how;
  how.threads = compile_options.threads;
  how.time_limit_s = options.time_limit_s;
  how.progress = [&](const std::string& what) { progress.stage(what); };
  how.progress("running");
  const std::vector<TensorView> views = report::views_of(page.arrays);
  page.fused_results = page.executable.run(views);
  page.unfused_results = unfused.run(views);
  page.bench = report::bench(page.executable, &unfused, device, page.arrays, how);
  if (page.executable.plan().groups.size() <= kMostMeasured)
    page.explanation.times = report::measure_kernels(page.executable, page.arrays, how);
  if (options.depth) page.depths = report::measure_depths(graph, device, compile_options, page.arrays, how);
}

nlohmann::ordered_json document(const ReportOptions& options) {
  const Machine device = find_device(options.common);
  if (options.profile && !device.gpu)
    throw UserError("--profile reads the counters of a GPU, and there is none here\nhelp: leave it out");
  const Program program(options.program, true);
  CompileOptions compile_options;
  compile_options.threads = thread_count(options.common, device);
  compile_options.sizes = program.sizes();
  compile_options.tune = options.tune;
  compile_options.fallback = Fallback::Allow;
  const Graph graph = program.graph_for(device, compile_options.sizes);
  Progress progress(options.common);
  progress.stage(options.tune ? "tuning" : "compiling");
  std::string problem;
  std::optional<Executable> fused, unfused;
  try {
    fused = compile(graph, device, compile_options);
  } catch (const InternalError& e) {
    problem = e.what();
    fused = planned_only(graph, device, compile_options);
  }
  report::PageInput page{report::explanation_of(program.title(), *fused, fused->plan(), compile_options.sizes,
                                                fused->built(compile_options.sizes)),
                         *fused};
  page.text = program.text();
  page.command = command_text(options);
  page.problem = problem;
  page.inputs = program.describe_inputs({}, compile_options.sizes);
  page.title = report::title_of(program.title(), device, compile_options.threads);
  report::Explanation& e = page.explanation;
  progress.stage("predicting");
  e.outlook = fused->outlook(compile_options.sizes);
  if (!e.interpreted) e.temporary_bytes = fused->temporary_bytes(compile_options.sizes);
  // With very many kernels the candidates of each are left out.
  if (!e.interpreted && fused->plan().groups.size() <= kMostMeasured)
    e.considered = fused->considered(compile_options.sizes, false);
  if (can_run(options, device) && problem.empty()) {
    check_memory(program, program.dims(), device.facts.memory_bytes);
    check_reference_memory(program, program.dims(), device.facts.memory_bytes);
  }
  if (!options.no_run) {
    progress.stage("making inputs");
    page.arrays = program.arrays();
  }
  if (!e.interpreted) {
    progress.stage("compiling, unfused");
    CompileOptions one_by_one = compile_options;
    one_by_one.fuse = false;
    one_by_one.tune = false;
    constexpr size_t kMostOperations = 1000;  // each of which is a kernel
    if (graph.nodes.size() <= kMostOperations) unfused = compile(graph, device, one_by_one);
    page.unfused = unfused ? &*unfused : nullptr;
  }
  if (can_run(options, device) && unfused) try {
      measure_all(options, device, graph, compile_options, *unfused, progress, page);
    } catch (const UserError& error) {  // an index that is out of range for data that is made up
      page.problem = error.what();
    }
  if (options.profile) page.profile = count_program({options.common, options.program, ""}, program, device, progress);
  progress.stage("writing");
  return report::page_json(page);
}

void write_page(const ReportOptions& options, const nlohmann::ordered_json& json) {
  if (options.assets.empty()) return report::write_text(options.output, report::page_html(json));
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path assets = options.assets;
  report::write_text((assets / "page.css").string(), report::page_style());
  report::write_text((assets / "page.js").string(), report::page_script());
  const fs::path folder = fs::path(options.output).parent_path();
  const std::string beside = fs::relative(assets, folder.empty() ? "." : folder, ignored).generic_string();
  report::write_text(options.output, report::page_html(json, beside + "/page.css", beside + "/page.js"));
}

nlohmann::ordered_json read_document(const std::string& path) {
  try {
    auto json = nlohmann::ordered_json::parse(report::read_text(path, kLargestDocument));
    if (json.value("schema", "") == "smelt.report") return json;
  } catch (const nlohmann::json::exception&) {  // told below
  }
  throw UserError(
      fmt::format("{} is no document of smelt report\nhelp: write one with --json FILE", report::printable(path)));
}

// A program with an error has a page too, which shows it and reloads when it is fixed.
std::string served_page(const ReportOptions& options, int version) {
  try {
    return report::page_html(options.from.empty() ? document(options) : read_document(options.from), version);
  } catch (const Error& e) {
    return report::page_html({{"schema", "smelt.report"}, {"version", {1, 0}}, {"error", e.what()}}, version);
  }
}

}  // namespace

int run_report(const ReportOptions& options) {
  const Output output(options.common);
  if (options.from.empty() == options.program.program.empty())
    throw UserError("smelt report needs a program, or --from with a document\nhelp: smelt report --help");
  if (options.serve >= 0)
    return serve_pages({options.serve, options.from.empty() ? options.program.program : options.from,
                        [&](int version) { return served_page(options, version); }});
  if (options.output.empty() && options.common.json.empty())
    throw UserError("smelt report writes a page, and no file is named\nhelp: -o report.html, or --serve");
  if (!options.output.empty()) check_ending("-o", options.output, ".html", "a page is an HTML file");
  const nlohmann::ordered_json json = options.from.empty() ? document(options) : read_document(options.from);
  if (!options.output.empty()) {
    write_page(options, json);
    output.text(fmt::format("page: {}\n", options.output));
  }
  output.json(json);
  return kFine;
}

}  // namespace smelt::tool

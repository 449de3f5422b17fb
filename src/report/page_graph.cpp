#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "report/page_parts.hpp"
#include "report/traffic.hpp"
#include "report/units.hpp"
#include "schedule/computing.hpp"
#include "smelt/error.hpp"

namespace smelt::report {
namespace {

using nlohmann::ordered_json;

std::string_view kind_of(const Graph& graph, NodeId id, bool computes) {
  const NodeKind kind = graph.at(id).kind;
  if (kind == NodeKind::Input) return "input";
  if (computes) return "compute";
  return is_view(kind) ? "view" : "constant";
}

ordered_json node_json(const Graph& graph, NodeId id, bool computes, const SizeBinding& sizes) {
  const Node& node = graph.at(id);
  ordered_json out = {{"id", id},
                      {"op", operation_of(node)},
                      {"kind", kind_of(graph, id, computes)},
                      {"label", printable(node.label, 80)},
                      {"dtype", name_of(node.dtype)},
                      {"shape", evaluate(node.shape, sizes)},
                      {"bytes", bytes_of(graph, id, sizes)},
                      {"args", node.args}};
  if (node.kind == NodeKind::Input) out["name"] = printable(node.name, 80);
  if (node.kind == NodeKind::Constant) out["value"] = node.constant.str();
  if (!node.axes.empty()) out["axes"] = node.axes;
  if (node.origin.line) {
    out["line"] = node.origin.line;
    out["column"] = node.origin.column;
    out["length"] = node.origin.length;
    if (node.origin.file) out["file"] = node.origin.file;
  }
  return out;
}

}  // namespace

// Operations with one label and one place in the text are of one call.
ordered_json page_graph(const Graph& graph, const SizeBinding& sizes) {
  const std::vector<bool> computing = schedule::computing_nodes(graph);
  std::map<std::tuple<std::string, int, int, const char*>, size_t> call_of;
  ordered_json nodes = ordered_json::array(), calls = ordered_json::array();
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    const Node& node = graph.at(id);
    ordered_json made = node_json(graph, id, computing[i], sizes);
    // Operators stand for themselves: those of a + b + c have one place.
    const bool is_word = !node.label.empty() && std::isalpha(static_cast<unsigned char>(node.label[0])) != 0;
    if (computing[i] && is_word && node.kind != NodeKind::Input) {
      const auto key = std::tuple(node.label, node.origin.line, node.origin.column, node.origin.file);
      const auto [call, fresh] = call_of.try_emplace(key, calls.size());
      if (fresh)
        calls.push_back(
            {{"label", printable(node.label, 80)}, {"line", node.origin.line}, {"nodes", ordered_json::array()}});
      calls[call->second]["nodes"].push_back(id);
      made["call"] = call->second;
    }
    nodes.push_back(std::move(made));
  }
  return {{"nodes", nodes}, {"calls", calls}, {"inputs", graph.inputs}, {"outputs", graph.outputs}};
}

ordered_json page_steps(const PageInput& input) {
  constexpr size_t kMostStates = 240;
  ordered_json steps = ordered_json::array(), states = ordered_json::array();
  for (const plan::Step& step : input.explanation.plan.steps) {
    ordered_json made = {{"pass", step.pass}, {"into", step.into}};
    if (step.kind == plan::Step::Kind::Merge)
      made["from"] = step.from;
    else
      made["copies"] = step.copies;
    steps.push_back(std::move(made));
  }
  for (const plan::ReplayState& state : input.executable.replay(input.explanation.sizes, kMostStates)) {
    ordered_json made = {{"steps", state.steps}, {"kernels", state.kernels}, {"bytes", state.bytes}};
    made["predicted_ms"] = state.us ? ordered_json(1e-3 * *state.us) : ordered_json(nullptr);
    states.push_back(std::move(made));
  }
  return {{"steps", steps}, {"states", states}};
}

// [line of the text, from 0, line of the source]: from there on, until the next. Most lines come
// from that of the line before.
static ordered_json runs_of(const std::vector<int>& lines, size_t shown) {
  ordered_json runs = ordered_json::array();
  int last = 0;
  for (size_t n = 0; n < std::min(shown, lines.size()); ++n) {
    if (lines[n] == last) continue;
    last = lines[n];
    runs.push_back({n, last});
  }
  return runs;
}

ordered_json page_texts(const PageInput& input) {
  // Longer ones are cut at a line: a browser shows no more of them at a time than a screen.
  constexpr size_t kMostText = 300'000;
  ordered_json texts = ordered_json::array();
  const auto add = [&](const char* stage, const char* title, std::string text) {
    ordered_json made = {{"stage", stage}, {"title", title}};
    if (text.size() > kMostText) {
      const size_t end = text.rfind('\n', kMostText);
      made["left_out"] = std::count(text.begin() + static_cast<int64_t>(end), text.end(), '\n');
      text.resize(end + 1);
    }
    made["text"] = std::move(text);
    texts.push_back(std::move(made));
  };
  const Executable& e = input.executable;
  add("program", "Program", input.text);
  add("graph", "Graph", e.dump("graph"));
  add("plan", "Plan", e.dump("plan"));
  if (e.interpreted()) return texts;
  const bool gpu = e.device().is_gpu, opencl = e.device().opencl != nullptr;
  add("kernel", "Kernel IR", e.annotated("kernel"));
  add("source", !gpu ? "LLVM IR" : opencl ? "OpenCL C" : "CUDA C++", e.annotated("source"));
  // With very many kernels it takes too long.
  constexpr size_t kMostKernels = 64;
  if (opencl || e.kernels().size() > kMostKernels) return texts;
  try {
    const CodeLines code = e.code_lines();
    add(gpu ? "ptx" : "asm", gpu ? "PTX" : "Assembly", code.text);
    const auto& shown = texts.back()["text"].get_ref<const std::string&>();
    texts.back()["source_lines"] =
        runs_of(code.lines, static_cast<size_t>(std::count(shown.begin(), shown.end(), '\n')));
  } catch (const Error&) {  // the page goes without it
  }
  return texts;
}

}  // namespace smelt::report

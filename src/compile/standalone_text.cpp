#include "compile/standalone_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "base/check.hpp"
#include "emit/cpp.hpp"
#include "emit/cuda.hpp"
#include "emit/llvm_types.hpp"

namespace smelt {
namespace {

// What users wrote, as the rest of a comment's line: a backslash at its end would take in the next
// one.
std::string safe_text(const std::string& text) {
  const std::string safe = emit::comment_text(text);
  return !safe.empty() && safe.back() == '\\' ? safe + " ." : safe;
}

}  // namespace

void check_function_name(const std::string& name) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
  const auto inner = [&](char c) { return letter(c) || std::isdigit(static_cast<unsigned char>(c)); };
  if (name.empty() || name.size() > 60 || !letter(name[0]) || !std::all_of(name.begin(), name.end(), inner))
    throw UserError(
        fmt::format("\"{}\" cannot be the name of a C function\nhelp: letters, digits and _, no digit first", name));
}

StandaloneText::StandaloneText(const Executable& executable, const StandaloneOptions& options)
    : executable_(executable), graph_(executable.graph()), options_(options), symbols_(graph_.size_symbols()) {
  Binder binder(graph_, slots_);
  std::map<std::string, size_t> known;
  const auto add = [&](const kernel::Kernel& kernel, const std::string& key, Launch launch, auto sizes) {
    const auto [at, fresh] = known.try_emplace(key, codes_.size());
    if (fresh) {
      codes_.push_back(kernel);
      codes_.back().name = fmt::format("k{}", at->second);
    }
    runs_.push_back({at->second, std::move(launch), std::move(sizes)});
  };
  using Sizes = std::vector<std::pair<Symbol, IntExpr>>;
  for (size_t k = 0; k < executable.kernels().size(); ++k) {
    const kernel::Kernel& kernel = executable.kernels()[k];
    const Launch launch = binder.bind(kernel, static_cast<int>(k));
    // Groups that are alike have the name of the first.
    if (!kernel.is_batch()) add(kernel, kernel.name, launch, Sizes{});
    for (size_t i = 0; i < kernel.parts.size(); ++i) {
      const kernel::Part& part = kernel.parts[i];
      const auto body = static_cast<size_t>(part.body);
      add(kernel.bodies[body], fmt::format("{} {}", k, body), launch.parts[i], Sizes(part.sizes));
    }
  }
}

std::string StandaloneText::symbol_name(Symbol symbol) const {
  const auto it = std::find(symbols_.begin(), symbols_.end(), symbol);
  if (it != symbols_.end()) return fmt::format("n{}", it - symbols_.begin());
  SMELT_CHECK(!symbol.is_size(), "the size {} is none of the program's", symbol);
  return symbol == kernel::kLaunchThreads ? "threads" : "launch_" + symbol.name();
}

std::string StandaloneText::integer(const IntExpr& e) const {
  return emit::cpp_integer(e, [this](Symbol s) { return symbol_name(s); });
}

std::string StandaloneText::size_parameters() const {
  std::string text;
  for (size_t i = 0; i < symbols_.size(); ++i) text += fmt::format("{}[[maybe_unused]] int64_t n{}", i ? ", " : "", i);
  return text;
}

std::string StandaloneText::size_names() const {
  std::string text;
  for (size_t i = 0; i < symbols_.size(); ++i) text += fmt::format("{}n{}", i ? ", " : "", i);
  return text;
}

std::string StandaloneText::array(const Binding& b) const {
  switch (b.kind) {
    case Binding::Input: return fmt::format("x{}", b.index);
    case Binding::Output: return fmt::format("y{}", b.index);
    case Binding::Slot: return fmt::format("t{}", b.index);
    case Binding::Error: return "error";
    case Binding::Counter: return "counter";
  }
  return "";
}

std::string StandaloneText::pointer_to(NodeId id) const {
  return emit::c_like::memory_type(emit::cuda_spellings(), graph_.at(id).dtype);
}

std::string StandaloneText::type_text(NodeId id) const {
  const Node& node = graph_.at(id);
  std::vector<std::string> dims;
  for (const IntExpr& d : node.shape) dims.push_back(d.str());
  return dims.empty() ? std::string(name_of(node.dtype))
                      : fmt::format("{}[{}]", name_of(node.dtype), fmt::join(dims, ", "));
}

std::string StandaloneText::comment(const std::string& language, const std::string& returns) const {
  std::string text = fmt::format("// {}: a program fused by smelt {}, as {} that needs nothing of smelt.\n//\n", name(),
                                 SMELT_VERSION, language);
  std::istringstream source(graph_.source);
  for (std::string line; std::getline(source, line);) text += "//     " + safe_text(line) + "\n";
  text += "//\n// Arguments, arrays row by row, in this order:\n";
  for (size_t i = 0; i < graph_.inputs.size(); ++i)
    text += fmt::format("//   x{}: input {}, {}\n", i, safe_text(graph_.at(graph_.inputs[i]).name),
                        safe_text(type_text(graph_.inputs[i])));
  for (size_t i = 0; i < symbols_.size(); ++i)
    text += fmt::format("//   n{}: the size {}\n", i, safe_text(symbols_[i].str()));
  for (size_t i = 0; i < graph_.outputs.size(); ++i)
    text += fmt::format("//   y{0}: output {0}, {1}\n", i, safe_text(type_text(graph_.outputs[i])));
  const std::vector<plan::FusionGroup>& groups = executable_.plan().groups;
  text +=
      returns + fmt::format("//\n// {} kernel{}, what each computes:\n", groups.size(), groups.size() == 1 ? "" : "s");
  for (const plan::FusionGroup& group : groups) {
    std::vector<std::string> labels;
    for (const NodeId id : group.nodes) {
      const std::string& label = graph_.at(id).label;
      if (!label.empty() && std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
    }
    text += fmt::format("//   {}\n", safe_text(fmt::format("{}", fmt::join(labels, ", "))));
  }
  return text;
}

std::string StandaloneText::checks() const {
  std::string text;
  for (size_t i = 0; i < symbols_.size(); ++i) text += fmt::format("  if (n{} < 0) return 1;\n", i);
  for (const Constraint& c : graph_.constraints) {
    const std::string left = integer(c.left), right = integer(c.right);
    switch (c.kind) {
      case Constraint::Equal: text += fmt::format("  if ({} != {}) return 1;\n", left, right); break;
      case Constraint::AtLeast: text += fmt::format("  if ({} < {}) return 1;\n", left, right); break;
      case Constraint::Divisible:
        text += fmt::format("  if ({1} <= 0 || {0} % {1} != 0) return 1;\n", left, right);
        break;
    }
  }
  return text;
}

std::string StandaloneText::launch_sizes(const StandaloneRun& run) const {
  std::string text;
  const auto define = [&](Symbol symbol, const IntExpr& value) {
    text += fmt::format("    [[maybe_unused]] const int64_t {} = {};\n", symbol_name(symbol), integer(value));
  };
  for (const auto& [symbol, size] : run.sizes) define(symbol, size);
  for (const kernel::LaunchSize& s : codes_[run.code].launch_sizes) define(s.symbol, s.value);
  return text;
}

std::string StandaloneText::last_copies(const std::string& format) const {
  std::string text;
  const std::vector<size_t> first = first_outputs(graph_);
  for (size_t o = 0; o < first.size(); ++o) {
    if (first[o] == o) continue;
    const Node& node = graph_.at(graph_.outputs[o]);
    text += fmt::format(fmt::runtime(format), o, first[o],
                        fmt::format("{} * {}LL", integer(count(node.shape)), size_of(node.dtype)));
  }
  return text;
}

}  // namespace smelt

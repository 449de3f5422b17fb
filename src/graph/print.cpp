// The stable text of a graph, and small questions about it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.hpp"
#include "graph/custom_code.hpp"
#include "graph/graph.hpp"

namespace smelt {

std::string_view name_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::Input: return "input";
    case NodeKind::Constant: return "constant";
    case NodeKind::SizeValue: return "size";
    case NodeKind::Iota: return "iota";
    case NodeKind::Random: return "random";
    case NodeKind::Elementwise: return "elementwise";
    case NodeKind::Cast: return "cast";
    case NodeKind::Reduce: return "reduce";
    case NodeKind::Scan: return "scan";
    case NodeKind::Reshape: return "reshape";
    case NodeKind::Permute: return "permute";
    case NodeKind::Broadcast: return "broadcast";
    case NodeKind::Slice: return "slice";
    case NodeKind::Window: return "window";
    case NodeKind::Extend: return "extend";
    case NodeKind::Pad: return "pad";
    case NodeKind::Concat: return "concat";
    case NodeKind::Gather: return "gather";
    case NodeKind::Custom: return "custom";
    case NodeKind::Scatter: return "scatter";
  }
  throw InternalError("a node of no kind");
}

std::string_view name_of(ScatterKind kind) {
  switch (kind) {
    case ScatterKind::Set: return "set";
    case ScatterKind::Add: return "add";
    case ScatterKind::Mul: return "multiply";
    case ScatterKind::Max: return "max";
    case ScatterKind::Min: return "min";
  }
  throw InternalError("a scatter of no kind");
}

std::string_view name_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum: return "sum";
    case ReduceKind::Prod: return "prod";
    case ReduceKind::Max: return "max";
    case ReduceKind::Min: return "min";
    case ReduceKind::Any: return "any";
    case ReduceKind::All: return "all";
    case ReduceKind::ArgMax: return "argmax";
    case ReduceKind::ArgMin: return "argmin";
  }
  throw InternalError("a reduction of no kind");
}

std::string_view name_of(ExtendMode mode) {
  switch (mode) {
    case ExtendMode::Edge: return "edge";
    case ExtendMode::Reflect: return "reflect";
    case ExtendMode::Symmetric: return "symmetric";
    case ExtendMode::Wrap: return "wrap";
  }
  throw InternalError("an extension of no mode");
}

std::string_view name_of_scan(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum: return "cumsum";
    case ReduceKind::Prod: return "cumprod";
    case ReduceKind::Max: return "cummax";
    case ReduceKind::Min: return "cummin";
    default: throw InternalError("a scan of no kind");
  }
}

static std::string_view name_of(GatherMode mode) {
  switch (mode) {
    case GatherMode::Check: return "check";
    case GatherMode::Clamp: return "clamp";
    case GatherMode::Wrap: return "wrap";
    case GatherMode::Drop: return "drop";
  }
  throw InternalError("a gather of no mode");
}

static std::string name_of(philox::Draw draw) {
  switch (draw) {
    case philox::Draw::Words: return "";
    case philox::Draw::Radii: return " radii";
    case philox::Draw::Turns: return " turns";
  }
  throw InternalError("a draw of no kind");
}

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::Full: return "full";
    case Precision::Tf32: return "tf32";
    case Precision::Bf16x3: return "bf16x3";
  }
  return "";
}

// A name as one word: what is no letter, digit or underscore of ASCII is written as its byte.
static std::string quoted(const std::string& name) {
  std::string text;
  for (char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    text += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text;
}

// What follows the arguments.
static std::string attributes(const Node& node) {
  switch (node.kind) {
    case NodeKind::Input:
      return (node.name.empty() ? "" : " " + quoted(node.name)) +
             (node.steps.empty() ? "" : fmt::format(" strides=[{}]", fmt::join(node.steps, ", ")));
    case NodeKind::Constant: return fmt::format(" {}", node.constant.str());
    case NodeKind::SizeValue: return fmt::format(" {}", node.size.str());
    case NodeKind::Elementwise:
      return node.precision == Precision::Full ? "" : fmt::format(" precision={}", name_of(node.precision));
    case NodeKind::Cast: return node.wrap ? " wrap" : node.stops ? " stops" : "";
    case NodeKind::Reduce: return fmt::format(" axes=[{}]{}", fmt::join(node.axes, ", "), node.local ? " local" : "");
    case NodeKind::Scan:
      return fmt::format(" axis={}{}{}", fmt::join(node.axes, ", "), node.reverse ? " reverse" : "",
                         node.exclusive ? " exclusive" : "");
    case NodeKind::Permute: return fmt::format(" order=[{}]", fmt::join(node.axes, ", "));
    case NodeKind::Random: return name_of(node.draw);
    case NodeKind::Iota:
    case NodeKind::Concat: return fmt::format(" axis={}", fmt::join(node.axes, ", "));
    case NodeKind::Gather:
      return fmt::format(" {}={} mode={}", node.along ? "along" : "axis", fmt::join(node.axes, ", "),
                         name_of(node.gather));
    case NodeKind::Scatter:
      return fmt::format(" {} mode={}{}", name_of(node.scatter), name_of(node.gather), node.atomic ? " atomic" : "");
    case NodeKind::Slice: return fmt::format(" starts={} steps=[{}]", str(node.starts), fmt::join(node.steps, ", "));
    case NodeKind::Window:
      return fmt::format(" axes=[{}] steps=[{}] dilation=[{}]", fmt::join(node.axes, ", "), fmt::join(node.steps, ", "),
                         fmt::join(node.dilation, ", "));
    case NodeKind::Extend: return fmt::format(" mode={} low={}", name_of(node.extend), str(node.starts));
    case NodeKind::Pad: return fmt::format(" low={}", str(node.starts));
    case NodeKind::Custom: return fmt::format(" {} result={}", quoted(node.custom->code->name), node.result);
    case NodeKind::Reshape:
    case NodeKind::Broadcast: return "";
  }
  return "";
}

static std::string_view operation(const Node& node) {
  if (node.kind == NodeKind::Elementwise) return name_of(node.op);
  if (node.kind == NodeKind::Scan) return name_of_scan(node.reduce);
  return node.kind == NodeKind::Reduce ? name_of(node.reduce) : name_of(node.kind);
}

static std::string str(const Constraint& c) {
  switch (c.kind) {
    case Constraint::Equal: return fmt::format("require {} == {}", c.left.str(), c.right.str());
    case Constraint::AtLeast: return fmt::format("require {} >= {}", c.left.str(), c.right.str());
    case Constraint::Divisible: return fmt::format("require ({}) % ({}) == 0", c.left.str(), c.right.str());
  }
  return "";
}

std::string place_text(const Origin& origin) {
  if (origin.line == 0) return "";
  return origin.file ? fmt::format("\n  at {}:{}", origin.file, origin.line) : fmt::format(" (line {})", origin.line);
}

std::string print(const Graph& graph) {
  std::string text;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    text += fmt::format("%{} = {} {}{}", id, operation(node), name_of(node.dtype),
                        node.shape.empty() ? "" : str(node.shape));
    for (NodeId arg : node.args) text += fmt::format(" %{}", arg);
    text += attributes(node) + "\n";
  }
  for (const Constraint& c : graph.constraints) text += str(c) + "\n";
  text += "return";
  for (NodeId id : graph.outputs) text += fmt::format(" %{}", id);
  return text + "\n";
}

std::vector<Symbol> Graph::size_symbols() const {
  std::vector<Symbol> symbols;
  for (NodeId id : inputs)
    for (const IntExpr& size : at(id).shape) size.collect_symbols(symbols);
  return symbols;
}

int64_t local_elements(const Graph& graph, const Node& reduce) {
  int64_t n = 1;
  for (int axis : reduce.axes) n *= graph.at(reduce.args[0]).shape[static_cast<size_t>(axis)].constant().value();
  return n;
}

std::vector<int> use_counts(const Graph& graph) {
  std::vector<int> counts(graph.nodes.size(), 0);
  for (const Node& node : graph.nodes)
    for (NodeId arg : node.args) ++counts[static_cast<size_t>(arg)];
  for (NodeId id : graph.outputs) ++counts[static_cast<size_t>(id)];
  return counts;
}

}  // namespace smelt

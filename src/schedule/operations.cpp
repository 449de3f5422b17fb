#include "schedule/operations.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "base/tensor.hpp"

namespace smelt::schedule {

int cost_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::Elementwise: {
      if (!info(node.op).llvm_float.empty() && is_float(node.dtype))
        return node.op == Op::Div || node.op == Op::Sqrt ? 4 : 1;
      if (node.op >= Op::Cbrt && node.op <= Op::Erfc) return 20;
      return node.op == Op::Pow ? 40 : node.op == Op::FloorDiv || node.op == Op::Mod || node.op == Op::Fmod ? 10 : 2;
    }
    case NodeKind::Reduce:
    case NodeKind::Scan:
    case NodeKind::Cast:
    case NodeKind::Pad:
    case NodeKind::Concat: return 1;
    case NodeKind::Gather: return 4;
    case NodeKind::Random: return 20;
    default: return 0;
  }
}

int instructions_of(const Node& node) {
  if (node.kind == NodeKind::Random) return 40;
  if (node.kind != NodeKind::Elementwise) return 1;
  const bool wide = node.dtype == DType::F64, floating = is_float(node.dtype);
  if (node.op >= Op::Cbrt && node.op <= Op::Erfc) return wide ? 120 : 60;
  switch (node.op) {
    case Op::Pow: return wide ? 190 : 100;
    case Op::FloorDiv:
    case Op::Mod:
    case Op::Fmod: return floating ? 80 : 20;
    case Op::Max:
    case Op::Min: return floating ? 8 : 1;
    default: return 1;
  }
}

int evaluation_cost(const Node& node) {
  constexpr int kGather = 16, kDivision = 50;
  if (node.kind == NodeKind::Gather) return kGather;
  const bool divides = node.kind == NodeKind::Elementwise && (node.op == Op::FloorDiv || node.op == Op::Mod);
  return divides && !is_float(node.dtype) && size_of(node.dtype) == 8 ? kDivision : cost_of(node);
}

int repeat_cost(const Graph& graph, const Node& node) {
  if (node.local) return static_cast<int>(local_elements(graph, node));
  if (node.kind == NodeKind::Random) return 20;
  if (node.kind != NodeKind::Elementwise) return 1;
  return node.op >= Op::Cbrt && node.op <= Op::Erfc ? 20 : node.op == Op::Pow ? 40 : is_float(node.dtype) ? 2 : 1;
}

int64_t operations_of(const Graph& graph, const std::vector<NodeId>& nodes, const SizeBinding& sizes) {
  int64_t sum = 0;
  for (const NodeId id : nodes) {
    const Node& node = graph.at(id);
    const Shape& shape = graph.at(node.kind == NodeKind::Reduce ? node.args[0] : id).shape;
    sum += cost_of(node) * element_count(evaluate(shape, sizes));
  }
  return sum;
}

// In the units of cost_of, which says 20 for all functions: exponentials and logarithms are the
// cheap ones.
static double operations_of_element(const Node& node) {
  if (node.kind != NodeKind::Elementwise) return cost_of(node);
  const bool cheap = node.op == Op::Exp || node.op == Op::Exp2 || node.op == Op::Log || node.op == Op::Log2;
  return cheap ? 10 : cost_of(node);
}

double operations_behind(const Graph& graph, const Group& group, const SizeBinding& sizes) {
  std::map<NodeId, double, std::greater<>> waiting;  // consumers first
  const auto elements = [&](NodeId id) {
    return static_cast<double>(element_count(evaluate(graph.at(id).shape, sizes)));
  };
  for (const NodeId id : group.outputs) waiting[id] = elements(id);
  double total = 0;
  while (!waiting.empty()) {
    const auto [id, times] = *waiting.begin();
    waiting.erase(waiting.begin());
    const Node& node = graph.at(id);
    const bool member = std::binary_search(group.nodes.begin(), group.nodes.end(), id);
    if (!member && (!is_view(node.kind) || std::binary_search(group.inputs.begin(), group.inputs.end(), id))) continue;
    double below = times;
    if (node.local)
      below *= static_cast<double>(local_elements(graph, node));
    else if (node.kind == NodeKind::Reduce || node.kind == NodeKind::Broadcast)
      below = elements(node.args[0]);
    if (member) total += (node.kind == NodeKind::Reduce ? below : times) * operations_of_element(node);
    for (const NodeId arg : node.args) {
      double& most = waiting[arg];
      most = std::max(most, below);
    }
  }
  return total;
}

}  // namespace smelt::schedule

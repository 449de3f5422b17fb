#include "schedule/operations.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "base/tensor.hpp"

namespace smelt::schedule {

static int cost_of(Op op, DType dtype) {
  if (!info(op).llvm_float.empty() && is_float(dtype)) return op == Op::Div || op == Op::Sqrt ? 4 : 1;
  if (op >= Op::Cbrt && op <= Op::Erfc) return 20;
  return op == Op::Pow ? 40 : op == Op::FloorDiv || op == Op::Mod || op == Op::Fmod ? 10 : 2;
}

int cost_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::Elementwise: return cost_of(node.op, node.dtype);
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

// What a node is evaluated for: a reduction for the elements of its argument.
static const Shape& elements_of(const Graph& graph, NodeId id) {
  const Node& node = graph.at(id);
  return graph.at(node.kind == NodeKind::Reduce ? node.args[0] : id).shape;
}

int64_t operations_of(const Graph& graph, const std::vector<NodeId>& nodes, const SizeBinding& sizes) {
  int64_t sum = 0;
  for (const NodeId id : nodes) {
    const Node& node = graph.at(id);
    sum += cost_of(node) * element_count(evaluate(elements_of(graph, id), sizes));
  }
  return sum;
}

// Whether an integer division is by one number, which becomes multiplications.
static bool divides_by_constant(const Graph& graph, const Node& node) {
  return graph.at(behind_views(graph, node.args[1])).kind == NodeKind::Constant;
}

// Whether it follows from positions and numbers of the program alone, which fit 32 bits.
static bool is_of_positions(const Graph& graph, NodeId id, int depth = 0) {
  constexpr int kDeepest = 6;
  const Node& node = graph.at(behind_views(graph, id));
  if (node.kind == NodeKind::Iota || node.kind == NodeKind::Constant) return true;
  return depth < kDeepest && (node.kind == NodeKind::Elementwise || node.kind == NodeKind::Cast) &&
         std::all_of(node.args.begin(), node.args.end(),
                     [&](NodeId arg) { return is_of_positions(graph, arg, depth + 1); });
}

static double division_cost(const Graph& graph, const Node& node, const OperationCosts& costs) {
  const bool wide = size_of(node.dtype) == 8 && !is_of_positions(graph, node.args[0]);
  if (divides_by_constant(graph, node)) return wide ? costs.wide_by_constant : costs.by_constant;
  return wide ? costs.wide_by_any : costs.by_any;
}

static bool divides_integers(const Node& node) {
  return node.kind == NodeKind::Elementwise && !is_float(node.dtype) &&
         (node.op == Op::FloorDiv || node.op == Op::Mod || node.op == Op::Fmod);
}

double operations_of_element(const Graph& graph, const Node& node, const OperationCosts& costs) {
  const double expected = cost_of(node);
  if (expected == 0) return 0;
  if (divides_integers(node)) return division_cost(graph, node, costs);
  const Calibration& numbers = *costs.numbers;
  const DType dtype = node.args.empty() ? node.dtype : graph.at(node.args.back()).dtype;
  const bool wide = size_of(dtype) == 8 || size_of(node.dtype) == 8,
             converts = (dtype == DType::F64) != (node.dtype == DType::F64);
  if (node.kind == NodeKind::Cast && converts) return expected * std::max(costs.converting, numbers.of(Fact::Wide));
  const double slower = is_float(dtype) && wide ? costs.wide : 1;
  const double own = node.kind == NodeKind::Elementwise && is_float(dtype) ? numbers.of(node.op, wide) : 0;
  const auto or_one = [](double number) { return number > 0 ? number : 1; };
  const double computed = slower * (own > 0 ? own : expected * (wide ? or_one(numbers.of(Fact::Wide)) : 1));
  // Values of 16 bits are computed in 32; what their reads and stores take is counted with those.
  const auto converted = [&](DType t) {
    return (t == DType::BF16 && numbers.of(Fact::Bf16) > 0) || (t == DType::F16 && numbers.of(Fact::F16) > 0);
  };
  return node.kind == NodeKind::Cast && (converted(dtype) || converted(node.dtype)) ? 0 : computed;
}

double operations_of(const Graph& graph, const std::vector<NodeId>& nodes, const SizeBinding& sizes,
                     const OperationCosts& costs) {
  double sum = 0;
  for (const NodeId id : nodes) {
    const Node& node = graph.at(id);
    sum += operations_of_element(graph, node, costs) *
           static_cast<double>(element_count(evaluate(elements_of(graph, id), sizes)));
  }
  return sum;
}

// Calls each(node, evaluations) for what a group computes.
template <class Each>
static void for_evaluations(const Graph& graph, const Group& group, const SizeBinding& sizes, const Each& each) {
  std::map<NodeId, double, std::greater<>> waiting;  // consumers first
  const auto elements = [&](NodeId id) {
    return static_cast<double>(element_count(evaluate(graph.at(id).shape, sizes)));
  };
  for (const NodeId id : group.outputs) waiting[id] = elements(id);
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
    if (member) each(node, node.kind == NodeKind::Reduce ? below : times);
    for (const NodeId arg : node.args) {
      double& most = waiting[arg];
      // An element of what is joined is in one part.
      const double own = node.kind == NodeKind::Concat ? below * elements(arg) / std::max(1.0, elements(id)) : below;
      most = std::max(most, own);
    }
  }
}

double operations_behind(const Graph& graph, const Group& group, const SizeBinding& sizes,
                         const OperationCosts& costs) {
  double total = 0;
  for_evaluations(graph, group, sizes,
                  [&](const Node& node, double times) { total += times * operations_of_element(graph, node, costs); });
  return total;
}

double evaluations_behind(const Graph& graph, const Group& group, const SizeBinding& sizes) {
  double total = 0;
  for_evaluations(graph, group, sizes, [&](const Node& node, double times) { total += times * evaluation_cost(node); });
  return total;
}

Work work_behind(const Graph& graph, const Group& group, const SizeBinding& sizes, const OperationCosts& costs) {
  Work work;
  for_evaluations(graph, group, sizes, [&](const Node& node, double times) {
    const double cost = times * operations_of_element(graph, node, costs);
    const bool divides = node.kind == NodeKind::Elementwise && is_float(node.dtype) &&
                         (node.op == Op::Div || node.op == Op::Sqrt || node.op == Op::Reciprocal);
    if (divides) work.divider += cost;
    (cost_of(node) >= kWorthKeeping ? work.expensive : work.cheap) += divides ? times : cost;
  });
  return work;
}

}  // namespace smelt::schedule

#include "schedule/online.hpp"

namespace smelt::schedule {
namespace {

const Node* elementwise(const Graph& graph, NodeId id, Op op) {
  const Node& node = graph.at(id);
  return node.kind == NodeKind::Elementwise && node.op == op ? &node : nullptr;
}

bool is_zero(const Graph& graph, NodeId id) {
  const Node& node = graph.at(id);
  return node.kind == NodeKind::Constant && is_float(node.dtype) && node.constant.f == 0;
}

}  // namespace

std::optional<OnlineSum> online_sum(const Graph& graph, NodeId reduce) {
  const Node& sum = graph.at(reduce);
  if (sum.kind != NodeKind::Reduce || sum.reduce != ReduceKind::Sum || !is_float(sum.dtype)) return std::nullopt;
  const Node* exp = elementwise(graph, sum.args[0], Op::Exp);
  const Node* below = exp ? elementwise(graph, exp->args[0], Op::Sub) : nullptr;
  if (!below) return std::nullopt;
  OnlineSum found;
  found.maximum = behind_views(graph, below->args[1]);
  if (const Node* choice = elementwise(graph, found.maximum, Op::Where)) {
    const NodeId top = behind_views(graph, choice->args[1]);
    const Node* finite = elementwise(graph, behind_views(graph, choice->args[0]), Op::IsFinite);
    if (!finite || behind_views(graph, finite->args[0]) != top || !is_zero(graph, behind_views(graph, choice->args[2])))
      return std::nullopt;
    found = {top, true};
  }
  const Node& maximum = graph.at(found.maximum);
  const bool fits = maximum.kind == NodeKind::Reduce && maximum.reduce == ReduceKind::Max &&
                    maximum.args[0] == below->args[0] && maximum.axes == sum.axes;
  return fits ? std::optional(found) : std::nullopt;
}

}  // namespace smelt::schedule

#include "graph/input_layouts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace smelt {

static bool has_gaps(const Node& node) { return node.kind == NodeKind::Input && !node.steps.empty(); }

Shape strides_of(const Node& node) {
  return has_gaps(node) ? Shape(node.steps.begin(), node.steps.end()) : row_major_strides(node.shape);
}

IntExpr row_apart(const Node& node) {
  if (!has_gaps(node)) return node.shape.back();
  return std::accumulate(node.steps.begin(), node.steps.end() - 1, int64_t{0},
                         [](int64_t a, int64_t b) { return std::gcd(a, b); });
}

// An input with its axes in this order, and the node that restores the program's order.
static std::pair<Node, Node> in_order(const Node& input, const std::vector<int>& order) {
  Node lying = input, shown = input;
  shown.kind = NodeKind::Permute;
  shown.name.clear();
  shown.steps.clear();
  shown.axes.resize(order.size());
  for (size_t d = 0; d < order.size(); ++d) {
    const auto axis = static_cast<size_t>(order[d]);
    lying.shape[d] = input.shape[axis];
    shown.axes[axis] = static_cast<int>(d);
  }
  return {std::move(lying), std::move(shown)};
}

Graph with_input_layouts(const Graph& graph, const std::vector<MemoryLayout>& layouts) {
  if (std::all_of(layouts.begin(), layouts.end(), [](const MemoryLayout& l) { return l.row_major(); })) return graph;
  Graph result;
  result.constraints = graph.constraints;
  result.source = graph.source;
  std::vector<NodeId> made(graph.nodes.size());
  const auto add = [&](Node node) {
    result.nodes.push_back(std::move(node));
    return static_cast<NodeId>(result.nodes.size()) - 1;
  };
  std::vector<NodeId> inputs(graph.nodes.size(), -1);
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    Node node = graph.nodes[id];
    for (NodeId& arg : node.args) arg = made[static_cast<size_t>(arg)];
    const auto place =
        std::find(graph.inputs.begin(), graph.inputs.end(), static_cast<NodeId>(id)) - graph.inputs.begin();
    const auto i = static_cast<size_t>(place);
    const bool listed = i < graph.inputs.size() && i < layouts.size();
    if (listed) node.steps = layouts[i].strides;
    if (listed && !layouts[i].order.empty()) {
      auto [lying, shown] = in_order(node, layouts[i].order);
      inputs[id] = add(std::move(lying));
      shown.args = {inputs[id]};
      made[id] = add(std::move(shown));
    } else {
      inputs[id] = made[id] = add(std::move(node));
    }
  }
  for (const NodeId id : graph.inputs) result.inputs.push_back(inputs[static_cast<size_t>(id)]);
  for (const NodeId id : graph.outputs) result.outputs.push_back(made[static_cast<size_t>(id)]);
  return result;
}

}  // namespace smelt

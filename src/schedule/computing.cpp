#include "schedule/computing.hpp"

#include <algorithm>

namespace smelt::schedule {

// A number that follows from sizes and constants alone, in a few steps: worked out where it is
// needed, never stored.
static bool is_size_arithmetic(const Graph& graph, NodeId id, int steps = 4) {
  const Node& node = graph.at(id);
  if (steps == 0) return false;
  switch (node.kind) {
    case NodeKind::Constant:
    case NodeKind::SizeValue: return true;
    case NodeKind::Elementwise:
    case NodeKind::Cast:
    case NodeKind::Reshape:
      return node.shape.empty() && std::all_of(node.args.begin(), node.args.end(),
                                               [&](NodeId arg) { return is_size_arithmetic(graph, arg, steps - 1); });
    default: return false;
  }
}

namespace {

template <class IsOutput>
bool computes_given(const Graph& graph, NodeId id, const IsOutput& is_output) {
  switch (graph.at(id).kind) {
    case NodeKind::Elementwise:
    case NodeKind::Cast: return !is_size_arithmetic(graph, id) || is_output();
    case NodeKind::Reduce:
    case NodeKind::Scan:
    case NodeKind::Pad:
    case NodeKind::Concat:
    case NodeKind::Gather:
    case NodeKind::Scatter:
    case NodeKind::Random:
    case NodeKind::Custom: return true;
    case NodeKind::Input:
    case NodeKind::Constant:
    case NodeKind::SizeValue:
    case NodeKind::Iota:
    case NodeKind::Reshape:
    case NodeKind::Permute:
    case NodeKind::Broadcast:
    case NodeKind::Slice:
    case NodeKind::Window:
    case NodeKind::Extend: return is_output();
  }
  return false;
}

}  // namespace

bool Computing::operator()(NodeId id) const {
  constexpr size_t kFew = 16;
  return computes_given(graph_, id, [&] {
    if (++asked_ <= kFew) return std::count(graph_.outputs.begin(), graph_.outputs.end(), id) > 0;
    if (outputs_.empty()) outputs_.insert(graph_.outputs.begin(), graph_.outputs.end());
    return outputs_.count(id) > 0;
  });
}

std::vector<bool> computing_nodes(const Graph& graph) {
  std::vector<bool> is_output(graph.nodes.size()), result(graph.nodes.size());
  for (NodeId id : graph.outputs) is_output[static_cast<size_t>(id)] = true;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    result[i] = computes_given(graph, static_cast<NodeId>(i), [&] { return is_output[i]; });
  return result;
}

}  // namespace smelt::schedule

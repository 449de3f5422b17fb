// A reduction of a reduction of the same kind is one over the axes of both, where nobody else reads
// the first:
//
//   max(max(x, axis=2), axis=1)     ->  max(x, axis=(1, 2))
#include <algorithm>
#include <optional>

#include "graph/simplify_detail.hpp"

namespace smelt {
namespace {

// What is rounded in between would be rounded once.
bool may_join(const Node& inner, const Node& outer) {
  const bool rounds = outer.reduce == ReduceKind::Sum || outer.reduce == ReduceKind::Prod;
  const bool finds = outer.reduce == ReduceKind::ArgMax || outer.reduce == ReduceKind::ArgMin;
  return inner.kind == NodeKind::Reduce && inner.reduce == outer.reduce && inner.dtype == outer.dtype && !inner.local &&
         !outer.local && !finds && !(rounds && is_small_float(outer.dtype));
}

// The axes of the joined reduction, of the argument of `inner`; nothing where the two stay two.
std::optional<std::vector<int>> joined_axes(const Graph& graph, const Node& outer, NodeId inner_id) {
  const Node& inner = graph.at(inner_id);
  std::vector<int> kept, joined = inner.axes;
  for (int d = 0; d < static_cast<int>(graph.at(inner.args[0]).shape.size()); ++d)
    if (!std::binary_search(inner.axes.begin(), inner.axes.end(), d)) kept.push_back(d);
  std::vector<int> axes(kept.size());
  for (size_t d = 0; d < axes.size(); ++d) axes[d] = static_cast<int>(d);
  if (outer.args[0] != inner_id) {
    const auto of_view = simplifying::with_unit_axes(inner.shape, graph.at(outer.args[0]).shape);
    if (!of_view) return std::nullopt;
    axes = *of_view;
  }
  for (int d = 0; d < static_cast<int>(axes.size()); ++d) {
    const int axis = axes[static_cast<size_t>(d)];
    if (!std::count(outer.axes.begin(), outer.axes.end(), d)) {
      if (axis < 0) return std::nullopt;  // an axis of size 1 that stays
    } else if (axis >= 0) {
      joined.push_back(kept[static_cast<size_t>(axis)]);
    }
  }
  std::sort(joined.begin(), joined.end());
  return joined;
}

}  // namespace

Graph join_reductions(Graph graph) {
  const std::vector<int> uses = use_counts(graph);
  const auto used_once = [&](NodeId id) { return uses[static_cast<size_t>(id)] == 1; };
  for (Node& outer : graph.nodes) {
    if (outer.kind != NodeKind::Reduce) continue;
    NodeId inner = outer.args[0];
    if (graph.at(inner).kind == NodeKind::Reshape && used_once(inner)) inner = graph.at(inner).args[0];
    if (!used_once(inner) || !may_join(graph.at(inner), outer)) continue;
    if (auto axes = joined_axes(graph, outer, inner)) {
      outer.axes = std::move(*axes);
      outer.args = graph.at(inner).args;
    }
  }
  return graph;
}

}  // namespace smelt

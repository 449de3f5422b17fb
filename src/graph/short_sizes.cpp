#include "graph/short_sizes.hpp"

namespace smelt {

SizeBinding short_sizes(const Graph& graph, const SizeBinding& sizes) {
  SizeBinding found;
  for (const NodeId id : graph.inputs) {
    const Shape& shape = graph.at(id).shape;
    if (shape.size() < 2) continue;
    const auto symbol = shape.back().as_symbol();
    const auto size = symbol ? sizes.find(*symbol) : sizes.end();
    if (size != sizes.end() && is_short(size->second)) found.insert(*size);
  }
  return found;
}

Graph with_sizes(const Graph& graph, const SizeBinding& sizes) {
  if (sizes.empty()) return graph;
  const std::map<Symbol, IntExpr> values(sizes.begin(), sizes.end());
  const auto known = [&](IntExpr& e) { e = e.substitute(values, {}); };
  Graph result = graph;
  std::map<const CustomUse*, std::shared_ptr<const CustomUse>> uses;  // results of one call stay results of one call
  for (Node& node : result.nodes) {
    for (IntExpr& size : node.shape) known(size);
    for (IntExpr& start : node.starts) known(start);
    known(node.size);
    if (!node.custom) continue;
    std::shared_ptr<const CustomUse>& use = uses[node.custom.get()];
    if (!use) {
      auto copy = std::make_shared<CustomUse>(*node.custom);
      for (CustomUse::Result& made : copy->results)
        for (IntExpr& size : made.shape) known(size);
      use = std::move(copy);
    }
    node.custom = use;
  }
  for (Constraint& c : result.constraints) {
    known(c.left);
    known(c.right);
  }
  return result;
}

}  // namespace smelt

// Scatters into the result of one before, as deposits at the corners of a cell are:
//
//   scatter_add(scatter_add(x, i, u), j, v)  ->  scatter_add(x, stack((i, j), axis=-1), stack((u, v), ..))
//
// Each is complete only when all of its updates are in, so each would be kernels of its own. Sums
// of floats are rounded in another order.
#include <algorithm>
#include <optional>

#include "graph/graph_copy.hpp"

namespace smelt {
namespace {

constexpr size_t kMostInChain = 32;

class ScatterWriter : GraphCopy {
 public:
  explicit ScatterWriter(const Graph& from) : GraphCopy(from), users_(from.nodes.size(), 0) {
    for (const Node& node : from.nodes)
      for (const NodeId arg : node.args) ++users_[static_cast<size_t>(arg)];
    for (const NodeId id : from.outputs) ++users_[static_cast<size_t>(id)];
  }

  std::optional<Graph> run() {
    std::vector<bool> inside(from_.nodes.size(), false);
    bool any = false;
    for (size_t n = from_.nodes.size(); n-- > 0;)
      if (!inside[n] && continues(from_.nodes[n]))
        for (const NodeId id : chain_of(from_.nodes[n])) inside[static_cast<size_t>(id)] = any = true;
    if (!any) return std::nullopt;
    size_t place = 0;
    return copy([&](const Node& node) {
      const bool ends = !inside[place++] && continues(node);
      return ends ? joined(node) : add_as_it_is(node);
    });
  }

 private:
  // Whether it goes on with the updates of its first argument, which nothing else reads.
  bool continues(const Node& node) const {
    if (node.kind != NodeKind::Scatter) return false;
    const Node& before = from_.at(node.args[0]);
    return before.kind == NodeKind::Scatter && users_[static_cast<size_t>(node.args[0])] == 1 &&
           before.scatter == node.scatter && node.scatter != ScatterKind::Set && node.scatter != ScatterKind::Mul &&
           before.gather == node.gather && before.atomic == node.atomic &&
           indices_of(before).dtype == indices_of(node).dtype && indices_of(before).shape == indices_of(node).shape;
  }
  const Node& indices_of(const Node& scatter) const { return from_.at(scatter.args[1]); }

  // The scatters before it that it goes on with, the last one first.
  std::vector<NodeId> chain_of(const Node& last) const {
    std::vector<NodeId> chain;
    for (const Node* node = &last; continues(*node) && chain.size() + 1 < kMostInChain; node = &from_.at(chain.back()))
      chain.push_back(node->args[0]);
    return chain;
  }

  NodeId joined(const Node& last) {
    const std::vector<NodeId> chain = chain_of(last);
    std::vector<NodeId> indices, updates;
    for (auto id = chain.rbegin(); id != chain.rend(); ++id) {
      indices.push_back(written(from_.at(*id).args[1]));
      updates.push_back(written(from_.at(*id).args[2]));
    }
    indices.push_back(written(last.args[1]));
    updates.push_back(written(last.args[2]));
    const size_t axis = indices_of(last).shape.size();
    return add_like(
        Node(last), last.shape,
        {written(from_.at(chain.back()).args[0]), stacked(indices, axis, last), stacked(updates, axis, last)}, last);
  }

  NodeId stacked(const std::vector<NodeId>& parts, size_t axis, const Node& like) {
    std::vector<NodeId> ones;
    const auto place = static_cast<std::ptrdiff_t>(axis);
    Shape shape = at(parts[0]).shape;
    shape.insert(shape.begin() + place, IntExpr(1));
    for (const NodeId part : parts) {
      Node reshape{.kind = NodeKind::Reshape};
      reshape.dtype = at(part).dtype;
      ones.push_back(add_like(std::move(reshape), shape, {part}, like));
    }
    Node concat{.kind = NodeKind::Concat};
    concat.dtype = at(parts[0]).dtype;
    concat.axes = {static_cast<int>(axis)};
    shape[axis] = static_cast<int64_t>(parts.size());
    return add_like(std::move(concat), std::move(shape), std::move(ones), like);
  }

  std::vector<int> users_;
};

}  // namespace

std::optional<Graph> with_joined_scatters(const Graph& graph) { return ScatterWriter(graph).run(); }

}  // namespace smelt

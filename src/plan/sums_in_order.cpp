#include "plan/sums_in_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "graph/build_detail.hpp"
#include "graph/graph_copy.hpp"
#include "schedule/product.hpp"

namespace smelt::plan {
namespace {

class SumsInOrder : GraphCopy {
 public:
  explicit SumsInOrder(const Graph& from) : GraphCopy(from) {}

  std::optional<Graph> run() {
    find();
    if (order_.empty()) return std::nullopt;
    Graph made = copy([&](const Node& node, NodeId id) { return write(node, id); });
    drop_unused(made);
    return made;
  }

 private:
  void find() {
    std::vector<int> users(from_.nodes.size(), 0);
    for (const Node& node : from_.nodes)
      for (const NodeId arg : node.args) ++users[static_cast<size_t>(arg)];
    for (const NodeId id : from_.outputs) ++users[static_cast<size_t>(id)];
    for (size_t i = 0; i < from_.nodes.size(); ++i) {
      if (from_.nodes[i].kind != NodeKind::Permute) continue;
      std::vector<NodeId> casts;
      NodeId id = from_.nodes[i].args[0];
      for (; from_.at(id).kind == NodeKind::Cast && users[static_cast<size_t>(id)] == 1; id = from_.at(id).args[0])
        casts.push_back(id);
      if (schedule::multiplication_of(from_, id) < 0 || users[static_cast<size_t>(id)] != 1) continue;
      order_[id] = from_.nodes[i].axes;
      for (const NodeId cast : casts) order_[cast] = from_.nodes[i].axes;
      order_[static_cast<NodeId>(i)] = {};
    }
  }

  NodeId write(const Node& node, NodeId id) {
    const auto found = order_.find(id);
    if (found == order_.end()) return add_as_it_is(node);
    const std::vector<int>& order = found->second;
    if (node.kind == NodeKind::Permute) return written(node.args[0]);
    Node moved = node;
    moved.shape = in_order(node.shape, order);
    if (node.kind != NodeKind::Reduce) {
      moved.args = {written(node.args[0])};
      return add(std::move(moved));
    }
    // The axes of its argument that stay, in that order, and then those that are summed.
    const Node& product = from_.at(node.args[0]);
    std::vector<int> kept, axes;
    for (int d = 0; d < static_cast<int>(product.shape.size()); ++d)
      if (std::find(node.axes.begin(), node.axes.end(), d) == node.axes.end()) kept.push_back(d);
    for (const int d : order) axes.push_back(kept[static_cast<size_t>(d)]);
    axes.insert(axes.end(), node.axes.begin(), node.axes.end());
    Node multiplication = product;
    multiplication.shape = in_order(product.shape, axes);
    for (NodeId& arg : multiplication.args) {
      const Node& broadcast = from_.at(arg);
      Node view{.kind = NodeKind::Permute}, repeated{.kind = NodeKind::Broadcast};
      view.dtype = repeated.dtype = broadcast.dtype;
      view.axes = axes;
      const NodeId turned = add_like(std::move(view), in_order(from_.at(broadcast.args[0]).shape, axes),
                                     {written(broadcast.args[0])}, broadcast);
      arg = add_like(std::move(repeated), multiplication.shape, {turned}, broadcast);
    }
    moved.axes.resize(node.axes.size());
    std::iota(moved.axes.begin(), moved.axes.end(), static_cast<int>(kept.size()));
    moved.args = {add(std::move(multiplication))};
    return add(std::move(moved));
  }

  static Shape in_order(const Shape& shape, const std::vector<int>& order) {
    Shape made;
    for (const int d : order) made.push_back(shape[static_cast<size_t>(d)]);
    return made;
  }

  std::map<NodeId, std::vector<int>> order_;  // of sums, and of casts of them; of the views themselves nothing
};

}  // namespace

std::optional<Graph> with_sums_in_order(const Graph& graph) { return SumsInOrder(graph).run(); }

}  // namespace smelt::plan

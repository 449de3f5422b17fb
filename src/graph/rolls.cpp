// Rolls by a few elements, as slices of an array that goes on around its ends:
//
//   concat(x[n-1:], x[:n-1])  ->  wrap(x)[0:n], where wrap(x) has one element more in front
//
// All rolls of one array are slices of one continued array, whose rows a stencil keeps
// (schedule/stencil.hpp); a roll by itself is two ranges, which no stencil steps through.
#include <algorithm>
#include <map>

#include "graph/graph_copy.hpp"

namespace smelt {
namespace {

constexpr int64_t kMostShift = 16;

// An array, and by how much it is moved along each axis.
struct Roll {
  NodeId source;
  std::vector<int64_t> shifts;
};

class RollWriter : GraphCopy {
 public:
  explicit RollWriter(const Graph& from) : GraphCopy(from) {
    for (size_t i = 0; i < from.nodes.size(); ++i) find(static_cast<NodeId>(i));
  }

  bool found() const { return !rolls_.empty(); }

  Graph run() {
    NodeId id = 0;
    return copy([&](const Node& node) {
      const auto roll = rolls_.find(id++);
      return roll == rolls_.end() ? add_as_it_is(node) : slice(roll->second, node);
    });
  }

 private:
  struct Halo {
    std::vector<int64_t> front, behind;
    NodeId wrapped = -1;
  };

  bool is_range_along(const Node& slice, size_t axis) const {
    return slice.steps[axis] == 1 && is_whole_but_along(from_, slice, axis);
  }

  // The last `shift` elements along an axis, then the others: by how much that moves x.
  std::optional<int64_t> shift_of(const Node& node) const {
    if (node.kind != NodeKind::Concat || node.args.size() != 2) return std::nullopt;
    const auto axis = static_cast<size_t>(node.axes[0]);
    const Node &last = from_.at(node.args[0]), &others = from_.at(node.args[1]);
    if (last.kind != NodeKind::Slice || others.kind != NodeKind::Slice || last.args != others.args ||
        !(node.shape == from_.at(last.args[0]).shape) || !is_range_along(last, axis) || !is_range_along(others, axis) ||
        !others.starts[axis].is(0) || !(last.starts[axis] + last.shape[axis] == node.shape[axis]))
      return std::nullopt;
    if (const auto up = last.shape[axis].constant(); up && *up <= kMostShift) return *up;
    if (const auto down = others.shape[axis].constant(); down && *down <= kMostShift) return -*down;
    return std::nullopt;
  }

  void find(NodeId id) {
    const Node& node = from_.at(id);
    const auto shift = shift_of(node);
    if (!shift) return;
    const auto axis = static_cast<size_t>(node.axes[0]);
    const NodeId before = from_.at(node.args[0]).args[0];
    const auto around = rolls_.find(before);
    Roll roll = around == rolls_.end() ? Roll{before, std::vector<int64_t>(node.shape.size(), 0)} : around->second;
    roll.shifts[axis] += *shift;
    Halo& halo = halos_[roll.source];
    halo.front.resize(node.shape.size(), 0), halo.behind.resize(node.shape.size(), 0);
    halo.front[axis] = std::max(halo.front[axis], roll.shifts[axis]);
    halo.behind[axis] = std::max(halo.behind[axis], -roll.shifts[axis]);
    rolls_.emplace(id, std::move(roll));
  }

  NodeId slice(const Roll& roll, const Node& like) {
    Halo& halo = halos_.at(roll.source);
    const Shape& shape = from_.at(roll.source).shape;
    if (halo.wrapped < 0) {
      Node wrapped{.kind = NodeKind::Extend};
      wrapped.dtype = like.dtype;
      wrapped.extend = ExtendMode::Wrap;
      wrapped.starts.assign(halo.front.begin(), halo.front.end());
      Shape wide = shape;
      for (size_t d = 0; d < wide.size(); ++d) wide[d] = wide[d] + (halo.front[d] + halo.behind[d]);
      halo.wrapped = add_like(std::move(wrapped), std::move(wide), {written(roll.source)}, like);
    }
    Node node{.kind = NodeKind::Slice};
    node.dtype = like.dtype;
    node.steps.assign(shape.size(), 1);
    for (size_t d = 0; d < shape.size(); ++d) node.starts.push_back(halo.front[d] - roll.shifts[d]);
    return add_like(std::move(node), shape, {halo.wrapped}, like);
  }

  std::map<NodeId, Roll> rolls_;
  std::map<NodeId, Halo> halos_;  // of the arrays that are moved
};

}  // namespace

std::optional<Graph> with_rolls_continued(const Graph& graph) {
  RollWriter writer(graph);
  return writer.found() ? std::optional(writer.run()) : std::nullopt;
}

}  // namespace smelt

// Reductions along an axis that arrays of one element each are joined along:
//
//   sum(stack((a, b * c, d)), axis=0)  ->  0 + a + b * c + d
//
// A loop over that axis would ask every element which array it is of.
#include <algorithm>
#include <optional>

#include "graph/graph_copy.hpp"

namespace smelt {
namespace {

constexpr size_t kMostJoined = 32;

std::vector<std::vector<NodeId>> users_by_node(const Graph& graph) {
  std::vector<std::vector<NodeId>> users(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (const NodeId arg : graph.nodes[i].args) users[static_cast<size_t>(arg)].push_back(static_cast<NodeId>(i));
  return users;
}

bool computes_elements(const Node& node) { return node.kind == NodeKind::Elementwise || node.kind == NodeKind::Cast; }

std::optional<Op> op_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum: return Op::Add;
    case ReduceKind::Prod: return Op::Mul;
    case ReduceKind::Max: return Op::Max;
    case ReduceKind::Min: return Op::Min;
    case ReduceKind::Any: return Op::Or;
    case ReduceKind::All: return Op::And;
    case ReduceKind::ArgMax:
    case ReduceKind::ArgMin: break;
  }
  return std::nullopt;
}

class JoinedWriter : GraphCopy {
 public:
  explicit JoinedWriter(const Graph& from)
      : GraphCopy(from), users_(users_by_node(from)), stored_(from.nodes.size(), false) {
    for (const NodeId id : from.outputs) stored_[static_cast<size_t>(id)] = true;
  }

  std::optional<Graph> run() {
    const auto reduces = [&](const Node& node) { return reduces_joined(node); };
    if (std::none_of(from_.nodes.begin(), from_.nodes.end(), reduces)) return std::nullopt;
    return copy([&](const Node& node) { return reduces_joined(node) ? written_out(node) : add_as_it_is(node); });
  }

 private:
  bool reduces_joined(const Node& node) const {
    if (node.kind != NodeKind::Reduce || node.axes.size() != 1 || !op_of(node.reduce)) return false;
    const auto count = from_.at(node.args[0]).shape[static_cast<size_t>(node.axes[0])].constant();
    return count && *count >= 2 && *count <= static_cast<int64_t>(kMostJoined) && is_joined(node.args[0], node.axes[0]);
  }

  // Whether it is joined along the axis, or computed from what is, and for such reductions alone.
  bool is_joined(NodeId id, int axis) const {
    const Node& node = from_.at(id);
    const std::vector<NodeId>& users = users_[static_cast<size_t>(id)];
    if (stored_[static_cast<size_t>(id)]) return false;
    if (node.kind == NodeKind::Concat) {
      if (node.axes[0] != axis) return false;
      const auto is_one = [&](NodeId part) { return from_.at(part).shape[static_cast<size_t>(axis)].is(1); };
      const auto reduces = [&](NodeId user) {
        const Node& n = from_.at(user);
        return computes_elements(n) || (n.kind == NodeKind::Reduce && n.axes == std::vector<int>{axis});
      };
      return std::all_of(node.args.begin(), node.args.end(), is_one) &&
             std::all_of(users.begin(), users.end(), reduces);
    }
    return computes_elements(node) && users.size() == 1 &&
           std::any_of(node.args.begin(), node.args.end(), [&](NodeId arg) { return is_joined(arg, axis); });
  }

  // Element n along the axis, which stays, with one element.
  NodeId part(NodeId id, size_t axis, int64_t n) {
    const Node& node = from_.at(id);
    if (node.kind == NodeKind::Concat && is_joined(id, static_cast<int>(axis)))
      return written(node.args[static_cast<size_t>(n)]);
    Shape shape = node.shape;
    shape[axis] = 1;
    if (computes_elements(node)) {
      std::vector<NodeId> args;
      for (const NodeId arg : node.args) args.push_back(part(arg, axis, n));
      return add_like(Node(node), std::move(shape), std::move(args), node);
    }
    Node slice{.kind = NodeKind::Slice};
    slice.dtype = node.dtype;
    slice.starts.assign(shape.size(), IntExpr(0));
    slice.starts[axis] = n;
    slice.steps.assign(shape.size(), 1);
    return add_like(std::move(slice), std::move(shape), {written(id)}, node);
  }

  NodeId written_out(const Node& reduce) {
    const Node& x = from_.at(reduce.args[0]);
    const auto axis = static_cast<size_t>(reduce.axes[0]);
    const bool wider =
        is_small_float(reduce.dtype) && (reduce.reduce == ReduceKind::Sum || reduce.reduce == ReduceKind::Prod);
    const DType t = wider ? DType::F32 : reduce.dtype;
    // Products are added with one rounding, as everywhere (docs/numerics.md).
    const bool products = reduce.reduce == ReduceKind::Sum && x.kind == NodeKind::Elementwise && x.op == Op::Mul &&
                          (t == DType::F32 || t == DType::F64) && x.dtype == t;
    NodeId total = -1;
    for (int64_t n = 0; n < *x.shape[axis].constant(); ++n) {
      if (products) {
        const NodeId a = part(x.args[0], axis, n), b = part(x.args[1], axis, n);
        if (total < 0) total = zero_like(a, reduce);
        total = joined(Op::Fma, {a, b, total}, reduce);
        continue;
      }
      NodeId next = part(reduce.args[0], axis, n);
      if (wider) next = converted(next, t, reduce);
      total = total < 0 ? next : joined(*op_of(reduce.reduce), {total, next}, reduce);
    }
    if (reduce.reduce == ReduceKind::Sum && is_float(t) && !products)
      total = joined(Op::Add, {zero_like(total, reduce), total}, reduce);
    Node reshape{.kind = NodeKind::Reshape};
    reshape.dtype = t;
    total = add_like(std::move(reshape), reduce.shape, {total}, reduce);
    return wider ? converted(total, reduce.dtype, reduce) : total;
  }

  NodeId joined(Op op, std::vector<NodeId> args, const Node& like) {
    Node node{.kind = NodeKind::Elementwise};
    node.op = op;
    node.dtype = at(args[0]).dtype;
    Shape shape = at(args[0]).shape;
    return add_like(std::move(node), std::move(shape), std::move(args), like);
  }

  NodeId converted(NodeId x, DType to, const Node& like) {
    Node node{.kind = NodeKind::Cast};
    node.dtype = to;
    return add_like(std::move(node), at(x).shape, {x}, like);
  }

  // A sum of nothing but -0 is 0.
  NodeId zero_like(NodeId x, const Node& like) {
    Node zero{.kind = NodeKind::Constant};
    zero.dtype = at(x).dtype;
    zero.constant = Scalar::of_float(zero.dtype, 0);
    const NodeId scalar = add_like(std::move(zero), {}, {}, like);
    Node reshape{.kind = NodeKind::Reshape}, broadcast{.kind = NodeKind::Broadcast};
    reshape.dtype = broadcast.dtype = at(x).dtype;
    const NodeId ones = add_like(std::move(reshape), Shape(at(x).shape.size(), IntExpr(1)), {scalar}, like);
    return add_like(std::move(broadcast), at(x).shape, {ones}, like);
  }

  const std::vector<std::vector<NodeId>> users_;
  std::vector<bool> stored_;
};

}  // namespace

std::optional<Graph> with_joined_reduced(const Graph& graph) { return JoinedWriter(graph).run(); }

}  // namespace smelt

// Operations over several arrays that move elements: concat and gather.
#include "base/check.hpp"
#include "graph/build_detail.hpp"

namespace smelt {

static void check_joinable(const GraphBuilder& builder, NodeId a, NodeId b, int axis) {
  const Shape &p = builder.shape(a), &q = builder.shape(b);
  bool fits = p.size() == q.size();
  for (size_t d = 0; fits && d < p.size(); ++d) fits = static_cast<int>(d) == axis || p[d] == q[d];
  if (!fits)
    fail(fmt::format("cannot concatenate {} and {} along axis {}", describe(builder.at(a)), describe(builder.at(b)),
                     axis),
         "all other sizes must be equal");
}

NodeId GraphBuilder::concat(std::vector<NodeId> xs, int axis) {
  if (xs.empty()) fail("concat needs at least one array", "give it a tuple of arrays");
  if (rank(xs[0]) == 0) fail("cannot concatenate scalars", "use stack, or reshape them to [1]");
  axis = normalize_axis(axis, rank(xs[0]));
  const std::vector<Operand> operands(xs.begin(), xs.end());
  const DType common = common_dtype(*this, Op::Eq, operands, "concat");
  return with_sizes_checked([&] {
    Node node{.kind = NodeKind::Concat};
    node.dtype = common;
    node.shape = shape(xs[0]);
    IntExpr& size = node.shape[static_cast<size_t>(axis)];
    size = 0;
    for (NodeId x : xs) {
      check_joinable(*this, xs[0], x, axis);
      size = size + shape(x)[static_cast<size_t>(axis)];
      node.args.push_back(cast(x, common));
    }
    node.axes = {axis};
    return xs.size() == 1 ? node.args[0] : add(std::move(node));
  });
}

NodeId GraphBuilder::gather(NodeId x, NodeId indices, int axis, GatherMode mode) {
  if (rank(x) == 0) fail("cannot take elements of a scalar", "give an array of at least one dimension");
  axis = normalize_axis(axis, rank(x));
  if (!is_int(dtype(indices)))
    fail(fmt::format("indices are integers, not {}", describe(at(indices))),
         fmt::format("write {}", cast_text(*this, indices, DType::I64)));
  const auto split = shape(x).begin() + axis;
  Node node{.kind = NodeKind::Gather};
  node.gather = mode;
  node.dtype = dtype(x);
  node.shape.assign(shape(x).begin(), split);
  node.shape.insert(node.shape.end(), shape(indices).begin(), shape(indices).end());
  node.shape.insert(node.shape.end(), split + 1, shape(x).end());
  node.args = {x, indices};
  node.axes = {axis};
  if (!with_sizes_checked([&] { return count(shape(indices)); }).is(0))
    require({Constraint::AtLeast,
             *split,
             1,
             fmt::format("cannot take from axis {} of {}: it has no elements", axis, describe(at(x))),
             {}});
  return add(std::move(node));
}

}  // namespace smelt

// Operations over several arrays that move elements: concat, gather and scatter.
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
  if (xs.empty()) fail("concat needs at least one array", "name the arrays that it joins");
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

static void check_indices(const GraphBuilder& builder, NodeId x, NodeId indices) {
  if (builder.rank(x) == 0) fail("cannot take elements of a scalar", "give an array of at least one dimension");
  if (!is_int(builder.dtype(indices)))
    fail(fmt::format("indices are integers, not {}", describe(builder.at(indices))),
         fmt::format("write {}", cast_text(builder, indices, DType::I64)));
}

// Where something is taken, there must be something.
static Constraint has_elements(const GraphBuilder& builder, NodeId x, int axis) {
  return {Constraint::AtLeast,
          builder.shape(x)[static_cast<size_t>(axis)],
          1,
          fmt::format("cannot take from axis {} of {}: it has no elements", axis, describe(builder.at(x))),
          {}};
}

NodeId GraphBuilder::gather_along(NodeId x, NodeId indices, int axis, GatherMode mode) {
  check_indices(*this, x, indices);
  axis = normalize_axis(axis, rank(x));
  if (rank(x) != rank(indices))
    fail(fmt::format("cannot take {} along axis {} of {}: their ranks differ", describe(at(indices)), axis,
                     describe(at(x))),
         "give indices with as many axes as the array has; the others may have size 1");
  const auto along = static_cast<size_t>(axis);
  Shape sides[2] = {shape(x), shape(indices)};
  for (Shape& side : sides) side[along] = 1;
  Shape common = broadcast_shapes(sides);
  common[along] = shape(x)[along];
  x = broadcast_to(x, common);
  common[along] = shape(indices)[along];
  Node node{.kind = NodeKind::Gather};
  node.gather = mode;
  node.along = true;
  node.dtype = dtype(x);
  node.shape = common;
  node.args = {x, broadcast_to(indices, common)};
  node.axes = {axis};
  if (!with_sizes_checked([&] { return count(common); }).is(0)) require(has_elements(*this, x, axis));
  return add(std::move(node));
}

NodeId GraphBuilder::gather(NodeId x, NodeId indices, int axis, GatherMode mode) {
  check_indices(*this, x, indices);
  axis = normalize_axis(axis, rank(x));
  const auto split = shape(x).begin() + axis;
  Node node{.kind = NodeKind::Gather};
  node.gather = mode;
  node.dtype = dtype(x);
  node.shape.assign(shape(x).begin(), split);
  node.shape.insert(node.shape.end(), shape(indices).begin(), shape(indices).end());
  node.shape.insert(node.shape.end(), split + 1, shape(x).end());
  node.args = {x, indices};
  node.axes = {axis};
  if (!with_sizes_checked([&] { return count(shape(indices)); }).is(0)) require(has_elements(*this, x, axis));
  return add(std::move(node));
}

NodeId GraphBuilder::scatter(ScatterKind kind, NodeId x, NodeId indices, NodeId updates, GatherMode mode, bool atomic) {
  check_indices(*this, x, indices);
  Shape wanted = shape(indices);
  wanted.insert(wanted.end(), shape(x).begin() + 1, shape(x).end());
  SMELT_CHECK(promote(dtype(x), dtype(updates)) == dtype(x) && (!is_bool(dtype(x)) || kind == ScatterKind::Set),
              "a scatter of {} into {}", describe(at(updates)), describe(at(x)));
  Node node{.kind = NodeKind::Scatter};
  node.scatter = kind;
  node.gather = mode;
  node.atomic = kind == ScatterKind::Add && atomic;
  node.dtype = dtype(x);
  node.shape = shape(x);
  node.axes = {0};
  node.args = {x, indices, broadcast_to(cast(updates, dtype(x)), wanted)};
  if (mode != GatherMode::Drop && !with_sizes_checked([&] { return count(shape(indices)); }).is(0)) {
    Constraint constraint = has_elements(*this, x, 0);
    constraint.message = fmt::format("cannot scatter into {}: it has no elements", describe(at(x)));
    require(std::move(constraint));
  }
  return add(std::move(node));
}

}  // namespace smelt

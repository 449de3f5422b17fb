// Reductions, and broadcasting, which a sum undoes.
#include <algorithm>

#include "base/check.hpp"
#include "graph/gradient_detail.hpp"
#include "graph/term.hpp"

namespace smelt::gradients {

using functions::Term;

void broadcast(Sweep& s, NodeId id, NodeId g) {
  const NodeId x = s.arg(id, 0);
  std::vector<int> axes;
  for (size_t d = 0; d < s.b.shape(id).size(); ++d)
    if (!(s.b.shape(x)[d] == s.b.shape(id)[d])) axes.push_back(static_cast<int>(d));
  s.add(x, axes.empty() ? g : s.b.reduce(ReduceKind::Sum, g, axes, true));
}

// A value of each reduction, again for each of its elements.
static NodeId spread(GraphBuilder& b, NodeId value, NodeId x, const std::vector<int>& axes) {
  Shape kept = b.shape(x);
  for (const int axis : axes) kept[static_cast<size_t>(axis)] = 1;
  return b.broadcast_to(b.reshape(value, kept), b.shape(x));
}

// Equal extremes share it in equal parts.
static NodeId of_extreme(GraphBuilder& b, NodeId id, NodeId g, NodeId x, const std::vector<int>& axes) {
  const NodeId largest = b.elementwise(Op::Eq, {x, spread(b, id, x, axes)});
  const DType wide = compute_type(b.dtype(x));
  const NodeId count = b.reduce(ReduceKind::Sum, b.cast(largest, wide), axes, false);
  const NodeId share = b.elementwise(Op::Div, {b.cast(g, wide), count});
  return b.elementwise(Op::Where, {largest, spread(b, share, x, axes), Literal(0.0)});
}

// The product of the others: of those before an element, and of those after it. Unlike the product
// over the element it is right at 0.
static NodeId of_product(GraphBuilder& b, NodeId g, NodeId x, const std::vector<int>& axes) {
  std::vector<int> order, back(b.shape(x).size());
  for (int d = 0; d < b.rank(x); ++d)
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) order.push_back(d);
  Shape merged;
  for (const int d : order) merged.push_back(b.shape(x)[static_cast<size_t>(d)]);
  IntExpr size = 1;
  for (const int d : axes) size = size * b.shape(x)[static_cast<size_t>(d)];
  merged.push_back(size);
  order.insert(order.end(), axes.begin(), axes.end());
  const NodeId moved = b.permute(x, order);
  const NodeId rows = b.reshape(moved, merged);
  const NodeId others = b.elementwise(
      Op::Mul, {b.scan(ReduceKind::Prod, rows, -1, false, true), b.scan(ReduceKind::Prod, rows, -1, true, true)});
  for (size_t d = 0; d < order.size(); ++d) back[static_cast<size_t>(order[d])] = static_cast<int>(d);
  const NodeId there = b.permute(b.reshape(others, b.shape(moved)), back);
  return b.elementwise(Op::Mul, {spread(b, g, x, axes), there});
}

void reduce(Sweep& s, NodeId id, NodeId g) {
  const NodeId x = s.arg(id, 0);
  const std::vector<int> axes = s.b.at(id).axes;
  switch (s.b.at(id).reduce) {
    case ReduceKind::Sum: return s.add(x, spread(s.b, rounded_like_factors(s.b, x, g), x, axes));
    case ReduceKind::Prod: return s.add(x, of_product(s.b, g, x, axes));
    case ReduceKind::Max:
    case ReduceKind::Min: return s.add(x, of_extreme(s.b, id, g, x, axes));
    case ReduceKind::Any:
    case ReduceKind::All:
    case ReduceKind::ArgMax:
    case ReduceKind::ArgMin: break;  // no floats
  }
  throw InternalError("a gradient through a reduction to no floats");
}

}  // namespace smelt::gradients

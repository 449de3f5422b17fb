// Movement: each element's cotangent goes back to where the element came from.
#include <algorithm>

#include "base/check.hpp"
#include "graph/gradient_detail.hpp"
#include "graph/term.hpp"

namespace smelt::gradients {

NodeId pad_axis(GraphBuilder& b, NodeId x, size_t axis, const IntExpr& low, const IntExpr& high, const Operand& value) {
  std::vector<IntExpr> before(b.shape(x).size(), IntExpr(0)), behind = before;
  before[axis] = low;
  behind[axis] = high;
  return b.pad(x, before, behind, value);
}

// Before: [m]. With step 3 from 4: [length] with the elements from 4 // 3 on, as [length, 1],
// padded to [length, 3] with the elements at 4 % 3, as [3 length], of which the first `length` are
// the result. So that an index is taken apart while it is within the axis, and not in the
// padding.
NodeId spread_axis(GraphBuilder& b, NodeId x, size_t axis, const IntExpr& start, int64_t step, const IntExpr& length) {
  const IntExpr m = b.shape(x)[axis];
  if (step < 0)
    return spread_axis(b, slice_axis(b, x, axis, m - 1, m, -1), axis, start + IntExpr(step) * (m - 1), -step, length);
  if (step == 1) return pad_axis(b, x, axis, start, length - start - m);
  const IntExpr row = floordiv(start, step), column = mod(start, step);
  const NodeId rows = pad_axis(b, x, axis, row, length - row - m);
  Shape apart = b.shape(rows), joined = apart;
  apart.insert(apart.begin() + static_cast<long>(axis) + 1, IntExpr(1));
  joined[axis] = length * IntExpr(step);
  const NodeId table = pad_axis(b, b.reshape(rows, apart), axis + 1, column, IntExpr(step - 1) - column);
  return slice_axis(b, b.reshape(table, joined), axis, 0, length);
}

void reshape(Sweep& s, NodeId id, NodeId g) { s.add(s.arg(id, 0), s.b.reshape(g, s.b.shape(s.arg(id, 0)))); }

void permute(Sweep& s, NodeId id, NodeId g) {
  const std::vector<int>& order = s.b.at(id).axes;
  std::vector<int> back(order.size());
  for (size_t d = 0; d < order.size(); ++d) back[static_cast<size_t>(order[d])] = static_cast<int>(d);
  s.add(s.arg(id, 0), s.b.permute(g, back));
}

void slice(Sweep& s, NodeId id, NodeId g) {
  const NodeId x = s.arg(id, 0);
  const std::vector<IntExpr> starts = s.b.at(id).starts;
  const std::vector<int64_t> steps = s.b.at(id).steps;
  for (size_t d = 0; d < starts.size(); ++d)
    if (!(s.b.shape(g)[d] == s.b.shape(x)[d] && starts[d].is(0) && steps[d] == 1))
      g = spread_axis(s.b, g, d, starts[d], steps[d], s.b.shape(x)[d]);
  s.add(x, g);
}

void pad(Sweep& s, NodeId id, NodeId g) {
  const NodeId x = s.arg(id, 0), value = s.arg(id, 1);
  const std::vector<IntExpr> low = s.b.at(id).starts;
  const Shape inner = s.b.shape(x), outer = s.b.shape(id);
  if (s.wants(id, 0)) s.add(x, s.b.slice(g, low, std::vector<int64_t>(low.size(), 1), inner));
  if (!s.wants(id, 1)) return;
  std::vector<IntExpr> high;
  for (size_t d = 0; d < low.size(); ++d) high.push_back(outer[d] - inner[d] - low[d]);
  const NodeId inside = s.b.broadcast_to(s.b.constant(Scalar::of_bool(false)), inner);
  const NodeId outside = s.b.pad(inside, low, high, Literal(true));
  s.add(value, s.b.reduce(ReduceKind::Sum, s.b.elementwise(Op::Where, {outside, g, Literal(0.0)}), {}, false));
}

void concat(Sweep& s, NodeId id, NodeId g) {
  const auto axis = static_cast<size_t>(s.b.at(id).axes[0]);
  const std::vector<NodeId> args = s.b.at(id).args;
  IntExpr start = 0;
  for (const NodeId arg : args) {
    const IntExpr size = s.b.shape(arg)[axis];
    s.add(arg, slice_axis(s.b, g, axis, start, size));
    start = start + size;
  }
}

}  // namespace smelt::gradients

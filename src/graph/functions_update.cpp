// An array in which a region has other elements: pads, and a choice, which fuse with everything
// around them.
#include <fmt/format.h>

#include <algorithm>

#include "graph/term.hpp"

namespace smelt::functions {

namespace {

// The value in the shape of the region, its dtype that of x. As NumPy's assignment has it, axes of
// size 1 in front are dropped.
NodeId fitted(GraphBuilder& b, NodeId x, const Shape& region, const Operand& value) {
  if (value.is_literal()) return b.broadcast_to(b.materialize(value, b.dtype(x)), region);
  NodeId v = value.node;
  if (promote(b.dtype(x), b.dtype(v)) != b.dtype(x))
    throw UserBuildError(
        {fmt::format("slice_update: a value of {} does not fit {}", describe(b.at(v)), describe(b.at(x))),
         fmt::format("write {}", cast_text(b, value, b.dtype(x)))});
  Shape shape = b.shape(v);
  while (shape.size() > region.size() && shape.front().is(1)) shape.erase(shape.begin());
  bool fits = shape.size() <= region.size();
  for (size_t d = 0; fits && d < shape.size(); ++d) {
    const IntExpr& to = region[region.size() - shape.size() + d];
    fits = shape[d] == to || shape[d].is(1);
  }
  if (!fits)
    throw UserBuildError(
        {fmt::format("slice_update: a value of shape {} does not fit the region of {}, which has the shape {}",
                     str(b.shape(v)), describe(b.at(x)), str(region)),
         fmt::format("give the shape {}, or one that broadcasts to it", str(region))});
  return b.broadcast_to(b.reshape(b.cast(v, b.dtype(x)), shape), region);
}

// The elements of `part` in their places among zeros: every step-th of an axis from its start, in
// the shape of x.
NodeId placed(GraphBuilder& b, NodeId part, const Shape& whole, const std::vector<IntExpr>& starts,
              const std::vector<int64_t>& steps) {
  const DType dtype = b.dtype(part);
  const Operand zero = is_bool(dtype) ? Literal(false) : Literal(int64_t{0});
  const Shape sizes = b.shape(part);
  Shape apart, spread;
  std::vector<IntExpr> gaps, low, high;
  bool spaced = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    apart.push_back(sizes[d]), gaps.push_back(0);
    if (steps[d] > 1) apart.push_back(1), gaps.push_back(steps[d] - 1), spaced = true;
    spread.push_back(sizes[d] * steps[d]);
    low.push_back(starts[d]);
    // The zeros after the last element may lie past the end; the slice drops them.
    high.push_back(whole[d] - starts[d] - spread[d] + (steps[d] - 1));
  }
  if (spaced) {
    const NodeId rows = b.pad(b.reshape(part, apart), std::vector<IntExpr>(apart.size(), IntExpr(0)), gaps, zero);
    part = b.reshape(rows, spread);
  }
  const NodeId wide = b.pad(part, low, high, zero);
  return b.slice(wide, std::vector<IntExpr>(whole.size(), IntExpr(0)), std::vector<int64_t>(whole.size(), 1), whole);
}

}  // namespace

NodeId slice_update(GraphBuilder& b, NodeId x, const Region& region, const Operand& value) {
  const Shape whole = b.shape(x);
  b.slice(x, region.starts, region.steps, region.sizes);  // which says where it leaves the array
  NodeId part = b.reshape(fitted(b, x, region.shape, value), region.sizes);
  std::vector<IntExpr> starts = region.starts, last;
  std::vector<int64_t> steps = region.steps;
  bool all = true;
  for (size_t d = 0; d < whole.size(); ++d) {
    if (region.sizes[d].is(0)) return x;
    all = all && region.sizes[d] == whole[d];
    last.push_back(steps[d] < 0 ? region.sizes[d] - 1 : IntExpr(0));
    if (steps[d] > 0) continue;
    starts[d] = starts[d] + IntExpr(steps[d]) * (region.sizes[d] - 1);
    steps[d] = -steps[d];
  }
  std::vector<int64_t> turns;
  for (const int64_t step : region.steps) turns.push_back(step < 0 ? -1 : 1);
  part = b.slice(part, last, turns, region.sizes);
  if (all) return part;
  const NodeId yes = b.broadcast_to(b.constant(Scalar::of_bool(true)), region.sizes);
  const Operand choice[] = {placed(b, yes, whole, starts, steps), placed(b, part, whole, starts, steps), x};
  return b.elementwise(Op::Where, choice);
}

}  // namespace smelt::functions

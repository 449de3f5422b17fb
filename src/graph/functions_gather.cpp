// Rows taken by index, and what is made of slices: formulas that leave no array in between.
#include <fmt/format.h>

#include <cmath>

#include "graph/term.hpp"

namespace smelt::functions {

NodeId one_hot(GraphBuilder& b, NodeId indices, const IntExpr& classes, DType dtype) {
  if (!is_int(b.dtype(indices)))
    throw UserBuildError(
        {fmt::format("one_hot: indices are integers, not {}", describe(b.at(indices))), "cast them: i64(...)"});
  // A u64 past the largest i64 names no class either way.
  const Term wide(b, expand_dims(b, b.cast(indices, DType::I64), {-1}));
  return narrowed(equal(wide, Term(b, b.iota({classes}, 0))), dtype);
}

NodeId embedding(GraphBuilder& b, NodeId table, NodeId ids, GatherMode mode) {
  if (b.rank(table) != 2)
    throw UserBuildError(
        {fmt::format("embedding takes rows of a table with two axes, not of {}", describe(b.at(table))),
         "take(x, indices, axis) takes any rank"});
  return take(b, table, ids, 0, mode);
}

IntExpr equal_part(GraphBuilder& b, NodeId x, int64_t parts, int axis) {
  const IntExpr& size = b.shape(x)[static_cast<size_t>(b.normalize_axis(axis, b.rank(x)))];
  b.require({Constraint::Divisible,
             size,
             parts,
             fmt::format("axis {} of {} cannot be split into {} equal parts", axis, describe(b.at(x)), parts),
             {}});
  return floordiv(size, parts);
}

std::vector<NodeId> split(GraphBuilder& b, NodeId x, const Shape& sizes, int axis) {
  const auto d = static_cast<size_t>(b.normalize_axis(axis, b.rank(x)));
  IntExpr total = 0;
  for (const IntExpr& size : sizes) total = total + size;
  if (const IntExpr gap = total - b.shape(x)[d]; !gap.is(0))
    b.require({Constraint::Equal,
               total,
               b.shape(x)[d],
               fmt::format("split: parts of {} in all, of axis {} of {}", total.str(), axis, describe(b.at(x))),
               {}});
  std::vector<NodeId> parts;
  std::vector<IntExpr> starts(b.shape(x).size(), IntExpr(0));
  for (const IntExpr& size : sizes) {
    Shape shape = b.shape(x);
    shape[d] = size;
    parts.push_back(b.slice(x, starts, std::vector<int64_t>(shape.size(), 1), shape));
    starts[d] = starts[d] + size;
  }
  return parts;
}

// The axis that has the two elements of each pair: [.., 2, n] for halves, [.., n, 2] for
// neighbours.
struct Pairs {
  NodeId x;
  int axis;
};

static Pairs paired(GraphBuilder& b, NodeId x, bool interleaved) {
  Shape shape = b.shape(x);
  if (!shape.back().constant())
    throw UserBuildError(
        {fmt::format("rotary rotates pairs along the last axis of {}, whose size must be a number", describe(b.at(x))),
         "write its size as a number: bf16[B, S, 128]"});
  const IntExpr pairs = floordiv(shape.back(), 2);
  b.require({Constraint::Divisible,
             shape.back(),
             2,
             fmt::format("rotary rotates pairs: the length of the last axis of {} is odd", describe(b.at(x))),
             {}});
  shape.back() = interleaved ? pairs : IntExpr(2);
  shape.push_back(interleaved ? IntExpr(2) : pairs);
  return {b.reshape(x, shape), interleaved ? -1 : -2};
}

// (a, b) -> (a cos - b sin, b cos + a sin), written for either of them: the other one of the pair
// is the flipped array, a view.
static NodeId rotated(GraphBuilder& b, NodeId x, const Term& cosine, const Term& sine, const char* name,
                      bool interleaved) {
  const Term value = widened(b, x, name);
  const Pairs pairs = paired(b, value.id(), interleaved);
  const Term first(b, pairs.x), other(b, flip(b, pairs.x, {pairs.axis}));
  const Term which(b, b.iota(interleaved ? Shape{2} : Shape{2, 1}, 0));
  const Term sign = where(equal(which, integer(0)), Term(-1.0), Term(1.0));
  const auto of_pair = [&](const Term& t) { return Term(b, expand_dims(b, t.id(), {pairs.axis})); };
  const Term turned = first * of_pair(cosine) + other * (of_pair(sine) * Term(b, b.cast(sign.id(), dtype_of(value))));
  return b.cast(b.reshape(turned.id(), b.shape(x)), b.dtype(x));
}

static void check_pairs(const GraphBuilder& b, NodeId x, const char* name) {
  if (b.rank(x) == 0) throw UserBuildError({fmt::format("{} turns the pairs of an axis, but x is a scalar", name), ""});
}

NodeId rotary(GraphBuilder& b, NodeId x, NodeId cosine, NodeId sine, bool interleaved) {
  check_pairs(b, x, "rotary");
  const DType compute = compute_type(b.dtype(x));
  return rotated(b, x, widened_to(b, cosine, compute), widened_to(b, sine, compute), "rotary", interleaved);
}

// The angle of pair i is position * base^(-2 i / n) (Su et al. 2021).
NodeId rope(GraphBuilder& b, NodeId x, NodeId positions, double base, bool interleaved) {
  check_pairs(b, x, "rope");
  if (!(base > 0)) throw UserBuildError({fmt::format("rope: base {} is not above 0", base), "10000 is usual"});
  const IntExpr length = b.shape(x).back();
  const DType compute = b.dtype(x) == DType::F64 ? DType::F64 : DType::F32;
  const Term pair(b, b.cast(b.iota({floordiv(length, 2)}, 0), compute));
  const Term n(b, b.cast(b.size_value(length), compute));
  const Term rate = apply(Op::Exp2, {pair / n * (-2 * std::log2(base))});
  const Term angle = Term(b, expand_dims(b, b.cast(positions, compute), {-1})) * rate;
  return rotated(b, x, apply(Op::Cos, {angle}), apply(Op::Sin, {angle}), "rope", interleaved);
}

}  // namespace smelt::functions

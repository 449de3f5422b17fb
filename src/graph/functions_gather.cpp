// Rows taken by index, and what is made of slices: formulas that leave no array in between.
#include <fmt/format.h>

#include <algorithm>
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

NodeId array_of(GraphBuilder& b, const KnownIndices& indices) {
  const Shape shape(indices.shape.begin(), indices.shape.end());
  if (indices.values.empty()) return full(b, shape, Literal(int64_t{0}), DType::I64);
  std::vector<NodeId> elements;
  for (const int64_t i : indices.values) elements.push_back(b.constant(Scalar::of_int(DType::I64, i)));
  return b.reshape(stack(b, elements, 0), shape);
}

void require_elements(GraphBuilder& b, NodeId x, int axis, const KnownIndices& indices) {
  const IntExpr& size = b.shape(x)[static_cast<size_t>(axis)];
  std::optional<int64_t> lowest, highest;  // the furthest from each end; each other one follows from these
  for (const int64_t i : indices.values) {
    if (const auto n = size.constant(); n && (i < -*n || i >= *n))
      throw UserBuildError(
          {fmt::format("index {} is out of range for axis {} of {}", i, axis, describe(b.at(x))),
           *n == 0 ? "this axis has no elements" : fmt::format("indices go from {} to {}", -*n, *n - 1)});
    if (i < 0 && (!lowest || i < *lowest)) lowest = i;
    if (i >= 0 && (!highest || i > *highest)) highest = i;
  }
  // As slices require it, so that a slice of one element adds nothing.
  const auto require = [&](const IntExpr& left, const IntExpr& right, int64_t index) {
    b.require({Constraint::AtLeast,
               left,
               right,
               fmt::format("index {} is out of range for axis {} of {}", index, axis, describe(b.at(x))),
               {}});
  };
  if (lowest) require(size + *lowest, 0, *lowest);
  if (highest) require(size - 1, *highest, *highest);
}

// start, start + step, ..: `count` elements of an axis.
struct Run {
  int64_t start, step, count;
};

// The indices as few runs. Those of a run count from the same end, so that it is a slice.
static std::vector<Run> runs_of(const std::vector<int64_t>& indices) {
  std::vector<Run> runs;
  for (const int64_t i : indices) {
    if (!runs.empty()) {
      Run& last = runs.back();
      const int64_t before = last.start + (last.count - 1) * last.step;
      const bool same_end = (i < 0) == (before < 0);
      if (same_end && i != before && (last.count == 1 || i - before == last.step)) {
        last.step = i - before;
        ++last.count;
        continue;
      }
    }
    runs.push_back({i, 1, 1});
  }
  return runs;
}

// The index that the mode makes of one out of range, of n elements.
static int64_t in_range(int64_t index, int64_t n, GatherMode mode) {
  switch (mode) {
    case GatherMode::Clamp: return std::clamp<int64_t>(index, 0, n - 1);
    case GatherMode::Wrap: return (index % n + n) % n;
    case GatherMode::Check: return index < 0 ? index + n : index;
    case GatherMode::Drop: break;
  }
  throw InternalError("take discards no indices");
}

NodeId take(GraphBuilder& b, NodeId x, const KnownIndices& indices, std::optional<int> given_axis, GatherMode mode) {
  if (!given_axis) return take(b, flatten(b, x), indices, 0, mode);
  const int axis = b.normalize_axis(*given_axis, b.rank(x));
  const auto d = static_cast<size_t>(axis);
  const IntExpr size = b.shape(x)[d];
  const auto n = size.constant();
  if (mode == GatherMode::Check || (n && *n == 0)) require_elements(b, x, axis, indices);
  // How these modes change an index depends on the size.
  if (mode != GatherMode::Check && !n) return take(b, x, array_of(b, indices), axis, mode);
  std::vector<int64_t> values = indices.values;
  if (n)
    for (int64_t& i : values) i = in_range(i, *n, mode);
  std::vector<NodeId> parts;
  std::vector<IntExpr> starts(b.shape(x).size(), IntExpr(0));
  std::vector<int64_t> steps(starts.size(), 1);
  Shape shape = b.shape(x);
  for (const Run& run : values.empty() ? std::vector<Run>{{0, 1, 0}} : runs_of(values)) {
    starts[d] = run.start < 0 ? size + run.start : IntExpr(run.start);
    steps[d] = run.step;
    shape[d] = run.count;
    parts.push_back(b.slice(x, starts, steps, shape));
  }
  const NodeId taken = parts.size() == 1 ? parts[0] : b.concat(parts, axis);
  Shape result = b.shape(x);
  result.erase(result.begin() + axis);
  result.insert(result.begin() + axis, indices.shape.begin(), indices.shape.end());
  return b.reshape(taken, result);
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
  const Shape &of_x = b.shape(x), &of_positions = b.shape(positions);
  for (size_t d = 0; d < std::min(of_x.size() - 1, of_positions.size()); ++d) {
    const auto n = of_x[of_x.size() - 2 - d].constant(), m = of_positions[of_positions.size() - 1 - d].constant();
    if (n && m && *n != *m && *n != 1 && *m != 1)
      throw UserBuildError({fmt::format("rope: positions {} for {}", describe(b.at(positions)), describe(b.at(x))),
                            "they broadcast to the axes of x before the last"});
  }
  const IntExpr length = b.shape(x).back();
  const DType compute = b.dtype(x) == DType::F64 ? DType::F64 : DType::F32;
  const Term pair(b, b.cast(b.iota({floordiv(length, 2)}, 0), compute));
  const Term n(b, b.cast(b.size_value(length), compute));
  const Term rate = apply(Op::Exp2, {pair / n * (-2 * std::log2(base))});
  const Term angle = Term(b, expand_dims(b, b.cast(positions, compute), {-1})) * rate;
  return rotated(b, x, apply(Op::Cos, {angle}), apply(Op::Sin, {angle}), "rope", interleaved);
}

}  // namespace smelt::functions

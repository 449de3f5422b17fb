// Reductions composed of sums, products and maxima.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/term.hpp"

namespace smelt::functions {

// How many elements fall together when the axes are reduced.
static IntExpr reduced_count(const GraphBuilder& b, NodeId x, const Axes& axes) {
  if (axes.empty()) return count(b.shape(x));
  IntExpr product = 1;
  for (int axis : axes) product = product * b.shape(x)[static_cast<size_t>(b.normalize_axis(axis, b.rank(x)))];
  return product;
}

// A size as a number of the formula's dtype.
static Term size_as(GraphBuilder& b, const IntExpr& size, DType dtype) {
  if (const auto n = size.constant()) return Term(static_cast<double>(*n));
  return Term(b, b.cast(b.size_value(size), dtype));
}

NodeId mean(GraphBuilder& b, NodeId x, Axes axes, bool keepdims) {
  const Term v = widened(b, x, "mean");
  const IntExpr n = reduced_count(b, x, axes);
  const Term total(b, b.reduce(ReduceKind::Sum, v.id(), std::move(axes), keepdims));
  return narrowed(total / size_as(b, n, dtype_of(v)), b.dtype(x));
}

// n - ddof, but never below 0. Of a symbolic size it is a value of the call.
static Term degrees_of_freedom(GraphBuilder& b, const IntExpr& n, int64_t ddof, DType dtype) {
  if (const auto known = n.constant()) return Term(static_cast<double>(std::max<int64_t>(*known - ddof, 0)));
  return ddof > 0 ? maximum(size_as(b, n, dtype) - static_cast<double>(ddof), 0.0)
                  : size_as(b, n - IntExpr(ddof), dtype);
}

static Term variance(GraphBuilder& b, const Term& v, Axes axes, int64_t ddof, bool keepdims) {
  const IntExpr n = reduced_count(b, v.id(), axes);
  const Term middle = kept(ReduceKind::Sum, v, axes) / size_as(b, n, dtype_of(v));
  const Term squares(b, b.reduce(ReduceKind::Sum, square(v - middle).id(), std::move(axes), keepdims));
  return squares / degrees_of_freedom(b, n, ddof, dtype_of(v));
}

NodeId var(GraphBuilder& b, NodeId x, Axes axes, int64_t ddof, bool keepdims) {
  return narrowed(variance(b, widened(b, x, "var"), std::move(axes), ddof, keepdims), b.dtype(x));
}

NodeId stddev(GraphBuilder& b, NodeId x, Axes axes, int64_t ddof, bool keepdims) {
  return narrowed(sqrt(variance(b, widened(b, x, "std"), std::move(axes), ddof, keepdims)), b.dtype(x));
}

// An infinite maximum must not be subtracted: inf - inf is nan. 0 in its place gives log(0) or
// log(inf).
NodeId logsumexp(GraphBuilder& b, NodeId x, Axes axes, bool keepdims) {
  const Term v = widened(b, x, "logsumexp");
  const Term top = kept(ReduceKind::Max, v, axes);
  const Term shift = held(where(apply(Op::IsFinite, {top}), top, 0.0));
  const Term total = log(kept(ReduceKind::Sum, exp(v - shift), axes)) + shift;
  if (keepdims) return narrowed(total, b.dtype(x));
  if (axes.empty()) return narrowed(Term(b, b.reshape(total.id(), {})), b.dtype(x));
  return narrowed(Term(b, squeeze(b, total.id(), std::move(axes))), b.dtype(x));
}

NodeId norm(GraphBuilder& b, NodeId x, double order, Axes axes, bool keepdims) {
  const Term v = widened(b, x, "norm");
  const auto reduced = [&](ReduceKind kind, const Term& of) {
    return Term(b, b.reduce(kind, of.id(), axes, keepdims));
  };
  if (order == 2) return narrowed(sqrt(reduced(ReduceKind::Sum, v * v)), b.dtype(x));
  if (order == 1) return narrowed(reduced(ReduceKind::Sum, abs(v)), b.dtype(x));
  if (order == HUGE_VAL) return narrowed(reduced(ReduceKind::Max, abs(v)), b.dtype(x));
  if (order == -HUGE_VAL) return narrowed(reduced(ReduceKind::Min, abs(v)), b.dtype(x));
  if (order == 0) {
    const Term counted(b, narrowed(apply(Op::Ne, {v, 0.0}), dtype_of(v)));
    return narrowed(reduced(ReduceKind::Sum, counted), b.dtype(x));
  }
  const Term powers = apply(Op::Pow, {abs(v), order});
  return narrowed(apply(Op::Pow, {reduced(ReduceKind::Sum, powers), 1 / order}), b.dtype(x));
}

NodeId l2norm(GraphBuilder& b, NodeId x, Axes axes, bool keepdims) { return norm(b, x, 2, std::move(axes), keepdims); }

}  // namespace smelt::functions

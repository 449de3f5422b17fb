// Arrays made from sizes and numbers alone.
#include <fmt/format.h>

#include <cmath>

#include "graph/term.hpp"

namespace smelt::functions {

static void check_step(bool is_zero) {
  if (is_zero) throw UserBuildError({"arange: the step is 0", "take a step that leads from start to stop"});
}

NodeId arange(GraphBuilder& b, const IntExpr& start, const IntExpr& stop, int64_t step, DType dtype) {
  check_step(step == 0);
  const IntExpr span = step > 0 ? stop - start : start - stop;
  IntExpr length = ceildiv(span, IntExpr(std::abs(step)));
  if (const auto n = length.constant())
    length = std::max<int64_t>(*n, 0);
  else
    b.require({Constraint::AtLeast,
               span,
               IntExpr(0),
               fmt::format("arange: stop ({}) lies before start ({})", stop.str(), start.str()),
               {}});
  Term index(b, b.iota({length}, 0));
  if (step != 1) index = index * integer(step);
  if (!start.is(0)) index = index + Term(b, b.size_value(start));
  return narrowed(index, dtype);
}

NodeId arange(GraphBuilder& b, double start, double stop, double step, DType dtype) {
  check_step(step == 0);
  const double length = std::ceil((stop - start) / step);
  if (!(length < 0x1p47))
    throw UserBuildError({fmt::format("arange: {} values from {} to {} by {}", length, start, stop, step),
                          "take finite numbers and a larger step"});
  const Term index(b, b.iota({IntExpr(length > 0 ? static_cast<int64_t>(length) : 0)}, 0));
  if (!is_float(dtype)) return narrowed(Term(b, narrowed(index, DType::F64)) * step + start, dtype);
  return narrowed(Term(b, narrowed(index, compute_type(dtype))) * step + start, dtype);
}

NodeId eye(GraphBuilder& b, const IntExpr& rows, const IntExpr& columns, int64_t diagonal, DType dtype) {
  const Term row(b, b.iota({rows, 1}, 0)), column(b, b.iota({1, columns}, 1));
  return narrowed(equal(row + integer(diagonal), column), dtype);
}

NodeId full(GraphBuilder& b, Shape shape, const Operand& value, std::optional<DType> dtype) {
  NodeId filled = value.is_literal() && dtype ? b.materialize(value, *dtype) : b.materialize(value);
  if (dtype) filled = b.cast(filled, *dtype);
  return b.broadcast_to(filled, std::move(shape));
}

}  // namespace smelt::functions

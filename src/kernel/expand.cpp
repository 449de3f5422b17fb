// Operations that the target does not have, as expressions that it has.
#include <cmath>

#include "base/check.hpp"
#include "kernel/value.hpp"
#include "smelt/static/expand/all.hpp"
#include "smelt/static/expand/small_float.hpp"

namespace smelt::kernel {
namespace {

[[maybe_unused]] Val no_expansion(Val, Op op) {
  throw InternalError(fmt::format("operation {} has neither a spelling nor an expansion", name_of(op)));
}

}  // namespace

// Rounds f32 to the nearest value of a small float and keeps it as f32.
ExprId Builder::round_to_small(ExprId id, DType to) {
  if (const Scalar* known = constant_at(id)) return constant(convert(*known, to));
  const FloatFormat f = float_format(to);
  return expand::nearest_small(Val{this, id}, {f.mantissa, f.least, f.most, f.has_infinity}).id;
}

// Float to integer: saturates, NaN becomes 0. By clamping first, since machines convert
// out-of-range values each in their own way and the general operation is scalar code on most of
// them.
ExprId Builder::saturate(ExprId id, DType to) {
  Val x{this, id};
  // Integers of up to the float's own width less one bit fit it exactly, or are met by the next
  // wider float.
  if (x.dtype() == DType::F32 && (size_of(to) == 8 || to == DType::U32)) x = widen(x);
  const double low = static_cast<double>(min_int(to)), high = static_cast<double>(max_int(to));
  const Val least = like(x, low);
  const bool exact = size_of(to) < size_of(x.dtype());  // the largest integer is a float too
  // Below 2^31 (2^63) the largest float is short of the largest integer, which is then chosen after
  // the conversion.
  const Val most = exact ? like(x, high) : like(x, x.dtype() == DType::F32 ? 0x1.fffffep30 : 0x1.fffffffffffffp62);
  const Bounds known = bounds_of(x.id);  // unless it is NaN, which is converted to anything
  Val inside = x;
  if (!(known.low >= low)) inside = select(inside > least, inside, least);
  if (!exact || !(known.high <= high)) inside = select(inside < most, inside, most);
  const Val whole = to_int(inside);
  Val converted{this, cast(whole.id, to, true)};
  if (!exact) converted = select(x > most, like(converted, max_int(to)), converted);
  return select(x == x, converted, like(converted, 0)).id;
}

// max(x, c) and min(x, c) for a constant that is no NaN: one comparison. NaN fails it and stays; of
// equal zeros the comparison picks the right one. max(x, 0) makes its zeros positive by an
// addition: what is left is the maximum that processors have, and both together are faster than a
// comparison and a selection.
ExprId Builder::extreme_of_constant(Op op, const std::vector<ExprId>& args) {
  for (size_t k = 0; k < 2; ++k) {
    const Scalar* known = constant_at(args[k]);
    if (!known || known->f != known->f) continue;
    const double value = known->f;
    const bool zero = value == 0, negative = std::signbit(value);
    const Val c{this, args[k]};
    Val x{this, args[1 - k]};
    if (op == Op::Max && zero && !negative) x = x + c;
    const ExprId result = select(op == Op::Max ? x < c : zero && negative ? x >= c : x > c, c, x).id;
    Bounds bounds = bounds_of(x.id);
    (op == Op::Max ? bounds.low : bounds.high) = value;
    if (bounds.low <= bounds.high) bounds_[result] = bounds;
    return result;
  }
  return kNoExpr;
}

ExprId Builder::expand(Op op, const std::vector<ExprId>& args) {
  using namespace smelt;
  const Val a{this, args[0]};
  const Val b{this, args[args.size() > 1 ? 1 : 0]};
  const Val c{this, args[args.size() > 2 ? 2 : 0]};
  (void)b, (void)c;
#define NONE no_expansion(a, op)
  if (is_float(dtype(args.back()))) {
    switch (op) {
#define SMELT_OP(Id, name, arity, rule, llvm_f, llvm_i, c_f, c_i, ulp32, ulp64, doc, host_f, host_i, expand_f, \
                 expand_i, ...)                                                                                \
  case Op::Id:                                                                                                 \
    return Val(expand_f).id;
#include "ops/ops.def"
#undef SMELT_OP
    }
  } else {
    switch (op) {
#define SMELT_OP(Id, name, arity, rule, llvm_f, llvm_i, c_f, c_i, ulp32, ulp64, doc, host_f, host_i, expand_f, \
                 expand_i, ...)                                                                                \
  case Op::Id:                                                                                                 \
    return Val(expand_i).id;
#include "ops/ops.def"
#undef SMELT_OP
    }
  }
#undef NONE
  throw InternalError("unknown operation");
}

}  // namespace smelt::kernel

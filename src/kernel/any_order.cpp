#include "kernel/any_order.hpp"

#include <cmath>

namespace smelt::kernel {
namespace {

constexpr int kFixedBits = 30;  // of a term, as an integer
constexpr int kMoreBits = 31;   // of what remains of it, as a second one
constexpr int64_t kF64Bias = 1023, kF64Mantissa = 52;
// How infinities are counted: +inf in the lower half of the sum, -inf in the upper one, NaN in
// both.
constexpr int64_t kMinusInfinity = int64_t{1} << 32;

}  // namespace

DType ordered_type(DType dtype) { return size_of(dtype) == 8 ? DType::I64 : DType::I32; }

ExprId to_ordered(Builder& b, ExprId x, bool nan_below) {
  const DType type = ordered_type(b.dtype(x));
  const auto number = [&](int64_t value) { return b.constant(Scalar::of_int(type, value)); };
  const ExprId bits = b.bitcast(x, type), most = number(static_cast<int64_t>(max_int(type)));
  const ExprId negative = b.apply(Op::Lt, {bits, number(0)});
  const ExprId key = b.apply(Op::Where, {negative, b.apply(Op::Xor, {bits, most}), bits});
  return b.apply(Op::Where, {b.apply(Op::Ne, {x, x}), nan_below ? number(min_int(type)) : most, key});
}

ExprId from_ordered(Builder& b, ExprId key, DType dtype) {
  const DType type = ordered_type(dtype);
  const auto number = [&](int64_t value) { return b.constant(Scalar::of_int(type, value)); };
  const ExprId most = number(static_cast<int64_t>(max_int(type))), least = number(min_int(type));
  const ExprId negative = b.apply(Op::Lt, {key, number(0)});
  const ExprId bits = b.apply(Op::Where, {negative, b.apply(Op::Xor, {key, most}), key});
  const ExprId is_nan = b.apply(Op::Or, {b.apply(Op::Eq, {key, most}), b.apply(Op::Eq, {key, least})});
  return b.apply(Op::Where, {is_nan, b.constant(Scalar::of_float(dtype, NAN)), b.bitcast(bits, dtype)});
}

int64_t ExactSums::unit() const { return (dtype_ == DType::F64 ? 1022 : 126) + kFixedBits; }

ExprId ExactSums::exponent(ExprId x) {
  if (dtype_ == DType::F64) {
    const ExprId high = b_.raw(RawOp::Shr, DType::I64, {b_.bitcast(x, DType::I64), number(DType::I64, kF64Mantissa)});
    return op(Op::And, b_.cast(high, DType::I32, true), number(DType::I32, 0x7ff));
  }
  const ExprId bits = op(Op::And, b_.bitcast(x, DType::I32), number(DType::I32, 0x7fffffff));
  return b_.raw(RawOp::Shr, DType::I32, {bits, number(DType::I32, 23)});
}

// 2^e as an f64, where that is a normal number.
ExprId ExactSums::power(ExprId e) {
  const ExprId biased = op(Op::Add, b_.cast(e, DType::I64), number(DType::I64, kF64Bias));
  return b_.bitcast(b_.raw(RawOp::Shl, DType::I64, {biased, number(DType::I64, kF64Mantissa)}), DType::F64);
}

// x 2^e, in two steps where e may leave the range of exponents.
ExprId ExactSums::times_power(ExprId x, ExprId e) {
  if (dtype_ == DType::F32) return op(Op::Mul, x, power(e));
  const ExprId half = b_.raw(RawOp::Shr, DType::I32, {e, number(DType::I32, 1)});
  return op(Op::Mul, op(Op::Mul, x, power(half)), power(op(Op::Sub, e, half)));
}

ExprId ExactSums::part(ExprId x, ExprId top, int word) {
  const ExprId up = op(Op::Sub, number(DType::I32, unit()), top);
  const ExprId scaled = times_power(b_.cast(x, DType::F64), up);
  const ExprId rounded = b_.apply(Op::Round, {scaled}), zero = number(DType::I64, 0);
  const ExprId special = op(Op::Eq, top, number(DType::I32, infinite()));
  if (word == 1) {
    const ExprId more = op(Op::Mul, op(Op::Sub, scaled, rounded),
                           b_.constant(Scalar::of_float(DType::F64, static_cast<double>(int64_t{1} << kMoreBits))));
    return where(special, zero, b_.raw(RawOp::ToInt, DType::I64, {b_.apply(Op::Round, {more})}));
  }
  const ExprId infinity = b_.constant(Scalar::of_float(dtype_, HUGE_VAL));
  const ExprId below = b_.constant(Scalar::of_float(dtype_, -HUGE_VAL));
  const ExprId nan = number(DType::I64, kMinusInfinity + 1), minus = number(DType::I64, kMinusInfinity);
  const ExprId counted =
      where(op(Op::Ne, x, x), nan,
            where(op(Op::Eq, x, infinity), number(DType::I64, 1), where(op(Op::Eq, x, below), minus, zero)));
  return where(special, counted, b_.raw(RawOp::ToInt, DType::I64, {rounded}));
}

ExprId ExactSums::total(ExprId x, const std::vector<ExprId>& sums, ExprId top) {
  const ExprId zero = number(DType::I64, 0);
  ExprId whole = sums[0], all = b_.cast(whole, DType::F64), nothing = op(Op::Eq, whole, zero);
  if (words() == 2) {
    // What the second word has above its bits goes to the first, so that both have the same sign or
    // little between them.
    const ExprId carry = b_.raw(RawOp::Shr, DType::I64, {sums[1], number(DType::I64, kMoreBits)});
    const ExprId rest = op(Op::And, sums[1], number(DType::I64, (int64_t{1} << kMoreBits) - 1));
    const ExprId fraction =
        op(Op::Mul, b_.cast(rest, DType::F64), b_.constant(Scalar::of_float(DType::F64, std::ldexp(1.0, -kMoreBits))));
    all = op(Op::Add, b_.cast(op(Op::Add, whole, carry), DType::F64), fraction);
    nothing = op(Op::And, nothing, op(Op::Eq, sums[1], zero));
  }
  const ExprId exact = times_power(all, op(Op::Sub, top, number(DType::I32, unit())));
  const ExprId plus = op(Op::Ne, op(Op::And, whole, number(DType::I64, 0xffffffff)), zero);
  const ExprId minus = op(Op::Ne, b_.raw(RawOp::Shr, DType::I64, {whole, number(DType::I64, 32)}), zero);
  const auto special = [&](double v) { return b_.constant(Scalar::of_float(DType::F64, v)); };
  const ExprId counted =
      where(op(Op::And, plus, minus), special(NAN), where(plus, special(HUGE_VAL), special(-HUGE_VAL)));
  const ExprId more = where(op(Op::Eq, top, number(DType::I32, infinite())), counted, exact);
  return where(nothing, x, b_.cast(op(Op::Add, b_.cast(x, DType::F64), more), dtype_));
}

}  // namespace smelt::kernel

#include "kernel/any_order.hpp"

#include <cmath>

#include "schedule/levels.hpp"

namespace smelt::kernel {
namespace {

constexpr int kFixedBits = 30;  // of a term, as an integer
constexpr int kMoreBits = 31;   // of what remains of it, as a second one
constexpr int64_t kF64Bias = 1023, kF64Mantissa = 52, kF32Bias = 127, kF32Mantissa = 23, kF32Infinite = 255;
// How infinities are counted: +inf in the lower half of the sum, -inf in the upper one, NaN in
// both.
constexpr int64_t kMinusInfinity = int64_t{1} << 32;

// What an infinity or NaN counts as; 0 for other values.
ExprId counted(Builder& b, ExprId x, DType dtype) {
  const auto number = [&](int64_t value) { return b.constant(Scalar::of_int(DType::I64, value)); };
  const auto is = [&](double value) { return b.apply(Op::Eq, {x, b.constant(Scalar::of_float(dtype, value))}); };
  const auto where = [&](ExprId c, ExprId yes, ExprId no) { return b.apply(Op::Where, {c, yes, no}); };
  return where(b.apply(Op::Ne, {x, x}), number(kMinusInfinity + 1),
               where(is(HUGE_VAL), number(1), where(is(-HUGE_VAL), number(kMinusInfinity), number(0))));
}

// The sum of what was counted, an f64.
ExprId sum_of_counted(Builder& b, ExprId count) {
  const auto number = [&](int64_t value) { return b.constant(Scalar::of_int(DType::I64, value)); };
  const auto real = [&](double value) { return b.constant(Scalar::of_float(DType::F64, value)); };
  const ExprId plus = b.apply(Op::Ne, {b.apply(Op::And, {count, number(0xffffffff)}), number(0)});
  const ExprId minus = b.apply(Op::Ne, {b.raw(RawOp::Shr, DType::I64, {count, number(32)}), number(0)});
  return b.apply(Op::Where, {b.apply(Op::And, {plus, minus}), real(NAN),
                             b.apply(Op::Where, {plus, real(HUGE_VAL), real(-HUGE_VAL)})});
}

// 2^e as an f64, where that is a normal number.
ExprId power_of_two(Builder& b, ExprId e) {
  const auto number = [&](int64_t value) { return b.constant(Scalar::of_int(DType::I64, value)); };
  const ExprId biased = b.apply(Op::Add, {b.cast(e, DType::I64), number(kF64Bias)});
  return b.bitcast(b.raw(RawOp::Shl, DType::I64, {biased, number(kF64Mantissa)}), DType::F64);
}

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

// x 2^e, in two steps where e may leave the range of exponents.
ExprId ExactSums::times_power(ExprId x, ExprId e) {
  if (dtype_ == DType::F32) return op(Op::Mul, x, power_of_two(b_, e));
  const ExprId half = b_.raw(RawOp::Shr, DType::I32, {e, number(DType::I32, 1)});
  return op(Op::Mul, op(Op::Mul, x, power_of_two(b_, half)), power_of_two(b_, op(Op::Sub, e, half)));
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
  return where(special, counted(b_, x, dtype_), b_.raw(RawOp::ToInt, DType::I64, {rounded}));
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
  const ExprId more = where(op(Op::Eq, top, number(DType::I32, infinite())), sum_of_counted(b_, whole), exact);
  return where(nothing, x, b_.cast(op(Op::Add, b_.cast(x, DType::F64), more), dtype_));
}

// Sums of a level stay within 62 bits: fewer terms leave more of them for exponents.
LevelSums::LevelSums(Builder& b, DType dtype, const IntExpr& terms) : b_(b), dtype_(dtype) {
  const schedule::Levels levels = schedule::levels_of(terms);
  step_ = levels.exponents;
  levels_ = levels.count;
}

ExprId LevelSums::step() const { return b_.cast(b_.index(step_), DType::I32); }

LevelSums::Bits LevelSums::bits_of(ExprId x) const {
  const ExprId magnitude = op(Op::And, b_.bitcast(x, DType::I32), number(DType::I32, 0x7fffffff));
  const ExprId stored = b_.raw(RawOp::Shr, DType::I32, {magnitude, number(DType::I32, kF32Mantissa)});
  return {magnitude, stored, op(Op::Max, stored, number(DType::I32, 1)),
          op(Op::Eq, stored, number(DType::I32, kF32Infinite))};
}

std::array<ExprId, LevelSums::kFacts> LevelSums::facts(ExprId x) const {
  const Bits bits = bits_of(x);
  const ExprId zero = number(DType::I32, 0), one = number(DType::I32, 1);
  const ExprId none = op(Op::Or, bits.special, op(Op::Eq, bits.magnitude, zero));
  const ExprId above = op(Op::Sub, number(DType::I32, kF32Infinite), bits.exponent);
  return {where(none, zero, bits.exponent), where(none, zero, above), where(bits.special, one, zero)};
}

LevelSums::Known LevelSums::known(const std::array<ExprId, kFacts>& facts) const {
  const ExprId zero = number(DType::I32, 0), least = op(Op::Sub, number(DType::I32, kF32Infinite), facts[1]);
  const ExprId levels = op(Op::Add, op(Op::FloorDiv, op(Op::Sub, facts[0], least), step()), number(DType::I32, 1));
  return {facts[0], where(op(Op::Eq, facts[0], zero), zero, levels), op(Op::Ne, facts[2], zero)};
}

LevelSums::Term LevelSums::term(ExprId x, ExprId top) const {
  const Bits bits = bits_of(x);
  const ExprId zero = number(DType::I32, 0), one = number(DType::I32, 1);
  const ExprId below = op(Op::Max, op(Op::Sub, top, bits.exponent), zero);
  const ExprId level = op(Op::FloorDiv, below, step()), within = op(Op::Sub, below, op(Op::Mul, level, step()));
  const ExprId fraction = op(Op::And, bits.magnitude, number(DType::I32, (1 << kF32Mantissa) - 1));
  const ExprId leading = number(DType::I32, 1 << kF32Mantissa);
  const ExprId mantissa =
      b_.cast(where(op(Op::Eq, bits.stored, zero), fraction, op(Op::Or, fraction, leading)), DType::I64);
  const ExprId shifted =
      b_.raw(RawOp::Shl, DType::I64, {mantissa, b_.cast(op(Op::Sub, op(Op::Sub, step(), one), within), DType::I64)});
  const ExprId none = number(DType::I64, 0);
  const ExprId signed_one = where(op(Op::Lt, b_.bitcast(x, DType::I32), zero), op(Op::Sub, none, shifted), shifted);
  return {where(bits.special, b_.index(levels_ - 1), b_.cast(level, DType::I64)),
          where(bits.special, counted(b_, x, compute_type(dtype_)), signed_one)};
}

ExprId LevelSums::value_of(ExprId sum, ExprId level, ExprId top) const {
  constexpr int64_t kUnit = kF32Bias + kF32Mantissa - 1;
  const ExprId steps = op(Op::Mul, op(Op::Add, level, number(DType::I32, 1)), step());
  const ExprId exponent = op(Op::Sub, op(Op::Sub, top, steps), number(DType::I32, kUnit));
  return op(Op::Mul, b_.cast(sum, DType::F64), power_of_two(b_, exponent));
}

ExprId LevelSums::total(ExprId x, ExprId sum, ExprId any, ExprId last) const {
  const ExprId none = number(DType::I64, 0);
  const ExprId more = where(op(Op::Eq, last, none), sum, sum_of_counted(b_, last));
  const ExprId nothing = op(Op::And, op(Op::Eq, any, none), op(Op::Eq, last, none));
  return where(nothing, x, b_.cast(op(Op::Add, b_.cast(x, DType::F64), more), dtype_));
}

}  // namespace smelt::kernel

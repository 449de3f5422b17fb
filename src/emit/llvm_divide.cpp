// Division of f32 by a constant. Processors of Intel divide 16 numbers in the time of 32
// multiplications, and a program that converts floats to small integers does little else. What this
// makes in 9 instructions is the result of the division, bit for bit.
#include <cmath>

#include "emit/llvm_phase.hpp"
#include "emit/reciprocal.hpp"

namespace smelt::emit {

namespace {

// How far a quotient may lie from a tie, in the words of Markstein (1990) and of Brisebarre, Muller
// and Raina (2004): with c = C 2^k, C of 24 bits, a quotient that is no tie is 1 / 2C of a unit
// away from one.
bool rounds_as_division(float c, float r) {
  int exponent = 0;
  const double m = 2 * std::frexp(static_cast<double>(c), &exponent);       // 1 .. 2
  const double error = std::fabs(static_cast<double>(r) * c - 1) * 0x1p24;  // of r, exact: 48 bits
  const double far = 0.5 + error;                                           // of q, at most, in units of its last place
  return far * m <= 2 && (far <= 1 ? 0.5 : 1.5) * error * m < 1 &&
         error * m < 2;  // e has 24 bits; q - e r is nearer to x / c than ties are
}

// No quotient is a tie among the subnormal numbers: c has a bit worth 1 or less.
bool meets_no_ties(float c) {
  int exponent = 0;
  const auto whole = static_cast<uint32_t>(std::frexp(c, &exponent) * 0x1p24f);
  const int zeros = __builtin_ctz(whole);
  return exponent - 24 + zeros <= 0 && whole >> zeros != 1;
}

// x * r is finite wherever x / c is.
bool stays_finite(float c, float r) {
  if (c >= 1) return true;
  float x = static_cast<float>(c * 0x1p128);
  x = std::nextafterf(std::nextafterf(x, HUGE_VALF), HUGE_VALF);
  for (int i = 0; i < 8; ++i, x = std::nextafterf(x, 0))
    if (std::isfinite(x / c) && !std::isfinite(x * r)) return false;
  return true;
}

}  // namespace

std::optional<float> reciprocal_to_divide_by(float c) {
  if (!(c >= 0x1p-20f && c <= 0x1p40f)) return std::nullopt;
  const float r = 1 / c;
  if (!meets_no_ties(c) || !rounds_as_division(c, r) || !stays_finite(c, r)) return std::nullopt;
  return r;
}

std::optional<Value> PhasePrinter::divide_by_constant(const kernel::Apply& e) {
  if (!target_.slow_division || e.op != Op::Div) return std::nullopt;
  const Scalar* by = kernel_.constant_at(e.args[1]);
  if (!by || by->dtype != DType::F32) return std::nullopt;
  Value x = value_of(e.args[0]);
  if (!x.lanes) return std::nullopt;
  const auto divisor = static_cast<float>(by->f);
  const auto r = reciprocal_to_divide_by(std::fabs(divisor));
  if (!r) return std::nullopt;

  const DType t = DType::F32;
  auto number = [&](double value) { return Value{literal(Scalar::of_float(t, value)), t, 0, 0}; };
  auto minus = [&](const Value& v) { return op("fneg $T $a", t, {v}); };
  auto chosen = [&](const Value& c, const Value& a, const Value& b) {
    return op("select $C $a, $T $b, $T $c", t, {c, a, b});
  };
  const std::string_view fma = "call $T @llvm.fma.$V($T $a, $T $b, $T $c)", times = "fmul $T $a, $b";
  if (divisor < 0) x = minus(x);
  const double c = std::fabs(divisor);
  const Value q = op(times, t, {x, number(*r)});
  const Value size = op("call $T @llvm.fabs.$V($T $a)", t, {q});
  // Where the quotient is small, e is 2^64 times as large, and its factor as much smaller.
  const Value small = op("fcmp olt $T $a, $b", DType::Bool, {size, splat(number(0x1p-30), x.lanes)});
  const Value scaled = chosen(small, op(times, t, {x, number(0x1p64)}), x);
  const Value by_c = chosen(small, splat(number(c * 0x1p64), x.lanes), splat(number(c), x.lanes));
  const Value by_r = chosen(small, splat(number(*r * 0x1p-64), x.lanes), splat(number(*r), x.lanes));
  const Value rest = op(fma, t, {q, by_c, minus(scaled)});
  const Value exact = op(fma, t, {minus(rest), by_r, q});
  // Infinities, and nan.
  const Value finite = op("fcmp olt $T $a, $b", DType::Bool, {size, splat(number(HUGE_VAL), x.lanes)});
  return chosen(finite, exact, q);
}

}  // namespace smelt::emit

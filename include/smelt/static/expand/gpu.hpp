// Functions of f32 for GPUs: as good as those for every target, in as few instructions as can be,
// since there it is the number of instructions that a kernel is bound by once it is not memory.
// They use what smelt/static/unit.hpp lists.
#pragma once

#include "smelt/static/expand/error_function.hpp"
#include "smelt/static/expand/float_format.hpp"
#include "smelt/static/expand/hyperbolic.hpp"
#include "smelt/static/expand/log.hpp"
#include "smelt/static/expand/power.hpp"
#include "smelt/static/expand/trig.hpp"

namespace smelt::expand::gpu {

// c0 + c1 x + c2 x^2 + ..., one step for each term.
template <class V>
SMELT_HD V horner(V x, double c0) {
  return like(x, c0);
}
template <class V, class... Rest>
SMELT_HD V horner(V x, double c0, Rest... rest) {
  return fma(horner(x, rest...), x, like(x, c0));
}

// By the special unit, where operands and results are normal numbers: quotients to 2 ULP, roots to
// 1, also of 0.
struct UnitArithmetic {
  template <class V>
  SMELT_HD V quotient(V a, V b) const {
    return a * reciprocal(b);
  }
  template <class V>
  SMELT_HD V root(V a) const {
    const auto inverse = inverse_root(a + like(a, 0x1p-100)), root = a * inverse;
    return fma(fma(-root, root, a), inverse * like(a, 0.5), root);
  }
};

// c, an f32, has no more than 19 significant bits.
SMELT_HD constexpr bool is_short(double c) {
  const double spread = c * 0x1.00000004p34;
  return spread - (spread - c) == c;
}

// x / c for a number c within 2^-60 .. 2^20, from its reciprocal and what that leaves over: rounded
// correctly where |x| is at least 2^-60.
template <class V>
SMELT_HD V divided_by(V x, double c) {
  const auto inverse = like(x, 1 / c);
  if (static_cast<double>(static_cast<float>(1 / c)) * c == 1) return x * inverse;
  // A quotient by a short number is never nearer than 2^-44 to the middle between two f32, and two
  // parts of 1 / c, of one sign so that infinities stay, give it to 2^-45.
  if (is_short(c)) {
    const double high = static_cast<double>(static_cast<float>(1 / c * (1 - 0x1p-24)));
    return fma(x, like(x, high), x * like(x, 1 / c - high));
  }
  const auto quotient = x * inverse;
  const auto remainder = fma(-quotient, like(x, c), x);
  // What is left over is far below the quotient, but of zeros, of infinities and of what overflows.
  return select(abs(remainder) < abs(quotient), fma(remainder, inverse, quotient), quotient);
}

// An integer n near x * factor, as a float whose lowest bits are n + 127. Saturation keeps n within
// the exponents of normal numbers, also for infinities and nan; what is left over then overflows or
// underflows by itself.
template <class V>
SMELT_HD V power_exponent(V x, double factor) {
  const auto in_range = saturated_fma(x, like(x, factor / 252), like(x, 0.5));
  return fma(in_range, like(x, 252), like(x, format32().to_integer + 1));
}
template <class V>
SMELT_HD V power_number(V exponent) {
  return exponent - like(exponent, format32().to_integer + 127);
}

// 2^(x factor + more): 2^n is put together from its bits, and what is left comes from the unit.
// `more` is a small integer.
template <class V>
SMELT_HD V exp2_of_product(V x, double factor, int more = 0) {
  const double high = static_cast<double>(static_cast<float>(factor));
  const auto exponent = power_exponent(x, factor);
  const auto above = fma(x, like(x, high), -power_number(exponent));
  const auto rest = fma(x, like(x, factor - high), above);
  const auto left = more ? rest + like(x, more) : rest;
  return from_bits(shift_left_by(bits(exponent), format32().mantissa)) * power_of_two(left);
}

template <class V>
SMELT_HD V exp(V x) {
  return exp2_of_product(x, kLog2E);
}

// |x|^y: log2(x) = e + 2 / ln 2 (s + s^3/3 + s^5/5 + ...) with s = (m - 1) / (m + 1), its leading
// terms in two parts, so that it keeps 2^-30 of its value.
template <class V>
SMELT_HD V power(V magnitude, V y) {
  const auto parts = log_parts(magnitude, format32(), 0x1.6a09e6p-1);
  const auto f = parts.fraction, d = f + like(y, 2), inverse = reciprocal(d);
  const auto s = f * inverse, square = s * s, cube = s * square;
  const auto s_low = fma(-s, f - (d - like(y, 2)), fma(-s, d, f)) * inverse;
  const auto tail =
      fma(cube, horner(square, 0x1.555556p-2, 0x1.9996bap-3, 0x1.2576cep-3, 0x1.ac95a6p-4), fma(s_low, square, s_low));
  const auto series = s + tail, series_low = tail - (series - s), factor = like(y, 0x1.715476p+1);
  const auto of_m = series * factor, sum = parts.exponent + of_m;
  const auto of_m_low = fma(series_low, factor, fma(series, like(y, 0x1.4ae0cp-25), fma(series, factor, -of_m)));
  const auto low = of_m_low + (of_m - (sum - parts.exponent));
  const auto finite = select(magnitude < like(y, kInfinity), sum, magnitude);
  const auto logarithm =
      select(magnitude > like(y, 0), finite, select(magnitude < like(y, 1), like(y, -kInfinity), magnitude));
  const auto product = y * logarithm;
  const auto error = fma(y, low, fma(y, logarithm, -product));
  const auto exponent = power_exponent(product, 1);
  const auto rest = (product - power_number(exponent)) + select(abs(product) < like(y, 256), error, like(y, 0));
  return from_bits(shift_left_by(bits(exponent), format32().mantissa)) * power_of_two(rest);
}

template <class V>
SMELT_HD V pow(V x, V y) {
  const auto magnitude = abs(x), one = like(x, 1);
  return signed_power(x, y, select(magnitude == one, one, power(magnitude, y)));
}

// e and log(1 + f), where x = 2^e (1 + f).
template <class V>
struct Logarithm {
  V exponent, fraction;
};

template <class V>
SMELT_HD V log_of_fraction(V f) {
  const auto q = polynomial(f, -0x1.000000p-1, 0x1.555506p-2, -0x1.fffefcp-3, 0x1.99d044p-3, -0x1.559c42p-3,
                            0x1.1ed660p-3, -0x1.f3334cp-4, 0x1.1e679ep-3, -0x1.07c7c8p-3);
  return fma(f * f, q, f);
}

template <class V>
SMELT_HD Logarithm<V> logarithm(V x) {
  const auto subnormal = x < like(x, 0x1p-126);
  const auto normal = select(subnormal, x * like(x, 0x1p24), x);
  const auto high = exponent_bits(bits_around_one(normal, format32()), format32());
  const auto f = from_bits(bits(normal) - high) - like(x, 1);
  const auto lift = select(subnormal, like(x, -24), like(x, 0));
  return {fma(to_float(high), like(x, 0x1p-23), lift), log_of_fraction(f)};
}

// value, but for what a logarithm of x is where x is not finite or not positive. The special unit
// would have that in one instruction, which others then wait for.
template <class V>
SMELT_HD V with_limits(V value, V x) {
  const auto from_zero = as_unsigned(bits(x));
  const auto finite = from_zero < like(from_zero, 0x7f800000);
  const auto infinite = like(x, kInfinity);
  return select(x == like(x, 0), -infinite, select(finite, value, fma(x, infinite, infinite)));
}

template <class V>
SMELT_HD V log(V x) {
  const auto l = logarithm(x);
  return with_limits(fma(l.exponent, like(x, 0x1.62e430p-1), l.fraction), x);
}

template <class V>
SMELT_HD V log2(V x) {
  const auto l = logarithm(x);
  return with_limits(fma(l.fraction, like(x, kLog2E), l.exponent), x);
}

template <class V>
SMELT_HD V log10(V x) {
  const auto l = logarithm(x);
  const auto of_fraction = l.fraction * like(x, 0x1.bcb7b1526e50ep-2);
  return with_limits(fma(l.exponent, like(x, 0x1.34413509f79ffp-2), of_fraction), x);
}

// A tiny x is its own result, where a quarter of it might not be a float, and so is -0.
template <class V>
SMELT_HD V log1p(V x) {
  const auto sum = x + like(x, 1);
  const auto high = exponent_bits(bits_around_one(sum, format32()), format32());
  const auto scale = from_bits(bits(like(x, 4)) - high);  // 4 / 2^e, since 1 / 2^e may be subnormal
  const auto f = fma(x * like(x, 0.25), scale, fma(scale, like(x, 0.25), like(x, -1)));
  const auto value = fma(to_float(high), like(x, 0x1.62e430p-24), log_of_fraction(f));
  return select(abs(x) < like(x, 0x1p-60), x, with_limits(value, sum));
}

template <class V>
SMELT_HD V atan(V x) {
  const auto magnitude = abs(x);
  const auto steep = magnitude > like(x, 1);
  const auto angle = atan_below_one(select(steep, reciprocal(magnitude), magnitude));
  return copysign(select(steep, like(x, format32().half_pi_high) - angle, angle), x);
}

// The angle of the point (x, y). Both are scaled so that the longer one has a reciprocal.
template <class V>
SMELT_HD V atan2(V y, V x) {
  const auto ay = abs(y), ax = abs(x);
  const auto steep = ay > ax;
  const auto longer = select(steep, ay, ax), shorter = select(steep, ax, ay);
  const auto scale = select(longer > like(y, 0x1p32), like(y, 0x1p-32), like(y, 0x1p64));
  const auto ratio = (shorter * scale) * reciprocal(at_least(longer * scale, 0x1p-90));  // 0 at the origin
  const auto angle = atan_below_one(select(shorter == like(y, kInfinity), like(y, 1), ratio));
  const auto from_axis = select(steep, like(y, format32().half_pi_high) - angle, angle);
  const auto left = bits(x) < like(bits(x), 0);
  const auto turned = like(y, 2 * format32().half_pi_high) - (from_axis - like(y, 2 * format32().half_pi_low));
  return copysign(select(left, turned, from_axis), y);
}

// With half = e^|x| / 2, half + 1 / (4 half). The factor 1/2 goes to the part that the unit has, so
// that it overflows where cosh does.
template <class V>
SMELT_HD V cosh(V x) {
  const auto half = exp2_of_product(abs(x), kLog2E, -1);
  return fma(reciprocal(half), like(x, 0.25), half);
}

// Where 2^-17 is enough. bf16 has subnormal numbers where f32 has them.
template <class V>
SMELT_HD V exp_short(V x) {
  return power_of_two_full(x * like(x, kLog2E));
}

// 1 - 2 / (e^2x + 1), and near 0, where that cancels, an odd polynomial.
template <class V>
SMELT_HD V tanh(V x) {
  const auto a = abs(x), square = a * a;
  const auto power = power_of_two(a * like(x, 2 * kLog2E));
  const auto large = fma(reciprocal(power + like(x, 1)), like(x, -2), like(x, 1));
  const auto tail = square * horner(square, -0x1.55542cp-2, 0x1.10c802p-3, -0x1.aec7eep-5, 0x1.0a9868p-6);
  return copysign(select(a > like(x, 0.55), large, fma(a, tail, a)), x);
}

// 1 - 2^p(a), of which nothing is left to add beyond 4; near 0 an odd polynomial.
template <class V>
SMELT_HD V erf(V x) {
  const auto a = abs(x), square = a * a;
  const auto power = power_of_two(
      horner(a, -0x1.589f54p-9, -0x1.9dcbd2p+0, -0x1.e07702p-1, -0x1.0dd2e2p-3, 0x1.71f9c0p-6, -0x1.dd08dep-10));
  const auto ratio =
      horner(square, 0x1.06eba6p-3, -0x1.8126ecp-2, 0x1.ce1b86p-4, -0x1.b69b96p-6, 0x1.479c9ep-8, -0x1.3ba9cep-11);
  return copysign(select(a > like(x, 0.9), like(x, 1) - power, fma(a, ratio, a)), x);
}

// x Phi(x), Phi the normal distribution, where 2^-16 is enough (and 2^-10 beyond -5.7): Phi(-a) is
// 2^p(a), and Phi(a) what is left of 1.
template <class V>
SMELT_HD V gelu_short(V x) {
  const auto a = select(abs(x) < like(x, 14), abs(x), like(x, 14));  // where 2^p is 0
  const auto below =
      power_of_two(horner(a, -0x1.fffee8p-1, -0x1.26be16p+0, -0x1.d5216ep-2, -0x1.bdd3fap-5, 0x1.210cd6p-7,
                          -0x1.11d4fap-10, 0x1.62d44cp-14, -0x1.205acap-18, 0x1.f9ee2ep-24, -0x1.4c77bap-30));
  return x * select(x > like(x, 0), like(x, 1) - below, below);
}

}  // namespace smelt::expand::gpu

// Functions of f32 for GPUs: as good as those for every target, in as few instructions as can be,
// since there it is the number of instructions that a kernel is bound by once it is not memory.
// They use what smelt/static/unit.hpp lists.
#pragma once

#include "smelt/static/expand/float_format.hpp"
#include "smelt/static/expand/log.hpp"
#include "smelt/static/expand/power.hpp"

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

// 2^(x factor): 2^n is put together from its bits, and what is left comes from the unit.
template <class V>
SMELT_HD V exp2_of_product(V x, double factor) {
  const double high = static_cast<double>(static_cast<float>(factor));
  const auto exponent = power_exponent(x, factor);
  const auto above = fma(x, like(x, high), -power_number(exponent));
  const auto rest = fma(x, like(x, factor - high), above);
  return from_bits(shift_left_by(bits(exponent), format32().mantissa)) * power_of_two(rest);
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

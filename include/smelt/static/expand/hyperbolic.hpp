// sinh, cosh, tanh and their inverses.
#pragma once

#include "smelt/static/expand/exp.hpp"
#include "smelt/static/expand/log.hpp"

namespace smelt::expand {

// sinh(n ln 2) / 2 and cosh(n ln 2) / 2, sinh(r) and cosh(r) - 1, where x = n ln 2 + r.
template <class V>
struct HyperbolicParts {
  V sinh_n, cosh_n, sinh_r, cosh_r;
};

// 2^(k - bias), and 0 for negative k.
template <class I>
SMELT_HD auto power_of_exponent_bits(I k, FloatFormat format) {
  return from_bits(shift_left_by(select(k < like(k, 0), like(k, 0), k), format.mantissa));
}

// sinh(r) for |r| <= ln 2 / 2
template <class V>
SMELT_HD V sinh_of_rest(V r) {
  const auto on32 = [](auto r) {
    const auto r2 = square_beside_one(r);
    return fma(r, r2 * polynomial(r2, 0x1.5554b0p-3, 0x1.1227a6p-7), r);
  };
  const auto on64 = [](auto r) {
    const auto r2 = square_beside_one(r);
    const auto p = polynomial(r2, 0x1.5555555555555p-3, 0x1.1111111111388p-7, 0x1.a01a019e9f6b1p-13,
                              0x1.71de40881ed16p-19, 0x1.ae4cb7a427f79p-26, 0x1.82df9b5ca4ea6p-33);
    return fma(r, r2 * p, r);
  };
  return by_width(r, on32, on64);
}

// cosh(r) - 1 for |r| <= ln 2 / 2
template <class V>
SMELT_HD V cosh_of_rest(V r) {
  const auto on32 = [](auto r) {
    const auto r2 = square_beside_one(r);
    return r2 * polynomial(r2, 0x1.000000p-1, 0x1.5554e6p-5, 0x1.6d4f3ep-10);
  };
  const auto on64 = [](auto r) {
    const auto r2 = square_beside_one(r);
    return r2 * polynomial(r2, 0x1.0000000000000p-1, 0x1.5555555555558p-5, 0x1.6c16c16c14ff1p-10, 0x1.a01a01ad86bcap-16,
                           0x1.27e4cbf6e8811p-22, 0x1.1f8c137e298c2p-29);
  };
  return by_width(r, on32, on64);
}

template <class V>
SMELT_HD HyperbolicParts<V> hyperbolic_parts(V x, FloatFormat format) {
  // The limits lie beyond the overflow of the result, but within that of 2^(n-2).
  const auto parts = exp_parts(clamped(x, pick(format, -89.5, -710.6), pick(format, 89.5, 710.6)), format);
  const auto n = bits(parts.exponent) - bits(like(x, exponent_offset(format)));
  const auto rising = power_of_exponent_bits(like(n, format.bias - 2) + n, format);
  const auto falling = power_of_exponent_bits(like(n, format.bias - 2) - n, format);
  return {rising - falling, rising + falling, sinh_of_rest(parts.rest), cosh_of_rest(parts.rest)};
}

// By the addition theorem, which needs no division and does not cancel where x is small.
template <class V>
SMELT_HD V sinh(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    const auto p = hyperbolic_parts(x, format);
    const auto half = p.sinh_n + fma(p.sinh_n, p.cosh_r, p.cosh_n * p.sinh_r);
    return select(abs(x) < like(x, 0x1p-60), x, half + half);
  });
}

template <class V>
SMELT_HD V cosh(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    const auto p = hyperbolic_parts(x, format);
    const auto half = p.cosh_n + fma(p.cosh_n, p.cosh_r, p.sinh_n * p.sinh_r);
    return half + half;
  });
}

// (e^2a - 1) / 2 for 0 <= a <= 10 in f32, with as few dependent steps as there can be: a = n ln 2 /
// 2 + r, and with p = 2^n it is p (e^2r - 1) / 2 + (p - 1) / 2. One step takes n ln 2 / 2 away, for
// what its constant lacks is next to nothing until n is so large that tanh does not see it.
template <class V>
SMELT_HD V half_expm1_of_twice(V a) {
  const auto offset = like(a, format32().to_integer + format32().bias);
  const auto exponent = fma(a, like(a, 2 * kLog2E), offset);
  const auto r = fma(exponent - offset, like(a, -0x1.62e430p-2), a);
  const auto power = from_bits(shift_left_by(bits(exponent), format32().mantissa));
  const auto linear = fma(power, r, fma(power, like(a, 0.5), like(a, -0.5)));
  const auto tail = polynomial(r, 1, 0x1.5554aep-1, 0x1.555726p-2, 0x1.1226ccp-3, 0x1.6ba748p-5);
  return fma(power * r, r * tail, linear);
}

// With half = (e^2|x| - 1) / 2, half / (half + 1): never above 1, and as accurate at its ends as in
// between, which the cheaper rational approximations are not.
template <class V>
SMELT_HD V tanh(V x) {
  const auto of_half = [](auto x, auto half) { return copysign(half / (half + like(x, 1)), x); };
  return by_width(
      x, [&](auto x) { return of_half(x, half_expm1_of_twice(at_most(abs(x), 10))); },
      [&](auto x) { return of_half(x, half_expm1(at_least(abs(x) * like(x, -2), -40), format64())); });
}

// From here on sqrt(x^2 + 1) and sqrt(x^2 - 1) are x in f32 and f64.
inline constexpr double kLarge = 0x1p60;

template <class V, class Arithmetic = RoundedArithmetic>
SMELT_HD V asinh(V x, Arithmetic by = {}) {
  return with_format(x, [&](auto x, FloatFormat format) {
    const auto one = like(x, 1), zero = like(x, 0);
    const auto tiny = abs(x) < like(x, 0x1p-40);
    const auto a = select(tiny, zero, abs(x));
    // Where a + sqrt(a^2 + 1) is 2 a, the 2 goes to the exponent.
    const auto large = a > like(x, kLarge);
    const auto square = a * a;
    const auto sum = a + by.quotient(square, one + by.root(square + one));
    auto parts = log1p_parts(select(large, a, sum), format);
    parts.exponent = parts.exponent + select(large, one, zero);
    const auto value = log_of_parts(parts, format);
    const auto finite = select(a < like(x, kInfinity), value, a);
    return select(tiny, x, copysign(finite, x));
  });
}

template <class V, class Arithmetic = RoundedArithmetic>
SMELT_HD V acosh(V x, Arithmetic by = {}) {
  return with_format(x, [&](auto x, FloatFormat format) {
    const auto one = like(x, 1), zero = like(x, 0);
    const auto large = x > like(x, kLarge);
    const auto above = x - one;
    const auto sum = above + by.root(fma(above, above, above + above));
    auto parts = log1p_parts(select(large, x, sum), format);
    parts.exponent = parts.exponent + select(large, one, zero);
    const auto finite = select(x < like(x, kInfinity), log_of_parts(parts, format), x);
    return select(x < one, like(x, kNan), finite);
  });
}

template <class V, class Arithmetic = RoundedArithmetic>
SMELT_HD V atanh(V x, Arithmetic by = {}) {
  return with_format(x, [&](auto x, FloatFormat format) {
    const auto one = like(x, 1);
    const auto tiny = abs(x) < like(x, 0x1p-40);
    const auto a = select(tiny, like(x, 0), abs(x));
    const auto ratio = by.quotient(a + a, one - a);
    const auto value = like(x, 0.5) * log_of_parts(log1p_parts(ratio, format), format);
    const auto at_pole = select(a == one, like(x, kInfinity), value);
    const auto inside = select(a <= one, at_pole, like(x, kNan));
    return select(tiny, x, copysign(inside, x));
  });
}

}  // namespace smelt::expand

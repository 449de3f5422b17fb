// Logarithms: x = 2^e (1 + f) with 1 + f around 1, and log(1 + f) from a polynomial.
#pragma once

#include "smelt/static/expand/float_format.hpp"

namespace smelt::expand {

// x = 2^exponent * (1 + fraction), for positive x.
template <class V>
struct LogParts {
  V exponent, fraction;
};

// With k = bits_around_one(x), x = 2^e m with 2/3 <= m < 4/3 (f64: sqrt(1/2) <= m < sqrt(2)), for a
// normal x; e is in the exponent bits of k. Another least m may be given.
SMELT_HD double least_fraction(FloatFormat format) { return pick(format, 0x1.555556p-1, 0x1.6a09e667f3bcdp-1); }
template <class V>
SMELT_HD auto bits_around_one(V x, double least) {
  return bits(x) - bits(like(x, least));
}
template <class V>
SMELT_HD auto bits_around_one(V x, FloatFormat format) {
  return bits_around_one(x, least_fraction(format));
}

// k without its mantissa bits: e in the place of an exponent.
template <class I>
SMELT_HD I exponent_bits(I k, FloatFormat format) {
  return k & like(k, -(int64_t{1} << format.mantissa));
}

// e as a float. Not every machine shifts signed 64-bit integers or converts them: in f64 e is made
// positive, and put into the low bits of a float.
template <class V, class I>
SMELT_HD V exponent_as_float(V x, I k, FloatFormat format) {
  constexpr double kTop = 0x1p52, kLift = 1024;
  return by_width(
      x, [&](auto) { return to_float(shift_right_by(k, format.mantissa)); },
      [&](auto x) {
        const auto lifted = as_unsigned(k + like(k, int64_t{1024} << 52));
        const auto e = as_signed(shift_right_by(lifted, 52));
        return from_bits(e | bits(like(x, kTop))) - like(x, kTop + kLift);
      });
}

template <class V>
SMELT_HD LogParts<V> log_parts(V x, FloatFormat format, double least) {
  const double up = pick(format, 0x1p24, 0x1p53);
  const auto subnormal = x < like(x, pick(format, 0x1p-126, 0x1p-1022));
  const auto normal = select(subnormal, x * like(x, up), x);
  const auto k = bits_around_one(normal, least);
  const auto m = from_bits(bits(normal) - exponent_bits(k, format));
  const auto lift = select(subnormal, like(x, pick(format, 24, 53)), like(x, 0));
  return {exponent_as_float(x, k, format) - lift, m - like(x, 1)};
}
template <class V>
SMELT_HD LogParts<V> log_parts(V x, FloatFormat format) {
  return log_parts(x, format, least_fraction(format));
}

// log(1 + f) - f
template <class V>
SMELT_HD V log1p_tail(V f) {
  const auto on32 = [](auto f) {
    const auto q = polynomial(f, -0x1.000000p-1, 0x1.555506p-2, -0x1.fffefcp-3, 0x1.99d044p-3, -0x1.559c42p-3,
                              0x1.1ed660p-3, -0x1.f3334cp-4, 0x1.1e679ep-3, -0x1.07c7c8p-3);
    return f * f * q;
  };
  // A polynomial in f would need twice as many terms as this one in s = f / (2 + f): log(1 + f) is
  // log((1 + s) / (1 - s)) = 2s + s^3 (2/3 + ...), and 2s = f - s f.
  const auto on64 = [](auto f) {
    const auto s = f / (f + like(f, 2));
    const auto s2 = s * s;
    const auto r =
        s2 * polynomial(s2, 0x1.5555555555593p-1, 0x1.999999997f9d0p-2, 0x1.249249422e946p-2, 0x1.c71c51d2b60eep-3,
                        0x1.74664b0a2dba2p-3, 0x1.39a06b1a0fbbfp-3, 0x1.2f1372c2f97d7p-3);
    const auto half_square = like(f, 0.5) * f * f;
    return fma(s, half_square + r, -half_square);
  };
  return by_width(f, on32, on64);
}

// value, but for what a logarithm of any base has at the ends of its domain.
template <class V>
SMELT_HD V with_log_specials(V x, V value) {
  const auto infinite = like(x, kInfinity);
  const auto finite = select(x < infinite, value, x);
  const auto at_zero = select(x == like(x, 0), -infinite, finite);
  return select(x < like(x, 0), like(x, kNan), at_zero);
}

// e ln 2 + log(1 + f)
template <class V>
SMELT_HD V log_of_parts(LogParts<V> parts, FloatFormat format) {
  const auto f = parts.fraction, e = parts.exponent;
  const auto low = fma(e, like(f, format.ln2_low), log1p_tail(f));
  return fma(e, like(f, format.ln2_high), f + low);
}

template <class V>
SMELT_HD V log(V x) {
  return with_format(
      x, [](auto x, FloatFormat format) { return with_log_specials(x, log_of_parts(log_parts(x, format), format)); });
}

template <class V>
SMELT_HD V log2(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    const auto parts = log_parts(x, format);
    const auto f = parts.fraction;
    // log2(e) = 1 + 0.44...: f itself is exact.
    const auto tail = log1p_tail(f);
    const auto low = fma(tail, like(x, kLog2E), f * like(x, kLog2E - 1));
    return with_log_specials(x, parts.exponent + (f + low));
  });
}

template <class V>
SMELT_HD V log10(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    const auto parts = log_parts(x, format);
    const auto f = parts.fraction, e = parts.exponent, log10_e = like(x, 0x1.bcb7b1526e50ep-2);
    // log10(2), of which the high part is short.
    const auto high = like(x, pick(format, 0x1.344p-2, 0x1.34413509f7800p-2));
    const auto low = like(x, pick(format, 0x1.3509f79fef312p-18, 0x1.fef311f12b358p-46));
    const auto tail = fma(e, low, log1p_tail(f) * log10_e);
    return with_log_specials(x, fma(e, high, fma(f, log10_e, tail)));
  });
}

// 1 + x = 2^e (1 + f), without rounding 1 + x first, for x > -1.
template <class V>
SMELT_HD LogParts<V> log1p_parts(V x, FloatFormat format) {
  const auto k = bits_around_one(x + like(x, 1), format);
  // 4 / 2^e, since 1 / 2^e may be subnormal.
  const auto scale = from_bits(bits(like(x, 4)) - exponent_bits(k, format));
  const auto f = fma(x * like(x, 0.25), scale, scale * like(x, 0.25) - like(x, 1));
  return {exponent_as_float(x, k, format), f};
}

template <class V>
SMELT_HD V log1p(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    // A tiny x is its own result, where a quarter of it or its square might not be a normal number,
    // and so is -0.
    const auto tiny = abs(x) < like(x, 0x1p-60);
    const auto value = log_of_parts(log1p_parts(select(tiny, like(x, 0), x), format), format);
    const auto finite = select(x < like(x, kInfinity), value, x);
    const auto at_pole = select(x == like(x, -1), like(x, -kInfinity), finite);
    const auto inside = select(x < like(x, -1), like(x, kNan), at_pole);
    return select(tiny, x, inside);
  });
}

}  // namespace smelt::expand

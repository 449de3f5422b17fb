// pow, cbrt and hypot.
#pragma once

#include "smelt/static/expand/exp.hpp"
#include "smelt/static/expand/log.hpp"
#include "smelt/static/expand/pair.hpp"

namespace smelt::expand {

// log2(1 + f) / f in f64 to 2^-33, enough for powers in f32.
template <class V>
SMELT_HD V log2_for_f32(V f) {
  return polynomial(f, 0x1.715476521c99dp+0, -0x1.71547650f9a81p-1, 0x1.ec70a38f930b0p-2, -0x1.71548079f9febp-2,
                    0x1.2774619453ebdp-2, -0x1.ec69bf72118dep-3, 0x1.a6cdbd5340cbcp-3, -0x1.7235861534097p-3,
                    0x1.3c3351c937d70p-3, -0x1.1a271745aacb2p-3, 0x1.6821e67416a4fp-3, -0x1.5254b626e2493p-3);
}

// |x|^y in f32, through a logarithm in f64.
template <class V>
SMELT_HD V power_32(V magnitude, V y) {
  const auto wide = widen(magnitude);
  // No f32 is subnormal in f64. Division by 2^e leaves 2/3 <= m < 4/3.
  const auto k = bits(wide) - bits(like(wide, 0x1.5555555555555p-1));
  const auto m = from_bits(bits(wide) - (k & like(k, -(int64_t{1} << 52))));
  const auto f = m - like(wide, 1);
  const auto finite = fma(f, log2_for_f32(f), exponent_as_float(wide, k, format64()));
  const auto infinite = like(wide, kInfinity);
  const auto below_infinity = select(wide < infinite, finite, wide);
  const auto logarithm = select(wide == like(wide, 0), -infinite, below_infinity);
  // A finite y keeps 1^y from being nan, and is as good as infinity for any other base.
  const auto power = clamped(logarithm * clamped(widen(y), -0x1p40, 0x1p40), least_exponent(format32()), 129);
  const auto whole = rint(power);
  const auto rest = narrow(power - whole), n = narrow(whole);
  const auto exponent = n + like(n, exponent_offset(format32()));
  return scaled(twice_exp2_of_rest(rest), exponent, format32());
}

// log2(m) for sqrt(1/2) <= m < sqrt(2), to about 2^-68: with s = (m - 1) / (m + 1), log m = 2 (s +
// s^3/3 + s^5/5 + ...), of which the leading terms are kept in pairs.
template <class V>
SMELT_HD Pair<V> log2_in_pair(V m) {
  const auto f = m - like(m, 1), d = m + like(m, 1);
  const auto d_error = f - (d - like(m, 2));
  const auto inverse = like(m, 1) / d;
  const auto quotient = f * inverse;
  const auto remainder = fma(-quotient, d_error, fma(-quotient, d, f));
  const Pair<V> s = {quotient, remainder * inverse};
  const auto s2 = product(s, s);
  const auto tail =
      s2.high * polynomial(s2.high, 0x1.24924924927d2p-3, 0x1.c71c71c659116p-4, 0x1.745d17d800570p-4,
                           0x1.3b137802782e0p-4, 0x1.111dd6d351d65p-4, 0x1.de9d102209c27p-5, 0x1.e7eccf8142fb5p-5);
  auto fifth = sum_of_ordered(like(m, 0x1.999999999999ap-3), tail);
  fifth.low = fifth.low + like(m, -0x1.999999999999ap-57);
  const auto fifth_s2 = product(s2, fifth);
  auto third = sum_of_ordered(like(m, 0x1.5555555555555p-2), fifth_s2.high);
  third.low = third.low + (fifth_s2.low + like(m, 0x1.5555555555555p-56));
  const auto third_s2 = product(s2, third);
  auto one = sum_of_ordered(like(m, 1), third_s2.high);
  one.low = one.low + third_s2.low;
  // 2 / ln 2
  return product(product(s, one), pair_like(m, 0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55));
}

// |x|^y in f64, the logarithm as a pair.
template <class V>
SMELT_HD V power_64(V magnitude, V y) {
  const auto parts = log_parts(magnitude, format64());
  const auto of_m = log2_in_pair(parts.fraction + like(y, 1));
  auto logarithm = sum_of_ordered(parts.exponent, of_m.high);
  logarithm.low = logarithm.low + of_m.low;
  const auto infinite = like(y, kInfinity);
  const auto below_infinity = select(magnitude < infinite, logarithm.high, magnitude);
  const auto high = select(magnitude == like(y, 0), -infinite, below_infinity);
  // A finite y keeps 1^y from being nan, and is as good as infinity for any other base.
  const auto factor = clamped(y, -0x1p70, 0x1p70);
  const auto product_high = factor * high;
  const auto power = clamped(product_high, least_exponent(format64()), 1025);
  const auto error = fma(factor, logarithm.low, fma(factor, high, -product_high));
  const auto offset = like(y, exponent_offset(format64()));
  const auto exponent = power + offset;
  const auto rest = (power - (exponent - offset)) + select(power == product_high, error, like(y, 0));
  return scaled(twice_exp2_of_rest(rest), exponent, format64());
}

// x^y from |x|^y.
template <class V>
SMELT_HD V signed_power(V x, V y, V power) {
  const auto zero = like(x, 0), one = like(x, 1);
  const auto half = y * like(y, 0.5);
  const auto y_is_integer = trunc(y) == y;
  const auto y_is_odd = y_is_integer & (trunc(half) != half);
  const auto negative = bits(x) < like(bits(x), 0);
  const auto with_sign = select(negative & y_is_odd, -power, power);
  const auto no_real_root = (x < zero) & (abs(x) < like(x, kInfinity)) & !y_is_integer;
  const auto value = select(no_real_root, like(x, kNan), with_sign);
  return select((x == one) | (y == zero), one, value);
}

template <class V>
SMELT_HD V pow(V x, V y) {
  return with_format(x, [&](auto x, FloatFormat) {
    const auto magnitude = abs(x);
    const auto power = by_width(
        x, [&](auto) { return power_32(magnitude, y); }, [&](auto) { return power_64(magnitude, y); });
    return signed_power(x, y, power);
  });
}

template <class V>
SMELT_HD V cbrt(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    // |x| = 8^q m with 1/3 <= m < 8/3.
    const auto parts = log_parts(abs(x), format);
    const auto q = rint(parts.exponent * like(x, 1.0 / 3));
    const auto two_bits = fma(q, like(x, -3), parts.exponent);
    const auto to_integer = like(x, format.to_integer);
    const auto as_exponent = [&](auto n) { return shift_left_by(bits(n + to_integer), format.mantissa); };
    const auto m = from_bits(bits(parts.fraction + like(x, 1)) + as_exponent(two_bits));
    // r = 1 / cbrt(m), each step with three times as many digits.
    auto r = polynomial(m, 0x1.ede634p+0, -0x1.e848ccp+0, 0x1.688d02p+0, -0x1.02ebeep-1, 0x1.181076p-4);
    for (int step = 0; step < (format.mantissa == format32().mantissa ? 1 : 2); ++step) {
      const auto h = fma(-m * r, r * r, like(x, 1));
      r = fma(r * h, fma(h, like(x, 2.0 / 9), like(x, 1.0 / 3)), r);
    }
    const auto root = m * r * r;
    const auto better = fma(fma(-root * root, root, m) * (r * r), like(x, 1.0 / 3), root);
    const auto scaled = from_bits(bits(better) + as_exponent(q));
    const auto finite = select(abs(x) < like(x, kInfinity), copysign(scaled, x), x);
    return select(x == like(x, 0), x, finite);
  });
}

template <class V>
SMELT_HD V hypot(V a, V b) {
  return with_format(a, [&](auto a, FloatFormat format) {
    const auto x = abs(a), y = abs(b);
    const auto longer = select(x > y, x, y), shorter = select(x > y, y, x);
    // A power of two that brings the longer side near 1, and its inverse, both normal numbers.
    const auto k = bits(longer);
    const auto one_bit = shift_left_by(like(k, 1), format.mantissa);
    const auto e = k & like(k, format.mantissa == format32().mantissa ? 0x7f800000 : 0x7ff0000000000000);
    const int least = format.mantissa == format32().mantissa ? 25 : 60;
    const auto bounded = select(e < one_bit * like(k, least), one_bit * like(k, least), e);
    const auto down = from_bits(one_bit * like(k, 2 * format.bias + 1) - bounded);
    const auto up = from_bits(bounded - one_bit);
    const auto p = longer * down, q = shorter * down;
    const auto length = sqrt(fma(p, p, q * q)) * up;
    const auto infinite = like(a, kInfinity);
    return select((x == infinite) | (y == infinite), infinite, length);
  });
}

}  // namespace smelt::expand

// exp, exp2 and expm1: x = n ln 2 + r with |r| <= ln 2 / 2, a polynomial in r, and 2^n put together
// from its exponent bits.
#pragma once

#include "smelt/static/expand/float_format.hpp"

namespace smelt::expand {

// x = n ln 2 + rest. It is n - 1 that is kept, here and below: the largest results are 2^128 times
// something below 1, but 2^128 is no float.
template <class V>
struct ExpParts {
  V rest;
  V exponent;  // a float whose lowest bits are n - 1 + bias
};

SMELT_HD double exponent_offset(FloatFormat format) { return format.to_integer + format.bias - 1; }

template <class V>
SMELT_HD ExpParts<V> exp_parts(V x, FloatFormat format) {
  const auto offset = like(x, exponent_offset(format));
  const auto exponent = fma(x, like(x, kLog2E), offset);
  const auto n = exponent - offset;
  const auto high = fma(n, like(x, -format.ln2_high), x);
  return {fma(n, like(x, -format.ln2_low), high), exponent};
}

// The same of x + low, where low is far below x.
template <class V>
SMELT_HD ExpParts<V> exp_parts(V x, V low, FloatFormat format) {
  const auto offset = like(x, exponent_offset(format));
  const auto exponent = fma(x, like(x, kLog2E), offset);
  const auto n = exponent - offset;
  const auto high = fma(n, like(x, -format.ln2_high), x);
  return {high + fma(n, like(x, -format.ln2_low), low), exponent};
}

// 2^(n-1), where that is a normal number.
template <class V>
SMELT_HD V half_power_of_two(V exponent, FloatFormat format) {
  return from_bits(shift_left_by(bits(exponent), format.mantissa));
}

// No exponent is below this. In f64 a product so far below the subnormal numbers is 0 at once: from
// the normal ones to there an Intel Xeon takes 150 cycles for a vector (measured).
SMELT_HD double least_exponent(FloatFormat format) { return pick(format, -162, -1091); }

// doubled * 2^(n-1), for a doubled below 4. Where 2^(n-1) is below the normal numbers, f32 counts
// how many times 2^-149 the result is, up to 2^24, which is what its bits say: an Intel Xeon takes
// 150 cycles for a product that is subnormal. Not every CPU has vectors of such counts in f64,
// which goes in two steps. Either rounds once.
template <class V>
SMELT_HD V scaled(V doubled, V exponent, FloatFormat format) {
  const auto k = bits(exponent);
  const auto tiny = exponent < like(exponent, format.to_integer + 1);
  const auto power = [&](int more) {
    return from_bits(shift_left_by(k + select(tiny, like(k, more), like(k, 0)), format.mantissa));
  };
  const auto on32 = [&](auto doubled) {
    const auto count = doubled * power(149);
    return select(tiny, from_bits(to_int(rint(count))), count);
  };
  const auto on64 = [&](auto doubled) {
    return doubled * power(128) * select(tiny, like(doubled, 0x1p-128), like(doubled, 1));
  };
  return by_width(doubled, on32, on64);
}

// 2 e^r
template <class V>
SMELT_HD V twice_exp_of_rest(V r) {
  const auto on32 = [](auto r) {
    return polynomial(r, 2, 2, 0x1.fffffcp-1, 0x1.555492p-2, 0x1.5558b8p-4, 0x1.1239a2p-6, 0x1.6a451cp-9);
  };
  const auto on64 = [](auto r) {
    return polynomial(r, 2, 2, 0x1.000000000000ap+0, 0x1.555555555550ap-2, 0x1.5555555550772p-4, 0x1.1111111124ccfp-6,
                      0x1.6c16c18446638p-9, 0x1.a01a013699d67p-12, 0x1.a01999e38f509p-15, 0x1.71df0f594e912p-18,
                      0x1.28ad8886f36a7p-21, 0x1.ad9c4264579d4p-25);
  };
  return by_width(r, on32, on64);
}

template <class V>
SMELT_HD V exp(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    const auto inside = clamped(x, pick(format, -113, -757), pick(format, 89, 710));
    const auto parts = exp_parts(inside, format);
    return scaled(twice_exp_of_rest(parts.rest), parts.exponent, format);
  });
}

// 2 * 2^r for |r| <= 1/2
template <class V>
SMELT_HD V twice_exp2_of_rest(V r) {
  const auto on32 = [](auto r) {
    return polynomial(r, 2, 0x1.62e430p+0, 0x1.ebfbdcp-2, 0x1.c6af7ap-4, 0x1.3b2ddcp-6, 0x1.5f095ep-9, 0x1.417064p-12);
  };
  const auto on64 = [](auto r) {
    return polynomial(r, 2, 0x1.62e42fefa39efp+0, 0x1.ebfbdff82c59cp-2, 0x1.c6b08d704a0d4p-4, 0x1.3b2ab6fba11f4p-6,
                      0x1.5d87fe78b3bb4p-9, 0x1.4309130c01739p-12, 0x1.ffcbfbf8bd368p-16, 0x1.62bfcddd80890p-19,
                      0x1.b5260db5e4eb8p-23, 0x1.e611a21f39fd6p-27, 0x1.e80ec7e82e537p-31);
  };
  return by_width(r, on32, on64);
}

template <class V>
SMELT_HD V exp2(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    const auto inside = clamped(x, least_exponent(format), pick(format, 129, 1025));
    const auto offset = like(x, exponent_offset(format));
    const auto exponent = inside + offset;
    const auto rest = inside - (exponent - offset);
    return scaled(twice_exp2_of_rest(rest), exponent, format);
  });
}

// e^r - 1
template <class V>
SMELT_HD V expm1_of_rest(V r) {
  const auto on32 = [](auto r) {
    const auto q = polynomial(r, 0x1.fffffep-2, 0x1.5554b4p-3, 0x1.5556f2p-5, 0x1.12254ap-7, 0x1.6b9c68p-10);
    return fma(r * r, q, r);
  };
  const auto on64 = [](auto r) {
    const auto q = polynomial(r, 0x1.0000000000005p-1, 0x1.5555555555559p-3, 0x1.55555555524f7p-5, 0x1.111111111303fp-7,
                              0x1.6c16c17e0ee32p-10, 0x1.a01a018e603bdp-13, 0x1.a019a9e6ec830p-16,
                              0x1.71de5abbd3cacp-19, 0x1.289f847231521p-22, 0x1.aea60aafa41f1p-26);
    return fma(r * r, q, r);
  };
  return by_width(r, on32, on64);
}

// (e^x - 1) / 2, for x in the range of exp_parts that gives no subnormal power of two.
template <class V>
SMELT_HD V half_expm1(V x, FloatFormat format) {
  const auto parts = exp_parts(x, format);
  const auto half_power = half_power_of_two(parts.exponent, format);
  return fma(half_power, expm1_of_rest(parts.rest), half_power - like(x, 0.5));
}

template <class V>
SMELT_HD V expm1(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    // A tiny x is its own result, where half of it or its square might not be a normal number, and
    // so is -0.
    const auto tiny = abs(x) < like(x, 0x1p-60);
    const auto inside = clamped(select(tiny, like(x, 0), x), pick(format, -18, -38), pick(format, 89, 710));
    const auto half = half_expm1(inside, format);
    return select(tiny, x, half + half);
  });
}

}  // namespace smelt::expand

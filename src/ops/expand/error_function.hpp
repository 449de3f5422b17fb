// erf and erfc.
#pragma once

#include "ops/expand/exp.hpp"

namespace smelt::expand {

// -log2(erfc(a)) / a for 0 <= a, as far as 1 - erfc(a) is not 1.
template <class V>
V erf_exponent(V a) {
  const auto on32 = [](auto a) {
    return polynomial(a, 0x1.a0be84p+0, 0x1.d63ebep-1, 0x1.2fad02p-3, -0x1.c4dc7ep-6, -0x1.c60acep-13, 0x1.398a24p-9,
                      -0x1.dbd1fep-11, 0x1.61e768p-13, -0x1.bee0b8p-17);
  };
  const auto on64 = [](auto a) {
    return polynomial(a, 0x1.a0be83d8d032dp+0, 0x1.d63ed7499580fp-1, 0x1.2fa7eecb34045p-3, -0x1.c4242d0ffb15dp-6,
                      -0x1.3c76d6dc2fdb9p-12, 0x1.40bf3e642baf2p-9, -0x1.be5b283ae99d4p-11, 0x1.38bd53f115539p-15,
                      0x1.86d9dde297d11p-14, -0x1.6a2ee35f602b7p-15, 0x1.68b040cef1214p-18, 0x1.d95537350d154p-19,
                      -0x1.079cbcf099316p-19, 0x1.faa36b2dc0ffdp-25, 0x1.f20723d7bfdd7p-22, -0x1.6ac75581a0bb6p-22,
                      0x1.3eed4fd86e4b8p-23, -0x1.980ff2b3b6a7ep-25, 0x1.8eb9570ba571ap-27, -0x1.2c0082c9df9dap-29,
                      0x1.573d9849d5e4cp-32, -0x1.2152cd19e7866p-35, 0x1.52f970ec4ad19p-39, -0x1.ece1c4f922d51p-44,
                      0x1.4eb518d18f383p-49);
  };
  return by_width(a, on32, on64);
}

// 2^r - 1 for |r| <= 1/2
template <class V>
V exp2m1_of_rest(V r) {
  const auto on32 = [](auto r) {
    return r *
           polynomial(r, 0x1.62e430p-1, 0x1.ebfbdcp-3, 0x1.c6af7cp-5, 0x1.3b2de0p-7, 0x1.5f0838p-10, 0x1.416b82p-13);
  };
  const auto on64 = [](auto r) {
    return r * polynomial(r, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c59cp-3, 0x1.c6b08d704a0d4p-5, 0x1.3b2ab6fba11f2p-7,
                          0x1.5d87fe78b3c5ep-10, 0x1.4309130c01b10p-13, 0x1.ffcbfbf8724eap-17, 0x1.62bfcddd5612cp-20,
                          0x1.b5260e6400d34p-24, 0x1.e611a1dfbd6b5p-28, 0x1.e80dbcc58dda8p-32);
  };
  return by_width(r, on32, on64);
}

// 1 - 2^(-a p(a)), which is good near 0 and at 1, and in between.
template <class V>
V erf(V x) {
  return with_format(x, [](auto x, const FloatFormat& format) {
    const auto a = abs(x), end = like(x, pick(format, 4, 6));
    const auto inside = select(a > end, end, a);
    const auto power = -inside * erf_exponent(inside);
    const auto offset = like(x, exponent_offset(format));
    const auto exponent = power + offset;
    const auto rest = power - (exponent - offset);
    const auto half_power = half_power_of_two(exponent, format);
    const auto half = fma(half_power, exp2m1_of_rest(rest), half_power - like(x, 0.5));
    return copysign(half + half, x);
  });
}

// erfc(a) e^(a^2) / v at t = 1 - v, where v = 6 / (a + 3)
template <class V>
V scaled_erfc_at(V t) {
  const auto on32 = [](auto t) {
    return polynomial(t, 0x1.6e9828p-3, -0x1.2d8830p-3, 0x1.92edcap-4, -0x1.a7e3cap-5, 0x1.466844p-6, -0x1.2523bep-8,
                      -0x1.b24306p-13, 0x1.0c4f96p-11, -0x1.465c40p-14, -0x1.b556c2p-15);
  };
  const auto on64 = [](auto t) {
    return polynomial(t, 0x1.6e9827d229d2dp-3, -0x1.2d882f67c6cf9p-3, 0x1.92ede1b27d8f1p-4, -0x1.a7e42c5727c30p-5,
                      0x1.4663f6120f858p-6, -0x1.2506628f17897p-8, -0x1.a7c534184a115p-13, 0x1.091ed16a6ef32p-11,
                      -0x1.7f4bd6ba87371p-14, -0x1.82f6a51e3cb3ap-15, 0x1.2cc36effc40e0p-16, 0x1.53ff35631b86ap-18,
                      -0x1.86cc9f13d1d03p-19, -0x1.a8ee13bda766fp-21, 0x1.eea7f7aa2956cp-22, 0x1.654406ad0cbdfp-23,
                      -0x1.2284e7a5204fbp-24, -0x1.4c67b748e37aep-25, 0x1.f8bce627b7983p-28, 0x1.17fb9eed40607p-27,
                      -0x1.dafdf081412d9p-36, -0x1.43238f5a8d858p-30, -0x1.397dbf50cb5ddp-33, 0x1.db27221a53e1ep-35);
  };
  return by_width(t, on32, on64);
}

// erfc(a) e^(a^2) for a >= 0
template <class V>
V scaled_erfc(V a) {
  const auto sum = a + like(a, 3), sum_error = a - (sum - like(a, 3));
  const auto v = like(a, 6) / sum;
  const auto value = v * scaled_erfc_at(like(a, 1) - v);
  // v is that of a slightly different a: the difference, from what the roundings left over, times the slope of the function,
  // which is 2 a value - 2 / sqrt(pi).
  const auto remainder = fma(-v, sum, like(a, 6)) - v * sum_error;
  const auto slope = fma(a + a, value, like(a, -0x1.20dd750429b6dp+0));
  return fma(slope * sum, remainder * like(a, -1.0 / 6), value);
}

template <class V>
V erfc(V x) {
  return with_format(x, [](auto x, const FloatFormat& format) {
    // Beyond the end the result is 0.
    const auto a = clamped(abs(x), 0, pick(format, 10.2, 27.3));
    const auto square = a * a, square_error = fma(a, a, -square);
    const auto parts = exp_parts(-square, format);
    const auto doubled = twice_exp_of_rest(parts.rest - square_error) * scaled_erfc(a);
    const auto right = scaled(doubled, parts.exponent, square > like(x, pick(format, 80, 700)), format);
    return select(x < like(x, 0), like(x, 2) - right, right);
  });
}

}  // namespace smelt::expand

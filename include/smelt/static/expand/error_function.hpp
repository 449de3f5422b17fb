// erf and erfc.
#pragma once

#include "smelt/static/expand/exp.hpp"

namespace smelt::expand {

// -log2(erfc(a)) / a for 0 <= a, as far as 1 - erfc(a) is not 1.
template <class V>
SMELT_HD V erf_exponent(V a) {
  const auto on32 = [](auto a) {
    return polynomial(a, 0x1.a0be84p+0, 0x1.d63ebep-1, 0x1.2facfcp-3, -0x1.c4da7ep-6, -0x1.c9d28ep-13, 0x1.39f456p-9,
                      -0x1.dd3f42p-11, 0x1.6426fep-13, -0x1.c3f264p-17);
  };
  const auto on64 = [](auto a) {
    return polynomial(a, 0x1.a0be83d8d032dp+0, 0x1.d63ed7499580cp-1, 0x1.2fa7eecb343b3p-3, -0x1.c4242d1024f67p-6,
                      -0x1.3c76d65d79fe5p-12, 0x1.40bf3df38e56bp-9, -0x1.be5b202b3e798p-11, 0x1.38bbc209b64f0p-15,
                      0x1.86db94519438cp-14, -0x1.6a34251e57da6p-15, 0x1.68dbfe1de27f5p-18, 0x1.d9220a58a6269p-19,
                      -0x1.07a3573410a1ap-19, 0x1.039a46f0d14d4p-24, 0x1.f0247446c6f53p-22, -0x1.695d9de801117p-22,
                      0x1.3d66e287aa996p-23, -0x1.9596479f790a2p-25, 0x1.8baa27b39d003p-27, -0x1.29217cbc5e622p-29,
                      0x1.53365e6dd6692p-32, -0x1.1d3ae451a5ccap-35, 0x1.4d488416d426ep-39, -0x1.e33335bef7e30p-44,
                      0x1.471c3abe0542cp-49);
  };
  return by_width(a, on32, on64);
}

// 2^r - 1 for |r| <= 1/2
template <class V>
SMELT_HD V exp2m1_of_rest(V r) {
  const auto on32 = [](auto r) {
    return r *
           polynomial(r, 0x1.62e430p-1, 0x1.ebfbdcp-3, 0x1.c6af7ap-5, 0x1.3b2ddcp-7, 0x1.5f095ep-10, 0x1.417064p-13);
  };
  const auto on64 = [](auto r) {
    return r * polynomial(r, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c59cp-3, 0x1.c6b08d704a0d4p-5, 0x1.3b2ab6fba11f4p-7,
                          0x1.5d87fe78b3bb4p-10, 0x1.4309130c01739p-13, 0x1.ffcbfbf8bd368p-17, 0x1.62bfcddd80890p-20,
                          0x1.b5260db5e4eb8p-24, 0x1.e611a21f39fd6p-28, 0x1.e80ec7e82e537p-32);
  };
  return by_width(r, on32, on64);
}

// 1 - 2^(-a p(a)), which is good near 0 and at 1, and in between.
template <class V>
SMELT_HD V erf(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
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
SMELT_HD V scaled_erfc_at(V t) {
  const auto on32 = [](auto t) {
    return polynomial(t, 0x1.6e9828p-3, -0x1.2d8830p-3, 0x1.92edcap-4, -0x1.a7e3cap-5, 0x1.46680ep-6, -0x1.252612p-8,
                      -0x1.b21214p-13, 0x1.0c9426p-11, -0x1.44ba66p-14, -0x1.b4e1fap-15);
  };
  const auto on64 = [](auto t) {
    return polynomial(t, 0x1.6e9827d229d2dp-3, -0x1.2d882f67c6cf9p-3, 0x1.92ede1b27d872p-4, -0x1.a7e42c5727bd3p-5,
                      0x1.4663f612165c7p-6, -0x1.2506628f22243p-8, -0x1.a7c53461a9914p-13, 0x1.091ed1701f706p-11,
                      -0x1.7f4bd06629a57p-14, -0x1.82f6a7a93f669p-15, 0x1.2cc2cb02c4aa8p-16, 0x1.53ff69b37f5dcp-18,
                      -0x1.86b7c89da395bp-19, -0x1.a8ea67f3a07f4p-21, 0x1.ecf13c013c913p-22, 0x1.64b32ce9ef893p-23,
                      -0x1.16d5d08019c45p-24, -0x1.45ddcc971d7e6p-25, 0x1.3151ceaeed7abp-28, 0x1.e2fcfff8de68ap-28,
                      0x1.dd04afe790063p-30, -0x1.65bfd85054542p-32, -0x1.4e2fa5e115269p-31, -0x1.cf06493be6327p-33);
  };
  return by_width(t, on32, on64);
}

// erfc(a) e^(a^2) for a >= 0
template <class V, class Arithmetic>
SMELT_HD V scaled_erfc(V a, Arithmetic by) {
  const auto sum = a + like(a, 3), sum_error = a - (sum - like(a, 3));
  const auto v = by.quotient(like(a, 6), sum);
  const auto factor = scaled_erfc_at(like(a, 1) - v);
  // v is that of a slightly different a: the difference, from what the roundings left over, times
  // the slope of the function, which is 2 a value - 2 / sqrt(pi).
  const auto remainder = fma(-v, sum, like(a, 6)) - v * sum_error;
  const auto slope = fma(a + a, v * factor, like(a, -0x1.20dd750429b6dp+0));
  return fma(v, factor, slope * sum * (remainder * like(a, -1.0 / 6)));
}

template <class V, class Arithmetic = RoundedArithmetic>
SMELT_HD V erfc(V x, Arithmetic by = {}) {
  return with_format(x, [&](auto x, FloatFormat format) {
    // Beyond the end the result is 0.
    const auto a = clamped(abs(x), 0, pick(format, 10.7, 27.6));
    const auto square = square_beside_one(a), square_error = fma(a, a, -square);
    const auto parts = exp_parts(-square, -square_error, format);
    const auto doubled = twice_exp_of_rest(parts.rest) * scaled_erfc(a, by);
    const auto right = scaled(doubled, parts.exponent, format);
    return select(x < like(x, 0), like(x, 2) - right, right);
  });
}

}  // namespace smelt::expand

// sin, cos and tan of any finite argument, and the inverse functions.
#pragma once

#include "smelt/static/expand/turns.hpp"

namespace smelt::expand {

// sin r for |r| up to about pi/4
template <class V>
SMELT_HD V sin_of_rest(V r) {
  const auto on32 = [](auto r) {
    const auto r2 = square_beside_one(r);
    return fma(r, r2 * polynomial(r2, -0x1.555544p-3, 0x1.1106aep-7, -0x1.990f92p-13), r);
  };
  const auto on64 = [](auto r) {
    const auto r2 = square_beside_one(r);
    const auto p =
        polynomial(r2, -0x1.5555555555555p-3, 0x1.111111111106ep-7, -0x1.a01a019fffedep-13, 0x1.71de3a367fc41p-19,
                   -0x1.ae6430dde15a0p-26, 0x1.610d1565b4e64p-33, -0x1.a1d5f00f7ad4dp-41);
    return fma(r, r2 * p, r);
  };
  return by_width(r, on32, on64);
}

template <class V>
SMELT_HD V cos_of_rest(V r) {
  const auto on32 = [](auto r) {
    return polynomial(square_beside_one(r), 1, -0x1.000000p-1, 0x1.555548p-5, -0x1.6c0af4p-10, 0x1.99911cp-16);
  };
  const auto on64 = [](auto r) {
    return polynomial(square_beside_one(r), 1, -0x1.0000000000000p-1, 0x1.5555555555548p-5, -0x1.6c16c16c149a6p-10,
                      0x1.a01a019bef416p-16, -0x1.27e4f77e71915p-22, 0x1.1ee98db9f2341p-29, -0x1.8f7e27fef36c2p-37);
  };
  return by_width(r, on32, on64);
}

// Bit 0 or 1 of a small integer moved to where the sign of the format stands.
template <class I>
SMELT_HD I bit_to_sign(I k, int bit, FloatFormat format) {
  return shift_left_by(k & like(k, 1 << bit), format.mantissa == format32().mantissa ? 31 - bit : 63 - bit);
}

template <class V>
SMELT_HD V sin(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    const auto turned = turns(abs(x));
    const auto k = bits(turned.quarters + like(x, format.to_integer));
    const auto odd = (k & like(k, 1)) != like(k, 0);
    const auto value = select(odd, cos_of_rest(turned.rest), sin_of_rest(turned.rest));
    const auto sign_of_x = bits(x) ^ bits(abs(x));
    return from_bits(bits(value) ^ bit_to_sign(k, 1, format) ^ sign_of_x);
  });
}

template <class V>
SMELT_HD V cos(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    const auto turned = turns(abs(x));
    const auto k = bits(turned.quarters + like(x, format.to_integer));
    const auto odd = (k & like(k, 1)) != like(k, 0);
    const auto value = select(odd, sin_of_rest(turned.rest), cos_of_rest(turned.rest));
    return from_bits(bits(value) ^ bit_to_sign(k + like(k, 1), 1, format));
  });
}

// tan r for |r| up to about pi/4
template <class V>
SMELT_HD V tan_of_rest(V r) {
  const auto on32 = [](auto r) {
    const auto r2 = square_beside_one(r);
    const auto p =
        polynomial(r2, 0x1.5554bcp-2, 0x1.1134dep-3, 0x1.b49d9ap-5, 0x1.96eb5ap-6, 0x1.4368c6p-9, 0x1.403254p-7);
    return fma(r, r2 * p, r);
  };
  const auto on64 = [](auto r) {
    const auto r2 = square_beside_one(r);
    const auto p =
        polynomial(r2, 0x1.555555555549fp-2, 0x1.111111111da01p-3, 0x1.ba1ba1b06ef3cp-5, 0x1.664f4a63c8b49p-6,
                   0x1.226dfe21b1ad6p-7, 0x1.d6dbff8f74939p-9, 0x1.7d3a062e8b24fp-10, 0x1.390df32896784p-11,
                   0x1.c5f996e8354fap-13, 0x1.376847542d608p-13, -0x1.688561c86fb7ep-15, 0x1.b621b9978f3a4p-14,
                   -0x1.bb597152c6bd4p-15, 0x1.7db5d4ea39758p-16);
    return fma(r, r2 * p, r);
  };
  return by_width(r, on32, on64);
}

template <class V>
SMELT_HD V tan(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    const auto turned = turns(abs(x));
    const auto k = bits(turned.quarters + like(x, format.to_integer));
    const auto odd = (k & like(k, 1)) != like(k, 0);
    const auto tangent = tan_of_rest(turned.rest);
    const auto value = select(odd, like(x, -1), tangent) / select(odd, tangent, like(x, 1));
    return from_bits(bits(value) ^ bits(x) ^ bits(abs(x)));
  });
}

// (asin(x) - x) / x^3 at x^2, for |x| <= 1/2
template <class V>
SMELT_HD V asin_tail(V x2) {
  const auto on32 = [](auto x2) {
    return polynomial(x2, 0x1.5555c8p-3, 0x1.330204p-4, 0x1.747bb8p-5, 0x1.8c3e54p-6, 0x1.595c58p-5);
  };
  const auto on64 = [](auto x2) {
    return polynomial(x2, 0x1.5555555555577p-3, 0x1.333333332e133p-4, 0x1.6db6db721244ep-5, 0x1.f1c71a95025e4p-6,
                      0x1.6e8bdede57591p-6, 0x1.1c49f083f27cdp-6, 0x1.ca1f89271b2b9p-7, 0x1.7585b35fd35b0p-7,
                      0x1.613b75adbd341p-7, 0x1.e608fcf755345p-9, 0x1.63958ac70e2fcp-6, -0x1.57f24256f000cp-6,
                      0x1.0b42c4a408d90p-5);
  };
  return by_width(x2, on32, on64);
}

// asin(root) where root is |x|, or sqrt((1 - |x|) / 2) above 1/2: there asin|x| = pi/2 - 2
// asin(root).
template <class V, class Arithmetic>
SMELT_HD V asin_of_half(V magnitude, Arithmetic by) {
  const auto large = magnitude > like(magnitude, 0.5);
  const auto halved = fma(magnitude, like(magnitude, -0.5), like(magnitude, 0.5));
  const auto square = select(large, halved, square_beside_one(magnitude));
  const auto root = select(large, by.root(halved), magnitude);
  return fma(root, square * asin_tail(square), root);
}

template <class V, class Arithmetic = RoundedArithmetic>
SMELT_HD V asin(V x, Arithmetic by = {}) {
  return with_format(x, [&](auto x, FloatFormat format) {
    const auto magnitude = abs(x);
    const auto half = asin_of_half(magnitude, by);
    const auto above = fma(half, like(x, -2), like(x, format.half_pi_low)) + like(x, format.half_pi_high);
    return copysign(select(magnitude > like(x, 0.5), above, half), x);
  });
}

template <class V, class Arithmetic = RoundedArithmetic>
SMELT_HD V acos(V x, Arithmetic by = {}) {
  return with_format(x, [&](auto x, FloatFormat format) {
    const auto magnitude = abs(x);
    const auto half = asin_of_half(magnitude, by);
    const auto zero = like(x, 0), negative_half = copysign(half, x);
    // Below 1/2: pi/2 - asin x. Above: 2 half, from pi where x < 0.
    const auto low = select(x < zero, like(x, 2 * format.half_pi_low), zero);
    const auto high = select(x < zero, like(x, 2 * format.half_pi_high), zero);
    const auto outer = high + fma(negative_half, like(x, 2), low);
    const auto inner = like(x, format.half_pi_high) - (negative_half - like(x, format.half_pi_low));
    return select(magnitude > like(x, 0.5), outer, inner);
  });
}

// atan t for 0 <= t <= 1
template <class V>
SMELT_HD V atan_below_one(V t) {
  const auto on32 = [](auto t) {
    const auto t2 = square_beside_one(t);
    const auto p = polynomial(t2, -0x1.5554dcp-2, 0x1.9978ecp-3, -0x1.230a9ap-3, 0x1.b4df1ep-4, -0x1.355254p-4,
                              0x1.61f382p-5, -0x1.0c1f5ep-6, 0x1.7eb8c4p-9);
    return fma(t, t2 * p, t);
  };
  const auto on64 = [](auto t) {
    const auto t2 = square_beside_one(t);
    const auto p =
        polynomial(t2, -0x1.5555555555526p-2, 0x1.99999999955b3p-3, -0x1.249249237f549p-3, 0x1.c71c717fceecap-4,
                   -0x1.745d11ae6f4b4p-4, 0x1.3b13669a15d84p-4, -0x1.110e512780df7p-4, 0x1.e1bba67cae9b1p-5,
                   -0x1.ae5e732af6f84p-5, 0x1.82dad9485d184p-5, -0x1.59a403df44df0p-5, 0x1.2c2e667e3cd64p-5,
                   -0x1.e9fa2b421b43bp-6, 0x1.683ceb4c19628p-6, -0x1.c7900666cdd04p-7, 0x1.d7b96db25a0fcp-8,
                   -0x1.7a39d6b96571bp-9, 0x1.b3fb0ea7d29f1p-11, -0x1.3f3677ce1dc2cp-13, 0x1.bbedcb7f73099p-17);
    return fma(t, t2 * p, t);
  };
  return by_width(t, on32, on64);
}

template <class V>
SMELT_HD V atan(V x) {
  return with_format(x, [](auto x, FloatFormat format) {
    const auto magnitude = abs(x);
    const auto steep = magnitude > like(x, 1);
    const auto angle = atan_below_one(select(steep, like(x, 1) / magnitude, magnitude));
    const auto complement = like(x, format.half_pi_high) - (angle - like(x, format.half_pi_low));
    return copysign(select(steep, complement, angle), x);
  });
}

// The angle of the point (x, y).
template <class V>
SMELT_HD V atan2(V y, V x) {
  return with_format(y, [&](auto y, FloatFormat format) {
    const auto ay = abs(y), ax = abs(x), zero = like(y, 0), one = like(y, 1);
    const auto steep = ay > ax;
    const auto longer = select(steep, ay, ax), shorter = select(steep, ax, ay);
    // On the diagonal 1, infinities included; at the origin 0.
    const auto diagonal = select(longer == zero, zero, one);
    const auto slope = select(shorter == longer, diagonal, shorter / longer);
    const auto angle = atan_below_one(slope);
    const auto half_pi = like(y, format.half_pi_high), half_pi_low = like(y, format.half_pi_low);
    const auto from_axis = select(steep, half_pi - (angle - half_pi_low), angle);
    const auto left = bits(x) < like(bits(x), 0);
    const auto turned = (half_pi + half_pi) - (from_axis - (half_pi_low + half_pi_low));
    return copysign(select(left, turned, from_axis), y);
  });
}

}  // namespace smelt::expand

// sin, cos and tan of any finite argument, and the inverse functions.
#pragma once

#include "ops/expand/turns.hpp"

namespace smelt::expand {

// sin r for |r| up to about pi/4
template <class V>
V sin_of_rest(V r) {
  const auto on32 = [](auto r) {
    const auto r2 = r * r;
    return fma(r * r2, polynomial(r2, -0x1.555544p-3, 0x1.1106aep-7, -0x1.990f92p-13), r);
  };
  const auto on64 = [](auto r) {
    const auto r2 = r * r;
    const auto p =
        polynomial(r2, -0x1.5555555555555p-3, 0x1.111111111106ep-7, -0x1.a01a019fffedfp-13, 0x1.71de3a367ff63p-19,
                   -0x1.ae6430de4989dp-26, 0x1.610d15be04b68p-33, -0x1.a1d624c8f9a5dp-41);
    return fma(r * r2, p, r);
  };
  return by_width(r, on32, on64);
}

template <class V>
V cos_of_rest(V r) {
  const auto on32 = [](auto r) {
    return polynomial(r * r, 1, -0x1.000000p-1, 0x1.555548p-5, -0x1.6c0af4p-10, 0x1.99911cp-16);
  };
  const auto on64 = [](auto r) {
    return polynomial(r * r, 1, -0x1.0000000000000p-1, 0x1.5555555555548p-5, -0x1.6c16c16c149a5p-10,
                      0x1.a01a019bef03cp-16, -0x1.27e4f77e2bc73p-22, 0x1.1ee98d7bb19a7p-29, -0x1.8f7e015cf83fbp-37);
  };
  return by_width(r, on32, on64);
}

// Bit 0 or 1 of a small integer moved to where the sign of the format stands.
template <class I>
I bit_to_sign(I k, int bit, const FloatFormat& format) {
  return shift_left_by(k & like(k, 1 << bit), format.mantissa == kF32.mantissa ? 31 - bit : 63 - bit);
}

template <class V>
V sin(V x) {
  return with_format(x, [](auto x, const FloatFormat& format) {
    const auto turned = turns(abs(x));
    const auto k = bits(turned.quarters + like(x, format.to_integer));
    const auto odd = (k & like(k, 1)) != like(k, 0);
    const auto value = select(odd, cos_of_rest(turned.rest), sin_of_rest(turned.rest));
    const auto sign_of_x = bits(x) ^ bits(abs(x));
    return from_bits(bits(value) ^ bit_to_sign(k, 1, format) ^ sign_of_x);
  });
}

template <class V>
V cos(V x) {
  return with_format(x, [](auto x, const FloatFormat& format) {
    const auto turned = turns(abs(x));
    const auto k = bits(turned.quarters + like(x, format.to_integer));
    const auto odd = (k & like(k, 1)) != like(k, 0);
    const auto value = select(odd, sin_of_rest(turned.rest), cos_of_rest(turned.rest));
    return from_bits(bits(value) ^ bit_to_sign(k + like(k, 1), 1, format));
  });
}

// tan r for |r| up to about pi/4
template <class V>
V tan_of_rest(V r) {
  const auto on32 = [](auto r) {
    const auto r2 = r * r;
    const auto p =
        polynomial(r2, 0x1.5554bcp-2, 0x1.1134dep-3, 0x1.b49d92p-5, 0x1.96ebe4p-6, 0x1.435df6p-9, 0x1.40346ap-7);
    return fma(r * r2, p, r);
  };
  const auto on64 = [](auto r) {
    const auto r2 = r * r;
    const auto p =
        polynomial(r2, 0x1.555555555549fp-2, 0x1.111111111d9fcp-3, 0x1.ba1ba1b06ef4ap-5, 0x1.664f4a63d3d82p-6,
                   0x1.226dfe1ef6625p-7, 0x1.d6dc002fef94ep-9, 0x1.7d39fb8aed9adp-10, 0x1.390e64bebdf5ap-11,
                   0x1.c5f35fb734110p-13, 0x1.3776c81fc8e29p-13, -0x1.68deca788ccfbp-15, 0x1.b64d741d17fa7p-14,
                   -0x1.bb8aa6e4b0391p-15, 0x1.7dce195dc0b24p-16);
    return fma(r * r2, p, r);
  };
  return by_width(r, on32, on64);
}

template <class V>
V tan(V x) {
  return with_format(x, [](auto x, const FloatFormat& format) {
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
V asin_tail(V x2) {
  const auto on32 = [](auto x2) {
    return polynomial(x2, 0x1.5555c8p-3, 0x1.330204p-4, 0x1.747bb8p-5, 0x1.8c3e54p-6, 0x1.595c56p-5);
  };
  const auto on64 = [](auto x2) {
    return polynomial(x2, 0x1.5555555555577p-3, 0x1.333333332e132p-4, 0x1.6db6db7212578p-5, 0x1.f1c71a94f99dep-6,
                      0x1.6e8bdedf84643p-6, 0x1.1c49f06960d46p-6, 0x1.ca1f8c59c5dcdp-7, 0x1.758591ceb36a8p-7,
                      0x1.613c62c8a6c7ep-7, 0x1.e5f7c6c43bcebp-9, 0x1.639bd21ceaa31p-6, -0x1.57fcabbf30c4fp-6,
                      0x1.0b46815b201e1p-5);
  };
  return by_width(x2, on32, on64);
}

// asin(root) where root is |x|, or sqrt((1 - |x|) / 2) above 1/2: there asin|x| = pi/2 - 2 asin(root).
template <class V>
V asin_of_half(V magnitude) {
  const auto large = magnitude > like(magnitude, 0.5);
  const auto halved = fma(magnitude, like(magnitude, -0.5), like(magnitude, 0.5));
  const auto square = select(large, halved, magnitude * magnitude);
  const auto root = select(large, sqrt(halved), magnitude);
  return fma(root * square, asin_tail(square), root);
}

template <class V>
V asin(V x) {
  return with_format(x, [](auto x, const FloatFormat& format) {
    const auto magnitude = abs(x);
    const auto half = asin_of_half(magnitude);
    const auto above = fma(half, like(x, -2), like(x, format.half_pi_low)) + like(x, format.half_pi_high);
    return copysign(select(magnitude > like(x, 0.5), above, half), x);
  });
}

template <class V>
V acos(V x) {
  return with_format(x, [](auto x, const FloatFormat& format) {
    const auto magnitude = abs(x);
    const auto half = asin_of_half(magnitude);
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
V atan_below_one(V t) {
  const auto on32 = [](auto t) {
    const auto t2 = t * t;
    const auto p = polynomial(t2, -0x1.5554dcp-2, 0x1.9978ecp-3, -0x1.230a94p-3, 0x1.b4deb2p-4, -0x1.3550e6p-4,
                              0x1.61eee4p-5, -0x1.0c1834p-6, 0x1.7ea792p-9);
    return fma(t * t2, p, t);
  };
  const auto on64 = [](auto t) {
    const auto t2 = t * t;
    const auto p =
        polynomial(t2, -0x1.5555555555526p-2, 0x1.99999999955b2p-3, -0x1.249249237f4fap-3, 0x1.c71c717fcdae3p-4,
                   -0x1.745d11ae579c7p-4, 0x1.3b136698ea335p-4, -0x1.110e511d24309p-4, 0x1.e1bba5f80f9a4p-5,
                   -0x1.ae5e70b61e1bbp-5, 0x1.82dad07ce7ce4p-5, -0x1.59a3ebc695366p-5, 0x1.2c2e338e8098cp-5,
                   -0x1.e9f984a3a3fd3p-6, 0x1.683c190adb41ep-6, -0x1.c78e70ecb268bp-7, 0x1.d7b723477d2f0p-8,
                   -0x1.7a376f2adfecdp-9, 0x1.b3f79917117d1p-11, -0x1.3f336af343a67p-13, 0x1.bbe8d28f39225p-17);
    return fma(t * t2, p, t);
  };
  return by_width(t, on32, on64);
}

template <class V>
V atan(V x) {
  return with_format(x, [](auto x, const FloatFormat& format) {
    const auto magnitude = abs(x);
    const auto steep = magnitude > like(x, 1);
    const auto angle = atan_below_one(select(steep, like(x, 1) / magnitude, magnitude));
    const auto complement = like(x, format.half_pi_high) - (angle - like(x, format.half_pi_low));
    return copysign(select(steep, complement, angle), x);
  });
}

// The angle of the point (x, y).
template <class V>
V atan2(V y, V x) {
  return with_format(y, [&](auto y, const FloatFormat& format) {
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

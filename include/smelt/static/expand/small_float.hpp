// Floats of 8 and 16 bits, which are bits in memory and f32 in registers: to the nearest of them,
// and their bits. V is of f32.
#pragma once

#include "smelt/static/expand/algebra.hpp"

namespace smelt::expand {

struct SmallFloat {
  int mantissa, least, most;  // explicit bits; the exponents of normal numbers
  bool has_infinity;          // else the largest exponent has numbers, and NaN only where all bits are set
};
inline constexpr SmallFloat kF8E4M3{3, -6, 8, false}, kF8E5M2{2, -14, 15, true}, kF16{10, -14, 15, true},
    kBF16{7, -126, 127, true};

SMELT_HD constexpr double power_of_two(int exponent) {
  double power = 1;
  for (; exponent > 0; --exponent) power *= 2;
  for (; exponent < 0; ++exponent) power /= 2;
  return power;
}

// The least f32 that is rounded past the largest number: half a step above it, which goes to the
// even one of both.
SMELT_HD constexpr double too_large(SmallFloat f) {
  const double half_step = power_of_two(f.most - f.mantissa - 1), end = 2 * power_of_two(f.most);
  return f.has_infinity ? end - half_step : end - 3 * half_step + power_of_two(f.most - 23);
}

// The bits of what rounding past the largest number gives, without a sign.
SMELT_HD constexpr unsigned too_large_bits(SmallFloat f) {
  return (static_cast<unsigned>(f.most - f.least + 2) << f.mantissa) - (f.has_infinity ? 0u : 1u);
}

SMELT_HD constexpr unsigned sign_bit(SmallFloat f) { return (too_large_bits(f) | ((1u << f.mantissa) - 1)) + 1; }

// The nearest, halves to even, as f32. By bit arithmetic: the same everywhere, and it vectorises.
template <class V>
SMELT_HD V nearest_small(V x, SmallFloat f) {
  // Normal numbers: the lower bits of the fraction are dropped.
  const auto raw = as_unsigned(bits(x));
  const int dropped = 23 - f.mantissa;
  const auto odd = (raw >> like(raw, dropped)) & like(raw, 1);
  const auto near = (raw + like(raw, (1u << (dropped - 1)) - 1) + odd) & like(raw, ~((1u << dropped) - 1));
  const V normal = from_bits(as_signed(near));
  // Those of bf16 have the exponents of f32, subnormal ones too, and a carry into the last of them
  // is infinity.
  if (f.least == kBF16.least) return select(x != x, x, normal);
  // Subnormal numbers: adding and taking away a number whose last bit is their step leaves
  // multiples of it.
  const double large = power_of_two(f.least - f.mantissa + 23);
  const V magnitude = abs(x), small = (magnitude + like(x, large)) - like(x, large);
  const V finite = select(magnitude < like(x, power_of_two(f.least)), copysign(small, x), normal);
  if (!f.has_infinity) return select(magnitude < like(x, too_large(f)), finite, copysign(like(x, kNan), x));
  const V limited = select(magnitude >= like(x, too_large(f)), copysign(like(x, kInfinity), x), finite);
  return select(x != x, x, limited);
}

// The bits of a value that nearest_small() gave, as u32; NaN stays NaN.
template <class V>
SMELT_HD auto bits_of_small(V x, SmallFloat f) {
  const auto raw = as_unsigned(bits(x));
  const int dropped = 23 - f.mantissa;
  if (f.least == kBF16.least) {
    const auto upper = raw >> like(raw, dropped);
    return select(x != x, upper | like(upper, 0x40), upper);
  }
  const auto magnitude = raw & like(raw, 0x7fffffffu);
  const auto sign = select(raw == magnitude, like(raw, 0), like(raw, sign_bit(f)));
  // Subnormal: a multiple of the step. Adding 2^23 of them puts their number into the lowest bits.
  const V steps = abs(x) * like(x, power_of_two(f.mantissa - f.least)) + like(x, 0x1p23);
  const auto small = as_unsigned(bits(steps)) & like(raw, (2u << f.mantissa) - 1);
  const auto normal = (magnitude >> like(raw, dropped)) - like(raw, static_cast<unsigned>(126 + f.least) << f.mantissa);
  const auto finite = select(magnitude < like(raw, static_cast<unsigned>(127 + f.least) << 23), small, normal);
  const auto limited = select(magnitude >= like(raw, 0x7f800000u), like(raw, too_large_bits(f)), finite);
  const unsigned nan = too_large_bits(f) | (f.has_infinity ? 1u << (f.mantissa - 1) : 0u);
  return sign | select(x != x, like(raw, nan), limited);
}

// The f32 that bits (a u32) stand for.
template <class U>
SMELT_HD auto small_of_bits(U raw, SmallFloat f) {
  const int dropped = 23 - f.mantissa;
  if (f.least == kBF16.least) return from_bits(as_signed(raw << like(raw, dropped)));
  const U rest = raw & like(raw, sign_bit(f) - 1), shifted = rest << like(raw, dropped);
  const U sign = select(raw == rest, like(raw, 0), like(raw, 0x80000000u));
  const auto steps = to_float(as_signed(rest));
  const U small = as_unsigned(bits(steps * like(steps, power_of_two(f.least - f.mantissa))));
  const unsigned to_exponent = static_cast<unsigned>(126 + f.least) << 23;
  // An infinity or NaN has the largest exponent of f32.
  const U above = f.has_infinity ? shifted + like(raw, to_exponent * 2) : like(raw, 0x7fc00000u);
  const U normal = select(rest >= like(raw, too_large_bits(f)), above, shifted + like(raw, to_exponent));
  return from_bits(as_signed(sign | select(rest < like(raw, 1u << f.mantissa), small, normal)));
}

}  // namespace smelt::expand

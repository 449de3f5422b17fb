// The error of a computed float against the exact result, in units in the last place of f32.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace smelt::bench {

// `exact` is the result in double, whose own rounding is 2^-29 of a unit in f32. Infinity and overflow count as 2^128; a
// nan on one side only, or a zero of the wrong sign, is an infinite error.
inline double ulp_error(float computed, double exact) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(computed)) return std::isnan(exact) && std::isnan(computed) ? 0 : kInfinity;
  if (exact == 0) return computed == 0 && std::signbit(computed) == std::signbit(exact) ? 0 : kInfinity;
  constexpr double kTop = 0x1p128;
  const double wanted = std::abs(exact) > kTop ? std::copysign(kTop, exact) : exact;
  const double got = std::isinf(computed) ? std::copysign(kTop, static_cast<double>(computed)) : computed;
  // The spacing of f32 at `wanted`, from the exponent bits of the double.
  int exponent = static_cast<int>(std::bit_cast<uint64_t>(wanted) >> 52 & 0x7ff) - 1023;
  if (exponent < -126) exponent = -126;
  if (exponent > 127) exponent = 127;
  const double per_unit = std::bit_cast<double>(static_cast<uint64_t>(1023 + 23 - exponent) << 52);
  return std::abs(got - wanted) * per_unit;
}

}  // namespace smelt::bench

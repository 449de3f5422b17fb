// The error of a computed float against the exact result, in units in the last place.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/dtype.hpp"

namespace smelt {

// Wide holds the exact result with far more precision than the format: double for formats up to
// f32, long double for f64. Infinity and overflow count as the power of two past the largest
// number, so that either is right where the exact result rounds to infinity. A nan on one side
// only, or the other sign of an exact zero, is an infinite error.
template <class Wide>
double ulp_error(const FloatFormat& format, Wide computed, Wide exact) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(computed)) return std::isnan(exact) && std::isnan(computed) ? 0 : kInfinity;
  if (exact == 0) return computed == 0 && std::signbit(computed) == std::signbit(exact) ? 0 : kInfinity;
  const Wide top = std::ldexp(Wide(1), format.most + 1);
  const Wide wanted = std::abs(exact) > top ? std::copysign(top, exact) : exact;
  const Wide got = std::isinf(computed) ? std::copysign(top, computed) : computed;
  int exponent = std::ilogb(wanted);
  if (exponent < format.least) exponent = format.least;
  if (exponent > format.most) exponent = format.most;
  return static_cast<double>(std::ldexp(std::abs(got - wanted), format.mantissa - exponent));
}

// The same for f32 and an exact result in double, as fast as sweeps over all inputs need it.
inline double ulp_error_f32(float computed, double exact) {
  // Also what overflows, vanishes or is exact, in most of the inputs of many functions.
  if (std::bit_cast<uint64_t>(static_cast<double>(computed)) == std::bit_cast<uint64_t>(exact)) return 0;
  const double magnitude = std::abs(exact);
  if (!(magnitude >= 0x1p-126 && magnitude < 0x1p127) || !(std::abs(computed) < HUGE_VALF))
    return ulp_error<double>(float_format(DType::F32), computed, exact);
  // 2^(23 - exponent), by exponent bits.
  const auto exponent = std::bit_cast<uint64_t>(exact) >> 52 & 0x7ff;
  const double per_unit = std::bit_cast<double>((uint64_t{2 * 1023 + 23} - exponent) << 52);
  return std::abs(computed - exact) * per_unit;
}

}  // namespace smelt

// fmod, floored division and remainder on floats.
#pragma once

#include "smelt/static/expand/algebra.hpp"

namespace smelt::expand {

// a / b rounded down as in Python: 1.0 // 0.1 is 9 although 1.0 / 0.1 rounds to 10.
template <class V>
SMELT_HD V floor_divide(V a, V b) {
  const auto zero = like(a, 0), infinite = like(a, kInfinity);
  const auto quotient = floor(a / b);
  // Exact up to quotients of 2^24 or 2^53. Of the wrong sign where the division has rounded up to
  // an integer.
  const auto rest = select(abs(b) == infinite, a, fma(-quotient, b, a));
  const auto too_large = (rest != zero) & ((bits(rest) ^ bits(b)) < like(bits(a), 0));
  const auto floored = select(too_large, quotient - like(a, 1), quotient);
  const auto undefined = (abs(a) == infinite) & (b != zero);
  return select(b == zero, quotient, select(undefined, like(a, kNan), floored));
}

// a modulo b in f64, in -b/2 .. b/2, for a >= 0 and b > 0 with a / b below 2^300. Each step takes
// off a multiple of b 2^k and leaves at most half of that; the quotients stay below 2^52, so that
// fma(-quotient, b 2^k, a) is exact.
template <class V>
SMELT_HD V centred_remainder(V a, V b) {
  const auto inverse = like(b, 1) / b;
  const auto step = [&](V rest, double power) {
    const auto divisor = b * like(b, power);
    const auto quotient = rint(rest * (inverse * like(b, 1 / power)));
    // A divisor past the largest float is past `rest` too.
    return select(divisor < like(b, kInfinity), fma(-quotient, divisor, rest), rest);
  };
  const auto rest = step(step(step(step(step(a, 0x1p250), 0x1p200), 0x1p150), 0x1p100), 0x1p50);
  return fma(-rint(rest * inverse), b, rest);
}

// fmod(a, b) of f64 values that are not negative.
template <class V>
SMELT_HD V positive_trunc_mod(V a, V b) {
  const auto centred = centred_remainder(a, b);
  const auto positive = select(centred < like(a, 0), centred + b, centred);
  return select((b == like(b, kInfinity)) & (a < b), a, positive);
}

// The remainder of the truncated division, with the sign of a. Exact; on f64 nan where |a / b| is
// 2^300 and more.
template <class V>
SMELT_HD V trunc_mod(V a, V b) {
  const auto on32 = [&](auto a) { return copysign(narrow(positive_trunc_mod(widen(abs(a)), widen(abs(b)))), a); };
  const auto on64 = [&](auto a) {
    // Up from where the inverse of b is infinite.
    const auto small = abs(b) < like(a, 0x1p-700);
    const auto up = select(small, like(a, 0x1p300), like(a, 1)), down = select(small, like(a, 0x1p-300), like(a, 1));
    const auto p = abs(a) * up, q = abs(b) * up;
    const auto remainder = positive_trunc_mod(p, q) * down;
    return copysign(select(p / q < like(a, 0x1p300), remainder, like(a, kNan)), a);
  };
  return by_width(a, on32, on64);
}

// The remainder of the floored division, with the sign of b.
template <class V>
SMELT_HD V floor_mod(V a, V b) {
  const auto remainder = trunc_mod(a, b), zero = like(a, 0);
  const auto other_side = (bits(remainder) ^ bits(b)) < like(bits(a), 0);
  const auto moved = select(other_side, remainder + b, remainder);
  return select(remainder == zero, copysign(zero, b), moved);
}

}  // namespace smelt::expand

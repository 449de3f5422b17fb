// Integer division, powers and shifts with a defined result for every argument.
#pragma once

#include "smelt/static/expand/algebra.hpp"

namespace smelt::expand {

// b, or 1 where a / b would trap: b is 0, or b is -1 of a signed dtype.
template <class V>
SMELT_HD V safe_divisor(V b) {
  const auto nonzero = select(b == like(b, 0), like(b, 1), b);
  if (!is_signed(b)) return nonzero;
  return select(b == like(b, -1), like(b, 1), nonzero);
}

// a / b truncated; x / 0 is 0 and MIN / -1 is MIN.
template <class V>
SMELT_HD V int_trunc_divide(V a, V b) {
  const auto quotient = select(b == like(b, 0), like(a, 0), a / safe_divisor(b));
  if (!is_signed(a)) return quotient;
  return select(b == like(b, -1), like(a, 0) - a, quotient);
}

// a % b with the sign of a; x % 0 is 0.
template <class V>
SMELT_HD V int_trunc_mod(V a, V b) {
  return a % safe_divisor(b);
}

// Whether the truncated quotient with this remainder lies above the floored one.
template <class V>
SMELT_HD auto rounded_up(V remainder, V b) {
  return (remainder != like(b, 0)) & ((remainder ^ b) < like(b, 0));
}

template <class V>
SMELT_HD V int_floor_divide(V a, V b) {
  const auto quotient = int_trunc_divide(a, b);
  if (!is_signed(a)) return quotient;
  const auto remainder = int_trunc_mod(a, b);
  return quotient - select(rounded_up(remainder, b), like(a, 1), like(a, 0));
}

template <class V>
SMELT_HD V int_floor_mod(V a, V b) {
  const auto remainder = int_trunc_mod(a, b);
  if (!is_signed(a)) return remainder;
  return remainder + select(rounded_up(remainder, b), b, like(a, 0));
}

// Square and multiply over every bit of b. A negative exponent gives 0 unless a is 1 or -1.
template <class V>
SMELT_HD V int_pow(V a, V b) {
  const auto one = like(a, 1), zero = like(a, 0);
  auto power = one;
  auto square = a;
  const int exponent_bits = width(a) - (is_signed(a) ? 1 : 0);
  for (int bit = 0; bit < exponent_bits; ++bit) {
    const auto is_set = (shift_right_by(b, bit) & one) != zero;
    power = select(is_set, power * square, power);
    square = square * square;
  }
  if (!is_signed(a)) return power;
  const auto odd = (b & one) != zero;
  const auto minus_one = like(a, -1);
  const auto of_minus_one = select(odd, minus_one, one);
  const auto negative = select(a == one, one, select(a == minus_one, of_minus_one, zero));
  return select(b < zero, negative, power);
}

template <class V>
SMELT_HD V shift_left(V a, V b) {
  const auto inside = (b >= like(b, 0)) & (b < like(b, width(b)));
  return select(inside, a << select(inside, b, like(b, 0)), like(a, 0));
}

template <class V>
SMELT_HD V shift_right(V a, V b) {
  const auto inside = (b >= like(b, 0)) & (b < like(b, width(b)));
  // A shift by width - 1 leaves the sign alone, which is what lies past the width of a signed
  // dtype.
  const auto shifted = a >> select(inside, b, like(b, width(b) - 1));
  return is_signed(a) ? shifted : select(inside, shifted, like(a, 0));
}

}  // namespace smelt::expand

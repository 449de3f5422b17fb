// How many quarter turns an angle is, and what remains: the first half of sin, cos and tan, for any finite argument.
//
// The argument is multiplied by 2/pi. Of 2/pi only the bits matter that do not contribute whole turns, which depends on
// the exponent of the argument.
#pragma once

#include "ops/expand/float_format.hpp"
#include "ops/expand/pending.hpp"

namespace smelt::expand {

// An angle = quarters * pi/2 + rest, up to whole turns.
template <class V>
struct Turns {
  V rest;      // radians, within pi/4
  V quarters;  // -2 .. 2
};

// 2/pi without the bits that give whole turns for arguments of at least `from`: 106 bits in two parts.
struct TwoOverPi {
  double from, high, low;
};

// Of f32, in f64. No f32 is nearer than 2^-31 to a multiple of pi/2, and these products are good to 2^-56 of a turn.
template <class V>
Turns<V> turns_32(V magnitude) {
  constexpr TwoOverPi constants[] = {
      {0, 0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55},
      {0x1p50, 0x1.b9391054a7f0ap-26, -0x1.505c1596447e5p-81},
      {0x1p76, 0x1.529fc2757d1f5p-52, 0x1.a6ee06db14acdp-107},
      {0x1p102, 0x1.d5f47d4d37703p-78, 0x1.b6295993c4390p-132},
  };
  const auto x = widen(magnitude);
  auto high = like(x, constants[0].high), low = like(x, constants[0].low);
  for (int k = 1; k < 4; ++k) {
    const auto beyond = magnitude >= like(magnitude, constants[k].from);
    high = select(beyond, like(x, constants[k].high), high);
    low = select(beyond, like(x, constants[k].low), low);
  }
  const auto product = x * high;
  const auto error = fma(x, low, fma(x, high, -product));
  // Adding 1.5 * 2^54 rounds to a multiple of 4: whole turns go first, without a rounding error.
  const auto whole = like(x, 0x1.8p54);
  const auto part = product - ((product + whole) - whole);
  const auto quarters = rint(part + error);
  const auto rest = (part - quarters) + error;
  return {narrow(rest * like(x, 0x1.921fb54442d18p+0)), narrow(quarters)};
}

template <class V>
Turns<V> turns(V magnitude) {
  return by_width(
      magnitude, [](auto x) { return turns_32(x); },
      [](auto x) {
        return Turns<decltype(x)>{not_yet("sin, cos and tan on f64", x), x};
      });
}

}  // namespace smelt::expand

// How many quarter turns an angle is, and what remains: the first half of sin, cos and tan, for any
// finite argument.
//
// The argument is multiplied by 2/pi. Of 2/pi only the bits matter that do not contribute whole
// turns, which depends on the exponent of the argument.
#pragma once

#include "smelt/static/expand/float_format.hpp"
#include "smelt/static/expand/pair.hpp"

namespace smelt::expand {

// An angle = quarters * pi/2 + rest, up to whole turns.
template <class V>
struct Turns {
  V rest;      // radians, within pi/4
  V quarters;  // -2 .. 2
};

// For f32, in f64. 2/pi without the bits that give whole turns is high + low, 106 bits, one pair
// for each range of magnitudes. No f32 is nearer than 2^-31 to a multiple of pi/2, and these
// products are good to 2^-56 of a turn.
template <class V>
SMELT_HD Turns<V> turns_32(V magnitude) {
  const auto x = widen(magnitude);
  const auto far = x >= like(x, 0x1p50), farther = x >= like(x, 0x1p76), farthest = x >= like(x, 0x1p102);
  const auto pick_constant = [&](double c0, double c1, double c2, double c3) {
    const auto up_to_76 = select(far, like(x, c1), like(x, c0));
    return select(farthest, like(x, c3), select(farther, like(x, c2), up_to_76));
  };
  const auto high =
      pick_constant(0x1.45f306dc9c883p-1, 0x1.b9391054a7f0ap-26, 0x1.529fc2757d1f5p-52, 0x1.d5f47d4d37703p-78);
  const auto low =
      pick_constant(-0x1.6b01ec5417056p-55, -0x1.505c1596447e5p-81, 0x1.a6ee06db14acdp-107, 0x1.b6295993c4390p-132);
  const auto product = x * high;
  const auto error = fma(x, low, fma(x, high, -product));
  // Adding 1.5 * 2^54 rounds to a multiple of 4: whole turns go first, without a rounding error.
  const auto whole = like(x, 0x1.8p54);
  const auto part = product - ((product + whole) - whole);
  const auto quarters = rint(part + error);
  const auto rest = (part - quarters) + error;
  return {narrow(rest * like(x, 0x1.921fb54442d18p+0)), narrow(quarters)};
}

template <class V, int N>
struct Digits {
  V at[N];
};

// The first M of in[by ..] where c, else of in[0 ..]; what lies behind the end of `in` is not asked
// for.
template <int M, int by, class V, class C, int N>
SMELT_HD Digits<V, M> moved_down(const Digits<V, N>& in, C c) {
  Digits<V, M> out;
  for (int i = 0; i < M; ++i) out.at[i] = i + by < N ? select(c, in.at[i + by < N ? i + by : i], in.at[i]) : in.at[i];
  return out;
}

// Four neighbours of the 53-bit digits of 2/pi, the first of which is number j, for 0 <= j <= 18:
// each bit of j moves the digits down by a power of two.
template <class V, class I>
SMELT_HD Digits<V, 4> digits_of_two_over_pi(V x, I j) {
  const auto is_set = [&](int bit) { return (j & like(j, 1 << bit)) != like(j, 0); };
  const Digits<V, 22> all = {
      {like(x, 0x1.45f306dc9c882p-1), like(x, 0x1.4a7f09d5f47d4p-1), like(x, 0x1.a6ee06db14accp-1),
       like(x, 0x1.3c439041fe516p-1), like(x, 0x1.d5ef5de2b0db8p-3), like(x, 0x1.2371d2126e970p-2),
       like(x, 0x1.924bba8274600p-8), like(x, 0x1.21cfe1deb1cb1p-1), like(x, 0x1.4d39f74411af8p-3),
       like(x, 0x1.4baed1213a671p-1), like(x, 0x1.8135a2fbf209cp-1), like(x, 0x1.91d639835339fp-1),
       like(x, 0x1.272117e2ef7e4p-2), like(x, 0x1.41d8ffc4bffeep-2), like(x, 0x1.02cc07f79788cp-1),
       like(x, 0x1.6b414da3eda6cp-2), like(x, 0x1.fb3c9f2c26dd2p-2), like(x, 0x1.d18fd9a797fa8p-1),
       like(x, 0x1.6ba93dd63f5f2p-1), like(x, 0x1.f17b3d0739f78p-1), like(x, 0x1.4a525d4d7f6bfp-1),
       like(x, 0x1.88fc6ae842b00p-2)}};
  const auto below_19 = moved_down<19, 16>(all, is_set(4));
  const auto below_11 = moved_down<11, 8>(below_19, is_set(3));
  const auto below_7 = moved_down<7, 4>(below_11, is_set(2));
  const auto below_5 = moved_down<5, 2>(below_7, is_set(1));
  return moved_down<4, 1>(below_5, is_set(0));
}

// For f64. x = X 2^(53 j) with X below 2^107, and from 2^54 unless j is 0. The digits of 2/pi
// before number j give whole turns; of those from j on, four are enough to know the fraction of a
// turn to 2^-104.
template <class V>
SMELT_HD Turns<V> turns_64(V x) {
  const auto k = bits(x), magic = bits(like(x, 0x1p52));
  const auto exponent = from_bits(as_signed(shift_right_by(as_unsigned(k), 52)) | magic) - like(x, 0x1p52 + 1023);
  const auto group = floor(fma(exponent, like(x, 1.0 / 53), like(x, -53.99 / 53)));
  const auto j = select(group < like(x, 0), like(x, 0), group);
  const auto digits = digits_of_two_over_pi(x, bits(j + like(x, 0x1p52)));
  const auto scale = from_bits(shift_left_by(bits(fma(j, like(x, -53), like(x, 0x1p52 + 1023))), 52));
  const auto scaled = x * scale;

  const auto without_turns = [](V a) { return fma(rint(a * like(a, 0.25)), like(a, -4), a); };
  const auto product0 = scaled * digits.at[0], error0 = fma(scaled, digits.at[0], -product0);
  const auto scaled1 = scaled * like(x, 0x1p-53);
  const auto product1 = scaled1 * digits.at[1], error1 = fma(scaled1, digits.at[1], -product1);
  const auto scaled2 = scaled1 * like(x, 0x1p-53);
  const auto product2 = scaled2 * digits.at[2], error2 = fma(scaled2, digits.at[2], -product2);
  const auto product3 = scaled2 * like(x, 0x1p-53) * digits.at[3];

  const auto sum1 = exact_sum(without_turns(product0), without_turns(error0));
  const auto sum2 = exact_sum(sum1.high, without_turns(product1));
  const auto sum3 = exact_sum(sum2.high, error1);
  const auto sum4 = exact_sum(sum3.high, product2);
  const auto low = ((sum1.low + sum2.low) + (sum3.low + sum4.low)) + (error2 + product3);
  const auto quarters = rint(sum4.high);
  const auto fraction = (sum4.high - quarters) + low;
  return {fraction * like(x, 0x1.921fb54442d18p+0), without_turns(quarters)};
}

template <class V>
SMELT_HD Turns<V> turns(V magnitude) {
  return by_width(
      magnitude, [](auto x) { return turns_32(x); }, [](auto x) { return turns_64(x); });
}

}  // namespace smelt::expand

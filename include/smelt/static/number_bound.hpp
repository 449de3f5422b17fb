/// \file
/// The larger or smaller of a float and a number in the program, as in clamp(x, 0, 6).
#pragma once

#include "smelt/static/cast.hpp"

namespace smelt::fixed {

namespace detail {

/// A float that meets a number written in C++, which is never nan but by intent.
template <class X, class N>
inline constexpr bool meets_number = is_float(typed_dtype<X>) && (meta::same<N, WeakInt> || meta::same<N, WeakFloat>);

// One comparison does, but for zeros. nan fails it and stays.
template <class T, class N>
SMELT_HD Typed<T> max_of_number(Typed<T> x, N number) {
  const auto c = promoted<T>(number).v;
  // -0 adds nothing to any number, 0 makes -0 a 0.
  const auto positive = select((c == like(c, 0)) & (bits(c) == like(bits(c), 0)), like(c, 0), like(c, -0.0));
  const auto v = x.v + positive;
  return {select(c != c, c, select(v < c, c, v))};
}
template <class T, class N>
SMELT_HD Typed<T> min_of_number(Typed<T> x, N number) {
  const auto c = promoted<T>(number).v;
  const auto negative = (c == like(c, 0)) & (bits(c) != like(bits(c), 0));
  return {select(c != c, c, select((x.v > c) | (negative & (x.v == c)), c, x.v))};
}

}  // namespace detail

}  // namespace smelt::fixed

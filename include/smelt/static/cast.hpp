/// \file
/// Casts. None has an undefined result: float to integer truncates and saturates, nan gives 0;
/// integers saturate; to bool everything but 0 is true.
#pragma once

#include "smelt/static/types.hpp"

namespace smelt::fixed::detail {

template <class T>
SMELT_HD constexpr T least() {
  return meta::signed_integer<T> ? static_cast<T>(static_cast<meta::unsigned_of<T>>(1) << (8 * sizeof(T) - 1)) : T(0);
}
template <class T>
SMELT_HD constexpr T most() {
  return static_cast<T>(~least<T>());
}

// Clamped first, since machines convert what is out of range each in their own way.
template <class To, class F>
SMELT_HD Int<To> saturated(Real<F> x) {
  if constexpr (sizeof(F) == 4 && (sizeof(To) == 8 || meta::same<To, uint32_t>)) {
    return saturated<To>(widen(x));
  } else if constexpr (meta::same<To, uint64_t>) {
    // The upper half of the range by itself: from 2^63 on, less 2^63.
    const auto upper = x >= like(x, 0x1p63);
    const auto low = select(x > like(x, 0), select(upper, x - like(x, 0x1p63), x), like(x, 0));
    const auto inside = select(low < like(x, 0x1p63), low, like(x, 0));
    const auto half = as_unsigned(to_int(inside));
    const auto whole = half + select(upper, like(half, uint64_t{1} << 63), like(half, 0));
    return select(x >= like(x, 0x1p64), like(half, most<To>()), whole);
  } else {
    constexpr bool exact = sizeof(To) < sizeof(F);  // the largest integer is a float too
    const auto lowest = like(x, least<To>());
    const auto highest = exact ? like(x, most<To>()) : like(x, sizeof(F) == 4 ? 0x1.fffffep30 : 0x1.fffffffffffffp62);
    const auto raised = select(x > lowest, x, lowest);
    const auto inside = select(raised < highest, raised, highest);
    const auto whole = to_int(inside);
    const Int<To> low{static_cast<To>(whole.value)};
    const Int<To> converted = exact ? low : select(x > highest, like(low, most<To>()), low);
    return select(x == x, converted, like(low, 0));
  }
}

template <class To, class From>
SMELT_HD Int<To> saturated(Int<From> x) {
  To value = static_cast<To>(x.value);
  if constexpr (meta::signed_integer<From> && !meta::signed_integer<To>) {
    if constexpr (sizeof(From) > sizeof(To)) value = x.value > static_cast<From>(most<To>()) ? most<To>() : value;
    value = x.value < 0 ? To(0) : value;
  } else if constexpr (sizeof(From) > sizeof(To) ||
                       (sizeof(From) == sizeof(To) && !meta::signed_integer<From> && meta::signed_integer<To>)) {
    value = x.value > static_cast<From>(most<To>()) ? most<To>() : value;
    if constexpr (meta::signed_integer<From>) value = x.value < static_cast<From>(least<To>()) ? least<To>() : value;
  }
  return {value};
}

// A double that still knows on which side of its neighbours it was: rounded to f32 so that rounding
// that again is rounding once.
SMELT_HD Real32 rounded_to_odd(Real64 x) {
  const Real32 near = narrow(x);
  const Real64 back = widen(near);
  const auto k = bits(near);
  const auto toward_zero = select(abs(back) > abs(x), k - like(k, 1), k);
  return from_bits(select(back != x, toward_zero | like(k, 1), k));
}

template <class F>
SMELT_HD Real32 before_small(Real<F> x) {
  if constexpr (sizeof(F) == 4)
    return x;
  else
    return rounded_to_odd(x);
}
template <class T>
SMELT_HD Real32 before_small(Int<T> x) {
  if constexpr (sizeof(T) < 4)
    return {static_cast<float>(x.value)};
  else
    return rounded_to_odd(Real64{static_cast<double>(x.value)});
}
SMELT_HD Real32 before_small(Truth x) { return {x.value ? 1.0f : 0.0f}; }

/// To a dtype, as f32(x), i8(x), bool(x) of the language.
template <class To, class From>
SMELT_HD Typed<To> cast_value(Typed<From> x) {
  using V = computed<To>;
  constexpr D to = dtype_of<To>, from = dtype_of<From>;
  if constexpr (is_small_float<To>) {
    return {rounded(To{}, before_small(x.v))};
  } else if constexpr (to == from) {
    return x;
  } else if constexpr (to == D::Bool) {
    return {{!(x.v.value == 0)}};
  } else if constexpr (is_float(to)) {
    return {V{static_cast<To>(x.v.value)}};
  } else if constexpr (from == D::Bool) {
    return {V{static_cast<To>(x.v.value)}};
  } else {
    return {saturated<To>(x.v)};
  }
}

/// A value in the dtype that an operation has: no rounding, for it only widens.
template <class To, class From>
SMELT_HD Typed<To> promoted(Typed<From> x) {
  if constexpr (meta::same<To, From>)
    return x;
  else
    return cast_value<To>(x);
}

// ---- numbers written in C++

template <class T>
SMELT_HD constexpr bool fits(WeakBool) {
  return true;
}
// What is rounded to no number from here on.
template <class T>
SMELT_HD constexpr double end_of() {
  if constexpr (is_small_float<T>)
    return expand::too_large(format_of(T{}));
  else
    return dtype_of<T> == D::F32 ? 0x1.ffffffp127 : expand::kInfinity;
}
template <class T>
SMELT_HD constexpr bool fits(WeakFloat n) {
  constexpr double end = end_of<T>();
  const double magnitude = n.v < 0 ? -n.v : n.v;
  return !(magnitude >= end) || magnitude == expand::kInfinity;
}
template <class T>
SMELT_HD constexpr bool fits(WeakInt n) {
  if constexpr (is_int(dtype_of<T>)) {
    if (n.v < 0) return meta::signed_integer<T> && n.v >= static_cast<int64_t>(least<T>());
    return static_cast<uint64_t>(n.v) <= static_cast<uint64_t>(most<T>());
  } else {
    return fits<T>(WeakFloat{static_cast<double>(n.v)});
  }
}

template <class T>
SMELT_HD Typed<T> promoted(WeakBool n) {
  static_assert(dtype_of<T> == D::Bool,
                "smelt: true and false do not mix with numbers: write 1 or 0, or cast the number to bool");
  return {{n.v}};
}
template <class T>
SMELT_HD Typed<T> promoted(WeakInt n) {
  static_assert(dtype_of<T> != D::Bool,
                "smelt: bool does not mix with numbers: cast it, for example smelt::fixed::i32(x)");
  if constexpr (is_int(dtype_of<T>))
    return {{static_cast<T>(n.v)}};
  else
    return cast_value<T>(Typed<int64_t>{{n.v}});
}
template <class T>
SMELT_HD Typed<T> promoted(WeakFloat n) {
  static_assert(dtype_of<T> != D::Bool,
                "smelt: bool does not mix with numbers: cast it, for example smelt::fixed::f32(x)");
  static_assert(!is_int(dtype_of<T>),
                "smelt: integers do not mix with floats: cast the integer, for example smelt::fixed::f32(x)");
  if constexpr (is_float(dtype_of<T>)) return cast_value<T>(Typed<double>{{n.v}});
}

}  // namespace smelt::fixed::detail

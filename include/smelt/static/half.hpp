/// \file
/// f16, bf16 and floats of 8 bits as they lie in memory. They are computed in f32 and rounded where
/// they are stored.
#pragma once

#include "smelt/static/expand/small_float.hpp"
#include "smelt/static/values.hpp"

namespace smelt::fixed {

using expand::Int;
using expand::Real;
using expand::Real32;
using expand::Real64;
using expand::Truth;

/// An IEEE 754 half: 1 sign, 5 exponent and 10 fraction bits; the same bytes as CUDA's __half and
/// as smelt::f16.
struct f16 {
  uint16_t bits;  ///< sign, exponent, fraction, from the highest down
};
/// The upper half of a float; the same bytes as CUDA's __nv_bfloat16 and as smelt::bf16.
struct bf16 {
  uint16_t bits;  ///< sign, 8 exponent and 7 fraction bits, from the highest down
};

/// The OCP's E4M3, up to 448 and without infinities; the same bytes as CUDA's __nv_fp8_e4m3 and as
/// smelt::f8_e4m3.
struct f8_e4m3 {
  uint8_t bits;  ///< sign, 4 exponent and 3 fraction bits, from the highest down
};
/// The OCP's E5M2, the upper half of an f16; the same bytes as CUDA's __nv_fp8_e5m2 and as
/// smelt::f8_e5m2.
struct f8_e5m2 {
  uint8_t bits;  ///< sign, 5 exponent and 2 fraction bits, from the highest down
};

namespace detail {

SMELT_HD constexpr expand::SmallFloat format_of(f8_e4m3) { return expand::kF8E4M3; }
SMELT_HD constexpr expand::SmallFloat format_of(f8_e5m2) { return expand::kF8E5M2; }
SMELT_HD constexpr expand::SmallFloat format_of(f16) { return expand::kF16; }
SMELT_HD constexpr expand::SmallFloat format_of(bf16) { return expand::kBF16; }

template <class T>
inline constexpr bool is_small_float =
    meta::same<T, f8_e4m3> || meta::same<T, f8_e5m2> || meta::same<T, f16> || meta::same<T, bf16>;

// To the nearest T, halves to even, kept as f32.
template <class T>
SMELT_HD Real32 rounded(T, Real32 x) {
  return nearest_small(x, format_of(T{}));
}
// The bits of a value that rounded() gave; nan stays nan.
template <class T>
SMELT_HD T stored(T, Real32 x) {
  return {static_cast<decltype(T::bits)>(bits_of_small(x, format_of(T{})).value)};
}
template <class T>
SMELT_HD Real32 loaded(T x) {
  return small_of_bits(Int<uint32_t>{x.bits}, format_of(T{}));
}

}  // namespace detail

/// The nearest f16, halves to even; what is too large becomes infinity.
SMELT_HD f16 to_f16(float x) { return detail::stored(f16{}, detail::rounded(f16{}, {x})); }
/// The nearest bf16, halves to even; what is too large becomes infinity.
SMELT_HD bf16 to_bf16(float x) { return detail::stored(bf16{}, detail::rounded(bf16{}, {x})); }
/// The nearest f8_e4m3, halves to even; what would be above 448 becomes nan.
SMELT_HD f8_e4m3 to_f8_e4m3(float x) { return detail::stored(f8_e4m3{}, detail::rounded(f8_e4m3{}, {x})); }
/// The nearest f8_e5m2, halves to even; what is too large becomes infinity.
SMELT_HD f8_e5m2 to_f8_e5m2(float x) { return detail::stored(f8_e5m2{}, detail::rounded(f8_e5m2{}, {x})); }
/// The float that it stands for, exactly.
SMELT_HD float to_float(f16 x) { return detail::loaded(x).value; }
/// \overload
SMELT_HD float to_float(bf16 x) { return detail::loaded(x).value; }
/// \overload
SMELT_HD float to_float(f8_e4m3 x) { return detail::loaded(x).value; }
/// \overload
SMELT_HD float to_float(f8_e5m2 x) { return detail::loaded(x).value; }

}  // namespace smelt::fixed

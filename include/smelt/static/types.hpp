/// \file
/// Which dtype an operation has: the promotion of the Array API standard, where numbers written in
/// C++ take the dtype of what they meet.
#pragma once

#include "smelt/static/half.hpp"

namespace smelt::fixed {

namespace detail {

enum class D : unsigned char { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F8E4M3, F8E5M2, F16, BF16, F32, F64, None };

template <D d>
struct Dtype;
template <>
struct Dtype<D::Bool> {
  using type = bool;
};
template <>
struct Dtype<D::I8> {
  using type = int8_t;
};
template <>
struct Dtype<D::I16> {
  using type = int16_t;
};
template <>
struct Dtype<D::I32> {
  using type = int32_t;
};
template <>
struct Dtype<D::I64> {
  using type = int64_t;
};
template <>
struct Dtype<D::U8> {
  using type = uint8_t;
};
template <>
struct Dtype<D::U16> {
  using type = uint16_t;
};
template <>
struct Dtype<D::U32> {
  using type = uint32_t;
};
template <>
struct Dtype<D::U64> {
  using type = uint64_t;
};
template <>
struct Dtype<D::F8E4M3> {
  using type = f8_e4m3;
};
template <>
struct Dtype<D::F8E5M2> {
  using type = f8_e5m2;
};
template <>
struct Dtype<D::F16> {
  using type = f16;
};
template <>
struct Dtype<D::BF16> {
  using type = bf16;
};
template <>
struct Dtype<D::F32> {
  using type = float;
};
template <>
struct Dtype<D::F64> {
  using type = double;
};
/// The C++ type of a dtype's elements.
template <D d>
using type_of = typename Dtype<d>::type;

SMELT_HD constexpr bool is_float(D d) { return d >= D::F8E4M3 && d <= D::F64; }
SMELT_HD constexpr bool is_signed_int(D d) { return d >= D::I8 && d <= D::I64; }
SMELT_HD constexpr bool is_int(D d) { return d >= D::I8 && d <= D::U64; }
SMELT_HD constexpr int size_of(D d) {
  return d == D::Bool || d == D::I8 || d == D::U8 || d == D::F8E4M3 || d == D::F8E5M2 ? 1
         : d == D::I16 || d == D::U16 || d == D::F16 || d == D::BF16                  ? 2
         : d == D::I32 || d == D::U32 || d == D::F32                                  ? 4
                                                                                      : 8;
}

template <class T>
SMELT_HD constexpr bool is_integer() {
  return meta::same<T, char> || meta::same<T, signed char> || meta::same<T, unsigned char> || meta::same<T, short> ||
         meta::same<T, unsigned short> || meta::same<T, int> || meta::same<T, unsigned> || meta::same<T, long> ||
         meta::same<T, unsigned long> || meta::same<T, long long> || meta::same<T, unsigned long long>;
}
template <class T>
SMELT_HD constexpr D find_dtype() {
  if constexpr (meta::same<T, bool>) return D::Bool;
  if constexpr (meta::same<T, f8_e4m3>) return D::F8E4M3;
  if constexpr (meta::same<T, f8_e5m2>) return D::F8E5M2;
  if constexpr (meta::same<T, f16>) return D::F16;
  if constexpr (meta::same<T, bf16>) return D::BF16;
  if constexpr (meta::same<T, float>) return D::F32;
  if constexpr (meta::same<T, double>) return D::F64;
  if constexpr (is_integer<T>()) {
    constexpr bool s = meta::signed_integer<T>;
    if constexpr (sizeof(T) == 1) return s ? D::I8 : D::U8;
    if constexpr (sizeof(T) == 2) return s ? D::I16 : D::U16;
    if constexpr (sizeof(T) == 4) return s ? D::I32 : D::U32;
    if constexpr (sizeof(T) == 8) return s ? D::I64 : D::U64;
  }
  return D::None;
}
template <class T>
inline constexpr D dtype_of = find_dtype<T>();
template <class T>
inline constexpr bool is_element = dtype_of<T> != D::None;

/// D::None where the mix is undefined.
SMELT_HD constexpr D promote(D a, D b) {
  if (a == b) return a;
  const int m = size_of(a), n = size_of(b);
  if (is_float(a) && is_float(b)) return m == n ? D::F32 : m > n ? a : b;
  if (!is_int(a) || !is_int(b)) return D::None;
  if (is_signed_int(a) == is_signed_int(b)) return m > n ? a : b;
  const D with_sign = is_signed_int(a) ? a : b, without = is_signed_int(a) ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  return size_of(without) == 1 ? D::I16 : size_of(without) == 2 ? D::I32 : size_of(without) == 4 ? D::I64 : D::None;
}

// ---- values while they are computed

template <class T>
struct Computed {
  using type = meta::either<is_small_float<T>, Real32, Int<T>>;
};
template <>
struct Computed<bool> {
  using type = Truth;
};
template <>
struct Computed<float> {
  using type = Real32;
};
template <>
struct Computed<double> {
  using type = Real64;
};
/// What a T is computed in.
template <class T>
using computed = typename Computed<T>::type;

/// A value of dtype T. f16, bf16 and floats of 8 bits are as exact as f32 until they are stored or
/// cast.
template <class T>
struct Typed {
  computed<T> v;
};
/// Numbers written in C++, which have no dtype of their own.
struct WeakBool {
  bool v;
};
struct WeakInt {
  int64_t v;
};
struct WeakFloat {
  double v;
};

template <class X>
inline constexpr D typed_dtype = D::None;
template <class T>
inline constexpr D typed_dtype<Typed<T>> = dtype_of<T>;
template <class X>
inline constexpr bool is_weak = meta::same<X, WeakBool> || meta::same<X, WeakInt> || meta::same<X, WeakFloat>;

template <class T>
SMELT_HD Typed<T> load_value(T x) {
  if constexpr (is_small_float<T>)
    return {loaded(x)};
  else
    return {{x}};
}
template <class T>
SMELT_HD T store_value(Typed<T> x) {
  if constexpr (is_small_float<T>)
    return stored(T{}, rounded(T{}, x.v));
  else
    return x.v.value;
}

}  // namespace detail
}  // namespace smelt::fixed

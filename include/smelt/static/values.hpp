/// \file
/// Real and Int: numbers that do what is written and nothing else. A compiler may make a * b + c
/// one rounding of its own accord, and promotes small integers to int; these do neither. They offer
/// what expand/algebra.hpp lists.
#pragma once

#include "smelt/static/config.hpp"
#include "smelt/static/expand/algebra.hpp"

namespace smelt::expand {

/// What comparisons give: a bool that & and | take without becoming an int.
struct Truth {
  bool value;
  Truth() = default;
  SMELT_HD constexpr Truth(bool v) : value(v) {}              // NOLINT: meant to convert
  SMELT_HD constexpr operator bool() const { return value; }  // NOLINT: meant to convert
  friend SMELT_HD constexpr Truth operator&(Truth a, Truth b) {
    return {(static_cast<int>(a.value) & static_cast<int>(b.value)) != 0};
  }
  friend SMELT_HD constexpr Truth operator|(Truth a, Truth b) {
    return {(static_cast<int>(a.value) | static_cast<int>(b.value)) != 0};
  }
  friend SMELT_HD constexpr Truth operator^(Truth a, Truth b) { return {a.value != b.value}; }
  friend SMELT_HD constexpr Truth operator!(Truth a) { return {!a.value}; }
};
SMELT_HD constexpr Truth select(Truth c, Truth a, Truth b) { return (c & a) | ((!c) & b); }

// ---- integers: a T that wraps and is not promoted to int

template <class T>
struct Int {
  T value;

  // Wide enough not to promote to a signed int, no wider than it must be, so that loops over it
  // vectorise.
  using Wrapping = meta::either<sizeof(T) == 8, uint64_t, uint32_t>;
  SMELT_HD constexpr Wrapping wrapping() const { return static_cast<Wrapping>(value); }
  SMELT_HD static constexpr Int of(Wrapping bits) { return {static_cast<T>(bits)}; }

  friend SMELT_HD constexpr Int operator+(Int a, Int b) { return of(a.wrapping() + b.wrapping()); }
  friend SMELT_HD constexpr Int operator-(Int a, Int b) { return of(a.wrapping() - b.wrapping()); }
  friend SMELT_HD constexpr Int operator*(Int a, Int b) { return of(a.wrapping() * b.wrapping()); }
  friend SMELT_HD constexpr Int operator-(Int a) { return of(0 - a.wrapping()); }
  friend SMELT_HD constexpr Int operator/(Int a, Int b) { return {static_cast<T>(a.value / b.value)}; }
  friend SMELT_HD constexpr Int operator%(Int a, Int b) { return {static_cast<T>(a.value % b.value)}; }
  friend SMELT_HD constexpr Int operator&(Int a, Int b) { return {static_cast<T>(a.value & b.value)}; }
  friend SMELT_HD constexpr Int operator|(Int a, Int b) { return {static_cast<T>(a.value | b.value)}; }
  friend SMELT_HD constexpr Int operator^(Int a, Int b) { return {static_cast<T>(a.value ^ b.value)}; }
  friend SMELT_HD constexpr Int operator~(Int a) { return {static_cast<T>(~a.value)}; }
  friend SMELT_HD constexpr Int operator<<(Int a, Int b) { return of(a.wrapping() << b.value); }
  friend SMELT_HD constexpr Int operator>>(Int a, Int b) { return {static_cast<T>(a.value >> b.value)}; }
  friend SMELT_HD constexpr Truth operator==(Int a, Int b) { return {a.value == b.value}; }
  friend SMELT_HD constexpr Truth operator!=(Int a, Int b) { return {a.value != b.value}; }
  friend SMELT_HD constexpr Truth operator<(Int a, Int b) { return {a.value < b.value}; }
  friend SMELT_HD constexpr Truth operator<=(Int a, Int b) { return {a.value <= b.value}; }
  friend SMELT_HD constexpr Truth operator>(Int a, Int b) { return {a.value > b.value}; }
  friend SMELT_HD constexpr Truth operator>=(Int a, Int b) { return {a.value >= b.value}; }
};

template <class T>
SMELT_HD constexpr bool is_signed(Int<T>) {
  return meta::signed_integer<T>;
}
template <class T>
SMELT_HD constexpr int width(Int<T>) {
  return 8 * sizeof(T);
}
template <class T>
SMELT_HD constexpr Int<meta::unsigned_of<T>> as_unsigned(Int<T> a) {
  return {static_cast<meta::unsigned_of<T>>(a.value)};
}
template <class T>
SMELT_HD constexpr Int<meta::signed_of<T>> as_signed(Int<T> a) {
  return {static_cast<meta::signed_of<T>>(a.value)};
}
/// \cond
// g++ makes jumps of ternaries that follow from one another, and does not vectorise loops with
// jumps: there by masks.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define SMELT_MASKS 1
#else
#define SMELT_MASKS 0
#endif
/// \endcond
template <class U>
SMELT_HD constexpr U chosen_bits(Truth c, U a, U b) {
#if SMELT_MASKS
  const U mask = static_cast<U>(-static_cast<U>(c.value));
  return static_cast<U>((a & mask) | (b & static_cast<U>(~mask)));
#else
  return c.value ? a : b;
#endif
}

template <class T, class N>
SMELT_HD constexpr Int<T> like(Int<T>, N n) {
  return {static_cast<T>(n)};
}
template <class T>
SMELT_HD constexpr Int<T> select(Truth c, Int<T> a, Int<T> b) {
  return {chosen_bits(c, a.value, b.value)};
}

// ---- floats

// The product by itself, which no addition after it may take in.
SMELT_HD float product_alone(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && __GNUC__ >= 12
  return __builtin_assoc_barrier(a * b);
#else
  return a * b;
#endif
}
SMELT_HD double product_alone(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && __GNUC__ >= 12
  return __builtin_assoc_barrier(a * b);
#else
  return a * b;
#endif
}
SMELT_HD float correct_quotient(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}
SMELT_HD double correct_quotient(double a, double b) { return a / b; }

/// A float or double.
template <class F>
struct Real {
  F value;

  friend SMELT_HD Real operator+(Real a, Real b) { return {a.value + b.value}; }
  friend SMELT_HD Real operator-(Real a, Real b) { return {a.value - b.value}; }
  friend SMELT_HD Real operator*(Real a, Real b) { return {product_alone(a.value, b.value)}; }
  friend SMELT_HD Real operator/(Real a, Real b) { return {correct_quotient(a.value, b.value)}; }
  friend SMELT_HD Real operator-(Real a) { return {-a.value}; }
  friend SMELT_HD constexpr Truth operator==(Real a, Real b) { return {a.value == b.value}; }
  friend SMELT_HD constexpr Truth operator!=(Real a, Real b) { return {a.value != b.value}; }
  friend SMELT_HD constexpr Truth operator<(Real a, Real b) { return {a.value < b.value}; }
  friend SMELT_HD constexpr Truth operator<=(Real a, Real b) { return {a.value <= b.value}; }
  friend SMELT_HD constexpr Truth operator>(Real a, Real b) { return {a.value > b.value}; }
  friend SMELT_HD constexpr Truth operator>=(Real a, Real b) { return {a.value >= b.value}; }
};
using Real32 = Real<float>;
using Real64 = Real<double>;

template <class F, class N>
SMELT_HD constexpr Real<F> like(Real<F>, N n) {
  return {static_cast<F>(n)};
}
template <class To, class From>
SMELT_HD To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "the bits of one are those of the other");
#if defined(__CUDA_ARCH__)
  if constexpr (meta::same<From, float>)
    return static_cast<To>(__float_as_int(from));
  else if constexpr (meta::same<From, double>)
    return static_cast<To>(__double_as_longlong(from));
  else if constexpr (sizeof(To) == 4)
    return __int_as_float(static_cast<int>(from));
  else
    return __longlong_as_double(static_cast<long long>(from));
#else
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
#endif
}
template <class F>
SMELT_HD Real<F> select(Truth c, Real<F> a, Real<F> b) {
#if SMELT_MASKS
  using U = typename meta::Integer<sizeof(F), false>::type;
  return {same_bits<F>(chosen_bits(c, same_bits<U>(a.value), same_bits<U>(b.value)))};
#else
  return {c.value ? a.value : b.value};
#endif
}
SMELT_HD Int<int32_t> bits(Real32 a) { return {same_bits<int32_t>(a.value)}; }
SMELT_HD Int<int64_t> bits(Real64 a) { return {same_bits<int64_t>(a.value)}; }
SMELT_HD Real32 from_bits(Int<int32_t> a) { return {same_bits<float>(a.value)}; }
SMELT_HD Real64 from_bits(Int<int64_t> a) { return {same_bits<double>(a.value)}; }
SMELT_HD Int<int32_t> to_int(Real32 a) { return {static_cast<int32_t>(a.value)}; }
SMELT_HD Int<int64_t> to_int(Real64 a) { return {static_cast<int64_t>(a.value)}; }
SMELT_HD Real32 to_float(Int<int32_t> a) { return {static_cast<float>(a.value)}; }
SMELT_HD Real64 to_float(Int<int64_t> a) { return {static_cast<double>(a.value)}; }
SMELT_HD Real64 widen(Real64 a) { return a; }
SMELT_HD Real32 narrow(Real32 a) { return a; }
SMELT_HD Real64 widen(Real32 a) { return {static_cast<double>(a.value)}; }
SMELT_HD Real32 narrow(Real64 a) { return {static_cast<float>(a.value)}; }

#if defined(__CUDA_ARCH__)
SMELT_HD Real32 fma(Real32 a, Real32 b, Real32 c) { return {__fmaf_rn(a.value, b.value, c.value)}; }
SMELT_HD Real64 fma(Real64 a, Real64 b, Real64 c) { return {__fma_rn(a.value, b.value, c.value)}; }
SMELT_HD Real32 sqrt(Real32 a) { return {__fsqrt_rn(a.value)}; }
SMELT_HD Real64 sqrt(Real64 a) { return {__dsqrt_rn(a.value)}; }
SMELT_HD Real32 abs(Real32 a) { return {::fabsf(a.value)}; }
SMELT_HD Real64 abs(Real64 a) { return {::fabs(a.value)}; }
SMELT_HD Real32 floor(Real32 a) { return {::floorf(a.value)}; }
SMELT_HD Real64 floor(Real64 a) { return {::floor(a.value)}; }
SMELT_HD Real32 ceil(Real32 a) { return {::ceilf(a.value)}; }
SMELT_HD Real64 ceil(Real64 a) { return {::ceil(a.value)}; }
SMELT_HD Real32 trunc(Real32 a) { return {::truncf(a.value)}; }
SMELT_HD Real64 trunc(Real64 a) { return {::trunc(a.value)}; }
SMELT_HD Real32 rint(Real32 a) { return {::rintf(a.value)}; }
SMELT_HD Real64 rint(Real64 a) { return {::rint(a.value)}; }
SMELT_HD Real32 copysign(Real32 a, Real32 b) { return {::copysignf(a.value, b.value)}; }
SMELT_HD Real64 copysign(Real64 a, Real64 b) { return {::copysign(a.value, b.value)}; }
#else
SMELT_HD Real32 fma(Real32 a, Real32 b, Real32 c) { return {__builtin_fmaf(a.value, b.value, c.value)}; }
SMELT_HD Real64 fma(Real64 a, Real64 b, Real64 c) { return {__builtin_fma(a.value, b.value, c.value)}; }
SMELT_HD Real32 sqrt(Real32 a) { return {__builtin_sqrtf(a.value)}; }
SMELT_HD Real64 sqrt(Real64 a) { return {__builtin_sqrt(a.value)}; }
SMELT_HD Real32 abs(Real32 a) { return {__builtin_fabsf(a.value)}; }
SMELT_HD Real64 abs(Real64 a) { return {__builtin_fabs(a.value)}; }
SMELT_HD Real32 copysign(Real32 a, Real32 b) { return {__builtin_copysignf(a.value, b.value)}; }
SMELT_HD Real64 copysign(Real64 a, Real64 b) { return {__builtin_copysign(a.value, b.value)}; }
#if defined(__x86_64__) && !defined(__SSE4_1__)
// No instruction for it: adding 2^23 (2^52) leaves no room for a fraction.
template <class F>
SMELT_HD Real<F> rint(Real<F> a) {
  const auto magnitude = abs(a), end = like(a, sizeof(F) == 4 ? 0x1p23 : 0x1p52);
  const auto rounded = copysign((magnitude + end) - end, a);
  return select(magnitude < end, rounded, a);
}
template <class F>
SMELT_HD Real<F> floor(Real<F> a) {
  const auto r = rint(a);
  return copysign(select(r > a, r - like(a, 1), r), a);
}
template <class F>
SMELT_HD Real<F> ceil(Real<F> a) {
  const auto r = rint(a);
  return copysign(select(r < a, r + like(a, 1), r), a);
}
template <class F>
SMELT_HD Real<F> trunc(Real<F> a) {
  return copysign(floor(abs(a)), a);
}
#else
SMELT_HD Real32 floor(Real32 a) { return {__builtin_floorf(a.value)}; }
SMELT_HD Real64 floor(Real64 a) { return {__builtin_floor(a.value)}; }
SMELT_HD Real32 ceil(Real32 a) { return {__builtin_ceilf(a.value)}; }
SMELT_HD Real64 ceil(Real64 a) { return {__builtin_ceil(a.value)}; }
SMELT_HD Real32 trunc(Real32 a) { return {__builtin_truncf(a.value)}; }
SMELT_HD Real64 trunc(Real64 a) { return {__builtin_trunc(a.value)}; }
SMELT_HD Real32 rint(Real32 a) { return {__builtin_rintf(a.value)}; }
SMELT_HD Real64 rint(Real64 a) { return {__builtin_rint(a.value)}; }
#endif
#endif

template <class On32, class On64>
SMELT_HD auto by_width(Real32 x, On32 on32, On64) {
  return on32(x);
}
template <class On32, class On64>
SMELT_HD auto by_width(Real64 x, On32, On64 on64) {
  return on64(x);
}
template <class F>
SMELT_HD Real<F> at_most(Real<F> x, double limit) {
  return select(x > like(x, limit), like(x, limit), x);
}
template <class F>
SMELT_HD Real<F> at_least(Real<F> x, double limit) {
  return select(x < like(x, limit), like(x, limit), x);
}

}  // namespace smelt::expand

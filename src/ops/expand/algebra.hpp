// What the expansions in this folder may use of a value type V. They are function templates, instantiated on
//   host values   float, double and Int<T>, where g++ compiles them and tests sweep them, and
//   IR values     kernel::Val: one C++ type for every dtype, which is known when the kernel is built.
// This list is the whole of it; the overloads for host values follow, those for IR values stand in
// kernel/build.hpp and are found through their namespace. All operands of an operation have one dtype.
//
//   floats         + - * / unary-   == != < <= > >=
//                  fma(a, b, c)  sqrt  abs  floor  trunc  rint (halves to even)  copysign(magnitude, sign)
//   integers       + - * unary- (wrap)   / % (truncating; never by 0, never MIN / -1)   & | ^ ~
//                  == != < <= > >=   << >> (count in 0 .. width-1; >> keeps the sign of a signed dtype)
//   conditions     & | !            what comparisons give: bool on the host, a Val of dtype bool
//   like(x, n)     the constant n of x's dtype; n is any C++ number, rounded if x is f32
//   select(c, a, b)  a where c, else b. Both sides are evaluated, always; a or b may be a condition too
//   bits(f)        the bits of a float as a signed integer of the same width; from_bits(i) is its inverse
//   to_int(f)      truncated to a signed integer of the same width; out of range: any value, no trap
//   to_float(i)    a signed 32- or 64-bit integer as the float of the same width
//   as_unsigned(i), as_signed(i)   the same bits as the other integer dtype
//   widen(f)       f32 as f64;  narrow(f)  f64 rounded to f32
//   by_width(x, on32, on64)        on32(x) or on64(x), by the width of the float x; any result type
//   at_most(f, c), at_least(f, c)  f, or the number c where f is beyond it; nan stays nan
//   is_signed(i), width(i)         facts of an integer dtype: a C++ bool, and a C++ int in bits
//
// Rules. No expansion traps, or depends on floating-point exceptions, or on a rounding mode other than to nearest.
// A printer emits every operation as it stands: no contraction of a*b+c inside an expansion and no reassociation,
// for several of them find the rounding error of an operation by subtracting its result.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace smelt::expand {

// ---- integers of the host: a T that wraps and is not promoted to int

template <class T>
struct Int {
  T value;

  // Wide enough not to promote to a signed int, no wider than it must be, so that loops over it vectorise.
  using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr Wrapping wrapping() const { return static_cast<Wrapping>(value); }
  static constexpr Int of(Wrapping bits) { return {static_cast<T>(bits)}; }

  friend constexpr Int operator+(Int a, Int b) { return of(a.wrapping() + b.wrapping()); }
  friend constexpr Int operator-(Int a, Int b) { return of(a.wrapping() - b.wrapping()); }
  friend constexpr Int operator*(Int a, Int b) { return of(a.wrapping() * b.wrapping()); }
  friend constexpr Int operator-(Int a) { return of(0 - a.wrapping()); }
  friend constexpr Int operator/(Int a, Int b) { return {static_cast<T>(a.value / b.value)}; }
  friend constexpr Int operator%(Int a, Int b) { return {static_cast<T>(a.value % b.value)}; }
  friend constexpr Int operator&(Int a, Int b) { return {static_cast<T>(a.value & b.value)}; }
  friend constexpr Int operator|(Int a, Int b) { return {static_cast<T>(a.value | b.value)}; }
  friend constexpr Int operator^(Int a, Int b) { return {static_cast<T>(a.value ^ b.value)}; }
  friend constexpr Int operator~(Int a) { return {static_cast<T>(~a.value)}; }
  friend constexpr Int operator<<(Int a, Int b) { return of(a.wrapping() << b.value); }
  friend constexpr Int operator>>(Int a, Int b) { return {static_cast<T>(a.value >> b.value)}; }
  friend constexpr bool operator==(Int a, Int b) { return a.value == b.value; }
  friend constexpr auto operator<=>(Int a, Int b) { return a.value <=> b.value; }
};

template <class T>
constexpr bool is_signed(Int<T>) {
  return std::is_signed_v<T>;
}
template <class T>
constexpr int width(Int<T>) {
  return 8 * sizeof(T);
}
template <class T>
constexpr Int<std::make_unsigned_t<T>> as_unsigned(Int<T> a) {
  return {static_cast<std::make_unsigned_t<T>>(a.value)};
}
template <class T>
constexpr Int<std::make_signed_t<T>> as_signed(Int<T> a) {
  return {static_cast<std::make_signed_t<T>>(a.value)};
}

// ---- constants and choice

template <class N>
constexpr float like(float, N n) {
  return static_cast<float>(n);
}
template <class N>
constexpr double like(double, N n) {
  return static_cast<double>(n);
}
template <class T, class N>
constexpr Int<T> like(Int<T>, N n) {
  return {static_cast<T>(n)};
}

constexpr float select(bool c, float a, float b) { return c ? a : b; }
constexpr double select(bool c, double a, double b) { return c ? a : b; }
constexpr bool select(bool c, bool a, bool b) { return c ? a : b; }
template <class T>
constexpr Int<T> select(bool c, Int<T> a, Int<T> b) {
  return {c ? a.value : b.value};
}

// ---- floats of the host

inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float sqrt(float a) { return __builtin_sqrtf(a); }
inline double sqrt(double a) { return __builtin_sqrt(a); }
inline float abs(float a) { return __builtin_fabsf(a); }
inline double abs(double a) { return __builtin_fabs(a); }
inline float floor(float a) { return __builtin_floorf(a); }
inline double floor(double a) { return __builtin_floor(a); }
inline float trunc(float a) { return __builtin_truncf(a); }
inline double trunc(double a) { return __builtin_trunc(a); }
inline float rint(float a) { return __builtin_rintf(a); }
inline double rint(double a) { return __builtin_rint(a); }
inline float copysign(float a, float b) { return __builtin_copysignf(a, b); }
inline double copysign(double a, double b) { return __builtin_copysign(a, b); }

inline Int<int32_t> bits(float a) { return {std::bit_cast<int32_t>(a)}; }
inline Int<int64_t> bits(double a) { return {std::bit_cast<int64_t>(a)}; }
inline float from_bits(Int<int32_t> a) { return std::bit_cast<float>(a.value); }
inline double from_bits(Int<int64_t> a) { return std::bit_cast<double>(a.value); }
inline Int<int32_t> to_int(float a) { return {static_cast<int32_t>(a)}; }
inline Int<int64_t> to_int(double a) { return {static_cast<int64_t>(a)}; }
inline float to_float(Int<int32_t> a) { return static_cast<float>(a.value); }
inline double to_float(Int<int64_t> a) { return static_cast<double>(a.value); }
inline double widen(float a) { return a; }
inline float narrow(double a) { return static_cast<float>(a); }

template <class On32, class On64>
auto by_width(float x, On32 on32, On64) {
  return on32(x);
}
template <class On32, class On64>
auto by_width(double x, On32, On64 on64) {
  return on64(x);
}

template <class V>
V at_most(V x, double limit) {
  return select(x > like(x, limit), like(x, limit), x);
}
template <class V>
V at_least(V x, double limit) {
  return select(x < like(x, limit), like(x, limit), x);
}

// ---- what follows from the list, for every V

// c0 + c1 x + c2 x^2 + ...: Horner's rule by twos, in half as many dependent steps as by ones, since in chains of functions it
// is those that the machine waits for. The last step goes by one: only its rounding counts in full.
template <class V>
V polynomial_by_twos(V x, V, double c0) {
  return like(x, c0);
}
template <class V>
V polynomial_by_twos(V x, V, double c0, double c1) {
  return fma(like(x, c1), x, like(x, c0));
}
template <class V, class... Rest>
V polynomial_by_twos(V x, V square, double c0, double c1, double c2, Rest... rest) {
  return fma(polynomial_by_twos(x, square, c2, rest...), square, fma(like(x, c1), x, like(x, c0)));
}

template <class V, class... Rest>
V polynomial(V x, double c0, double c1, Rest... rest) {
  const V square = sizeof...(rest) < 2 ? x : x * x;
  return fma(polynomial_by_twos(x, square, c1, rest...), x, like(x, c0));
}

template <class V>
auto shift_left_by(V k, int count) {
  return k << like(k, count);
}
template <class V>
auto shift_right_by(V k, int count) {
  return k >> like(k, count);
}

}  // namespace smelt::expand

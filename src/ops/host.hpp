// What the operations of ops.def mean on the host where one C++ operator does not say it. Nothing
// here is undefined behaviour for any argument: integers wrap, and division by zero and shifts past
// the width have a result.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace smelt::host {

// Through 64 unsigned bits, where wrapping is defined and narrow types do not promote to int.
template <class T>
T wrap_add(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

template <class T>
T wrap_sub(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

template <class T>
T wrap_mul(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template <class T>
T bitwise_not(T a) {
  if constexpr (std::is_same_v<T, bool>)
    return !a;
  else
    return static_cast<T>(~a);
}

// Whether b is the divisor -1, by which a / b would overflow for the smallest a.
template <class T>
bool is_minus_one(T b) {
  return std::is_signed_v<T> && b == static_cast<T>(-1);
}

template <class T>
T int_floor_divide(T a, T b) {
  if (b == 0) return 0;
  if (is_minus_one(b)) return wrap_sub(T(0), a);
  const T quotient = static_cast<T>(a / b);
  const bool rounded_up = a % b != 0 && (a < T(0)) != (b < T(0));
  return static_cast<T>(quotient - (rounded_up ? 1 : 0));
}

template <class T>
T int_trunc_mod(T a, T b) {
  if (b == 0 || is_minus_one(b)) return 0;
  return static_cast<T>(a % b);
}

template <class T>
T int_floor_mod(T a, T b) {
  const T rest = int_trunc_mod(a, b);
  return rest != 0 && (rest < T(0)) != (b < T(0)) ? static_cast<T>(rest + b) : rest;
}

template <class T>
T int_pow(T a, T b) {
  if (b < T(0)) {
    if (a == T(1)) return 1;
    if (is_minus_one(a)) return static_cast<T>(b & 1 ? -1 : 1);
    return 0;
  }
  T power = 1;
  for (T rest = b; rest != 0; rest = static_cast<T>(rest >> 1), a = wrap_mul(a, a))
    if (rest & 1) power = wrap_mul(power, a);
  return power;
}

// Whether a shift by b stays inside the width of T.
template <class T>
bool shifts_inside(T b) {
  return b >= T(0) && static_cast<uint64_t>(b) < 8 * sizeof(T);
}

template <class T>
T shift_left(T a, T b) {
  return shifts_inside(b) ? static_cast<T>(static_cast<uint64_t>(a) << b) : T(0);
}

template <class T>
T shift_right(T a, T b) {
  if (shifts_inside(b)) return static_cast<T>(a >> b);
  return a < T(0) ? static_cast<T>(-1) : T(0);
}

// Python's x // y, and NumPy's where Python raises: x // 0 is x / 0, inf // y is nan.
inline double floor_divide(double a, double b) {
  if (b == 0) return a / b;
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  // The quotient is an integer but for its rounding error.
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

// Python's x % y; x % 0 is nan.
inline double floor_mod(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (b < 0) != (rest < 0) ? rest + b : rest;
}

inline double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

inline double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

}  // namespace smelt::host

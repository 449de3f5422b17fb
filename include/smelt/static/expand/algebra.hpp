/// \file
/// What the expansions in this folder may use of a value type V. They are function templates,
/// instantiated on
///   Real, Int       numbers of the host and of a GPU (smelt/static/values.hpp), and
///   kernel::Val     in the compiler: one C++ type for every dtype, which is known when the kernel is built.
/// This list is the whole of it; each operation is found through the namespace of V. All operands
/// of an operation have one dtype.
///
///   floats         + - * / unary-   == != < <= > >=
///                  fma(a, b, c)  sqrt  abs  floor  trunc  rint (halves to even)  copysign(magnitude, sign)
///   integers       + - * unary- (wrap)   / % (truncating; never by 0, never MIN / -1)   & | ^ ~
///                  == != < <= > >=   << >> (count in 0 .. width-1; >> keeps the sign of a signed dtype)
///   conditions     & | !            what comparisons give: Truth, or a Val of dtype bool
///   like(x, n)     the constant n of x's dtype; n is any C++ number, rounded if x is f32
///   select(c, a, b)  a where c, else b. Both sides are evaluated, always; a or b may be a condition too
///   bits(f)        the bits of a float as a signed integer of the same width; from_bits(i) is its inverse
///   to_int(f)      truncated to a signed integer of the same width; out of range: any value, no trap
///   to_float(i)    a signed 32- or 64-bit integer as the float of the same width
///   as_unsigned(i), as_signed(i)   the same bits as the other integer dtype
///   widen(f)       f32 as f64;  narrow(f)  f64 rounded to f32
///   by_width(x, on32, on64)        on32(x) or on64(x), by the width of the float x; any result type
///   at_most(f, c), at_least(f, c)  f, or the number c where f is beyond it; nan stays nan
///   is_signed(i), width(i)         facts of an integer dtype: a C++ bool, and a C++ int in bits
///
/// Rules. No expansion traps, or depends on floating-point exceptions, or on a rounding mode other
/// than to nearest. Every operation is done as it stands: no contraction of a*b+c inside an
/// expansion and no reassociation, for several of them find the rounding error of an operation by
/// subtracting its result.
#pragma once

#include "smelt/static/config.hpp"

namespace smelt::expand {

#if defined(__CUDACC_RTC__)
inline constexpr double kInfinity = __builtin_bit_cast(double, 0x7ff0000000000000);
inline constexpr double kNan = __builtin_bit_cast(double, 0x7ff8000000000000);
#else
inline constexpr double kInfinity = __builtin_huge_val();
inline constexpr double kNan = __builtin_nan("");
#endif

// x^2, or a number that is nothing beside 1 where x^2 may be subnormal: a CPU takes 50 times as
// long for those.
template <class V>
SMELT_HD V square_beside_one(V x) {
  return by_width(
      x, [](auto x) { return fma(x, x, like(x, 0x1p-100)); }, [](auto x) { return fma(x, x, like(x, 0x1p-600)); });
}

// c0 + c1 x + c2 x^2 + ...: Horner's rule by twos, in half as many dependent steps as by ones,
// since in chains of functions it is those that the machine waits for. The last step goes by one:
// only its rounding counts in full.
template <class V>
SMELT_HD V polynomial_by_twos(V x, V, double c0) {
  return like(x, c0);
}
template <class V>
SMELT_HD V polynomial_by_twos(V x, V, double c0, double c1) {
  return fma(like(x, c1), x, like(x, c0));
}
template <class V, class... Rest>
SMELT_HD V polynomial_by_twos(V x, V square, double c0, double c1, double c2, Rest... rest) {
  return fma(polynomial_by_twos(x, square, c2, rest...), square, fma(like(x, c1), x, like(x, c0)));
}

template <class V, class... Rest>
SMELT_HD V polynomial(V x, double c0, double c1, Rest... rest) {
  const V square = sizeof...(rest) < 2 ? x : square_beside_one(x);
  return fma(polynomial_by_twos(x, square, c1, rest...), x, like(x, c0));
}

template <class V>
SMELT_HD auto shift_left_by(V k, int count) {
  return k << like(k, count);
}
template <class V>
SMELT_HD auto shift_right_by(V k, int count) {
  return k >> like(k, count);
}

}  // namespace smelt::expand

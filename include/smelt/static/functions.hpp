/// \file
/// The functions and operators of expressions, by the names of the language; each is one operation
/// of ops.hpp.
#pragma once

#include "smelt/static/expression.hpp"

namespace smelt::fixed {

/// -a; integers wrap
template <class A>
SMELT_HD constexpr auto negative(const A& a) {
  return detail::make<op::Neg>(a);
}
/// absolute value; abs(MIN) is MIN
template <class A>
SMELT_HD constexpr auto abs(const A& a) {
  return detail::make<op::Abs>(a);
}
/// -1, 0 or 1; sign(0.0) keeps its zero, sign(nan) is nan
template <class A>
SMELT_HD constexpr auto sign(const A& a) {
  return detail::make<op::Sign>(a);
}
/// a * a
template <class A>
SMELT_HD constexpr auto square(const A& a) {
  return detail::make<op::Square>(a);
}
/// 1 / a
template <class A>
SMELT_HD constexpr auto reciprocal(const A& a) {
  return detail::make<op::Reciprocal>(a);
}
/// largest integer not above a
template <class A>
SMELT_HD constexpr auto floor(const A& a) {
  return detail::make<op::Floor>(a);
}
/// smallest integer not below a
template <class A>
SMELT_HD constexpr auto ceil(const A& a) {
  return detail::make<op::Ceil>(a);
}
/// a without its fraction
template <class A>
SMELT_HD constexpr auto trunc(const A& a) {
  return detail::make<op::Trunc>(a);
}
/// nearest integer, halves to even
template <class A>
SMELT_HD constexpr auto round(const A& a) {
  return detail::make<op::Round>(a);
}
/// square root
template <class A>
SMELT_HD constexpr auto sqrt(const A& a) {
  return detail::make<op::Sqrt>(a);
}
/// 1 / sqrt(a)
template <class A>
SMELT_HD constexpr auto rsqrt(const A& a) {
  return detail::make<op::Rsqrt>(a);
}
/// cube root
template <class A>
SMELT_HD constexpr auto cbrt(const A& a) {
  return detail::make<op::Cbrt>(a);
}
/// e ** a
template <class A>
SMELT_HD constexpr auto exp(const A& a) {
  return detail::make<op::Exp>(a);
}
/// 2 ** a
template <class A>
SMELT_HD constexpr auto exp2(const A& a) {
  return detail::make<op::Exp2>(a);
}
/// e ** a - 1, accurate near 0
template <class A>
SMELT_HD constexpr auto expm1(const A& a) {
  return detail::make<op::Expm1>(a);
}
/// natural logarithm
template <class A>
SMELT_HD constexpr auto log(const A& a) {
  return detail::make<op::Log>(a);
}
/// logarithm to base 2
template <class A>
SMELT_HD constexpr auto log2(const A& a) {
  return detail::make<op::Log2>(a);
}
/// logarithm to base 10
template <class A>
SMELT_HD constexpr auto log10(const A& a) {
  return detail::make<op::Log10>(a);
}
/// log(1 + a), accurate near 0
template <class A>
SMELT_HD constexpr auto log1p(const A& a) {
  return detail::make<op::Log1p>(a);
}
/// sine
template <class A>
SMELT_HD constexpr auto sin(const A& a) {
  return detail::make<op::Sin>(a);
}
/// cosine
template <class A>
SMELT_HD constexpr auto cos(const A& a) {
  return detail::make<op::Cos>(a);
}
/// tangent
template <class A>
SMELT_HD constexpr auto tan(const A& a) {
  return detail::make<op::Tan>(a);
}
/// inverse sine
template <class A>
SMELT_HD constexpr auto asin(const A& a) {
  return detail::make<op::Asin>(a);
}
/// inverse cosine
template <class A>
SMELT_HD constexpr auto acos(const A& a) {
  return detail::make<op::Acos>(a);
}
/// inverse tangent
template <class A>
SMELT_HD constexpr auto atan(const A& a) {
  return detail::make<op::Atan>(a);
}
/// hyperbolic sine
template <class A>
SMELT_HD constexpr auto sinh(const A& a) {
  return detail::make<op::Sinh>(a);
}
/// hyperbolic cosine
template <class A>
SMELT_HD constexpr auto cosh(const A& a) {
  return detail::make<op::Cosh>(a);
}
/// hyperbolic tangent
template <class A>
SMELT_HD constexpr auto tanh(const A& a) {
  return detail::make<op::Tanh>(a);
}
/// inverse hyperbolic sine
template <class A>
SMELT_HD constexpr auto asinh(const A& a) {
  return detail::make<op::Asinh>(a);
}
/// inverse hyperbolic cosine
template <class A>
SMELT_HD constexpr auto acosh(const A& a) {
  return detail::make<op::Acosh>(a);
}
/// inverse hyperbolic tangent
template <class A>
SMELT_HD constexpr auto atanh(const A& a) {
  return detail::make<op::Atanh>(a);
}
/// error function
template <class A>
SMELT_HD constexpr auto erf(const A& a) {
  return detail::make<op::Erf>(a);
}
/// 1 - erf(a), accurate in the tail
template <class A>
SMELT_HD constexpr auto erfc(const A& a) {
  return detail::make<op::Erfc>(a);
}
/// true for nan
template <class A>
SMELT_HD constexpr auto isnan(const A& a) {
  return detail::make<op::IsNan>(a);
}
/// true for inf and -inf
template <class A>
SMELT_HD constexpr auto isinf(const A& a) {
  return detail::make<op::IsInf>(a);
}
/// true for all but nan, inf and -inf
template <class A>
SMELT_HD constexpr auto isfinite(const A& a) {
  return detail::make<op::IsFinite>(a);
}
/// ~a; logical on bool
template <class A>
SMELT_HD constexpr auto bitwise_not(const A& a) {
  return detail::make<op::Not>(a);
}
/// a + b; integers wrap
template <class A, class B>
SMELT_HD constexpr auto add(const A& a, const B& b) {
  return detail::make<op::Add>(a, b);
}
/// a - b; integers wrap
template <class A, class B>
SMELT_HD constexpr auto subtract(const A& a, const B& b) {
  return detail::make<op::Sub>(a, b);
}
/// a * b; integers wrap
template <class A, class B>
SMELT_HD constexpr auto multiply(const A& a, const B& b) {
  return detail::make<op::Mul>(a, b);
}
/// a / b
template <class A, class B>
SMELT_HD constexpr auto divide(const A& a, const B& b) {
  return detail::make<op::Div>(a, b);
}
/// a // b, rounded down as in Python; integers: x // 0 is 0, MIN // -1 is MIN
template <class A, class B>
SMELT_HD constexpr auto floor_divide(const A& a, const B& b) {
  return detail::make<op::FloorDiv>(a, b);
}
/// a % b with the sign of b, as in Python; integers: x % 0 is 0; f64: nan where |a / b| is 2^300
/// and more
template <class A, class B>
SMELT_HD constexpr auto remainder(const A& a, const B& b) {
  return detail::make<op::Mod>(a, b);
}
/// remainder with the sign of a, as in C; integers: fmod(x, 0) is 0; f64: nan where |a / b| is
/// 2^300 and more
template <class A, class B>
SMELT_HD constexpr auto fmod(const A& a, const B& b) {
  return detail::make<op::Fmod>(a, b);
}
/// a ** b; integers wrap, a negative exponent gives 0 unless a is 1 or -1
template <class A, class B>
SMELT_HD constexpr auto pow(const A& a, const B& b) {
  return detail::make<op::Pow>(a, b);
}
/// the larger; nan if either is nan; +0 is above -0
template <class A, class B>
SMELT_HD constexpr auto maximum(const A& a, const B& b) {
  return detail::make<op::Max>(a, b);
}
/// the smaller; nan if either is nan; -0 is below +0
template <class A, class B>
SMELT_HD constexpr auto minimum(const A& a, const B& b) {
  return detail::make<op::Min>(a, b);
}
/// sqrt(a*a + b*b) without overflow in between
template <class A, class B>
SMELT_HD constexpr auto hypot(const A& a, const B& b) {
  return detail::make<op::Hypot>(a, b);
}
/// angle of the point (b, a)
template <class A, class B>
SMELT_HD constexpr auto atan2(const A& a, const B& b) {
  return detail::make<op::Atan2>(a, b);
}
/// magnitude of a, sign of b
template <class A, class B>
SMELT_HD constexpr auto copysign(const A& a, const B& b) {
  return detail::make<op::Copysign>(a, b);
}
/// a == b
template <class A, class B>
SMELT_HD constexpr auto equal(const A& a, const B& b) {
  return detail::make<op::Eq>(a, b);
}
/// a != b
template <class A, class B>
SMELT_HD constexpr auto not_equal(const A& a, const B& b) {
  return detail::make<op::Ne>(a, b);
}
/// a < b
template <class A, class B>
SMELT_HD constexpr auto less(const A& a, const B& b) {
  return detail::make<op::Lt>(a, b);
}
/// a <= b
template <class A, class B>
SMELT_HD constexpr auto less_equal(const A& a, const B& b) {
  return detail::make<op::Le>(a, b);
}
/// a > b
template <class A, class B>
SMELT_HD constexpr auto greater(const A& a, const B& b) {
  return detail::make<op::Gt>(a, b);
}
/// a >= b
template <class A, class B>
SMELT_HD constexpr auto greater_equal(const A& a, const B& b) {
  return detail::make<op::Ge>(a, b);
}
/// a & b; logical on bool
template <class A, class B>
SMELT_HD constexpr auto bitwise_and(const A& a, const B& b) {
  return detail::make<op::And>(a, b);
}
/// a | b; logical on bool
template <class A, class B>
SMELT_HD constexpr auto bitwise_or(const A& a, const B& b) {
  return detail::make<op::Or>(a, b);
}
/// a ^ b; logical on bool
template <class A, class B>
SMELT_HD constexpr auto bitwise_xor(const A& a, const B& b) {
  return detail::make<op::Xor>(a, b);
}
/// a << b; 0 when b is negative or the width and more
template <class A, class B>
SMELT_HD constexpr auto left_shift(const A& a, const B& b) {
  return detail::make<op::ShiftLeft>(a, b);
}
/// a >> b, keeping the sign; all sign bits when b is negative or the width and more
template <class A, class B>
SMELT_HD constexpr auto right_shift(const A& a, const B& b) {
  return detail::make<op::ShiftRight>(a, b);
}
/// a * b + c with one rounding
template <class A, class B, class C>
SMELT_HD constexpr auto fma(const A& a, const B& b, const C& c) {
  return detail::make<op::Fma>(a, b, c);
}
/// a where the condition is true, else b; both are evaluated
template <class C, class A, class B>
SMELT_HD constexpr auto where(const C& condition, const A& a, const B& b) {
  return detail::make<op::Where>(condition, a, b);
}
/// The saturating cast to a C++ type: bool, an integer, float, double, f16, bf16, f8_e4m3, f8_e5m2.
template <class T, class A>
SMELT_HD constexpr auto cast(const A& a) {
  static_assert(detail::is_element<T>,
                "smelt: a cast is to bool, an integer, float, double, fixed::f16, bf16, f8_e4m3 or f8_e5m2");
  return detail::make<op::Cast<detail::type_of<detail::dtype_of<T>>>>(a);
}
/// Integers to integers, keeping the low bits.
template <class T, class A>
SMELT_HD constexpr auto wrap_cast(const A& a) {
  return detail::make<op::WrapCast<detail::type_of<detail::dtype_of<T>>>>(a);
}

}  // namespace smelt::fixed

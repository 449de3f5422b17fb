/// \file
/// Operators of expressions, and casts by the names of dtypes.
#pragma once

#include "smelt/static/functions.hpp"

namespace smelt::fixed {

namespace detail {

template <class A>
inline constexpr bool takes_operators = is_expression<A> || is_value<A>;
template <bool c>
struct When {};
template <>
struct When<true> {
  using type = int;
};
/// Only where one of the two is ours: the operators of others stay theirs.
template <class... A>
using ours = typename When<(takes_operators<A> || ...)>::type;

}  // namespace detail

/// a + b; integers wrap.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator+(const A& a, const B& b) {
  return detail::make<op::Add>(a, b);
}
/// a - b; integers wrap.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator-(const A& a, const B& b) {
  return detail::make<op::Sub>(a, b);
}
/// a * b; integers wrap.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator*(const A& a, const B& b) {
  return detail::make<op::Mul>(a, b);
}
/// a / b of floats; integers take floor_divide(a, b).
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator/(const A& a, const B& b) {
  return detail::make<op::Div>(a, b);
}
/// a % b with the sign of b, as in Python; of integers x % 0 is 0.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator%(const A& a, const B& b) {
  return detail::make<op::Mod>(a, b);
}
/// a == b; false where one is nan.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator==(const A& a, const B& b) {
  return detail::make<op::Eq>(a, b);
}
/// a != b; true where one is nan.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator!=(const A& a, const B& b) {
  return detail::make<op::Ne>(a, b);
}
/// a < b; false where one is nan.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator<(const A& a, const B& b) {
  return detail::make<op::Lt>(a, b);
}
/// a <= b; false where one is nan.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator<=(const A& a, const B& b) {
  return detail::make<op::Le>(a, b);
}
/// a > b; false where one is nan.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator>(const A& a, const B& b) {
  return detail::make<op::Gt>(a, b);
}
/// a >= b; false where one is nan.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator>=(const A& a, const B& b) {
  return detail::make<op::Ge>(a, b);
}
/// a & b of integers, bit by bit, or of bools.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator&(const A& a, const B& b) {
  return detail::make<op::And>(a, b);
}
/// a | b of integers, bit by bit, or of bools.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator|(const A& a, const B& b) {
  return detail::make<op::Or>(a, b);
}
/// a ^ b of integers, bit by bit, or of bools.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator^(const A& a, const B& b) {
  return detail::make<op::Xor>(a, b);
}
/// a << b of integers; 0 when b is negative or the width and more.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator<<(const A& a, const B& b) {
  return detail::make<op::ShiftLeft>(a, b);
}
/// a >> b of integers, keeping the sign; all sign bits when b is negative or the width and more.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator>>(const A& a, const B& b) {
  return detail::make<op::ShiftRight>(a, b);
}
/// -a; integers wrap.
template <class A, detail::ours<A> = 0>
SMELT_HD constexpr auto operator-(const A& a) {
  return detail::make<op::Neg>(a);
}
/// a as it is.
template <class A, detail::ours<A> = 0>
SMELT_HD constexpr auto operator+(const A& a) {
  return a;
}
/// ~a of integers, bit by bit, or of bools.
template <class A, detail::ours<A> = 0>
SMELT_HD constexpr auto operator~(const A& a) {
  return detail::make<op::Not>(a);
}

/// Truth: bool as it is, numbers where they are not 0.
template <class A>
SMELT_HD constexpr auto boolean(const A& a) {
  return cast<bool>(a);
}
/// Whether both are true; numbers are, unless 0. Both sides are calculated, always.
template <class A, class B>
SMELT_HD constexpr auto logical_and(const A& a, const B& b) {
  return detail::make<op::And>(boolean(a), boolean(b));
}
/// Whether one of them or both are true.
template <class A, class B>
SMELT_HD constexpr auto logical_or(const A& a, const B& b) {
  return detail::make<op::Or>(boolean(a), boolean(b));
}
/// Whether one of them is true and the other is not.
template <class A, class B>
SMELT_HD constexpr auto logical_xor(const A& a, const B& b) {
  return detail::make<op::Xor>(boolean(a), boolean(b));
}
/// Whether it is false.
template <class A>
SMELT_HD constexpr auto logical_not(const A& a) {
  return detail::make<op::Not>(boolean(a));
}
/// logical_and(a, b). Both sides are calculated, always.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator&&(const A& a, const B& b) {
  return logical_and(a, b);
}
/// logical_or(a, b). Both sides are calculated, always.
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator||(const A& a, const B& b) {
  return logical_or(a, b);
}
/// logical_not(a)
template <class A, detail::ours<A> = 0>
SMELT_HD constexpr auto operator!(const A& a) {
  return logical_not(a);
}

// Casts, as the language writes them.
/// Cast to i8: floats lose their fraction and saturate, nan becomes 0; integers saturate.
template <class A>
SMELT_HD constexpr auto i8(const A& a) {
  return cast<int8_t>(a);
}
/// Cast to i16: floats lose their fraction and saturate, nan becomes 0; integers saturate.
template <class A>
SMELT_HD constexpr auto i16(const A& a) {
  return cast<int16_t>(a);
}
/// Cast to i32: floats lose their fraction and saturate, nan becomes 0; integers saturate.
template <class A>
SMELT_HD constexpr auto i32(const A& a) {
  return cast<int32_t>(a);
}
/// Cast to i64: floats lose their fraction and saturate, nan becomes 0; integers saturate.
template <class A>
SMELT_HD constexpr auto i64(const A& a) {
  return cast<int64_t>(a);
}
/// Cast to u8: floats lose their fraction and saturate, nan becomes 0; integers saturate.
template <class A>
SMELT_HD constexpr auto u8(const A& a) {
  return cast<uint8_t>(a);
}
/// Cast to u16: floats lose their fraction and saturate, nan becomes 0; integers saturate.
template <class A>
SMELT_HD constexpr auto u16(const A& a) {
  return cast<uint16_t>(a);
}
/// Cast to u32: floats lose their fraction and saturate, nan becomes 0; integers saturate.
template <class A>
SMELT_HD constexpr auto u32(const A& a) {
  return cast<uint32_t>(a);
}
/// Cast to u64: floats lose their fraction and saturate, nan becomes 0; integers saturate.
template <class A>
SMELT_HD constexpr auto u64(const A& a) {
  return cast<uint64_t>(a);
}
/// Cast to f32: the nearest one.
template <class A>
SMELT_HD constexpr auto f32(const A& a) {
  return cast<float>(a);
}
/// Cast to f64: the nearest one.
template <class A>
SMELT_HD constexpr auto f64(const A& a) {
  return cast<double>(a);
}

}  // namespace smelt::fixed

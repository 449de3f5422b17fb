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

template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator+(const A& a, const B& b) {
  return detail::make<op::Add>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator-(const A& a, const B& b) {
  return detail::make<op::Sub>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator*(const A& a, const B& b) {
  return detail::make<op::Mul>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator/(const A& a, const B& b) {
  return detail::make<op::Div>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator%(const A& a, const B& b) {
  return detail::make<op::Mod>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator==(const A& a, const B& b) {
  return detail::make<op::Eq>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator!=(const A& a, const B& b) {
  return detail::make<op::Ne>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator<(const A& a, const B& b) {
  return detail::make<op::Lt>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator<=(const A& a, const B& b) {
  return detail::make<op::Le>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator>(const A& a, const B& b) {
  return detail::make<op::Gt>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator>=(const A& a, const B& b) {
  return detail::make<op::Ge>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator&(const A& a, const B& b) {
  return detail::make<op::And>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator|(const A& a, const B& b) {
  return detail::make<op::Or>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator^(const A& a, const B& b) {
  return detail::make<op::Xor>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator<<(const A& a, const B& b) {
  return detail::make<op::ShiftLeft>(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator>>(const A& a, const B& b) {
  return detail::make<op::ShiftRight>(a, b);
}
template <class A, detail::ours<A> = 0>
SMELT_HD constexpr auto operator-(const A& a) {
  return detail::make<op::Neg>(a);
}
template <class A, detail::ours<A> = 0>
SMELT_HD constexpr auto operator+(const A& a) {
  return a;
}
template <class A, detail::ours<A> = 0>
SMELT_HD constexpr auto operator~(const A& a) {
  return detail::make<op::Not>(a);
}

/// Truth: bool as it is, numbers where they are not 0.
template <class A>
SMELT_HD constexpr auto boolean(const A& a) {
  return cast<bool>(a);
}
/// Both, either, one and not both, none; numbers are true unless 0. Both sides are calculated, always.
template <class A, class B>
SMELT_HD constexpr auto logical_and(const A& a, const B& b) {
  return detail::make<op::And>(boolean(a), boolean(b));
}
template <class A, class B>
SMELT_HD constexpr auto logical_or(const A& a, const B& b) {
  return detail::make<op::Or>(boolean(a), boolean(b));
}
template <class A, class B>
SMELT_HD constexpr auto logical_xor(const A& a, const B& b) {
  return detail::make<op::Xor>(boolean(a), boolean(b));
}
template <class A>
SMELT_HD constexpr auto logical_not(const A& a) {
  return detail::make<op::Not>(boolean(a));
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator&&(const A& a, const B& b) {
  return logical_and(a, b);
}
template <class A, class B, detail::ours<A, B> = 0>
SMELT_HD constexpr auto operator||(const A& a, const B& b) {
  return logical_or(a, b);
}
template <class A, detail::ours<A> = 0>
SMELT_HD constexpr auto operator!(const A& a) {
  return logical_not(a);
}

// Casts, as the language writes them.
template <class A>
SMELT_HD constexpr auto i8(const A& a) {
  return cast<int8_t>(a);
}
template <class A>
SMELT_HD constexpr auto i16(const A& a) {
  return cast<int16_t>(a);
}
template <class A>
SMELT_HD constexpr auto i32(const A& a) {
  return cast<int32_t>(a);
}
template <class A>
SMELT_HD constexpr auto i64(const A& a) {
  return cast<int64_t>(a);
}
template <class A>
SMELT_HD constexpr auto u8(const A& a) {
  return cast<uint8_t>(a);
}
template <class A>
SMELT_HD constexpr auto u16(const A& a) {
  return cast<uint16_t>(a);
}
template <class A>
SMELT_HD constexpr auto u32(const A& a) {
  return cast<uint32_t>(a);
}
template <class A>
SMELT_HD constexpr auto u64(const A& a) {
  return cast<uint64_t>(a);
}
template <class A>
SMELT_HD constexpr auto f32(const A& a) {
  return cast<float>(a);
}
template <class A>
SMELT_HD constexpr auto f64(const A& a) {
  return cast<double>(a);
}

}  // namespace smelt::fixed

/// \file
/// Expressions: functors that are put together by operators and functions, and called with scalars.
#pragma once

#include "smelt/static/ops.hpp"

#if !defined(__CUDACC_RTC__)
#include <stdexcept>
#endif

namespace smelt::fixed {

/// Every expression is one: through it operators and functions of this namespace are found.
template <class Self>
struct Expression {};

namespace detail {

// ---- a list of values of several types

template <class... T>
struct List {};
template <class First, class... Rest>
struct List<First, Rest...> {
  First first;
  List<Rest...> rest;
};
SMELT_HD constexpr List<> list_of() { return {}; }
template <class First, class... Rest>
SMELT_HD constexpr List<First, Rest...> list_of(First first, Rest... rest) {
  return {first, list_of(rest...)};
}
template <int i, class First, class... Rest>
SMELT_HD constexpr auto at(const List<First, Rest...>& list) {
  static_assert(i <= static_cast<int>(sizeof...(Rest)),
                "smelt: an expression has arg<i> for more arguments than it is called with");
  if constexpr (i == 0)
    return list.first;
  else if constexpr (i <= static_cast<int>(sizeof...(Rest)))
    return at<i - 1>(list.rest);
}
template <class F, class... Before>
SMELT_HD auto apply_list(const F& f, const List<>&, const Before&... before) {
  return f(before...);
}
template <class F, class First, class... Rest, class... Before>
SMELT_HD auto apply_list(const F& f, const List<First, Rest...>& list, const Before&... before) {
  return apply_list(f, list.rest, before..., list.first);
}

struct Nothing {};
template <class T, class = Nothing>
inline constexpr bool is_expression = false;
template <class T>
inline constexpr bool is_expression<T, typename T::smelt_expression> = true;
template <class X>
inline constexpr bool is_value = is_weak<X> || typed_dtype<X> != D::None;

#if !defined(__CUDACC_RTC__)
[[noreturn]] inline void fail_number() {
  throw std::out_of_range(
      "smelt: a number in an expression does not fit the dtype that it meets: cast the array to a wider one");
}
#endif
SMELT_HD void check_numbers([[maybe_unused]] bool fit) {
#if !defined(__CUDA_ARCH__) && !defined(__CUDACC_RTC__)
  if (!fit) fail_number();
#endif
}

/// A value of the dtype that numbers have among themselves.
template <class X>
SMELT_HD auto as_typed(X x) {
  if constexpr (is_weak<X>)
    return promoted<type_of<weak_dtype<X>(false)>>(x);
  else
    return x;
}

/// A C++ scalar as a value; the dtypes of long and long long are the same.
template <class T>
SMELT_HD auto typed_scalar(T x) {
  static_assert(
      is_element<T>,
      "smelt: expressions are called with bool, integers, float, double, fixed::f16, bf16, f8_e4m3 or f8_e5m2");
  return load_value(static_cast<type_of<dtype_of<T>>>(x));
}
template <class T>
struct Stored;
template <class T>
struct Stored<Typed<T>> {
  using type = T;
};
/// The dtype of an expression, as the C++ type of its elements, for arguments of the types A.
template <class E, class... A>
using element_of = typename Stored<decltype(as_typed(E{}.eval(List<Typed<A>...>{})))>::type;

template <class F, class... Inner>
struct Composed;

/// What every expression can do.
template <class Self>
struct Callable : Expression<Self> {
  using smelt_expression = Nothing;

  /// For scalars: the result as it would be stored. For expressions: the expression with those for
  /// its arguments.
  template <class... A>
  SMELT_HD auto operator()(A... args) const {
    const Self& self = static_cast<const Self&>(*this);
    if constexpr ((is_expression<A> || ...)) {
      return Composed<Self, decltype(operand(args))...>{{}, self, list_of(operand(args)...)};
    } else {
      const auto values = list_of(typed_scalar(args)...);
      check_numbers(self.fit(values));
      return store_value(as_typed(self.eval(values)));
    }
  }
};

/// A number written in C++.
template <class W>
struct Number : Callable<Number<W>> {
  using smelt_expression = Nothing;
  W number;
  SMELT_HD constexpr explicit Number(W w = {}) : number(w) {}
  template <class L>
  SMELT_HD W eval(const L&) const {
    return number;
  }
  template <class L>
  SMELT_HD constexpr bool fit(const L&) const {
    return true;
  }
};

/// An operand of a function: an expression as it is, a C++ number as a Number.
template <class A>
SMELT_HD constexpr auto operand(const A& a) {
  if constexpr (is_expression<A>) {
    return a;
  } else if constexpr (meta::same<A, bool>) {
    return Number<WeakBool>(WeakBool{a});
  } else if constexpr (is_integer<A>()) {
    return Number<WeakInt>(WeakInt{static_cast<int64_t>(a)});
  } else {
    static_assert(meta::same<A, float> || meta::same<A, double>,
                  "smelt: an operand is an expression or a number: arrays come in by st::arg<0>, scalars with a dtype "
                  "by st::value(x)");
    return Number<WeakFloat>(WeakFloat{static_cast<double>(a)});
  }
}

// Whether a number fits what it meets; what is no number does.
template <D d, class A, class L>
SMELT_HD constexpr bool fits_in(const A& a, const L& values) {
  if constexpr (d != D::None && is_weak<decltype(a.eval(values))>)
    return fits<type_of<d>>(a.eval(values));
  else
    return true;
}

/// One operation on expressions.
template <class Op, class... A>
struct Apply : Callable<Apply<Op, A...>> {
  using smelt_expression = Nothing;
  List<A...> args;
  Apply() = default;
  SMELT_HD constexpr explicit Apply(List<A...> list) : args(list) {}

  template <class L>
  SMELT_HD auto eval(const L& values) const {
    return apply_list([&](const auto&... a) SMELT_INLINE_LAMBDA { return Op::of(a.eval(values)...); }, args);
  }
  template <class L>
  SMELT_HD bool fit(const L& values) const {
    return apply_list(
        [&](const auto&... a) SMELT_INLINE_LAMBDA {
          constexpr D d = Op::template meeting<decltype(a.eval(values))...>();
          return (a.fit(values) && ...) && (fits_in<d>(a, values) && ...);
        },
        args);
  }
};

template <class F, class... Inner>
struct Composed : Callable<Composed<F, Inner...>> {
  using smelt_expression = Nothing;
  F f;
  List<Inner...> inner;
  Composed() = default;
  SMELT_HD constexpr Composed(Nothing, F g, List<Inner...> list) : f(g), inner(list) {}

  template <class L>
  SMELT_HD auto values_of(const L& values) const {
    return apply_list([&](const auto&... a) SMELT_INLINE_LAMBDA { return list_of(as_typed(a.eval(values))...); },
                      inner);
  }
  template <class L>
  SMELT_HD auto eval(const L& values) const {
    return f.eval(values_of(values));
  }
  template <class L>
  SMELT_HD bool fit(const L& values) const {
    return apply_list([&](const auto&... a) SMELT_INLINE_LAMBDA { return (a.fit(values) && ...); }, inner) &&
           f.fit(decltype(values_of(values)){});
  }
};

template <int i>
struct Argument : Callable<Argument<i>> {
  using smelt_expression = Nothing;
  template <class L>
  SMELT_HD auto eval(const L& values) const {
    return at<i>(values);
  }
  template <class L>
  SMELT_HD constexpr bool fit(const L&) const {
    return true;
  }
};

template <class T>
struct Scalar : Callable<Scalar<T>> {
  using smelt_expression = Nothing;
  T scalar;
  SMELT_HD constexpr explicit Scalar(T x = {}) : scalar(x) {}
  template <class L>
  SMELT_HD Typed<T> eval(const L&) const {
    return load_value(scalar);
  }
  template <class L>
  SMELT_HD constexpr bool fit(const L&) const {
    return true;
  }
};

// What a user's function sees of a value: halves as float.
template <class X>
SMELT_HD auto plain_value(X x) {
  return as_typed(x).v.value;
}

template <class F, class... A>
struct Called : Callable<Called<F, A...>> {
  using smelt_expression = Nothing;
  F f;
  List<A...> args;
  SMELT_HD constexpr Called(F g, List<A...> list) : f(g), args(list) {}

  template <class L>
  SMELT_HD auto eval(const L& values) const {
    return apply_list(
        [&](const auto&... a) SMELT_INLINE_LAMBDA { return typed_scalar(f(plain_value(a.eval(values))...)); }, args);
  }
  template <class L>
  SMELT_HD bool fit(const L& values) const {
    return apply_list([&](const auto&... a) SMELT_INLINE_LAMBDA { return (a.fit(values) && ...); }, args);
  }
};

/// The operation on values at once, or the expression that does it later.
template <class Op, class... A>
SMELT_HD constexpr auto make(const A&... a) {
  if constexpr ((is_value<A> || ...)) {
    return Op::of(a...);
  } else {
    static_assert((is_expression<A> || ...), "smelt: one operand at least is an expression such as st::arg<0>");
    return Apply<Op, decltype(operand(a))...>(list_of(operand(a)...));
  }
}

}  // namespace detail

/// Argument number i of the expression that it is in.
template <int i>
inline constexpr detail::Argument<i> arg{};

/// A scalar that has a dtype of its own, as an array has: value(2.5f) makes f32 of f16, where 2.5f
/// alone takes the dtype of what it meets.
template <class T>
SMELT_HD constexpr auto value(T x) {
  static_assert(detail::is_element<T>,
                "smelt: a value is a bool, an integer, float, double, fixed::f16, bf16, f8_e4m3 or f8_e5m2");
  using Element = detail::type_of<detail::dtype_of<T>>;
  return detail::Scalar<Element>(static_cast<Element>(x));
}

/// A function of your own on scalars; halves come to it as float. On a GPU it is a __device__ one,
/// or a lambda of nvcc's --extended-lambda.
template <class F, class... A>
SMELT_HD constexpr auto call(F f, const A&... args) {
  return detail::Called<F, decltype(detail::operand(args))...>(f, detail::list_of(detail::operand(args)...));
}

}  // namespace smelt::fixed

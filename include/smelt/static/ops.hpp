/// \file
/// The scalar operations, as the table of the language has them (`smelt ops`): one struct each,
/// with its rule of dtypes and its meaning on computed values.
#pragma once

#include "smelt/static/math.hpp"
#include "smelt/static/number_bound.hpp"
#include "smelt/static/rule.hpp"

namespace smelt::fixed {

/// The operations by the names that src/ops/ops.def gives them.
namespace op {

using detail::Elementwise;
using detail::is_real;
using detail::Rule;

struct Add : Elementwise<Add, Rule::Numeric> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    return a + b;
  }
};
struct Sub : Elementwise<Sub, Rule::Numeric> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    return a - b;
  }
};
struct Mul : Elementwise<Mul, Rule::Numeric> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    return a * b;
  }
};
struct Div : Elementwise<Div, Rule::Divide> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    return a / b;
  }
};
struct FloorDiv : Elementwise<FloorDiv, Rule::Numeric> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    if constexpr (is_real<V>)
      return expand::floor_divide(a, b);
    else
      return expand::int_floor_divide(a, b);
  }
};
struct Mod : Elementwise<Mod, Rule::Numeric> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    if constexpr (is_real<V>)
      return expand::floor_mod(a, b);
    else
      return expand::int_floor_mod(a, b);
  }
};
struct Fmod : Elementwise<Fmod, Rule::Numeric> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    if constexpr (is_real<V>)
      return expand::trunc_mod(a, b);
    else
      return expand::int_trunc_mod(a, b);
  }
};
struct Pow : Elementwise<Pow, Rule::Numeric> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    if constexpr (is_real<V>)
      return math::pow(a, b);
    else
      return expand::int_pow(a, b);
  }
};
struct Neg : Elementwise<Neg, Rule::Numeric> {
  template <class V>
  static SMELT_HD V on(V a) {
    return -a;
  }
};
struct Abs : Elementwise<Abs, Rule::Numeric> {
  template <class V>
  static SMELT_HD V on(V a) {
    if constexpr (is_real<V>)
      return abs(a);
    else
      return select(a < like(a, 0), -a, a);
  }
};
struct Sign : Elementwise<Sign, Rule::Numeric> {
  template <class V>
  static SMELT_HD V on(V a) {
    if constexpr (is_real<V>)
      return expand::sign(a);
    else
      return select(a > like(a, 0), like(a, 1), select(a < like(a, 0), like(a, -1), like(a, 0)));
  }
};
struct Fma : Elementwise<Fma, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a, V b, V c) {
    return fma(a, b, c);
  }
};
struct Square : Elementwise<Square, Rule::Numeric> {
  template <class V>
  static SMELT_HD V on(V a) {
    return a * a;
  }
};
struct Reciprocal : Elementwise<Reciprocal, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return like(a, 1) / a;
  }
};
struct Max : Elementwise<Max, Rule::Numeric> {
  template <class A, class B>
  static SMELT_HD auto of(A a, B b) {
    if constexpr (detail::meets_number<A, B>)
      return detail::max_of_number(a, b);
    else if constexpr (detail::meets_number<B, A>)
      return detail::max_of_number(b, a);
    else
      return Elementwise<Max, Rule::Numeric>::of(a, b);
  }
  template <class V>
  static SMELT_HD V on(V a, V b) {
    if constexpr (is_real<V>)
      return expand::maximum(a, b);
    else
      return select(a > b, a, b);
  }
};
struct Min : Elementwise<Min, Rule::Numeric> {
  template <class A, class B>
  static SMELT_HD auto of(A a, B b) {
    if constexpr (detail::meets_number<A, B>)
      return detail::min_of_number(a, b);
    else if constexpr (detail::meets_number<B, A>)
      return detail::min_of_number(b, a);
    else
      return Elementwise<Min, Rule::Numeric>::of(a, b);
  }
  template <class V>
  static SMELT_HD V on(V a, V b) {
    if constexpr (is_real<V>)
      return expand::minimum(a, b);
    else
      return select(a < b, a, b);
  }
};
struct Floor : Elementwise<Floor, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return floor(a);
  }
};
struct Ceil : Elementwise<Ceil, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return ceil(a);
  }
};
struct Trunc : Elementwise<Trunc, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return trunc(a);
  }
};
struct Round : Elementwise<Round, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return rint(a);
  }
};
struct Sqrt : Elementwise<Sqrt, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return sqrt(a);
  }
};
struct Rsqrt : Elementwise<Rsqrt, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return like(a, 1) / sqrt(a);
  }
};
struct Cbrt : Elementwise<Cbrt, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::cbrt(a);
  }
};
struct Exp : Elementwise<Exp, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::exp(a);
  }
};
struct Exp2 : Elementwise<Exp2, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::exp2(a);
  }
};
struct Expm1 : Elementwise<Expm1, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::expm1(a);
  }
};
struct Log : Elementwise<Log, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::log(a);
  }
};
struct Log2 : Elementwise<Log2, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::log2(a);
  }
};
struct Log10 : Elementwise<Log10, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::log10(a);
  }
};
struct Log1p : Elementwise<Log1p, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::log1p(a);
  }
};
struct Sin : Elementwise<Sin, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::sin(a);
  }
};
struct Cos : Elementwise<Cos, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::cos(a);
  }
};
struct Tan : Elementwise<Tan, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::tan(a);
  }
};
struct Asin : Elementwise<Asin, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::asin(a);
  }
};
struct Acos : Elementwise<Acos, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::acos(a);
  }
};
struct Atan : Elementwise<Atan, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::atan(a);
  }
};
struct Sinh : Elementwise<Sinh, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::sinh(a);
  }
};
struct Cosh : Elementwise<Cosh, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::cosh(a);
  }
};
struct Tanh : Elementwise<Tanh, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::tanh(a);
  }
};
struct Asinh : Elementwise<Asinh, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::asinh(a);
  }
};
struct Acosh : Elementwise<Acosh, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::acosh(a);
  }
};
struct Atanh : Elementwise<Atanh, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::atanh(a);
  }
};
struct Erf : Elementwise<Erf, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::erf(a);
  }
};
struct Erfc : Elementwise<Erfc, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a) {
    return math::erfc(a);
  }
};
struct Hypot : Elementwise<Hypot, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    return math::hypot(a, b);
  }
};
struct Atan2 : Elementwise<Atan2, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    return math::atan2(a, b);
  }
};
struct Copysign : Elementwise<Copysign, Rule::Float> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    return copysign(a, b);
  }
};
struct Eq : Elementwise<Eq, Rule::Compare> {
  template <class V>
  static SMELT_HD Truth on(V a, V b) {
    return {a.value == b.value};
  }
};
struct Ne : Elementwise<Ne, Rule::Compare> {
  template <class V>
  static SMELT_HD Truth on(V a, V b) {
    return {a.value != b.value};
  }
};
struct Lt : Elementwise<Lt, Rule::Compare> {
  template <class V>
  static SMELT_HD Truth on(V a, V b) {
    return {a.value < b.value};
  }
};
struct Le : Elementwise<Le, Rule::Compare> {
  template <class V>
  static SMELT_HD Truth on(V a, V b) {
    return {a.value <= b.value};
  }
};
struct Gt : Elementwise<Gt, Rule::Compare> {
  template <class V>
  static SMELT_HD Truth on(V a, V b) {
    return {a.value > b.value};
  }
};
struct Ge : Elementwise<Ge, Rule::Compare> {
  template <class V>
  static SMELT_HD Truth on(V a, V b) {
    return {a.value >= b.value};
  }
};
struct IsNan : Elementwise<IsNan, Rule::Test> {
  template <class V>
  static SMELT_HD Truth on(V a) {
    return a != a;
  }
};
struct IsInf : Elementwise<IsInf, Rule::Test> {
  template <class V>
  static SMELT_HD Truth on(V a) {
    if constexpr (is_real<V>)
      return abs(a) == like(a, expand::kInfinity);
    else
      return a != a;
  }
};
struct IsFinite : Elementwise<IsFinite, Rule::Test> {
  template <class V>
  static SMELT_HD Truth on(V a) {
    if constexpr (is_real<V>)
      return abs(a) < like(a, expand::kInfinity);
    else
      return a == a;
  }
};
struct And : Elementwise<And, Rule::Bits> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    return a & b;
  }
};
struct Or : Elementwise<Or, Rule::Bits> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    return a | b;
  }
};
struct Xor : Elementwise<Xor, Rule::Bits> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    return a ^ b;
  }
};
struct Not : Elementwise<Not, Rule::Bits> {
  template <class V>
  static SMELT_HD V on(V a) {
    if constexpr (meta::same<V, Truth>)
      return !a;
    else
      return ~a;
  }
};
struct ShiftLeft : Elementwise<ShiftLeft, Rule::Integer> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    return expand::shift_left(a, b);
  }
};
struct ShiftRight : Elementwise<ShiftRight, Rule::Integer> {
  template <class V>
  static SMELT_HD V on(V a, V b) {
    return expand::shift_right(a, b);
  }
};

/// where(condition, a, b): both are evaluated.
struct Where {
  template <class C, class... X>
  static SMELT_HD constexpr detail::D meeting() {
    return detail::common_dtype<X...>();
  }
  template <class C, class A, class B>
  static SMELT_HD auto of(C c, A a, B b) {
    static_assert(detail::typed_dtype<C> == detail::D::Bool || meta::same<C, detail::WeakBool>,
                  "smelt: the condition of where() is a bool: write where(x != 0, a, b)");
    constexpr detail::D d = meeting<C, A, B>();
    static_assert(d != detail::D::None, "smelt: the two values of where() have dtypes that do not mix: cast one");
    if constexpr (d != detail::D::None) {
      using T = detail::type_of<d>;
      return detail::Typed<T>{
          select(Truth{detail::promoted<bool>(c).v}, detail::promoted<T>(a).v, detail::promoted<T>(b).v)};
    }
  }
};

/// The cast to T.
template <class T>
struct Cast {
  template <class... X>
  static SMELT_HD constexpr detail::D meeting() {
    return detail::common_dtype<X...>();
  }
  template <class X>
  static SMELT_HD auto of(X x) {
    if constexpr (detail::is_weak<X>)
      return detail::cast_value<T>(detail::promoted<detail::type_of<detail::weak_dtype<X>(false)>>(x));
    else
      return detail::cast_value<T>(x);
  }
};

/// Integers to integers, keeping the low bits.
template <class T>
struct WrapCast {
  template <class... X>
  static SMELT_HD constexpr detail::D meeting() {
    return detail::common_dtype<X...>();
  }
  template <class X>
  static SMELT_HD auto of(X x) {
    static_assert(detail::is_int(detail::typed_dtype<X>) && detail::is_int(detail::dtype_of<T>),
                  "smelt: wrap_cast takes integers and gives integers: cast a float first, which saturates");
    if constexpr (detail::is_int(detail::typed_dtype<X>)) return detail::Typed<T>{{static_cast<T>(x.v.value)}};
  }
};

}  // namespace op
}  // namespace smelt::fixed

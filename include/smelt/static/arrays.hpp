/// \file
/// The arrays that expressions read and write: st::in(x, w) and st::out(y) = f.
#pragma once

#include "smelt/static/activations.hpp"

namespace smelt::fixed {

namespace detail {

/// An array that is read: element i of it.
template <class T>
struct Array {
  using element = T;
  const T* data;
  SMELT_HD auto load(int64_t i) const { return load_value(data[i]); }
};
/// One number for every element.
template <class T>
struct Same {
  using element = T;
  T scalar;
  SMELT_HD auto load(int64_t) const { return load_value(scalar); }
};

template <class T>
SMELT_HD auto source_of(const T* data) {
  using Element = meta::plain<T>;
  static_assert(is_element<Element>,
                "smelt: arrays are of bool, integers, float, double, fixed::f16, bf16, f8_e4m3 or f8_e5m2");
  return Array<type_of<dtype_of<Element>>>{reinterpret_cast<const type_of<dtype_of<Element>>*>(data)};
}
template <class T>
SMELT_HD auto source_of(T* data) {
  return source_of(static_cast<const T*>(data));
}
template <class T>
SMELT_HD auto source_of(T scalar) {
  static_assert(is_element<T>, "smelt: st::in() takes pointers to arrays, and scalars");
  return Same<type_of<dtype_of<T>>>{static_cast<type_of<dtype_of<T>>>(scalar)};
}

/// What st::in() gives: what arg<0>, arg<1>, ... stand for.
template <class... S>
struct Inputs {
  List<S...> sources;
  SMELT_HD auto load(int64_t i) const {
    return apply_list([i](const auto&... s) SMELT_INLINE_LAMBDA { return list_of(s.load(i)...); }, sources);
  }
  using Values = List<Typed<typename S::element>...>;
};

/// A whole array made one number: sum, maximum or minimum of an expression.
enum class Fold : unsigned char { Sum, Max, Min };
template <Fold fold, class F>
struct Folded {
  F f;
};
template <class T>
inline constexpr bool is_folded = false;
template <Fold fold, class F>
inline constexpr bool is_folded<Folded<fold, F>> = true;

/// What elements of T add up in, and what their sum is: halves add up in f32 and give halves,
/// integers give 64 bits.
template <class T>
using accumulator =
    type_of<is_float(dtype_of<T>) ? (dtype_of<T> == D::F64 ? D::F64 : D::F32)
                                  : (is_int(dtype_of<T>) && !is_signed_int(dtype_of<T>) ? D::U64 : D::I64)>;
template <class T>
using sum_of = meta::either<is_float(dtype_of<T>), T, accumulator<T>>;

/// An output and the expression for it.
template <class T, class F>
struct Assigned {
  using element = T;
  T* data;
  F f;
};

}  // namespace detail

/// An array that is written, by assigning an expression to it.
template <class T>
struct Out {
  T* data;  ///< its first element
  /// What run() will write: the expression, element by element, or a reduction of one.
  template <class F>
  SMELT_HD auto operator=(const F& f) const {  // NOLINT: it does not assign to an Out
    static_assert(detail::is_expression<F> || detail::is_folded<F>,
                  "smelt: what is assigned to st::out() is an expression, such as st::arg<0> + 1");
    return detail::Assigned<T, F>{data, f};
  }
};

/// The arrays (pointers) and scalars that arg<0>, arg<1>, ... of expressions stand for.
template <class... S>
SMELT_HD auto in(S... sources) {
  using R = detail::Inputs<decltype(detail::source_of(sources))...>;
  return R{detail::list_of(detail::source_of(sources)...)};
}
/// An array of n elements to write.
template <class T>
SMELT_HD auto out(T* data) {
  static_assert(detail::is_element<T>,
                "smelt: arrays are of bool, integers, float, double, fixed::f16, bf16, f8_e4m3 or f8_e5m2");
  using Element = detail::type_of<detail::dtype_of<T>>;
  return Out<Element>{reinterpret_cast<Element*>(data)};
}

/// A reduction of all n elements into the one element of an output: st::out(&total) =
/// st::sum(st::arg<0> * st::arg<0>). Integers and bools add up in 64 bits. The order of additions
/// follows from n alone.
template <class F>
SMELT_HD auto sum(const F& f) {
  return detail::Folded<detail::Fold::Sum, F>{f};
}
/// The largest; nan if there is one. Of nothing it is an error.
template <class F>
SMELT_HD auto max(const F& f) {
  return detail::Folded<detail::Fold::Max, F>{f};
}
/// The smallest; nan if there is one. Of nothing it is an error.
template <class F>
SMELT_HD auto min(const F& f) {
  return detail::Folded<detail::Fold::Min, F>{f};
}

namespace detail {

template <class F, class I>
SMELT_HD bool fits_inputs(const F& f, const I&) {
  return f.fit(typename I::Values{});
}
template <class F, class I>
using element_for = typename Stored<meta::plain<decltype(as_typed(meta::some<F>().eval(typename I::Values{})))>>::type;

template <class T, class F, class I>
SMELT_HD void check_output(const Assigned<T, F>& o, const I& inputs) {
  static_assert(meta::same<element_for<F, I>, T>,
                "smelt: the expression has another dtype than the array that it is assigned to: cast it, for example "
                "smelt::fixed::i8(...)");
  check_numbers(fits_inputs(o.f, inputs));
}
template <class T, Fold fold, class F, class I>
SMELT_HD void check_output(const Assigned<T, Folded<fold, F>>& o, const I& inputs) {
  using Element = element_for<F, I>;
  static_assert(meta::same<meta::either<fold == Fold::Sum, sum_of<Element>, Element>, T>,
                "smelt: a sum of integers or bools is an int64_t (of unsigned ones a uint64_t), any other result has "
                "the dtype of what it is of");
  check_numbers(fits_inputs(o.f.f, inputs));
}

}  // namespace detail
}  // namespace smelt::fixed

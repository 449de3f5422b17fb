/// \file
/// Which dtypes an operation takes and gives, and what the compiler says of others.
#pragma once

#include "smelt/static/cast.hpp"

namespace smelt::fixed {

namespace detail {

enum class Rule : unsigned char { Numeric, Float, Divide, Integer, Bits, Compare, Test };

/// The dtype that typed values promote to; D::None for none, or where the mix is undefined.
template <class... X>
SMELT_HD constexpr D promoted_dtype() {
  D result = D::None;
  bool seen = false;
  constexpr D all[] = {D::None, typed_dtype<X>...};
  for (const D d : all) {
    if (d == D::None) continue;
    result = !seen ? d : result == D::None ? D::None : promote(result, d);
    seen = true;
  }
  return result;
}
template <class... X>
inline constexpr bool any_typed = ((typed_dtype<X> != D::None) || ...);

/// Numbers among themselves: a float anywhere makes f32, else i64; bools stay bool.
template <class... X>
SMELT_HD constexpr D weak_dtype(bool needs_float) {
  if ((meta::same<X, WeakBool> && ...)) return D::Bool;
  return needs_float || (meta::same<X, WeakFloat> || ...) ? D::F32 : D::I64;
}

template <class... X>
SMELT_HD constexpr D common_dtype(bool needs_float = false) {
  return any_typed<X...> ? promoted_dtype<X...>() : weak_dtype<X...>(needs_float);
}

template <class V>
inline constexpr bool is_real = false;
template <class F>
inline constexpr bool is_real<Real<F>> = true;

/// One operation on values of one dtype.
template <class Self, Rule rule>
struct Elementwise {
  static constexpr bool needs_float = rule == Rule::Float || rule == Rule::Divide;

  template <class... X>
  static SMELT_HD constexpr D meeting() {
    return common_dtype<X...>(needs_float);
  }

  template <class... X>
  static SMELT_HD auto of(X... x) {
    constexpr D d = meeting<X...>();
    static_assert(
        d != D::None,
        "smelt: these dtypes do not mix (bool with numbers, integers with floats, u64 with signed integers): cast one, "
        "for example smelt::fixed::f32(x)");
    if constexpr (d != D::None) {
      static_assert(rule != Rule::Divide || is_float(d) || d == D::Bool,
                    "smelt: / divides floats: write floor_divide(a, b), or smelt::fixed::f32(a) / b");
      static_assert(rule != Rule::Float || is_float(d),
                    "smelt: this function takes floats: cast first, with smelt::fixed::f32(x)");
      static_assert(rule != Rule::Integer || is_int(d), "smelt: shifts take integers");
      static_assert(rule != Rule::Bits || !is_float(d), "smelt: & | ^ ~ take integers or bool");
      static_assert((rule != Rule::Numeric && rule != Rule::Test && rule != Rule::Divide) || d != D::Bool,
                    "smelt: arithmetic takes numbers, not bool: cast first, with smelt::fixed::i32(x)");
      using T = type_of<d>;
      constexpr bool tests = rule == Rule::Compare || rule == Rule::Test;
      return Typed<meta::either<tests, bool, T>>{Self::on(promoted<T>(x).v...)};
    }
  }
};

}  // namespace detail

}  // namespace smelt::fixed

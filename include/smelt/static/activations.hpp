/// \file
/// Activations and quantisation: formulas over the operations, the same as the compiler's (`smelt
/// explain` shows them as programs).
#pragma once

#include "smelt/static/operators.hpp"

namespace smelt::fixed {

namespace detail {

/// A formula over operations; its numbers meet its arguments.
struct Formula {
  template <class... X>
  static SMELT_HD constexpr D meeting() {
    return common_dtype<X...>();
  }
};

// f16 and bf16 as f32, which a formula stays in to its end.
template <class T>
SMELT_HD auto widened(Typed<T> x) {
  static_assert(is_float(dtype_of<T>), "smelt: this function takes floats: cast first, with smelt::fixed::f32(x)");
  if constexpr (sizeof(T) == 2)
    return Typed<float>{x.v};
  else
    return x;
}
template <class T>
SMELT_HD auto widened_operand(Typed<T> x) {
  if constexpr (sizeof(T) == 2 && is_float(dtype_of<T>))
    return Typed<float>{x.v};
  else if constexpr (!is_float(dtype_of<T>))
    return cast_value<float>(x);
  else
    return x;
}
SMELT_HD WeakInt widened_operand(WeakInt x) { return x; }
SMELT_HD WeakFloat widened_operand(WeakFloat x) { return x; }

// Back in the dtype that it came in.
template <class T, class U>
SMELT_HD Typed<T> narrowed(Typed<T>, Typed<U> x) {
  return cast_value<T>(x);
}

}  // namespace detail

namespace op {

struct Clamp : detail::Formula {
  template <class X, class Lo, class Hi>
  static SMELT_HD auto of(X x, Lo lo, Hi hi) {
    return minimum(maximum(x, lo), hi);
  }
};
struct Relu : detail::Formula {
  template <class X>
  static SMELT_HD auto of(X x) {
    return maximum(x, detail::WeakInt{0});
  }
};
struct LeakyRelu : detail::Formula {
  template <class X, class S>
  static SMELT_HD auto of(X x, S slope) {
    const auto v = detail::widened(x);
    return detail::narrowed(x, where(v >= detail::WeakFloat{0}, v, detail::widened_operand(slope) * v));
  }
};
struct Elu : detail::Formula {
  template <class X, class S>
  static SMELT_HD auto of(X x, S alpha) {
    const auto v = detail::widened(x);
    return detail::narrowed(x, where(v > detail::WeakFloat{0}, v, detail::widened_operand(alpha) * expm1(v)));
  }
};
struct Gelu : detail::Formula {
  template <class X>
  static SMELT_HD auto of(X x) {
    const auto v = detail::widened(x);
    const detail::WeakFloat half{0.5}, one{1}, inverse_root_two{1 / 0x1.6a09e667f3bcdp+0};
    return detail::narrowed(x, half * v * (one + erf(v * inverse_root_two)));
  }
};
struct GeluTanh : detail::Formula {
  template <class X>
  static SMELT_HD auto of(X x) {
    const auto v = detail::widened(x);
    const detail::WeakFloat half{0.5}, one{1}, cubic{0.044715}, k{0x1.6a09e667f3bcdp+0 * 0x1.20dd750429b6dp-1};
    return detail::narrowed(x, half * v * (one + tanh(k * (v + cubic * (v * v * v)))));
  }
};
struct Sigmoid : detail::Formula {
  template <class X>
  static SMELT_HD auto of(X x) {
    const detail::WeakFloat one{1};
    return detail::narrowed(x, one / (one + exp(-detail::widened(x))));
  }
};
struct Silu : detail::Formula {
  template <class X>
  static SMELT_HD auto of(X x) {
    const auto v = detail::widened(x);
    return detail::narrowed(x, v / (detail::WeakFloat{1} + exp(-v)));
  }
};
struct Softplus : detail::Formula {
  template <class V>
  static SMELT_HD auto stable(V v) {
    return maximum(v, detail::WeakFloat{0}) + log1p(exp(-abs(v)));
  }
  template <class X>
  static SMELT_HD auto of(X x) {
    return detail::narrowed(x, stable(detail::widened(x)));
  }
};
struct Mish : detail::Formula {
  template <class X>
  static SMELT_HD auto of(X x) {
    const auto v = detail::widened(x);
    return detail::narrowed(x, v * tanh(Softplus::stable(v)));
  }
};
struct Hardswish : detail::Formula {
  template <class X>
  static SMELT_HD auto of(X x) {
    const auto v = detail::widened(x);
    const detail::WeakFloat zero{0}, three{3}, six{6};
    return detail::narrowed(x, v * minimum(maximum(v + three, zero), six) / six);
  }
};
struct QuantizeInt8 : detail::Formula {
  template <class X, class S, class Z>
  static SMELT_HD auto of(X x, S scale, Z zero_point) {
    const auto v = round(detail::widened(x) / detail::widened_operand(scale) + detail::widened_operand(zero_point));
    return detail::cast_value<int8_t>(minimum(maximum(v, detail::WeakFloat{-128}), detail::WeakFloat{127}));
  }
};
struct Lerp : detail::Formula {
  template <class A, class B, class W>
  static SMELT_HD auto of(A a, B b, W weight) {
    return a + weight * (b - a);
  }
};

}  // namespace op

/// minimum(maximum(x, lo), hi); nan stays nan
template <class X, class Lo, class Hi>
SMELT_HD constexpr auto clamp(const X& x, const Lo& lo, const Hi& hi) {
  return detail::make<op::Clamp>(x, lo, hi);
}
/// maximum(x, 0)
template <class X>
SMELT_HD constexpr auto relu(const X& x) {
  return detail::make<op::Relu>(x);
}
/// x where x >= 0, else slope * x
template <class X, class S = double>
SMELT_HD constexpr auto leaky_relu(const X& x, const S& slope = 0.01) {
  return detail::make<op::LeakyRelu>(x, slope);
}
/// x where x > 0, else alpha * (exp(x) - 1)
template <class X, class S = double>
SMELT_HD constexpr auto elu(const X& x, const S& alpha = 1.0) {
  return detail::make<op::Elu>(x, alpha);
}
/// x * (1 + erf(x / sqrt(2))) / 2
template <class X>
SMELT_HD constexpr auto gelu(const X& x) {
  return detail::make<op::Gelu>(x);
}
/// x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3))) / 2
template <class X>
SMELT_HD constexpr auto gelu_tanh(const X& x) {
  return detail::make<op::GeluTanh>(x);
}
/// 1 / (1 + exp(-x))
template <class X>
SMELT_HD constexpr auto sigmoid(const X& x) {
  return detail::make<op::Sigmoid>(x);
}
/// x * sigmoid(x)
template <class X>
SMELT_HD constexpr auto silu(const X& x) {
  return detail::make<op::Silu>(x);
}
/// log(1 + exp(x)), without overflow
template <class X>
SMELT_HD constexpr auto softplus(const X& x) {
  return detail::make<op::Softplus>(x);
}
/// x * tanh(softplus(x))
template <class X>
SMELT_HD constexpr auto mish(const X& x) {
  return detail::make<op::Mish>(x);
}
/// x * clamp(x + 3, 0, 6) / 6
template <class X>
SMELT_HD constexpr auto hardswish(const X& x) {
  return detail::make<op::Hardswish>(x);
}
/// i8(clamp(round(x / scale + zero_point), -128, 127)); nan gives 0
template <class X, class S, class Z = int>
SMELT_HD constexpr auto quantize_int8(const X& x, const S& scale, const Z& zero_point = 0) {
  return detail::make<op::QuantizeInt8>(x, scale, zero_point);
}
/// a + weight * (b - a)
template <class A, class B, class W>
SMELT_HD constexpr auto lerp(const A& a, const B& b, const W& weight) {
  return detail::make<op::Lerp>(a, b, weight);
}

}  // namespace smelt::fixed

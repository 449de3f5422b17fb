// Activations, quantisation and interpolation.
#include <fmt/format.h>

#include <numbers>

#include "graph/term.hpp"

namespace smelt::functions {

NodeId relu(GraphBuilder& b, NodeId x) { return maximum(Term(b, x), integer(0)).id(); }

NodeId leaky_relu(GraphBuilder& b, NodeId x, const Operand& slope) {
  const Term v = widened(b, x, "leaky_relu");
  const Term s = widened_to(b, slope, dtype_of(v));
  return narrowed(where(v >= 0.0, v, s * v), b.dtype(x));
}

NodeId elu(GraphBuilder& b, NodeId x, const Operand& alpha) {
  const Term v = widened(b, x, "elu");
  const Term a = widened_to(b, alpha, dtype_of(v));
  return narrowed(where(v > 0.0, v, a * expm1(v)), b.dtype(x));
}

NodeId gelu(GraphBuilder& b, NodeId x) {
  const Term v = widened(b, x, "gelu");
  return narrowed(0.5 * v * (1.0 + erf(v * (1 / std::numbers::sqrt2))), b.dtype(x));
}

NodeId gelu_tanh(GraphBuilder& b, NodeId x) {
  const Term v = widened(b, x, "gelu");
  const double k = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // sqrt(2/pi)
  return narrowed(0.5 * v * (1.0 + tanh(k * (v + 0.044715 * (v * v * v)))), b.dtype(x));
}

// exp may overflow to infinity, and 1 over that is the 0 that is meant.
NodeId sigmoid(GraphBuilder& b, NodeId x) {
  const Term v = widened(b, x, "sigmoid");
  return narrowed(1.0 / (1.0 + exp(-v)), b.dtype(x));
}

NodeId silu(GraphBuilder& b, NodeId x) {
  const Term v = widened(b, x, "silu");
  return narrowed(v / (1.0 + exp(-v)), b.dtype(x));
}

// The exponent is never above 0.
static Term stable_softplus(const Term& v) { return maximum(v, 0.0) + log1p(exp(-abs(v))); }

NodeId softplus(GraphBuilder& b, NodeId x) { return narrowed(stable_softplus(widened(b, x, "softplus")), b.dtype(x)); }

NodeId mish(GraphBuilder& b, NodeId x) {
  const Term v = widened(b, x, "mish");
  return narrowed(v * tanh(stable_softplus(v)), b.dtype(x));
}

NodeId hardswish(GraphBuilder& b, NodeId x) {
  const Term v = widened(b, x, "hardswish");
  return narrowed(v * minimum(maximum(v + 3.0, 0.0), 6.0) / 6.0, b.dtype(x));
}

NodeId clamp(GraphBuilder& b, NodeId x, std::optional<Operand> lo, std::optional<Operand> hi) {
  Term v(b, x);
  if (lo) v = maximum(v, Term(b, *lo));
  if (hi) v = minimum(v, Term(b, *hi));
  return v.id();
}

// The literal exponents that need no pow: 2, 3, and on floats -1.
static std::optional<int> small_exponent(const Operand& exponent, DType base) {
  if (!exponent.is_literal() || is_bool(base)) return std::nullopt;
  double value = 0;
  if (const auto* i = std::get_if<int64_t>(&exponent.literal))
    value = static_cast<double>(*i);
  else if (const auto* f = std::get_if<double>(&exponent.literal); f && is_float(base))
    value = *f;
  if (value == 2 || value == 3) return static_cast<int>(value);
  if (value == -1 && is_float(base)) return -1;
  return std::nullopt;
}

NodeId power(GraphBuilder& b, const Operand& base, const Operand& exponent) {
  const Term x(b, base);
  const auto small = base.is_literal() ? std::nullopt : small_exponent(exponent, b.dtype(base.node));
  if (small == 2) return square(x).id();
  if (small == 3) return (square(x) * x).id();
  if (small == -1) return apply(Op::Reciprocal, {x}).id();
  return apply(Op::Pow, {x, Term(b, exponent)}).id();
}

NodeId quantize_int8(GraphBuilder& b, NodeId x, const Operand& scale, const Operand& zero_point) {
  const Term v = widened(b, x, "quantize_int8");
  const Term s = widened_to(b, scale, dtype_of(v)), z = widened_to(b, zero_point, dtype_of(v));
  return narrowed(minimum(maximum(round(v / s + z), -128.0), 127.0), DType::I8);
}

NodeId dequantize(GraphBuilder& b, NodeId q, const Operand& scale, const Operand& zero_point, DType to) {
  const DType wide = compute_type(to);
  if (!is_float(to))
    throw UserBuildError(
        {fmt::format("dequantize gives floats, not {}", name_of(to)), "take one of f64, f32, f16, bf16"});
  const Term v(b, b.cast(q, wide)), s = widened_to(b, scale, wide), z = widened_to(b, zero_point, wide);
  return narrowed((v - z) * s, to);
}

NodeId lerp(GraphBuilder& b, const Operand& start, const Operand& end, const Operand& weight) {
  const Term from(b, start), to(b, end), w(b, weight);
  return (from + w * (to - from)).id();
}

}  // namespace smelt::functions

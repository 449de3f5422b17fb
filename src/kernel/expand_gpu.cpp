// What a GPU does in fewer instructions than the operations of every target would take.
#include <cmath>
#include <numbers>

#include "kernel/value.hpp"
#include "smelt/static/expand/gpu.hpp"

namespace smelt::kernel {

static Val expanded_for_gpu(Op op, Val a, Val b, Val none) {
  const expand::gpu::UnitArithmetic unit;
  switch (op) {
    case Op::Exp: return expand::gpu::exp(a);
    case Op::Exp2: return power_of_two_full(a);
    // Reduced in f32, and in a branch of their own where x is large; the portable way takes 20
    // operations of f64.
    case Op::Sin: return sine(a);
    case Op::Cos: return cosine(a);
    case Op::Tan: return tangent(a);
    case Op::Asin: return expand::asin(a, unit);
    case Op::Acos: return expand::acos(a, unit);
    case Op::Atan: return expand::gpu::atan(a);
    case Op::Atan2: return expand::gpu::atan2(a, b);
    case Op::Cosh: return expand::gpu::cosh(a);
    case Op::Tanh: return expand::gpu::tanh(a);
    case Op::Asinh: return expand::asinh(a, unit);
    case Op::Acosh: return expand::acosh(a, unit);
    case Op::Atanh: return expand::atanh(a, unit);
    case Op::Log: return expand::gpu::log(a);
    case Op::Log2: return expand::gpu::log2(a);
    case Op::Log10: return expand::gpu::log10(a);
    case Op::Log1p: return expand::gpu::log1p(a);
    case Op::Erfc: return expand::erfc(a, unit);
    case Op::Fmod: return truncated_remainder(a, b);
    case Op::Mod: return floored_remainder(a, b);
    case Op::FloorDiv: return floored_quotient(a, b);
    case Op::Rsqrt: return inverse_root(a);
    case Op::Erf: return expand::gpu::erf(a);
    default: return none;
  }
}

static Val expanded_for_half(Op op, Val a, Val b, Val none) {
  switch (op) {
    case Op::Exp: return expand::gpu::exp_short(a);
    case Op::Div: return quotient(a, b);
    case Op::Reciprocal: return quotient(like(a, 1), a);
    case Op::Sqrt: return root(a);
    default: return none;
  }
}

// A division by a number that is neither tiny nor huge.
static Val divided_by_constant(const Builder& builder, Val a, Val b, Val none) {
  const Scalar* by = builder.constant_at(b.id);
  if (!by) return none;
  const double c = std::fabs(by->f);
  return c >= 0x1p-60 && c <= 0x1p20 ? expand::gpu::divided_by(a, by->f) : none;
}

// The same in f64, which a division takes some 30 instructions for: 1 / c in two parts of one sign,
// so that infinities stay.
static Val divided_in_f64(const Builder& builder, Val a, Val b, Val none) {
  const Scalar* by = builder.constant_at(b.id);
  const double c = by ? by->f : 0;
  if (!(std::fabs(c) >= 0x1p-500 && std::fabs(c) <= 0x1p500)) return none;
  double high = 1 / c, rest = std::fma(-c, high, 1);
  if (rest < 0) high = std::nextafter(high, 0), rest = std::fma(-c, high, 1);
  return rest == 0 ? a * like(a, high) : fma(a, like(a, high), a * like(a, rest / c));
}

// CUDA's sine, cosine and tangent of f64 take a third of the portable ones, which choose between
// ranges without a branch.
static Val expanded_in_f64(const Builder& builder, Op op, Val a, Val b, Val none) {
  switch (op) {
    case Op::Div: return divided_in_f64(builder, a, b, none);
    case Op::Sin: return sine(a);
    case Op::Cos: return cosine(a);
    case Op::Tan: return tangent(a);
    default: return none;
  }
}

// A power; of a positive number an exponential.
static Val power_for_gpu(const Builder& builder, Val x, Val y) {
  const Scalar* base = builder.constant_at(x.id);
  const bool exponential = base && base->f > 0 && base->f != 1 && std::isfinite(base->f);
  return exponential ? expand::gpu::exp2_of_product(y, std::log2(base->f)) : expand::gpu::pow(x, y);
}

// factor * x, where one factor is that constant: x, else kNoExpr.
ExprId Builder::without_factor(ExprId product, double factor) const {
  const Apply* e = at(product).as_apply(Op::Mul);
  for (size_t k = 0; e && k < 2; ++k)
    if (const Scalar* c = constant_at(e->args[k]); c && std::fabs(c->f - factor) < 0x1p-22) return e->args[1 - k];
  return kNoExpr;
}

// x / 2 * (1 + erf(x / sqrt(2))), in whatever order it is written: half the instructions of its
// parts, and exact in the tail too.
ExprId Builder::gelu_for_half(const std::vector<ExprId>& factors) {
  for (size_t k = 0; k < 2; ++k) {
    const Apply* sum = at(factors[k]).as_apply(Op::Add);
    const ExprId x = without_factor(factors[1 - k], 0.5);
    if (x == kNoExpr || !sum) continue;
    for (size_t n = 0; n < 2; ++n) {
      const Scalar* one = constant_at(sum->args[n]);
      const auto erf = erf_argument_.find(sum->args[1 - n]);
      if (one && one->f == 1 && erf != erf_argument_.end() && without_factor(erf->second, 1 / std::numbers::sqrt2) == x)
        return expand::gpu::gelu_short(Val{this, x}).id;
    }
  }
  return kNoExpr;
}

// kNoExpr where the portable way is as good.
ExprId Builder::expand_for_gpu(Op op, const std::vector<ExprId>& args) {
  const DType t = dtype(args.back());
  if (!has_functions() || (t != DType::F32 && t != DType::F64)) return kNoExpr;
  const Val a{this, args[0]}, b{this, args[args.size() > 1 ? 1 : 0]}, none{this, kNoExpr};
  if (t == DType::F64) return expanded_in_f64(*this, op, a, b, none).id;
  if (op == Op::Div)
    if (const Val by_constant = divided_by_constant(*this, a, b, none); by_constant.id != kNoExpr)
      return by_constant.id;
  if (op == Op::Pow) return power_for_gpu(*this, a, b).id;
  if (kernel_.dialect == Dialect::GpuHalf && op == Op::Mul) return gelu_for_half(args);
  if (kernel_.dialect == Dialect::GpuHalf)
    if (const Val short_form = expanded_for_half(op, a, b, none); short_form.id != kNoExpr) return short_form.id;
  const ExprId result = expanded_for_gpu(op, a, b, none).id;
  if (op == Op::Erf) erf_argument_[result] = args[0];
  return result;
}

}  // namespace smelt::kernel

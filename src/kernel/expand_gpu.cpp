// What a GPU does in fewer instructions than the operations of every target would take.
#include <cmath>

#include "kernel/value.hpp"
#include "smelt/static/expand/gpu.hpp"

namespace smelt::kernel {

static Val expanded_for_gpu(Op op, Val a, Val none) {
  switch (op) {
    case Op::Exp: return expand::gpu::exp(a);
    case Op::Exp2: return power_of_two_full(a);
    case Op::Tanh: return expand::gpu::tanh(a);
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
    case Op::Rsqrt: return inverse_root(a);
    default: return none;
  }
}

// A division by a number that is neither tiny nor huge.
static Val divided_by_constant(const Builder& builder, Val a, Val b, Val none) {
  const Expr& e = builder.at(b.id);
  if (e.kind != ExprKind::Const) return none;
  const double c = std::fabs(e.constant.f);
  return c >= 0x1p-60 && c <= 0x1p20 ? expand::gpu::divided_by(a, e.constant.f) : none;
}

// kNoExpr where the portable way is as good.
ExprId Builder::expand_for_gpu(Op op, const std::vector<ExprId>& args) {
  if (kernel_.dialect == Dialect::Portable || dtype(args.back()) != DType::F32) return kNoExpr;
  const Val a{this, args[0]}, b{this, args[args.size() > 1 ? 1 : 0]}, none{this, kNoExpr};
  if (op == Op::Div)
    if (const Val by_constant = divided_by_constant(*this, a, b, none); by_constant.id != kNoExpr)
      return by_constant.id;
  if (kernel_.dialect == Dialect::GpuHalf)
    if (const Val short_form = expanded_for_half(op, a, b, none); short_form.id != kNoExpr) return short_form.id;
  return expanded_for_gpu(op, a, none).id;
}

}  // namespace smelt::kernel

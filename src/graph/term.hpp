// Formulas over a GraphBuilder in the notation of the paper: `x * sigmoid(x)`. Used by
// functions_*.cpp only.
#pragma once

#include <initializer_list>
#include <type_traits>
#include <vector>

#include "graph/build_detail.hpp"
#include "graph/functions.hpp"

namespace smelt::functions {

// A node or a literal, with the builder that it belongs to (a literal needs none).
struct Term {
  GraphBuilder* b = nullptr;
  Operand v;

  Term(GraphBuilder& builder, Operand operand) : b(&builder), v(operand) {}
  Term(double literal) : v(literal) {}  // NOLINT: meant to convert
  Term(int) = delete;                   // a NodeId is no literal; write integer(3)

  NodeId id() const { return b->materialize(v); }
};

// An integer literal, which arrays of every dtype but bool take.
inline Term integer(int64_t literal) {
  Term term(0.0);
  term.v = Operand(Literal(literal));
  return term;
}

template <size_t N>
Term apply(Op op, const Term (&args)[N]) {
  GraphBuilder* b = nullptr;
  std::vector<Operand> operands;
  for (const Term& arg : args) {
    if (arg.b) b = arg.b;
    operands.push_back(arg.v);
  }
  return Term(*b, b->elementwise(op, operands));
}

inline Term operator+(const Term& x, const Term& y) { return apply(Op::Add, {x, y}); }
inline Term operator-(const Term& x, const Term& y) { return apply(Op::Sub, {x, y}); }
inline Term operator*(const Term& x, const Term& y) { return apply(Op::Mul, {x, y}); }
inline Term operator/(const Term& x, const Term& y) { return apply(Op::Div, {x, y}); }
inline Term operator-(const Term& x) { return apply(Op::Neg, {x}); }
inline Term operator<(const Term& x, const Term& y) { return apply(Op::Lt, {x, y}); }
inline Term operator<=(const Term& x, const Term& y) { return apply(Op::Le, {x, y}); }
inline Term operator>(const Term& x, const Term& y) { return apply(Op::Gt, {x, y}); }
inline Term operator>=(const Term& x, const Term& y) { return apply(Op::Ge, {x, y}); }
inline Term equal(const Term& x, const Term& y) { return apply(Op::Eq, {x, y}); }
inline Term operator&(const Term& x, const Term& y) { return apply(Op::And, {x, y}); }
inline Term abs(const Term& x) { return apply(Op::Abs, {x}); }
inline Term square(const Term& x) { return apply(Op::Square, {x}); }
inline Term sqrt(const Term& x) { return apply(Op::Sqrt, {x}); }
inline Term rsqrt(const Term& x) { return apply(Op::Rsqrt, {x}); }
inline Term exp(const Term& x) { return apply(Op::Exp, {x}); }
inline Term expm1(const Term& x) { return apply(Op::Expm1, {x}); }
inline Term log(const Term& x) { return apply(Op::Log, {x}); }
inline Term log1p(const Term& x) { return apply(Op::Log1p, {x}); }
inline Term tanh(const Term& x) { return apply(Op::Tanh, {x}); }
inline Term erf(const Term& x) { return apply(Op::Erf, {x}); }
inline Term round(const Term& x) { return apply(Op::Round, {x}); }
inline Term maximum(const Term& x, const Term& y) { return apply(Op::Max, {x, y}); }
inline Term minimum(const Term& x, const Term& y) { return apply(Op::Min, {x, y}); }
inline Term where(const Term& c, const Term& x, const Term& y) { return apply(Op::Where, {c, x, y}); }

// x, treated as a constant by gradients.
inline Term held(const Term& x) { return Term(*x.b, x.b->stop_gradient(x.id())); }

// Reductions that keep their axes, so that the result broadcasts against x.
inline Term kept(ReduceKind kind, const Term& x, const Axes& axes) {
  return Term(*x.b, x.b->reduce(kind, x.id(), axes, true));
}

// x in the dtype that formulas are computed in (f16 and bf16: f32). Refuses what is not a float.
inline Term widened(GraphBuilder& b, NodeId x, const char* function) {
  if (!is_float(b.dtype(x)))
    throw UserBuildError({fmt::format("{} takes floats, not {}", function, describe(b.at(x))),
                          fmt::format("cast first: {}(f32(...))", function)});
  return Term(b, b.cast(x, compute_type(b.dtype(x))));
}
// An operand that meets widened ones: arrays of f16, bf16 and integers become `to`, literals stay
// weak.
inline Term widened_to(GraphBuilder& b, const Operand& v, DType to) {
  return v.is_literal() ? Term(b, v) : Term(b, b.cast(v.node, promote(to, b.dtype(v.node)).value_or(to)));
}
inline DType dtype_of(const Term& x) { return x.b->dtype(x.id()); }
inline NodeId narrowed(const Term& x, DType to) { return x.b->cast(x.id(), to); }

// A zero of any dtype, rank 0.
inline Term zero_of(GraphBuilder& b, DType dtype) {
  return Term(b, b.constant(convert(Scalar::of_int(DType::I64, 0), dtype)));
}

}  // namespace smelt::functions

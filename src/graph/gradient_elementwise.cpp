// Derivatives of scalar operations: the last column of ops.def.
#include <cmath>
#include <optional>

#include "base/check.hpp"
#include "graph/gradient_detail.hpp"
#include "graph/term.hpp"

namespace smelt::gradients {

namespace {

using functions::apply;
using functions::Term;
using functions::zero_of;

// What a rule adds to the cotangent of each argument.
using Shares = std::vector<std::optional<Term>>;

std::optional<Term> none() { return std::nullopt; }
Shares flat() { return {}; }
template <class... T>
Shares by(T... shares) {
  return {std::optional<Term>(shares)...};
}

Term sign(const Term& x) { return apply(Op::Sign, {x}); }
Term cos(const Term& x) { return apply(Op::Cos, {x}); }
Term sin(const Term& x) { return apply(Op::Sin, {x}); }
Term cosh(const Term& x) { return apply(Op::Cosh, {x}); }
Term sinh(const Term& x) { return apply(Op::Sinh, {x}); }
Term pow(const Term& x, const Term& y) { return apply(Op::Pow, {x, y}); }

// x by a number that f16 and bf16 would round too far: they take it in f32.
Term scaled(const Term& x, double factor) {
  GraphBuilder& b = *x.b;
  return x * Term(b, b.constant(Scalar::of_float(compute_type(b.dtype(x.id())), factor)));
}

// x / y, and 0 where y is 0.
Term ratio(const Term& x, const Term& y) { return where(equal(y, 0.0), 0.0, x / y); }

// b * a**(b - 1), and 0 where b is 0, whatever a is. The exponent is replaced there, so that no inf
// or nan of a**-1 comes back as 0 * inf in a gradient of this.
Term pow_by_base(const Term& a, const Term& b) {
  const Term still = equal(b, 0.0);
  return where(still, 0.0, b * pow(a, where(still, 1.0, b) - 1.0));
}

// y * log(a); 0 ** b is 0 for all b above 0.
Term pow_by_exponent(const Term& a, const Term& b, const Term& y) {
  const Term still = equal(a, 0.0) & (b >= 0.0);
  return where(still, 0.0, y * log(where(still, 1.0, a)));
}

// A number of the program, repeated or not.
bool is_number(const GraphBuilder& b, NodeId id) {
  while (is_view(b.at(id).kind)) id = b.at(id).args[0];
  return b.at(id).kind == NodeKind::Constant;
}

// maximum and minimum: the chosen argument has all of it. A tie is shared in halves, but between an
// array and a number of the program the number has it: relu(0) has the derivative 0, as it does in
// PyTorch and JAX.
Shares by_extreme(Op before, const Term& a, const Term& b, const Term& g) {
  GraphBuilder& builder = *g.b;
  const auto share = [&](const Term& x, const Term& other) {
    const Term chosen = apply(before, {x, other});
    if (is_number(builder, other.id())) return where(chosen, g, 0.0);
    return where(chosen, g, where(equal(x, other), g * 0.5, 0.0));
  };
  return by(share(a, b), share(b, a));
}

// One function a row, of type None where the operation has no form on floats.
namespace derivative {
using functions::abs, functions::equal, functions::exp, functions::log, functions::maximum, functions::minimum,
    functions::round, functions::rsqrt, functions::sqrt, functions::where;
#define SMELT_OP(id, name, arity, rule, llvm_f, llvm_i, c_f, c_i, ulp32, ulp64, doc, host_f, host_i, expand_f, \
                 expand_i, derivative)                                                                         \
  auto id([[maybe_unused]] const Term& a, [[maybe_unused]] const Term& b, [[maybe_unused]] const Term& c,      \
          [[maybe_unused]] const Term& y, [[maybe_unused]] const Term& g) {                                    \
    return derivative;                                                                                         \
  }
#include "ops/ops.def"
#undef SMELT_OP
}  // namespace derivative

Shares shares_of(Shares shares) { return shares; }
Shares shares_of(None) { throw InternalError("a gradient through an operation that takes no floats"); }

Shares shares_of(Op op, const Term& a, const Term& b, const Term& c, const Term& y, const Term& g) {
  switch (op) {
#define SMELT_OP(id, ...) \
  case Op::id:            \
    return shares_of(derivative::id(a, b, c, y, g));
#include "ops/ops.def"
#undef SMELT_OP
  }
  throw InternalError("an operation of no kind");
}

}  // namespace

void elementwise(Sweep& s, NodeId id, NodeId g) {
  const Op op = s.b.at(id).op;
  const std::vector<NodeId> args = s.b.at(id).args;
  if (const Precision precision = s.b.at(id).precision; precision != Precision::Full) {
    // A gradient of a product is as exact as the product.
    for (size_t k = 0; k < 2; ++k)
      if (s.wants(id, k)) s.add(args[k], s.b.multiply(g, args[1 - k], precision));
    return;
  }
  if (through_softmax(s, id, g)) return;
  const auto term = [&](size_t k) { return Term(s.b, args[std::min(k, args.size() - 1)]); };
  const Shares shares = shares_of(op, term(0), term(1), term(2), Term(s.b, id), Term(s.b, g));
  SMELT_CHECK(shares.empty() || shares.size() == args.size(), "{} has {} derivatives for {} arguments", name_of(op),
              shares.size(), args.size());
  for (size_t k = 0; k < shares.size(); ++k)
    if (shares[k] && s.wants(id, k)) s.add(args[k], shares[k]->id());
}

}  // namespace smelt::gradients

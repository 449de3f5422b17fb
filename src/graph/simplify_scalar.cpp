// Rules for elementwise operations and casts.
#include <bit>
#include <cmath>
#include <utility>

#include "graph/simplify_detail.hpp"

namespace smelt::simplifying {

namespace {

// The value of an operation on constants, unless folding would round where running would not: small
// floats compute in f32 and round only where a value is stored.
std::optional<Scalar> folded(Op op, const std::vector<Scalar>& args) {
  const Scalar result = evaluate(op, args);
  if (!is_small_float(result.dtype)) return result;
  std::vector<double> values;
  for (const Scalar& arg : args) values.push_back(arg.as_double());
  const double exact = evaluate_float(op, values);
  if (std::isnan(exact) ? std::isnan(result.f) : exact == result.f) return result;
  return std::nullopt;
}

// The low bits of an integer constant.
uint64_t bits_of(const Scalar& s) { return is_unsigned_int(s.dtype) ? s.u : static_cast<uint64_t>(s.i); }

bool is_all_ones(const Scalar& s) { return is_bool(s.dtype) ? s.i == 1 : s == Scalar::of_int(s.dtype, -1); }

// Whether every value of a is one of b too.
bool holds_all(DType b, DType a) {
  if (a == b || is_bool(a)) return true;
  if (is_bool(b)) return false;
  if (is_float(a)) return is_float(b) && promote(a, b) == b;
  if (is_int(b)) return promote(a, b) == b;
  const int value_bits = 8 * size_of(a) - (is_signed_int(a) ? 1 : 0);
  const FloatFormat format = float_format(b);
  return value_bits <= format.mantissa + 1 && value_bits <= format.most;
}

// For x OP constant: the argument itself when the constant changes nothing.
std::optional<NodeId> right_identity(Rewriter& r, const Node& node) {
  const NodeId x = node.args[0], c = node.args[1];
  const Scalar* s = r.uniform(c);
  if (!s) return std::nullopt;
  const bool floats = is_float(s->dtype);
  const bool zero = r.is_uniform(c, 0), one = r.is_uniform(c, 1);
  switch (node.op) {
    case Op::Mul:
    case Op::Div:
    case Op::Pow: return one ? std::optional(x) : std::nullopt;
    case Op::FloorDiv: return one && !floats ? std::optional(x) : std::nullopt;
    case Op::Sub: return zero ? std::optional(x) : std::nullopt;
    case Op::Add:  // x + 0 would make 0 of -0
      return (floats ? s->f == 0 && std::signbit(s->f) : zero) ? std::optional(x) : std::nullopt;
    case Op::Or:
    case Op::Xor:
    case Op::ShiftLeft:
    case Op::ShiftRight: return zero ? std::optional(x) : std::nullopt;
    case Op::And: return is_all_ones(*s) ? std::optional(x) : std::nullopt;
    default: return std::nullopt;
  }
}

// For integers and bools: x OP constant that is constant whatever x is.
std::optional<Scalar> right_zero(Rewriter& r, const Node& node) {
  const Scalar* s = r.uniform(node.args[1]);
  if (node.op == Op::Pow && r.is_uniform(node.args[1], 0)) return Scalar::of_int(node.dtype, 1);  // of nan too
  if (!s || is_float(s->dtype)) return std::nullopt;
  const Scalar zero = Scalar::of_int(node.dtype, 0);
  switch (node.op) {
    case Op::Mul:
    case Op::And: return r.is_uniform(node.args[1], 0) ? std::optional(zero) : std::nullopt;
    case Op::Or: return is_all_ones(*s) ? std::optional(*s) : std::nullopt;
    case Op::Mod:
    case Op::Fmod: return r.is_uniform(node.args[1], 1) ? std::optional(zero) : std::nullopt;
    default: return std::nullopt;
  }
}

bool commutes(Op op) { return op == Op::Add || op == Op::Mul || op == Op::And || op == Op::Or || op == Op::Xor; }

// x OP x.
std::optional<NodeId> of_itself(Rewriter& r, const Node& node) {
  switch (node.op) {
    case Op::Max:
    case Op::Min:
    case Op::And:
    case Op::Or: return node.args[0];
    case Op::Xor: return r.emit_uniform(Scalar::of_int(node.dtype, 0), node.shape, node);
    case Op::Sub:
      if (is_float(node.dtype)) return std::nullopt;  // inf - inf
      return r.emit_uniform(Scalar::of_int(node.dtype, 0), node.shape, node);
    default: return std::nullopt;
  }
}

std::optional<Op> opposite(Op op, bool floats) {
  switch (op) {
    case Op::Eq: return Op::Ne;
    case Op::Ne: return Op::Eq;
    default: break;
  }
  if (floats) return std::nullopt;  // not (nan < 1) is no nan >= 1
  switch (op) {
    case Op::Lt: return Op::Ge;
    case Op::Le: return Op::Gt;
    case Op::Gt: return Op::Le;
    case Op::Ge: return Op::Lt;
    default: return std::nullopt;
  }
}

}  // namespace

// exp(0) -> 1, i32(2.0) -> 2
std::optional<NodeId> fold_constants(Rewriter& r, const Node& node) {
  if (node.kind == NodeKind::Cast) {
    const Scalar* s = r.uniform(node.args[0]);
    if (!s) return std::nullopt;
    return r.emit_uniform(convert(*s, node.dtype, node.wrap), node.shape, node);
  }
  if (node.kind != NodeKind::Elementwise) return std::nullopt;
  std::vector<Scalar> args;
  for (NodeId arg : node.args) {
    const Scalar* s = r.uniform(arg);
    if (!s) return std::nullopt;
    args.push_back(*s);
  }
  const auto value = folded(node.op, args);
  return value ? std::optional(r.emit_uniform(*value, node.shape, node)) : std::nullopt;
}

// x * 1 -> x, x | 0 -> x, x & 0 -> 0, max(x, x) -> x
std::optional<NodeId> drop_identities(Rewriter& r, const Node& node) {
  if (node.kind != NodeKind::Elementwise || node.args.size() != 2) return std::nullopt;
  if (node.args[0] == node.args[1])
    if (auto same = of_itself(r, node)) return same;
  Node swapped = node;
  std::swap(swapped.args[0], swapped.args[1]);
  for (const Node* n : {&node, &std::as_const(swapped)}) {
    if (n == &swapped && !commutes(node.op)) break;
    if (auto x = right_identity(r, *n)) return x;
    if (auto value = right_zero(r, *n)) return r.emit_uniform(*value, node.shape, node);
  }
  return std::nullopt;
}

// -(-x) -> x, ~~x -> x, ||x|| -> |x|, |-x| -> |x|, max(max(x, y), y) -> max(x, y), ~(x == y) -> x
// != y
std::optional<NodeId> cancel_pairs(Rewriter& r, const Node& node) {
  if (node.kind != NodeKind::Elementwise) return std::nullopt;
  if (node.op == Op::Abs && is_unsigned_int(node.dtype)) return node.args[0];
  const Node& inner = r.arg(node, 0);
  if (inner.kind != NodeKind::Elementwise) return std::nullopt;
  switch (node.op) {
    case Op::Neg: return inner.op == Op::Neg ? std::optional(inner.args[0]) : std::nullopt;
    case Op::Abs:
      if (inner.op == Op::Abs || (inner.op == Op::Square && is_float(node.dtype))) return node.args[0];
      if (inner.op == Op::Neg) return r.emit_elementwise(Op::Abs, {inner.args[0]}, node);
      return std::nullopt;
    case Op::Not: {
      if (inner.op == Op::Not) return inner.args[0];
      if (!is_bool(node.dtype) || inner.args.size() != 2) return std::nullopt;
      const auto op = opposite(inner.op, is_float(r.arg(inner, 0).dtype));
      return op ? std::optional(r.emit_elementwise(*op, inner.args, node)) : std::nullopt;
    }
    case Op::Max:
    case Op::Min:
      if (inner.op == node.op && (inner.args[0] == node.args[1] || inner.args[1] == node.args[1])) return node.args[0];
      return std::nullopt;
    default: return std::nullopt;
  }
}

// x + (-y) -> x - y, (-x) + y -> y - x, x - (-y) -> x + y, (-x) * (-y) -> x * y
std::optional<NodeId> absorb_negation(Rewriter& r, const Node& node) {
  if (node.kind != NodeKind::Elementwise || node.args.size() != 2) return std::nullopt;
  const Node &a = r.arg(node, 0), &b = r.arg(node, 1);
  const bool left = is_elementwise(a, Op::Neg), right = is_elementwise(b, Op::Neg);
  if (node.op == Op::Add && right) return r.emit_elementwise(Op::Sub, {node.args[0], b.args[0]}, node);
  if (node.op == Op::Add && left) return r.emit_elementwise(Op::Sub, {node.args[1], a.args[0]}, node);
  if (node.op == Op::Sub && right) return r.emit_elementwise(Op::Add, {node.args[0], b.args[0]}, node);
  if ((node.op == Op::Mul || (node.op == Op::Div)) && left && right)
    return r.emit_elementwise(node.op, {a.args[0], b.args[0]}, node);
  return std::nullopt;
}

// x ** 0.5 is +0 at -0 and inf at -inf, where the square root is -0 and NaN; x ** -0.5 likewise.
NodeId square_root_power(Rewriter& r, const Node& node, bool inverse) {
  const auto number = [&](double v) { return r.emit_uniform(Scalar::of_float(node.dtype, v), node.shape, node); };
  const auto apply = [&](Op op, std::vector<NodeId> args) { return r.emit_elementwise(op, std::move(args), node); };
  const NodeId x = node.args[0];
  const NodeId root = apply(inverse ? Op::Rsqrt : Op::Sqrt, {apply(Op::Add, {x, number(0)})});
  const NodeId lowest = apply(Op::Eq, {x, number(-HUGE_VAL)});
  return apply(Op::Where, {lowest, number(inverse ? 0 : HUGE_VAL), root});
}

// x ** 2 -> square(x), x ** 3 -> x * x * x, x ** 4 -> square(square(x)), x ** -1 -> 1 / x, x ** 0.5
// and x ** -0.5 -> roots. The largest error, of x ** -0.5, is 2 units in the last place, and no
// product overflows or vanishes before the power itself does.
std::optional<NodeId> expand_powers(Rewriter& r, const Node& node) {
  if (!is_elementwise(node, Op::Pow)) return std::nullopt;
  const NodeId x = node.args[0], exponent = node.args[1];
  const auto square = [&](NodeId y) { return r.emit_elementwise(Op::Square, {y}, node); };
  if (r.is_uniform(exponent, 2)) return square(x);
  if (r.is_uniform(exponent, 3)) return r.emit_elementwise(Op::Mul, {square(x), x}, node);
  if (r.is_uniform(exponent, 4)) return square(square(x));
  if (!is_float(node.dtype)) return std::nullopt;
  if (r.is_uniform(exponent, -1)) return r.emit_elementwise(Op::Reciprocal, {x}, node);
  const Scalar* power = r.uniform(exponent);
  if (power && std::fabs(power->f) == 0.5) return square_root_power(r, node, power->f < 0);
  return std::nullopt;
}

// x / 8 -> x * 0.125; of integers x // 8 -> x >> 3 and x % 8 -> x & 7, which round down as // and %
// do.
std::optional<NodeId> divide_by_powers_of_two(Rewriter& r, const Node& node) {
  if (node.kind != NodeKind::Elementwise || node.args.size() != 2) return std::nullopt;
  const Scalar* s = r.uniform(node.args[1]);
  if (!s) return std::nullopt;
  const auto with = [&](Op op, const Scalar& constant) {
    return r.emit_elementwise(op, {node.args[0], r.emit_uniform(constant, node.shape, node)}, node);
  };
  if (node.op == Op::Div) {
    int exponent;
    if (std::fabs(std::frexp(s->f, &exponent)) != 0.5) return std::nullopt;
    // Neither the divisor nor its inverse may be near the ends of f16, the narrowest range.
    if (std::abs(exponent) > 14) return std::nullopt;
    return with(Op::Mul, Scalar::of_float(s->dtype, 1 / s->f));
  }
  if (!is_int(s->dtype) || (is_signed_int(s->dtype) && s->i <= 0) || !std::has_single_bit(bits_of(*s)))
    return std::nullopt;
  const int shift = std::countr_zero(bits_of(*s));
  if (node.op == Op::FloorDiv) return with(Op::ShiftRight, Scalar::of_int(s->dtype, shift));
  if (node.op == Op::Mod) return with(Op::And, Scalar::of_uint(s->dtype, bits_of(*s) - 1));
  return std::nullopt;
}

// where(true, x, y) -> x, where(c, x, x) -> x, where(~c, x, y) -> where(c, y, x), where(c, true,
// false) -> c
std::optional<NodeId> decide_choices(Rewriter& r, const Node& node) {
  if (!is_elementwise(node, Op::Where)) return std::nullopt;
  const NodeId c = node.args[0], yes = node.args[1], no = node.args[2];
  if (yes == no) return yes;
  if (const Scalar* s = r.uniform(c)) return s->as_bool() ? yes : no;
  if (is_elementwise(r.at(c), Op::Not)) return r.emit_elementwise(Op::Where, {r.at(c).args[0], no, yes}, node);
  if (!is_bool(node.dtype)) return std::nullopt;
  if (r.is_uniform(yes, 1) && r.is_uniform(no, 0)) return c;
  if (r.is_uniform(yes, 0) && r.is_uniform(no, 1)) return r.emit_elementwise(Op::Not, {c}, node);
  return std::nullopt;
}

// i8(i32(x)) -> x where x is i8: a cast that holds every value is no step of its own. A cast that
// comes back to a small float stays where x was computed: it rounds what so far was in f32.
std::optional<NodeId> merge_casts(Rewriter& r, const Node& node) {
  if (node.kind != NodeKind::Cast) return std::nullopt;
  const Node& inner = r.arg(node, 0);
  if (inner.kind != NodeKind::Cast) return std::nullopt;
  const DType from = r.arg(inner, 0).dtype;
  if (!holds_all(inner.dtype, from)) return std::nullopt;
  if (from == node.dtype) {
    NodeId source = inner.args[0];
    while (is_view(r.at(source).kind)) source = r.at(source).args[0];
    const NodeKind kind = r.at(source).kind;
    const bool is_rounded = kind == NodeKind::Input || kind == NodeKind::Cast;
    return is_small_float(from) && !is_rounded ? std::nullopt : std::optional(inner.args[0]);
  }
  Node merged = node;
  merged.wrap = node.wrap && is_int(from);
  merged.args = inner.args;
  return r.emit(std::move(merged));
}

}  // namespace smelt::simplifying

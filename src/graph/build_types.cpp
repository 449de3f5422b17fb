// Which dtype an operation computes in: the promotion of the Array API standard, where literals
// take the dtype of the array that they meet. What the standard leaves undefined is an error that
// names the cast to write.
#include <cmath>
#include <limits>

#include "base/check.hpp"
#include "graph/build_detail.hpp"

namespace smelt {

std::string describe(const Literal& literal) {
  if (auto* b = std::get_if<bool>(&literal)) return *b ? "true" : "false";
  if (auto* i = std::get_if<int64_t>(&literal)) return fmt::format("{}", *i);
  const std::string text = fmt::format("{}", std::get<double>(literal));
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

DType default_dtype(const Literal& literal) {
  if (std::holds_alternative<bool>(literal)) return DType::Bool;
  return std::holds_alternative<int64_t>(literal) ? DType::I64 : DType::F32;
}

namespace {

bool fits(int64_t value, DType dtype) {
  if (value < 0) return value >= min_int(dtype);
  return static_cast<uint64_t>(value) <= max_int(dtype);
}

// The narrowest integer dtype that holds both the value and everything of `dtype`.
std::optional<DType> wider_int(DType dtype, int64_t value) {
  for (DType t : {DType::I16, DType::I32, DType::I64})
    if (fits(value, t) && promote(dtype, t) == t) return t;
  return std::nullopt;
}

Scalar int_scalar(int64_t value, DType dtype, const Meets& meets) {
  if (is_bool(dtype))
    fail(fmt::format("cannot mix {} with the integer {}", meets.type, value), fmt::format("write i32({})", meets.text));
  if (is_int(dtype)) {
    if (fits(value, dtype)) return Scalar::of_int(dtype, value);
    const auto wider = wider_int(dtype, value);
    // Masks and constants of hashes are written as their bits.
    const bool is_bits = dtype == DType::I32 && value > 0 && fits(value, DType::U32);
    fail(fmt::format("{} does not fit {}, which holds {} to {}", value, name_of(dtype), min_int(dtype), max_int(dtype)),
         is_bits ? fmt::format("write i64({0}) for numbers, wrap_cast({0}, u32) for bits", meets.text)
         : wider ? fmt::format("write {}({}), or a number in that range", name_of(*wider), meets.text)
                 : "write a number in that range");
  }
  const Scalar scalar = Scalar::of_int(dtype, value);
  if (!std::isfinite(scalar.f))
    fail(fmt::format("{} does not fit {}", value, name_of(dtype)), fmt::format("write f32({})", meets.text));
  return scalar;
}

Scalar float_scalar(double value, DType dtype, const Meets& meets) {
  if (is_bool(dtype) || is_int(dtype))
    fail(fmt::format("cannot mix {} with the float {}", meets.type, value), fmt::format("write f32({})", meets.text));
  const Scalar scalar = Scalar::of_float(dtype, value);
  const bool same = std::isnan(value) == std::isnan(scalar.f) && std::isinf(value) == std::isinf(scalar.f);
  if (!same) {
    const bool has_infinity = float_format(dtype).has_infinity;
    const bool f32_holds_it = std::isinf(value) || std::fabs(value) <= std::numeric_limits<float>::max();
    fail(fmt::format("{} does not fit {}", value, name_of(dtype)),
         fmt::format("write {}({}){}", f32_holds_it ? "f32" : "f64", meets.text, has_infinity ? ", or inf" : ""));
  }
  return scalar;
}

[[noreturn]] void fail_mix(const GraphBuilder& builder, NodeId a, NodeId b) {
  const DType s = builder.dtype(a), t = builder.dtype(b);
  const std::string message = fmt::format("cannot mix {} with {}", describe(builder.at(a)), describe(builder.at(b)));
  if (is_bool(s) || is_bool(t))
    fail(message, fmt::format("write {}", is_bool(s) ? cast_text(builder, a, t) : cast_text(builder, b, s)));
  if (is_float(s) != is_float(t))
    fail(message, fmt::format("write {}", is_float(t) ? cast_text(builder, a, t) : cast_text(builder, b, s)));
  const NodeId big = s == DType::U64 ? a : b, other = s == DType::U64 ? b : a;
  fail(message, fmt::format("no integer type holds both: write {} or {}", cast_text(builder, big, DType::I64),
                            cast_text(builder, other, DType::U64)));
}

// The dtype of the arrays among the arguments; nothing when all are literals.
std::optional<DType> array_dtype(const GraphBuilder& builder, std::span<const Operand> args, NodeId& first) {
  std::optional<DType> dtype;
  NodeId widest = -1;
  for (const Operand& arg : args) {
    if (arg.is_literal()) continue;
    const DType t = builder.dtype(arg.node);
    const auto both = dtype ? promote(*dtype, t) : t;
    if (!both) fail_mix(builder, widest, arg.node);
    if (both != dtype) widest = arg.node;
    if (!dtype) first = arg.node;
    dtype = both;
  }
  return dtype;
}

// Literals among themselves: a float anywhere makes floats.
DType literal_dtype(Op op, std::span<const Operand> args, const std::string& what) {
  bool bools = false, numbers = false, floats = info(op).rule == TypeRule::Float;
  for (const Operand& arg : args) {
    bools |= std::holds_alternative<bool>(arg.literal);
    numbers |= !std::holds_alternative<bool>(arg.literal);
    floats |= std::holds_alternative<double>(arg.literal);
  }
  if (bools && numbers)
    fail(fmt::format("{} cannot mix {} with {}", what, describe(args.front().literal), describe(args.back().literal)),
         "write 1 for true and 0 for false");
  return bools ? DType::Bool : floats ? DType::F32 : DType::I64;
}

std::string takes(TypeRule rule) {
  switch (rule) {
    case TypeRule::Numeric:
    case TypeRule::Test: return "numbers";
    case TypeRule::Float: return "floats";
    case TypeRule::Integer: return "integers";
    case TypeRule::Bits: return "integers or bool";
    case TypeRule::Any:
    case TypeRule::Compare:
    case TypeRule::Select: break;
  }
  return "any dtype";
}

[[noreturn]] void fail_dtype(const GraphBuilder& builder, Op op, std::span<const Operand> args, DType dtype,
                             const std::string& what) {
  const Operand* array = &args[0];
  for (const Operand& arg : args)
    if (array->is_literal()) array = &arg;
  const auto text = [&](const Operand& arg) {
    return arg.is_literal() ? describe(arg.literal) : describe(builder.at(arg.node));
  };
  if (op == Op::Div && is_int(dtype))
    fail(fmt::format("{} divides floats, not {} by {}", what, text(args[0]), text(args[1])),
         fmt::format("write {} // {} for the quotient rounded down, or {}", expression_text(builder, args[0]),
                     expression_text(builder, args[1]), cast_text(builder, *array, DType::F32)));
  const TypeRule rule = info(op).rule;
  const DType to = rule == TypeRule::Float ? DType::F32 : DType::I32;
  fail(fmt::format("{} takes {}, not {}", what, takes(rule), text(*array)),
       fmt::format("write {}", cast_text(builder, *array, to)));
}

}  // namespace

Scalar scalar_of(const Literal& literal, DType dtype, const Meets& meets) {
  if (auto* i = std::get_if<int64_t>(&literal)) return int_scalar(*i, dtype, meets);
  if (auto* f = std::get_if<double>(&literal)) return float_scalar(*f, dtype, meets);
  if (is_bool(dtype)) return Scalar::of_bool(std::get<bool>(literal));
  fail(fmt::format("cannot mix {} with {}", meets.type, describe(literal)), "write 1 for true and 0 for false");
}

DType common_dtype(const GraphBuilder& builder, Op op, std::span<const Operand> args, const std::string& what) {
  // What no operand may be is said before what they are together.
  if (const TypeRule rule = info(op).rule; rule == TypeRule::Bits || rule == TypeRule::Integer)
    for (const Operand& arg : args)
      if (!arg.is_literal() && is_float(builder.dtype(arg.node)))
        fail_dtype(builder, op, std::span(&arg, 1), builder.dtype(arg.node), what);
  NodeId first = -1;
  const auto arrays = array_dtype(builder, args, first);
  const DType dtype = arrays ? *arrays : literal_dtype(op, args, what);
  if (arrays)
    for (const Operand& arg : args)
      if (arg.is_literal())
        scalar_of(arg.literal, dtype, {expression_text(builder, first), describe(builder.at(first))});
  if (!accepts(op, dtype)) fail_dtype(builder, op, args, dtype, what);
  return dtype;
}

NodeId GraphBuilder::materialize(const Operand& operand) {
  return operand.is_literal() ? materialize(operand, default_dtype(operand.literal)) : operand.node;
}

NodeId GraphBuilder::materialize(const Operand& operand, DType dtype) {
  return operand.is_literal() ? constant(scalar_of(operand.literal, dtype, {"...", std::string(name_of(dtype))}))
                              : cast(operand.node, dtype);
}

NodeId GraphBuilder::alias(NodeId x) {
  Node node{.kind = NodeKind::Cast};
  node.dtype = dtype(x);
  node.shape = shape(x);
  node.args = {x};
  return add(std::move(node));
}

NodeId GraphBuilder::stop_gradient(NodeId x) {
  const NodeId id = alias(x);
  graph_.nodes.back().stops = true;
  return id;
}

NodeId GraphBuilder::cast(NodeId x, DType to, bool wrap) {
  const DType from = dtype(x);
  if (from == to) return x;
  if (wrap && is_float(from) && !is_float(to) && !is_bool(to))
    fail(fmt::format("a wrapping cast takes integers, not {}", describe(at(x))),
         fmt::format("write {} first, which saturates", cast_text(*this, x, DType::I64)));
  Node node{.kind = NodeKind::Cast};
  node.wrap = wrap && is_int(from) && is_int(to);
  node.dtype = to;
  node.shape = shape(x);
  node.args = {x};
  return add(std::move(node));
}

}  // namespace smelt

// Operations on values: literals are calculated, sizes stay sizes, everything else becomes nodes.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/diagnostics.hpp"
#include "frontends/fold.hpp"
#include "frontends/value.hpp"
#include "graph/build_detail.hpp"
#include "graph/functions.hpp"

namespace smelt::lang {

namespace {

bool is_number(const Value& v) { return v.as<Literal>() || v.as<Size>() || v.as<Array>(); }
bool is_strong(const Value& v) { return v.as<Array>() && !v.as<Array>()->weak; }

[[noreturn]] void fail_operand(GraphBuilder& b, const Value& value, std::string_view written) {
  std::string help;
  if (const auto* callable = value.as<Callable>()) help = fmt::format("call it: {}(...)", callable->name);
  if (value.as<Tuple>()) help = "stack(...) and concat(...) make one array of several";
  if (value.as<DType>()) help = fmt::format("a type casts: {}(x)", name_of(*value.as<DType>()));
  fail(fmt::format("{} takes arrays and numbers, not {}", written, describe(b, value)), help);
}

// Sizes grow by each operation on them; a text that only multiplies sizes could otherwise fill the
// memory.
void check_growth(const IntExpr& size) {
  size_t weight = 0;
  for (const auto& term : size.terms())
    for (const auto& atom : term.atoms) weight += atom->key.size() + 1;
  if (weight > 1024) fail("this size is too long an expression", "declare a size of its own for it");
}

// Sizes and integers alone, where the result is a size.
std::optional<IntExpr> size_arithmetic(Op op, const std::vector<Value>& args) {
  const auto a = as_size(args[0]);
  const auto c = args.size() > 1 ? as_size(args[1]) : IntExpr(0);
  if (!a || !c || args.size() > 2) return std::nullopt;
  switch (op) {
    case Op::Add: return *a + *c;
    case Op::Sub: return *a - *c;
    case Op::Mul: return *a * *c;
    case Op::Neg: return -*a;
    case Op::Square: return *a * *a;
    case Op::FloorDiv:
    case Op::Mod:
      if (!proves_nonnegative(*c - 1, {})) return std::nullopt;
      return op == Op::FloorDiv ? floordiv(*a, *c) : mod(*a, *c);
    case Op::Pow:
      if (c->is(1)) return *a;
      if (c->is(2)) return *a * *a;
      return std::nullopt;
    default: return std::nullopt;
  }
}

// The dtype that strong arrays among the arguments compute in; nothing when they do not mix, which
// the builder will say.
std::optional<DType> strong_dtype(const GraphBuilder& b, const std::vector<Value>& args, size_t first) {
  std::optional<DType> dtype;
  for (size_t i = first; i < args.size(); ++i) {
    if (!is_strong(args[i])) continue;
    const DType t = b.dtype(args[i].as<Array>()->node);
    const auto both = dtype ? promote(*dtype, t) : t;
    if (!both) return std::nullopt;
    dtype = both;
  }
  return dtype;
}

// A weak value takes the dtype of the arrays, unless that would turn a float into an integer.
Operand meeting(GraphBuilder& b, const Value& value, std::optional<DType> dtype) {
  if (const auto* literal = value.as<Literal>()) return *literal;
  const NodeId node = value.as<Size>() ? b.size_value(value.as<Size>()->expr) : value.as<Array>()->node;
  if (is_strong(value) || !dtype || smelt::is_bool(*dtype)) return node;
  return is_float(b.dtype(node)) && !is_float(*dtype) ? b.cast(node, DType::F32) : b.cast(node, *dtype);
}

Value with_arrays(GraphBuilder& b, Op op, const std::vector<Value>& args) {
  const size_t first = info(op).rule == TypeRule::Select ? 1 : 0;
  const auto dtype = strong_dtype(b, args, first);
  std::vector<Operand> operands;
  for (size_t i = 0; i < args.size(); ++i) operands.push_back(meeting(b, args[i], i < first ? std::nullopt : dtype));
  if (op == Op::Pow) return Value::array(functions::power(b, operands[0], operands[1]));
  return Value::array(b.elementwise(op, operands));
}

// Sizes and what was calculated from them: integers as i64, and f64 where a float takes part.
Value with_sizes(GraphBuilder& b, Op op, const std::vector<Value>& args) {
  const size_t first = info(op).rule == TypeRule::Select ? 1 : 0;
  bool floats = info(op).rule == TypeRule::Float;
  for (const Value& arg : args) {
    const auto* literal = arg.as<Literal>();
    floats |= literal && std::holds_alternative<double>(*literal);
    floats |= arg.as<Array>() && is_float(b.dtype(arg.as<Array>()->node));
  }
  std::vector<Operand> operands;
  for (size_t i = 0; i < args.size(); ++i) {
    Operand operand = meeting(b, args[i], std::nullopt);
    if (i >= first && floats && !operand.is_literal()) operand = b.cast(operand.node, DType::F64);
    operands.push_back(operand);
  }
  const NodeId node = b.elementwise(op, operands);
  return Value(Array{node, !smelt::is_bool(b.dtype(node))});
}

}  // namespace

Value apply(GraphBuilder& b, Op op, const std::vector<Value>& args, std::string_view written) {
  for (const Value& arg : args)
    if (!is_number(arg)) fail_operand(b, arg, written);
  if (std::any_of(args.begin(), args.end(), is_strong)) return with_arrays(b, op, args);
  std::vector<Literal> literals;
  for (const Value& arg : args)
    if (const auto* literal = arg.as<Literal>()) literals.push_back(*literal);
  if (literals.size() == args.size()) {
    if (const auto result = fold(op, literals)) return Value(*result);
    return with_arrays(b, op, args);  // which says what does not fit
  }
  if (const auto size = with_sizes_checked([&] { return size_arithmetic(op, args); })) {
    check_growth(*size);
    return Value::size(*size);
  }
  return with_sizes(b, op, args);
}

}  // namespace smelt::lang

#include "frontends/c_value.hpp"

#include <algorithm>
#include <vector>

#include "base/check.hpp"

namespace smelt::lang {

NodeId CArithmetic::node(const CValue& v) { return v.known ? b_.constant(*v.known) : v.node; }

CValue CArithmetic::convert(const CValue& v, DType to) {
  if (v.dtype == to) return v;
  const bool wrap = is_int(v.dtype) && is_int(to);
  if (v.known) return CValue::of(smelt::convert(*v.known, to, wrap));
  ++made_;
  return {to, b_.cast(v.node, to, wrap), std::nullopt};
}

CValue CArithmetic::apply(Op op, std::initializer_list<CValue> args) {
  ++made_;
  if (std::all_of(args.begin(), args.end(), [](const CValue& v) { return v.known.has_value(); })) {
    std::vector<Scalar> scalars;
    for (const CValue& v : args) scalars.push_back(*v.known);
    return CValue::of(evaluate(op, scalars));
  }
  std::vector<Operand> operands;
  for (const CValue& v : args) operands.emplace_back(node(v));
  const NodeId made = b_.elementwise(op, operands);
  return {b_.dtype(made), made, std::nullopt};
}

CValue CArithmetic::select(const CValue& condition, const CValue& x, const CValue& y) {
  if (condition.known) return condition.is_true() ? x : y;
  if (x == y) return x;
  if (x.dtype == DType::Bool && x.is_true() && y.is_false()) return condition;
  return apply(Op::Where, {condition, x, y});
}

CValue CArithmetic::promoted(const CValue& v) {
  const bool small = v.dtype == DType::Bool || (is_int(v.dtype) && size_of(v.dtype) < 4);
  return small ? convert(v, DType::I32) : v;
}

DType CArithmetic::common(const CValue& x, const CValue& y) const {
  for (const DType dtype : {DType::F64, DType::F32})
    if (x.dtype == dtype || y.dtype == dtype) return dtype;
  const auto wide = [](DType dtype) { return dtype == DType::Bool || size_of(dtype) < 4 ? DType::I32 : dtype; };
  for (const DType dtype : {DType::U64, DType::I64, DType::U32})
    if (wide(x.dtype) == dtype || wide(y.dtype) == dtype) return dtype;
  return DType::I32;
}

CValue CArithmetic::binary(std::string_view op, const CValue& x, const CValue& y) {
  if (op == "<<" || op == ">>") {
    const CValue left = promoted(x);
    return apply(op == "<<" ? Op::ShiftLeft : Op::ShiftRight, {left, convert(y, left.dtype)});
  }
  const DType dtype = common(x, y);
  const CValue a = convert(x, dtype), c = convert(y, dtype);
  if (op == "/" && !is_float(dtype)) {
    // C rounds toward zero: what is left of it divides exactly.
    return apply(Op::FloorDiv, {apply(Op::Sub, {a, apply(Op::Fmod, {a, c})}), c});
  }
  constexpr std::pair<std::string_view, Op> kTable[] = {
      {"+", Op::Add}, {"-", Op::Sub}, {"*", Op::Mul}, {"/", Op::Div}, {"%", Op::Fmod}, {"&", Op::And}, {"|", Op::Or},
      {"^", Op::Xor}, {"<", Op::Lt},  {"<=", Op::Le}, {">", Op::Gt},  {">=", Op::Ge},  {"==", Op::Eq}, {"!=", Op::Ne}};
  for (const auto& [text, what] : kTable)
    if (text == op) return apply(what, {a, c});
  throw InternalError("an operator of C that is none");
}

}  // namespace smelt::lang

#include "report/page_index.hpp"

#include <algorithm>

#include "ops/host.hpp"
#include "smelt/error.hpp"

namespace smelt::report {

// The most nested expressions that are followed.
static constexpr int kDeepest = 24;

std::optional<int64_t> PageIndices::evaluate(const IntExpr& e, int depth) const {
  if (depth > kDeepest) return std::nullopt;
  if (const auto constant = e.constant()) return constant;
  SizeBinding more;  // what locals stand for
  for (const Symbol symbol : e.symbols()) {
    if (values_.count(symbol)) continue;
    const auto local = symbol.is_local() ? locals_.find(symbol.local_id()) : locals_.end();
    if (local == locals_.end()) return std::nullopt;
    const auto known = value(local->second, depth + 1);
    if (!known) return std::nullopt;
    more[symbol] = known->as_int();
  }
  if (!more.empty()) more.insert(values_.begin(), values_.end());
  try {
    return e.evaluate(more.empty() ? values_ : more);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<bool> PageIndices::holds(kernel::ExprId condition) const {
  const auto known = value(condition, 0);
  return known ? std::optional(known->as_bool()) : std::nullopt;
}

std::optional<int64_t> PageIndices::offset(const kernel::Access& access, const kernel::Param& param, int depth) const {
  int64_t offset = 0;
  for (size_t d = 0; d < access.index.size(); ++d) {
    const auto i = evaluate(access.index[d], depth + 1), size = evaluate(param.dims[d], depth + 1);
    if (!i || !size) return std::nullopt;
    offset = offset * *size + *i;
  }
  return offset;
}

std::optional<Scalar> PageIndices::value(kernel::ExprId id, int depth) const {
  if (depth > kDeepest) return std::nullopt;
  const kernel::Expr& e = kernel_.at(id);
  using Value = std::optional<Scalar>;
  return e.match([&](const kernel::Const& c) -> Value { return c.value; },
                 [&](const kernel::ReadLocal& read) -> Value {
                   const auto local = locals_.find(read.local);
                   return local == locals_.end() ? Value() : value(local->second, depth + 1);
                 },
                 [&](const kernel::IndexValue& index) -> Value {
                   const auto i = evaluate(index.value, depth + 1);
                   return i ? Value(Scalar::of_int(DType::I64, *i)) : Value();
                 },
                 [&](const kernel::Apply& a) -> Value { return apply(a, e.dtype, depth); },
                 [&](const kernel::Cast& cast) -> Value {
                   const Value x = value(cast.x, depth + 1);
                   return x ? Value(convert(*x, e.dtype, cast.wrap)) : Value();
                 },
                 [&](const kernel::Bitcast& bits) -> Value {
                   const Value x = value(bits.x, depth + 1);
                   return x && is_int(x->dtype) && is_int(e.dtype) ? Value(convert(*x, e.dtype, true)) : Value();
                 },
                 [&](const kernel::Raw& raw) -> Value { return apply(raw, e.dtype, depth); },
                 [&](const kernel::Random&) -> Value { return std::nullopt; },
                 [&](const kernel::Load& load) -> Value {
                   if (load.mask != kernel::kNoExpr) {
                     const Value mask = value(load.mask, depth + 1);
                     if (!mask) return std::nullopt;
                     if (!mask->as_bool())
                       return load.other == kernel::kNoExpr ? Value() : value(load.other, depth + 1);
                   }
                   if (load.access.scratch) return std::nullopt;
                   Dims index;
                   for (const IntExpr& i : load.access.index) {
                     const auto at = evaluate(i, depth + 1);
                     if (!at) return std::nullopt;
                     index.push_back(*at);
                   }
                   return element_(kernel_.params[static_cast<size_t>(load.access.array)].value, index);
                 });
}

// Integers and bools: what indices are computed with. Empty: not known.
std::vector<Scalar> PageIndices::values(const std::vector<kernel::ExprId>& ids, int depth) const {
  std::vector<Scalar> args;
  for (const kernel::ExprId id : ids) {
    const auto arg = value(id, depth + 1);
    if (!arg || is_float(arg->dtype)) return {};
    args.push_back(*arg);
  }
  return args;
}

std::optional<Scalar> PageIndices::apply(const kernel::Raw& raw, DType dtype, int depth) const {
  const std::vector<Scalar> args = values(raw.args, depth);
  if (args.size() != 2) return std::nullopt;
  const int64_t a = args[0].as_int(), b = args[1].as_int();
  const bool divides = b != 0 && !host::is_minus_one(b);
  switch (raw.op) {
    case kernel::RawOp::TruncDiv: return divides ? std::optional(Scalar::of_int(dtype, a / b)) : std::nullopt;
    case kernel::RawOp::TruncRem: return divides ? std::optional(Scalar::of_int(dtype, a % b)) : std::nullopt;
    case kernel::RawOp::Shl: return Scalar::of_int(dtype, host::shift_left(a, b));
    case kernel::RawOp::Shr: return Scalar::of_int(dtype, host::shift_right(a, b));
    default: return std::nullopt;
  }
}

std::optional<Scalar> PageIndices::apply(const kernel::Apply& apply, DType dtype, int depth) const {
  const std::vector<Scalar> args = values(apply.args, depth);
  if (args.empty()) return std::nullopt;
  const auto a = args[0].as_int(), b = args.size() > 1 ? args[1].as_int() : 0;
  const auto number = [&](int64_t n) { return Scalar::of_int(dtype, n); };
  switch (apply.op) {
    case Op::Add: return number(host::wrap_add(a, b));
    case Op::Sub: return number(host::wrap_sub(a, b));
    case Op::Mul: return number(host::wrap_mul(a, b));
    case Op::FloorDiv: return number(host::int_floor_divide(a, b));
    case Op::Mod: return number(host::int_floor_mod(a, b));
    case Op::Max: return number(std::max(a, b));
    case Op::Min: return number(std::min(a, b));
    case Op::Eq: return Scalar::of_bool(a == b);
    case Op::Ne: return Scalar::of_bool(a != b);
    case Op::Lt: return Scalar::of_bool(a < b);
    case Op::Le: return Scalar::of_bool(a <= b);
    case Op::Gt: return Scalar::of_bool(a > b);
    case Op::Ge: return Scalar::of_bool(a >= b);
    case Op::And: return is_bool(dtype) ? Scalar::of_bool(a && b) : number(a & b);
    case Op::Or: return is_bool(dtype) ? Scalar::of_bool(a || b) : number(a | b);
    case Op::Xor: return is_bool(dtype) ? Scalar::of_bool(a != b) : number(a ^ b);
    case Op::Not: return is_bool(dtype) ? Scalar::of_bool(a == 0) : number(~a);
    case Op::Where: return args[0].as_bool() ? args[1] : args[2];
    default: return std::nullopt;
  }
}

}  // namespace smelt::report

#include "frontends/value.hpp"

#include <fmt/format.h>

#include "frontends/diagnostics.hpp"
#include "frontends/function_table.hpp"
#include "graph/build_detail.hpp"

namespace smelt::lang {

Value Value::size(const IntExpr& size) {
  if (const auto n = size.constant()) return integer(*n);
  return Value(Size{size});
}

Value Value::tuple(std::vector<Value> items) {
  return Value(Tuple{std::make_shared<const std::vector<Value>>(std::move(items))});
}

static std::string short_text(const GraphBuilder& b, const Value& value) {
  if (const auto* literal = value.as<Literal>()) return smelt::describe(*literal);
  if (const auto* size = value.as<Size>()) return shown(size->expr.str());
  if (value.is_none()) return "None";
  if (value.as<Tuple>()) return "(...)";
  return describe(b, value);
}

std::string describe(const GraphBuilder& b, const Value& value) {
  if (const auto* literal = value.as<Literal>())
    return (std::holds_alternative<bool>(*literal) ? "" : "the number ") + smelt::describe(*literal);
  if (const auto* size = value.as<Size>()) return "the size " + shown(size->expr.str());
  if (const auto* array = value.as<Array>()) return array->weak ? "a number" : smelt::describe(b.at(array->node));
  if (const auto* dtype = value.as<DType>()) return fmt::format("the type {}", name_of(*dtype));
  if (const auto* text = value.as<Text>()) return fmt::format("the text {}", quoted(text->text));
  if (const auto* callable = value.as<Callable>()) return fmt::format("the function {}", callable->name);
  if (value.as<Bounds>()) return "a slice";
  if (value.as<Dots>()) return "...";
  if (value.is_none()) return "None";
  std::string items;
  const auto& list = *value.as<Tuple>()->items;
  for (size_t i = 0; i < list.size() && i < 8; ++i) items += (i ? ", " : "") + short_text(b, list[i]);
  return fmt::format("the tuple ({}{})", items, list.size() > 8 ? ", ..." : list.size() == 1 ? "," : "");
}

std::optional<int64_t> as_integer(const Value& value) {
  const auto* literal = value.as<Literal>();
  if (const auto* i = literal ? std::get_if<int64_t>(literal) : nullptr) return *i;
  return std::nullopt;
}

std::optional<IntExpr> as_size(const Value& value) {
  if (const auto i = as_integer(value)) return IntExpr(*i);
  if (const auto* size = value.as<Size>()) return size->expr;
  return std::nullopt;
}

std::optional<double> as_number(const Value& value) {
  const auto* literal = value.as<Literal>();
  if (const auto* f = literal ? std::get_if<double>(literal) : nullptr) return *f;
  if (const auto i = as_integer(value)) return static_cast<double>(*i);
  return std::nullopt;
}

Operand as_operand(GraphBuilder& b, const Value& value, DType weak_to) {
  if (const auto* literal = value.as<Literal>()) return *literal;
  if (const auto* size = value.as<Size>()) return b.size_value(size->expr);
  if (const auto* array = value.as<Array>())
    return array->weak && b.dtype(array->node) == DType::F64 ? b.cast(array->node, weak_to) : array->node;
  std::string help;
  if (const auto* callable = value.as<Callable>()) help = fmt::format("call it: {}(...)", callable->name);
  if (value.as<Tuple>()) help = "stack(...) and concat(...) make one array of several";
  fail(fmt::format("expected an array or a number, not {}", describe(b, value)), help);
}

NodeId as_array(GraphBuilder& b, const Value& value, DType weak_to) {
  return b.materialize(as_operand(b, value, weak_to));
}

Value cast(GraphBuilder& b, const Value& value, DType to) {
  const auto* literal = value.as<Literal>();
  if (!literal) {
    const auto* array = value.as<Array>();
    return Value::array(b.cast(array ? array->node : as_array(b, value), to));
  }
  Scalar scalar;
  if (const auto* f = std::get_if<double>(literal))
    scalar = Scalar::of_float(DType::F64, *f);
  else if (const auto* i = std::get_if<int64_t>(literal))
    scalar = Scalar::of_int(DType::I64, *i);
  else
    scalar = Scalar::of_bool(std::get<bool>(*literal));
  return Value::array(b.constant(convert(scalar, to)));
}

}  // namespace smelt::lang

// Gradients: of values by arrays that they are made of, and of functions as functions.
#include <fmt/format.h>

#include "frontends/call.hpp"
#include "frontends/gradients.hpp"
#include "graph/gradient.hpp"

namespace smelt::lang {

Value aliased(GraphBuilder& b, const Value& value, std::vector<NodeId>& nodes) {
  if (const auto* tuple = value.as<Tuple>()) {
    std::vector<Value> items;
    for (const Value& item : *tuple->items) items.push_back(aliased(b, item, nodes));
    return Value::tuple(std::move(items));
  }
  const auto* array = value.as<Array>();
  const auto* literal = value.as<Literal>();
  if (!array && !(literal && std::holds_alternative<double>(*literal)))
    throw UserBuildError({fmt::format("a gradient is by arrays of floats, not by {}", describe(b, value)), ""});
  NodeId node = as_array(b, value);
  if (array && array->weak) node = b.cast(node, DType::F32);
  if (!is_float(b.dtype(node)))
    throw UserBuildError(
        {fmt::format("a gradient is by floats, not by {}", describe(b, value)), "cast it first: f32(x)"});
  nodes.push_back(b.alias(node));
  return Value::array(nodes.back());
}

static void collect(GraphBuilder& b, const Value& value, std::vector<NodeId>& nodes) {
  if (const auto* tuple = value.as<Tuple>()) {
    for (const Value& item : *tuple->items) collect(b, item, nodes);
    return;
  }
  if (!value.as<Array>())
    throw UserBuildError({fmt::format("a gradient is by arrays, not by {}", describe(b, value)),
                          "name an array that the value was made of, or a list of them"});
  nodes.push_back(value.as<Array>()->node);
}

std::vector<NodeId> arrays_of(GraphBuilder& b, const Value& value) {
  std::vector<NodeId> nodes;
  collect(b, value, nodes);
  return nodes;
}

Value of_shape(const Value& value, std::vector<NodeId>::const_iterator& next) {
  const auto* tuple = value.as<Tuple>();
  if (!tuple) return Value::array(*next++);
  std::vector<Value> items;
  for (const Value& item : *tuple->items) items.push_back(of_shape(item, next));
  return Value::tuple(std::move(items));
}

namespace {

constexpr int kMostDepth = 16;

// One argument's number, or a tuple of them.
Value derivative_of(Call& c, const Callable& of, std::string_view by, bool with_value) {
  if (of.receiver)
    c.fail("f", fmt::format("{}: the method {} has its first argument already", c.written(), of.name),
           fmt::format("give the function alone: {}({})", c.written(), of.name));
  auto derivative = std::make_shared<Derivative>();
  derivative->of = of;
  if (of.derivative) derivative->depth = of.derivative->depth + 1;
  if (derivative->depth > kMostDepth)
    c.fail("f", fmt::format("{}: gradients of gradients more than {} deep", c.written(), kMostDepth), "take fewer");
  derivative->several = c.value(by).as<Tuple>() != nullptr;
  derivative->arguments = c.integers(by);
  derivative->with_value = with_value;
  if (derivative->arguments.empty())
    c.fail(by, fmt::format("{}: () names no argument", c.written()), "arguments count from 0");
  return Value(Callable{nullptr, "gradient", nullptr, nullptr, std::move(derivative)});
}

Value gradient(Call& c) {
  if (const auto* function = c.value("f").as<Callable>()) return derivative_of(c, *function, "by", false);
  const NodeId value = c.array("f");
  const std::vector<NodeId> by = arrays_of(c.b, c.value("by"));
  const std::vector<NodeId> gradients = smelt::gradient(c.b, value, by);
  auto next = gradients.begin();
  return of_shape(c.value("by"), next);
}

Value value_and_gradient(Call& c) {
  const auto* function = c.value("f").as<Callable>();
  if (!function) c.fail_kind("f", "a function", "the gradient of a value is gradient(value, x)");
  return derivative_of(c, *function, "by", true);
}

Value vjp(Call& c) {
  const auto list = [&](std::string_view name) {
    return c.value(name).as<Tuple>() ? c.arrays(name) : std::vector<NodeId>{c.array(name)};
  };
  const std::vector<NodeId> values = list("values"), cotangents = list("cotangents");
  if (values.size() != cotangents.size())
    c.fail("cotangents", fmt::format("{} cotangents for {} values", cotangents.size(), values.size()),
           "give one for each");
  const std::vector<NodeId> products = vector_jacobian_product(c.b, values, cotangents, arrays_of(c.b, c.value("by")));
  auto next = products.begin();
  return of_shape(c.value("by"), next);
}

}  // namespace

static constexpr Row kRows[] = {
    {"gradient", "grad", "f, by=0",
     "of one float f with respect to x, an array that f depends on, or to a list of them. Of a function f: its "
     "gradient as a function, with respect to argument number `by`, or to several, (0, 2)",
     gradient},
    {"value_and_gradient", "value_and_grad", "f, by=0", "the function that returns (f(...), gradient(f, by)(...))",
     value_and_gradient},
    {"vjp", "", "values, by, cotangents",
     "vector-Jacobian product: the sum over the values of cotangent times derivative with respect to x; a cotangent "
     "has the shape of its value",
     vjp},
    {"stop_gradient", "detach", "x", "x, treated as a constant by gradients",
     [](Call& c) { return Value::array(c.b.stop_gradient(c.array("x"))); }},
};

std::span<const Row> gradient_rows() { return kRows; }

}  // namespace smelt::lang

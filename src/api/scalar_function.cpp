// Operations that a user writes for one element.
#include "smelt/scalar_function.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/program.hpp"

namespace smelt {

using detail::Expression;
using detail::NodePtr;

namespace detail {

static lang::Span whole(const lang::Source& source) { return {0, static_cast<uint32_t>(source.text().size())}; }

ScalarState::ScalarState(std::string text)
    : source(std::move(text), "scalar function"), function(source, whole(source)), name(function.name()) {}

// What a step may be for its result at an element to depend on nothing but its arguments there.
static void check_step(const Expression& e, const std::string& name, const std::vector<NodePtr>& placeholders,
                       const ArrayNode* node) {
  const auto refuse = [&](std::string_view what) {
    throw UserError(
        fmt::format("elementwise '{}': {} is not elementwise\nhelp: the function is given single elements, and may use "
                    "operators, elementwise functions and numbers",
                    lang::shown(name), what));
  };
  switch (e.kind) {
    case Expression::Kind::Operator:
    case Expression::Kind::Scalar:
    case Expression::Kind::Named: return;
    case Expression::Kind::Function:
      if (e.function->group != "Elementwise" && e.function->group != "Activations and quantisation" &&
          e.function->row.name != "astype" && e.function->row.name != "wrap_cast" &&
          e.function->row.name != "stop_gradient")
        refuse(e.written);
      return;
    case Expression::Kind::Custom: return refuse(e.written);
    case Expression::Kind::Subscript: return refuse("a subscript");
    case Expression::Kind::Extent: return refuse("a size");
    case Expression::Kind::Alias:
    case Expression::Kind::Gradient: return refuse("a gradient");
    case Expression::Kind::Placeholder:
      if (std::none_of(placeholders.begin(), placeholders.end(), [&](const NodePtr& p) { return p.get() == node; }))
        throw UserError(fmt::format(
            "elementwise '{}': the function uses an array that is not among its arguments\nhelp: pass it as one",
            lang::shown(name)));
  }
}

void check_name(const std::string& name, std::string_view of) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), fits))
    throw UserError(
        fmt::format("{}: '{}' is no name\nhelp: a name has letters, digits and _, at most 64", of, lang::shown(name)));
}

Array elementwise(std::string name, const Callable<Array(std::span<const Array>)>& function,
                  const std::vector<Array>& arguments) {
  check_name(name, "elementwise");
  auto body = std::make_shared<NamedBody>();
  body->name = std::move(name);
  std::vector<Array> elements;
  for (const Array& argument : arguments) {
    const NodePtr& node = node_of(argument, "elementwise");
    if (!node->is_value()) {  // numbers are what they are
      elements.push_back(argument);
      body->placeholders.emplace_back();
      continue;
    }
    Expression e{Expression::Kind::Placeholder};
    e.written = "an element";
    e.index = static_cast<int>(elements.size()) + 1;
    Type type = node->type;
    type.shape.clear();
    body->placeholders.push_back(detail::make_node(std::move(type), std::make_shared<const Expression>(std::move(e))));
    elements.emplace_back(body->placeholders.back());
  }
  body->result = function(elements);
  node_of(body->result, "the result of an elementwise function");
  body->needed = needed_by({body->result});
  if (!body->needed.data.empty())
    throw UserError(fmt::format(
        "elementwise '{}': the function uses an array that is not among its arguments\nhelp: pass it as one",
        lang::shown(body->name)));
  for (size_t s = 0; s < body->needed.steps.size(); ++s)
    if (body->needed.expressions[s])
      check_step(*body->needed.expressions[s], body->name, body->placeholders, body->needed.steps[s].get());
  Expression e{Expression::Kind::Named};
  e.written = body->name;  // which lives as long
  for (const Array& argument : arguments) e.arguments.emplace_back(argument);
  e.body = std::move(body);
  return make(std::move(e));
}

}  // namespace detail

ScalarFunction::ScalarFunction(std::string text)
    : state_(std::make_shared<const detail::ScalarState>(std::move(text))) {}

const std::string& ScalarFunction::name() const { return state_->name; }
std::string ScalarFunction::signature() const { return state_->function.signature(); }

Array ScalarFunction::call(const std::vector<Array>& arguments) const {
  Expression e{Expression::Kind::Scalar};
  e.written = state_->name;
  for (const Array& argument : arguments) {
    detail::node_of(argument, state_->name);
    e.arguments.emplace_back(argument);
  }
  e.scalar = state_;
  return detail::make(std::move(e));
}

ScalarFunction scalar_function(std::string text) { return ScalarFunction(std::move(text)); }

}  // namespace smelt

// Gradients as steps of expressions.
#include "smelt/gradient.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/program.hpp"
#include "graph/build_detail.hpp"

namespace smelt {

using detail::Argument;
using detail::Expression;
using detail::NodePtr;
using detail::Type;

namespace {

using Copies = std::unordered_map<const detail::ArrayNode*, NodePtr>;

Argument with_copies(Argument argument, const Copies& copies) {
  if (argument.node)
    if (const auto copy = copies.find(argument.node.get()); copy != copies.end()) argument.node = copy->second;
  for (Argument& item : argument.items) item = with_copies(std::move(item), copies);
  return argument;
}

bool mentions(const Argument& argument, const Copies& copies) {
  return (argument.node && copies.contains(argument.node.get())) ||
         std::any_of(argument.items.begin(), argument.items.end(),
                     [&](const Argument& item) { return mentions(item, copies); });
}

NodePtr node_with_copies(const detail::ArrayNode& node, const Expression& e, const Copies& copies) {
  Expression copy = e;
  for (Argument& argument : copy.arguments) argument = with_copies(std::move(argument), copies);
  return detail::make_node(node.type, std::make_shared<const Expression>(std::move(copy)));
}

// Adds copies of the steps of a value that are made of something that has a copy.
void substitute(const Array& value, Copies& copies) {
  const detail::Needed needed = detail::needed_by({value});
  for (size_t s = 0; s < needed.steps.size(); ++s) {
    const auto& e = needed.expressions[s];
    if (e && !copies.contains(needed.steps[s].get()) &&
        std::any_of(e->arguments.begin(), e->arguments.end(), [&](const Argument& a) { return mentions(a, copies); }))
      copies.emplace(needed.steps[s].get(), node_with_copies(*needed.steps[s], *e, copies));
  }
}

// The steps that values are made of as nodes that stay expressions: those that a user has may
// become data before the gradient is calculated.
Copies kept_steps(const std::vector<Array>& values) {
  Copies copies;
  const detail::Needed needed = detail::needed_by(values);
  for (size_t s = 0; s < needed.steps.size(); ++s) {
    const NodePtr& node = needed.steps[s];
    const auto& e = needed.expressions[s];
    if (!e || e->kind == Expression::Kind::Placeholder) continue;
    NodePtr kept = node->kept();
    if (!kept) {
      const NodePtr made = node_with_copies(*node, *e, copies);
      made->keep(made);
      kept = node->keep(made);
    }
    copies.emplace(node.get(), std::move(kept));
  }
  return copies;
}

Array copy_of(const Array& array, const Copies& copies) {
  const auto copy = copies.find(array.node().get());
  return copy == copies.end() ? array : Array(copy->second);
}

// Builds the gradients once, for the errors that they have.
void check_steps(const std::vector<Array>& gradients, std::string_view asked_by) {
  const detail::Needed needed = detail::needed_by(gradients);
  GraphBuilder scratch;
  std::unordered_map<const detail::ArrayNode*, lang::Value> values;
  const auto declare = [&](const NodePtr& node) {
    const NodeId id = scratch.input("x", node->type.dtype, node->type.shape);
    values.emplace(node.get(), lang::Value(lang::Array{id, node->type.kind == Type::Kind::Weak}));
  };
  for (const NodePtr& node : needed.data) declare(node);
  for (size_t s = 0; s < needed.steps.size(); ++s)
    if (needed.expressions[s] && needed.expressions[s]->kind == Expression::Kind::Placeholder) declare(needed.steps[s]);
  try {
    detail::replay(scratch, needed, values);
  } catch (const UserBuildError& error) {
    throw UserError(fmt::format("{}: {}{}", asked_by, error.error.message,
                                error.error.help.empty() ? "" : "\nhelp: " + error.error.help));
  }
}

// What stands for an array in the steps of values: itself, the node that is kept for it, or, where
// it was evaluated between two gradients, both.
std::vector<NodePtr> stands_for(const Array& array, const detail::Needed& needed) {
  std::vector<NodePtr> result;
  for (const NodePtr& node : {array.node(), array.node()->kept()}) {
    const bool twice = !result.empty() && result[0] == node;
    const auto is_it = [&](const NodePtr& other) { return other == node; };
    if (node && !twice &&
        (std::any_of(needed.steps.begin(), needed.steps.end(), is_it) ||
         std::any_of(needed.data.begin(), needed.data.end(), is_it)))
      result.push_back(node);
  }
  return result;
}

std::vector<Array> gradients_of(const std::vector<Array>& values, const std::vector<Array>& cotangents,
                                const std::vector<Array>& by, std::string_view asked_by) {
  const Copies copies = kept_steps(values);
  Expression e{Expression::Kind::Gradient};
  e.written = "gradient";
  e.gradient = std::make_shared<const detail::GradientStep>(detail::GradientStep{values.size()});
  std::vector<Array> kept, gradients;
  for (const Array& value : values) kept.push_back(copy_of(value, copies));
  for (const Array& value : kept) e.arguments.emplace_back(value);
  for (const Array& cotangent : cotangents) e.arguments.emplace_back(cotangent);
  const detail::Needed needed = detail::needed_by(kept);
  std::vector<std::vector<NodePtr>> nodes;
  for (const Array& array : by) {
    nodes.push_back(stands_for(array, needed));
    if (nodes.back().empty()) nodes.back().push_back(array.node());  // no value is made of it
    for (const NodePtr& node : nodes.back()) e.arguments.emplace_back(Array(node));
  }
  for (const auto& of_array : nodes) {
    Array total;
    for (const NodePtr& node : of_array) {
      Type type = node->type;
      type.kind = Type::Kind::Array;
      const Array part(detail::make_node(std::move(type), std::make_shared<const Expression>(e)));
      total = total.defined() ? total + part : part;
      ++e.index;
    }
    gradients.push_back(total);
  }
  if (!gradients.empty()) check_steps(gradients, asked_by);
  return gradients;
}

// What a gradient is by: an array of floats.
void check_by(const Array& array, const std::string& what) {
  const Type& type = detail::node_of(array, what)->type;
  if (!array.node()->is_value() || !is_float(type.dtype))
    throw UserError(fmt::format(
        "{} is {}, and gradients are by arrays of floats\nhelp: {}", what, detail::describe(*array.node()),
        array.node()->is_value() ? "cast it first: astype(x, DType::F32)" : "give it as Array::scalar(2.0f)"));
}

void check_value(const Array& value, std::string_view asked_by) {
  const Type& type = value.node()->type;
  if (type.shape.empty() && is_float(type.dtype)) return;
  throw UserError(fmt::format("{}: a gradient is of one float, not of {}\nhelp: {}", asked_by,
                              detail::describe(*value.node()),
                              is_float(type.dtype) ? "reduce it, sum(x) or mean(x); vjp() takes values of any shape"
                                                   : "cast it to a float: astype(x, DType::F32)"));
}

void check_made_of(const std::vector<Array>& values, const std::vector<Array>& by, std::string_view asked_by) {
  const detail::Needed needed = detail::needed_by(values);
  for (size_t i = 0; i < by.size(); ++i) {
    if (!stands_for(by[i], needed).empty()) continue;
    const bool known = std::all_of(values.begin(), values.end(), [](const Array& v) { return v.evaluated(); });
    throw UserError(fmt::format(
        "{}: the value is not made of the array {}, {}\nhelp: {}", asked_by, i, by[i].str(),
        known
            ? "it is evaluated, and what is evaluated is not made of anything: take the gradient before eval(), or use "
              "gradient(f, argument)"
            : "name an array that it was made of; what was evaluated on the way is a constant"));
  }
}

}  // namespace

std::vector<Array> gradient(const Array& value, const std::vector<Array>& by) {
  detail::node_of(value, "gradient()");
  for (size_t i = 0; i < by.size(); ++i) check_by(by[i], fmt::format("gradient(): the array {}", i));
  check_value(value, "gradient()");
  check_made_of({value}, by, "gradient()");
  return gradients_of({value}, {Array(1.0)}, by, "gradient()");
}

Array gradient(const Array& value, const Array& by) { return gradient(value, std::vector<Array>{by}).at(0); }

std::vector<Array> vjp(const std::vector<Array>& values, const std::vector<Array>& by,
                       const std::vector<Array>& cotangents) {
  if (values.size() != cotangents.size())
    throw UserError(
        fmt::format("vjp(): {} cotangents for {} values\nhelp: give one for each", cotangents.size(), values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    detail::node_of(values[i], fmt::format("vjp(): value {}", i)),
        detail::node_of(cotangents[i], fmt::format("vjp(): cotangent {}", i));
  for (size_t i = 0; i < by.size(); ++i) check_by(by[i], fmt::format("vjp(): the array {}", i));
  check_made_of(values, by, "vjp()");
  return gradients_of(values, cotangents, by, "vjp()");
}

namespace detail {

std::vector<bool> chosen(const std::vector<size_t>& counts, const std::vector<int>& arguments) {
  std::vector<bool> chosen_parameters(counts.size()), result;
  for (const int argument : arguments) {
    if (argument < 0 || static_cast<size_t>(argument) >= counts.size())
      throw UserError(
          fmt::format("a gradient by argument {} of a function of {} argument{}\nhelp: arguments count from 0",
                      argument, counts.size(), counts.size() == 1 ? "" : "s"));
    chosen_parameters[static_cast<size_t>(argument)] = true;
  }
  for (size_t p = 0; p < counts.size(); ++p) result.insert(result.end(), counts[p], chosen_parameters[p]);
  return result;
}

// A float number counts as an f32 when a gradient is by it.
static Array differentiable(const Array& array, const std::string& what) {
  const Type& type = node_of(array, what)->type;
  const bool number = type.kind == Type::Kind::Literal || type.kind == Type::Kind::Weak;
  if (number && is_float(type.dtype)) return call("astype", {array, DType::F32}, Where::here());
  if (number)
    throw UserError(fmt::format("gradient(): {} is {}, and gradients are by floats\nhelp: write it as a float: 2.0",
                                what, describe(*array.node())));
  check_by(array, "gradient(): " + what);
  return array;
}

static Array alias_of(const Array& array) {
  Expression e{Expression::Kind::Alias};
  e.written = "argument";
  e.arguments = {array};
  return Array(detail::make_node(array.node()->type, std::make_shared<const Expression>(std::move(e))));
}

// The function is called with placeholders, so that nothing is evaluated within it; then the
// arguments take their places, each as a value of its own, so that f(x, x) has two arguments.
Differentiated differentiate(const Callable<Array(const std::vector<Array>&)>& function,
                             const std::vector<Array>& arrays, const std::vector<bool>& by) {
  std::vector<Array> parameters, gradients_by;
  Copies copies;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const std::string what = fmt::format("argument {}", i);
    const Array given = by[i] ? alias_of(differentiable(arrays[i], what)) : arrays[i];
    const NodePtr& node = node_of(given, what);
    if (by[i]) gradients_by.push_back(given);
    if (!node->is_value()) {  // numbers and sizes are what they are
      parameters.push_back(given);
      continue;
    }
    Expression e{Expression::Kind::Placeholder};
    e.written = "parameter";
    parameters.emplace_back(detail::make_node(node->type, std::make_shared<const Expression>(std::move(e))));
    copies.emplace(parameters.back().node().get(), node);
  }
  const Array made = function(parameters);
  node_of(made, "the result of a function that has a gradient");
  check_value(made, "gradient()");
  substitute(made, copies);
  const Array value = copy_of(made, copies);
  return {value, gradients_of({value}, {Array(1.0)}, gradients_by, "gradient()")};
}

}  // namespace detail

}  // namespace smelt

// Operations whose code is the user's, as arrays.
#include "smelt/custom.hpp"

#include <fmt/format.h>

#include "api/node.hpp"
#include "api/program.hpp"
#include "graph/build_detail.hpp"
#include "graph/custom_code.hpp"
#include "graph/gradient.hpp"

namespace smelt {

namespace detail {

struct CustomState {
  CustomOperation operation;  // without its code
  std::shared_ptr<const CustomCode> code;
};

static std::vector<CustomType> types_of(const CustomState& state, const std::vector<Array>& inputs) {
  const CustomOperation& o = state.operation;
  if (o.outputs) return o.outputs(inputs);
  if (o.output) return {o.output(inputs)};
  std::vector<Size> same;
  for (int axis = 0; axis < inputs[0].ndim(); ++axis) same.push_back(inputs[0].extent(axis));
  return {{inputs[0].dtype(), Sizes(same)}};
}

static std::vector<Array> results_of(const CustomState& state, const std::vector<Array>& inputs) {
  const std::string& name = state.code->name;
  if (inputs.empty()) throw UserError(fmt::format("{} needs at least one array", name));
  for (const Array& input : inputs) node_of(input, name);
  const std::vector<CustomType> types = types_of(state, inputs);
  if (types.empty())
    throw UserError(fmt::format("{} has no results\nhelp: return the type of at least one from outputs", name));
  Expression e{Expression::Kind::Custom};
  e.custom = std::make_shared<const CustomStep>(CustomStep{state.code, inputs.size()});
  e.written = name;
  for (const Array& input : inputs) e.arguments.emplace_back(input);
  for (const CustomType& type : types) {
    e.arguments.emplace_back(type.dtype);
    e.arguments.emplace_back(type.shape);
  }
  std::vector<Array> results;
  for (size_t r = 0; r < types.size(); ++r) {
    e.index = static_cast<int>(r);
    results.push_back(make(e));
  }
  return results;
}

// The user's formula, built into the graph that a gradient is taken in.
static std::vector<NodeId> apply_rule(const std::string& name,
                                      const std::function<std::vector<Array>(const CustomGradient&)>& gradient,
                                      GraphBuilder& b, const std::vector<NodeId>& inputs,
                                      const std::vector<NodeId>& results, const std::vector<NodeId>& cotangents) {
  std::unordered_map<const ArrayNode*, lang::Value> values;
  const auto placeholders = [&](const std::vector<NodeId>& nodes) {
    std::vector<InputType> types;
    for (const NodeId id : nodes) types.push_back({"parameter", b.dtype(id), b.shape(id)});
    std::vector<Array> arrays = placeholders_for(types);
    for (size_t i = 0; i < nodes.size(); ++i) values.emplace(arrays[i].node().get(), lang::Value::array(nodes[i]));
    return arrays;
  };
  const std::vector<Array> made = gradient({placeholders(inputs), placeholders(results), placeholders(cotangents)});
  if (made.size() != inputs.size())
    fail(fmt::format("the gradient of {} has {} arrays for {} inputs", name, made.size(), inputs.size()),
         "return one for each, Array() where there is none");
  std::vector<Array> given;
  for (const Array& array : made)
    if (array.defined()) given.push_back(array);
  const Needed needed = needed_by(given);
  if (!needed.data.empty())
    fail(fmt::format("the gradient of {} uses an array that it is not given", name),
         "make it an input of the operation");
  replay(b, needed, values);
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < made.size(); ++i) {
    nodes.push_back(made[i].defined() ? lang::as_array(b, values.at(made[i].node().get())) : -1);
    if (nodes[i] < 0 || (is_float(b.dtype(nodes[i])) && b.shape(nodes[i]) == b.shape(inputs[i]))) continue;
    fail(fmt::format("the gradient of {} by input {}, {}, is {}", name, i, describe(b.at(inputs[i])),
                     describe(b.at(nodes[i]))),
         "return a float array of the shape of the input");
  }
  return nodes;
}

static void check(const CustomOperation& o) {
  check_name(o.name, "custom");
  const auto refuse = [&](std::string_view what, std::string_view help) {
    throw UserError(fmt::format("the operation {} {}\nhelp: {}", o.name, what, help));
  };
  if (!o.cpu && !o.cuda) refuse("has no code", "give its CustomOperation a cpu function, a cuda kernel, or both");
  if (o.on_host && !o.cpu) refuse("is to run on the host, and has no cpu function", "give its CustomOperation one");
  if (o.output && o.outputs) refuse("has both output and outputs", "give output for one result, outputs for several");
  const std::string_view whole = "it has a source, the name of its function, and a launch function";
  if (o.cuda && o.cuda->source.empty()) refuse("has a cuda kernel without a source", whole);
  if (o.cuda && o.cuda->function.empty()) refuse("has a cuda kernel without the name of its function", whole);
  if (o.cuda && !o.cuda->launch) refuse("has a cuda kernel without a launch function", whole);
}

}  // namespace detail

Custom::Custom(CustomOperation o) {
  detail::check(o);
  std::shared_ptr<const detail::CustomRule> rule;
  if (o.gradient)
    rule = std::make_shared<const detail::CustomRule>(
        detail::CustomRule{[name = o.name, gradient = std::move(o.gradient)](GraphBuilder& b, const auto&... nodes) {
          return detail::apply_rule(name, gradient, b, nodes...);
        }});
  auto code = std::make_shared<const CustomCode>(
      CustomCode{o.name, std::move(o.cpu), std::move(o.cuda), o.on_host, o.pure, std::move(rule)});
  state_ = std::make_shared<const detail::CustomState>(detail::CustomState{std::move(o), std::move(code)});
}

Array Custom::operator()(const std::vector<Array>& inputs) const {
  std::vector<Array> results = all(inputs);
  if (results.size() > 1)
    throw UserError(fmt::format("the operation {} has {} results\nhelp: all(inputs) gives every one of them",
                                state_->code->name, results.size()));
  return results[0];
}

std::vector<Array> Custom::all(const std::vector<Array>& inputs) const {
  if (!state_) throw UserError("this operation was moved from\nhelp: call the one that it was moved to");
  return detail::results_of(*state_, inputs);
}

Array custom(CustomOperation operation, const std::vector<Array>& inputs) {
  return Custom(std::move(operation))(inputs);
}

}  // namespace smelt

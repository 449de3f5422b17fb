// One step of an expression: its type when it is written, its nodes when a graph is built.
#include <fmt/format.h>

#include <cctype>

#include "api/program.hpp"
#include "base/check.hpp"
#include "frontends/invoke.hpp"
#include "graph/build_detail.hpp"
#include "graph/gradient.hpp"

namespace smelt::detail {

using lang::Value;

Argument::Argument(const Axes& axes) {
  if (!axes.given()) return;
  if (axes.items().size() == 1)
    *this = Argument(axes.items()[0]);
  else
    *this = tuple(axes.items());
}

Argument::Argument(Approximate a) : Argument(std::string_view(a == Approximate::None ? "none" : "tanh")) {}

Argument::Argument(Reduction reduction) : kind(Kind::Text) {
  switch (reduction) {
    case Reduction::Mean: text = "mean"; return;
    case Reduction::Sum: text = "sum"; return;
    case Reduction::None: text = "none"; return;
  }
}

Argument::Argument(OutOfRange mode) : kind(Kind::Text) {
  switch (mode) {
    case OutOfRange::Raise: text = "raise"; return;
    case OutOfRange::Clip: text = "clip"; return;
    case OutOfRange::Wrap: text = "wrap"; return;
    case OutOfRange::Drop: text = "drop"; return;
  }
}

Argument::Argument(Precision precision) : kind(Kind::Text) {
  switch (precision) {
    case Precision::Full: text = "full"; return;
    case Precision::Tf32: text = "tf32"; return;
    case Precision::Bf16x3: text = "bf16x3"; return;
  }
}

Argument::Argument(PadMode mode) : kind(Kind::Text) {
  switch (mode) {
    case PadMode::Constant: text = "constant"; return;
    case PadMode::Edge: text = "edge"; return;
    case PadMode::Reflect: text = "reflect"; return;
    case PadMode::Symmetric: text = "symmetric"; return;
    case PadMode::Wrap: text = "wrap"; return;
  }
}

Argument::Argument(const PadWidth& width) {
  std::vector<Argument> pairs;
  for (const PadWidth::Pair& pair : width.pairs()) pairs.push_back(tuple(std::vector<Size>{pair.before, pair.after}));
  *this = width.per_axis() ? tuple(pairs) : pairs[0];
}

Argument::Argument(const IndexList& list) {
  if (list.listed())
    *this = tuple(list.items());
  else if (list.index())
    *this = Argument(*list.index());
  else if (list.array())
    kind = Kind::Node, node = list.array();
}
Argument::Argument(const Index& index) {
  switch (index.kind()) {
    case Index::Kind::Element: *this = Argument(*index.slice().start); return;
    case Index::Kind::Slice:
      kind = Kind::Slice;
      items = {index.slice().start, index.slice().stop, index.slice().step};
      return;
    case Index::Kind::Ellipsis: kind = Kind::Ellipsis; return;
    case Index::Kind::NewAxis: return;  // None
    case Index::Kind::Array:
      kind = Kind::Node;
      node = index.indices();
      return;
  }
}

Value value_of(const Argument& a, const std::function<Value(const NodePtr&)>& value_of_node) {
  const auto items = [&] {
    std::vector<Value> values;
    for (const Argument& item : a.items) values.push_back(value_of(item, value_of_node));
    return values;
  };
  switch (a.kind) {
    case Argument::Kind::None: return Value();
    case Argument::Kind::Node: return value_of_node(a.node);
    case Argument::Kind::Integer: return Value::integer(a.integer);
    case Argument::Kind::Number: return Value(Literal(a.number));
    case Argument::Kind::Flag: return Value(Literal(a.integer != 0));
    case Argument::Kind::Type: return Value(a.type);
    case Argument::Kind::Text: return Value(lang::Text{a.text});
    case Argument::Kind::Tuple: return Value::tuple(items());
    case Argument::Kind::Slice: return Value(lang::Bounds{std::make_shared<const std::vector<Value>>(items())});
    case Argument::Kind::Ellipsis: return Value(lang::Dots{});
  }
  throw InternalError("an argument of no kind");
}

// The outermost name is the one that is shown.
template <class F>
static Value under_name(GraphBuilder& b, const std::string& name, F&& part) {
  if (!b.function().empty()) return part();
  b.set_function(lang::shown(name));
  Value value = part();
  b.set_function({});
  return value;
}

static CustomUse::Result result_type(const GraphBuilder& b, const Value& dtype, const Value& sizes) {
  CustomUse::Result result{*dtype.as<DType>(), {}};
  for (const Value& size : *sizes.as<lang::Tuple>()->items) {
    const auto known = lang::as_size(size);
    if (!known) fail(fmt::format("a size of its result is {}", lang::describe(b, size)), "sizes are integers");
    result.shape.push_back(*known);
  }
  return result;
}

static Value build_custom(GraphBuilder& b, const Expression& e, const std::vector<Value>& arguments,
                          BuiltSteps& built) {
  const auto [call, fresh] = built.custom.try_emplace(e.custom.get());
  if (fresh) {
    std::vector<NodeId> inputs;
    std::vector<CustomUse::Result> results;
    for (size_t i = 0; i < e.custom->inputs; ++i) inputs.push_back(lang::as_array(b, arguments[i]));
    for (size_t i = e.custom->inputs; i < arguments.size(); i += 2)
      results.push_back(result_type(b, arguments[i], arguments[i + 1]));
    call->second = b.custom(e.custom->code, std::move(inputs), std::move(results));
  }
  return Value::array(b.custom_result(call->second, e.index));
}

// One sweep for all results of the step.
static Value build_gradient(GraphBuilder& b, const Expression& e, const std::vector<Value>& arguments,
                            BuiltSteps& built) {
  const auto [made, fresh] = built.gradients.try_emplace(e.gradient.get());
  if (fresh) {
    const size_t n = e.gradient->values;
    std::vector<NodeId> values, cotangents, by;
    for (size_t i = 0; i < arguments.size(); ++i)
      (i < n ? values : i < 2 * n ? cotangents : by).push_back(lang::as_array(b, arguments[i]));
    made->second = vector_jacobian_product(b, values, cotangents, by);
  }
  return Value::array(made->second[static_cast<size_t>(e.index)]);
}

static Value build_body(GraphBuilder& b, const NamedBody& body, const std::vector<Value>& arguments) {
  std::unordered_map<const ArrayNode*, Value> values;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (body.placeholders[i]) values.emplace(body.placeholders[i].get(), arguments[i]);
  replay(b, body.needed, values);
  return values.at(body.result.node().get());
}

Origin origin_of(const Expression& e) {
  return e.where ? Origin{.line = e.where->line(), .file = e.where->file()} : Origin{};
}

Value build(GraphBuilder& b, const Expression& e, const std::vector<Value>& arguments, BuiltSteps& built) {
  b.set_origin(origin_of(e), std::string(e.written));
  switch (e.kind) {
    case Expression::Kind::Function: return lang::invoke(b, *e.function, e.written, arguments);
    case Expression::Kind::Operator: return lang::apply(b, e.op, arguments, e.written);
    case Expression::Kind::Subscript: {
      const Value x = arguments[0].as<lang::Array>() ? arguments[0] : Value::array(lang::as_array(b, arguments[0]));
      return lang::subscript(b, x, arguments[1]);
    }
    case Expression::Kind::Extent: {
      const Shape& shape = b.shape(lang::as_array(b, arguments[0]));
      return Value::size(shape[static_cast<size_t>(b.normalize_axis(e.index, static_cast<int>(shape.size())))]);
    }
    case Expression::Kind::Scalar:
      return under_name(b, e.scalar->name, [&] { return e.scalar->function.build(b, arguments); });
    case Expression::Kind::Named: return under_name(b, e.body->name, [&] { return build_body(b, *e.body, arguments); });
    case Expression::Kind::Custom: return build_custom(b, e, arguments, built);
    case Expression::Kind::Alias: return Value::array(b.alias(lang::as_array(b, arguments[0])));
    case Expression::Kind::Gradient: return build_gradient(b, e, arguments, built);
    case Expression::Kind::Placeholder: break;
  }
  throw InternalError("a placeholder is no step");
}

namespace {

Type type_of(const GraphBuilder& b, const Value& value) {
  Type type;
  if (const auto* literal = value.as<Literal>()) {
    type.kind = Type::Kind::Literal;
    type.dtype = default_dtype(*literal);
    type.literal = *literal;
  } else if (const auto* size = value.as<lang::Size>()) {
    type.kind = Type::Kind::Size;
    type.dtype = DType::I64;
    type.size = size->expr;
  } else {
    const auto* array = value.as<lang::Array>();
    SMELT_CHECK(array, "a step that makes no array");
    type.kind = array->weak ? Type::Kind::Weak : Type::Kind::Array;
    type.dtype = b.dtype(array->node);
    type.shape = b.shape(array->node);
  }
  return type;
}

// The arguments as inputs of a graph that is thrown away. Names are those of the function's
// parameters, for messages.
class Declared {
 public:
  Declared(GraphBuilder& builder, const Expression& e) : b_(builder), e_(e) {}

  std::vector<Value> values() {
    std::vector<Value> result;
    for (position_ = 0; position_ < e_.arguments.size(); ++position_) {
      item_ = 0;
      result.push_back(value_of(e_.arguments[position_], [&](const NodePtr& node) { return declare(*node); }));
    }
    return result;
  }

 private:
  Value declare(const ArrayNode& node) {
    switch (node.type.kind) {
      case Type::Kind::Literal: return Value(node.type.literal);
      case Type::Kind::Size: return Value::size(node.type.size);
      case Type::Kind::Array:
      case Type::Kind::Weak: break;
    }
    const auto made = node.expression();  // a parameter that the user named has that name
    const std::string written = made && !made->name.empty() ? made->name : name();
    return Value(lang::Array{b_.input(written, node.type.dtype, node.type.shape), node.type.kind == Type::Kind::Weak});
  }

  std::string name() {
    if (e_.kind == Expression::Kind::Function && position_ < e_.function->parameters.size()) {
      const std::string_view parameter = e_.function->parameters[position_].name;
      const bool list = e_.arguments[position_].kind == Argument::Kind::Tuple;
      return list ? fmt::format("{}[{}]", parameter, item_++) : std::string(parameter);
    }
    if (e_.kind == Expression::Kind::Scalar) {
      const auto& parameters = e_.scalar->function.parameters();
      if (position_ < parameters.size()) return std::string(parameters[position_].name);
    }
    if (e_.kind == Expression::Kind::Operator) return std::string(1, static_cast<char>('a' + position_));
    return position_ == 0 ? "x" : "indices";
  }

  GraphBuilder& b_;
  const Expression& e_;
  size_t position_ = 0, item_ = 0;  // of an argument; of an array in the list that it is
};

}  // namespace

// The position of the parenthesis that closes the one before `at`; npos where none does.
static size_t closing(std::string_view text, size_t at) {
  for (int open = 1; at < text.size(); ++at) {
    if (text[at] == '(') ++open;
    if (text[at] == ')' && --open == 0) return at;
  }
  return std::string_view::npos;
}

// What the language writes, as C++ does: examples, and casts, astype(x, DType::F32) for f32(x).
static std::string in_cpp(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kExamples[] = {
      {"x[0][:, indices]", "x[0][{slice(), indices}]"},
      {"x[[0, 2]][:, [1, 3]]", "x[i][{slice(), j}]"},
      {", not None", ", not an empty Array"},
      {"x.mT turns", "x.mT() turns"},
  };
  for (const auto& [language, cpp] : kExamples)
    if (const size_t at = text.find(language); at != std::string::npos) text.replace(at, language.size(), cpp);
  for (const DType dtype : kAllDTypes) {
    const std::string cast = fmt::format("{}(", name_of(dtype));
    std::string constant(name_of(dtype));
    std::erase(constant, '_');
    for (size_t i = 0; i < (is_bool(dtype) ? 1 : constant.size()); ++i)
      constant[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(constant[i])));
    for (size_t at = 0; (at = text.find(cast, at)) != std::string::npos;) {
      const size_t inner = at + cast.size(), close = closing(text, inner);
      const bool starts = at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
      if (!starts || close == std::string::npos) {
        at = inner;
        continue;
      }
      text.replace(close, 1, fmt::format(", DType::{})", constant));
      text.replace(at, cast.size(), "astype(");
      at += 7;
    }
  }
  return text;
}

Array make(Expression e) {
  GraphBuilder scratch;
  try {
    const std::vector<Value> arguments = Declared(scratch, e).values();
    BuiltSteps built;
    Type type = type_of(scratch, build(scratch, e, arguments, built));
    return Array(make_node(std::move(type), std::make_shared<const Expression>(std::move(e))));
  } catch (const UserBuildError& error) {
    const std::string& message = error.error.message;
    const bool named = e.kind == Expression::Kind::Subscript || message.find(e.written) != std::string::npos;
    const std::string help = error.error.help.empty() ? "" : "\nhelp: " + error.error.help;
    throw UserError(in_cpp(named ? message : fmt::format("{}: {}", e.written, message)) + place_text(e.where) +
                    in_cpp(help));
  }
}

Array call(std::string_view function, std::vector<Argument> arguments, Where where) {
  Expression e{Expression::Kind::Function};
  e.function = lang::function_named(function);
  SMELT_CHECK(e.function, "the language has no function {}", function);
  e.written = function;
  e.arguments = std::move(arguments);
  e.where = where;
  return make(std::move(e));
}

}  // namespace smelt::detail

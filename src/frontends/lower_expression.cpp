// Expressions: what each is on the values of its parts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/nearest.hpp"
#include "frontends/function_table.hpp"
#include "frontends/gradients.hpp"
#include "frontends/lowering.hpp"
#include "frontends/names_elsewhere.hpp"
#include "frontends/parser.hpp"
#include "graph/functions.hpp"
#include "graph/gradient.hpp"

namespace smelt::lang {

static bool is_property(std::string_view name) {
  return name == "T" || name == "mT" || name == "shape" || name == "ndim" || name == "size" || name == "dtype";
}

static Op binary_op(std::string_view text) {
  constexpr std::pair<std::string_view, Op> kTable[] = {
      {"+", Op::Add},        {"-", Op::Sub},         {"*", Op::Mul}, {"/", Op::Div},   {"//", Op::FloorDiv},
      {"%", Op::Mod},        {"**", Op::Pow},        {"&", Op::And}, {"|", Op::Or},    {"^", Op::Xor},
      {"<<", Op::ShiftLeft}, {">>", Op::ShiftRight}, {"==", Op::Eq}, {"!=", Op::Ne},   {"<", Op::Lt},
      {"<=", Op::Le},        {">", Op::Gt},          {">=", Op::Ge}, {"and", Op::And}, {"or", Op::Or}};
  for (const auto& [operator_text, op] : kTable)
    if (operator_text == text) return op;
  throw InternalError(fmt::format("no operation for the operator {}", text));
}

Value Lowering::evaluate(const Expr& e) {
  switch (e.kind) {
    case ExprKind::Number: return Value(e.literal);
    case ExprKind::Unsigned: {
      const auto bits = static_cast<uint64_t>(std::get<int64_t>(e.literal));
      return Value::array(b_.constant(Scalar::of_uint(DType::U64, bits)));
    }
    case ExprKind::Text: return Value(Text{e.text});
    case ExprKind::None: return Value();
    case ExprKind::Ellipsis: return Value(Dots{});
    case ExprKind::Name: return name(e);
    case ExprKind::Tuple: return Value::tuple(items_of(e.args));
    case ExprKind::Slice: return Value(Bounds{std::make_shared<const std::vector<Value>>(items_of(e.args))});
    case ExprKind::Attribute: return attribute(e);
    case ExprKind::Call: return call(e);
    case ExprKind::Unary: return unary(e);
    case ExprKind::Binary: return binary(e);
    case ExprKind::Compare: return compare(e);
    case ExprKind::Conditional: return conditional(e);
    case ExprKind::Each: return each(e);
    case ExprKind::Open: break;
    case ExprKind::Index: mark(e, "[]"); return subscript(b_, value_of(e.args[0]), value_of(e.args[1]));
  }
  throw InternalError("an expression of no kind");
}

std::vector<Value> Lowering::items_of(const std::vector<ExprId>& ids) const {
  std::vector<Value> items;
  for (ExprId id : ids) items.push_back(id == kAbsent ? Value() : value_of(id));
  return items;
}

Value Lowering::name(const Expr& e) {
  const std::string text(e.text);
  if (const auto found = variables_.find(text); found != variables_.end()) return found->second;
  if (sizes_.contains(text)) return Value::size(IntExpr::symbol(Symbol::size(text)));
  if (const auto dtype = dtype_named(e.text)) return Value(*dtype);
  if (e.text == "inf") return Value(Literal(HUGE_VAL));
  if (e.text == "nan") return Value(Literal(std::nan("")));
  if (e.text == "pi") return Value(Literal(std::numbers::pi));
  if (const Function* function = function_named(e.text))
    return Value(Callable{function, name_in_table(*function, e.text), nullptr});
  if (const UserFunction* function = callable_here(e))
    return Value(Callable{nullptr, function->name, nullptr, function});
  fail_unknown(e);
}

// "; the inputs that are given are y, z"
std::string Lowering::given_names() const {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, given_.size()); ++i) text += (i ? ", " : "") + shown(given_[i].name);
  if (given_.empty()) return "";
  return fmt::format("; given {} {}{}", given_.size() == 1 ? "is" : "are", text, given_.size() > kMost ? ", ..." : "");
}

void Lowering::fail_unknown(const Expr& e) {
  std::vector<std::string> known;
  if (e.called) {
    for (const Function& f : functions())
      for (std::string_view n : f.names) known.emplace_back(n);
    for (const std::string& n : defined_.names()) known.push_back(n);
  } else {
    for (const auto& [n, value] : variables_) known.push_back(n);
    known.insert(known.end(), sizes_.begin(), sizes_.end());
    known.insert(known.end(), {"inf", "nan", "pi", "True", "False", "None"});
  }
  std::sort(known.begin(), known.end());
  const std::string near = nearest(e.text, known);
  std::string help = near.empty() ? "" : fmt::format("did you mean {}?", shown(near));
  constexpr std::string_view kPrefixes[] = {"np", "numpy", "torch", "F", "jnp", "math", "nn", "linalg"};
  if (std::find(std::begin(kPrefixes), std::end(kPrefixes), e.text) != std::end(kPrefixes))
    help = "functions have no prefix: exp(x)";
  else if (e.called && !instead_of(e.text).empty())
    help = instead_of(e.text);
  else if (help.empty() && !calls_.empty() && !e.called)
    help = fmt::format("the function {} sees only its parameters: make it one", quoted(calls_.back()->name));
  else if (help.empty() && e.called)
    help = "docs/language.md lists the functions; `smelt ops NAME` describes one";
  else if (help.empty() && function_named(e.text) == nullptr)
    help = declares_ ? fmt::format("declare it: input {}: f32[N]", shown(e.text))
                     : fmt::format("give it a type: -i {}=f32[1024]{}", shown(e.text), given_names());
  source_.fail(e.span, fmt::format("there is no {}{}", e.called ? "function " : "", quoted(e.text)), help);
}

Value Lowering::attribute(const Expr& e) {
  const Value& base = value_of(e.args[0]);
  if (!base.as<Array>() && !base.as<Literal>() && !base.as<Size>())
    source_.fail(e.span, fmt::format("{} has no attribute {}", describe(b_, base), quoted(e.text)),
                 "only arrays have attributes: T mT shape ndim size dtype, and the functions as methods");
  mark(e, e.called ? std::string_view("method") : std::string_view("attribute"));
  if (!e.called)
    if (const auto value = property(e, base)) return *value;
  if (const Function* function = function_named(e.text))
    return Value(Callable{function, name_in_table(*function, e.text), std::make_shared<const Value>(base)});
  if (const UserFunction* function = callable_here(e))
    return Value(Callable{nullptr, function->name, std::make_shared<const Value>(base), function});
  std::vector<std::string> known = {"T", "mT", "shape", "ndim", "size", "dtype"};
  for (const Function& f : functions())
    for (std::string_view n : f.names) known.emplace_back(n);
  const std::string near = nearest(e.text, known);
  if (e.called && is_property(e.text))
    source_.fail(e.span, fmt::format("{} is not a function", quoted(e.text)),
                 e.text == "size" ? "write x.size, or x.shape[0] for one axis" : fmt::format("write x.{}", e.text));
  if (e.called && dtype_named(e.text))
    source_.fail(e.span, fmt::format("an array has no method {}", quoted(e.text)), fmt::format("write {}(x)", e.text));
  if (!instead_of(e.text).empty())
    source_.fail(e.span, fmt::format("an array has no {} {}", e.called ? "method" : "attribute", quoted(e.text)),
                 std::string(instead_of(e.text)));
  source_.fail(e.span, fmt::format("an array has no attribute {}", quoted(e.text)),
               near.empty() ? "arrays have T mT shape ndim size dtype, and the functions as methods"
                            : fmt::format("did you mean {}?", near));
}

std::optional<Value> Lowering::property(const Expr& e, const Value& base) {
  if (!is_property(e.text)) return std::nullopt;
  const NodeId x = as_array(b_, base);
  const Shape shape = b_.shape(x);
  if (e.text == "ndim") return Value::integer(static_cast<int64_t>(shape.size()));
  if (e.text == "dtype") return Value(b_.dtype(x));
  if (e.text == "size") return Value::size(count(shape));
  if (e.text == "shape") {
    std::vector<Value> sizes;
    for (const IntExpr& size : shape) sizes.push_back(Value::size(size));
    return Value::tuple(std::move(sizes));
  }
  mark(e, e.text == "T" ? ".T" : ".mT");
  return Value::array(e.text == "T" ? functions::transpose(b_, x, {}) : functions::swapaxes(b_, x, -2, -1));
}

Value Lowering::call(const Expr& e) {
  const Value& callee = value_of(e.args[0]);
  std::vector<Given> given;
  const auto* callable = callee.as<Callable>();
  if (callable && callable->receiver)
    given.push_back({{}, program_.at(program_.at(e.args[0]).args[0]).span, *callable->receiver});
  for (const Argument& a : e.arguments) given.push_back({a.name, a.span, value_of(a.value)});
  if (const auto* dtype = callee.as<DType>()) return cast_call(e, *dtype, given);
  if (!callable)
    source_.fail(program_.at(e.args[0]).span, fmt::format("{} is not a function", describe(b_, callee)),
                 e.arguments.empty() ? "" : "a product needs *");
  return call_function(e, *callable, given);
}

Value Lowering::call_function(const Expr& e, const Callable& callable, const std::vector<Given>& given) {
  if (callable.derivative) return call_derivative(e, *callable.derivative, given);
  mark(e, callable.user ? std::string_view() : callable.name);
  if (callable.user) return call_defined(e, *callable.user, given);
  return Call(b_, source_, *callable.function, callable.name, e.span, given).build();
}

// Each array that the gradient is by is a node of its own while the function is written out,
// so that f(x, x) has two arguments.
Value Lowering::call_derivative(const Expr& e, const Derivative& derivative, std::vector<Given> given) {
  std::vector<NodeId> by;
  for (const int64_t i : derivative.arguments) {
    if (i < 0 || static_cast<size_t>(i) >= given.size() || !given[static_cast<size_t>(i)].name.empty())
      source_.fail(e.span,
                   fmt::format("the gradient of {} is by argument {}, which this call does not give by position",
                               derivative.of.name, i),
                   "arguments count from 0");
    Given& argument = given[static_cast<size_t>(i)];
    located(argument.span, [&] { argument.value = aliased(b_, argument.value, by); });
  }
  const Value value = call_function(e, derivative.of, given);
  mark(e, "gradient");
  const NodeId number = as_array(b_, value);
  const std::vector<NodeId> gradients = smelt::gradient(b_, number, by);
  std::vector<Value> results;
  auto next = gradients.begin();
  for (const int64_t i : derivative.arguments) results.push_back(of_shape(given[static_cast<size_t>(i)].value, next));
  Value result = derivative.several ? Value::tuple(std::move(results)) : results.at(0);
  return derivative.with_value ? Value::tuple({Value::array(number), std::move(result)}) : result;
}

Value Lowering::cast_call(const Expr& e, DType dtype, const std::vector<Given>& given) {
  if (given.size() != 1 || !given[0].name.empty())
    source_.fail(e.span, fmt::format("the cast {} takes one argument, not {}", name_of(dtype), given.size()),
                 fmt::format("write {}(x)", name_of(dtype)));
  mark(e, name_of(dtype));
  return cast(b_, given[0].value, dtype);
}

Value Lowering::unary(const Expr& e) {
  const Value& x = value_of(e.args[0]);
  mark(e, e.text);
  if (e.text == "not") {
    check_bool(e, e.args[0]);
    return apply(b_, Op::Not, {x}, "'not'");
  }
  if (e.text == "~") return apply(b_, Op::Not, {x}, "~");
  if (e.text == "-") return apply(b_, Op::Neg, {x}, "-");
  if (!x.as<Array>()) return apply(b_, Op::Add, {Value::integer(0), x}, "+");
  if (is_bool(b_.dtype(x.as<Array>()->node))) fail("+ takes numbers, not bools", "cast them: i32(x)");
  return x;
}

Value Lowering::binary(const Expr& e) {
  const Value &x = value_of(e.args[0]), &y = value_of(e.args[1]);
  mark(e, e.text);
  if (e.text == "@") return Value::array(functions::matmul(b_, as_array(b_, x), as_array(b_, y), "@"));
  if (e.text == "and" || e.text == "or") check_bool(e, e.args[0]), check_bool(e, e.args[1]);
  const auto *left = x.as<Tuple>(), *right = y.as<Tuple>();
  if (left && right && e.text == "+") {
    std::vector<Value> items = *left->items;
    items.insert(items.end(), right->items->begin(), right->items->end());
    if (items.size() > 4096) fail("this tuple has more than 4096 items", "");
    return Value::tuple(std::move(items));
  }
  try {
    return apply(b_, binary_op(e.text), {x, y}, e.text);
  } catch (const UserBuildError& error) {
    // a > 0 & b > 0 groups as a > (0 & b) > 0, which surprises everyone once.
    const bool bits = e.text == "&" || e.text == "|";
    if (!bits || !error.error.message.starts_with(e.text)) throw;
    fail(error.error.message,
         fmt::format("{0} has a higher precedence than comparisons: write (a > 0) {0} (b > 0)", e.text));
  }
}

void Lowering::check_bool(const Expr& e, ExprId id) {
  const Value& x = value_of(id);
  const auto* literal = x.as<Literal>();
  const bool fits =
      literal ? std::holds_alternative<bool>(*literal) : x.as<Array>() && is_bool(b_.dtype(x.as<Array>()->node));
  if (!fits)
    source_.fail(program_.at(id).span, fmt::format("'{}' takes bools, not {}", e.text, describe(b_, x)),
                 "compare first, as in x != 0");
}

Value Lowering::compare(const Expr& e) {
  Value result;
  for (size_t i = 0; i < e.operators.size(); ++i) {
    mark(e, e.operators[i]);
    const Value &x = value_of(e.args[i]), &y = value_of(e.args[i + 1]);
    Value one = x.as<DType>() && y.as<DType>() ? same_type(e.operators[i], *x.as<DType>(), *y.as<DType>())
                                               : apply(b_, binary_op(e.operators[i]), {x, y}, e.operators[i]);
    result = i == 0 ? std::move(one) : apply(b_, Op::And, {result, one}, "'and'");
  }
  return result;
}

Value Lowering::same_type(std::string_view op, DType x, DType y) {
  if (op != "==" && op != "!=") fail("types are not ordered", "== and != compare them");
  return Value(Literal((x == y) == (op == "==")));
}

Value Lowering::conditional(const Expr& e) {
  const Value& condition = value_of(e.args[1]);
  mark(e, "if else");
  const auto* literal = condition.as<Literal>();
  if (const auto* known = literal ? std::get_if<bool>(literal) : nullptr) return value_of(e.args[*known ? 0 : 2]);
  return apply(b_, Op::Where, {condition, value_of(e.args[0]), value_of(e.args[2])}, "if else");
}

Value Lowering::each(const Expr& e) {
  std::vector<std::shared_ptr<const std::vector<Value>>> lists;
  for (const ExprId id : e.args) {
    const auto* list = value_of(id).as<Tuple>();
    if (!list)
      source_.fail(program_.at(id).span, fmt::format("{} is not a list", describe(b_, value_of(id))),
                   "lists are inputs such as list[f32[N]], and comprehensions: [x * 2 for x in xs]");
    lists.push_back(list->items);
    if (lists.back()->size() != lists[0]->size())
      source_.fail(
          program_.at(id).span,
          fmt::format("a list of {} items is iterated together with one of {}", lists.back()->size(), lists[0]->size()),
          "zip takes lists of one length");
  }
  const bool unpack = lists.size() == 1 && e.targets.size() > 1;
  if (lists.empty() || (!unpack && lists.size() != e.targets.size()))
    source_.fail(e.span, fmt::format("{} names for the items of {} lists", e.targets.size(), lists.size()),
                 "each list needs a name for its items: for x, y in zip(xs, ys)");
  std::unordered_map<std::string, Value> hidden;
  for (const Target& target : e.targets)
    if (const auto known = variables_.find(std::string(target.name)); known != variables_.end()) hidden.insert(*known);
  std::vector<Value> results;
  for (size_t i = 0; i < lists[0]->size(); ++i) {
    const auto* parts = unpack ? (*lists[0])[i].as<Tuple>() : nullptr;
    if (unpack && (!parts || parts->items->size() != e.targets.size()))
      source_.fail(e.span, fmt::format("{} names for {}", e.targets.size(), describe(b_, (*lists[0])[i])),
                   "every item must be a tuple with a part for each name");
    for (size_t t = 0; t < e.targets.size(); ++t)
      declare(e.targets[t].name, e.targets[t].span, unpack ? (*parts->items)[t] : (*lists[t])[i]);
    evaluate(e.first, e.last);
    results.push_back(value_of(e.body));
  }
  for (const Target& target : e.targets) {
    const std::string name(target.name);
    if (const auto before = hidden.find(name); before != hidden.end())
      variables_.insert_or_assign(name, before->second);
    else
      variables_.erase(name);
  }
  return Value::tuple(std::move(results));
}

}  // namespace smelt::lang

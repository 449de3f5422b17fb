// A program into a graph. Expressions are evaluated in the order of their list, arguments first, without recursion.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <unordered_map>

#include "frontends/ast.hpp"
#include "frontends/call.hpp"
#include "frontends/diagnostics.hpp"
#include "frontends/function_table.hpp"
#include "frontends/language.hpp"
#include "frontends/parser.hpp"
#include "frontends/user_function.hpp"
#include "frontends/value.hpp"
#include "graph/build_detail.hpp"
#include "graph/functions.hpp"

namespace smelt::lang {

namespace {

Op binary_op(std::string_view text) {
  constexpr std::pair<std::string_view, Op> kTable[] = {
      {"+", Op::Add},        {"-", Op::Sub},         {"*", Op::Mul}, {"/", Op::Div},   {"//", Op::FloorDiv},
      {"%", Op::Mod},        {"**", Op::Pow},        {"&", Op::And}, {"|", Op::Or},    {"^", Op::Xor},
      {"<<", Op::ShiftLeft}, {">>", Op::ShiftRight}, {"==", Op::Eq}, {"!=", Op::Ne},   {"<", Op::Lt},
      {"<=", Op::Le},        {">", Op::Gt},          {">=", Op::Ge}, {"and", Op::And}, {"or", Op::Or}};
  for (const auto& [operator_text, op] : kTable)
    if (operator_text == text) return op;
  throw InternalError(fmt::format("no operation for the operator {}", text));
}

constexpr size_t kMostCalls = 64;  // within each other

class Lowering {
 public:
  Lowering(const Source& source, const Program& program, const std::vector<InputType>& given)
      : source_(source), program_(program), given_(given), values_(program.exprs.size()) {}

  Graph run() {
    declares_ = std::any_of(program_.statements.begin(), program_.statements.end(),
                            [](const Statement& s) { return s.kind == StatementKind::Input; });
    if (!declares_) take_given_inputs();
    for (const Statement& s : program_.statements) statement(s);
    if (!returned_) fail_no_result();
    check_given_names();
    return b_.finish(std::move(outputs_), std::string(source_.text()));
  }

 private:
  // ---- statements

  void statement(const Statement& s) {
    if (returned_) source_.fail(s.span, "nothing may follow the result", "a program has one return, at its end");
    evaluate(s.first, s.last);
    switch (s.kind) {
      case StatementKind::Input: return input(s);
      case StatementKind::Assign: return assign(s);
      case StatementKind::Return: return result(s);
      case StatementKind::Define: return define(s);
      case StatementKind::Foreign: return define_foreign(s);
      case StatementKind::Expression:
        if (&s != &program_.statements.back())
          source_.fail(program_.at(s.value).span, "this value is not used", "give it a name, NAME = ..., or return it");
        return result(s);
    }
  }

  void evaluate(ExprId first, ExprId last) {
    for (ExprId id = first; id < last; ++id) {
      const Expr& e = program_.at(id);
      if (!calls_.empty() && ++expanded_ > kMaxExpressions)
        source_.fail(e.span,
                     fmt::format("the functions of this program become more than {} expressions", kMaxExpressions),
                     "call them less often");
      if (e.kind != ExprKind::Open)
        located(e.span, [&] { values_[static_cast<size_t>(id)] = evaluate(e); });
      else if (e.last != kAbsent)
        id = e.last - 1;
    }
  }

  // Runs a part of the building, and gives errors that know no place this one.
  template <class F>
  void located(Span span, F&& part) {
    try {
      part();
    } catch (const UserBuildError& e) {
      source_.fail(span, e.error.message, e.error.help);
    } catch (const ReportedError&) {
      throw;
    } catch (const UserError& e) {
      source_.fail(span, e.what());
    }
  }

  void declare(std::string_view name, Span span, Value value) {
    if (sizes_.contains(std::string(name)))
      source_.fail(span, fmt::format("{} is the name of a size already", quoted(name)), "choose another name");
    if (dtype_named(name)) source_.fail(span, fmt::format("'{}' is the name of a type", name), "choose another name");
    if (const UserFunction* function = defined_.find(name))
      source_.fail(
          span, fmt::format("{} is the function defined on line {}", quoted(name), source_.origin(function->span).line),
          "choose another name");
    variables_.insert_or_assign(std::string(name), std::move(value));
  }

  void declare_sizes(const Shape& shape, Span span) {
    for (const IntExpr& size : shape) {
      std::vector<std::string> symbols;
      size.collect_symbols(symbols);
      for (const std::string& symbol : symbols) {
        if (variables_.contains(symbol))
          source_.fail(span, fmt::format("the size {} has the name of a variable", quoted(symbol)),
                       "choose another name");
        sizes_.insert(symbol);
      }
    }
  }

  void input(const Statement& s) {
    const Target& target = s.targets[0];
    if (!input_names_.insert(std::string(target.name)).second)
      source_.fail(target.span, fmt::format("the input {} is declared twice", quoted(target.name)),
                   "choose another name");
    declare_sizes(s.type.shape, s.type_span);
    if (s.list) return list_input(s);
    const ArrayType type = closed(s, given_for(target.name));
    if (const InputType* given = given_for(target.name)) check_given(*given, s, type);
    located(s.type_span, [&] {
      b_.set_origin(source_.origin(target.span), "input");
      declare(target.name, target.span, Value::array(b_.input(std::string(target.name), type.dtype, type.shape)));
    });
  }

  // An input for every item: "xs[0]", "xs[1]", ...
  void list_input(const Statement& s) {
    const Target& target = s.targets[0];
    const auto item = [&](int64_t i) { return fmt::format("{}[{}]", target.name, i); };
    int64_t count = s.count;
    if (count < 0) {
      for (count = 0; given_for(item(count)); ++count) {
      }
      count = std::max<int64_t>(count, 1);  // not knowing it
    }
    std::vector<Value> items;
    for (int64_t i = 0; i < count; ++i) {
      const std::string name = item(i);
      const InputType* given = given_for(name);
      input_names_.insert(name);
      // Every item has sizes of its own where "..." stands.
      const ArrayType type = closed(s, given, i);
      if (given) check_given(*given, s, type);
      located(s.type_span, [&] {
        b_.set_origin(source_.origin(target.span), "input");
        items.push_back(Value::array(b_.input(name, type.dtype, type.shape)));
      });
    }
    declare(target.name, target.span, Value::tuple(std::move(items)));
  }

  const InputType* given_for(std::string_view name) const {
    const auto found =
        std::find_if(given_.begin(), given_.end(), [&](const InputType& given) { return given.name == name; });
    return found == given_.end() ? nullptr : &*found;
  }

  // The dimensions that "..." stands for are those of the caller's array. Not knowing it, they are one dimension.
  ArrayType closed(const Statement& s, const InputType* given, int64_t item = -1) const {
    ArrayType type = s.type;
    if (!s.open) return type;
    if (!given) {
      type.shape.insert(type.shape.begin(), IntExpr::symbol(item < 0 ? "..." : fmt::format("...{}", item)));
    } else if (given->shape.size() >= type.shape.size()) {
      const auto front = given->shape.end() - static_cast<std::ptrdiff_t>(type.shape.size());
      type.shape.insert(type.shape.begin(), given->shape.begin(), front);
    }
    return type;
  }

  // The array that the caller has against the type that the program declares.
  void check_given(const InputType& given, const Statement& s, const ArrayType& type) {
    bool fits = given.dtype == type.dtype && given.shape.size() == type.shape.size();
    for (size_t d = 0; fits && d < given.shape.size(); ++d) {
      const auto have = given.shape[d].constant(), want = type.shape[d].constant();
      fits = !have || !want || *have == *want;
    }
    if (fits) return;
    const std::string name = s.list ? given.name : shown(s.targets[0].name),
                      have = smelt::describe(given.dtype, given.shape);
    source_.fail(
        s.type_span, fmt::format("the input '{}' is declared {}, but given {}", name, source_.text(s.type_span), have),
        given.dtype != type.dtype ? fmt::format("declare it {}: {}, or convert the data", name, have)
                                  : "give an array of this shape, or use a name for a size that varies: f32[B, 1024]");
  }

  // Without declarations the free names are the caller's inputs.
  void take_given_inputs() {
    for (const InputType& given : given_) {
      const Span start{0, 0};
      declare_sizes(given.shape, start);
      located(start, [&] {
        b_.set_origin({}, "input");
        declare(given.name, start, Value::array(b_.input(given.name, given.dtype, given.shape)));
      });
    }
  }

  void check_given_names() {
    if (!declares_) return;
    std::vector<std::string> names(input_names_.begin(), input_names_.end());
    for (const InputType& given : given_) {
      if (input_names_.contains(given.name)) continue;
      const std::string near = nearest(given.name, names);
      throw UserError(fmt::format("error: the program has no input {}{}", quoted(given.name),
                                  near.empty() ? "" : fmt::format("\n  help: did you mean '{}'?", near)));
    }
  }

  void assign(const Statement& s) {
    const Value& value = value_of(s.value);
    if (s.targets.size() == 1) return declare(s.targets[0].name, s.targets[0].span, value);
    const auto* tuple = value.as<Tuple>();
    if (!tuple || tuple->items->size() != s.targets.size())
      source_.fail(program_.at(s.value).span, fmt::format("{} names for {}", s.targets.size(), describe(b_, value)),
                   "the value must be a tuple with an item for each name");
    for (size_t i = 0; i < s.targets.size(); ++i) declare(s.targets[i].name, s.targets[i].span, (*tuple->items)[i]);
  }

  void result(const Statement& s) {
    const Expr& expr = program_.at(s.value);
    const Value& value = value_of(s.value);
    const auto* tuple = value.as<Tuple>();
    b_.set_origin(source_.origin(expr.span), "return");
    if (tuple && tuple->items->empty())
      source_.fail(expr.span, "an empty tuple is no result", "return at least one array");
    for (size_t i = 0; i < (tuple ? tuple->items->size() : 1); ++i) {
      const bool written_out = tuple && expr.kind == ExprKind::Tuple;
      const Span span = written_out ? program_.at(expr.args[i]).span : expr.span;
      located(span, [&] { add_outputs(tuple ? (*tuple->items)[i] : value, tuple != nullptr); });
    }
    if (outputs_.empty()) source_.fail(expr.span, "an empty list is no result", "return at least one array");
    returned_ = true;
  }

  // The arrays of a list that stands among the results are results.
  void add_outputs(const Value& value, bool among) {
    const auto* list = among ? value.as<Tuple>() : nullptr;
    if (!list) return outputs_.push_back(as_array(b_, value));
    for (const Value& item : *list->items) add_outputs(item, true);
  }

  // ---- functions of the program

  void define(const Statement& s) {
    const Definition& definition = program_.definitions[s.definition];
    UserFunction function{s.targets[0].name, s.targets[0].span, 0, definition.parameters, {}, &definition, nullptr};
    for (const Formal& p : definition.parameters)
      function.defaults.push_back(p.value == kAbsent ? Value() : value_of(p.value));
    add(std::move(function));
  }

  void define_foreign(const Statement& s) {
    auto c = std::make_shared<const CFunction>(source_, s.text);
    UserFunction function{c->name(), c->name_span(), 0, {}, {}, nullptr, c};
    for (const CParameter& p : c->parameters()) function.parameters.push_back({p.name, s.text});
    function.defaults.resize(function.parameters.size());
    add(std::move(function));
  }

  void add(UserFunction function) {
    if (variables_.contains(std::string(function.name)) || sizes_.contains(std::string(function.name)))
      source_.fail(function.span, fmt::format("{} is a name of the program already", quoted(function.name)),
                   "choose another name");
    defined_.add(source_, std::move(function));
  }

  // The function as if it stood where it is called, but for its names: it sees its parameters, the sizes of the program, and the
  // functions before it.
  Value call_defined(const Expr& e, const UserFunction& function, const std::vector<Given>& given) {
    if (calls_.size() == kMostCalls)
      source_.fail(e.span, fmt::format("functions that call functions more than {} deep", kMostCalls), "call fewer");
    std::vector<Value> values = match(source_, program_, function, e.span, given);
    if (calls_.empty()) b_.set_function(shown(function.name));
    calls_.push_back(&function);
    const size_t depth = calls_.size();
    Value result;
    try {
      if (function.c)
        result = function.c->build(b_, values);
      else
        result = run_body(function, values);
    } catch (const UserBuildError& error) {
      source_.fail(e.span, error.error.message, error.error.help);
    } catch (const ReportedError& error) {
      if (depth > 2) throw;  // the place itself, and the outermost calls, say enough
      throw ReportedError(fmt::format("{}\n{}", error.what(),
                                      source_.note(e.span, fmt::format("in this call of {}", quoted(function.name)))));
    }
    calls_.pop_back();
    if (calls_.empty()) b_.set_function({});
    return result;
  }

  Value run_body(const UserFunction& function, const std::vector<Value>& values) {
    std::unordered_map<std::string, Value> outside;
    outside.swap(variables_);
    for (size_t p = 0; p < values.size(); ++p)
      declare(function.parameters[p].name, function.parameters[p].span, values[p]);
    Value result;
    for (const Statement& s : function.definition->body) {
      evaluate(s.first, s.last);
      if (s.kind == StatementKind::Assign)
        assign(s);
      else
        result = value_of(s.value);
    }
    outside.swap(variables_);
    return result;
  }

  // One that may be called here.
  const UserFunction* callable_here(const Expr& e) const {
    const UserFunction* function = defined_.find(e.text);
    if (!function || calls_.empty() || function->order < calls_.back()->order) return function;
    const bool itself = function == calls_.back();
    source_.fail(e.span,
                 itself ? fmt::format("{} calls itself", quoted(e.text))
                        : fmt::format("{} is defined behind {}", quoted(e.text), quoted(calls_.back()->name)),
                 itself
                     ? "a function is written out where it is called, so it cannot; its body ends with its first return"
                     : "define it first");
  }

  [[noreturn]] void fail_no_result() {
    const auto end = static_cast<uint32_t>(source_.text().find_last_not_of(" \t\r\n") + 1);
    source_.fail({end, end}, program_.statements.empty() ? "the program is empty" : "the program returns nothing",
                 "end it with return EXPRESSION");
  }

  // ---- expressions

  const Value& value_of(ExprId id) const { return values_[static_cast<size_t>(id)]; }

  Value evaluate(const Expr& e) {
    switch (e.kind) {
      case ExprKind::Number: return Value(e.literal);
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

  void mark(const Expr& e, std::string_view label) { b_.set_origin(source_.origin(e.span), std::string(label)); }

  std::vector<Value> items_of(const std::vector<ExprId>& ids) const {
    std::vector<Value> items;
    for (ExprId id : ids) items.push_back(id == kAbsent ? Value() : value_of(id));
    return items;
  }

  // Variables hide sizes' and functions' names, as in Python; types cannot be hidden.
  Value name(const Expr& e) {
    const std::string text(e.text);
    if (const auto found = variables_.find(text); found != variables_.end()) return found->second;
    if (sizes_.contains(text)) return Value::size(IntExpr::symbol(text));
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

  [[noreturn]] void fail_unknown(const Expr& e) {
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
    constexpr std::string_view kPrefixes[] = {"np", "numpy", "torch", "F", "jnp", "math", "nn"};
    if (std::find(std::begin(kPrefixes), std::end(kPrefixes), e.text) != std::end(kPrefixes))
      help = "functions have no prefix: exp(x)";
    else if (help.empty() && !calls_.empty() && !e.called)
      help = fmt::format("the function {} sees only its parameters: make it one", quoted(calls_.back()->name));
    else if (help.empty() && e.called)
      help = "docs/language.md lists the functions";
    else if (help.empty() && function_named(e.text) == nullptr)
      help = declares_ ? fmt::format("declare it: input {}: f32[N]", shown(e.text))
                       : fmt::format("give it a type: -i {}=f32[1024]", shown(e.text));
    source_.fail(e.span, fmt::format("there is no {}{}", e.called ? "function " : "", quoted(e.text)), help);
  }

  Value attribute(const Expr& e) {
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
    source_.fail(e.span, fmt::format("an array has no attribute {}", quoted(e.text)),
                 near.empty() ? "arrays have T mT shape ndim size dtype, and the functions as methods"
                              : fmt::format("did you mean {}?", near));
  }

  std::optional<Value> property(const Expr& e, const Value& base) {
    if (e.text != "T" && e.text != "mT" && e.text != "shape" && e.text != "ndim" && e.text != "size" &&
        e.text != "dtype")
      return std::nullopt;
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

  Value call(const Expr& e) {
    const Value& callee = value_of(e.args[0]);
    std::vector<Given> given;
    const auto* callable = callee.as<Callable>();
    if (callable && callable->receiver)
      given.push_back({{}, program_.at(program_.at(e.args[0]).args[0]).span, *callable->receiver});
    for (const Argument& a : e.arguments) given.push_back({a.name, a.span, value_of(a.value)});
    if (const auto* dtype = callee.as<DType>()) return cast_call(e, *dtype, given);
    if (!callable)
      source_.fail(program_.at(e.args[0]).span, fmt::format("{} is no function", describe(b_, callee)),
                   e.arguments.empty() ? "" : "a product needs *");
    mark(e, callable->user ? std::string_view() : callable->name);
    if (callable->user) return call_defined(e, *callable->user, given);
    return Call(b_, source_, *callable->function, callable->name, e.span, given).build();
  }

  Value cast_call(const Expr& e, DType dtype, const std::vector<Given>& given) {
    if (given.size() != 1 || !given[0].name.empty())
      source_.fail(e.span, fmt::format("the cast {} takes one argument, not {}", name_of(dtype), given.size()),
                   fmt::format("write {}(x)", name_of(dtype)));
    mark(e, name_of(dtype));
    return cast(b_, given[0].value, dtype);
  }

  Value unary(const Expr& e) {
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

  Value binary(const Expr& e) {
    const Value &x = value_of(e.args[0]), &y = value_of(e.args[1]);
    mark(e, e.text);
    if (e.text == "@")
      fail("matrix products (@) are not part of this version",
           "sum(a[:, :, None] * b[None, :, :], axis=1) is one, for small matrices");
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
      fail(error.error.message, fmt::format("{0} binds tighter than comparisons: write (a > 0) {0} (b > 0)", e.text));
    }
  }

  void check_bool(const Expr& e, ExprId id) {
    const Value& x = value_of(id);
    const auto* literal = x.as<Literal>();
    const bool fits =
        literal ? std::holds_alternative<bool>(*literal) : x.as<Array>() && is_bool(b_.dtype(x.as<Array>()->node));
    if (!fits)
      source_.fail(program_.at(id).span, fmt::format("'{}' takes bools, not {}", e.text, describe(b_, x)),
                   "compare first, as in x != 0");
  }

  // a < b < c is (a < b) & (b < c), with b calculated once.
  Value compare(const Expr& e) {
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

  static Value same_type(std::string_view op, DType x, DType y) {
    if (op != "==" && op != "!=") fail("types are not ordered", "== and != compare them");
    return Value(Literal((x == y) == (op == "==")));
  }

  Value conditional(const Expr& e) {
    const Value& condition = value_of(e.args[1]);
    mark(e, "if else");
    const auto* literal = condition.as<Literal>();
    if (const auto* known = literal ? std::get_if<bool>(literal) : nullptr) return value_of(e.args[*known ? 0 : 2]);
    return apply(b_, Op::Where, {condition, value_of(e.args[0]), value_of(e.args[2])}, "if else");
  }

  // The body once for every item, or for every item of several lists side by side.
  Value each(const Expr& e) {
    std::vector<std::shared_ptr<const std::vector<Value>>> lists;
    for (const ExprId id : e.args) {
      const auto* list = value_of(id).as<Tuple>();
      if (!list)
        source_.fail(program_.at(id).span, fmt::format("{} is no list", describe(b_, value_of(id))),
                     "lists are inputs such as list[f32[N]], and what stands in brackets");
      lists.push_back(list->items);
      if (lists.back()->size() != lists[0]->size())
        source_.fail(program_.at(id).span,
                     fmt::format("a list of {} stands beside one of {}", lists.back()->size(), lists[0]->size()),
                     "zip takes lists of one length");
    }
    const bool unpack = lists.size() == 1 && e.targets.size() > 1;
    if (lists.empty() || (!unpack && lists.size() != e.targets.size()))
      source_.fail(e.span, fmt::format("{} names for the items of {} lists", e.targets.size(), lists.size()),
                   "each list needs a name for its items: for x, y in zip(xs, ys)");
    std::unordered_map<std::string, Value> hidden;
    for (const Target& target : e.targets)
      if (const auto known = variables_.find(std::string(target.name)); known != variables_.end())
        hidden.insert(*known);
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

  const Source& source_;
  const Program& program_;
  const std::vector<InputType>& given_;
  GraphBuilder b_;
  std::vector<Value> values_;  // of the expressions
  std::unordered_map<std::string, Value> variables_;
  std::set<std::string> sizes_, input_names_;
  UserFunctions defined_;
  std::vector<const UserFunction*> calls_;  // that are being written out, the innermost last
  size_t expanded_ = 0;                     // expressions of their bodies
  std::vector<NodeId> outputs_;
  bool declares_ = false;  // the program names its inputs itself
  bool returned_ = false;
};

}  // namespace

static void check_length(const std::string& text, const std::string& file) {
  constexpr size_t kMaxText = 16 << 20;
  if (text.size() > kMaxText)
    throw UserError(fmt::format("{}: error: a program has at most {} bytes, not {}", file, kMaxText, text.size()));
}

std::vector<DeclaredInput> declared_inputs(const std::string& text, const std::string& file) {
  check_length(text, file);
  const Source source(text, file);
  std::vector<DeclaredInput> inputs;
  for (const Statement& s : parse(source).statements)
    if (s.kind == StatementKind::Input) inputs.push_back({std::string(s.targets[0].name), s.open, s.list, s.count});
  return inputs;
}

Graph parse_program(const std::string& text, const std::string& file, const std::vector<InputType>& inputs) {
  check_length(text, file);
  const Source source(text, file);
  const Program program = parse(source);
  return Lowering(source, program, inputs).run();
}

}  // namespace smelt::lang

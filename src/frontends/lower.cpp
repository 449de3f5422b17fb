// Statements: inputs, names, results, functions of the program.
#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.hpp"
#include "frontends/lowering.hpp"
#include "frontends/parser.hpp"

namespace smelt::lang {

static constexpr size_t kMostCalls = 64;  // within each other

Graph Lowering::run() {
  declares_ = std::any_of(program_.statements.begin(), program_.statements.end(),
                          [](const Statement& s) { return s.kind == StatementKind::Input; });
  if (!declares_) take_given_inputs();
  for (const Statement& s : program_.statements) statement(s);
  if (!returned_) fail_no_result();
  check_given_names();
  return b_.finish(std::move(outputs_), std::string(source_.text()));
}

// ---- statements

void Lowering::statement(const Statement& s) {
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

void Lowering::evaluate(ExprId first, ExprId last) {
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

void Lowering::declare(std::string_view name, Span span, Value value) {
  // Inside of a function its own names hide those of sizes.
  if (calls_.empty() && sizes_.contains(std::string(name)))
    source_.fail(span, fmt::format("{} is the name of a size already", quoted(name)), "choose another name");
  if (dtype_named(name)) source_.fail(span, fmt::format("'{}' is the name of a type", name), "choose another name");
  if (const UserFunction* function = defined_.find(name))
    source_.fail(
        span, fmt::format("{} is the function defined on line {}", quoted(name), source_.origin(function->span).line),
        "choose another name");
  variables_.insert_or_assign(std::string(name), std::move(value));
}

void Lowering::declare_sizes(const Shape& shape, Span span) {
  for (const IntExpr& size : shape) {
    for (const Symbol symbol : size.symbols()) {
      if (variables_.contains(symbol.name()))
        source_.fail(span, fmt::format("the size {} has the name of a variable", quoted(symbol.name())),
                     "choose another name");
      sizes_.insert(symbol.name());
    }
  }
}

void Lowering::input(const Statement& s) {
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

void Lowering::list_input(const Statement& s) {
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
    // Every item has sizes of its own where "..." is.
    const ArrayType type = closed(s, given, i);
    if (given) check_given(*given, s, type);
    located(s.type_span, [&] {
      b_.set_origin(source_.origin(target.span), "input");
      items.push_back(Value::array(b_.input(name, type.dtype, type.shape)));
    });
  }
  declare(target.name, target.span, Value::tuple(std::move(items)));
}

const InputType* Lowering::given_for(std::string_view name) const {
  const auto found =
      std::find_if(given_.begin(), given_.end(), [&](const InputType& given) { return given.name == name; });
  return found == given_.end() ? nullptr : &*found;
}

ArrayType Lowering::closed(const Statement& s, const InputType* given, int64_t item) const {
  ArrayType type = s.type;
  if (!s.open) return type;
  if (!given) {
    type.shape.insert(type.shape.begin(), IntExpr::symbol(Symbol::open_size(item)));
  } else if (given->shape.size() >= type.shape.size()) {
    const auto front = given->shape.end() - static_cast<std::ptrdiff_t>(type.shape.size());
    type.shape.insert(type.shape.begin(), given->shape.begin(), front);
  }
  return type;
}

void Lowering::check_given(const InputType& given, const Statement& s, const ArrayType& type) {
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

void Lowering::take_given_inputs() {
  for (const InputType& given : given_) {
    const Span start{0, 0};
    declare_sizes(given.shape, start);
    located(start, [&] {
      b_.set_origin({}, "input");
      declare(given.name, start, Value::array(b_.input(given.name, given.dtype, given.shape)));
    });
  }
}

// "x, y, z and 7 more"
static std::string list_of(const std::vector<std::string>& names) {
  constexpr size_t kMost = 16;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, names.size()); ++i) text += (i ? ", " : "") + shown(names[i]);
  return names.size() > kMost ? fmt::format("{} and {} more", text, names.size() - kMost) : text;
}

void Lowering::check_given_names() {
  if (!declares_) return;
  std::vector<std::string> names(input_names_.begin(), input_names_.end());
  for (const InputType& given : given_) {
    if (input_names_.contains(given.name)) continue;
    const std::string near = nearest(given.name, names);
    throw UserError(fmt::format("error: the program has no input {}\n  help: {}{}", quoted(given.name),
                                near.empty() ? "" : fmt::format("did you mean {}? ", shown(near)),
                                names.empty() ? "it has none" : fmt::format("it has {}", list_of(names))));
  }
}

void Lowering::assign(const Statement& s) {
  const Value& value = value_of(s.value);
  if (s.targets.size() == 1) return declare(s.targets[0].name, s.targets[0].span, value);
  const std::vector<Value> items = unpacked(program_.at(s.value), value, s.targets.size());
  for (size_t i = 0; i < s.targets.size(); ++i) declare(s.targets[i].name, s.targets[i].span, items[i]);
}

std::vector<Value> Lowering::unpacked(const Expr& e, const Value& value, size_t names) {
  const auto* tuple = value.as<Tuple>();
  if (tuple && tuple->items->size() == names) return *tuple->items;
  std::string help = "the value must be a tuple with an item for each name, or an array with as many rows";
  if (const auto* array = value.as<Array>(); array && !b_.shape(array->node).empty()) {
    const IntExpr& rows = b_.shape(array->node)[0];
    if (rows.is(static_cast<int64_t>(names))) {
      mark(e, "[]");
      std::vector<Value> result;
      for (size_t i = 0; i < names; ++i)
        result.push_back(subscript(b_, value, Value::integer(static_cast<int64_t>(i))));
      return result;
    }
    if (!rows.constant())
      help = fmt::format("it has {} rows, which may be another number: write x[0], x[1], ...", rows.str());
  }
  source_.fail(e.span, fmt::format("{} names for {}", names, describe(b_, value)), help);
}

void Lowering::result(const Statement& s) {
  const Expr& expr = program_.at(s.value);
  const Value& value = value_of(s.value);
  const auto* tuple = value.as<Tuple>();
  b_.set_origin(source_.origin(expr.span), "return");
  if (tuple && tuple->items->empty())
    source_.fail(expr.span, "an empty tuple cannot be returned", "return at least one array");
  for (size_t i = 0; i < (tuple ? tuple->items->size() : 1); ++i) {
    const bool written_out = tuple && expr.kind == ExprKind::Tuple;
    const Span span = written_out ? program_.at(expr.args[i]).span : expr.span;
    located(span, [&] { add_outputs(tuple ? (*tuple->items)[i] : value, tuple != nullptr); });
  }
  if (outputs_.empty()) source_.fail(expr.span, "an empty list cannot be returned", "return at least one array");
  returned_ = true;
}

void Lowering::add_outputs(const Value& value, bool among) {
  const auto* list = among ? value.as<Tuple>() : nullptr;
  if (!list) return outputs_.push_back(as_array(b_, value));
  for (const Value& item : *list->items) add_outputs(item, true);
}

// ---- functions of the program

void Lowering::define(const Statement& s) {
  const Definition& definition = program_.definitions[s.definition];
  UserFunction function{s.targets[0].name, s.targets[0].span, 0, definition.parameters, {}, &definition, nullptr};
  for (const Formal& p : definition.parameters)
    function.defaults.push_back(p.value == kAbsent ? Value() : value_of(p.value));
  add(std::move(function));
}

void Lowering::define_foreign(const Statement& s) {
  auto c = std::make_shared<const CFunction>(source_, s.text);
  UserFunction function{c->name(), c->name_span(), 0, {}, {}, nullptr, c};
  for (const CParameter& p : c->parameters()) function.parameters.push_back({p.name, s.text});
  function.defaults.resize(function.parameters.size());
  add(std::move(function));
}

void Lowering::add(UserFunction function) {
  if (variables_.contains(std::string(function.name)) || sizes_.contains(std::string(function.name)))
    source_.fail(function.span, fmt::format("{} is a name of the program already", quoted(function.name)),
                 "choose another name");
  defined_.add(source_, std::move(function));
}

Value Lowering::call_defined(const Expr& e, const UserFunction& function, const std::vector<Given>& given) {
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

Value Lowering::run_body(const UserFunction& function, const std::vector<Value>& values) {
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

const UserFunction* Lowering::callable_here(const Expr& e) const {
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

void Lowering::fail_no_result() {
  const auto end = static_cast<uint32_t>(source_.text().find_last_not_of(" \t\r\n") + 1);
  source_.fail({end, end}, program_.statements.empty() ? "the program is empty" : "the program returns nothing",
               "end it with return EXPRESSION");
}

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

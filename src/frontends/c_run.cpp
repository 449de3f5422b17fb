#include "frontends/c_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/nearest.hpp"
#include "frontends/parser.hpp"

namespace smelt::lang {

namespace {

constexpr int kMostTurns = 1024;     // of a loop
constexpr int kMostMade = 10'000;    // operations of a function
constexpr int kMostWalked = 50'000;  // parts of it, each as often as it is walked over

int strength_of(const CToken& token) {
  constexpr std::pair<std::string_view, int> kTable[] = {
      {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {"<=", 7},
      {">", 7},  {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};
  if (token.kind != CTokenKind::Operator) return 0;
  for (const auto& [text, strength] : kTable)
    if (token.text == text) return strength;
  return 0;
}

bool is_assignment(std::string_view op) {
  return op == "=" || (op.size() > 1 && op.back() == '=' && op != "==" && op != "<=" && op != ">=" && op != "!=");
}

std::string describe(const CToken& token) {
  return token.kind == CTokenKind::EndOfText ? "the end of the function" : quoted(token.text);
}

}  // namespace

// Counts nesting for as long as it lives.
struct CRunner::Nested {
  CRunner& runner;
  explicit Nested(CRunner& r) : runner(r) {
    if (++r.depth_ > kMaxDepth)
      r.fail_here(fmt::format("this is nested more than {} deep", kMaxDepth), "give inner parts a name of their own");
  }
  ~Nested() { --runner.depth_; }
};

bool CRunner::accept(std::string_view text) {
  if (!peek().is(text)) return false;
  ++at_;
  return true;
}

void CRunner::expect(std::string_view text, const std::string& help) {
  if (!accept(text)) fail_here(fmt::format("expected '{}', but found {}", text, describe(peek())), help);
}

void CRunner::fail_here(const std::string& message, const std::string& help) const {
  source_.fail(peek().span, message, help);
}

void CRunner::count(Span span) {
  if (++walked_ > kMostWalked || c_.made() > kMostMade)
    source_.fail(span, fmt::format("this function becomes more than {} operations", kMostMade),
                 "loops are unrolled: use fewer iterations");
}

// ---- statements

NodeId CRunner::run(const CFunction& function, size_t body, DType result) {
  type_ = result;
  at_ = body;
  while (!peek().is("}")) statement();
  take();
  if (peek().kind != CTokenKind::EndOfText)
    fail_here(fmt::format("unexpected {}", describe(peek())), "write one function");
  if (!done_.is_true())
    source_.fail(function.name_span(), fmt::format("{} may end without a return", quoted(function.name())),
                 "end it with return ...;");
  return c_.node(*result_);
}

void CRunner::block() {
  const size_t outside = variables_.size();
  while (!accept("}")) statement();
  variables_.resize(outside, {});
}

void CRunner::statement() {
  const Nested nested(*this);
  count(peek().span);
  if (accept(";")) return;
  if (accept("{")) return block();
  if (accept("if")) return choice();
  if (accept("for")) return loop();
  if (accept("return")) return give_result();
  constexpr std::string_view kOthers[] = {"while", "do",   "switch",  "goto", "break", "continue", "struct",
                                          "union", "enum", "typedef", "asm",  "case",  "default"};
  const CToken& first = peek();
  if (std::find(std::begin(kOthers), std::end(kOthers), first.text) != std::end(kOthers))
    fail_here(fmt::format("there is no {} in scalar functions", quoted(first.text)),
              "they have declarations, assignments, if, for with a known number of iterations, and return");
  if (first.kind == CTokenKind::EndOfText) fail_here("the function is not closed", "add the '}'");
  if (const auto type = read_type(source_, tokens_, at_))
    declaration(*type);
  else
    change();
  expect(";", "a statement ends with ;");
}

void CRunner::declaration(const CType& type) {
  if (!type.dtype) fail_here("a variable is a number", "give it a type: float");
  do {
    const CToken& name = take();
    if (name.kind != CTokenKind::Name)
      source_.fail(name.span, fmt::format("expected the variable's name, but found {}", describe(name)), "");
    if (peek().is("[")) fail_here("there are no arrays in scalar functions", "name the elements one by one");
    Variable made{name.text, *type.dtype, std::nullopt, type.is_const};
    if (accept("=")) made.value = c_.convert(expression(), made.dtype);
    variables_.push_back(made);
  } while (accept(","));
}

CRunner::Variable& CRunner::variable(const CToken& name) {
  const auto found =
      std::find_if(variables_.rbegin(), variables_.rend(), [&](const Variable& v) { return v.name == name.text; });
  if (found != variables_.rend()) return *found;
  std::vector<std::string> known;
  for (const Variable& v : variables_) known.emplace_back(v.name);
  const std::string near = nearest(name.text, known);
  source_.fail(name.span, fmt::format("there is no variable {}", quoted(name.text)),
               near.empty() ? "declare it: float name = ...;" : fmt::format("did you mean {}?", shown(near)));
}

// NAME = ..., NAME += ..., ++NAME, NAME++
void CRunner::change() {
  const CToken& first = take();
  const bool before = first.is("++") || first.is("--");
  const CToken& name = before ? take() : first;
  if (name.kind != CTokenKind::Name)
    source_.fail(name.span, fmt::format("expected a statement, but found {}", describe(name)), "");
  if (!before && !peek().is("++") && !peek().is("--") && !is_assignment(peek().text))
    fail_here(fmt::format("unexpected {}", describe(peek())),
              peek().is("(")                    ? "use what the function returns: y = f(x);"
              : peek().kind == CTokenKind::Name ? fmt::format("there is no type {}", quoted(name.text))
                                                : "a statement assigns: y = ...;");
  Variable& target = variable(name);
  if (target.is_const) source_.fail(name.span, fmt::format("{} is const", quoted(name.text)), "");
  const CToken& op = before ? first : take();
  CValue value = CValue::of(Scalar::of_int(DType::I32, 1));
  if (is_assignment(op.text)) value = expression();
  if (!op.is("=")) {
    if (!target.value)
      source_.fail(name.span, fmt::format("{} has no value yet", quoted(name.text)),
                   "give it one where it is declared");
    if (is_float(c_.common(*target.value, value)) &&
        std::string_view("%&|^<>").find(op.text[0]) != std::string_view::npos)
      source_.fail(op.span, fmt::format("{} is for integers", quoted(op.text)), "");
    value =
        c_.binary(op.text.starts_with(">>") || op.text.starts_with("<<") ? op.text.substr(0, 2) : op.text.substr(0, 1),
                  *target.value, value);
  }
  target.value = c_.convert(value, target.dtype);
}

void CRunner::give_result() {
  const Span span = peek().span;
  if (peek().is(";")) source_.fail(span, "a scalar function returns a number", "write return ...;");
  const CValue value = c_.convert(expression(), type_);
  expect(";", "a statement ends with ;");
  if (!done_.is_true()) result_ = result_ ? c_.select(done_, *result_, value) : value;
  done_ = CValue::of(Scalar::of_bool(true));
}

void CRunner::follow(Path path) {
  variables_ = std::move(path.variables);
  done_ = path.done;
  result_ = path.result;
}

// What holds after an `if`: both outcomes have the same variables.
CRunner::Path CRunner::merged(const CValue& condition, const Path& yes, const Path& no) {
  Path both = yes;
  for (size_t v = 0; v < both.variables.size(); ++v) {
    const auto &x = yes.variables[v].value, &y = no.variables[v].value;
    both.variables[v].value = x && y ? std::optional(c_.select(condition, *x, *y)) : x ? x : y;
  }
  if (yes.done.is_false() && no.done.is_true())
    both.done = c_.apply(Op::Not, {condition});
  else
    both.done = c_.select(condition, yes.done, no.done);
  both.result = yes.result && no.result ? std::optional(c_.select(condition, *yes.result, *no.result))
                : yes.result            ? yes.result
                                        : no.result;
  return both;
}

void CRunner::choice() {
  expect("(", "a condition is written in parentheses: if (x > 0)");
  const CValue condition = c_.truth(expression());
  expect(")", "a condition is written in parentheses: if (x > 0)");
  const Path before = path();
  statement();
  variables_.resize(before.variables.size(), {});
  Path yes = path();
  follow(before);
  if (accept("else")) statement();
  variables_.resize(before.variables.size(), {});
  Path no = path();
  if (condition.known)
    follow(condition.is_true() ? std::move(yes) : std::move(no));
  else
    follow(merged(condition, yes, no));
}

// From after a '(' to its ')'.
void CRunner::skip_to_closing() {
  for (int open = 1; open > 0; ++at_) {
    if (peek().kind == CTokenKind::EndOfText) fail_here("a '(' is never closed", "");
    open += peek().is("(") ? 1 : peek().is(")") ? -1 : 0;
  }
  --at_;
}

void CRunner::loop() {
  const Span span = tokens_[at_ - 1].span;
  const size_t outside = variables_.size();
  expect("(", "as in for (int i = 0; i < 4; ++i)");
  if (!peek().is(";")) {
    if (const auto type = read_type(source_, tokens_, at_))
      declaration(*type);
    else
      change();
  }
  expect(";", "as in for (int i = 0; i < 4; ++i)");
  const size_t condition_at = at_;
  if (peek().is(";")) fail_here("this loop never ends", "as in for (int i = 0; i < 4; ++i)");
  for (int turn = 0;; ++turn) {
    at_ = condition_at;
    const CValue condition = c_.truth(expression());
    if (!condition.known)
      source_.fail(tokens_[condition_at].span, "the number of iterations of this loop depends on the arguments",
                   "loops are unrolled: count from a number to a number");
    if (turn == kMostTurns)
      source_.fail(span, fmt::format("this loop has more than {} iterations", kMostTurns), "loops are unrolled");
    expect(";", "as in for (int i = 0; i < 4; ++i)");
    const size_t step_at = at_;
    skip_to_closing();
    const size_t body_at = ++at_;
    // A body that never runs is read all the same.
    const Path before = path();
    at_ = body_at;
    statement();
    const size_t behind = at_;
    if (condition.is_true()) {
      at_ = step_at;
      if (!peek().is(")")) do
          change();
        while (accept(","));
      if (!peek().is(")"))
        fail_here(fmt::format("unexpected {}", describe(peek())), "as in for (int i = 0; i < 4; ++i)");
    } else {
      follow(before);
      at_ = behind;
      break;
    }
  }
  variables_.resize(outside, {});
}

// ---- expressions

CValue CRunner::expression() {
  const Nested nested(*this);
  const CValue condition = binary(1);
  if (is_assignment(peek().text) && peek().kind == CTokenKind::Operator)
    fail_here("an assignment is a statement of its own", "== compares");
  if (!accept("?")) return condition;
  const CValue yes = expression();
  expect(":", "a choice is written a ? b : c");
  const CValue no = expression();
  const DType dtype = c_.common(yes, no);
  return c_.select(c_.truth(condition), c_.convert(yes, dtype), c_.convert(no, dtype));
}

// Operators at least as strong as `least`; both sides are always computed.
CValue CRunner::binary(int least) {
  CValue left = unary();
  while (true) {
    const CToken& op = peek();
    const int strength = strength_of(op);
    if (strength == 0 || strength < least) return left;
    count(op.span);
    take();
    const CValue right = binary(strength + 1);
    if (op.is("&&") || op.is("||")) {
      left = c_.apply(op.is("&&") ? Op::And : Op::Or, {c_.truth(left), c_.truth(right)});
      continue;
    }
    const bool integers_only = op.is("%") || op.is("&") || op.is("|") || op.is("^") || op.is("<<") || op.is(">>");
    if (integers_only && (is_float(left.dtype) || is_float(right.dtype)))
      source_.fail(op.span, fmt::format("{} is for integers", quoted(op.text)), op.is("%") ? "write fmodf(x, y)" : "");
    left = c_.binary(op.text, left, right);
  }
}

CValue CRunner::unary() {
  const CToken& op = peek();
  if (op.is("++") || op.is("--")) fail_here(fmt::format("{} is a statement of its own", quoted(op.text)), "");
  if (op.is("(")) {
    size_t at = at_ + 1;
    if (const auto type = read_type(source_, tokens_, at); type && tokens_[at].is(")")) {
      const Nested nested(*this);
      if (!type->dtype) source_.fail(op.span, "void is no number", "");
      at_ = at + 1;
      return c_.convert(unary(), *type->dtype);
    }
  }
  if (!op.is("-") && !op.is("+") && !op.is("!") && !op.is("~")) return primary();
  const Nested nested(*this);
  count(op.span);
  take();
  if (op.is("!")) return c_.apply(Op::Not, {c_.truth(unary())});
  const CValue x = c_.promoted(unary());
  if (op.is("+")) return x;
  if (op.is("-")) return c_.apply(Op::Neg, {x});
  if (is_float(x.dtype)) source_.fail(op.span, "'~' is for integers", "");
  return c_.apply(Op::Not, {x});
}

CValue CRunner::primary() {
  const CToken& token = peek();
  CValue value;
  if (token.kind == CTokenKind::Number) {
    value = CValue::of(take().number);
  } else if (accept("(")) {
    value = expression();
    expect(")", "");
  } else if (token.kind == CTokenKind::Name) {
    value = peek(1).is("(") ? call() : name();
  } else {
    fail_here(fmt::format("expected an expression, but found {}", describe(token)), "");
  }
  if (peek().is("++") || peek().is("--"))
    fail_here(fmt::format("{} is a statement of its own", quoted(peek().text)), "");
  if (peek().is("[") || peek().is(".") || peek().is("->"))
    fail_here("a scalar function has numbers only", "it is called for every element, with the values at that place");
  return value;
}

CValue CRunner::name() {
  const CToken& token = take();
  const bool is_variable =
      std::any_of(variables_.begin(), variables_.end(), [&](const Variable& v) { return v.name == token.text; });
  if (!is_variable)
    if (const auto constant = c_constant(token.text)) return CValue::of(*constant);
  const Variable& found = variable(token);
  if (!found.value)
    source_.fail(token.span, fmt::format("{} has no value yet", quoted(token.text)),
                 "give it one where it is declared");
  return *found.value;
}

CValue CRunner::call() {
  const Nested nested(*this);
  const CToken& token = take();
  const auto function = c_math_function(token.text);
  if (!function) {
    const std::string near = similar_math_function(token.text);
    source_.fail(token.span, fmt::format("there is no function {}", quoted(token.text)),
                 near.empty() ? "a scalar function calls those of math.h" : fmt::format("did you mean {}?", near));
  }
  take();  // the '('
  std::vector<CValue> arguments;
  if (!peek().is(")")) do
      arguments.push_back(expression());
    while (accept(","));
  expect(")", "separate arguments by commas");
  if (static_cast<int>(arguments.size()) != function->arity)
    source_.fail(token.span,
                 fmt::format("{} takes {} argument{}, not {}", token.text, function->arity,
                             function->arity == 1 ? "" : "s", arguments.size()),
                 "");
  if (!is_float(function->dtype) && is_float(arguments[0].dtype))
    source_.fail(token.span, fmt::format("{} is for integers in C", token.text), "write fabsf(x)");
  count(token.span);
  return call_math(c_, *function, arguments);
}

}  // namespace smelt::lang

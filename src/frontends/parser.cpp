// Statements and types.
#include "frontends/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/nearest.hpp"
#include "frontends/parsing.hpp"

namespace smelt::lang {

std::string describe(const Token& token) {
  if (token.kind == TokenKind::EndOfText) return "the end of the program";
  if (token.kind == TokenKind::EndOfLine) return token.text == ";" ? "';'" : "the end of the line";
  return quoted(token.text);
}

Program Parser::program() {
  while (true) {
    while (peek().kind == TokenKind::EndOfLine) ++at_;
    if (peek().kind == TokenKind::EndOfText) return std::move(program_);
    program_.statements.push_back(statement());
    if (peek().kind != TokenKind::EndOfLine && peek().kind != TokenKind::EndOfText) fail_after_statement();
  }
}

ArrayType Parser::whole_type() {
  ArrayType result = type();
  while (peek().kind == TokenKind::EndOfLine) ++at_;
  if (peek().kind != TokenKind::EndOfText)
    source_.fail(peek().span, fmt::format("unexpected {} after the type", describe(peek())),
                 "a type is f32 or f32[B, 1024]");
  return result;
}

// ---- statements

Statement Parser::statement() {
  Statement s{.kind = StatementKind::Expression};
  s.span = peek().span;
  s.first = static_cast<ExprId>(program_.exprs.size());
  if (begins_definition()) {
    define(s);
    return s;
  }
  if (peek().text == "cfunction" && peek().kind == TokenKind::Name && peek(1).kind == TokenKind::String) {
    take();
    s.kind = StatementKind::Foreign;
    const uint32_t quotes = static_cast<uint32_t>(peek().span.end - peek().span.begin - peek().text.size()) / 2;
    s.text = {peek().span.begin + quotes, peek().span.end - quotes};
    take();
  } else if (peek().text == "input" && peek().kind == TokenKind::Name && !peek(1).is("=")) {
    input(s);
  } else if (accept("return")) {
    s.kind = StatementKind::Return;
    s.value = tuple_or_expression();
  } else if (begins_assignment()) {
    s.kind = StatementKind::Assign;
    do s.targets.push_back({peek().text, peek().span}), ++at_;
    while (accept(","));
    take();  // the '='
    s.value = tuple_or_expression();
  } else {
    check_no_statement();
    s.value = tuple_or_expression();
  }
  s.last = static_cast<ExprId>(program_.exprs.size());
  return s;
}

bool Parser::begins_definition() const {
  return peek().kind == TokenKind::Name && peek().text == "def" && peek(1).kind == TokenKind::Name && peek(2).is("(");
}

void Parser::define(Statement& s) {
  take();
  s.kind = StatementKind::Define;
  s.targets.push_back({peek().text, peek().span});
  take();
  take();  // the '('
  Definition made;
  while (!peek().is(")")) {
    made.parameters.push_back(formal(made.parameters));
    if (!accept(",")) break;
  }
  expect(")", "as in def f(x, slope=0.1): return where(x > 0, x, slope * x)");
  expect(":", "as in def f(x, slope=0.1): return where(x > 0, x, slope * x)");
  s.last = static_cast<ExprId>(program_.exprs.size());
  while (made.body.empty() || made.body.back().kind != StatementKind::Return) {
    while (peek().kind == TokenKind::EndOfLine) ++at_;
    const Token& first = peek();
    const bool input = first.kind == TokenKind::Name && first.text == "input" && peek(1).kind == TokenKind::Name;
    if (first.kind == TokenKind::EndOfText || input || begins_definition())
      source_.fail(s.targets[0].span, fmt::format("the function {} has no return", quoted(s.targets[0].name)),
                   begins_definition() ? "its body goes up to the first return, and defines no other function"
                                       : "its body goes up to the first return: def f(x): return x + 1");
    made.body.push_back(statement());
    const Statement& last = made.body.back();
    if (last.kind == StatementKind::Expression || last.kind == StatementKind::Foreign)
      source_.fail(last.span, "this value is not used", "a function has assignments, then return EXPRESSION");
    if (peek().kind != TokenKind::EndOfLine && peek().kind != TokenKind::EndOfText) fail_after_statement();
  }
  s.definition = program_.definitions.size();
  program_.definitions.push_back(std::move(made));
}

Formal Parser::formal(const std::vector<Formal>& before) {
  const Token& name = take();
  if (name.kind != TokenKind::Name)
    source_.fail(name.span, fmt::format("expected the parameter's name, but found {}", describe(name)),
                 is_reserved(name.text) ? "this word belongs to the language; choose another" : "as in def f(x, y=1):");
  for (const Formal& other : before)
    if (other.name == name.text)
      source_.fail(name.span, fmt::format("two parameters are called {}", quoted(name.text)), "choose another name");
  Formal made{name.text, name.span};
  if (accept("=")) made.value = expression();
  if (!before.empty() && before.back().value != kAbsent && made.value == kAbsent)
    source_.fail(name.span, "a parameter without a default follows one with a default", "put it first");
  return made;
}

bool Parser::begins_assignment() const {
  size_t ahead = 0;
  while (peek(ahead).kind == TokenKind::Name && peek(ahead + 1).is(",")) ahead += 2;
  return peek(ahead).kind == TokenKind::Name && peek(ahead + 1).is("=");
}

void Parser::input(Statement& s) {
  take();
  s.kind = StatementKind::Input;
  const Token& name = peek();
  if (name.kind != TokenKind::Name)
    source_.fail(
        name.span, fmt::format("expected the input's name, but found {}", describe(name)),
        is_reserved(name.text) ? "this word belongs to the language; choose another" : "write input x: f32[B, 1024]");
  take();
  s.targets.push_back({name.text, name.span});
  expect(":", fmt::format("write input {}: f32[B, 1024]", shown(name.text)));
  const Span begin = peek().span;
  if (peek().text == "list" && peek(1).is("["))
    list_type(s);
  else
    s.type = type(&s.open);
  s.type_span = join(begin, last_span());
}

void Parser::list_type(Statement& s) {
  at_ += 2;
  s.list = true;
  s.type = type(&s.open);
  if (accept(",")) {
    const Token& count = take();
    const auto* number = std::get_if<int64_t>(&count.literal);
    if (count.kind != TokenKind::Number || !number || *number > kMostItems)
      source_.fail(count.span, fmt::format("a list has 0 to {} items, not {}", kMostItems, describe(count)),
                   "as in list[f32[N], 8]; without a number it has as many as are given");
    s.count = *number;
  }
  expect("]", "a list of arrays is list[f32[N]] or list[f32[N], 8]");
}

void Parser::check_no_statement() {
  constexpr std::array<std::string_view, 12> kForeign = {"for", "while", "import", "from", "class", "lambda",
                                                         "let", "print", "assert", "with", "raise", "del"};
  const Token& first = peek();
  const bool alone = peek(1).kind == TokenKind::Name || peek(1).is(":") || peek(1).is("True") || peek(1).is("not");
  if (first.kind == TokenKind::Name && alone &&
      std::find(kForeign.begin(), kForeign.end(), first.text) != kForeign.end())
    source_.fail(first.span, fmt::format("there is no '{}' in this language", first.text),
                 "a program is made of input NAME: TYPE, NAME = EXPRESSION and return EXPRESSION");
  if (first.kind == TokenKind::Name && first.text == "def" && alone)
    source_.fail(first.span, "a function is written def NAME(PARAMETERS): return EXPRESSION",
                 "as in def f(x, slope=0.1): return where(x > 0, x, slope * x)");
  if (first.is("if") || first.is("else"))
    source_.fail(first.span, fmt::format("there is no '{}' statement in this language", first.text),
                 "a choice is an expression: a if condition else b");
}

void Parser::fail_after_statement() {
  const Token& token = peek();
  const std::string message = fmt::format("unexpected {}", describe(token));
  const bool assigns = token.kind == TokenKind::Operator && token.text.back() == '=';
  if (assigns && !program_.exprs.empty() && program_.exprs.back().kind == ExprKind::Index)
    source_.fail(token.span, message, "an array never changes: write x = slice_update(x, index, value)");
  if (token.is("=")) source_.fail(token.span, message, "only names are assigned to: NAME = EXPRESSION; == compares");
  if (token.kind == TokenKind::Operator && token.text.size() > 1 && token.text.back() == '=')
    source_.fail(token.span, message,
                 fmt::format("write the operation out: x = x {} ...", token.text.substr(0, token.text.size() - 1)));
  fail_operand(token, message, "a statement ends with its line; a line goes on inside parentheses");
}

void Parser::fail_operand(const Token& token, const std::string& message, const std::string& help) {
  if (token.is("&&")) source_.fail(token.span, message, "write 'and' for bools");
  if (token.is("||")) source_.fail(token.span, message, "write 'or' for bools");
  if (token.is("!")) source_.fail(token.span, message, "write 'not' for bools, ~ for bits");
  source_.fail(token.span, message, help);
}

// ---- types

ArrayType Parser::type(bool* open) {
  const Token& name = take();
  ArrayType result{};
  const auto dtype = name.kind == TokenKind::Name ? dtype_named(name.text) : std::nullopt;
  if (!dtype) fail_dtype(name);
  result.dtype = *dtype;
  if (!accept("[")) return result;
  if (open && accept("...")) {
    *open = true;
    if (!accept(",") && !peek().is("]"))
      source_.fail(peek().span, "sizes are separated by commas", "as in f32[..., C]");
  }
  while (!peek().is("]")) {
    result.shape.push_back(size());
    if (!accept(",")) break;
  }
  expect("]", "a type is f32 or f32[B, 1024]");
  check_size(result.shape, name.span);
  return result;
}

void Parser::fail_dtype(const Token& token) {
  std::vector<std::string> names;
  for (DType t : kAllDTypes) names.emplace_back(name_of(t));
  const std::string near = token.kind == TokenKind::Name ? nearest(token.text, names) : "";
  source_.fail(
      token.span,
      token.kind == TokenKind::Name ? fmt::format("there is no type {}", quoted(token.text))
                                    : fmt::format("expected a type, but found {}", describe(token)),
      (near.empty() ? "" : "did you mean " + near + "? ") + fmt::format("the types are {}", fmt::join(names, " ")));
}

IntExpr Parser::size() {
  const Token& first = peek();
  const Span begin = first.span;
  try {
    const IntExpr result = size_sum();
    if (!peek().is(",") && !peek().is("]"))
      source_.fail(peek().kind == TokenKind::EndOfText ? begin : join(begin, peek().span),
                   "a size in a type is made of numbers and names by + - * // %", "as in f32[B, 4*H]");
    if (const auto n = result.constant(); n && *n < 0)
      source_.fail(join(begin, last_span()), "a size is 0 or more", "write a number such as 1024, or a name such as B");
    return result;
  } catch (const ReportedError&) {
    throw;
  } catch (const UserError& e) {  // of arithmetic on sizes
    source_.fail(join(begin, last_span()), e.what(), "use smaller sizes");
  }
}

IntExpr Parser::size_sum() {
  IntExpr sum = size_product();
  while (peek().is("+") || peek().is("-")) {
    const bool plus = take().is("+");
    const IntExpr next = size_product();
    sum = plus ? sum + next : sum - next;
  }
  return sum;
}

IntExpr Parser::size_product() {
  IntExpr product = size_atom();
  while (peek().is("*") || peek().is("//") || peek().is("%")) {
    const Token& op = take();
    const Span by = peek().span;
    const IntExpr next = size_atom();
    if (op.is("*")) {
      product = product * next;
      continue;
    }
    if (const auto n = next.constant(); !n || *n < 1)
      source_.fail(join(by, last_span()), "in a type, sizes are divided by numbers above 0", "as in f32[N // 2]");
    product = op.is("//") ? floordiv(product, next) : mod(product, next);
  }
  return product;
}

IntExpr Parser::size_atom() {
  const Nested nested(*this);
  const Token& token = take();
  if (token.is("(")) {
    const IntExpr inner = size_sum();
    expect(")", "as in f32[2*(N + 1)]");
    return inner;
  }
  if (token.kind == TokenKind::Number && std::holds_alternative<int64_t>(token.literal))
    return std::get<int64_t>(token.literal);
  if (token.kind == TokenKind::Name && !is_reserved(token.text)) {
    if (token.text.size() > 64)
      source_.fail(token.span, "the name of a size has at most 64 bytes", "choose a shorter name");
    return IntExpr::symbol(Symbol::size(token.text));
  }
  if (token.is("..."))
    source_.fail(token.span, "'...' is for the first dimensions of an input only", "as in input x: f32[..., C]");
  if (token.is("-"))
    source_.fail(join(token.span, peek().kind == TokenKind::EndOfText ? token.span : peek().span),
                 "a size is 0 or more", "write a number such as 1024, or a name such as B");
  if (token.kind == TokenKind::Unsigned)
    source_.fail(token.span, fmt::format("an array of {} elements is too large", shown(token.text)),
                 "an array has at most 2**47 elements");
  if (token.kind == TokenKind::Number)
    source_.fail(token.span, fmt::format("a size is an integer, not {}", shown(token.text)),
                 "write a number such as 1024, or a name such as B");
  source_.fail(token.span, fmt::format("expected a size, but found {}", describe(token)),
               "a size is a number, a name, or made of these by + - * // %: f32[B, 4*H]");
}

void Parser::check_size(const Shape& shape, Span span) {
  double product = 1;
  for (const IntExpr& size : shape)
    if (const auto n = size.constant()) product *= static_cast<double>(std::max<int64_t>(*n, 1));
  if (product > 0x1p47)
    source_.fail(join(span, last_span()), fmt::format("an array of {} elements is too large", product),
                 "an array has at most 2**47 elements");
  if (shape.size() > 64)
    source_.fail(join(span, last_span()), fmt::format("an array cannot have {} dimensions", shape.size()),
                 "an array has at most 64 dimensions");
}

Program parse(const Source& source) { return Parser(source).program(); }
ArrayType parse_whole_type(const Source& source) { return Parser(source).whole_type(); }

}  // namespace smelt::lang

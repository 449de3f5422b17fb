// Expressions.
#include <fmt/format.h>

#include <utility>

#include "frontends/parsing.hpp"

namespace smelt::lang {

namespace {

// Binding strength of the binary operators, as in Python; ** and the prefix operators have their
// own rules.
enum Strength : int { kNone, kOr, kAnd, kNot, kCompare, kBitOr, kBitXor, kBitAnd, kShift, kSum, kProduct };

Strength strength_of(const Token& token) {
  constexpr std::pair<std::string_view, Strength> kTable[] = {
      {"or", kOr},      {"and", kAnd},   {"==", kCompare}, {"!=", kCompare}, {"<", kCompare},
      {"<=", kCompare}, {">", kCompare}, {">=", kCompare}, {"|", kBitOr},    {"^", kBitXor},
      {"&", kBitAnd},   {"<<", kShift},  {">>", kShift},   {"+", kSum},      {"-", kSum},
      {"*", kProduct},  {"/", kProduct}, {"//", kProduct}, {"%", kProduct},  {"@", kProduct}};
  for (const auto& [text, strength] : kTable)
    if (token.is(text)) return strength;
  return kNone;
}

}  // namespace

const Token& Parser::expect(std::string_view text, const std::string& help) {
  if (!peek().is(text))
    source_.fail(peek().span, fmt::format("expected '{}', but found {}", text, describe(peek())), help);
  return take();
}

ExprId Parser::add(Expr expr) {
  if (program_.exprs.size() == kMaxExpressions)
    source_.fail(expr.span, fmt::format("the program has more than {} expressions", kMaxExpressions), "split it");
  program_.exprs.push_back(std::move(expr));
  return static_cast<ExprId>(program_.exprs.size() - 1);
}

ExprId Parser::tuple_or_expression() {
  const ExprId first = expression();
  if (!peek().is(",")) return first;
  Expr tuple{.kind = ExprKind::Tuple};
  tuple.args.push_back(first);
  while (accept(",")) {
    if (peek().kind == TokenKind::EndOfLine || peek().kind == TokenKind::EndOfText) break;
    tuple.args.push_back(expression());
  }
  tuple.span = join(span_of(first), last_span());
  return add(std::move(tuple));
}

ExprId Parser::expression() {
  const Nested nested(*this);
  const ExprId value = binary(kOr);
  if (!accept("if")) return value;
  const ExprId condition = binary(kOr);
  expect("else", "a choice is written a if condition else b");
  const ExprId otherwise = expression();
  Expr choice{.kind = ExprKind::Conditional};
  choice.span = join(span_of(value), last_span());
  choice.args = {value, condition, otherwise};
  return add(std::move(choice));
}

ExprId Parser::binary(int least) {
  const uint32_t begin = peek().span.begin;
  ExprId left = prefix(least);
  while (true) {
    const Strength strength = strength_of(peek());
    if (strength == kNone || strength < least) return left;
    if (strength == kCompare) {
      left = comparison(left, begin);
      continue;
    }
    const std::string_view op = take().text;
    const ExprId right = binary(strength + 1);
    Expr expr{.kind = ExprKind::Binary, .span = {begin, last_span().end}, .text = op};
    expr.args = {left, right};
    left = add(std::move(expr));
  }
}

ExprId Parser::comparison(ExprId first, uint32_t begin) {
  Expr expr{.kind = ExprKind::Compare};
  expr.args.push_back(first);
  while (strength_of(peek()) == kCompare) {
    expr.operators.push_back(take().text);
    expr.args.push_back(binary(kBitOr));
  }
  expr.span = {begin, last_span().end};
  expr.text = expr.operators.front();
  return add(std::move(expr));
}

ExprId Parser::prefix(int least) {
  const Token& token = peek();
  const bool negation = token.is("not");
  if (!negation && !token.is("-") && !token.is("+") && !token.is("~")) return power();
  if (negation && least > kNot)
    source_.fail(token.span, "'not' has a lower precedence than the operator before it",
                 "put parentheses around it: (not x)");
  const Nested nested(*this);
  take();
  const ExprId operand = negation ? binary(kNot) : prefix(kProduct);
  Expr expr{.kind = ExprKind::Unary, .span = join(token.span, last_span()), .text = token.text};
  expr.args = {operand};
  return add(std::move(expr));
}

ExprId Parser::power() {
  const uint32_t begin = peek().span.begin;
  const ExprId base = postfix();
  if (!peek().is("**")) return base;
  const Nested nested(*this);
  const std::string_view op = take().text;
  const ExprId exponent = prefix(kProduct);
  Expr expr{.kind = ExprKind::Binary, .span = {begin, last_span().end}, .text = op};
  expr.args = {base, exponent};
  return add(std::move(expr));
}

ExprId Parser::postfix() {
  const uint32_t begin = peek().span.begin;
  ExprId value = atom();
  while (true) {
    if (accept("("))
      value = call(value, begin);
    else if (accept("["))
      value = index(value, begin);
    else if (accept("."))
      value = attribute(value, begin);
    else
      return value;
  }
}

ExprId Parser::attribute(ExprId value, uint32_t begin) {
  const Token& name = peek();
  if (name.kind != TokenKind::Name)
    source_.fail(name.span, fmt::format("expected a name after '.', but found {}", describe(name)),
                 "as in x.T or x.sum(axis=0)");
  take();
  Expr expr{.kind = ExprKind::Attribute, .span = {begin, name.span.end}, .text = name.text};
  expr.args = {value};
  return add(std::move(expr));
}

ExprId Parser::call(ExprId callee, uint32_t begin) {
  program_.exprs[static_cast<size_t>(callee)].called = true;
  Expr expr{.kind = ExprKind::Call};
  expr.args = {callee};
  while (!peek().is(")")) {
    expr.arguments.push_back(argument());
    const bool named = expr.arguments.size() > 1 && !expr.arguments[expr.arguments.size() - 2].name.empty();
    if (named && expr.arguments.back().name.empty())
      source_.fail(expr.arguments.back().span, "an argument without a name follows one with a name",
                   "put the named arguments last");
    if (!accept(",")) break;
  }
  expect(")",
         peek().text == "for" ? "a comprehension has brackets: [x * 2 for x in xs]" : "separate arguments by commas");
  expr.span = {begin, last_span().end};
  return add(std::move(expr));
}

Argument Parser::argument() {
  const Token& first = peek();
  if (first.is("*") || first.is("**"))
    source_.fail(first.span, fmt::format("unexpected '{}'", first.text), "write the arguments one by one");
  if (first.kind == TokenKind::Name && peek(1).is("=")) {
    at_ += 2;
    const ExprId value = expression();
    return {first.text, join(first.span, last_span()), value};
  }
  const ExprId value = expression();
  return {{}, join(first.span, last_span()), value};
}

ExprId Parser::index(ExprId value, uint32_t begin) {
  const Span inside = peek().span;
  std::vector<ExprId> items;
  bool tuple = false;
  const bool brackets = peek().is("[");
  while (!peek().is("]")) {
    items.push_back(item());
    if (!accept(",")) break;
    tuple = true;
  }
  if (items.empty()) source_.fail(peek().span, "expected an index before ']'", "as in x[0], x[1:], x[..., None]");
  ExprId what = items[0];
  // x[[0, 2]] takes two rows, x[0, 2] and x[(0, 2)] one element.
  const ExprKind kind = program_.at(what).kind;
  if (brackets && (kind == ExprKind::Tuple || kind == ExprKind::Each)) tuple = true;
  if (tuple) {
    Expr all{.kind = ExprKind::Tuple, .span = join(inside, last_span())};
    all.args = items;
    what = add(std::move(all));
  }
  if (peek().is(":")) source_.fail(peek().span, "a slice has at most three parts", "start:stop:step");
  expect("]", "separate indices by commas");
  Expr expr{.kind = ExprKind::Index, .span = {begin, last_span().end}};
  expr.args = {value, what};
  return add(std::move(expr));
}

ExprId Parser::item() {
  const Span begin = peek().span;
  ExprId bounds[3] = {kAbsent, kAbsent, kAbsent};
  int colons = 0;
  while (true) {
    if (peek().is(":") && colons < 2) {
      ++colons;
      take();
    } else if (peek().is(",") || peek().is("]") || bounds[colons] != kAbsent) {
      break;
    } else {
      bounds[colons] = expression();
    }
  }
  if (colons == 0) return bounds[0] == kAbsent ? expression() : bounds[0];
  Expr slice{.kind = ExprKind::Slice, .span = join(begin, last_span())};
  slice.args = {bounds[0], bounds[1], bounds[2]};
  return add(std::move(slice));
}

ExprId Parser::atom() {
  const Token& token = take();
  const auto leaf = [&](ExprKind kind) {
    return add({.kind = kind, .span = token.span, .text = token.text, .literal = token.literal});
  };
  if (token.kind == TokenKind::Number) return leaf(ExprKind::Number);
  if (token.kind == TokenKind::Unsigned) return leaf(ExprKind::Unsigned);
  if (token.kind == TokenKind::String) return leaf(ExprKind::Text);
  if (token.text == "lambda" && (peek().kind == TokenKind::Name || peek().is(":")))
    source_.fail(token.span, "there is no 'lambda' in this language", "give the expression a name: y = ...");
  if (token.kind == TokenKind::Name) return leaf(ExprKind::Name);
  if (token.is("None")) return leaf(ExprKind::None);
  if (token.is("...")) return leaf(ExprKind::Ellipsis);
  if (token.is("True") || token.is("False"))
    return add({.kind = ExprKind::Number, .span = token.span, .literal = token.text == "True"});
  if (token.is("(")) return parenthesized(token.span);
  if (token.is("[")) return list(token.span);
  if (token.is("if") || token.is("else") || token.is("and") || token.is("or") || token.is("return") ||
      strength_of(token) != kNone)
    source_.fail(token.span, fmt::format("expected an expression, but found {}", describe(token)),
                 "something is missing before it");
  fail_operand(token, fmt::format("expected an expression, but found {}", describe(token)), "");
}

ExprId Parser::parenthesized(Span open) {
  if (accept(")")) return add({.kind = ExprKind::Tuple, .span = join(open, last_span())});
  const ExprId first = expression();
  if (!peek().is(",")) {
    expect(")", "");
    return first;
  }
  Expr tuple{.kind = ExprKind::Tuple};
  tuple.args.push_back(first);
  while (accept(",") && !peek().is(")")) tuple.args.push_back(expression());
  expect(")", "separate the items by commas");
  tuple.span = join(open, last_span());
  return add(std::move(tuple));
}

ExprId Parser::list(Span open) {
  const ExprId begin = add({.kind = ExprKind::Open, .span = open});
  Expr tuple{.kind = ExprKind::Tuple};
  while (!peek().is("]")) {
    tuple.args.push_back(expression());
    if (tuple.args.size() == 1 && peek().text == "for") return each(open, begin, tuple.args[0]);
    if (!accept(",")) break;
  }
  expect("]", "separate the items by commas");
  tuple.span = join(open, last_span());
  return add(std::move(tuple));
}

ExprId Parser::each(Span open, ExprId begin, ExprId body) {
  const Nested nested(*this);
  Expr each{.kind = ExprKind::Each};
  each.first = begin + 1, each.body = body;
  each.last = program_.exprs[static_cast<size_t>(begin)].last = static_cast<ExprId>(program_.exprs.size());
  take();
  do {
    const Token& name = take();
    if (name.kind != TokenKind::Name)
      source_.fail(name.span, fmt::format("expected a name for the items, but found {}", describe(name)),
                   "as in [2*x for x in xs]");
    each.targets.push_back({name.text, name.span});
  } while (accept(","));
  if (peek().text != "in")
    source_.fail(peek().span, fmt::format("expected 'in', but found {}", describe(peek())), "as in [2*x for x in xs]");
  take();
  if (peek().text == "zip" && peek(1).is("(")) {
    at_ += 2;
    while (!peek().is(")")) {
      each.args.push_back(expression());
      if (!accept(",")) break;
    }
    expect(")", "separate the lists by commas");
  } else {
    each.args.push_back(expression());
  }
  if (peek().text == "if" || peek().text == "for")
    source_.fail(peek().span, fmt::format("unexpected {} after the list", describe(peek())),
                 "a list has one 'for' and no condition; inner lists have brackets of their own");
  expect("]", "as in [2*x for x in xs]");
  each.span = join(open, last_span());
  return add(std::move(each));
}

}  // namespace smelt::lang

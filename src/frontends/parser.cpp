#include "frontends/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "frontends/lexer.hpp"
#include "graph/functions.hpp"

namespace smelt::lang {

namespace {

// Binding strength of the binary operators, as in Python; ** and the prefix operators have their own rules.
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

std::string describe(const Token& token) {
  if (token.kind == TokenKind::EndOfText) return "the end of the program";
  if (token.kind == TokenKind::EndOfLine) return token.text == ";" ? "';'" : "the end of the line";
  return quoted(token.text);
}

class Parser {
 public:
  explicit Parser(const Source& source) : source_(source), tokens_(tokenize(source)) {}

  Program program() {
    while (true) {
      while (peek().kind == TokenKind::EndOfLine) ++at_;
      if (peek().kind == TokenKind::EndOfText) return std::move(program_);
      program_.statements.push_back(statement());
      if (peek().kind != TokenKind::EndOfLine && peek().kind != TokenKind::EndOfText) fail_after_statement();
    }
  }

  ArrayType whole_type() {
    ArrayType result = type();
    while (peek().kind == TokenKind::EndOfLine) ++at_;
    if (peek().kind != TokenKind::EndOfText)
      source_.fail(peek().span, fmt::format("unexpected {} after the type", describe(peek())),
                   "a type is f32 or f32[B, 1024]");
    return result;
  }

 private:
  // Counts nesting for as long as it lives.
  struct Nested {
    Parser& parser;
    explicit Nested(Parser& p) : parser(p) {
      if (++parser.depth_ > kMaxDepth)
        parser.source_.fail(parser.peek().span, fmt::format("this is nested more than {} deep", kMaxDepth),
                            "give inner parts a name of their own: t = ...");
    }
    ~Nested() { --parser.depth_; }
  };

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  bool accept(std::string_view text) {
    if (!peek().is(text)) return false;
    ++at_;
    return true;
  }
  const Token& expect(std::string_view text, const std::string& help) {
    if (!peek().is(text))
      source_.fail(peek().span, fmt::format("expected '{}', but found {}", text, describe(peek())), help);
    return take();
  }

  ExprId add(Expr expr) {
    if (program_.exprs.size() == kMaxExpressions)
      source_.fail(expr.span, fmt::format("the program has more than {} expressions", kMaxExpressions), "split it");
    program_.exprs.push_back(std::move(expr));
    return static_cast<ExprId>(program_.exprs.size() - 1);
  }
  Span span_of(ExprId id) const { return program_.at(id).span; }
  // A part in parentheses is shown with them: parentheses are no expressions, so their span is noted where they end.
  Span last_span() const { return tokens_[at_ - 1].span; }

  // ---- statements

  Statement statement() {
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

  bool begins_definition() const {
    return peek().kind == TokenKind::Name && peek().text == "def" && peek(1).kind == TokenKind::Name && peek(2).is("(");
  }

  // "def" NAME "(" PARAMETERS ")" ":" { statement } "return" expressions. Its end is its return; indentation means nothing.
  void define(Statement& s) {
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
                     "its body goes up to the first return: def f(x): return x + 1");
      made.body.push_back(statement());
      const Statement& last = made.body.back();
      if (last.kind == StatementKind::Expression || last.kind == StatementKind::Foreign)
        source_.fail(last.span, "this value is not used", "a function has assignments, then return EXPRESSION");
      if (peek().kind != TokenKind::EndOfLine && peek().kind != TokenKind::EndOfText) fail_after_statement();
    }
    s.definition = program_.definitions.size();
    program_.definitions.push_back(std::move(made));
  }

  // NAME ["=" expression]
  Formal formal(const std::vector<Formal>& before) {
    const Token& name = take();
    if (name.kind != TokenKind::Name)
      source_.fail(
          name.span, fmt::format("expected the parameter's name, but found {}", describe(name)),
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

  // NAME {"," NAME} "="
  bool begins_assignment() const {
    size_t ahead = 0;
    while (peek(ahead).kind == TokenKind::Name && peek(ahead + 1).is(",")) ahead += 2;
    return peek(ahead).kind == TokenKind::Name && peek(ahead + 1).is("=");
  }

  void input(Statement& s) {
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

  // list[TYPE] or list[TYPE, COUNT]
  void list_type(Statement& s) {
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

  // What other languages have and this one has not, said plainly.
  void check_no_statement() {
    constexpr std::array<std::string_view, 8> kForeign = {"for",   "while",  "import", "from",
                                                          "class", "lambda", "let",    "print"};
    const Token& first = peek();
    const bool alone = peek(1).kind == TokenKind::Name || peek(1).is(":");
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

  [[noreturn]] void fail_after_statement() {
    const Token& token = peek();
    const std::string message = fmt::format("unexpected {}", describe(token));
    if (token.is("=")) source_.fail(token.span, message, "only names are assigned to: NAME = EXPRESSION; == compares");
    if (token.kind == TokenKind::Operator && token.text.size() > 1 && token.text.back() == '=')
      source_.fail(token.span, message,
                   fmt::format("write the operation out: x = x {} ...", token.text.substr(0, token.text.size() - 1)));
    fail_operand(token, message, "a statement ends with its line; a line goes on inside parentheses");
  }

  [[noreturn]] void fail_operand(const Token& token, const std::string& message, const std::string& help) {
    if (token.is("&&")) source_.fail(token.span, message, "write 'and' for bools");
    if (token.is("||")) source_.fail(token.span, message, "write 'or' for bools");
    if (token.is("!")) source_.fail(token.span, message, "write 'not' for bools, ~ for bits");
    source_.fail(token.span, message, help);
  }

  // ---- types

  // `open`: where to note that the type begins with "..."; such types are for inputs only.
  ArrayType type(bool* open = nullptr) {
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

  [[noreturn]] void fail_dtype(const Token& token) {
    std::vector<std::string> names;
    for (DType t : kAllDTypes) names.emplace_back(name_of(t));
    const std::string near = token.kind == TokenKind::Name ? nearest(token.text, names) : "";
    source_.fail(
        token.span,
        token.kind == TokenKind::Name ? fmt::format("there is no type {}", quoted(token.text))
                                      : fmt::format("expected a type, but found {}", describe(token)),
        (near.empty() ? "" : "did you mean " + near + "? ") + fmt::format("the types are {}", fmt::join(names, " ")));
  }

  IntExpr size() {
    const Token& token = take();
    const bool more = !peek().is(",") && !peek().is("]");
    if (token.kind == TokenKind::Number && !more && std::holds_alternative<int64_t>(token.literal))
      return std::get<int64_t>(token.literal);
    if (token.kind == TokenKind::Name && !more) {
      if (token.text.size() > 64)
        source_.fail(token.span, "the name of a size has at most 64 bytes", "choose a shorter name");
      return IntExpr::symbol(std::string(token.text));
    }
    const Span all = join(token.span, more && peek().kind != TokenKind::EndOfText ? peek().span : token.span);
    if (token.is("..."))
      source_.fail(token.span, "'...' stands for the first dimensions of an input only", "as in input x: f32[..., C]");
    if (token.is("-")) source_.fail(all, "a size is 0 or more", "write a number such as 1024, or a name such as B");
    if (token.kind == TokenKind::Number && !std::holds_alternative<int64_t>(token.literal))
      source_.fail(token.span, fmt::format("a size is an integer, not {}", shown(token.text)),
                   "write a number such as 1024, or a name such as B");
    source_.fail(all, "a size in a type is a number or a name",
                 "name the whole size, f32[N], and calculate with it in the program: N // 2");
  }

  // No machine holds 2**47 elements; what is larger is a slip.
  void check_size(const Shape& shape, Span span) {
    double product = 1;
    for (const IntExpr& size : shape)
      if (const auto n = size.constant()) product *= static_cast<double>(std::max<int64_t>(*n, 1));
    if (product > 0x1p47)
      source_.fail(join(span, last_span()), fmt::format("an array of {} elements is too large", product),
                   "an array has at most 2**47 elements");
    if (shape.size() > 64)
      source_.fail(join(span, last_span()), fmt::format("an array of {} dimensions is too much", shape.size()),
                   "an array has at most 64 dimensions");
  }

  // ---- expressions

  // EXPRESSION {"," EXPRESSION} [","]
  ExprId tuple_or_expression() {
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

  ExprId expression() {
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

  // Operators at least as strong as `least`.
  ExprId binary(int least) {
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

  ExprId comparison(ExprId first, uint32_t begin) {
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

  // "not" binds weaker than comparisons, the signs stronger than products.
  ExprId prefix(int least) {
    const Token& token = peek();
    const bool negation = token.is("not");
    if (!negation && !token.is("-") && !token.is("+") && !token.is("~")) return power();
    if (negation && least > kNot)
      source_.fail(token.span, "'not' binds weaker than the operator before it", "put parentheses around it: (not x)");
    const Nested nested(*this);
    take();
    const ExprId operand = negation ? binary(kNot) : prefix(kProduct);
    Expr expr{.kind = ExprKind::Unary, .span = join(token.span, last_span()), .text = token.text};
    expr.args = {operand};
    return add(std::move(expr));
  }

  ExprId power() {
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

  ExprId postfix() {
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

  ExprId attribute(ExprId value, uint32_t begin) {
    const Token& name = peek();
    if (name.kind != TokenKind::Name)
      source_.fail(name.span, fmt::format("expected a name after '.', but found {}", describe(name)),
                   "as in x.T or x.sum(axis=0)");
    take();
    Expr expr{.kind = ExprKind::Attribute, .span = {begin, name.span.end}, .text = name.text};
    expr.args = {value};
    return add(std::move(expr));
  }

  ExprId call(ExprId callee, uint32_t begin) {
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
    expect(")", "separate arguments by commas");
    expr.span = {begin, last_span().end};
    return add(std::move(expr));
  }

  Argument argument() {
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

  ExprId index(ExprId value, uint32_t begin) {
    const Span inside = peek().span;
    std::vector<ExprId> items;
    bool tuple = false;
    while (!peek().is("]")) {
      items.push_back(item());
      if (!accept(",")) break;
      tuple = true;
    }
    if (items.empty()) source_.fail(peek().span, "expected an index before ']'", "as in x[0], x[1:], x[..., None]");
    ExprId what = items[0];
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

  // An index, or start:stop:step with any of them left out.
  ExprId item() {
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

  ExprId atom() {
    const Token& token = take();
    const auto leaf = [&](ExprKind kind) {
      return add({.kind = kind, .span = token.span, .text = token.text, .literal = token.literal});
    };
    if (token.kind == TokenKind::Number) return leaf(ExprKind::Number);
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

  // (x) is x; (x,) and (x, y) and () are tuples.
  ExprId parenthesized(Span open) {
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

  // [x, y] is a tuple; [f(x) for x in xs] too, of an item for each of the list's.
  ExprId list(Span open) {
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

  // for NAME {"," NAME} in LIST, or in zip(LIST, LIST, ...)
  ExprId each(Span open, ExprId begin, ExprId body) {
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
      source_.fail(peek().span, fmt::format("expected 'in', but found {}", describe(peek())),
                   "as in [2*x for x in xs]");
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

  const Source& source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  Program program_;
};

}  // namespace

Program parse(const Source& source) { return Parser(source).program(); }
ArrayType parse_whole_type(const Source& source) { return Parser(source).whole_type(); }

}  // namespace smelt::lang

// The parser's work: tokens to expressions and statements, by recursive descent.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "frontends/lexer.hpp"
#include "frontends/parser.hpp"

namespace smelt::lang {

// As a message names it.
std::string describe(const Token& token);

class Parser {
 public:
  explicit Parser(const Source& source) : source_(source), tokens_(tokenize(source)) {}

  Program program();
  ArrayType whole_type();

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
  const Token& expect(std::string_view text, const std::string& help);
  ExprId add(Expr expr);
  Span span_of(ExprId id) const { return program_.at(id).span; }
  // A part in parentheses is shown with them: parentheses are no expressions, so their span is
  // noted where they end.
  Span last_span() const { return tokens_[at_ - 1].span; }

  // ---- statements

  Statement statement();
  bool begins_definition() const;
  // "def" NAME "(" PARAMETERS ")" ":" { statement } "return" expressions. Its end is its return;
  // indentation means nothing.
  void define(Statement& s);
  // NAME ["=" expression]
  Formal formal(const std::vector<Formal>& before);
  // NAME {"," NAME} "="
  bool begins_assignment() const;
  void input(Statement& s);
  // list[TYPE] or list[TYPE, COUNT]
  void list_type(Statement& s);
  // What other languages have and this one has not, said plainly.
  void check_no_statement();
  [[noreturn]] void fail_after_statement();
  [[noreturn]] void fail_operand(const Token& token, const std::string& message, const std::string& help);

  // ---- types

  // `open`: where to note that the type begins with "..."; such types are for inputs only.
  ArrayType type(bool* open = nullptr);
  [[noreturn]] void fail_dtype(const Token& token);
  // Numbers and names, and what + - * // % make of them.
  IntExpr size();
  IntExpr size_sum();
  IntExpr size_product();
  IntExpr size_atom();
  // No machine holds 2**47 elements; what is larger is a slip.
  void check_size(const Shape& shape, Span span);

  // ---- expressions

  // EXPRESSION {"," EXPRESSION} [","]
  ExprId tuple_or_expression();
  ExprId expression();
  // Operators at least as strong as `least`.
  ExprId binary(int least);
  ExprId comparison(ExprId first, uint32_t begin);
  // "not" binds weaker than comparisons, the signs stronger than products.
  ExprId prefix(int least);
  ExprId power();
  ExprId postfix();
  ExprId attribute(ExprId value, uint32_t begin);
  ExprId call(ExprId callee, uint32_t begin);
  Argument argument();
  ExprId index(ExprId value, uint32_t begin);
  // An index, or start:stop:step with any of them left out.
  ExprId item();
  ExprId atom();
  // (x) is x; (x,) and (x, y) and () are tuples.
  ExprId parenthesized(Span open);
  // [x, y] is a tuple; [f(x) for x in xs] too, of an item for each of the list's.
  ExprId list(Span open);
  // for NAME {"," NAME} in LIST, or in zip(LIST, LIST, ...)
  ExprId each(Span open, ExprId begin, ExprId body);

  const Source& source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  Program program_;
};

}  // namespace smelt::lang

// A program as it was written:
//
//   Program    := statements, expressions, definitions
//   Statement  := Input(name, type) | Assign(names, value) | Return(value) | Expression(value)
//               | Define(name, definition) | Foreign(text)
//   Definition := parameters, statements: Assign, then one Return
//   Expression := Number | Text | Name | None | Ellipsis | Unary(op, x) | Binary(op, x, y) | Compare(ops, xs)
//               | Conditional(x, condition, y) | Call(callee, arguments) | Index(x, item) | Slice(start?, stop?, step?)
//               | Attribute(x, name) | Tuple(items) | Each(names, lists, body)
//
// Expressions lie in one list, arguments before their users, so that going through the list in
// order evaluates the program: nothing recurses over a chain of a million additions. What is in
// brackets begins with an Open: where it turns out to be the body of an Each, going through the
// list jumps over it, and the Each goes through it for every item.
#pragma once

#include <string_view>
#include <vector>

#include "frontends/diagnostics.hpp"
#include "frontends/language.hpp"
#include "graph/build.hpp"

namespace smelt::lang {

using ExprId = int32_t;
inline constexpr ExprId kAbsent = -1;  // a bound of a slice that is not written

enum class ExprKind : uint8_t {
  Number,
  Unsigned,
  Text,
  Name,
  None,
  Ellipsis,
  Unary,
  Binary,
  Compare,
  Conditional,
  Call,
  Index,
  Slice,
  Attribute,
  Tuple,
  Open,
  Each
};

struct Argument {
  std::string_view name;  // empty: by position
  Span span;              // with the name
  ExprId value;
};

struct Target {
  std::string_view name;
  Span span;
};

struct Expr {
  ExprKind kind;
  Span span;
  std::string_view text;                    // operator, name, attribute, or contents of a Text
  Literal literal = int64_t{0};             // Number; Unsigned: its bits as i64
  std::vector<ExprId> args;                 // Slice: three, possibly kAbsent
  std::vector<std::string_view> operators;  // Compare: one less than args
  std::vector<Argument> arguments;          // Call, whose callee is args[0]
  bool called = false;                      // Name, Attribute: what a call calls
  std::vector<Target> targets;              // Each: what the items of its lists, args, are called
  ExprId first = kAbsent,
         last = kAbsent;  // Each: its body, whose value is that of `body`; Open: from here to last is jumped over
  ExprId body = kAbsent;
};

enum class StatementKind : uint8_t { Input, Assign, Return, Expression, Define, Foreign };

struct Statement {
  StatementKind kind;
  Span span;                    // of its first word
  std::vector<Target> targets;  // Input, Assign, Define
  ArrayType type{};             // Input
  Span type_span{};             // Input
  bool open = false;            // Input: f32[..., C] takes any dimensions in front
  bool list = false;            // Input: list[f32[N], 8], an input for each item
  int64_t count = -1;           // Input: its items; -1: as many as are given
  ExprId value = kAbsent;       // Assign, Return, Expression
  ExprId first = 0, last = 0;   // its expressions: first <= id < last; of Define those of the defaults
  size_t definition = 0;        // Define
  Span text{};                  // Foreign: the text between the quotes
};

struct Formal {
  std::string_view name;
  Span span;
  ExprId value = kAbsent;  // when the call gives none
};

struct Definition {
  std::vector<Formal> parameters;
  std::vector<Statement> body;
};

struct Program {
  std::vector<Statement> statements;
  std::vector<Definition> definitions;
  std::vector<Expr> exprs;

  const Expr& at(ExprId id) const { return exprs[static_cast<size_t>(id)]; }
};

}  // namespace smelt::lang

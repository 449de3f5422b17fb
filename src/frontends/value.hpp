// What an expression of the language stands for while the program is built: an array of the graph,
// or something that is known now (numbers, sizes, tuples of them, types, functions).
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "graph/build.hpp"
#include "graph/functions.hpp"

namespace smelt::lang {

struct Function;
struct UserFunction;
struct Value;
struct Derivative;

// A node of the graph. Weak: a number calculated from sizes, f64 or i64 of rank 0, which takes the
// dtype of what it meets as a literal does.
struct Array {
  NodeId node;
  bool weak = false;
};
struct Size {
  IntExpr expr;  // no constant: such a size is a Literal
};
struct Tuple {
  std::shared_ptr<const std::vector<Value>> items;
};
struct Bounds {  // start:stop:step, None where nothing is written
  std::shared_ptr<const std::vector<Value>> items;
};
struct Text {
  std::string_view text;
};
struct Nothing {};
struct Dots {};
// A function, or a method with its receiver.
struct Callable {
  const Function* function;
  std::string_view name;  // as it was written: a name or alias of the function table
  std::shared_ptr<const Value> receiver;
  const UserFunction* user = nullptr;            // then `function` is null
  std::shared_ptr<const Derivative> derivative;  // then both are null
};
// The gradient of a function, or its value and its gradient.
struct Derivative {
  Callable of;
  std::vector<int64_t> arguments;  // that the gradient is by
  bool several = false;            // a tuple of gradients, even of one
  bool with_value = false;
  int depth = 1;  // of gradients of gradients
};

struct Value {
  std::variant<Literal, Size, Array, Tuple, Bounds, DType, Text, Nothing, Dots, Callable> is;

  Value() : is(Nothing{}) {}
  template <class T>
  Value(T value) : is(std::move(value)) {}  // NOLINT: meant to convert
  static Value array(NodeId node) { return Value(Array{node}); }
  static Value size(const IntExpr& size);  // a Literal when it is a number
  static Value tuple(std::vector<Value> items);
  static Value integer(int64_t value) { return Value(Literal(value)); }

  template <class T>
  const T* as() const {
    return std::get_if<T>(&is);
  }
  bool is_none() const { return as<Nothing>() != nullptr; }
};

// How messages call it: "f32[B, 4]", "the number 3", "the tuple (2, 3)", "the type f32", "the
// function relu".
std::string describe(const GraphBuilder& b, const Value& value);

// Conversions; nothing when the value is of another kind.
std::optional<int64_t> as_integer(const Value& value);  // a literal integer, no bool
std::optional<IntExpr> as_size(const Value& value);     // a literal integer or a size
std::optional<double> as_number(const Value& value);    // a literal integer or float
// The value as a node (literals take their default dtypes, i64 and f32), or as an operand. Throws
// UserBuildError for what is no number. `weak_to` is the dtype that weak floats take.
NodeId as_array(GraphBuilder& b, const Value& value, DType weak_to = DType::F32);
Operand as_operand(GraphBuilder& b, const Value& value, DType weak_to = DType::F32);

// The operation on arrays, sizes and numbers. Literals alone are calculated now, as Python does;
// sizes stay sizes where they can.
Value apply(GraphBuilder& b, Op op, const std::vector<Value>& args, std::string_view written);

// A cast, f32(x). Literals are cast too: i8(300) is 127.
Value cast(GraphBuilder& b, const Value& value, DType to);

// value[item], for arrays and tuples.
Value subscript(GraphBuilder& b, const Value& value, const Value& item);
// A list of integers, or a list of such lists of one length, as indices.
functions::KnownIndices known_indices(GraphBuilder& b, const Value& list);
// x with x[index] = value: the items of a subscript without arrays.
NodeId slice_update(GraphBuilder& b, NodeId x, const Value& index, const Operand& value);

}  // namespace smelt::lang

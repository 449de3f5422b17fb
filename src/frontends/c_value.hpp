// Values of C while a scalar function becomes operations: known now, or a node; and C's rules for
// them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/build.hpp"

namespace smelt::lang {

// A comparison gives Bool, which takes part in arithmetic as an int of 0 or 1 does.
struct CValue {
  DType dtype = DType::I32;
  NodeId node = -1;
  std::optional<Scalar> known;

  static CValue of(const Scalar& scalar) { return {scalar.dtype, -1, scalar}; }
  bool is_true() const { return known && known->as_bool(); }
  bool is_false() const { return known && !known->as_bool(); }
  friend bool operator==(const CValue& a, const CValue& b) {
    return a.dtype == b.dtype && a.node == b.node && a.known == b.known;
  }
};

// Operations on C values. Counts what it makes, so that no text can fill the memory.
class CArithmetic {
 public:
  explicit CArithmetic(GraphBuilder& b) : b_(b) {}

  NodeId node(const CValue& v);
  CValue convert(const CValue& v, DType to);                                 // as an assignment does
  CValue apply(Op op, std::initializer_list<CValue> args);                   // of one dtype
  CValue select(const CValue& condition, const CValue& x, const CValue& y);  // of one dtype
  CValue binary(std::string_view op, const CValue& x, const CValue& y);      // + - * / % & | ^ << >> and comparisons
  CValue truth(const CValue& v) { return convert(v, DType::Bool); }
  CValue promoted(const CValue& v);                      // small integers become int
  DType common(const CValue& x, const CValue& y) const;  // the usual arithmetic conversions
  int made() const { return made_; }

 private:
  GraphBuilder& b_;
  int made_ = 0;
};

// A function of math.h, "expf" or "exp". Nothing when there is none of this name.
struct CMathFunction {
  std::string_view name;  // without the f of float
  int arity;
  DType dtype;  // of arguments; I32: the integers that they are
};
std::optional<CMathFunction> c_math_function(std::string_view name);
CValue call_math(CArithmetic& a, const CMathFunction& function, std::span<const CValue> arguments);
// The best guess at what was meant by an unknown name; may be empty.
std::string similar_math_function(std::string_view name);
// INFINITY, M_PI, FLT_MAX, ...
std::optional<Scalar> c_constant(std::string_view name);

}  // namespace smelt::lang

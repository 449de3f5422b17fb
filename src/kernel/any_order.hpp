// Floats that are joined in any order, with the same bits: as integers.
#pragma once

#include <vector>

#include "kernel/build.hpp"

namespace smelt::kernel {

// Integers that are ordered as floats are; NaN is above (or below) all of them.
DType ordered_type(DType dtype);
ExprId to_ordered(Builder& b, ExprId x, bool nan_below);
ExprId from_ordered(Builder& b, ExprId key, DType dtype);

// Sums: terms are multiples of 2^-30 of the power of two above the largest, of which 2^33 fit 64
// bits. An f64 takes a second integer, of multiples of 2^-61. Infinities and NaN are counted
// instead.
class ExactSums {
 public:
  ExactSums(Builder& b, DType dtype) : b_(b), dtype_(dtype) {}  // f32 or f64

  int words() const { return dtype_ == DType::F64 ? 2 : 1; }  // of i64, for each sum
  // The exponent of a term as it is stored, an i32; the largest of a sum's terms is its top.
  ExprId exponent(ExprId x);
  // What a term adds to one word of the sum.
  ExprId part(ExprId x, ExprId top, int word);
  // x and the sum of its terms: of f32 rounded once.
  ExprId total(ExprId x, const std::vector<ExprId>& sums, ExprId top);

 private:
  ExprId op(Op op, ExprId x, ExprId y) { return b_.apply(op, {x, y}); }
  ExprId number(DType t, int64_t value) { return b_.constant(Scalar::of_int(t, value)); }
  ExprId where(ExprId condition, ExprId x, ExprId y) { return b_.apply(Op::Where, {condition, x, y}); }
  ExprId power(ExprId e);
  ExprId times_power(ExprId x, ExprId e);
  // The exponent of multiples of 2^-30, below the power of two above the top.
  int64_t unit() const;
  int64_t infinite() const { return dtype_ == DType::F64 ? 2047 : 255; }  // the exponent of infinities and NaN

  Builder& b_;
  const DType dtype_;
};

}  // namespace smelt::kernel

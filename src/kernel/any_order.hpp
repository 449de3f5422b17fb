// Floats that are joined in any order, with the same bits: as integers.
#pragma once

#include <array>
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
  ExprId times_power(ExprId x, ExprId e);
  // The exponent of multiples of 2^-30, below the power of two above the top.
  int64_t unit() const;
  int64_t infinite() const { return dtype_ == DType::F64 ? 2047 : 255; }  // the exponent of infinities and NaN

  Builder& b_;
  const DType dtype_;
};

// Sums of f32 terms of which only the range of exponents is known: a term is an integer at the
// level of its exponent, a whole one, and each level has its own sum. The last level counts
// infinities and NaN instead.
class LevelSums {
 public:
  // dtype: f32, or a small float that is computed as one. `terms`: so many at most.
  LevelSums(Builder& b, DType dtype, const IntExpr& terms);

  // What is known of all terms: i32, each the largest over them, of 0.
  static constexpr int kFacts = 3;
  std::array<ExprId, kFacts> facts(ExprId x) const;  // the exponent, 255 less it, whether it is infinite or NaN
  struct Known {
    ExprId top, levels, special;  // the largest exponent, levels that have terms, facts[2]
  };
  Known known(const std::array<ExprId, kFacts>& facts) const;

  const IntExpr& levels() const { return levels_; }
  struct Term {
    ExprId level, value;  // i64
  };
  Term term(ExprId x, ExprId top) const;
  // What the sum of a level stands for, an f64.
  ExprId value_of(ExprId sum, ExprId level, ExprId top) const;
  // x and its terms, an f64 of all levels but the last; `any`: 0 where no level has anything.
  ExprId total(ExprId x, ExprId sum, ExprId any, ExprId last) const;

 private:
  ExprId op(Op op, ExprId x, ExprId y) const { return b_.apply(op, {x, y}); }
  ExprId number(DType t, int64_t value) const { return b_.constant(Scalar::of_int(t, value)); }
  ExprId where(ExprId condition, ExprId x, ExprId y) const { return b_.apply(Op::Where, {condition, x, y}); }
  struct Bits {
    ExprId magnitude, stored, exponent, special;  // without the sign; of the exponent; of 1 at least; all ones
  };
  Bits bits_of(ExprId x) const;
  ExprId step() const;

  Builder& b_;
  const DType dtype_;
  IntExpr step_, levels_;  // exponents of a level
};

}  // namespace smelt::kernel

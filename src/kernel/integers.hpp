// Operations of a program on integers, by what is known of their values: comparisons that are
// decided become constants, 64 bits become 32 where everything fits those, and quotients are
// corrected only where something may be below 0. Programs seldom need the 64 bits of NumPy's
// default integer.
#pragma once

#include <vector>

#include "kernel/build.hpp"
#include "kernel/integer_ranges.hpp"

namespace smelt::kernel {

class Integers {
 public:
  explicit Integers(Builder& builder) : builder_(builder), ranges_(builder.kernel()) {}

  // As those of the builder.
  ExprId apply(Op op, std::vector<ExprId> args);
  ExprId cast(ExprId x, DType to, bool wrap = false);

  Between range_of(ExprId id) { return ranges_.of(id); }
  // What is known besides of an index, until it is forgotten: where other loops are around.
  void know(ExprId index, const Between& range) { ranges_.know(index, range); }
  void forget() { ranges_ = IntegerRanges(builder_.kernel()); }
  // What a value of 64 bits was computed as, if that was narrower.
  ExprId computed(ExprId id);

 private:
  bool fits(ExprId id);
  ExprId narrowed(ExprId id);
  ExprId result(Op op, std::vector<ExprId> args, bool narrow);
  ExprId made(Op op, const std::vector<ExprId>& args);
  ExprId extreme(Op op, const std::vector<ExprId>& args);
  ExprId shifted(Op op, const std::vector<ExprId>& args);
  ExprId divided(Op op, const std::vector<ExprId>& args);

  Builder& builder_;
  IntegerRanges ranges_;
};

}  // namespace smelt::kernel

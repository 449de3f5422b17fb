// What the numbers of a kernel lie between, as far as their types and operations tell.
#pragma once

#include <unordered_map>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Doubles: a bound past 2^53 is rounded, and no narrower type has such values anyway.
struct Between {
  double low = 0, high = 0;
  bool within(const Between& b) const { return b.low <= low && high <= b.high; }
};

Between all_of(DType t);  // of an integer or bool
// What a float lies between that becomes an integer: truncated, and 0 where it is NaN.
Between truncated(const Between& of_float);

// What quotients that are rounded down lie between, and remainders that have the sign of b.
Between quotient(const Between& a, const Between& b);
Between remainder(const Between& a, const Between& b);

class IntegerRanges {
 public:
  explicit IntegerRanges(const Kernel& kernel) : kernel_(&kernel) {}

  // The expression is an integer or a bool.
  Between of(ExprId id) { return of(id, 0); }
  // What a // b or a % b lies between, in whatever way it is written.
  Between of_division(Op op, ExprId a, ExprId b) {
    return op == Op::FloorDiv ? quotient(of(a), of(b)) : remainder(of(a), of(b));
  }
  // What a float lies between, unless it is NaN.
  Between of_float(ExprId id) { return of_float(id, 0); }
  // What is known besides of an index.
  void know(ExprId id, const Between& range) { known_[id] = range; }

 private:
  Between of(ExprId id, int depth);
  Between of(const Apply& e, const Between& all, int depth);
  Between of(const Raw& e, const Between& all, int depth);
  Between of_float(ExprId id, int depth);
  Between of_float(const Apply& e, int depth);

  const Kernel* kernel_;
  std::unordered_map<ExprId, Between> known_;
};

}  // namespace smelt::kernel

// What the integers of a kernel lie between, as far as their types and operations tell.
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

class IntegerRanges {
 public:
  explicit IntegerRanges(const Kernel& kernel) : kernel_(&kernel) {}

  // The expression is an integer or a bool.
  Between of(ExprId id) { return of(id, 0); }
  // What is known besides of an index.
  void know(ExprId id, const Between& range) { known_[id] = range; }

 private:
  Between of(ExprId id, int depth);
  Between of(const Apply& e, const Between& all, int depth);
  Between of(const Raw& e, const Between& all, int depth);

  const Kernel* kernel_;
  std::unordered_map<ExprId, Between> known_;
};

}  // namespace smelt::kernel

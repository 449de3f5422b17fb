// Formulas of running sums.
#include <fmt/format.h>

#include <cmath>

#include "graph/term.hpp"

namespace smelt::functions {

NodeId cummean(GraphBuilder& b, NodeId x, int axis) {
  const Term v = widened(b, x, "cummean");
  const Term total(b, b.scan(ReduceKind::Sum, v.id(), axis));
  const NodeId before = b.iota(b.shape(x), b.normalize_axis(axis, b.rank(x)));
  return narrowed(total / (Term(b, b.cast(before, dtype_of(v))) + 1.0), b.dtype(x));
}

// The sum of exponentials below the maximum so far, which is rescaled where that grows. Gradients
// take the maximum for a constant. An infinite one must not be subtracted, as in logsumexp.
NodeId logcumsumexp(GraphBuilder& b, NodeId x, int axis) {
  const Term v = widened(b, x, "logcumsumexp");
  const Term before = held(Term(b, b.scan(ReduceKind::Max, v.id(), axis, false, true)));
  // The difference from a NaN is one, whichever is taken for the maximum.
  const Term top = held(where(before >= v, before, v)), infinite = equal(abs(top), HUGE_VAL);
  const Term added = exp(where(infinite, 0.0, v - top));
  const Term scale = held(exp(where(infinite, -HUGE_VAL, before - top)));
  const Term total(b, b.recurrence(added.id(), scale.id(), axis));
  return narrowed(log(total) + top, b.dtype(x));
}

}  // namespace smelt::functions

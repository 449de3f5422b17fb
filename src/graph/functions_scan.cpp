// Formulas of running sums.
#include <fmt/format.h>

#include "graph/term.hpp"

namespace smelt::functions {

NodeId cummean(GraphBuilder& b, NodeId x, int axis) {
  const Term v = widened(b, x, "cummean");
  const Term total(b, b.scan(ReduceKind::Sum, v.id(), axis));
  const NodeId before = b.iota(b.shape(x), b.normalize_axis(axis, b.rank(x)));
  return narrowed(total / (Term(b, b.cast(before, dtype_of(v))) + 1.0), b.dtype(x));
}

// An infinite maximum must not be subtracted, as in logsumexp.
NodeId logcumsumexp(GraphBuilder& b, NodeId x, int axis) {
  const Term v = widened(b, x, "logcumsumexp");
  const Term top = kept(ReduceKind::Max, v, {axis});
  const Term shift = held(where(apply(Op::IsFinite, {top}), top, 0.0));
  const Term total(b, b.scan(ReduceKind::Sum, exp(v - shift).id(), axis));
  return narrowed(log(total) + shift, b.dtype(x));
}

}  // namespace smelt::functions

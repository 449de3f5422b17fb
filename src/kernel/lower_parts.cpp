// Parts of a reduction: how many there are, and the partial results that a first phase leaves and a
// second one takes.
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lower_reduction.hpp"
#include "schedule/parts.hpp"

namespace smelt::kernel {

using schedule::kMaxParts, schedule::kTeamsPerProcessor;

// Points of the other reduced axes for each point of this one, estimated.
int64_t ReductionLowering::points_below(const Axis& axis) const {
  int64_t points = 1;
  for (const Axis& other : domain().axes)
    if (other.reduced && &other != &axis) points *= std::max<int64_t>(1, other.estimate);
  return points;
}

// Parts of an axis that have at least `points` points of all reduced axes; a GPU takes no more than
// give each multiprocessor several of them, besides `others`.
IntExpr ReductionLowering::wanted_parts(const Axis& axis, int64_t points, const IntExpr& others) const {
  const int64_t least = std::max<int64_t>(1, points / points_below(axis));
  IntExpr parts = min(kMaxParts, ceildiv(axis.extent, least));
  if (on_gpu()) parts = min(parts, ceildiv(IntExpr::symbol(kLaunchThreads) * kTeamsPerProcessor, max(1, others)));
  return max(1, parts);
}

const Axis& ReductionLowering::first_reduced() const {
  for (const Axis& axis : domain().axes)
    if (axis.reduced) return axis;
  throw InternalError("a split without a reduced axis");
}

// The parts have "%part" points, a multiple of `multiple`, and of `step` too where that makes them
// longer by an eighth at most.
ReductionLowering::SplitAxis ReductionLowering::split_axis(const Axis& axis, const IntExpr& wanted, int64_t multiple,
                                                           int64_t step) {
  constexpr int64_t kLonger = 8;
  SplitAxis split;
  split.axis = &axis;
  const IntExpr n = split.axis->extent;
  IntExpr part = ceildiv(ceildiv(n, wanted), multiple) * multiple;
  if (step > 1) {
    const IntExpr more = ceildiv(part, step) * step - part;
    part = part + more * min(1, floordiv(part, max(1, more * kLonger)));
  }
  split.part = launch_size(Symbol::launch("part"), part);
  split.parts = launch_size(Symbol::launch("parts"), ceildiv(n, split.part));
  return split;
}

// Partial results: one array per accumulator, and one more for the indices of argmax.
std::vector<ReductionLowering::Partial> ReductionLowering::partials(const std::vector<Accumulator>& accs,
                                                                    const Shape& dims) {
  std::vector<Partial> result;
  for (const Accumulator& a : accs) {
    Partial p;
    p.value = add_temporary(a.value_type, dims, "partial result");
    if (a.with_index()) p.index = add_temporary(DType::I64, dims, "partial index");
    result.push_back(p);
  }
  return result;
}

void ReductionLowering::store_partials(const std::vector<Accumulator>& accs, const std::vector<Partial>& parts,
                                       const Index& at, std::vector<Stmt>& body) {
  for (size_t i = 0; i < accs.size(); ++i) {
    body.push_back(builder_.store({false, parts[i].value, at}, held(accs, i)));
    if (accs[i].with_index()) body.push_back(builder_.store({false, parts[i].index, at}, result(accs[i])));
  }
}

std::vector<Stmt> ReductionLowering::take_partials(const std::vector<Accumulator>& accs,
                                                   const std::vector<Partial>& parts, const Index& at) {
  std::vector<Stmt> body;
  std::vector<ExprId> values;
  for (size_t i = 0; i < accs.size(); ++i) {
    const ExprId value = builder_.load({false, parts[i].value, at});
    const ExprId index = accs[i].with_index() ? builder_.load({false, parts[i].index, at}) : kNoExpr;
    values.push_back(value);
    if (!accs[i].of_moments()) append(body, take_part(accs[i], value, index));
  }
  append(body, take_moments(accs, values));
  return body;
}

}  // namespace smelt::kernel

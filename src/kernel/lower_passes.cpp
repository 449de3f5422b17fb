// The passes over what one iteration has: one for each level of reductions, and one more for what needs the last of them.
#include "kernel/lowering.hpp"

namespace smelt::kernel {

// Gives the accumulators of a block another one, of all blocks.
void Lowering::add_total(Accumulator a) {
  const LocalId of_block = a.value;
  a.value = builder_.new_local(a.value_type, true);
  if (a.with_index()) a.index = builder_.new_local(a.index_type, true);
  totals_.emplace(of_block, a);
}

// What a pass leaves: itself where there are no blocks.
Accumulator Lowering::total_of(const Accumulator& a) const {
  const auto total = totals_.find(a.value);
  return total == totals_.end() ? a : total->second;
}

std::vector<Accumulator> Lowering::totals_of(std::vector<Accumulator> accs) const {
  for (Accumulator& a : accs) a = total_of(a);
  return accs;
}

std::vector<Stmt> Lowering::passes(const Placement& placement, PassLoops in) {
  const auto count = static_cast<size_t>(domain().levels) + 1;
  std::vector<std::vector<Stmt>> elements(count), starts(count), outputs(count);
  std::vector<std::vector<Accumulator>> accs(count);
  for (size_t p = 0; p < count; ++p) {
    const int level = static_cast<int>(p);
    if (level < domain().levels) accs[p] = in.accumulators(level);
    element_pass(level, accs[p], placement, elements[p]);
    starts[p] = take_scan_starts();
    for (const Accumulator& a : totals_of(accs[p])) evaluator_.set_reduction(a.reduction->node, result(a));
    outputs[p] = in.outputs(level + 1);
  }
  Keep keep{{}, {}, in.points, in.innermost};
  for (const Axis& axis : domain().axes)
    if (axis.reduced && !schedule_.flat) {
      keep.index.push_back(axis.value().substitute(placement.value_of, placement.ranges));
      keep.dims.push_back(axis.extent);
    }
  if (in.lanes) {
    keep.index.push_back(IntExpr::symbol(kLane));
    keep.dims.push_back(*in.lanes);
  }
  keep_values(elements, keep);
  std::vector<Stmt> body;
  for (size_t p = 0; p < count; ++p) {
    append(body, in.around(accs[p], std::move(starts[p]), std::move(elements[p])));
    append(body, std::move(outputs[p]));
  }
  return body;
}

}  // namespace smelt::kernel

// The passes over a row or a column: one for each level of reductions, and one more for what needs
// the last of them.
#include <memory>

#include "kernel/lower_reduction.hpp"

namespace smelt::kernel {

const Axis& AccumulatorLowering::column_axis() const {
  const Axis* last = nullptr;
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) last = &axis;
  return *last;
}

// Tiles of columns may go beyond the last one: nothing is read or stored there. What holds inside;
// kNoExpr: always.
ExprId AccumulatorLowering::only_in_columns(const Placement& placement) {
  if (!schedule_.columns) return kNoExpr;
  return evaluator_.only_where({{placement.value_of.at(column_axis().var), column_axis().extent}});
}

// The body of one pass: accumulate the reductions of this level, store the outputs that are ready.
void AccumulatorLowering::element_pass(int level, const std::vector<Accumulator>& accs, const Placement& placement,
                                       std::vector<Stmt>& body) {
  evaluator_.enter(&body, &placement.ranges);
  const ExprId inside = only_in_columns(placement);
  std::vector<Stmt> tail;
  for (const Accumulator& a : accs) {
    if (a.relative >= 0 || a.of_moments()) continue;  // its sum finds it on the way; below
    const Reduction& r = a.maximum >= 0 ? *accs[static_cast<size_t>(a.maximum)].reduction : *a.reduction;
    const ExprId value = evaluator_.value(graph_.at(r.node).args[0], placement.at(r.argument_index));
    append(tail, a.maximum >= 0 ? update_online(a, value) : take_element(a, value, position(placement)));
  }
  append(tail, update_moments(accs, placement));
  for (const StoredOutput& o : domain().outputs)
    if (!o.per_row && o.level == level)
      tail.push_back(store_output(o, placement, evaluator_.value_to_store(o.base, placement.at(o.base_index)), inside));
  append(body, std::move(tail));
}

// Outputs of one element a row that are ready once `level` levels are done.
std::vector<Stmt> AccumulatorLowering::row_outputs(int level, const Placement& placement) {
  std::vector<Stmt> body, tail;
  evaluator_.enter(&body, &placement.ranges);
  const ExprId inside = only_in_columns(placement);
  for (const StoredOutput& o : domain().outputs)
    if (o.per_row && (o.level == level || (o.level == 0 && level == 1)))
      tail.push_back(store_output(o, placement, evaluator_.value_to_store(o.base, placement.at(o.base_index)), inside));
  append(body, std::move(tail));
  return body;
}

// From here on their reductions are worth what the accumulators hold.
void AccumulatorLowering::set_results(const std::vector<Accumulator>& accs) {
  const auto shared = std::make_shared<const std::vector<Accumulator>>(accs);
  for (size_t i = 0; i < accs.size(); ++i) {
    const Accumulator& a = accs[i];
    if (a.role == Role::Reduction) evaluator_.set_reduction(a.reduction->node, result(a));
    if (a.role == Role::Moment)
      evaluator_.set_reduction(a.reduction->node,
                               [this, shared, i](const Index& index) { return moment_result(*shared, i, index); });
  }
}

// Gives the accumulators of a block another one, of all blocks.
void ReductionLowering::add_total(Accumulator a) {
  const LocalId of_block = a.value;
  a.value = builder_.new_local(a.value_type, true);
  if (a.with_index()) a.index = builder_.new_local(a.index_type, true);
  a.joined = false;
  totals_.emplace(of_block, a);
}

// What a pass leaves: itself where there are no blocks.
Accumulator ReductionLowering::total_of(const Accumulator& a) const {
  const auto total = totals_.find(a.value);
  return total == totals_.end() ? a : total->second;
}

std::vector<Accumulator> ReductionLowering::totals_of(std::vector<Accumulator> accs) const {
  for (Accumulator& a : accs) a = total_of(a);
  return accs;
}

std::vector<Stmt> ReductionLowering::passes(const Placement& placement, PassLoops in) {
  const auto count = static_cast<size_t>(domain().levels) + 1;
  std::vector<std::vector<Stmt>> elements(count), starts(count), outputs(count);
  std::vector<std::vector<Accumulator>> accs(count);
  for (size_t p = 0; p < count; ++p) {
    const int level = static_cast<int>(p);
    if (level < domain().levels) accs[p] = in.accumulators(level);
    element_pass(level, accs[p], placement, elements[p]);
    starts[p] = take_scan_starts();
    set_results(totals_of(accs[p]));
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
    if (!outputs[p].empty() && in.around_outputs) outputs[p] = in.around_outputs(std::move(outputs[p]));
    append(body, std::move(outputs[p]));
  }
  return body;
}

}  // namespace smelt::kernel

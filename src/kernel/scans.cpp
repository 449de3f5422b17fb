// Scans: how a running value is kept while a pass goes along its axis.
#include <utility>

#include "base/check.hpp"
#include "kernel/lower_reduction.hpp"

namespace smelt::kernel {

AccumulatorLowering::AccumulatorLowering(const Graph& graph, const schedule::Group& group, const Schedule& schedule,
                                         std::string name)
    : Lowering(graph, group, schedule, std::move(name)) {
  evaluator_.set_scan([this](NodeId id, const Index& index) { return scan_at(id, index); });
}

IntExpr AccumulatorLowering::directed(const Axis& axis, const IntExpr& position) const {
  return domain().reversed ? axis.extent - 1 - position : position;
}

std::vector<AccumulatorLowering::RunningScan> AccumulatorLowering::take_running_scans() {
  return std::exchange(running_scans_, {});
}

std::vector<Stmt> AccumulatorLowering::take_scan_starts() {
  std::vector<Stmt> starts;
  for (const RunningScan& s : take_running_scans()) starts.push_back(assign(s.carry, s.start));
  return starts;
}

//   over the lanes:     scan result = x after carry
//   down the columns:   carry := carry op x; result = carry      or  carry := fma(factor, carry, x)
ExprId AccumulatorLowering::scan_at(NodeId id, const Index& index) {
  const Node& node = graph_.at(id);
  const DType t = accumulator_type(graph_.at(node.args[0]).dtype);
  const bool float_sum = is_float(t) && node.reduce == ReduceKind::Sum;
  Accumulator running{nullptr, node.reduce};
  running.value_type = t;
  const ExprId start = initial(running);
  // Nothing yet: -0, to which -0 may be added. What starts at 0 has no -0 in its sums.
  const ExprId nothing = float_sum && !node.exclusive ? builder_.constant(Scalar::of_float(t, -0.0)) : start;
  ExprId x = evaluator_.value(node.args[0], index);
  if (float_sum && node.exclusive) x = builder_.apply(Op::Add, {x, start});
  const ExprId second = node.args.size() > 1 ? evaluator_.value(node.args[1], index) : kNoExpr;
  const bool factors = has_factors(graph_, node);
  const ExprId restarts = factors ? kNoExpr : second, factor = factors ? second : kNoExpr;
  const LocalId carry = builder_.new_local(t, true), result = builder_.new_local(t, false);
  running_scans_.push_back({id, carry, nothing, restarts, factor});
  std::vector<Stmt>& block = evaluator_.block();
  if (!scans_down_) {
    Scan s = scan(result, op_of(node.reduce), carry, x, start, node.exclusive, restarts, factor);
    if (scan_grid_) {
      const int words = scan_words(t, factors);
      Shape dims = scan_grid_->rows;
      dims.insert(dims.end(), {IntExpr(3), scan_grid_->parts, IntExpr(words)});
      const int meet = add_temporary(DType::U64, dims, "where parts meet");
      s.over_grid = {{false, meet, scan_grid_->at}, scan_grid_->at[scan_grid_->at.size() - 2], scan_grid_->parts};
      scan_grid_->meets.emplace_back(meet, words);
    }
    block.push_back(std::move(s));
    return builder_.local(result);
  }
  const ExprId before = builder_.local(carry);
  const auto unless_anew = [&](ExprId first, ExprId otherwise) {
    return restarts == kNoExpr ? otherwise : builder_.apply(Op::Where, {restarts, first, otherwise});
  };
  if (node.exclusive) block.push_back(let(result, unless_anew(start, before)));
  const ExprId joined = factors ? builder_.apply(Op::Fma, {factor, before, x}) : merged(running, before, x);
  block.push_back(assign(carry, unless_anew(x, joined)));
  if (!node.exclusive) block.push_back(let(result, before));
  return builder_.local(result);
}

}  // namespace smelt::kernel

// Split, with scans down columns, on a GPU: columns too few to keep it busy run in parts of their
// rows.
//
//   phase 0: grid %g over tiles of columns and parts: the total of the part
//   phase 1: grid %g over the columns:                vector %i over the parts: what all parts up to it join to
//   phase 2: grid %g over tiles of columns and parts: the scan of the part, after what those before it join to; store
//
// What is scanned is read twice. Parts follow from sizes and device, and so does the order of a
// sum.
#include <algorithm>

#include "kernel/lower_column.hpp"
#include "schedule/parts.hpp"

namespace smelt::kernel {
namespace {

// Threads that join the parts of a column.
constexpr int kJoiners = 256;

}  // namespace

void ColumnLowering::split_scans() {
  scans_down_ = true;
  const SplitAxis split = rows_in_parts(schedule::kMaxParts);
  ColumnLoops loops = column_loops(&split);
  loops.together = schedule_.unroll;
  const std::vector<PartScan> scans = total_parts(split, loops);
  join_totals(split, scans);

  std::vector<Stmt> element, lanes;
  element_pass(0, {}, loops.placement, element);
  evaluator_.enter(&lanes, &loops.placement.ranges);
  const ExprId follows = builder_.apply(Op::Gt, {builder_.index(loops.part), builder_.index(0)});
  for (const RunningScan& s : take_running_scans()) {
    const auto part =
        std::find_if(scans.begin(), scans.end(), [&](const PartScan& p) { return p.scan.node == s.node; });
    const Access before{false, part->joined, column_partial_at(loops.placement, loops.part - 1)};
    lanes.push_back(assign(s.carry, builder_.load(before, follows, s.start)));
  }
  append(lanes, down_columns(loops, {}, std::move(element)));
  add_phase(loops.count, single(vector(loops.width, std::move(lanes))), split.part * schedule_.tile);
}

std::vector<ColumnLowering::PartScan> ColumnLowering::total_parts(const SplitAxis& split, const ColumnLoops& loops) {
  const Placement& placement = loops.placement;
  const Shape dims = column_partials(split);
  const Index at = column_partial_at(placement, loops.part);
  std::vector<PartScan> scans;
  std::vector<Stmt> element, lanes, stores;
  evaluator_.enter(&element, &placement.ranges);
  for (const schedule::Scan& s : domain().scans) evaluator_.value(s.node, placement.at(s.index));
  for (const RunningScan& s : take_running_scans()) {
    const DType t = kernel_.locals[static_cast<size_t>(s.carry)].dtype;
    PartScan part{s, t, add_temporary(t, dims, "total of a part"), -1, -1};
    lanes.push_back(assign(s.carry, s.start));
    stores.push_back(builder_.store({false, part.totals, at}, builder_.local(s.carry)));
    if (s.restarts != kNoExpr || s.factor != kNoExpr) {
      const bool factors = s.factor != kNoExpr;
      const DType type = factors ? t : DType::Bool;
      part.second = add_temporary(type, dims, factors ? "product of the factors of a part" : "whether a part restarts");
      const LocalId second = builder_.new_local(type, true);
      const ExprId here = factors ? s.factor : s.restarts;
      lanes.push_back(assign(second, builder_.constant(Scalar::of_int(type, factors ? 1 : 0))));
      element.push_back(assign(second, builder_.apply(factors ? Op::Mul : Op::Or, {builder_.local(second), here})));
      stores.push_back(builder_.store({false, part.second, at}, builder_.local(second)));
    }
    part.joined = add_temporary(t, dims, "total of all up to a part");
    scans.push_back(part);
  }
  append(lanes, down_columns(loops, {}, std::move(element)));
  append(lanes, std::move(stores));
  add_phase(loops.count, single(vector(loops.width, std::move(lanes))), split.part * schedule_.tile);
  return scans;
}

void ColumnLowering::join_totals(const SplitAxis& split, const std::vector<PartScan>& scans) {
  Grid columns;
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) columns.add(axis.var, axis.extent);
  Placement placement;
  columns.decode(placement);
  placement.ranges[kLane] = {0, split.parts - 1};
  const Index at = column_partial_at(placement, IntExpr::symbol(kLane));
  std::vector<Stmt> body, lanes;
  for (const PartScan& part : scans) {
    const LocalId carry = builder_.new_local(part.dtype, true), joined = builder_.new_local(part.dtype, false);
    const ExprId total = builder_.load({false, part.totals, at});
    const ExprId second = part.second < 0 ? kNoExpr : builder_.load({false, part.second, at});
    const bool factors = part.scan.factor != kNoExpr;
    body.push_back(assign(carry, part.scan.start));
    lanes.push_back(scan(joined, op_of(graph_.at(part.scan.node).reduce), carry, total, part.scan.start, false,
                         factors ? kNoExpr : second, factors ? second : kNoExpr));
    lanes.push_back(builder_.store({false, part.joined, at}, builder_.local(joined)));
  }
  body.push_back(loop(LoopKind::Vector, kLane, split.parts, std::move(lanes), 1));
  add_phase(columns.extent(), std::move(body), split.parts);
  kernel_.phases.back().team = {kJoiners, kJoiners};
}

}  // namespace smelt::kernel

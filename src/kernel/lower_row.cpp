// Row: reductions along the fastest axis, all passes over a row in one iteration.
//
//   grid %g over the rows
//     for each level of reductions:
//       serial over the outer reduced axes, and over blocks of a long row
//         vector %i over the row (or block):  accumulate; store what is ready; keep what later passes need
//       combine the lanes
//       store results of one element a row
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

// Vector steps of one accumulator before its lanes are added up: keeps the error of long sums near that of pairwise summation.
constexpr int64_t kBlockSteps = 256;

RowLoops Lowering::row_loops(Placement& placement, const IntExpr& first, const IntExpr& length, int64_t estimate,
                             const RowPart& part) const {
  RowLoops loops;
  std::vector<RowPart> serial;
  for (size_t d = 0; d < domain().axes.size(); ++d) {
    const Axis& axis = domain().axes[d];
    if (!axis.reduced || static_cast<int>(d) == schedule_.vector_axis || placement.value_of.count(axis.var)) continue;
    serial.push_back(&axis == part.axis ? part : RowPart{&axis, axis.var, 0, axis.extent, axis.estimate});
  }
  int64_t steps = 1;  // of one accumulator
  if (schedule_.vector_axis >= 0) {
    const int64_t block = kBlockSteps * schedule_.lanes;
    steps = std::max<int64_t>(1, estimate / schedule_.lanes);
    IntExpr start = first;
    loops.vector_extent = length;
    if (!on_gpu() && (estimate > 2 * block || counts_in_blocks())) {
      loops.blocked = true;
      placement.ranges[Symbol::loop("b")] = {0, ceildiv(length, block, placement.ranges) - 1};
      const IntExpr offset = IntExpr::symbol(Symbol::loop("b")) * block;
      start = start + offset;
      loops.vector_extent = min(block, length - offset);
    }
    placement.ranges[kLane] = {0, loops.vector_extent - 1};
    placement.place(vector_axis().var, directed(vector_axis(), start + IntExpr::symbol(kLane)));
    if (loops.blocked) loops.serial.emplace_back(Symbol::loop("b"), placement.ranges[Symbol::loop("b")].high + 1);
  }
  // From the innermost loop outwards: the one that makes the steps too many runs in blocks.
  for (size_t d = serial.size(); d-- > 0;) {
    const RowPart& p = serial[d];
    steps *= std::max<int64_t>(1, p.estimate);
    std::vector<std::pair<Symbol, IntExpr>> here{{*p.var, p.length}};
    IntExpr value = IntExpr::symbol(*p.var);
    if (!on_gpu() && !loops.blocked && steps > 2 * kBlockSteps) {
      const int64_t block = std::max<int64_t>(1, kBlockSteps * p.estimate / steps);
      loops.blocked = true;
      loops.inside = loops.serial.size() + 1;
      const IntExpr offset = IntExpr::symbol(Symbol::loop("b")) * block;
      here = {{Symbol::loop("b"), ceildiv(p.length, block, placement.ranges)},
              {Symbol::loop("q"), min(block, p.length - offset)}};
      value = offset + IntExpr::symbol(Symbol::loop("q"));
    }
    for (const auto& [var, extent] : here) placement.ranges[var] = {0, extent - 1};
    if (value = directed(*p.axis, p.first + value); !(value == IntExpr::symbol(p.axis->var)))
      placement.place(p.axis->var, value);
    loops.serial.insert(loops.serial.begin(), here.begin(), here.end());
  }
  return loops;
}

// The loops of one pass around `body`, which runs once per element; `accs` are its accumulators.
std::vector<Stmt> Lowering::row_pass(const RowLoops& loops, const std::vector<Accumulator>& accs,
                                     std::vector<Stmt> body) {
  std::vector<Stmt> result;
  std::vector<Stmt> inner;
  inner.push_back(vector(loops.vector_extent, std::move(body)));
  const auto wrap = [&](size_t d) {
    std::vector<Stmt> wrapped;
    wrapped.push_back(loop(LoopKind::Serial, loops.serial[d].first, loops.serial[d].second, std::move(inner)));
    inner = std::move(wrapped);
  };
  size_t d = loops.serial.size();
  const bool online = std::any_of(accs.begin(), accs.end(), [](const Accumulator& a) { return a.maximum >= 0; });
  SMELT_CHECK(!online || !loops.blocked, "an online sum in blocks");
  if (!loops.blocked) {
    result = start(accs);
    for (Stmt& s : start_online(accs)) result.push_back(std::move(s));
  } else {
    // Each block has accumulators of its own, added to the row's.
    while (d > loops.serial.size() - loops.inside) wrap(--d);
    std::vector<Stmt> block = start(accs);
    for (Stmt& s : inner) block.push_back(std::move(s));
    for (const Accumulator& a : accs) {
      const Accumulator total = total_of(a);
      block.push_back(combine_lanes(a));
      for (Stmt& s : take_part(total, a)) block.push_back(std::move(s));
      for (Stmt& s : start({total})) result.push_back(std::move(s));
    }
    inner = std::move(block);
  }
  while (d > 0) wrap(--d);
  for (Stmt& s : inner) result.push_back(std::move(s));
  if (online)
    for (Stmt& s : finish_online(accs)) result.push_back(std::move(s));
  else if (!loops.blocked)
    for (const Accumulator& a : accs) result.push_back(combine_lanes(a));
  return result;
}

// What the pass leaves: the row's accumulators.
std::vector<Accumulator> Lowering::row_results(const RowLoops& loops, const std::vector<Accumulator>& accs) {
  std::vector<Accumulator> result = accs;
  if (loops.blocked)
    for (Accumulator& a : result) a = total_of(a);
  return result;
}

Accumulator Lowering::total_of(const Accumulator& a) const {
  Accumulator total = a;
  std::tie(total.value, total.index) = row_total_.at(a.value);
  total.first_position = 0, total.index_type = DType::I64;
  return total;
}

std::vector<Accumulator> Lowering::row_accumulators(const RowLoops& loops, const Placement& placement, int level) {
  if (!loops.blocked) return accumulators(level);
  std::optional<IntExpr> block;  // its first position, where those of a block follow one another
  const IntExpr here = position(placement), first = here.substitute({{kLane, 0}}, placement.ranges);
  if (loops.inside == 0 && here - first == IntExpr::symbol(kLane)) block = first;
  std::vector<Accumulator> accs = accumulators(level, block);
  for (const Accumulator& a : accs)
    row_total_[a.value] = {builder_.new_local(a.value_type, true),
                           a.with_index() ? builder_.new_local(DType::I64, true) : -1};
  return accs;
}

const Axis& Lowering::column_axis() const {
  const Axis* last = nullptr;
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) last = &axis;
  return *last;
}

// One Vector loop over all reduced axes, the last one innermost, and over the columns of a tile
// inside of that. `part` is of the first reduced axis, where only a part of that is passed over.
RowLoops Lowering::flat_loops(Placement& placement, const RowPart& part) const {
  RowLoops loops;
  loops.vector_extent = std::max(1, schedule_.columns);
  for (const Axis& axis : domain().axes)
    if (axis.reduced) loops.vector_extent = loops.vector_extent * (&axis == part.axis ? part.length : axis.extent);
  placement.ranges[kLane] = {0, loops.vector_extent - 1};
  IntExpr at = IntExpr::symbol(kLane);
  if (schedule_.columns) {
    const IntExpr first = placement.value_of.at(Symbol::loop("t")) * schedule_.columns;
    placement.place(column_axis().var, first + mod(at, schedule_.columns, placement.ranges));
    at = floordiv(at, schedule_.columns, placement.ranges);
  }
  for (size_t d = domain().axes.size(); d-- > 0;) {
    const Axis& axis = domain().axes[d];
    if (!axis.reduced) continue;
    if (&axis == part.axis) {
      placement.place(axis.var, part.first + at);
      break;
    }
    placement.place(axis.var, mod(at, axis.extent, placement.ranges));
    at = floordiv(at, axis.extent, placement.ranges);
  }
  return loops;
}

// Tiles of columns may go beyond the last one: nothing is read or stored there. What holds inside;
// kNoExpr: always.
ExprId Lowering::only_in_columns(const Placement& placement) {
  if (!schedule_.columns) return kNoExpr;
  return evaluator_.only_where({{placement.value_of.at(column_axis().var), column_axis().extent}});
}

// Outputs of one element a column that are ready once `level` levels are done.
std::vector<Stmt> Lowering::column_outputs(int level, Placement placement) {
  placement.ranges[kLane] = {0, schedule_.columns - 1};
  placement.place(column_axis().var,
                  placement.value_of.at(Symbol::loop("t")) * schedule_.columns + IntExpr::symbol(kLane));
  std::vector<Stmt> body;
  row_outputs(level, placement, body);
  if (body.empty()) return {};
  std::vector<Stmt> result;
  result.push_back(over_tile(std::move(body)));
  return result;
}

// A Vector loop over the columns of a tile.
Loop Lowering::over_tile(std::vector<Stmt> body) const {
  Loop made = vector(schedule_.columns, std::move(body));
  made.unroll = 1, made.whole = false;
  return made;
}

void Lowering::row() {
  Grid grid;
  for (const Axis& axis : domain().axes)
    if (!axis.reduced && !(schedule_.columns && &axis == &column_axis())) grid.add(axis.var, axis.extent);
  if (schedule_.columns) grid.add(Symbol::loop("t"), ceildiv(column_axis().extent, schedule_.columns));
  Placement placement;
  grid.decode(placement);
  const IntExpr length = schedule_.vector_axis < 0 ? IntExpr(1) : vector_axis().extent;
  const RowLoops loops = schedule_.flat
                             ? flat_loops(placement)
                             : row_loops(placement, 0, length, schedule_.vector_axis < 0 ? 1 : vector_axis().estimate);

  const int passes = domain().levels + 1;
  std::vector<Stage> stages(static_cast<size_t>(passes));
  std::vector<std::vector<Accumulator>> accs(static_cast<size_t>(passes));
  std::vector<std::vector<Stmt>> after(static_cast<size_t>(passes)), scan_starts(static_cast<size_t>(passes));
  for (int level = 0; level < passes; ++level) {
    const auto p = static_cast<size_t>(level);
    if (level < domain().levels) accs[p] = row_accumulators(loops, placement, level);
    element_pass(level, accs[p], placement, stages[p].body);
    scan_starts[p] = take_scan_starts();
    for (const Accumulator& a : row_results(loops, accs[p])) evaluator_.set_reduction(a.reduction->node, result(a));
    if (schedule_.columns)
      after[p] = column_outputs(level + 1, placement);
    else
      row_outputs(level + 1, placement, after[p]);
  }
  std::vector<IntExpr> keep_index, keep_dims;
  if (schedule_.flat) keep_index = {IntExpr::symbol(kLane)}, keep_dims = {loops.vector_extent};
  for (const Axis& axis : domain().axes)
    if (axis.reduced && !schedule_.flat) {
      keep_index.push_back(axis.value().substitute(placement.value_of, placement.ranges));
      keep_dims.push_back(axis.extent);
    }
  keep_values(stages, keep_index, keep_dims, domain().estimate(true) * std::max(1, schedule_.columns), kLane);

  std::vector<Stmt> body;
  for (size_t p = 0; p < stages.size(); ++p) {
    for (Stmt& s : scan_starts[p]) body.push_back(std::move(s));
    if (!stages[p].body.empty())
      for (Stmt& s : row_pass(loops, accs[p], std::move(stages[p].body))) body.push_back(std::move(s));
    for (Stmt& s : after[p]) body.push_back(std::move(s));
  }
  add_phase(grid.extent(), std::move(body), domain().reduced_count() * passes);
}

// The body of one pass: accumulate the reductions of this level, store the outputs that are ready.
void Lowering::element_pass(int level, const std::vector<Accumulator>& accs, const Placement& placement,
                            std::vector<Stmt>& body) {
  evaluator_.enter(&body, &placement.ranges);
  const ExprId inside = only_in_columns(placement);
  std::vector<Stmt> tail;
  for (const Accumulator& a : accs) {
    if (a.relative >= 0) continue;  // its sum finds it on the way
    const Reduction& r = a.maximum >= 0 ? *accs[static_cast<size_t>(a.maximum)].reduction : *a.reduction;
    const ExprId value = evaluator_.value(graph_.at(r.node).args[0], placement.at(r.argument_index));
    for (Stmt& s : a.maximum >= 0 ? update_online(a, value) : take_element(a, value, position(placement)))
      tail.push_back(std::move(s));
  }
  for (const StoredOutput& o : domain().outputs)
    if (!o.per_row && o.level == level)
      tail.push_back(store_output(o, placement, evaluator_.value_to_store(o.base, placement.at(o.base_index)), inside));
  for (Stmt& s : tail) body.push_back(std::move(s));
}

// Outputs of one element a row that are ready once `level` levels are done.
void Lowering::row_outputs(int level, const Placement& placement, std::vector<Stmt>& body) {
  evaluator_.enter(&body, &placement.ranges);
  const ExprId inside = only_in_columns(placement);
  std::vector<Stmt> tail;
  for (const StoredOutput& o : domain().outputs)
    if (o.per_row && (o.level == level || (o.level == 0 && level == 1)))
      tail.push_back(store_output(o, placement, evaluator_.value_to_store(o.base, placement.at(o.base_index)), inside));
  for (Stmt& s : tail) body.push_back(std::move(s));
}

}  // namespace smelt::kernel

// Row: reductions along the fastest axis, all passes over a row in one iteration.
//
//   grid %g over the rows
//     for each level of reductions:
//       serial over the outer reduced axes, and over blocks of a long row
//         vector %i over the row (or block):  accumulate; store what is ready; keep what later passes need
//       combine the lanes
//       store results of one element a row
//
// Rows together (Schedule::rows): the grid goes over blocks of rows, whose reductions meet in
// scratch.
//
//   grid %g over the blocks
//     serial %r over the rows of a block:  the passes of a row; put what it was reduced to into scratch
//     vector %i over the rows of a block:  store results of one element a row
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lower_row.hpp"

namespace smelt::kernel {

// Vector steps of one accumulator before its lanes are added up: keeps the error of long sums near
// that of pairwise summation.
constexpr int64_t kBlockSteps = 256;

static const Symbol kRowOfBlock = Symbol::loop("r");

RowLoops RowLowering::row_loops(Placement& placement, const IntExpr& first, const IntExpr& length, int64_t estimate,
                                const RowPart& part) const {
  RowLoops loops;
  std::vector<RowPart> serial;
  for (size_t d = 0; d < domain().axes.size(); ++d) {
    const Axis& axis = domain().axes[d];
    if (!axis.reduced || static_cast<int>(d) == schedule_.vector_axis) continue;
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
std::vector<Stmt> RowLowering::row_pass(const RowLoops& loops, const std::vector<Accumulator>& accs,
                                        std::vector<Stmt> body) {
  const bool online = std::any_of(accs.begin(), accs.end(), [](const Accumulator& a) { return a.maximum >= 0; });
  SMELT_CHECK(!online || !loops.blocked, "an online sum in blocks");
  std::vector<Stmt> result, lanes;
  lanes.push_back(vector(loops.vector_extent, std::move(body)));
  if (!loops.blocked) {
    result = start(accs);
    append(result, start_online(accs));
    append(result, in_loops(loops.serial, std::move(lanes)));
    append(result, join_moments(accs));
    if (online) {
      append(result, finish_online(accs));
    } else {
      for (const Accumulator& a : accs)
        if (!a.of_moments()) result.push_back(combine_lanes(a));
    }
    return result;
  }
  // Each block has accumulators of its own, added to the row's.
  const auto inside = loops.serial.end() - static_cast<long>(loops.inside);
  std::vector<Stmt> block = start(accs);
  append(block, in_loops({inside, loops.serial.end()}, std::move(lanes)));
  append(block, join_moments(accs));
  std::vector<ExprId> of_block;
  for (size_t i = 0; i < accs.size(); ++i) {
    const Accumulator total = total_of(accs[i]);
    of_block.push_back(held(accs, i));
    append(result, start({total}));
    if (accs[i].of_moments()) continue;
    block.push_back(combine_lanes(accs[i]));
    append(block, take_part(total, accs[i]));
  }
  append(block, take_moments(totals_of(accs), of_block));
  append(result, in_loops({loops.serial.begin(), inside}, std::move(block)));
  return result;
}

std::vector<Accumulator> RowLowering::row_accumulators(const RowLoops& loops, const Placement& placement, int level) {
  if (!loops.blocked) return of_all_lanes(accumulators(level));
  std::optional<IntExpr> block;  // its first position, where those of a block follow one another
  const IntExpr here = position(placement), first = here.substitute({{kLane, 0}}, placement.ranges);
  if (loops.inside == 0 && here - first == IntExpr::symbol(kLane)) block = first;
  std::vector<Accumulator> accs = of_all_lanes(accumulators(level, block));
  for (Accumulator total : accs) {
    total.first_position = 0, total.index_type = DType::I64;
    add_total(total);
  }
  return accs;
}

// One Vector loop over all reduced axes, the last one innermost, and over the columns of a tile
// inside of that. `part` is of the first reduced axis, where only a part of that is passed over.
RowLoops RowLowering::flat_loops(Placement& placement, const RowPart& part) const {
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
  std::vector<Axis> reduced;
  for (const Axis& axis : domain().axes)
    if (axis.reduced) reduced.push_back(axis);
  placement.unravel(reduced, at);
  if (part.axis) placement.place(part.axis->var, part.first + placement.value_of.at(part.axis->var));
  return loops;
}

// Outputs of one element a column that are ready once `level` levels are done.
std::vector<Stmt> RowLowering::column_outputs(int level, Placement placement) {
  placement.ranges[kLane] = {0, schedule_.columns - 1};
  placement.place(column_axis().var,
                  placement.value_of.at(Symbol::loop("t")) * schedule_.columns + IntExpr::symbol(kLane));
  std::vector<Stmt> body = row_outputs(level, placement);
  if (!body.empty()) body = single(over_tile(std::move(body)));
  return body;
}

// A Vector loop over the columns of a tile.
Loop RowLowering::over_tile(std::vector<Stmt> body) const {
  Loop made = vector(schedule_.columns, std::move(body));
  made.unroll = 1, made.whole = false;
  return made;
}

void RowLowering::phases() {
  if (schedule_.strategy == schedule::Strategy::Row) return row();
  domain().scans.empty() ? split_rows() : split_scan();
}

// After the passes of the rows of a block: their results of one element a row, a lane to each.
// `done` are the accumulators of these passes; what the results need of them is stored by the
// statements that `row` gains.
Stmt RowLowering::results_of_rows(const Piece& rows, const std::vector<Accumulator>& done, Placement placement,
                                  std::vector<Stmt>& row) {
  for (const Accumulator& a : done) {
    const ExprId value = result(a);
    const int buffer = add_scratch(builder_.dtype(value), {schedule_.rows});
    row.push_back(builder_.store({true, buffer, {IntExpr::symbol(kRowOfBlock)}}, value));
    evaluator_.set_reduction(a.reduction->node, builder_.load({true, buffer, {IntExpr::symbol(kLane)}}));
  }
  placement.ranges[kLane] = {0, rows.length - 1};
  placement.place(column_axis().var, rows.first + IntExpr::symbol(kLane));
  std::vector<Stmt> body;
  for (int level = 1; level <= domain().levels; ++level) append(body, row_outputs(level, placement));
  return loop(LoopKind::Vector, kLane, rows.length, std::move(body), schedule_.rows);
}

void RowLowering::row() {
  Grid grid;
  const Symbol tile = Symbol::loop("t");
  const bool together = schedule_.rows > 0;
  for (const Axis& axis : domain().axes)
    if (!axis.reduced && !((schedule_.columns || together) && &axis == &column_axis())) grid.add(axis.var, axis.extent);
  if (schedule_.columns) grid.add(tile, ceildiv(column_axis().extent, schedule_.columns));
  if (together) grid.add_pieces(tile, column_axis().extent, schedule_.rows);
  Placement placement;
  grid.decode(placement);
  Piece rows;
  if (together) {
    rows = piece_at(placement, tile, column_axis().extent, schedule_.rows);
    placement.ranges[kRowOfBlock] = {0, rows.length - 1};
    placement.place(column_axis().var, rows.first + IntExpr::symbol(kRowOfBlock));
  }
  const IntExpr length = schedule_.vector_axis < 0 ? IntExpr(1) : vector_axis().extent;
  const RowLoops loops = schedule_.flat
                             ? flat_loops(placement)
                             : row_loops(placement, 0, length, schedule_.vector_axis < 0 ? 1 : vector_axis().estimate);

  PassLoops in;
  std::vector<Accumulator> done;
  in.accumulators = [&](int level) {
    std::vector<Accumulator> accs = row_accumulators(loops, placement, level);
    for (const Accumulator& a : totals_of(accs)) done.push_back(a);
    return accs;
  };
  in.around = [&](const std::vector<Accumulator>& accs, std::vector<Stmt> starts, std::vector<Stmt> element) {
    if (!element.empty()) append(starts, row_pass(loops, accs, std::move(element)));
    return starts;
  };
  in.outputs = [&](int level) {
    if (together) return std::vector<Stmt>();
    return schedule_.columns ? column_outputs(level, placement) : row_outputs(level, placement);
  };
  in.points = domain().estimate(true) * std::max(1, schedule_.columns);
  in.innermost = kLane;
  if (schedule_.flat) in.lanes = loops.vector_extent;
  std::vector<Stmt> body = passes(placement, std::move(in));
  IntExpr work = domain().reduced_count() * (domain().levels + 1);
  if (together) {
    Stmt results = results_of_rows(rows, done, placement, body);
    body = in_loops({{kRowOfBlock, rows.length}}, std::move(body));
    body.push_back(std::move(results));
    work = work * schedule_.rows;
  }
  add_phase(grid.extent(), std::move(body), work);
}

}  // namespace smelt::kernel

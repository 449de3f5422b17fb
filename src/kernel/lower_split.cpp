// Split: one reduction spread over the grid. A first phase stores partial results, a second
// combines them. Here: rows, and on a GPU tiles of neighbouring columns of which a team takes
// several rows at a time; lower_column.cpp has other columns.
//
//   phase 0: grid %g over the rows (or tiles) and their parts:
//     one pass over the part, combine the lanes (of each column), store the partial result (of each)
//   phase 1: grid %g over the rows (or tiles):
//     vector %i over the parts (of each column), combine, store; of one row on a GPU, in the same launch
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lower_row.hpp"
#include "kernel/walk.hpp"
#include "schedule/parts.hpp"

namespace smelt::kernel {

using schedule::kMaxParts, schedule::kPartElements;

IntExpr RowLowering::wanted_rows(const Axis& axis) const {
  IntExpr rows = 1;
  for (const Axis& kept : domain().axes)
    if (!kept.reduced) rows = rows * kept.extent;
  return wanted_parts(axis, kPartElements, rows);
}

// All teams at once: one more than there is room for would run alone at the end. Their loads take
// half of the registers each, and less where elements are loaded one by one.
IntExpr RowLowering::wanted_tiles() const {
  IntExpr teams = ceildiv(column_axis().extent, schedule_.columns);
  for (const Axis& axis : domain().axes)
    if (!axis.reduced && &axis != &column_axis()) teams = teams * axis.extent;
  const int64_t step = int64_t{schedule_.team} * schedule_.lanes * schedule_.unroll / schedule_.columns;
  const IntExpr at_once = floordiv(IntExpr::symbol(kLaunchThreads) * (schedule_.lanes == 1 ? 4 : 2), max(1, teams));
  return max(1,
             min(at_once, ceildiv(first_reduced().extent, std::max<int64_t>(1, step / points_below(first_reduced())))));
}

// The points of the axis in parts that a team takes in a step down its columns. Whole steps check
// nothing.
int64_t RowLowering::points_of_step() const {
  const int64_t rows = int64_t{schedule_.team} * schedule_.lanes * schedule_.unroll / schedule_.columns,
                below = points_below(first_reduced());
  return on_gpu() && rows % below == 0 ? rows / below : 1;
}

// Over a part of an axis.
RowLoops RowLowering::part_loops(const SplitAxis& split, const Piece& rows, Placement& placement) const {
  if (schedule_.columns || schedule_.flat)
    return flat_loops(placement, {split.axis, std::nullopt, rows.first, rows.length, 0});
  const int64_t estimate =
      std::max<int64_t>({1, split.axis->estimate / kMaxParts, kPartElements / points_below(*split.axis)});
  if (split.axis == &vector_axis()) return row_loops(placement, rows.first, rows.length, estimate);
  return row_loops(placement, 0, vector_axis().extent, vector_axis().estimate,
                   {split.axis, Symbol::loop("r"), rows.first, rows.length, std::min(estimate, split.axis->estimate)});
}

// The index of the partial result of a row, or of a column of a tile: parts of a row are
// neighbours, and columns of a part.
Index RowLowering::partial_at(const Grid& grid, const Placement& placement, const IntExpr& part,
                              const IntExpr& column) const {
  Index index;
  for (const auto& [var, extent] : grid.dims) index.push_back(placement.value_of.at(var));
  if (schedule_.columns) index.back() = index.back() * schedule_.columns + column;
  index.insert(schedule_.columns ? index.begin() : index.end(), part);
  return index;
}

void RowLowering::split_rows() {
  const int64_t columns = schedule_.columns;
  const Axis& in_parts = columns ? first_reduced() : schedule::axis_in_parts(schedule_);
  const SplitAxis split = columns ? split_axis(in_parts, wanted_tiles(), 1, points_of_step())
                                  : split_axis(in_parts, wanted_rows(in_parts),
                                               &in_parts == &vector_axis() && !schedule_.flat ? schedule_.lanes : 1);
  Grid outer;
  Shape dims;
  for (const Axis& axis : domain().axes)
    if (!axis.reduced && !(columns && &axis == &column_axis())) outer.add(axis.var, axis.extent);
  if (columns) outer.add(Symbol::loop("t"), ceildiv(column_axis().extent, columns));
  for (const auto& [var, extent] : outer.dims) dims.push_back(extent);
  if (columns) dims.back() = dims.back() * columns;  // the last tile may be wider than its columns
  dims.insert(columns ? dims.begin() : dims.end(), split.parts);

  Grid grid = outer;
  grid.add(Symbol::loop("s"), split.parts);
  Placement placement;
  grid.decode(placement);
  const IntExpr part = placement.value_of.at(Symbol::loop("s"));
  const RowLoops loops =
      part_loops(split, piece_at(placement, Symbol::loop("s"), split.axis->extent, split.part), placement);
  std::vector<Accumulator> accs = row_accumulators(loops, placement, 0);
  std::vector<Stmt> element, results;
  element_pass(0, accs, placement, element);
  std::vector<Stmt> body = row_pass(loops, accs, std::move(element));
  accs = totals_of(accs);
  const std::vector<Partial> parts = partials(accs, dims);
  store_partials(accs, parts, partial_at(outer, placement, part, IntExpr::symbol(kLane)), results);
  if (columns)
    body.push_back(over_tile(std::move(results)));
  else
    append(body, std::move(results));
  IntExpr work = split.part * std::max<int64_t>(1, columns);
  for (const Axis& axis : domain().axes)
    if (axis.reduced && &axis != split.axis) work = work * axis.extent;
  add_phase(grid.extent(), std::move(body), work);
  combine_rows(outer, split, accs, parts);
}

void RowLowering::combine_rows(const Grid& grid, const SplitAxis& split, const std::vector<Accumulator>& accs,
                               const std::vector<Partial>& parts) {
  const int columns = schedule_.columns;
  const IntExpr lane = IntExpr::symbol(kLane), count = split.parts * std::max(1, columns);
  Placement placement;
  grid.decode(placement);
  placement.ranges[kLane] = {0, count - 1};
  const Index from = columns ? partial_at(grid, placement, floordiv(lane, columns, placement.ranges),
                                          mod(lane, columns, placement.ranges))
                             : partial_at(grid, placement, lane, 0);
  RowLoops loops;
  loops.vector_extent = count;
  std::vector<Stmt> body = row_pass(loops, accs, take_partials(accs, parts, from));
  if (on_gpu()) {
    // Partial results are few: what is written out for more costs time to compile alone.
    constexpr int kElements = 8;  // of a thread in a step
    const int most = std::max(1, kElements / schedule_.lanes);
    for (Stmt& s : body)
      if (Loop* loop = loop_of(s, LoopKind::Vector); loop && loop->var == kLane)  // no loop over accumulators
        loop->unroll = std::min(loop->unroll, most);
  }
  set_results(of_all_lanes(accs));
  append(body, columns ? column_outputs(1, placement) : row_outputs(1, placement));
  add_phase(grid.extent(), std::move(body), count);
  if (on_gpu() && !schedule_.plain && grid.extent().is(1)) end_with_last_workgroup();
}

}  // namespace smelt::kernel

// Split down a few columns on a CPU: lanes are the elements of whole rows, one after the other, so
// that vectors are full and every accumulator stays in registers. One step takes as many vectors as
// end where a row does; each has accumulators of its own.
//
//   phase 0: grid %g over the outer kept axes and parts of rows:
//     serial over the rows of the part, a step at a time:  vector %i:  accumulate, for each vector of the step
//     vector %i:  put the accumulators into scratch, which is rows of columns again
//     vector %i over the columns:  serial over those rows: join;  serial over the rows that make no step: accumulate;  store
//   phase 1: grid %g over the outer kept axes:  vector %i over the columns:  serial over the parts: join;  store
#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "kernel/lower_column.hpp"
#include "schedule/parts.hpp"

namespace smelt::kernel {

// What one iteration of the grid has: the rows from `first` on, for every point of the loops around
// them.
struct NarrowRows {
  size_t inner = 0;  // the axis of the rows; those after it are the columns
  int64_t columns = 1, rows_of_step = 1;
  Placement placement;
  LoopExtents around;          // loops over the other reduced axes
  IntExpr count, part;         // iterations of the grid, and the number of the part
  IntExpr first, steps, rest;  // rest: the rows that make no step

  // Places the axes from that of the rows on at an element of rows of columns; the first of these
  // rows is `row`.
  void across(Placement& at, std::span<const Axis> axes, const IntExpr& row, const IntExpr& element) const {
    at.unravel(axes.subspan(inner), element);
    at.place(axes[inner].var, row + at.value_of.at(axes[inner].var));
  }

  std::vector<Stmt> nest(Symbol var, const IntExpr& extent, std::vector<Stmt> body) const {
    LoopExtents loops = around;
    loops.emplace_back(var, extent);
    return in_loops(loops, std::move(body));
  }

  Stmt over_columns(std::vector<Stmt> body) const {
    const auto lanes = std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(columns, 4)));
    return loop(LoopKind::Vector, kLane, columns, std::move(body), static_cast<int>(lanes));
  }
};

// All steps, and the accumulators of each into its place of `scratch`.
void ColumnLowering::narrow_steps(const NarrowRows& rows, const std::vector<Accumulator>& totals,
                                  const std::vector<ScratchPair>& scratch, std::vector<Stmt>& body) {
  const IntExpr lane = IntExpr::symbol(kLane);
  const int64_t lanes = schedule_.lanes;
  Placement placement = rows.placement;
  placement.ranges[kLane] = {0, lanes - 1};
  placement.ranges[Symbol::loop("q")] = {0, rows.steps - 1};
  std::vector<Stmt> vectors, to_scratch;
  for (int64_t first = 0; first < schedule_.tile; first += lanes) {
    std::vector<Accumulator> accs = totals;
    for (Accumulator& a : accs) {
      a.value = builder_.new_local(a.value_type, true);
      if (a.with_index()) a.index = builder_.new_local(a.index_type, true);
    }
    append(body, start(accs));
    rows.across(placement, domain().axes, rows.first + IntExpr::symbol(Symbol::loop("q")) * rows.rows_of_step,
                lane + first);
    element_pass(0, accs, placement, vectors);
    for (size_t a = 0; a < accs.size(); ++a) {
      to_scratch.push_back(builder_.store({true, scratch[a].value, {lane + first}}, builder_.local(accs[a].value)));
      if (accs[a].with_index())
        to_scratch.push_back(builder_.store({true, scratch[a].index, {lane + first}}, builder_.local(accs[a].index)));
    }
  }
  append(body, rows.nest(Symbol::loop("q"), rows.steps, single(vector(lanes, std::move(vectors)))));
  body.push_back(vector(lanes, std::move(to_scratch)));
}

// What is in scratch, and the rows that made no step, of one column to a lane.
void ColumnLowering::narrow_rest(const NarrowRows& rows, const Placement& placement,
                                 const std::vector<Accumulator>& totals, const std::vector<ScratchPair>& scratch,
                                 std::vector<Stmt>& body) {
  const Index there{IntExpr::symbol(Symbol::loop("f")) * rows.columns + IntExpr::symbol(kLane)};
  std::vector<Stmt> joined, left;
  std::vector<ExprId> values;
  for (size_t a = 0; a < totals.size(); ++a) {
    const ExprId value = builder_.load({true, scratch[a].value, there});
    const ExprId index = totals[a].with_index() ? builder_.load({true, scratch[a].index, there}) : kNoExpr;
    values.push_back(value);
    if (!totals[a].of_moments()) append(joined, take_part(totals[a], value, index));
  }
  append(joined, take_moments(totals, values));
  body = start(totals);
  body.push_back(loop(LoopKind::Serial, Symbol::loop("f"), rows.rows_of_step, std::move(joined)));
  if (rows.rest.is(0)) return;
  // These rows come after all steps, of every point of the loops around them.
  std::vector<Accumulator> last = totals;
  for (Accumulator& a : last) a.in_order = rows.around.empty();
  element_pass(0, last, placement, left);
  append(body, rows.nest(Symbol::loop("r"), rows.rest, std::move(left)));
}

// The loops of phase 0; the grid goes over `outer` and the parts.
void ColumnLowering::narrow_loops(NarrowRows& rows, const SplitAxis& split, const Grid& outer) const {
  const std::vector<Axis>& axes = domain().axes;
  const Symbol s = Symbol::loop("s"), o = Symbol::loop("o");
  Grid grid = outer;
  grid.add(s, split.parts);
  rows.count = grid.extent();
  grid.decode(rows.placement);
  rows.part = rows.placement.value_of.at(s);
  const Piece piece =
      split.parts.is(1) ? Piece{0, split.axis->extent} : piece_at(rows.placement, s, split.axis->extent, split.part);
  for (const Axis& axis : axes) {
    if (!axis.reduced || &axis == &axes[rows.inner]) continue;
    const bool is_split = &axis == split.axis;
    const auto& [var, extent] =
        rows.around.emplace_back(is_split ? o : axis.var, is_split ? piece.length : axis.extent);
    rows.placement.ranges[var] = {0, extent - 1};
    if (is_split) rows.placement.place(axis.var, piece.first + IntExpr::symbol(o));
  }
  const bool splits_rows = &axes[rows.inner] == split.axis;
  rows.first = splits_rows ? piece.first : 0;
  const IntExpr height = splits_rows ? piece.length : axes[rows.inner].extent;
  rows.steps = floordiv(height, rows.rows_of_step);
  rows.rest = height - rows.steps * rows.rows_of_step;
}

void ColumnLowering::split_narrow() {
  const std::vector<Axis>& axes = domain().axes;
  const IntExpr lane = IntExpr::symbol(kLane);
  NarrowRows rows;
  rows.inner = static_cast<size_t>(schedule_.narrow_axis);
  for (size_t d = rows.inner + 1; d < axes.size(); ++d) rows.columns *= axes[d].extent.constant().value_or(0);
  SMELT_CHECK(rows.columns > 0 && schedule_.tile % rows.columns == 0 && schedule_.tile % schedule_.lanes == 0,
              "a step of {} elements in {} columns", schedule_.tile, rows.columns);
  rows.rows_of_step = schedule_.tile / rows.columns;
  const int64_t points = rows.columns * points_below(first_reduced());  // of one point of the axis that is split
  const bool splits_rows = &axes[rows.inner] == &first_reduced();
  const SplitAxis split = split_axis(
      first_reduced(), wanted_parts(first_reduced(), std::max<int64_t>(1, schedule::kPartElements / rows.columns), 1),
      splits_rows ? rows.rows_of_step : 1);
  Grid outer;
  for (const Axis& axis : axes)
    if (!axis.reduced && &axis < &axes[rows.inner]) outer.add(axis.var, axis.extent);
  narrow_loops(rows, split, outer);

  const std::vector<Accumulator> totals = accumulators(0);
  std::vector<ScratchPair> scratch;
  for (const Accumulator& a : totals)
    scratch.push_back({add_scratch(a.value_type, {schedule_.tile}),
                       a.with_index() ? add_scratch(a.index_type, {schedule_.tile}) : -1});
  std::vector<Stmt> body, results;
  narrow_steps(rows, totals, scratch, body);
  Placement placement = rows.placement;
  placement.ranges[kLane] = {0, rows.columns - 1};
  placement.ranges[Symbol::loop("r")] = {0, rows.rest - 1};
  rows.across(placement, axes, rows.first + rows.steps * rows.rows_of_step + IntExpr::symbol(Symbol::loop("r")), lane);
  narrow_rest(rows, placement, totals, scratch, results);

  const IntExpr work = split.part * points;
  if (split.parts.is(1)) {  // nothing is left to be joined
    set_results(totals);
    append(results, row_outputs(1, placement));
    body.push_back(rows.over_columns(std::move(results)));
    return add_phase(rows.count, std::move(body), work);
  }
  const std::vector<Partial> parts = partials(totals, column_partials(split));
  store_partials(totals, parts, column_partial_at(placement, rows.part), results);
  body.push_back(rows.over_columns(std::move(results)));
  add_phase(rows.count, std::move(body), work);

  Placement last;
  outer.decode(last);
  last.ranges[kLane] = {0, rows.columns - 1};
  last.unravel(std::span(axes).subspan(rows.inner + 1), lane);
  add_phase(outer.extent(), single(rows.over_columns(joined_parts(last, split, totals, parts))),
            split.parts * rows.columns);
}

}  // namespace smelt::kernel

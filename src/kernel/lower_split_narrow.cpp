// Split down a few columns on a CPU: lanes are the elements of whole rows, one after the other, so that vectors are full and every
// accumulator stays in registers. One step takes as many vectors as end where a row does; each has accumulators of its own.
//
//   phase 0: grid %g over the outer kept axes and parts of rows:
//     serial over the rows of the part, a step at a time:  vector %i:  accumulate, for each vector of the step
//     vector %i:  put the accumulators into scratch, which is rows of columns again
//     vector %i over the columns:  serial over those rows: join;  serial over the rows that make no step: accumulate;  store
//   phase 1: grid %g over the outer kept axes:  vector %i over the columns:  serial over the parts: join;  store
#include <bit>
#include <numeric>

#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

void Lowering::split_narrow() {
  const std::vector<Axis>& axes = domain().axes;
  const auto inner = static_cast<size_t>(schedule_.narrow_axis);
  int64_t columns = 1;
  Shape column_dims;
  for (size_t d = inner + 1; d < axes.size(); ++d) {
    columns *= axes[d].extent.constant().value_or(0);
    column_dims.push_back(axes[d].extent);
  }
  SMELT_CHECK(columns > 0, "narrow columns whose number is not known");
  const int64_t lanes = schedule_.lanes, step = schedule_.tile, rows_of_step = step / columns;
  SMELT_CHECK(step % lanes == 0 && step % columns == 0, "a step of {} elements in {} columns", step, columns);
  const IntExpr lane = IntExpr::symbol("%i");
  const auto across = [&](Placement& placement, IntExpr element, IntExpr& row) {
    for (size_t d = axes.size(); d-- > inner + 1;) {
      placement.place(axes[d].var, mod(element, axes[d].extent, placement.ranges));
      element = floordiv(element, axes[d].extent, placement.ranges);
    }
    row = element;
  };

  const bool splits_inner = &axes[inner] == &first_reduced();
  int64_t points = columns;  // of one point of the axis that is split
  for (const Axis& axis : axes)
    if (axis.reduced && &axis != &first_reduced()) points *= std::max<int64_t>(1, axis.estimate);
  const SplitAxis split =
      split_axis(wanted_parts(std::max<int64_t>(1, kPartElements / points), 1), splits_inner ? rows_of_step : 1);
  const bool whole = split.parts.is(1);  // nothing is left to be joined
  Grid grid;
  Shape partial_dims{split.parts};
  for (const Axis& axis : axes)
    if (!axis.reduced) {
      partial_dims.push_back(axis.extent);
      if (&axis < &axes[inner]) grid.add(axis.var, axis.extent);
    }
  const Grid outer = grid;
  grid.add("%s", split.parts);

  Placement placement;
  grid.decode(placement);
  const IntExpr part = placement.value_of.at("%s");
  const IntExpr begin = part * split.part,
                length = whole ? split.axis->extent : min(split.part, split.axis->extent - begin);
  std::vector<std::pair<std::string, IntExpr>> serial;
  for (const Axis& axis : axes) {
    if (!axis.reduced || &axis == &axes[inner]) continue;
    const bool is_split = &axis == split.axis;
    serial.emplace_back(is_split ? "%o" : axis.var, is_split ? length : axis.extent);
    placement.ranges[serial.back().first] = {0, serial.back().second - 1};
    if (is_split) placement.place(axis.var, begin + IntExpr::symbol("%o"));
  }
  const IntExpr first = splits_inner ? begin : 0, height = splits_inner ? length : axes[inner].extent;
  const IntExpr steps = floordiv(height, rows_of_step), rest = height - steps * rows_of_step;
  // The loops over all reduced axes, the innermost of `count` steps.
  const auto nest = [&](const std::string& var, const IntExpr& count, std::vector<Stmt> body) {
    body = {loop(LoopKind::Serial, var, count, std::move(body))};
    for (size_t d = serial.size(); d-- > 0;)
      body = {loop(LoopKind::Serial, serial[d].first, serial[d].second, std::move(body))};
    return std::move(body[0]);
  };

  // The steps: an accumulator for each vector.
  Placement full = placement;
  full.ranges["%i"] = {0, lanes - 1};
  full.ranges["%q"] = {0, steps - 1};
  std::vector<Accumulator> totals = accumulators(0);
  std::vector<Stmt> body, vectors, to_scratch;
  std::vector<std::pair<Access, Access>> scratch;  // of value and index
  IntExpr row;
  for (const Accumulator& a : totals) {
    scratch.push_back({{true, add_scratch(a.value_type, {step}), {}}, {}});
    if (a.with_index()) scratch.back().second = {true, add_scratch(DType::I64, {step}), {}};
  }
  for (int64_t v = 0; v < step / lanes; ++v) {
    std::vector<Accumulator> accs = totals;
    for (Accumulator& a : accs) {
      a.value = builder_.new_local(a.value_type, true);
      if (a.with_index()) a.index = builder_.new_local(DType::I64, true);
    }
    for (Stmt& s : start(accs)) body.push_back(std::move(s));
    across(full, lane + v * lanes, row);
    full.place(axes[inner].var, first + IntExpr::symbol("%q") * rows_of_step + row);
    element_pass(0, accs, full, vectors);
    for (size_t a = 0; a < accs.size(); ++a) {
      const auto at = [&](Access access) {
        access.index = {lane + v * lanes};
        return access;
      };
      to_scratch.push_back(store(at(scratch[a].first), builder_.local(accs[a].value)));
      if (accs[a].with_index()) to_scratch.push_back(store(at(scratch[a].second), builder_.local(accs[a].index)));
    }
  }
  body.push_back(nest("%q", steps, {vector(lanes, std::move(vectors))}));
  body.push_back(vector(lanes, std::move(to_scratch)));

  // Their rows, and the rows that are left.
  Placement fold = placement;
  fold.ranges["%i"] = {0, columns - 1};
  fold.ranges["%f"] = {0, rows_of_step - 1};
  fold.ranges["%r"] = {0, rest - 1};
  const auto lanes_across = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(columns, 4))));
  std::vector<Stmt> results = start(totals), joined, left;
  for (size_t a = 0; a < totals.size(); ++a) {
    const auto there = [&](Access access, DType t) {
      access.index = {IntExpr::symbol("%f") * columns + lane};
      return builder_.load(t, access);
    };
    const ExprId index = totals[a].with_index() ? there(scratch[a].second, DType::I64) : kNoExpr;
    for (Stmt& s : update(totals[a], there(scratch[a].first, totals[a].value_type), index))
      joined.push_back(std::move(s));
  }
  results.push_back(loop(LoopKind::Serial, "%f", rows_of_step, std::move(joined)));
  across(fold, lane, row);
  fold.place(axes[inner].var, first + steps * rows_of_step + IntExpr::symbol("%r"));
  if (!rest.is(0)) {
    element_pass(0, totals, fold, left);
    results.push_back(nest("%r", rest, std::move(left)));
  }
  const auto put_out = [&](const Placement& at, std::vector<Stmt>& into) {
    for (const Accumulator& a : totals) evaluator_.set_reduction(a.reduction->node, result(a));
    row_outputs(1, at, into);
  };
  const auto over_columns = [&](std::vector<Stmt> each) {
    return loop(LoopKind::Vector, "%i", columns, std::move(each), lanes_across);
  };
  const IntExpr work = split.part * points;
  if (whole) {
    put_out(fold, results);
    body.push_back(over_columns(std::move(results)));
    return add_phase(grid.extent(), std::move(body), work);
  }
  const auto parts = partials(totals, partial_dims);
  const auto partial_at = [&](const Placement& placed, const IntExpr& number) {
    Index at{number};
    for (const Axis& axis : axes)
      if (!axis.reduced) at.push_back(axis.extent.is(1) ? IntExpr(0) : placed.value_of.at(axis.var));
    return at;
  };
  store_partials(totals, parts, partial_at(fold, part), results);
  body.push_back(over_columns(std::move(results)));
  add_phase(grid.extent(), std::move(body), work);

  Placement last;
  outer.decode(last);
  last.ranges["%i"] = {0, columns - 1};
  last.ranges["%p"] = {0, split.parts - 1};
  across(last, lane, row);
  std::vector<Stmt> ends = start(totals);
  ends.push_back(
      loop(LoopKind::Serial, "%p", split.parts, take_partials(totals, parts, partial_at(last, IntExpr::symbol("%p")))));
  put_out(last, ends);
  add_phase(outer.extent(), {over_columns(std::move(ends))}, split.parts * columns);
}

}  // namespace smelt::kernel

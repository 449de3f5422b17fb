// Split, over columns, on a GPU. A team takes a tile of neighbouring columns, several rows at a time:
//
//   phase 0: grid %g over the outer kept axes, tiles of columns and parts of rows:
//     vector %i over the elements of the part, combine over the columns;  vector %i: store the partial results
//   phase 1: grid %g over the outer kept axes and tiles:
//     vector %i over the parts of each column, combine over the columns;  vector %i: store
//
// Where the schedule has no tiles of columns (plain targets, positions of many columns), a lane runs down its own within
// a part of the rows:
//
//   phase 0: grid %g over the outer kept axes, tiles of columns and parts of rows:
//     vector %i over the columns of a tile:  serial over the rows of the part: accumulate;  store the partial result
//   phase 1: grid %g over the columns, lanes side by side: serial over the parts, store
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

// The second phase goes over the parts one after another, so there are not many; and each has some rows to hide its start.
constexpr int64_t kMostParts = 128;
constexpr int64_t kFewestRows = 32;
constexpr int64_t kWarpsPerProcessor = 32;

void Lowering::split_column_tiles() {
  const IntExpr columns = schedule_.columns, tiles = ceildiv(column_axis().extent, columns);
  Grid grid;
  IntExpr teams = tiles, below = 1;  // points of the reduced axes inside of the split one
  int64_t about = 1;                 // the same, estimated
  for (const Axis& axis : domain().axes) {
    if (axis.reduced && &axis != &first_reduced()) {
      below = below * axis.extent;
      about *= std::max<int64_t>(1, axis.estimate);
    } else if (!axis.reduced && &axis != &column_axis()) {
      grid.add(axis.var, axis.extent);
      teams = teams * axis.extent;
    }
  }
  const int64_t step = int64_t{schedule_.team} * schedule_.lanes * schedule_.unroll / schedule_.columns;
  // All at once: a team more than there is room for would run alone at the end. What they have under way takes half of
  // the registers each, and less where elements come one by one.
  const IntExpr at_once = floordiv(IntExpr::symbol(kLaunchThreads) * (schedule_.lanes == 1 ? 4 : 2), max(1, teams));
  const IntExpr wanted = min(at_once, ceildiv(first_reduced().extent, std::max<int64_t>(1, step / about)));
  const SplitAxis split = split_axis(max(1, wanted), 1);
  const Symbol t = Symbol::loop("t");
  grid.add(t, tiles);
  const Grid outer = grid;
  grid.add(Symbol::loop("s"), split.parts);

  // The last tile may be wider than its columns: partial results have room for all of it.
  Shape dims{split.parts};
  for (const auto& [var, extent] : outer.dims) dims.push_back(var == t ? tiles * columns : extent);
  const auto partial_at = [&](const Placement& at, const IntExpr& part, const IntExpr& column) {
    Index index{part};
    for (const auto& [var, extent] : outer.dims)
      index.push_back(var == t ? at.value_of.at(var) * columns + column : at.value_of.at(var));
    return index;
  };

  Placement placement;
  grid.decode(placement);
  const IntExpr part = placement.value_of.at(Symbol::loop("s")), first = part * split.part;
  const IntExpr length = min(split.part, split.axis->extent - first);
  const RowLoops loops = flat_loops(placement, {split.axis, std::nullopt, first, length, 0});
  const std::vector<Accumulator> accs = accumulators(0);
  std::vector<Stmt> element, results;
  element_pass(0, accs, placement, element);
  std::vector<Stmt> body = row_pass(loops, accs, std::move(element));
  const auto parts = partials(accs, dims);
  store_partials(accs, parts, partial_at(placement, part, IntExpr::symbol(kLane)), results);
  body.push_back(over_tile(std::move(results)));
  add_phase(grid.extent(), std::move(body), split.part * below * columns);

  Placement last;
  outer.decode(last);
  const IntExpr lane = IntExpr::symbol(kLane);
  last.ranges[kLane] = {0, split.parts * columns - 1};
  const Index from = partial_at(last, floordiv(lane, columns, last.ranges), mod(lane, columns, last.ranges));
  std::vector<Stmt> ends = start(accs);
  ends.push_back(vector(split.parts * columns, take_partials(accs, parts, from)));
  for (const Accumulator& a : accs) {
    ends.push_back(combine_lanes(a));
    evaluator_.set_reduction(a.reduction->node, result(a));
  }
  for (Stmt& s : column_outputs(1, last)) ends.push_back(std::move(s));
  add_phase(outer.extent(), std::move(ends), split.parts * columns);
  if (outer.extent().is(1)) end_with_last_workgroup();
}

void Lowering::split_columns_gpu() {
  const IntExpr tile = schedule_.tile, columns = vector_axis().extent;
  Grid grid;
  IntExpr teams = 1;
  for (const Axis& axis : domain().axes)
    if (!axis.reduced && &axis != &vector_axis()) {
      grid.add(axis.var, axis.extent);
      teams = teams * axis.extent;
    }
  const Grid outer = grid;
  const IntExpr tiles = ceildiv(columns, tile);
  const IntExpr wanted = min(min(kMostParts, ceildiv(first_reduced().extent, kFewestRows)),
                             ceildiv(IntExpr::symbol(kLaunchThreads) * kWarpsPerProcessor, max(1, teams * tiles)));
  const SplitAxis split = split_axis(max(1, wanted), 1);
  grid.add(Symbol::loop("t"), tiles);
  grid.add(Symbol::loop("s"), split.parts);

  Placement placement;
  grid.decode(placement);
  const IntExpr first_column = placement.value_of.at(Symbol::loop("t")) * tile;
  const IntExpr width = min(tile, columns - first_column);
  const IntExpr first_row = placement.value_of.at(Symbol::loop("s")) * split.part;
  const IntExpr height = min(split.part, split.axis->extent - first_row);
  placement.ranges[kLane] = {0, width - 1};
  placement.place(vector_axis().var, first_column + IntExpr::symbol(kLane));
  placement.ranges[Symbol::loop("r")] = {0, height - 1};
  placement.place(split.axis->var, first_row + IntExpr::symbol(Symbol::loop("r")));
  std::vector<std::pair<Symbol, IntExpr>> serial{{Symbol::loop("r"), height}};
  for (const Axis& axis : domain().axes)
    if (axis.reduced && &axis != split.axis) {
      placement.ranges[axis.var] = {0, axis.extent - 1};
      serial.emplace_back(axis.var, axis.extent);
    }

  const std::vector<Accumulator> accs = accumulators(0);
  std::vector<Stmt> nest;
  element_pass(0, accs, placement, nest);
  for (size_t d = serial.size(); d-- > 0;) {
    std::vector<Stmt> wrapped;
    wrapped.push_back(loop(LoopKind::Serial, serial[d].first, serial[d].second, std::move(nest)));
    nest = std::move(wrapped);
  }
  std::vector<Stmt> lanes = start(accs);
  for (Stmt& s : nest) lanes.push_back(std::move(s));
  Shape partial_dims{split.parts};
  Index at{placement.value_of.at(Symbol::loop("s"))};
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) {
      partial_dims.push_back(axis.extent);
      at.push_back(placement.value_of.at(axis.var));
    }
  const auto parts = partials(accs, partial_dims);
  store_partials(accs, parts, at, lanes);
  std::vector<Stmt> body;
  body.push_back(vector(width, std::move(lanes)));
  add_phase(grid.extent(), std::move(body), split.part * tile);

  combine_columns(outer, split, accs, parts);
}

}  // namespace smelt::kernel

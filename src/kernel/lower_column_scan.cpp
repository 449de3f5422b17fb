// Scans down tall columns on a CPU, in one pass: whole pieces of rows, one after the other, with what is carried from row to row in scratch
// that stays in the first-level cache.
//
//   grid %g over the outer kept axes and the tiles of columns
//     vector %i over the columns of a tile: nothing yet, into scratch
//     serial over the scanned axes:
//       vector %i over the columns of a tile:  take from scratch; go on by one; store what is ready; put into scratch
//     vector %i over the columns of a tile: store results of one element a column
#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

void Lowering::column_scan() {
  SMELT_CHECK(domain().levels <= 1, "a scan down tall columns in {} passes", domain().levels);
  scans_down_ = true;
  const IntExpr tile = schedule_.tile, columns = vector_axis().extent, lane = IntExpr::symbol(kLane);
  Grid grid;
  Placement placement;
  for (const Axis& axis : domain().axes)
    if (!axis.reduced && &axis != &vector_axis()) grid.add(axis.var, axis.extent);
  grid.add(Symbol::loop("t"), ceildiv(columns, tile));
  grid.decode(placement);
  const IntExpr first = placement.value_of.at(Symbol::loop("t")) * tile;
  const IntExpr width = min(tile, columns - first, placement.ranges);
  placement.ranges[kLane] = {0, width - 1};
  placement.place(vector_axis().var, first + lane);
  std::vector<std::pair<Symbol, IntExpr>> serial;
  for (const Axis& axis : domain().axes)
    if (axis.reduced) {
      serial.emplace_back(axis.var, axis.extent);
      placement.ranges[axis.var] = {0, axis.extent - 1};
      if (domain().reversed) placement.place(axis.var, directed(axis, axis.value()));
    }

  const std::vector<Accumulator> accs = domain().levels > 0 ? accumulators(0) : std::vector<Accumulator>{};
  std::vector<Stmt> element;
  element_pass(0, accs, placement, element);
  std::vector<Stmt> starts = start(accs);
  for (Stmt& s : take_scan_starts()) starts.push_back(std::move(s));
  std::vector<Stmt> take, put, begin;
  for (const Stmt& start : starts) {
    const auto& s = start.get<Assign>();
    const DType t = kernel_.locals[static_cast<size_t>(s.local)].dtype;
    const Access at{true, add_scratch(t, {tile}), {lane}};
    begin.push_back(store(at, s.value));
    take.push_back(assign(s.local, builder_.load(t, at)));
    put.push_back(store(at, builder_.local(s.local)));
  }
  std::vector<Stmt> lanes = take;
  lanes.insert(lanes.end(), element.begin(), element.end());
  lanes.insert(lanes.end(), put.begin(), put.end());
  std::vector<Stmt> nest;
  nest.push_back(vector(width, std::move(lanes)));
  for (size_t d = serial.size(); d-- > 0;) {
    std::vector<Stmt> wrapped;
    wrapped.push_back(loop(LoopKind::Serial, serial[d].first, serial[d].second, std::move(nest)));
    nest = std::move(wrapped);
  }
  std::vector<Stmt> body;
  body.push_back(vector(width, std::move(begin)));
  for (Stmt& s : nest) body.push_back(std::move(s));

  for (const Accumulator& a : accs) evaluator_.set_reduction(a.reduction->node, result(a));
  std::vector<Stmt> results = take;
  const size_t taken = results.size();
  row_outputs(1, placement, results);
  if (results.size() > taken) body.push_back(vector(width, std::move(results)));
  add_phase(grid.extent(), std::move(body), domain().reduced_count() * tile);
}

}  // namespace smelt::kernel

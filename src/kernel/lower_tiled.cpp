// Tiled: pointwise, where some arrays run across the others (a transpose). Their tiles are read along their own rows and turned in
// scratch, so that every cache line is read once and in whole.
//
//   grid %g over the outer axes and the tiles
//     serial %y over the tile's columns, vector %i down its rows:  turned[%y, %i] = in[...]      for each staged read
//     serial %x over the tile's rows, vector %i over its columns:  out[...] = f(turned[%i, %x], ...)
#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

void Lowering::tiled() {
  const auto& axes = domain().axes;
  const Axis& columns = axes.back();
  const Axis& rows = axes[static_cast<size_t>(schedule_.across_axis)];
  const IntExpr tile = schedule_.tile;
  Grid grid;
  Placement placement;
  for (const Axis& axis : axes)
    if (&axis != &columns && &axis != &rows) grid.add(axis.var, axis.extent);
  grid.add("%tr", ceildiv(rows.extent, tile));
  grid.add("%tc", ceildiv(columns.extent, tile));
  grid.decode(placement);
  const IntExpr first_row = placement.value_of.at("%tr") * tile, height = min(tile, rows.extent - first_row);
  const IntExpr first_column = placement.value_of.at("%tc") * tile, width = min(tile, columns.extent - first_column);
  const IntExpr lane = IntExpr::symbol("%i");

  std::vector<Stmt> body;
  std::vector<std::pair<Index, Access>> staged;  // the read in the main loops -> its element in scratch
  Placement reading = placement, computing = placement;
  reading.ranges["%i"] = {0, height - 1};
  reading.ranges["%y"] = {0, width - 1};
  reading.place(rows.var, first_row + lane);
  reading.place(columns.var, first_column + IntExpr::symbol("%y"));
  computing.ranges["%i"] = {0, width - 1};
  computing.ranges["%x"] = {0, height - 1};
  computing.place(rows.var, first_row + IntExpr::symbol("%x"));
  computing.place(columns.var, first_column + lane);
  for (const schedule::Read& read : schedule_.staged) {
    const DType t = compute_type(graph_.at(read.node).dtype);
    // One column more than the tile has keeps neighbouring rows out of the same cache sets.
    const int buffer = add_scratch(t, {tile, tile + 1});
    std::vector<Stmt> element;
    evaluator_.enter(&element, &reading.ranges);
    const ExprId value = evaluator_.value(read.node, reading.at(read.index));
    element.push_back(store({true, buffer, {IntExpr::symbol("%y"), lane}}, value));
    std::vector<Stmt> inner;
    inner.push_back(loop(LoopKind::Vector, "%i", height, std::move(element), schedule_.lanes));
    body.push_back(loop(LoopKind::Serial, "%y", width, std::move(inner)));
    staged.emplace_back(computing.at(read.index), Access{true, buffer, {lane, IntExpr::symbol("%x")}});
  }

  evaluator_.set_redirect([&](NodeId id, const Index& index) -> std::optional<Access> {
    for (size_t r = 0; r < staged.size(); ++r)
      if (schedule_.staged[r].node == id && staged[r].first == index) return staged[r].second;
    return std::nullopt;
  });
  std::vector<Stmt> element, stores;
  evaluator_.enter(&element, &computing.ranges);
  for (const StoredOutput& o : domain().outputs)
    stores.push_back(store_output(o, computing, evaluator_.value(o.base, computing.at(o.base_index))));
  for (Stmt& s : stores) element.push_back(std::move(s));
  evaluator_.set_redirect(nullptr);
  std::vector<Stmt> inner;
  inner.push_back(loop(LoopKind::Vector, "%i", width, std::move(element), schedule_.lanes));
  body.push_back(loop(LoopKind::Serial, "%x", height, std::move(inner)));
  add_phase(grid.extent(), std::move(body), tile * tile);
}

}  // namespace smelt::kernel

// Tiled: pointwise, where some arrays run across the others (a transpose). Their tiles are read along their own rows and turned in
// scratch, so that every cache line is read once and in whole.
//
//   grid %g over the outer axes and the tiles
//     serial %y over the tile's columns, vector %i down its rows:  turned[%y, %i] = in[...]      for each staged read
//     turn into other scratch, by blocks in registers, where elements have 4 or 8 bytes: reading across a tile costs an instruction
//     for each element
//     serial %x over the tile's rows, vector %i over its columns:  out[...] = f(turned[%i, %x] or, when turned, [%x, %i], ...)
//
// On a GPU the team goes over a whole tile in one vector loop; %y and %x are parts of %i.
#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

// Points of the tile that begins here: all, where the extent is known to be a multiple. Else positions in it take a division each.
static IntExpr within(const IntExpr& extent, const IntExpr& first, int64_t tile) {
  const auto known = extent.constant();
  return known && *known % tile == 0 ? IntExpr(tile) : min(tile, extent - first);
}

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
  const IntExpr first_row = placement.value_of.at("%tr") * tile,
                height = within(rows.extent, first_row, schedule_.tile);
  const IntExpr first_column = placement.value_of.at("%tc") * tile,
                width = within(columns.extent, first_column, schedule_.tile);
  const IntExpr lane = IntExpr::symbol("%i");
  // One pass over a tile of `outer` times `inner` elements: the values of both variables, and its loops.
  struct Pass {
    IntExpr outer, inner;
    Ranges ranges;
  };
  auto pass = [&](const char* var, const IntExpr& outer, const IntExpr& inner, Ranges ranges) {
    if (!on_gpu()) {
      ranges["%i"] = {0, inner - 1};
      ranges[var] = {0, outer - 1};
      return Pass{IntExpr::symbol(var), lane, ranges};
    }
    ranges["%i"] = {0, outer * inner - 1};
    return Pass{floordiv(lane, inner, ranges), mod(lane, inner, ranges), ranges};
  };
  auto loops = [&](const char* var, const IntExpr& outer, const IntExpr& inner, std::vector<Stmt> element) {
    if (on_gpu()) return vector(outer * inner, std::move(element));
    std::vector<Stmt> nest;
    nest.push_back(vector(inner, std::move(element)));
    return loop(LoopKind::Serial, var, outer, std::move(nest));
  };

  std::vector<Stmt> body;
  std::vector<std::pair<Index, Access>> staged;  // the read in the main loops -> its element in scratch
  Placement reading = placement, computing = placement;
  const Pass read_pass = pass("%y", width, height, placement.ranges);
  const Pass main_pass = pass("%x", height, width, placement.ranges);
  reading.ranges = read_pass.ranges;
  reading.place(rows.var, first_row + read_pass.inner);
  reading.place(columns.var, first_column + read_pass.outer);
  computing.ranges = main_pass.ranges;
  computing.place(rows.var, first_row + main_pass.outer);
  computing.place(columns.var, first_column + main_pass.inner);
  for (const schedule::Read& read : schedule_.staged) {
    const DType t = compute_type(graph_.at(read.node).dtype);
    // Else one column more than the tile has keeps neighbouring rows out of the same cache sets.
    const bool turns = !on_gpu() && (size_of(t) == 4 || size_of(t) == 8);
    const int buffer = add_scratch(t, {tile, turns ? tile : tile + 1});
    std::vector<Stmt> element;
    evaluator_.enter(&element, &reading.ranges);
    const ExprId value = evaluator_.value(read.node, reading.at(read.index));
    element.push_back(store({true, buffer, {read_pass.outer, read_pass.inner}}, value));
    body.push_back(loops("%y", width, height, std::move(element)));
    if (!turns) {
      staged.emplace_back(computing.at(read.index), Access{true, buffer, {main_pass.inner, main_pass.outer}});
      continue;
    }
    const int turned = add_scratch(t, {tile, tile});
    body.push_back(turn(turned, buffer));
    staged.emplace_back(computing.at(read.index), Access{true, turned, {main_pass.outer, main_pass.inner}});
  }

  evaluator_.set_redirect([&](NodeId id, const Index& index) -> std::optional<Access> {
    for (size_t r = 0; r < staged.size(); ++r)
      if (schedule_.staged[r].node == id && staged[r].first == index) return staged[r].second;
    return std::nullopt;
  });
  std::vector<Stmt> element, stores;
  evaluator_.enter(&element, &computing.ranges);
  for (const StoredOutput& o : domain().outputs)
    stores.push_back(store_output(o, computing, evaluator_.value_to_store(o.base, computing.at(o.base_index))));
  for (Stmt& s : stores) element.push_back(std::move(s));
  evaluator_.set_redirect(nullptr);
  body.push_back(loops("%x", height, width, std::move(element)));
  add_phase(grid.extent(), std::move(body), tile * tile);
}

}  // namespace smelt::kernel

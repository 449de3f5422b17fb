// Split, over columns, on a GPU: a lane runs down its own columns within a part of the rows.
//
//   phase 0: grid %g over the outer kept axes, tiles of columns and parts of rows:
//     vector %i over the columns of a tile:  serial over the rows of the part: accumulate;  store the partial result
//   phase 1: grid %g over the columns, lanes side by side: serial over the parts, store
#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

// The second phase goes over the parts one after another, so there are not many; and each has some rows to hide its start.
constexpr int64_t kMostParts = 128;
constexpr int64_t kFewestRows = 32;
constexpr int64_t kWarpsPerProcessor = 32;

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
                             ceildiv(IntExpr::symbol("%threads") * kWarpsPerProcessor, max(1, teams * tiles)));
  const SplitAxis split = split_axis(max(1, wanted), 1);
  grid.add("%t", tiles);
  grid.add("%s", split.parts);

  Placement placement;
  grid.decode(placement);
  const IntExpr first_column = placement.value_of.at("%t") * tile;
  const IntExpr width = min(tile, columns - first_column);
  const IntExpr first_row = placement.value_of.at("%s") * split.part;
  const IntExpr height = min(split.part, split.axis->extent - first_row);
  placement.ranges["%i"] = {0, width - 1};
  placement.place(vector_axis().var, first_column + IntExpr::symbol("%i"));
  placement.ranges["%r"] = {0, height - 1};
  placement.place(split.axis->var, first_row + IntExpr::symbol("%r"));
  std::vector<std::pair<std::string, IntExpr>> serial{{"%r", height}};
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
  Index at{placement.value_of.at("%s")};
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

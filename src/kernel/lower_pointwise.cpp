// Pointwise: every output element on its own.
//
//   grid %g over the outer axes and the chunks of the vector axis
//     vector %i over a chunk
//       out[...] = f(in[...], ...)
#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

//   grid %g over the outer axes and the chunks of the last but one:  serial %p over a chunk:  vector %i over the last axis
void Lowering::pieces() {
  const auto& axes = domain().axes;
  const Axis &along = axes[axes.size() - 2], &piece = axes.back();
  Grid grid;
  for (size_t d = 0; d + 2 < axes.size(); ++d) grid.add(axes[d].var, axes[d].extent);
  grid.add(Symbol::loop("chunk"), ceildiv(along.extent, schedule_.tile));
  Placement placement;
  grid.decode(placement);
  const IntExpr first = placement.value_of.at(Symbol::loop("chunk")) * schedule_.tile;
  const IntExpr length = min(schedule_.tile, along.extent - first, placement.ranges);
  placement.ranges[Symbol::loop("p")] = {0, length - 1};
  placement.ranges[kLane] = {0, piece.extent - 1};
  placement.place(along.var, first + IntExpr::symbol(Symbol::loop("p")));
  placement.place(piece.var, IntExpr::symbol(kLane));
  std::vector<Stmt> body, stores, loops;
  evaluator_.enter(&body, &placement.ranges);
  for (const StoredOutput& o : domain().outputs) {
    Store made = store_output(o, placement, evaluator_.value_to_store(o.base, placement.at(o.base_index)));
    made.streaming = false;  // pieces seldom begin at lines
    stores.push_back(std::move(made));
  }
  body.insert(body.end(), stores.begin(), stores.end());
  loops.push_back(loop(LoopKind::Serial, Symbol::loop("p"), length, {vector(piece.extent, std::move(body))}));
  add_phase(grid.extent(), std::move(loops), piece.extent * schedule_.tile);
}

void Lowering::pointwise() {
  if (schedule_.cut) return pointwise_cut();
  if (schedule_.blocking) return blocked();
  if (schedule_.pieces) return pieces();
  const auto& axes = domain().axes;
  Grid grid;
  Placement placement;
  IntExpr vector_extent = 1;
  if (schedule_.flattened) {
    for (const Axis& axis : axes) vector_extent = vector_extent * axis.extent;
  } else if (!axes.empty()) {
    vector_extent = axes.back().extent;
    for (size_t d = 0; d + 1 < axes.size(); ++d) grid.add(axes[d].var, axes[d].extent);
  }

  const auto constant = vector_extent.constant();
  const bool chunked = !(constant && *constant <= schedule_.tile);
  const IntExpr tile = schedule_.tile;
  if (chunked) grid.add(Symbol::loop("chunk"), ceildiv(vector_extent, tile));
  grid.decode(placement);

  IntExpr lane = IntExpr::symbol(kLane), length = vector_extent, at = lane;
  if (chunked) {
    const IntExpr first = placement.value_of.at(Symbol::loop("chunk")) * tile;
    const bool whole = constant && *constant % schedule_.tile == 0;  // no chunk is short, and none has to ask
    length = whole ? tile : min(tile, vector_extent - first);
    at = first + lane;
  }
  placement.ranges[kLane] = {0, length - 1};
  if (schedule_.flattened) {
    Grid flat;  // decode the flat position like a grid position
    for (size_t d = axes.size(); d-- > 0;) {
      placement.place(axes[d].var, d == 0 ? at : mod(at, axes[d].extent, placement.ranges));
      at = floordiv(at, axes[d].extent, placement.ranges);
    }
  } else if (!axes.empty()) {
    placement.place(axes.back().var, at);
  }

  std::vector<Stmt> body;
  evaluator_.enter(&body, &placement.ranges);
  std::vector<Stmt> stores;
  for (const StoredOutput& o : domain().outputs)
    stores.push_back(store_output(o, placement, evaluator_.value_to_store(o.base, placement.at(o.base_index))));
  body.insert(body.end(), stores.begin(), stores.end());
  const IntExpr work = chunked ? tile : vector_extent;
  std::vector<Stmt> grid_body;
  grid_body.push_back(vector(length, std::move(body)));
  add_phase(grid.extent(), std::move(grid_body), work);
}

}  // namespace smelt::kernel

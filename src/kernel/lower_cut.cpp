// Pointwise over the ranges of an axis that different arrays fill: where the result is what they are joined to, each iteration of the grid
// has a part of one range, and computes only what lies there.
//
//   grid %g over the parts of all ranges
//     if %g is one of range r:  vector %i over a chunk of its elements from the cut axis on
//       out[...] = f(in_r[...], ...)
#include "kernel/lowering.hpp"

namespace smelt::kernel {

void Lowering::pointwise_cut() {
  const auto& axes = domain().axes;
  const size_t along = static_cast<size_t>(schedule_.cut->axis);
  const std::vector<IntExpr>& starts = schedule_.cut->starts;
  IntExpr run = 1, total = 0, work = 1;
  for (size_t a = along + 1; a < axes.size(); ++a) run = run * axes[a].extent;
  const IntExpr tile = schedule_.tile;
  std::vector<Stmt> body;
  for (size_t r = 0; r < starts.size(); ++r) {
    const IntExpr size = (r + 1 < starts.size() ? starts[r + 1] : axes[along].extent) - starts[r];
    const IntExpr length = size * run;
    Grid grid;
    for (size_t a = 0; a < along; ++a) grid.add(axes[a].var, axes[a].extent);
    const auto constant = length.constant();
    const bool chunked = !(constant && *constant <= schedule_.tile);
    work = max(work, chunked ? tile : length);
    if (chunked) grid.add(Symbol::loop("chunk"), ceildiv(length, tile));
    const IntExpr parts = grid.extent();
    const ExprId g = builder_.index(IntExpr::symbol(kGrid)), here = builder_.index(total);
    If range;
    range.condition = parts.is(1)
                          ? builder_.apply(Op::Eq, {g, here})
                          : builder_.apply(Op::And, {builder_.apply(Op::Ge, {g, here}),
                                                     builder_.apply(Op::Lt, {g, builder_.index(total + parts)})});
    Ranges outside;
    evaluator_.enter(&range.body, &outside);
    const IntExpr part = evaluator_.as_index(builder_.apply(Op::Sub, {g, here}), parts);
    Placement placement;
    grid.decode(placement, part);
    placement.ranges = evaluator_.ranges();
    IntExpr at = IntExpr::symbol(kLane), extent = length;
    if (chunked) {
      const IntExpr first = placement.value_of.at(Symbol::loop("chunk")) * tile;
      extent = min(tile, length - first);
      at = first + at;
    }
    placement.ranges[kLane] = {0, extent - 1};
    for (size_t a = axes.size(); a-- > along + 1;) {
      placement.place(axes[a].var, mod(at, axes[a].extent, placement.ranges));
      at = floordiv(at, axes[a].extent, placement.ranges);
    }
    placement.place(axes[along].var, starts[r] + at);
    std::vector<Stmt> lane, stores;
    evaluator_.enter(&lane, &placement.ranges);
    for (const StoredOutput& o : domain().outputs)
      stores.push_back(store_output(o, placement, evaluator_.value_to_store(o.base, placement.at(o.base_index))));
    lane.insert(lane.end(), stores.begin(), stores.end());
    range.body.push_back(vector(extent, std::move(lane)));
    body.push_back(std::move(range));
    total = total + parts;
  }
  add_phase(total, std::move(body), work);
}

}  // namespace smelt::kernel

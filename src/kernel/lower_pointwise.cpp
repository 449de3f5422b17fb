// Pointwise: every output element on its own.
//
//   grid %g over the outer axes and the chunks of the inner ones, merged
//     vector %i over a chunk
//       out[...] = f(in[...], ...)
//
// In pieces, where the last axis is short:  serial %p over a chunk:  vector %i over the last axis
//
// Where several arrays are joined along an axis, each iteration of the grid has a chunk of one of
// them, and computes only that:
//
//   grid %g over the chunks of all ranges
//     if %g is one of range r:  vector %i over a chunk of its elements from the cut axis on
//       out[...] = f(in_r[...], ...)
#include "kernel/lower_pointwise.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {

static const Symbol kChunk = Symbol::loop("chunk");

static IntExpr points_of(std::span<const Axis> axes) {
  IntExpr count = 1;
  for (const Axis& axis : axes) count = count * axis.extent;
  return count;
}

void PointwiseLowering::phases() {
  if (schedule_.strategy == schedule::Strategy::Tiled) return tiles();
  if (schedule_.cut) return ranges();
  if (schedule_.blocking) return blocks();
  merged();
}

void PointwiseLowering::merged() {
  std::span<const Axis> axes = domain().axes;
  const Axis* last = schedule_.pieces ? &axes.back() : nullptr;
  if (last) axes = axes.first(axes.size() - 1);
  const size_t outer = schedule_.flattened ? static_cast<size_t>(schedule_.flat_from)
                       : axes.empty()      ? 0
                                           : axes.size() - 1;
  const IntExpr extent = points_of(axes.subspan(outer)), tile = schedule_.tile;
  Grid grid;
  for (const Axis& axis : axes.first(outer)) grid.add(axis.var, axis.extent);
  grid.add_pieces(kChunk, extent, tile);
  Placement placement;
  grid.decode(placement);
  const Piece chunk = piece_at(placement, kChunk, extent, tile);
  const Symbol var = last ? Symbol::loop("p") : kLane;
  placement.ranges[var] = {0, chunk.length - 1};
  placement.unravel(axes.subspan(outer), chunk.first + IntExpr::symbol(var));
  IntExpr work = min(tile, extent);
  std::vector<Stmt> body;
  if (last) {
    placement.ranges[kLane] = {0, last->extent - 1};
    placement.place(last->var, IntExpr::symbol(kLane));
    body = elements(placement);
    for (Stmt& s : body)
      if (auto* made = s.get_if<Store>()) made->streaming = false;  // pieces seldom begin at lines
    body = in_loops({{var, chunk.length}}, single(vector(last->extent, std::move(body))));
    work = last->extent * tile;
  } else if (!schedule_.interleaved.empty()) {
    Placement start = placement;
    start.unravel(axes.subspan(outer), chunk.first);
    body = through_scratch(placement, start, chunk.length);
  } else {
    body = single(vector(chunk.length, elements(placement)));
    if (!extent.constant()) work = tile;
  }
  add_phase(grid.extent(), std::move(body), work);
}

std::vector<Piece> PointwiseLowering::ranges_of_cut() const {
  const std::vector<IntExpr>& starts = schedule_.cut->starts;
  const IntExpr& extent = domain().axes[static_cast<size_t>(schedule_.cut->axis)].extent;
  std::vector<Piece> ranges;
  for (size_t r = 0; r < starts.size(); ++r)
    ranges.push_back({starts[r], (r + 1 < starts.size() ? starts[r + 1] : extent) - starts[r]});
  return ranges;
}

If PointwiseLowering::only_in_range(const Grid& grid, const IntExpr& first, Placement& placement) {
  const IntExpr chunks = grid.extent();
  const ExprId g = builder_.index(IntExpr::symbol(kGrid)), here = builder_.index(first);
  If range;
  range.condition = chunks.is(1)
                        ? builder_.apply(Op::Eq, {g, here})
                        : builder_.apply(Op::And, {builder_.apply(Op::Ge, {g, here}),
                                                   builder_.apply(Op::Lt, {g, builder_.index(first + chunks)})});
  Ranges outside;
  evaluator_.enter(&range.body, &outside);
  grid.decode(placement, evaluator_.as_index(builder_.apply(Op::Sub, {g, here}), chunks));
  placement.ranges = evaluator_.ranges();
  return range;
}

void PointwiseLowering::ranges() {
  const std::span<const Axis> axes = domain().axes;
  const auto along = static_cast<size_t>(schedule_.cut->axis);
  const IntExpr run = points_of(axes.subspan(along + 1)), tile = schedule_.tile;
  IntExpr total = 0, work = 1;
  std::vector<Stmt> body;
  for (const Piece& piece : ranges_of_cut()) {
    // Ranges of few elements would leave most threads idle: those of all rows are one.
    const auto elements_of_row = (piece.length * run).constant();
    const size_t first = on_gpu() && elements_of_row && *elements_of_row < 2 * schedule_.tile ? 0 : along;
    std::vector<Axis> of_range(axes.begin() + static_cast<std::ptrdiff_t>(first), axes.end());
    of_range[along - first].extent = piece.length;
    // The axes that lanes run over.
    const size_t from = schedule_.cut->by_rows ? of_range.size() - 1 : 0;
    const std::span<const Axis> merged = std::span<const Axis>(of_range).subspan(from);
    const IntExpr extent = points_of(merged);
    Grid grid;
    for (const Axis& axis : axes.first(first)) grid.add(axis.var, axis.extent);
    for (size_t d = 0; d < from; ++d) grid.add(of_range[d].var, of_range[d].extent);
    grid.add_pieces(kChunk, extent, tile);
    work = max(work, extent.constant() ? min(tile, extent) : tile);
    Placement placement;
    If range = only_in_range(grid, total, placement);
    const Piece chunk = piece_at(placement, kChunk, extent, tile);
    placement.ranges[kLane] = {0, chunk.length - 1};
    placement.unravel(merged, chunk.first + IntExpr::symbol(kLane));
    placement.place(axes[along].var, piece.first + placement.value_of.at(axes[along].var));
    range.body.push_back(vector(chunk.length, elements(placement)));
    body.push_back(std::move(range));
    total = total + grid.extent();
  }
  add_phase(total, std::move(body), work);
}

}  // namespace smelt::kernel

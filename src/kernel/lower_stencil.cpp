// Stencil on a CPU: down the rows of a strip of columns; what is needed at several places is kept in rings of lines, which stay in the
// caches.
//
//   grid %g over the outer axes, the chunks of rows, and the strips
//     serial %t over the warm-up and the rows of the chunk
//       for each ring, producers first:  if its time has come: vector %i over its columns: ring[%t mod rows][%i] = ...
//       if past the warm-up: vector %i over the strip: out[...] = ...
#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

using schedule::Ring;
using schedule::RingPlace;
using schedule::Stencil;

// From here on, values of rings are read where they are: by `read`, from a ring by number. What a ring does not hold is computed.
void Lowering::read_rings(const StencilStep& step, const std::function<ExprId(size_t, const RingPlace&)>& read) {
  const Stencil& stencil = *schedule_.stencil;
  std::multimap<NodeId, std::pair<size_t, Index>> newest;
  for (size_t r = 0; r < stencil.rings.size(); ++r)
    newest.insert({stencil.rings[r].node, {r, step.placement.at(stencil.rings[r].index)}});
  evaluator_.set_known([&stencil, newest, read, left = step.left, right = step.right, start = step.start](
                           NodeId id, const Index& index) -> ExprId {
    const auto [first, end] = newest.equal_range(id);
    for (auto it = first; it != end; ++it) {
      const auto& [r, at] = it->second;
      const Ring& ring = stencil.rings[r];
      const auto place = schedule::place_in_ring(ring, at, index);
      if (place && left - place->right <= ring.left && right + place->right <= ring.right &&
          start + place->back <= ring.start)
        return read(r, *place);
    }
    return kNoExpr;
  });
}

// The iterations: outer axes, chunks of rows, strips. Sets the first row of the chunk and how many there are.
Grid Lowering::stencil_grid(const IntExpr& strips, Placement& placement, IntExpr& first_row, IntExpr& rows) const {
  const Stencil& stencil = *schedule_.stencil;
  const auto& axes = domain().axes;
  Grid grid;
  const auto add_outer = [&] {
    for (size_t d = 0; d < axes.size(); ++d)
      if (static_cast<int>(d) != stencil.row_axis && static_cast<int>(d) != stencil.column_axis)
        grid.add(axes[d].var, axes[d].extent);
  };
  // Warps of one workgroup take neighbouring planes, of which they read the same rows.
  if (!on_gpu()) add_outer();
  first_row = 0, rows = 1;
  const IntExpr height = stencil.row_axis < 0 ? IntExpr(1) : axes[static_cast<size_t>(stencil.row_axis)].extent;
  const auto constant = height.constant();
  const bool chunked = !(constant && *constant <= stencil.chunk);
  grid.add("%chunk", chunked ? ceildiv(height, stencil.chunk) : IntExpr(1));
  grid.add("%strip", strips);
  if (on_gpu()) add_outer();
  grid.decode(placement);
  if (chunked) first_row = placement.value_of.at("%chunk") * stencil.chunk;
  rows = chunked ? min(stencil.chunk, height - first_row) : height;
  return grid;
}

void Lowering::stencil() {
  const Stencil& stencil = *schedule_.stencil;
  const IntExpr columns = vector_axis().extent;
  const auto constant = columns.constant();
  const bool one_strip = constant && *constant <= schedule_.tile;
  StencilStep outputs;
  IntExpr first_row, rows;
  const IntExpr strip = one_strip ? columns : IntExpr(schedule_.tile);
  const Grid grid = stencil_grid(ceildiv(columns, strip), outputs.placement, first_row, rows);
  const IntExpr first = one_strip ? IntExpr(0) : outputs.placement.value_of.at("%strip") * strip;
  const IntExpr width = one_strip ? columns : min(strip, columns - first);
  const IntExpr t = IntExpr::symbol("%t"), i = IntExpr::symbol("%i");
  if (stencil.row_axis >= 0)
    outputs.placement.place(domain().axes[static_cast<size_t>(stencil.row_axis)].var, first_row + t - stencil.warm_up);

  std::vector<int> buffers;
  for (const Ring& ring : stencil.rings)
    buffers.push_back(add_scratch(compute_type(graph_.at(ring.node).dtype), {ring.rows, strip + ring.halo()}));
  // The body of one step's loop over columns, from `left` before the strip on.
  std::vector<Stmt> steps;
  const auto step_of = [&](StencilStep step, const std::function<void(const StencilStep&, std::vector<Stmt>&)>& fill) {
    step.placement.ranges["%t"] = {stencil.warm_up - step.start, rows + stencil.warm_up - 1};
    step.placement.ranges["%i"] = {0, width + step.left + step.right - 1};
    step.placement.place(vector_axis().var, first + i - step.left);
    read_rings(step, [&](size_t r, const RingPlace& place) {
      const Ring& ring = stencil.rings[r];
      const IntExpr row =
          ring.rows == 1 ? IntExpr(0) : mod(t - place.back + ring.rows, ring.rows, step.placement.ranges);
      return builder_.load(kernel_.buffers[static_cast<size_t>(buffers[r])].dtype,
                           {true, buffers[r], {row, i + place.right + ring.left - step.left}});
    });
    std::vector<Stmt> body, guarded;
    evaluator_.enter(&body, &step.placement.ranges);
    fill(step, body);
    guarded.push_back(vector(width + step.left + step.right, std::move(body)));
    if (step.start == stencil.warm_up) {
      steps.push_back(std::move(guarded[0]));
      return;
    }
    Stmt when;
    when.kind = StmtKind::If;
    when.value = builder_.apply(Op::Ge, {builder_.index(t), builder_.index(stencil.warm_up - step.start)});
    when.body = std::move(guarded);
    steps.push_back(std::move(when));
  };
  for (size_t r = 0; r < stencil.rings.size(); ++r) {
    const Ring& ring = stencil.rings[r];
    StencilStep step = outputs;
    step.left = ring.left, step.right = ring.right, step.start = ring.start;
    step_of(std::move(step), [&](const StencilStep& at, std::vector<Stmt>& body) {
      const ExprId value = evaluator_.value_or_anything(ring.node, at.placement.at(ring.index));
      const IntExpr row = ring.rows == 1 ? IntExpr(0) : mod(t, ring.rows, at.placement.ranges);
      body.push_back(store({true, buffers[r], {row, i}}, value));
    });
  }
  step_of(outputs, [&](const StencilStep& at, std::vector<Stmt>& body) {
    std::vector<Stmt> stores;
    for (const StoredOutput& o : domain().outputs)
      stores.push_back(store_output(o, at.placement, evaluator_.value_to_store(o.base, at.placement.at(o.base_index))));
    body.insert(body.end(), stores.begin(), stores.end());
  });
  evaluator_.set_known({});

  std::vector<Stmt> body;
  body.push_back(loop(LoopKind::Serial, "%t", rows + stencil.warm_up, std::move(steps)));
  add_phase(grid.extent(), std::move(body), strip * stencil.chunk);
}

}  // namespace smelt::kernel

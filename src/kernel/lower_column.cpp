// Column: reductions across the fastest axis; lanes are neighbouring columns, each lane runs down its own.
//
//   grid %g over the outer kept axes and the tiles of columns
//     vector %i over the columns of a tile
//       for each level of reductions:
//         serial over the reduced axes:  accumulate; store what is ready; keep what later passes need
//         store results of one element a column
#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

void Lowering::column() {
  Grid grid;
  Placement placement;
  const IntExpr tile = schedule_.tile;
  for (size_t d = 0; d < domain().axes.size(); ++d)
    if (!domain().axes[d].reduced && static_cast<int>(d) != schedule_.vector_axis)
      grid.add(domain().axes[d].var, domain().axes[d].extent);
  grid.add("%t", ceildiv(vector_axis().extent, tile));
  grid.decode(placement);
  const IntExpr first = placement.value_of.at("%t") * tile;
  const IntExpr width = min(tile, vector_axis().extent - first, placement.ranges);
  placement.ranges["%i"] = {0, width - 1};
  placement.place(vector_axis().var, first + IntExpr::symbol("%i"));
  std::vector<const Axis*> reduced;
  for (const Axis& axis : domain().axes)
    if (axis.reduced) {
      placement.ranges[axis.var] = {0, axis.extent - 1};
      reduced.push_back(&axis);
    }

  const int passes = domain().levels + 1;
  std::vector<Stage> stages(static_cast<size_t>(passes));
  std::vector<std::vector<Accumulator>> accs(static_cast<size_t>(passes));
  std::vector<std::vector<Stmt>> after(static_cast<size_t>(passes));
  for (int level = 0; level < passes; ++level) {
    const auto p = static_cast<size_t>(level);
    if (level < domain().levels) accs[p] = accumulators(level);
    element_pass(level, accs[p], placement, stages[p].body);
    for (const Accumulator& a : accs[p]) evaluator_.set_reduction(a.reduction->node, result(a));
    row_outputs(level + 1, placement, after[p]);
  }
  std::vector<IntExpr> keep_index, keep_dims;
  for (const Axis* axis : reduced) {
    keep_index.push_back(axis->value());
    keep_dims.push_back(axis->extent);
  }
  keep_index.push_back(IntExpr::symbol("%i"));
  keep_dims.push_back(tile);
  keep_values(stages, keep_index, keep_dims, domain().estimate(true) * schedule_.tile,
              reduced.empty() ? "" : reduced.back()->var);

  std::vector<Stmt> lanes;
  for (size_t p = 0; p < stages.size(); ++p) {
    for (Stmt& s : start(accs[p])) lanes.push_back(std::move(s));
    if (!stages[p].body.empty()) {
      std::vector<Stmt> inner = std::move(stages[p].body);
      for (size_t d = reduced.size(); d-- > 0;) {
        std::vector<Stmt> wrapped;
        wrapped.push_back(loop(LoopKind::Serial, reduced[d]->var, reduced[d]->extent, std::move(inner)));
        inner = std::move(wrapped);
      }
      for (Stmt& s : inner) lanes.push_back(std::move(s));
    }
    for (Stmt& s : after[p]) lanes.push_back(std::move(s));
  }
  std::vector<Stmt> body;
  body.push_back(vector(width, std::move(lanes)));
  add_phase(grid.extent(), std::move(body), reduced_count() * tile * passes);
}

}  // namespace smelt::kernel

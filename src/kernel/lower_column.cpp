// Column: reductions across the fastest axis; lanes are neighbouring columns, each lane runs down its own.
//
//   grid %g over the outer kept axes and the tiles of columns
//     vector %i over the columns of a tile
//       for each level of reductions:
//         serial over the reduced axes:  accumulate; store what is ready; keep what later passes need
//         store results of one element a column
//
// Tall columns are summed in blocks, whose sums are added up: that keeps the error small.
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

constexpr int64_t kBlockRows = 256;

void Lowering::column() {
  scans_down_ = true;
  Grid grid;
  Placement placement;
  const IntExpr tile = schedule_.tile;
  for (size_t d = 0; d < domain().axes.size(); ++d)
    if (!domain().axes[d].reduced && static_cast<int>(d) != schedule_.vector_axis)
      grid.add(domain().axes[d].var, domain().axes[d].extent);
  grid.add(Symbol::loop("t"), ceildiv(vector_axis().extent, tile));
  grid.decode(placement);
  const IntExpr first = placement.value_of.at(Symbol::loop("t")) * tile;
  const IntExpr width = min(tile, vector_axis().extent - first, placement.ranges);
  placement.ranges[kLane] = {0, width - 1};
  placement.place(vector_axis().var, first + IntExpr::symbol(kLane));
  std::vector<const Axis*> reduced;
  std::vector<std::pair<Symbol, IntExpr>> serial;  // loops down a column
  for (const Axis& axis : domain().axes)
    if (axis.reduced) {
      reduced.push_back(&axis);
      serial.emplace_back(axis.var, axis.extent);
      placement.ranges[axis.var] = {0, axis.extent - 1};
    }
  size_t outside = 0;  // loops around a block
  const bool sums = std::any_of(domain().reductions.begin(), domain().reductions.end(), [&](const Reduction& r) {
    return graph_.at(r.node).reduce == ReduceKind::Sum && is_float(graph_.at(r.node).dtype);
  });
  if ((on_gpu() || (sums && domain().scans.empty())) && domain().estimate(true) > 2 * kBlockRows) {
    int64_t rows = 1;
    for (outside = serial.size(); outside > 0 && rows < kBlockRows;) rows *= reduced[--outside]->estimate;
    if (rows > 2 * kBlockRows) {
      const Axis& tall = *reduced[outside];
      const int64_t block = std::max<int64_t>(1, kBlockRows * tall.estimate / rows);
      const IntExpr begin = IntExpr::symbol(Symbol::loop("b")) * block;
      serial[outside] = {Symbol::loop("q"), min(block, tall.extent - begin)};
      serial.insert(serial.begin() + static_cast<long>(outside), {Symbol::loop("b"), ceildiv(tall.extent, block)});
      ++outside;
      for (const auto& [var, extent] : serial) placement.ranges[var] = {0, extent - 1};
      placement.place(tall.var, begin + IntExpr::symbol(Symbol::loop("q")));
    }
  }

  if (domain().reversed)
    for (const Axis* axis : reduced) {
      const auto placed = placement.value_of.find(axis->var);
      placement.place(axis->var, directed(*axis, placed == placement.value_of.end() ? axis->value() : placed->second));
    }

  const int passes = domain().levels + 1;
  std::vector<Stage> stages(static_cast<size_t>(passes));
  std::vector<std::vector<Accumulator>> accs(static_cast<size_t>(passes)), totals(static_cast<size_t>(passes));
  std::vector<std::vector<Stmt>> after(static_cast<size_t>(passes)), scan_starts(static_cast<size_t>(passes));
  for (int level = 0; level < passes; ++level) {
    const auto p = static_cast<size_t>(level);
    if (level < domain().levels) accs[p] = accumulators(level);
    element_pass(level, accs[p], placement, stages[p].body);
    scan_starts[p] = take_scan_starts();
    totals[p] = accs[p];
    if (outside > 0)
      for (Accumulator& a : totals[p]) {
        a.value = builder_.new_local(a.value_type, true);
        if (a.with_index()) a.index = builder_.new_local(a.index_type, true);
      }
    for (const Accumulator& a : totals[p]) evaluator_.set_reduction(a.reduction->node, result(a));
    row_outputs(level + 1, placement, after[p]);
  }
  std::vector<IntExpr> keep_index, keep_dims;
  for (const Axis* axis : reduced) {
    keep_index.push_back(axis->value().substitute(placement.value_of, placement.ranges));
    keep_dims.push_back(axis->extent);
  }
  keep_index.push_back(IntExpr::symbol(kLane));
  keep_dims.push_back(tile);
  keep_values(stages, keep_index, keep_dims, domain().estimate(true) * schedule_.tile,
              serial.empty() ? std::nullopt : std::optional(serial.back().first));

  std::vector<Stmt> lanes;
  for (size_t p = 0; p < stages.size(); ++p) {
    for (Stmt& s : start(totals[p])) lanes.push_back(std::move(s));
    for (Stmt& s : scan_starts[p]) lanes.push_back(std::move(s));
    if (!stages[p].body.empty()) {
      std::vector<Stmt> inner = std::move(stages[p].body);
      for (size_t d = serial.size(); d-- > 0;) {
        std::vector<Stmt> wrapped;
        // A thread of a GPU, or what is stored on the way, a scan's values, keeps too few loads under way otherwise.
        const bool several = on_gpu() || !domain().scans.empty();
        const int together = d + 1 == serial.size() && several ? schedule_.unroll : 1;
        wrapped.push_back(loop(LoopKind::Serial, serial[d].first, serial[d].second, std::move(inner), 1, together));
        if (d == outside && outside > 0) {
          std::vector<Stmt> block = start(accs[p]);
          block.push_back(std::move(wrapped[0]));
          for (size_t a = 0; a < accs[p].size(); ++a)
            for (Stmt& s : take_part(totals[p][a], accs[p][a])) block.push_back(std::move(s));
          wrapped = std::move(block);
        }
        inner = std::move(wrapped);
      }
      for (Stmt& s : inner) lanes.push_back(std::move(s));
    }
    for (Stmt& s : after[p]) lanes.push_back(std::move(s));
  }
  std::vector<Stmt> body;
  body.push_back(vector(width, std::move(lanes)));
  add_phase(grid.extent(), std::move(body), domain().reduced_count() * tile * passes);
}

}  // namespace smelt::kernel

// Reductions and scans across the fastest axis: lanes are neighbouring columns of a tile. Three
// schedules share the loops:
//
//   column            each lane runs down its own column
//     grid %g over the outer kept axes and the tiles of columns (flattened: tiles of all kept axes)
//       vector %i over the columns of a tile
//         for each level of reductions:
//           serial over the reduced axes:  accumulate; store what is ready; keep what later passes need
//           store results of one element a column
//
//   columns in rows   rows of a tile one after another (lower_column_rows.cpp)
//
//   split columns     as column, over a part of the first reduced axis; a second phase joins the parts
//
// Tall columns are summed in blocks, whose sums are added up: that keeps the error small.
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lower_column.hpp"
#include "schedule/parts.hpp"

namespace smelt::kernel {

constexpr int64_t kBlockRows = 256;
// On a GPU, enough rows of a part to hide its latency, and parts that the second phase reads at
// once.
constexpr int64_t kFewestRows = 32;
constexpr int kPartsAtOnce = 8;

using schedule::kMostColumnParts, schedule::kWarpsPerProcessor;

void ColumnLowering::phases() {
  const bool split = schedule_.strategy == schedule::Strategy::Split;
  if (on_gpu() && split) return domain().scans.empty() ? split_columns() : split_scans();
  if (on_gpu()) return column();
  if (split) return schedule_.narrow_axis >= 0 ? split_narrow() : split_columns_in_rows();
  schedule_.tile > schedule_.lanes ? columns_in_rows() : column();
}

// The loops of a tile of columns, and of a part of the first reduced axis if that is split.
ColumnLoops ColumnLowering::column_loops(const SplitAxis* split) const {
  const Symbol t = Symbol::loop("t"), s = Symbol::loop("s"), r = Symbol::loop("r");
  ColumnLoops loops;
  std::vector<Axis> merged;
  IntExpr extent = 1;
  for (const Axis& axis : domain().axes) {
    if (axis.reduced) continue;
    if (schedule_.flattened || &axis == &vector_axis())
      merged.push_back(axis), extent = extent * axis.extent;
    else
      loops.outer.add(axis.var, axis.extent);
  }
  Grid tiles = loops.outer;
  tiles.add_pieces(t, extent, schedule_.tile);
  if (split) tiles.add(s, split->parts);
  loops.count = tiles.extent();
  Placement& placement = loops.placement;
  tiles.decode(placement);
  const Piece columns = piece_at(placement, t, extent, schedule_.tile);
  loops.width = columns.length;
  placement.ranges[kLane] = {0, columns.length - 1};
  placement.unravel(merged, columns.first + IntExpr::symbol(kLane));
  for (const Axis& axis : domain().axes) {
    if (!axis.reduced) continue;
    if (split && &axis == split->axis) {
      loops.part = placement.value_of.at(s);
      loops.rows = piece_at(placement, s, axis.extent, split->part);
      loops.serial.emplace_back(r, loops.rows.length);
      placement.place(axis.var, directed(axis, loops.rows.first + IntExpr::symbol(r)));
    } else {
      loops.serial.emplace_back(axis.var, axis.extent);
      if (domain().reversed) placement.place(axis.var, directed(axis, axis.value()));
    }
    placement.ranges[loops.serial.back().first] = {0, loops.serial.back().second - 1};
  }
  return loops;
}

// Makes a loop over blocks, and one over the rows of a block, of the loop that makes columns tall.
void ColumnLowering::block_rows(ColumnLoops& loops) const {
  const bool sums = std::any_of(domain().reductions.begin(), domain().reductions.end(), [&](const Reduction& r) {
    return graph_.at(r.node).reduce == ReduceKind::Sum && is_float(graph_.at(r.node).dtype);
  });
  if (!on_gpu() && (!sums || !domain().scans.empty())) return;
  if (domain().estimate(true) <= 2 * kBlockRows) return;
  std::vector<const Axis*> reduced;
  for (const Axis& axis : domain().axes)
    if (axis.reduced) reduced.push_back(&axis);
  int64_t rows = 1;
  size_t d = reduced.size();
  while (d > 0 && rows < kBlockRows) rows *= reduced[--d]->estimate;
  loops.blocks = d;
  if (rows <= 2 * kBlockRows) return;
  const Symbol b = Symbol::loop("b"), q = Symbol::loop("q");
  const Axis& tall = *reduced[d];
  const int64_t block = std::max<int64_t>(1, kBlockRows * tall.estimate / rows);
  const IntExpr first = IntExpr::symbol(b) * block;
  const bool even = tall.extent.constant().value_or(1) % block == 0;
  loops.serial[d] = {q, even ? IntExpr(block) : min(block, tall.extent - first)};
  loops.serial.insert(loops.serial.begin() + static_cast<long>(d), {b, ceildiv(tall.extent, block)});
  ++loops.blocks;
  for (const auto& [var, extent] : loops.serial) loops.placement.ranges[var] = {0, extent - 1};
  loops.placement.place(tall.var, directed(tall, first + IntExpr::symbol(q)));
}

// Inside of a Vector loop: `body` for the rows of each lane's column. The accumulators of a block
// are added to their totals after it.
std::vector<Stmt> ColumnLowering::down_columns(const ColumnLoops& loops, const std::vector<Accumulator>& accs,
                                               std::vector<Stmt> body) {
  const auto outside = loops.serial.begin() + static_cast<long>(loops.blocks);
  std::vector<Stmt> nest = in_loops({outside, loops.serial.end()}, std::move(body), loops.together);
  if (loops.blocks == 0) return nest;
  std::vector<Stmt> block = start(accs);
  append(block, std::move(nest));
  append(block, take_parts(totals_of(accs), accs));
  return in_loops({loops.serial.begin(), outside}, std::move(block));
}

// What passes over the columns of a tile have in common, whichever loop is inside of the other.
ReductionLowering::PassLoops ColumnLowering::column_passes(const ColumnLoops& loops) {
  PassLoops in;
  in.accumulators = [&](int level) {
    const std::vector<Accumulator> accs = accumulators(level);
    if (loops.blocks > 0)
      for (const Accumulator& a : accs) add_total(a);
    return accs;
  };
  in.outputs = [&](int level) { return row_outputs(level, loops.placement); };
  in.points = domain().estimate(true) * schedule_.tile;
  if (!loops.serial.empty()) in.innermost = loops.serial.back().first;
  in.lanes = schedule_.tile;
  return in;
}

void ColumnLowering::column() {
  scans_down_ = true;
  ColumnLoops loops = column_loops(nullptr);
  block_rows(loops);
  // One row at a time leaves too few loads under way, on a GPU and where a scan stores its values.
  if (on_gpu() || !domain().scans.empty()) loops.together = schedule_.unroll;
  PassLoops in = column_passes(loops);
  in.around = [&](const std::vector<Accumulator>& accs, std::vector<Stmt> starts, std::vector<Stmt> element) {
    std::vector<Stmt> body = start(totals_of(accs));
    append(body, std::move(starts));
    if (!element.empty()) append(body, down_columns(loops, accs, std::move(element)));
    return body;
  };
  add_phase(loops.count, single(vector(loops.width, passes(loops.placement, std::move(in)))),
            domain().reduced_count() * schedule_.tile * (domain().levels + 1));
}

// Parts of the first reduced axis of a GPU, at most `most`, that give each multiprocessor enough
// warps.
ReductionLowering::SplitAxis ColumnLowering::rows_in_parts(const IntExpr& most) {
  IntExpr teams = 1;
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) teams = teams * (&axis == &vector_axis() ? ceildiv(axis.extent, schedule_.tile) : axis.extent);
  const int64_t fewest = std::max<int64_t>(1, kFewestRows / points_below(first_reduced()));
  const IntExpr wanted = min(min(most, ceildiv(first_reduced().extent, fewest)),
                             ceildiv(IntExpr::symbol(kLaunchThreads) * kWarpsPerProcessor, max(1, teams)));
  return split_axis(first_reduced(), max(1, wanted), 1);
}

void ColumnLowering::split_columns() {
  const SplitAxis split = rows_in_parts(kMostColumnParts);
  ColumnLoops loops = column_loops(&split);
  if (schedule_.unroll > 1) loops.together = schedule_.unroll;
  const std::vector<Accumulator> accs = accumulators(0);
  std::vector<Stmt> element, lanes = start(accs);
  element_pass(0, accs, loops.placement, element);
  append(lanes, down_columns(loops, accs, std::move(element)));
  const std::vector<Partial> parts = partials(accs, column_partials(split));
  store_partials(accs, parts, column_partial_at(loops.placement, loops.part), lanes);
  add_phase(loops.count, single(vector(loops.width, std::move(lanes))), split.part * schedule_.tile);
  combine_columns(loops.outer, split, accs, parts);
}

// Partial results of columns: parts outermost.
Shape ColumnLowering::column_partials(const SplitAxis& split) const {
  Shape dims{split.parts};
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) dims.push_back(axis.extent);
  return dims;
}

Index ColumnLowering::column_partial_at(const Placement& placement, const IntExpr& part) const {
  Index at{part};
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) at.push_back(placement.value_of.at(axis.var));
  return at;
}

// A lane to a column: joins its parts, and stores what is ready then.
std::vector<Stmt> ColumnLowering::joined_parts(Placement placement, const SplitAxis& split,
                                               const std::vector<Accumulator>& accs,
                                               const std::vector<Partial>& parts) {
  const Symbol p = Symbol::loop("p");
  placement.ranges[p] = {0, split.parts - 1};
  std::vector<Stmt> body = start(accs);
  append(body,
         in_loops({{p, split.parts}}, take_partials(accs, parts, column_partial_at(placement, IntExpr::symbol(p))),
                  on_gpu() ? kPartsAtOnce : 1));
  set_results(accs);
  append(body, row_outputs(1, placement));
  return body;
}

//   grid %g over the columns, lanes side by side: serial over the parts, store
void ColumnLowering::combine_columns(Grid grid, const SplitAxis& split, const std::vector<Accumulator>& accs,
                                     const std::vector<Partial>& parts) {
  const Symbol t = Symbol::loop("t");
  const IntExpr tile = on_gpu() ? schedule_.team : schedule_.lanes, columns = vector_axis().extent;
  grid.add_pieces(t, columns, tile);
  Placement placement;
  grid.decode(placement);
  const Piece lanes = piece_at(placement, t, columns, tile);
  placement.ranges[kLane] = {0, lanes.length - 1};
  placement.place(vector_axis().var, lanes.first + IntExpr::symbol(kLane));
  std::vector<Stmt> body = joined_parts(placement, split, accs, parts);
  // A thread to a column where threads are many.
  add_phase(grid.extent(),
            single(loop(LoopKind::Vector, kLane, lanes.length, std::move(body), on_gpu() ? 1 : schedule_.lanes)),
            split.parts * tile);
}

}  // namespace smelt::kernel

// Split: one reduction spread over the grid. A first phase leaves partial results, a second combines them.
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

// More parts than this only lengthen the second phase.
constexpr int64_t kMaxParts = 1024;
// Rows of a column that a part should have at least.
constexpr int64_t kPartRows = 256;
constexpr int64_t kTeamsPerProcessor = 4;

// Parts of at least `least` points; a GPU takes no more than give each multiprocessor several of them, beside `others`.
IntExpr Lowering::wanted_parts(int64_t least, const IntExpr& others) const {
  const IntExpr n = first_reduced().extent;
  IntExpr parts = min(kMaxParts, ceildiv(n, least));
  if (on_gpu()) parts = min(parts, ceildiv(IntExpr::symbol(kLaunchThreads) * kTeamsPerProcessor, max(1, others)));
  return max(1, parts);
}

const Axis& Lowering::first_reduced() const {
  for (const Axis& axis : domain().axes)
    if (axis.reduced) return axis;
  throw InternalError("a split without a reduced axis");
}

// The first reduced axis is the one that is split. Its parts have "%part" points, a multiple of
// `multiple`.
Lowering::SplitAxis Lowering::split_axis(const IntExpr& wanted, int64_t multiple) {
  SplitAxis split;
  split.axis = &first_reduced();
  const IntExpr n = split.axis->extent;
  split.part = launch_size(Symbol::launch("part"), ceildiv(ceildiv(n, wanted), multiple) * multiple);
  split.parts = launch_size(Symbol::launch("parts"), ceildiv(n, split.part));
  return split;
}

// Partial results: one array per accumulator, and one more for the indices of argmax.
std::vector<Lowering::Partial> Lowering::partials(const std::vector<Accumulator>& accs, const Shape& dims) {
  std::vector<Partial> result;
  for (const Accumulator& a : accs) {
    Partial p;
    p.value = add_temporary(a.value_type, dims, "partial result");
    if (a.with_index()) p.index = add_temporary(DType::I64, dims, "partial index");
    result.push_back(p);
  }
  return result;
}

void Lowering::store_partials(const std::vector<Accumulator>& accs, const std::vector<Partial>& parts, const Index& at,
                              std::vector<Stmt>& body) {
  for (size_t i = 0; i < accs.size(); ++i) {
    body.push_back(store({false, parts[i].value, at}, builder_.local(accs[i].value)));
    if (accs[i].with_index()) body.push_back(store({false, parts[i].index, at}, result(accs[i])));
  }
}

std::vector<Stmt> Lowering::take_partials(const std::vector<Accumulator>& accs, const std::vector<Partial>& parts,
                                          const Index& at) {
  std::vector<Stmt> body;
  for (size_t i = 0; i < accs.size(); ++i) {
    const ExprId value = builder_.load(accs[i].value_type, {false, parts[i].value, at});
    const ExprId index = accs[i].with_index() ? builder_.load(DType::I64, {false, parts[i].index, at}) : kNoExpr;
    for (Stmt& s : take_part(accs[i], value, index)) body.push_back(std::move(s));
  }
  return body;
}

//   phase 0: grid %g over the rows and their parts:  one pass over the part, combine the lanes, store the partial result
//   phase 1: grid %g over the rows:  vector over the parts, combine, store; of one row on a GPU, in the same launch
void Lowering::split_rows() {
  IntExpr row_count = 1;
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) row_count = row_count * axis.extent;
  const SplitAxis split = split_axis(wanted_parts(kPartElements, row_count), schedule_.lanes);
  const bool splits_vector = split.axis == &vector_axis();
  Grid grid;
  Shape partial_dims;
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) {
      grid.add(axis.var, axis.extent);
      partial_dims.push_back(axis.extent);
    }
  Grid rows = grid;
  grid.add(Symbol::loop("s"), split.parts);
  partial_dims.push_back(split.parts);

  Placement placement;
  grid.decode(placement);
  const IntExpr first = placement.value_of.at(Symbol::loop("s")) * split.part;
  const IntExpr length = min(split.part, split.axis->extent - first);
  RowLoops loops;
  if (splits_vector) {
    loops = row_loops(placement, first, length, std::max<int64_t>(split.axis->estimate / kMaxParts, kPartElements));
  } else {
    const int64_t rows = std::max<int64_t>(split.axis->estimate / kMaxParts, kPartElements);
    loops = row_loops(placement, 0, vector_axis().extent, vector_axis().estimate,
                      {split.axis, Symbol::loop("r"), first, length, std::min(rows, split.axis->estimate)});
  }
  std::vector<Accumulator> accs = row_accumulators(loops, placement, 0);
  std::vector<Stmt> element, body;
  element_pass(0, accs, placement, element);
  body = row_pass(loops, accs, std::move(element));
  accs = row_results(loops, accs);
  const auto parts = partials(accs, partial_dims);
  Index at;
  for (const auto& [var, extent] : grid.dims) at.push_back(placement.value_of.at(var));
  store_partials(accs, parts, at, body);
  add_phase(grid.extent(), std::move(body), splits_vector ? split.part : split.part * vector_axis().extent);

  Placement final_placement;
  rows.decode(final_placement);
  final_placement.ranges[kLane] = {0, split.parts - 1};
  Index from;
  for (const auto& [var, extent] : rows.dims) from.push_back(final_placement.value_of.at(var));
  from.push_back(IntExpr::symbol(kLane));
  std::vector<Stmt> last = start(accs);
  last.push_back(vector(split.parts, take_partials(accs, parts, from)));
  for (const Accumulator& a : accs) {
    last.push_back(combine_lanes(a));
    evaluator_.set_reduction(a.reduction->node, result(a));
  }
  row_outputs(1, final_placement, last);
  add_phase(rows.extent(), std::move(last), split.parts);
  if (on_gpu() && !schedule_.plain && rows.extent().is(1)) end_with_last_workgroup();
}

//   phase 0: grid %g over the outer kept axes, tiles of columns and parts of rows:
//     accumulators of a tile live in scratch; serial over the rows of the part, four at a time: vector %i over the columns
//   phase 1: grid %g over the columns, lanes side by side: serial over the parts, store
void Lowering::split_columns() {
  constexpr int64_t kRowsAtOnce = 4;
  const SplitAxis split = split_axis(wanted_parts(kPartRows, 1), kRowsAtOnce);
  const IntExpr tile = schedule_.tile, columns = vector_axis().extent;
  Grid grid;
  Shape partial_dims{split.parts};
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) {
      partial_dims.push_back(axis.extent);
      if (&axis != &vector_axis()) grid.add(axis.var, axis.extent);
    }
  const Grid outer = grid;
  grid.add(Symbol::loop("t"), ceildiv(columns, tile));
  grid.add(Symbol::loop("s"), split.parts);

  Placement placement;
  grid.decode(placement);
  const IntExpr first_column = placement.value_of.at(Symbol::loop("t")) * tile;
  const IntExpr width = min(tile, columns - first_column);
  const IntExpr first_row = placement.value_of.at(Symbol::loop("s")) * split.part;
  const IntExpr height = min(split.part, split.axis->extent - first_row);
  const IntExpr lane = IntExpr::symbol(kLane);
  placement.ranges[kLane] = {0, width - 1};
  placement.place(vector_axis().var, first_column + lane);
  std::vector<std::pair<Symbol, IntExpr>> serial;
  for (const Axis& axis : domain().axes)
    if (axis.reduced && &axis != split.axis) {
      placement.ranges[axis.var] = {0, axis.extent - 1};
      serial.emplace_back(axis.var, axis.extent);
    }

  std::vector<Accumulator> accs = accumulators(0);
  std::vector<Access> value_at, index_at;
  for (const Accumulator& a : accs) {
    value_at.push_back({true, add_scratch(a.value_type, {tile}), {lane}});
    index_at.push_back(a.with_index() ? Access{true, add_scratch(a.index_type, {tile}), {lane}} : Access{});
  }
  auto over_columns = [&](std::vector<Stmt> body) { return vector(width, std::move(body)); };
  auto write_back = [&](std::vector<Stmt>& body) {
    for (size_t i = 0; i < accs.size(); ++i) {
      body.push_back(store(value_at[i], builder_.local(accs[i].value)));
      if (accs[i].with_index()) body.push_back(store(index_at[i], builder_.local(accs[i].index)));
    }
  };
  auto read_back = [&](std::vector<Stmt>& body) {
    for (size_t i = 0; i < accs.size(); ++i) {
      body.push_back(assign(accs[i].value, builder_.load(accs[i].value_type, value_at[i])));
      if (accs[i].with_index()) body.push_back(assign(accs[i].index, builder_.load(accs[i].index_type, index_at[i])));
    }
  };
  // One vector loop that takes `rows` rows into the accumulators, the first at `row`.
  auto rows_pass = [&](const IntExpr& row, int64_t rows) {
    std::vector<Stmt> body;
    read_back(body);
    for (int64_t u = 0; u < rows; ++u) {
      placement.place(split.axis->var, row + u);
      element_pass(0, accs, placement, body);
    }
    write_back(body);
    std::vector<Stmt> nest;
    nest.push_back(over_columns(std::move(body)));
    for (size_t d = serial.size(); d-- > 0;) {
      std::vector<Stmt> wrapped;
      wrapped.push_back(loop(LoopKind::Serial, serial[d].first, serial[d].second, std::move(nest)));
      nest = std::move(wrapped);
    }
    return nest;
  };

  std::vector<Stmt> body, init = start(accs);
  write_back(init);
  body.push_back(over_columns(std::move(init)));
  const IntExpr quads = floordiv(height, kRowsAtOnce), rest = height - quads * kRowsAtOnce;
  placement.ranges[Symbol::loop("q")] = {0, quads - 1};
  body.push_back(loop(LoopKind::Serial, Symbol::loop("q"), quads,
                      rows_pass(first_row + IntExpr::symbol(Symbol::loop("q")) * kRowsAtOnce, kRowsAtOnce)));
  placement.ranges[Symbol::loop("r")] = {0, rest - 1};
  body.push_back(loop(LoopKind::Serial, Symbol::loop("r"), rest,
                      rows_pass(first_row + quads * kRowsAtOnce + IntExpr::symbol(Symbol::loop("r")), 1)));
  const auto parts = partials(accs, partial_dims);
  Index at{placement.value_of.at(Symbol::loop("s"))};
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) at.push_back(placement.value_of.at(axis.var));
  std::vector<Stmt> last;
  read_back(last);
  store_partials(accs, parts, at, last);
  body.push_back(over_columns(std::move(last)));
  add_phase(grid.extent(), std::move(body), split.part * tile);

  combine_columns(outer, split, accs, parts);
}

void Lowering::combine_columns(Grid grid, const SplitAxis& split, const std::vector<Accumulator>& accs,
                               const std::vector<Partial>& parts) {
  const IntExpr tile = on_gpu() ? schedule_.team : schedule_.lanes, columns = vector_axis().extent;
  grid.add(Symbol::loop("t"), ceildiv(columns, tile));
  Placement placement;
  grid.decode(placement);
  const IntExpr first = placement.value_of.at(Symbol::loop("t")) * tile, width = min(tile, columns - first);
  placement.ranges[kLane] = {0, width - 1};
  placement.ranges[Symbol::loop("p")] = {0, split.parts - 1};
  placement.place(vector_axis().var, first + IntExpr::symbol(kLane));
  Index from{IntExpr::symbol(Symbol::loop("p"))};
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) from.push_back(placement.value_of.at(axis.var));
  std::vector<Stmt> lanes = start(accs);
  lanes.push_back(loop(LoopKind::Serial, Symbol::loop("p"), split.parts, take_partials(accs, parts, from)));
  for (const Accumulator& a : accs) evaluator_.set_reduction(a.reduction->node, result(a));
  row_outputs(1, placement, lanes);
  std::vector<Stmt> body;
  // A thread to a column where threads are many.
  body.push_back(loop(LoopKind::Vector, kLane, width, std::move(lanes), on_gpu() ? 1 : schedule_.lanes));
  add_phase(grid.extent(), std::move(body), split.parts * tile);
}

}  // namespace smelt::kernel

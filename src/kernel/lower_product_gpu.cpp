// Products on a GPU: a tile of results to a workgroup, which has its sums in registers.
//
//   grid %g over the batch, the tiles of rows and of columns
//     sums = 0
//     serial %kb over parts of the inner axes:
//       vector %i over the part of the tile's rows:     rows panel = f
//       vector %i over the part of the tile's columns:  columns panel = g
//       vector %i over the threads:                     each has a block of results
//         serial %k over the part:  each total = fma(rows panel[%k, ..], columns panel[%k, ..], total)
//     vector %i over the threads: sums = total          so that neighbours in memory are stored by neighbours
//     vector %i over the tile: out = h(sums)
//
// Whole parts of whole tiles are read without asking whether an element is there. What is not there is 0.
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lower_product.hpp"

namespace smelt::kernel {

namespace {

constexpr int64_t kApart = 4;               // columns of a thread that lie beside each other
constexpr int64_t kPiece = 8;               // neighbours of a factor that matrix units take together
constexpr int64_t kPad = Fragment::kApart;  // elements between rows of scratch, so that they begin in other banks

}  // namespace

std::vector<schedule::Guard> ProductLowering::guards_of(const Placement& placement,
                                                        const std::vector<int>& axes) const {
  std::vector<schedule::Guard> guards;
  for (const int a : axes) {
    const Axis& axis = domain().axes[static_cast<size_t>(a)];
    guards.push_back({placement.value_of.at(axis.var), axis.extent});
  }
  return guards;
}

// A part of one factor, from number `part` of the inner axes on.
std::vector<Stmt> ProductLowering::stage(const Panel& panel, bool of_rows, const Tile& tile, const IntExpr& part,
                                         bool whole) {
  const schedule::Product& p = product();
  const bool along_inner = of_rows ? p.rows_along_inner : p.columns_along_inner;
  const int64_t own_size = of_rows ? p.tile_rows : p.tile_columns;
  const IntExpr lane = IntExpr::symbol(kLane);
  Placement placement = tile.placement;
  placement.ranges[kLane] = {0, own_size * p.tile_inner - 1};
  const int64_t fast = along_inner ? p.tile_inner : own_size;
  const IntExpr outer = floordiv(lane, fast, placement.ranges), inner = mod(lane, fast, placement.ranges);
  const IntExpr own = along_inner ? outer : inner, k = along_inner ? inner : outer;
  place(placement, p.rows, of_rows ? tile.rows.first + own : IntExpr(0));
  place(placement, p.columns, of_rows ? IntExpr(0) : tile.columns.first + own);
  place(placement, p.inner, part * p.tile_inner + k);
  std::vector<Stmt> element;
  evaluator_.enter(&element, &placement.ranges);
  ExprId inside = kNoExpr;
  if (!whole) {
    std::vector<schedule::Guard> guards = guards_of(placement, of_rows ? p.rows : p.columns);
    for (const schedule::Guard& g : guards_of(placement, p.inner)) guards.push_back(g);
    inside = evaluator_.only_where(guards);
  }
  ExprId value = factor_at(panel, placement);
  const DType t = compute_type(kernel_.buffers[static_cast<size_t>(panel.buffer)].dtype);
  if (inside != kNoExpr)
    value = builder_.apply(Op::Where, {inside, value, builder_.constant(neutral(ReduceKind::Sum, t))});
  evaluator_.only_where(kNoExpr);
  schedule::Index at{k, own};
  if (p.units) {
    const IntExpr piece = floordiv(lane, kPiece, placement.ranges);
    at = {mod(piece, fast / kPiece, placement.ranges), outer, mod(lane, kPiece, placement.ranges)};
  }
  element.push_back(builder_.store({true, panel.buffer, at}, value));
  const int lanes = schedule_.lanes;
  const int64_t steps = own_size * p.tile_inner / (lanes * schedule_.team);
  return single(loop(LoopKind::Vector, kLane, own_size * p.tile_inner, std::move(element), lanes,
                     static_cast<int>(std::clamp<int64_t>(steps, 1, 8))));
}

// Results of a thread: rows beside each other, and columns in pieces.
schedule::Index ProductLowering::result_of_thread(int64_t row, int64_t column) const {
  const schedule::Product& p = product();
  Ranges ranges;
  ranges[kLane] = {0, schedule_.team - 1};
  const int64_t across = p.tile_columns / p.block_columns, piece = std::min(kApart, p.block_columns);
  const IntExpr lane = IntExpr::symbol(kLane);
  const IntExpr x = mod(lane, across, ranges), y = floordiv(lane, across, ranges);
  return {y * p.block_rows + row, x * piece + column / piece * (across * piece) + column % piece};
}

std::vector<Stmt> ProductLowering::multiply_by_units(const GpuPanels& panels) {
  std::vector<Stmt> steps;
  for (size_t s = 0; s < product().sums.size(); ++s)
    steps.push_back(Matrix{Matrix::Step::Multiply, static_cast<int>(s),
                           panel_of(panels.rows, product().sums[s].rows).buffer,
                           panel_of(panels.columns, product().sums[s].columns).buffer});
  return steps;
}

std::vector<Stmt> ProductLowering::multiply_by_threads(const GpuPanels& panels) {
  const schedule::Product& p = product();
  const IntExpr k = IntExpr::symbol(kInner);
  std::vector<Stmt> steps;
  for (size_t s = 0; s < p.sums.size(); ++s) {
    const DType t = accumulator(p.sums[s]);
    const Panel& rows = panel_of(panels.rows, p.sums[s].rows);
    const Panel& columns = panel_of(panels.columns, p.sums[s].columns);
    for (int64_t r = 0; r < p.block_rows; ++r)
      for (int64_t c = 0; c < p.block_columns; ++c) {
        const schedule::Index at = result_of_thread(r, c);
        const ExprId f = builder_.load({true, rows.buffer, {k, at[0]}}),
                     g = builder_.load({true, columns.buffer, {k, at[1]}});
        const LocalId total = panels.totals[s][static_cast<size_t>(r * p.block_columns + c)];
        const ExprId so_far = builder_.local(total);
        steps.push_back(assign(total, is_float(t)
                                          ? builder_.apply(Op::Fma, {f, g, so_far})
                                          : builder_.apply(Op::Add, {so_far, builder_.apply(Op::Mul, {f, g})})));
      }
  }
  const int together = static_cast<int>(std::clamp<int64_t>(512 / (p.block_rows * p.block_columns), 1, 8));
  std::vector<Stmt> inner = single(loop(LoopKind::Serial, kInner, p.tile_inner, std::move(steps), 1, together));
  return single(loop(LoopKind::Vector, kLane, schedule_.team, std::move(inner)));
}

ProductLowering::GpuPanels ProductLowering::add_gpu_panels(std::vector<Stmt>& body) {
  const schedule::Product& p = product();
  GpuPanels panels;
  const auto add = [&](std::vector<Panel>& of, NodeId factor, size_t reduction, int64_t own) {
    if (std::any_of(of.begin(), of.end(), [&](const Panel& panel) { return panel.factor == factor; })) return;
    if (!p.units) {
      of.push_back({factor, reduction, add_scratch(compute_type(graph_.at(factor).dtype), {p.tile_inner, own + kPad})});
      return;
    }
    const bool along_inner = &of == &panels.rows ? p.rows_along_inner : p.columns_along_inner;
    const int64_t fast = along_inner ? p.tile_inner : own, other = along_inner ? own : p.tile_inner;
    of.push_back({factor, reduction, add_scratch(*p.units, {fast / kPiece, other + 1, kPiece})});
  };
  for (const schedule::ProductSum& sum : p.sums) {
    add(panels.rows, sum.rows, sum.reduction, p.tile_rows);
    add(panels.columns, sum.columns, sum.reduction, p.tile_columns);
    const DType t = accumulator(sum);
    panels.sums.push_back(add_scratch(t, {p.tile_rows, p.tile_columns + kPad}));
    if (p.units) {
      body.push_back(Matrix{Matrix::Step::Clear, static_cast<int>(kernel_.fragments.size())});
      kernel_.fragments.push_back({*p.units, t, static_cast<int>(p.tile_rows), static_cast<int>(p.tile_columns),
                                   static_cast<int>(p.tile_inner), p.down, p.rows_along_inner, p.columns_along_inner});
      continue;
    }
    std::vector<LocalId>& totals = panels.totals.emplace_back();
    for (int64_t r = 0; r < p.block_rows * p.block_columns; ++r) {
      totals.push_back(builder_.new_local(t, true));
      body.push_back(assign(totals.back(), builder_.constant(neutral(ReduceKind::Sum, t))));
    }
  }
  return panels;
}

std::vector<Stmt> ProductLowering::put_sums(const GpuPanels& panels) {
  const schedule::Product& p = product();
  std::vector<Stmt> put;
  if (p.units) {
    for (size_t s = 0; s < p.sums.size(); ++s)
      put.push_back(Matrix{Matrix::Step::Put, static_cast<int>(s), -1, -1, panels.sums[s]});
    return put;
  }
  for (size_t s = 0; s < p.sums.size(); ++s)
    for (int64_t r = 0; r < p.block_rows; ++r)
      for (int64_t c = 0; c < p.block_columns; ++c)
        put.push_back(builder_.store({true, panels.sums[s], result_of_thread(r, c)},
                                     builder_.local(panels.totals[s][static_cast<size_t>(r * p.block_columns + c)])));
  return single(loop(LoopKind::Vector, kLane, schedule_.team, std::move(put)));
}

// What follows from the sums of a tile.
std::vector<Stmt> ProductLowering::results(const GpuPanels& panels, const Tile& tile, bool whole) {
  const schedule::Product& p = product();
  const int64_t points = p.tile_rows * p.tile_columns;
  Placement placement = tile.placement;
  placement.ranges[kLane] = {0, points - 1};
  const IntExpr lane = IntExpr::symbol(kLane);
  const IntExpr row = floordiv(lane, p.tile_columns, placement.ranges),
                column = mod(lane, p.tile_columns, placement.ranges);
  place(placement, p.rows, tile.rows.first + row);
  place(placement, p.columns, tile.columns.first + column);
  std::vector<Stmt> body, stores;
  evaluator_.enter(&body, &placement.ranges);
  for (size_t s = 0; s < p.sums.size(); ++s)
    evaluator_.set_reduction(p.sums[s].node, builder_.load({true, panels.sums[s], {row, column}}));
  ExprId mask = kNoExpr;
  if (!whole) {
    std::vector<schedule::Guard> guards = guards_of(placement, p.rows);
    for (const schedule::Guard& g : guards_of(placement, p.columns)) guards.push_back(g);
    mask = evaluator_.only_where(guards);
  }
  for (const StoredOutput& o : domain().outputs)
    stores.push_back(store_output(o, placement, evaluator_.value_to_store(o.base, placement.at(o.base_index)), mask));
  evaluator_.only_where(kNoExpr);
  append(body, std::move(stores));
  return single(loop(LoopKind::Vector, kLane, points, std::move(body), 4, 4));
}

void ProductLowering::gpu_tiles() {
  const schedule::Product& p = product();
  Tile tile = tile_of_grid();
  const IntExpr rows = schedule::count_of(domain(), p.rows), columns = schedule::count_of(domain(), p.columns),
                inner = schedule::count_of(domain(), p.inner);
  std::vector<Stmt> body;
  evaluator_.enter(&body, &tile.placement.ranges);
  const auto divides = [](int64_t size, const IntExpr& all) { return all.constant() && *all.constant() % size == 0; };
  const bool always_whole = divides(p.tile_rows, rows) && divides(p.tile_columns, columns);
  const auto fits = [&](const IntExpr& first, int64_t size, const IntExpr& all) {
    return builder_.apply(Op::Le, {builder_.index(first + size), builder_.index(all)});
  };
  const ExprId is_whole = builder_.apply(
      Op::And, {fits(tile.rows.first, p.tile_rows, rows), fits(tile.columns.first, p.tile_columns, columns)});
  const IntExpr whole_parts = floordiv(inner, p.tile_inner), parts = ceildiv(inner, p.tile_inner),
                part = IntExpr::symbol(kPart);
  const GpuPanels panels = add_gpu_panels(body);

  const auto run = [&](const IntExpr& first, const IntExpr& count, bool whole) {
    Tile at = tile;
    at.placement.ranges[kPart] = {0, count - 1};
    std::vector<Stmt> steps;
    for (const Panel& panel : panels.rows) append(steps, stage(panel, true, at, first + part, whole));
    for (const Panel& panel : panels.columns) append(steps, stage(panel, false, at, first + part, whole));
    append(steps, p.units ? multiply_by_units(panels) : multiply_by_threads(panels));
    return single(loop(LoopKind::Serial, kPart, count, std::move(steps)));
  };
  if (always_whole) {
    append(body, run(0, whole_parts, true));
    if (!(parts - whole_parts).is(0)) append(body, run(whole_parts, parts - whole_parts, false));
  } else {
    const IntExpr done = evaluator_.as_index(
        builder_.apply(Op::Where, {is_whole, builder_.index(whole_parts), builder_.index(0)}), whole_parts + 1);
    tile.placement.ranges = evaluator_.ranges();
    body.push_back(If{is_whole, run(0, whole_parts, true)});
    append(body, run(done, parts - done, false));
  }
  append(body, put_sums(panels));
  if (always_whole) {
    append(body, results(panels, tile, true));
  } else {
    body.push_back(If{is_whole, results(panels, tile, true)});
    body.push_back(If{builder_.apply(Op::Not, {is_whole}), results(panels, tile, false)});
  }
  add_phase(tile.grid, std::move(body), IntExpr(p.tile_rows * p.tile_columns));
}

}  // namespace smelt::kernel

// Products of few rows on a GPU with matrix units: each warp multiplies what it reads, for all
// results of a tile, over parts of the inner axes that no other warp has.
//
//   grid %g over the batch and the tiles of columns
//     sums = 0                                            of a warp
//     serial %kb over parts of the inner axes:
//       vector %i over the warps' parts:                  columns, rows = g, f      in registers
//       sums = columns times rows + sums
//     vector %i over the tile: out = h(sum of the warps' sums)
#include "kernel/lower_product.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

constexpr int64_t kWarp = 32, kLanesAlong = 4, kLanesAcross = 8;  // of a warp: along the inner axes, and across

}  // namespace

// Where an element of a part is that a lane has: of neighbours along the inner axes, of each eighth
// row or column. `terms`: neighbours that are one lane of the loop.
Placement ProductLowering::place_element(bool of_rows, const Tile& tile, int64_t terms, int64_t term) const {
  const schedule::Product& p = product();
  const schedule::Skinny& skinny = *p.skinny;
  const int64_t each = schedule_.lanes * kLanesAlong, steps = (of_rows ? p.tile_rows : p.tile_columns) / kLanesAcross;
  Placement placement = tile.placement;
  placement.ranges[kLane] = {0, skinny.parts * steps * schedule_.team * schedule_.lanes / terms - 1};
  const Ranges& ranges = placement.ranges;
  const IntExpr lane = IntExpr::symbol(kLane);
  const auto over = [&](int64_t elements) { return floordiv(lane, elements / terms, ranges); };
  const IntExpr across = mod(over(each), kLanesAcross, ranges),
                through = over(schedule_.lanes * int64_t{schedule_.team}), step = mod(through, steps, ranges),
                part = floordiv(through, steps, ranges),
                warp = mod(over(schedule_.lanes * kWarp), skinny.warps, ranges);
  IntExpr own = (of_rows ? tile.rows : tile.columns).first + step * kLanesAcross + across;
  // Nothing is stored for rows and columns that are not there, so that any other one will do.
  const IntExpr all = schedule::count_of(domain(), of_rows ? p.rows : p.columns);
  if (!divides(of_rows ? p.tile_rows : p.tile_columns, all)) own = min(own, all - 1, ranges);
  place(placement, p.rows, of_rows ? own : IntExpr(0));
  place(placement, p.columns, of_rows ? IntExpr(0) : own);
  place(placement, p.inner,
        ((IntExpr::symbol(kPart) * skinny.parts + part) * skinny.warps + warp) * each +
            terms * mod(lane, each / terms, ranges) + term);
  return placement;
}

// Whether two neighbours along the inner axes are computed from one element of an array, as of
// numbers of 4 bits in bytes.
bool ProductLowering::shares_elements(const Panel& panel, bool of_rows, const Tile& tile) {
  const Placement placement = place_element(of_rows, tile, 2, 0);
  std::vector<Stmt> element;
  evaluator_.enter(&element, &placement.ranges);
  bool found = false;
  visit_below(kernel_, {factor_at(panel, placement)}, [&](ExprId, const Expr& e) {
    const auto* load = e.get_if<Load>();
    if (!load || load->access.scratch || load->access.index.empty()) return true;
    const auto at = [&](int64_t lane) {
      return load->access.index.back().substitute({{kLane, lane}}, placement.ranges);
    };
    found = found || (at(1) - at(0)).is(1);
    return true;
  });
  return found;
}

// A part of a factor into registers. `whole`: all terms of it are there.
std::vector<Stmt> ProductLowering::read_part(Panel& panel, bool of_rows, const Tile& tile, bool whole) {
  const schedule::Product& p = product();
  const int64_t steps = p.skinny->parts * (of_rows ? p.tile_rows : p.tile_columns) / kLanesAcross,
                points = steps * schedule_.team * schedule_.lanes;
  const int64_t terms = shares_elements(panel, of_rows, tile) ? 2 : 1;
  std::vector<Stmt> element, stores;
  for (int64_t term = 0; term < terms; ++term) {
    const Placement placement = place_element(of_rows, tile, terms, term);
    evaluator_.enter(&element, &placement.ranges);
    ExprId inside = kNoExpr;
    if (!whole) inside = evaluator_.only_where(guards_of(placement, p.inner));
    ExprId value = factor_at(panel, placement);
    // What is rounded to halves is so where it is multiplied, two at a time.
    const auto* rounded = builder_.at(value).get_if<Raw>();
    if (rounded && rounded->op == (p.units == DType::F16 ? RawOp::RoundF16 : RawOp::RoundBF16))
      value = rounded->args[0];
    if (term == 0) {
      const Load* load = builder_.loaded(value);
      const DType held = load && kernel_.dtype_of(load->access) == *p.units ? *p.units : DType::F32;
      panel.buffer = add_scratch(held, terms > 1 ? Shape{points / terms, terms} : Shape{points});
      kernel_.buffers.back().scope = Scope::Lane;
    }
    value = or_zero(value, inside, panel.buffer);
    evaluator_.only_where(kNoExpr);
    schedule::Index at{IntExpr::symbol(kLane)};
    if (terms > 1) at.push_back(term);
    stores.push_back(builder_.store({true, panel.buffer, std::move(at)}, value));
  }
  append(element, std::move(stores));
  return single(loop(LoopKind::Vector, kLane, points / terms, std::move(element),
                     static_cast<int>(schedule_.lanes / terms), static_cast<int>(steps)));
}

void ProductLowering::skinny_tiles() {
  const schedule::Product& p = product();
  const schedule::Skinny& skinny = *p.skinny;
  Tile tile = tile_of_grid();
  const IntExpr rows = schedule::count_of(domain(), p.rows), columns = schedule::count_of(domain(), p.columns),
                inner = schedule::count_of(domain(), p.inner), parts = ceildiv(inner, p.tile_inner);
  const Whole whole{divides(p.tile_rows, rows), divides(p.tile_columns, columns)};
  std::vector<Stmt> body, steps;
  evaluator_.enter(&body, &tile.placement.ranges);
  Tile at = tile;
  at.placement.ranges[kPart] = {0, parts - 1};
  GpuPanels panels;
  const auto read = [&](std::vector<Panel>& of, NodeId factor, size_t reduction, bool of_rows) {
    const auto same = [&](const Panel& panel) { return panel.factor == factor; };
    if (std::any_of(of.begin(), of.end(), same)) return;
    of.push_back({factor, reduction});
    append(steps, read_part(of.back(), of_rows, at, divides(p.tile_inner, inner)));
  };
  for (const schedule::ProductSum& sum : p.sums) {
    read(panels.rows, sum.rows, sum.reduction, true);
    read(panels.columns, sum.columns, sum.reduction, false);
  }
  for (size_t s = 0; s < p.sums.size(); ++s) {
    Fragment made{*p.units,
                  DType::F32,
                  static_cast<int>(p.tile_columns),
                  static_cast<int>(p.tile_rows),
                  static_cast<int>(skinny.parts * schedule_.lanes * kLanesAlong),
                  1,
                  true,
                  true};
    made.of_warps = true;
    const int fragment = static_cast<int>(kernel_.fragments.size());
    kernel_.fragments.push_back(made);
    body.push_back(Matrix{Matrix::Step::Clear, fragment});
    steps.push_back(Matrix{Matrix::Step::Multiply, fragment, panel_of(panels.columns, p.sums[s].columns).buffer,
                           panel_of(panels.rows, p.sums[s].rows).buffer});
    panels.sums.push_back(add_scratch(DType::F32, {skinny.warps, p.tile_columns, p.tile_rows + made.apart()}));
  }
  body.push_back(loop(LoopKind::Serial, kPart, parts, std::move(steps)));
  for (size_t s = 0; s < p.sums.size(); ++s)
    body.push_back(Matrix{Matrix::Step::Put, static_cast<int>(s), -1, -1, panels.sums[s]});
  append(body, results(panels, tile, whole));
  add_phase(tile.grid, std::move(body), IntExpr(p.tile_rows * p.tile_columns));
}

// The sum of a result of the tile: that of all warps.
ExprId ProductLowering::sum_at(int sums, const IntExpr& row, const IntExpr& column) {
  if (!product().skinny) return builder_.load({true, sums, {row, column}});
  const auto of_warp = [&](int warp) { return builder_.load({true, sums, {warp, column, row}}); };
  ExprId all = of_warp(0);
  for (int warp = 1; warp < product().skinny->warps; ++warp) all = builder_.apply(Op::Add, {all, of_warp(warp)});
  return all;
}

}  // namespace smelt::kernel

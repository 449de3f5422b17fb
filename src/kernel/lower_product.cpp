// Products on a CPU: tiles of results, of which each block of rows and vector of columns has its sums in registers.
//
//   grid %g over the batch, the tiles of rows and of columns
//     sums = 0
//     serial %kb over parts of the inner axes:
//       rows panel = f, columns panel = g               whatever leads to a factor, once
//       serial %jr over vectors of columns, %ir over blocks of rows:
//         vector %i over the columns:
//           each total = 0
//           serial %k over the part:  each total = fma(rows panel[%ir, %k], columns panel[%jr, %k, %i], total)
//           each sum += total                           parts are added up, which keeps the error small
//     serial %y over the rows, vector %i over the columns:  out = h(sum)
#include "kernel/lower_product.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace smelt::kernel {

static const Symbol kRowTile = Symbol::loop("rt"), kColumnTile = Symbol::loop("ct"), kRow = Symbol::loop("y"),
                    kRowBlock = Symbol::loop("ir"), kColumnVector = Symbol::loop("jr"), kBand = Symbol::loop("band"),
                    kRowInBand = Symbol::loop("rb");

void ProductLowering::phases() { on_gpu() ? gpu_tiles() : cpu_tiles(); }

DType ProductLowering::accumulator(const schedule::ProductSum& sum) const {
  return accumulator_type(graph_.at(graph_.at(sum.node).args[0]).dtype);
}

ProductLowering::Tile ProductLowering::tile_of_grid() const {
  Grid grid;
  for (const int a : product().batch) {
    const Axis& axis = domain().axes[static_cast<size_t>(a)];
    grid.add(axis.var, axis.extent);
  }
  const IntExpr rows = schedule::count_of(domain(), product().rows),
                columns = schedule::count_of(domain(), product().columns);
  const int64_t band = product().band;
  if (band > 1)
    grid.add(kBand, ceildiv(rows, product().tile_rows * band));
  else
    grid.add_pieces(kRowTile, rows, product().tile_rows);
  grid.add_pieces(kColumnTile, columns, product().tile_columns);
  if (product().split > 1) grid.add(kSplit, product().split);
  if (band > 1) grid.add(kRowInBand, band);
  Tile tile;
  tile.grid = grid.extent();
  grid.decode(tile.placement);
  if (band > 1)
    tile.placement.place(kRowTile, tile.placement.value_of.at(kBand) * band + tile.placement.value_of.at(kRowInBand));
  tile.rows = piece_at(tile.placement, kRowTile, rows, product().tile_rows);
  tile.columns = piece_at(tile.placement, kColumnTile, columns, product().tile_columns);
  return tile;
}

Piece ProductLowering::inner_part(Tile& tile) const {
  const IntExpr all = schedule::count_of(domain(), product().inner);
  tile.placement.ranges[kPart] = {0, ceildiv(all, product().tile_inner) - 1};
  tile.placement.place(kPart, IntExpr::symbol(kPart));
  const IntExpr first = IntExpr::symbol(kPart) * product().tile_inner;
  return {first, min(product().tile_inner, all - first, tile.placement.ranges)};
}

// ---- panels

ProductLowering::Panels ProductLowering::add_panels() {
  const schedule::Product& p = product();
  Panels panels;
  const auto add = [&](std::vector<Panel>& of, NodeId factor, size_t reduction, const std::vector<IntExpr>& dims) {
    if (std::any_of(of.begin(), of.end(), [&](const Panel& panel) { return panel.factor == factor; })) return;
    of.push_back({factor, reduction, add_scratch(compute_type(graph_.at(factor).dtype), dims)});
  };
  for (const schedule::ProductSum& sum : p.sums) {
    add(panels.rows, sum.rows, sum.reduction,
        p.rows_along_inner ? std::vector<IntExpr>{p.tile_rows, p.tile_inner + 16}
                           : std::vector<IntExpr>{p.tile_inner, p.tile_rows});
    add(panels.columns, sum.columns, sum.reduction, {p.tile_columns / p.block_columns, p.tile_inner, p.block_columns});
    panels.sums.push_back(add_scratch(accumulator(sum), {p.tile_rows, p.tile_columns}));
  }
  return panels;
}

const ProductLowering::Panel& ProductLowering::panel_of(const std::vector<Panel>& panels, NodeId factor) const {
  return *std::find_if(panels.begin(), panels.end(), [&](const Panel& p) { return p.factor == factor; });
}

ExprId ProductLowering::factor_at(const Panel& panel, const Placement& placement) {
  return evaluator_.value(panel.factor, placement.at(domain().reductions[panel.reduction].argument_index));
}

std::vector<Stmt> ProductLowering::pack_rows(const Panel& panel, const Tile& tile, const Piece& inner) {
  const IntExpr lane = IntExpr::symbol(kLane), outer = IntExpr::symbol(kRow);
  const bool along_inner = product().rows_along_inner;
  Placement placement = tile.placement;
  const IntExpr outer_extent = along_inner ? tile.rows.length : inner.length;
  const IntExpr lane_extent = along_inner ? inner.length : tile.rows.length;
  placement.ranges[kRow] = {0, outer_extent - 1};
  placement.ranges[kLane] = {0, lane_extent - 1};
  place(placement, product().rows, tile.rows.first + (along_inner ? outer : lane));
  place(placement, product().columns, 0);
  place(placement, product().inner, inner.first + (along_inner ? lane : outer));
  std::vector<Stmt> element;
  evaluator_.enter(&element, &placement.ranges);
  element.push_back(builder_.store({true, panel.buffer, {outer, lane}}, factor_at(panel, placement)));
  std::vector<Stmt> body = in_loops({{kRow, outer_extent}}, single(vector(lane_extent, std::move(element))));
  // What a block has beyond the rows is multiplied all the same.
  const IntExpr whole = ceildiv(tile.rows.length, product().block_rows) * product().block_rows;
  const IntExpr rest = whole - tile.rows.length;
  if (rest.is(0)) return body;
  const DType t = kernel_.buffers[static_cast<size_t>(panel.buffer)].dtype;
  const IntExpr beyond = tile.rows.length + (along_inner ? outer : lane);
  std::vector<Stmt> zero = single(
      builder_.store({true, panel.buffer, along_inner ? schedule::Index{beyond, lane} : schedule::Index{outer, beyond}},
                     builder_.constant(neutral(ReduceKind::Sum, t))));
  append(body, in_loops({{kRow, along_inner ? rest : inner.length}},
                        single(vector(along_inner ? inner.length : rest, std::move(zero)))));
  return body;
}

std::vector<Stmt> ProductLowering::pack_columns(const Panel& panel, const Tile& tile, const Piece& inner) {
  const schedule::Product& p = product();
  const IntExpr lane = IntExpr::symbol(kLane), vec = IntExpr::symbol(kColumnVector), k = IntExpr::symbol(kInner);
  const IntExpr vectors = ceildiv(tile.columns.length, p.block_columns),
                full = floordiv(tile.columns.length, p.block_columns);
  std::vector<Stmt> body;
  // What a vector has beyond the columns is multiplied all the same.
  if (!(vectors == full)) {
    const DType t = kernel_.buffers[static_cast<size_t>(panel.buffer)].dtype;
    std::vector<Stmt> zero = single(
        builder_.store({true, panel.buffer, {full + vec, k, lane}}, builder_.constant(neutral(ReduceKind::Sum, t))));
    append(body, in_loops({{kColumnVector, vectors - full}, {kInner, inner.length}},
                          single(vector(p.block_columns, std::move(zero)))));
  }
  Placement placement = tile.placement;
  place(placement, p.rows, 0);
  placement.ranges[kColumnVector] = {0, vectors - 1};
  const IntExpr width = min(p.block_columns, tile.columns.length - vec * p.block_columns, placement.ranges);
  std::vector<Stmt> element;
  if (p.columns_along_inner) {
    placement.ranges[kRow] = {0, width - 1};
    placement.ranges[kLane] = {0, inner.length - 1};
    const IntExpr column = IntExpr::symbol(kRow);
    place(placement, p.columns, tile.columns.first + vec * p.block_columns + column);
    place(placement, p.inner, inner.first + lane);
    evaluator_.enter(&element, &placement.ranges);
    element.push_back(builder_.store({true, panel.buffer, {vec, lane, column}}, factor_at(panel, placement)));
    append(body, in_loops({{kColumnVector, vectors}, {kRow, width}}, single(vector(inner.length, std::move(element)))));
    return body;
  }
  placement.ranges[kInner] = {0, inner.length - 1};
  placement.ranges[kLane] = {0, width - 1};
  place(placement, p.columns, tile.columns.first + vec * p.block_columns + lane);
  place(placement, p.inner, inner.first + k);
  evaluator_.enter(&element, &placement.ranges);
  element.push_back(builder_.store({true, panel.buffer, {vec, k, lane}}, factor_at(panel, placement)));
  append(body, in_loops({{kInner, inner.length}, {kColumnVector, vectors}}, single(vector(width, std::move(element)))));
  return body;
}

// ---- the products of a tile

std::vector<Stmt> ProductLowering::multiply(const Panels& panels, const Tile& tile, const Piece& inner) {
  const schedule::Product& p = product();
  const IntExpr lane = IntExpr::symbol(kLane), block = IntExpr::symbol(kRowBlock), vec = IntExpr::symbol(kColumnVector),
                k = IntExpr::symbol(kInner);
  std::vector<Stmt> body, steps, ends;
  std::map<NodeId, ExprId> columns;
  for (const Panel& panel : panels.columns) columns[panel.factor] = builder_.load({true, panel.buffer, {vec, k, lane}});
  for (size_t s = 0; s < p.sums.size(); ++s) {
    const DType t = accumulator(p.sums[s]);
    const Panel& rows = panel_of(panels.rows, p.sums[s].rows);
    for (int64_t r = 0; r < p.block_rows; ++r) {
      const IntExpr row = block * p.block_rows + r;
      const LocalId total = builder_.new_local(t, true);
      body.push_back(assign(total, builder_.constant(neutral(ReduceKind::Sum, t))));
      const ExprId factor =
          builder_.load({true, rows.buffer, p.rows_along_inner ? schedule::Index{row, k} : schedule::Index{k, row}});
      const ExprId other = columns.at(p.sums[s].columns), so_far = builder_.local(total);
      steps.push_back(assign(total, is_float(t)
                                        ? builder_.apply(Op::Fma, {factor, other, so_far})
                                        : builder_.apply(Op::Add, {so_far, builder_.apply(Op::Mul, {factor, other})})));
      const Access sum{true, panels.sums[s], {row, vec * p.block_columns + lane}};
      ends.push_back(builder_.store(sum, builder_.apply(Op::Add, {builder_.load(sum), builder_.local(total)})));
    }
  }
  append(body, in_loops({{kInner, inner.length}}, std::move(steps)));
  append(body, std::move(ends));
  return in_loops(
      {{kColumnVector, ceildiv(tile.columns.length, p.block_columns)},
       {kRowBlock, ceildiv(tile.rows.length, p.block_rows)}},
      single(loop(LoopKind::Vector, kLane, p.block_columns, std::move(body), static_cast<int>(p.block_columns))));
}

void ProductLowering::cpu_tiles() {
  const schedule::Product& p = product();
  Tile tile = tile_of_grid();
  const Panels panels = add_panels();
  const IntExpr lane = IntExpr::symbol(kLane), row = IntExpr::symbol(kRow);
  std::vector<Stmt> body, parts;
  for (size_t s = 0; s < p.sums.size(); ++s) {
    std::vector<Stmt> zero = single(builder_.store(
        {true, panels.sums[s], {row, lane}}, builder_.constant(neutral(ReduceKind::Sum, accumulator(p.sums[s])))));
    append(body,
           in_loops({{kRow, ceildiv(tile.rows.length, p.block_rows) * p.block_rows}},
                    single(vector(ceildiv(tile.columns.length, p.block_columns) * p.block_columns, std::move(zero)))));
  }
  const Piece inner = inner_part(tile);
  for (const Panel& panel : panels.columns) append(parts, pack_columns(panel, tile, inner));
  for (const Panel& panel : panels.rows) append(parts, pack_rows(panel, tile, inner));
  append(parts, multiply(panels, tile, inner));
  append(body, in_loops({{kPart, ceildiv(schedule::count_of(domain(), p.inner), p.tile_inner)}}, std::move(parts)));

  Placement placement = tile.placement;
  placement.ranges[kRow] = {0, tile.rows.length - 1};
  placement.ranges[kLane] = {0, tile.columns.length - 1};
  place(placement, p.rows, tile.rows.first + row);
  place(placement, p.columns, tile.columns.first + lane);
  for (size_t s = 0; s < p.sums.size(); ++s)
    evaluator_.set_reduction(p.sums[s].node, builder_.load({true, panels.sums[s], {row, lane}}));
  append(body, in_loops({{kRow, tile.rows.length}}, single(vector(tile.columns.length, elements(placement)))));
  add_phase(tile.grid, std::move(body),
            IntExpr(p.tile_rows * p.tile_columns) * max(1, floordiv(schedule::count_of(domain(), p.inner), 8)));
}

}  // namespace smelt::kernel

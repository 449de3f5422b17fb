// Products on a CPU: tiles of results, of which each block of rows and vector of columns has its
// sums in registers.
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
//
// Factors that are read where they lie (schedule::Product::rows_in_place) have no panels. Where
// sizes are known, blocks at the ends of a tile have as many rows and columns as there are.
//
// Inner axes of one part: sums are not added to anything, and where results are whole cache lines,
// or few, those of a block follow its sums at once:
//       serial %jr over vectors of columns, %ir over blocks of rows:
//         vector %i over the columns:
//           each sum = total
//         serial %y over the rows of the block, vector %i over its columns:  out = h(sum)
//
// Matrix units (schedule::Product::tiles): panels have the words of a row, or of a column, in whole
// tiles, and the innermost loops are TileProduct, for a block of rows and columns.
//
// Few rows (schedule::Product::few_rows): inside of a part
//       rows panel = f
//       serial %jr over blocks of columns, %ir over blocks of rows:
//         vector %i over the part:  each total = fma(rows panel[%ir, %i], g, total)
//                                   where columns are staged:  columns panel[%jr, %i] in place of g
//         each sum += total over the lanes
#include "kernel/lower_product.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace smelt::kernel {

static const Symbol kRowTile = Symbol::loop("rt"), kColumnTile = Symbol::loop("ct"), kRowBlock = Symbol::loop("ir"),
                    kLineTile = Symbol::loop("lt"), kBand = Symbol::loop("band"), kRowInBand = Symbol::loop("rb"),
                    kTileOfBands = Symbol::loop("tb");

IntExpr ProductLowering::Block::row() const { return down.first + IntExpr::symbol(kRowBlock); }
IntExpr ProductLowering::Block::vector() const { return across.first + IntExpr::symbol(kColumnVector); }

void ProductLowering::phases() { on_gpu() ? gpu_tiles() : cpu_tiles(); }

DType ProductLowering::accumulator(const schedule::ProductSum& sum) const {
  return accumulator_type(graph_.at(graph_.at(sum.node).args[0]).dtype);
}

// The dtype that a tile's sums are held in.
DType ProductLowering::held_type(const schedule::ProductSum& sum) const {
  return !product().whole ? accumulator(sum) : product().exact_in_f32 ? DType::F32 : DType::I32;
}

ProductLowering::Tile ProductLowering::tile_of_grid() const {
  Grid grid;
  for (const int a : product().batch) {
    const Axis& axis = domain().axes[static_cast<size_t>(a)];
    grid.add(axis.var, axis.extent);
  }
  const bool in_lines = product().lines > 0;
  const IntExpr rows = schedule::count_of(domain(), product().rows),
                lines = in_lines ? schedule::count_of(domain(), axes_of_lines()) : 1,
                columns = in_lines ? last_of_columns().extent : schedule::count_of(domain(), product().columns);
  const int64_t across = in_lines ? product().tile_columns / product().lines : product().tile_columns;
  const int64_t band = product().band;
  const bool whole = band > 1 && has_whole_bands();
  if (band > 1 && !whole)
    grid.add(kTileOfBands, ceildiv(rows, product().tile_rows) * ceildiv(columns, across));
  else if (whole)
    grid.add(kBand, ceildiv(rows, product().tile_rows * band));
  else
    grid.add_pieces(kRowTile, rows, product().tile_rows);
  if (in_lines) grid.add_pieces(kLineTile, lines, product().lines);
  if (band == 1 || whole) grid.add_pieces(kColumnTile, columns, across);
  if (product().split > 1) grid.add(kSplit, product().split);
  if (whole) grid.add(kRowInBand, band);
  Tile tile;
  tile.grid = grid.extent();
  grid.decode(tile.placement);
  if (band > 1 && !whole) return tile;
  if (whole)
    tile.placement.place(kRowTile, tile.placement.value_of.at(kBand) * band + tile.placement.value_of.at(kRowInBand));
  tile.rows = piece_at(tile.placement, kRowTile, rows, product().tile_rows);
  tile.lines = in_lines ? piece_at(tile.placement, kLineTile, lines, product().lines) : Piece{0, 1};
  tile.columns = piece_at(tile.placement, kColumnTile, columns, across);
  tile.across = in_lines ? tile.lines.length * across : tile.columns.length;
  return tile;
}

bool ProductLowering::has_whole_bands() const {
  const auto rows = schedule::count_of(domain(), product().rows).constant();
  return rows && (*rows + product().tile_rows - 1) / product().tile_rows % product().band == 0;
}

// The tile of a grid whose last band may have fewer rows of tiles than the others.
void ProductLowering::place_in_bands(Tile& tile) {
  const int64_t band = product().band;
  const IntExpr rows = schedule::count_of(domain(), product().rows),
                columns = schedule::count_of(domain(), product().columns);
  const IntExpr down = ceildiv(rows, product().tile_rows), across = ceildiv(columns, product().tile_columns);
  const Ranges& ranges = tile.placement.ranges;
  const IntExpr number = tile.placement.value_of.at(kTileOfBands);
  const IntExpr first = floordiv(number, band * across, ranges) * band, in_band = mod(number, band * across, ranges);
  const IntExpr height = max(1, min(band, down - first, ranges), ranges);
  const IntExpr row = evaluator_.as_index(builder_.index(first + mod(in_band, height, ranges)), down),
                column = evaluator_.as_index(builder_.index(floordiv(in_band, height, ranges)), across);
  tile.placement.ranges = evaluator_.ranges();
  tile.placement.place(kRowTile, row), tile.placement.place(kColumnTile, column);
  tile.rows = piece_at(tile.placement, kRowTile, rows, product().tile_rows);
  tile.columns = piece_at(tile.placement, kColumnTile, columns, product().tile_columns);
}

std::vector<int> ProductLowering::axes_of_lines() const {
  return {product().columns.begin(), product().columns.end() - 1};
}

const Axis& ProductLowering::last_of_columns() const {
  return domain().axes[static_cast<size_t>(product().columns.back())];
}

// Places the column of a tile, in one of its lines, that is `column` after its first.
void ProductLowering::place_column(Placement& placement, const Tile& tile, const IntExpr& line,
                                   const IntExpr& column) const {
  if (product().lines == 0) return place(placement, product().columns, tile.columns.first + column);
  place(placement, axes_of_lines(), tile.lines.first + line);
  placement.place(last_of_columns().var, tile.columns.first + column);
}

// The position within the tile of a column of one of its lines.
IntExpr ProductLowering::in_tile(const IntExpr& line, const IntExpr& column) const {
  return product().lines == 0 ? column : line * (product().tile_columns / product().lines) + column;
}

Piece ProductLowering::inner_part(Tile& tile) const {
  const IntExpr all = schedule::count_of(domain(), product().inner);
  tile.placement.ranges[kPart] = {0, ceildiv(all, product().tile_inner) - 1};
  tile.placement.place(kPart, IntExpr::symbol(kPart));
  const IntExpr first = IntExpr::symbol(kPart) * product().tile_inner;
  return {first, min(product().tile_inner, all - first, tile.placement.ranges)};
}

// ---- the products of a tile

// What was added up so far, and the product of two elements of the panels.
ExprId ProductLowering::multiplied(ExprId total, ExprId row, ExprId column) {
  const schedule::Product& p = product();
  const DType t = builder_.dtype(total);
  if (p.units == DType::BF16) return builder_.raw(RawOp::DotBF16, t, {total, row, column});
  if (p.units)
    return builder_.raw(RawOp::DotBytes, t, {total, p.unsigned_rows ? row : column, p.unsigned_rows ? column : row});
  if (is_float(t)) return builder_.apply(Op::Fma, {row, column, total});
  return builder_.apply(Op::Add, {total, builder_.apply(Op::Mul, {row, column})});
}

// The blocks of one side of a tile. Where its size is known, those after the last whole one are as
// small as what is left, in multiples of `least`.
std::vector<ProductLowering::Blocks> ProductLowering::blocks_of(const IntExpr& length, const std::vector<int>& axes,
                                                                int64_t each, int64_t least) const {
  const auto all = schedule::count_of(domain(), axes).constant();
  const int64_t rest = all ? *all % each : 0, last = (rest + least - 1) / least * least;
  if (rest == 0 || last == each) return {{0, ceildiv(length, each), each, all && rest == 0}};
  const IntExpr whole = floordiv(length, each);
  return {{0, whole, each, true}, {whole, ceildiv(length, each) - whole, last, last == rest}};
}

std::vector<ProductLowering::Blocks> ProductLowering::blocks_down(const Tile& tile) const {
  const schedule::Product& p = product();
  return blocks_of(tile.rows.length, p.rows, p.block_rows,
                   !p.tiles          ? 1
                   : p.rows_in_place ? schedule::kSideOfTile
                                     : p.block_rows);
}

std::vector<ProductLowering::Blocks> ProductLowering::blocks_across(const Tile& tile) const {
  const schedule::Product& p = product();
  if (p.lines > 0) return {{0, ceildiv(tile.across, p.block_columns), p.block_columns, false}};
  return blocks_of(tile.columns.length, p.columns, p.block_columns,
                   p.columns_in_place ? 1
                   : p.tiles          ? p.block_columns
                                      : p.block_columns / 2);
}

// Where the axes are in a block: row `row`, its lanes, and the loop over a part of the inner axes.
Placement ProductLowering::place_block(const Tile& tile, const Piece& inner, const Block& block, int64_t row) const {
  const schedule::Product& p = product();
  Placement placement = tile.placement;
  placement.ranges[kRowBlock] = {0, block.down.count - 1};
  placement.ranges[kColumnVector] = {0, block.across.count - 1};
  placement.ranges[kInner] = {0, inner.length - 1};
  placement.ranges[kLane] = {0, block.across.size - 1};
  place(placement, p.rows, tile.rows.first + block.row() * p.block_rows + row);
  place(placement, p.columns, tile.columns.first + block.vector() * p.block_columns + IntExpr::symbol(kLane));
  place(placement, p.inner, inner.first + IntExpr::symbol(kInner));
  return placement;
}

// The sums of a block of one part of the inner axes.
std::vector<Stmt> ProductLowering::multiply(const Panels& panels, const Tile& tile, const Piece& inner,
                                            const Block& block) {
  const schedule::Product& p = product();
  const IntExpr lane = IntExpr::symbol(kLane), vec = block.vector(), k = IntExpr::symbol(kInner);
  std::vector<Stmt> body, steps, ends;
  Placement placement = place_block(tile, inner, block, 0);
  evaluator_.enter(&steps, &placement.ranges);
  std::map<NodeId, ExprId> columns;
  for (const schedule::ProductSum& sum : p.sums)
    if (columns.count(sum.columns) == 0)
      columns[sum.columns] = p.columns_in_place
                                 ? factor_at({sum.columns, sum.reduction}, placement)
                                 : builder_.load(columns_at(panel_of(panels.columns, sum.columns), vec, k));
  for (size_t s = 0; s < p.sums.size(); ++s) {
    const schedule::ProductSum& sum = p.sums[s];
    const DType t = accumulator(sum), of_part = p.units == DType::I8 ? DType::I32 : t;
    const int moved = p.moved_rows ? panel_of(panels.columns, sum.columns).moved : -1;
    ExprId first = builder_.constant(neutral(ReduceKind::Sum, of_part));
    if (moved >= 0) first = builder_.apply(Op::Sub, {first, builder_.load({true, moved, {vec, lane}})});
    for (int64_t r = 0; r < block.down.size; ++r) {
      const LocalId total = builder_.new_local(of_part, true);
      body.push_back(assign(total, first));
      const ExprId row =
          p.rows_in_place ? factor_at({sum.rows, sum.reduction}, place_block(tile, inner, block, r))
                          : builder_.load(rows_at(panel_of(panels.rows, sum.rows), block.row() * p.block_rows + r, k));
      steps.push_back(assign(total, multiplied(builder_.local(total), row, columns.at(sum.columns))));
      const Access held{true, panels.sums[s],
                        by_blocks() ? schedule::Index{r, lane}
                                    : schedule::Index{block.row() * p.block_rows + r, vec * p.block_columns + lane}};
      const ExprId made = builder_.cast(builder_.local(total), t, true);
      ends.push_back(builder_.store(held, in_one_part() ? made : builder_.apply(Op::Add, {builder_.load(held), made})));
    }
  }
  append(body, in_loops({{kInner, ceildiv(inner.length, p.terms)}}, std::move(steps)));
  append(body, std::move(ends));
  const auto lanes = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(block.across.size)));
  return single(loop(LoopKind::Vector, kLane, block.across.size, std::move(body), lanes));
}

// What `make` makes of each block of a tile; with the results, where these follow at once.
template <class Make>
std::vector<Stmt> ProductLowering::over_blocks(const Panels& panels, const Tile& tile, const Make& make) {
  std::vector<Stmt> all;
  for (const Blocks& down : blocks_down(tile)) {
    std::vector<Stmt> of_rows;
    for (const Blocks& across : blocks_across(tile)) {
      const Block block{down, across};
      std::vector<Stmt> made = make(block);
      if (by_blocks()) append(made, results(panels, part_of(tile, block)));
      append(of_rows, in_loops({{kColumnVector, across.count}}, std::move(made)));
    }
    append(all, in_loops({{kRowBlock, down.count}}, std::move(of_rows)));
  }
  return all;
}

ProductLowering::Tile ProductLowering::part_of(const Tile& tile, const Block& block) const {
  Tile part = tile;
  part.placement.ranges[kRowBlock] = {0, block.down.count - 1};
  part.placement.ranges[kColumnVector] = {0, block.across.count - 1};
  const auto piece = [&](const Piece& whole, const Blocks& blocks, const IntExpr& number, int64_t each) {
    const IntExpr first = number * each;
    return Piece{whole.first + first,
                 blocks.exact ? IntExpr(blocks.size) : min(blocks.size, whole.length - first, part.placement.ranges)};
  };
  part.rows = piece(tile.rows, block.down, block.row(), product().block_rows);
  part.columns = piece(tile.columns, block.across, block.vector(), product().block_columns);
  return part;
}

// Whether sums are as they are in the end once they are made.
bool ProductLowering::in_one_part() const {
  const auto all = schedule::count_of(domain(), product().inner).constant();
  return !product().few_rows && all && *all > 0 && *all <= product().tile_inner;
}

// Whether the results of a block follow as soon as its sums are there: memory is busy with them
// while the next block is multiplied. They must be whole cache lines, which bypass the caches, or
// stay in these.
bool ProductLowering::by_blocks() const {
  return in_one_part() && product().lines == 0 && (makes_whole_lines() || !bypasses_caches());
}

bool ProductLowering::makes_whole_lines() const {
  constexpr int64_t kLine = 64;
  const auto columns = schedule::count_of(domain(), product().columns).constant();
  return columns && std::all_of(domain().outputs.begin(), domain().outputs.end(), [&](const schedule::Output& o) {
           const int64_t size = size_of(graph_.at(o.node).dtype);
           return *columns * size % kLine == 0 && product().block_columns * size % kLine == 0;
         });
}

// Whether results may be too many for the caches.
bool ProductLowering::bypasses_caches() const {
  int64_t bytes = 0;
  for (const schedule::Output& o : domain().outputs) {
    const auto elements = count(graph_.at(o.node).shape).constant();
    if (!elements) return true;
    bytes += *elements * size_of(graph_.at(o.node).dtype);
  }
  return bytes > kStreamBytes;
}

std::vector<Stmt> ProductLowering::multiply_tiles(const Panels& panels, const Tile& tile, const Piece& inner,
                                                  const Block& block) {
  const schedule::Product& p = product();
  const IntExpr vec = block.vector(), row = block.row() * p.block_rows, column = vec * p.block_columns;
  std::vector<Stmt> body;
  Placement placement = place_block(tile, inner, block, 0);
  place(placement, p.columns, 0);
  place(placement, p.inner, inner.first);
  evaluator_.enter(&body, &placement.ranges);
  for (size_t s = 0; s < p.sums.size(); ++s) {
    const schedule::ProductSum& sum = p.sums[s];
    const Access rows = p.rows_in_place ? read_by(factor_at({sum.rows, sum.reduction}, placement))
                                        : Access{true, panel_of(panels.rows, sum.rows).buffer, {row, 0}};
    body.push_back(
        TileProduct{.into = {true, panels.sums[s], by_blocks() ? schedule::Index{0, 0} : schedule::Index{row, column}},
                    .rows = rows,
                    .columns = {true, panel_of(panels.columns, sum.columns).buffer,
                                p.lines > 0 ? schedule::Index{0, column} : schedule::Index{vec, 0, 0}},
                    .rows_axis = p.rows_in_place ? p.lines_of_rows->axis : -1,
                    .words = whole_words(inner),
                    .rows_type = p.tiles->rows,
                    .columns_type = p.tiles->columns,
                    .down = static_cast<int>(block.down.size / schedule::kSideOfTile),
                    .across = p.tiles->across,
                    .first = in_one_part()});
  }
  return body;
}

// Where a factor that is an element of an array is read, past its cast.
Access ProductLowering::read_by(ExprId factor) const {
  while (const auto* cast = builder_.at(factor).get_if<Cast>()) factor = cast->x;
  return builder_.at(factor).get<Load>().access;
}

// Few rows: blocks of columns, and the columns after the last whole block one by one.
std::vector<Stmt> ProductLowering::multiply_few(const Panels& panels, const Tile& tile, const Piece& inner) {
  const int64_t across = product().block_columns;
  const IntExpr blocks = floordiv(tile.columns.length, across), rest = tile.columns.length - blocks * across;
  std::vector<Stmt> body = add_few(panels, tile, inner, 0, blocks, across);
  if (!rest.is(0)) append(body, add_few(panels, tile, inner, blocks * across, rest, 1));
  return body;
}

// Adds to the sums of `count` blocks of columns, each `across` wide, from column `first` of the
// tile on: lanes are neighbours of the inner axes, and are joined at the end of the part.
std::vector<Stmt> ProductLowering::add_few(const Panels& panels, const Tile& tile, const Piece& inner,
                                           const IntExpr& first, const IntExpr& count, int64_t across) {
  const schedule::Product& p = product();
  const IntExpr lane = IntExpr::symbol(kLane), block = IntExpr::symbol(kRowBlock), vec = IntExpr::symbol(kColumnVector);
  std::vector<Stmt> body, steps, ends;
  Placement placement = tile.placement;
  place(placement, p.rows, 0);
  place(placement, p.inner, inner.first + lane);
  placement.ranges[kColumnVector] = {0, count - 1};
  placement.ranges[kLane] = {0, inner.length - 1};
  evaluator_.enter(&steps, &placement.ranges);
  for (size_t s = 0; s < p.sums.size(); ++s) {
    const schedule::ProductSum& sum = p.sums[s];
    const DType t = accumulator(sum);
    const int rows = panel_of(panels.rows, sum.rows).buffer;
    for (int64_t c = 0; c < across; ++c) {
      const IntExpr column = first + vec * across + c;
      place(placement, p.columns, tile.columns.first + column);
      const ExprId factor = p.stages_columns
                                ? builder_.load({true, panel_of(panels.columns, sum.columns).buffer, {column, lane}})
                                : factor_at({sum.columns, sum.reduction}, placement);
      for (int64_t r = 0; r < p.block_rows; ++r) {
        const IntExpr row = block * p.block_rows + r;
        const LocalId total = builder_.new_local(t, true);
        body.push_back(assign(total, builder_.constant(neutral(ReduceKind::Sum, t))));
        steps.push_back(
            assign(total, multiplied(builder_.local(total), builder_.load({true, rows, {row, lane}}), factor)));
        ends.push_back(combine(total, Op::Add));
        const Access at{true, panels.sums[s], {row, column}};
        ends.push_back(builder_.store(at, builder_.apply(Op::Add, {builder_.load(at), builder_.local(total)})));
      }
    }
  }
  body.push_back(vector(inner.length, std::move(steps)));
  append(body, std::move(ends));
  return in_loops({{kColumnVector, count}, {kRowBlock, ceildiv(tile.rows.length, p.block_rows)}}, std::move(body));
}

// What follows from the sums of a tile, or of a block of it.
std::vector<Stmt> ProductLowering::results(const Panels& panels, const Tile& tile) {
  const schedule::Product& p = product();
  const IntExpr lane = IntExpr::symbol(kLane), row = IntExpr::symbol(kRow), line = IntExpr::symbol(kLine);
  Placement placement = tile.placement;
  placement.ranges[kRow] = {0, tile.rows.length - 1};
  placement.ranges[kLine] = {0, tile.lines.length - 1};
  placement.ranges[kLane] = {0, tile.columns.length - 1};
  place(placement, p.rows, tile.rows.first + row);
  place_column(placement, tile, line, lane);
  for (size_t s = 0; s < p.sums.size(); ++s)
    evaluator_.set_reduction(
        p.sums[s].node,
        builder_.cast(builder_.load({true, panels.sums[s], {row, in_tile(line, lane)}}), accumulator(p.sums[s]), true));
  LoopExtents loops{{kRow, tile.rows.length}};
  if (p.lines > 0) loops.insert(loops.begin(), {kLine, tile.lines.length});
  std::vector<Stmt> made = elements(placement);
  for (Stmt& s : made)
    if (auto* store = s.get_if<Store>()) store->streaming = bypasses_caches();
  return in_loops(loops, single(vector(tile.columns.length, std::move(made))));
}

void ProductLowering::cpu_tiles() {
  const schedule::Product& p = product();
  Tile tile = tile_of_grid();
  const Panels panels = add_panels();
  const IntExpr lane = IntExpr::symbol(kLane), row = IntExpr::symbol(kRow);
  std::vector<Stmt> body, parts;
  for (size_t s = 0; s < p.sums.size() && !in_one_part(); ++s) {
    std::vector<Stmt> zero = single(builder_.store({true, panels.sums[s], {row, lane}},
                                                   builder_.constant(neutral(ReduceKind::Sum, held_type(p.sums[s])))));
    append(body, in_loops({{kRow, ceildiv(tile.rows.length, p.block_rows) * p.block_rows}},
                          single(vector(ceildiv(tile.across, p.block_columns) * p.block_columns, std::move(zero)))));
  }
  const Piece inner = inner_part(tile);
  for (const Panel& panel : panels.columns)
    append(parts, p.lines > 0  ? pack_lines(panel, tile, inner)
                  : p.few_rows ? stage_columns(panel, tile, inner)
                               : pack_columns(panel, tile, inner));
  for (const Panel& panel : panels.rows) append(parts, pack_rows(panel, tile, inner));
  append(parts, p.few_rows ? multiply_few(panels, tile, inner) : over_blocks(panels, tile, [&](const Block& block) {
           return p.tiles ? multiply_tiles(panels, tile, inner, block) : multiply(panels, tile, inner, block);
         }));
  append(body, in_loops({{kPart, ceildiv(schedule::count_of(domain(), p.inner), p.tile_inner)}}, std::move(parts)));

  if (!by_blocks()) append(body, results(panels, tile));
  add_phase(tile.grid, std::move(body),
            IntExpr(p.tile_rows * p.tile_columns) * max(1, floordiv(schedule::count_of(domain(), p.inner), 8)));
}

}  // namespace smelt::kernel

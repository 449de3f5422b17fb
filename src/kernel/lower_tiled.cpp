// Tiled: pointwise, where some arrays run across the others (a transpose). Their tiles are read
// along their own rows and turned in scratch, so that every cache line is read once and in whole.
//
//   grid %g over the outer axes and the tiles
//     serial %y over the tile's columns, vector %i down its rows:  turned[%y, %i] = in[...]      for each staged read
//     turn into other scratch, by blocks in registers, where elements have 4 or 8 bytes: reading across a tile costs an instruction
//     for each element
//     serial %x over the tile's rows, vector %i over its columns:  out[...] = f(turned[%i, %x] or, when turned, [%x, %i], ...)
//
// On a GPU the team goes over a whole tile in one vector loop; %y and %x are parts of %i, and so is
// the place in a unit of several elements, which is not turned (the channels of a pixel).
#include <numeric>

#include "base/check.hpp"
#include "kernel/lower_pointwise.hpp"
#include "kernel/walk.hpp"
#include "schedule/parts.hpp"

namespace smelt::kernel {

// A tile of a range of the columns, or what there is of it at the end. `cut`: a whole one, of which
// what lies beyond an end is left out, since positions in the rest would take divisions by its own
// sides.
struct Tile {
  Piece rows, columns;  // columns are counted from the first of the range on
  Piece range;
  bool cut = false;
};

// One pass over the elements of a tile: the values of both variables, their ranges, where that is
// in the domain, and that it is inside.
struct TilePass {
  IntExpr outer, inner, part;  // `part`: of a unit
  Ranges ranges;
  Placement at = {};
  std::vector<schedule::Guard> inside = {};
};

namespace {

constexpr int kRowsAhead = 16;  // of a tile, by which rows are fetched into the caches

// Tiles along an axis, at most `side` long, so that the last one is not much shorter than the
// others; they begin at sectors of memory where its rows do.
int64_t even_side(int64_t side, const IntExpr& extent, int64_t size) {
  const auto known = extent.constant();
  if (!known || *known == 0) return side;
  const int64_t tiles = (*known + side - 1) / side,
                sector = *known * size % 32 == 0 ? 32 / std::gcd(size, int64_t{32}) : 1;
  return std::min(side, ((*known + tiles - 1) / tiles + sector - 1) / sector * sector);
}

}  // namespace

// What is computed of an element in one pass, and stored in the other.
std::pair<std::vector<Stmt>, std::vector<Stmt>> PointwiseLowering::turned_results(
    const TilePass& computing, const TilePass& storing, const std::vector<std::pair<int, int>>& buffers) {
  const auto& outputs = domain().outputs;
  std::vector<Stmt> computed, stores, stored;
  evaluator_.enter(&computed, &computing.at.ranges);
  evaluator_.only_where(computing.inside);
  for (size_t o = 0; o < outputs.size(); ++o)
    stores.push_back(
        builder_.store({true, buffers[o].first, {computing.outer, computing.inner}},
                       evaluator_.value_to_store(outputs[o].base, computing.at.at(outputs[o].base_index))));
  evaluator_.only_where(kNoExpr);
  append(computed, std::move(stores));
  evaluator_.enter(&stored, &storing.at.ranges);
  const ExprId mask = evaluator_.only_where(storing.inside);
  for (size_t o = 0; o < outputs.size(); ++o)
    stored.push_back(store_output(outputs[o], storing.at,
                                  builder_.load({true, buffers[o].first, {storing.inner, storing.outer}}), mask));
  evaluator_.only_where(kNoExpr);
  return {std::move(computed), std::move(stored)};
}

// The statements for a tile, through scratch that is in `buffers`, two for each staged read that is
// turned as a whole.
std::vector<Stmt> PointwiseLowering::through_tile(const Tile& tile, const Placement& placement,
                                                  const std::vector<std::pair<int, int>>& buffers) {
  const auto& axes = domain().axes;
  const Axis& columns = axes[schedule::tiled_columns(schedule_)];
  const Axis& rows = axes[static_cast<size_t>(schedule_.across_axis)];
  const int64_t unit = schedule_.unit;
  const IntExpr lane = IntExpr::symbol(kLane);
  auto pass = [&](Symbol var, const IntExpr& outer, const IntExpr& inner) {
    Ranges ranges = placement.ranges;
    if (!on_gpu()) {
      ranges[kLane] = {0, inner - 1};
      ranges[var] = {0, outer - 1};
      return TilePass{IntExpr::symbol(var), lane, 0, ranges};
    }
    ranges[kLane] = {0, outer * inner * unit - 1};
    return TilePass{floordiv(lane, inner * unit, ranges), mod(floordiv(lane, unit, ranges), inner, ranges),
                    mod(lane, unit, ranges), ranges};
  };
  auto loops = [&](Symbol var, const IntExpr& outer, const IntExpr& inner, std::vector<Stmt> element) {
    if (on_gpu()) return single(vector(outer * inner * unit, std::move(element)));
    std::vector<Stmt> made = in_loops({{var, outer}}, single(vector(inner, std::move(element))));
    // Rows of a tile are on pages of their own, where the processor fetches nothing ahead.
    if (Loop* rows = loop_of(made[0], LoopKind::Serial)) rows->ahead = kRowsAhead;
    return made;
  };

  std::vector<Stmt> body;
  std::vector<std::pair<Index, Access>> staged;  // the read in the main loops -> its element in scratch
  const auto placed = [&](TilePass pass, const IntExpr& row, const IntExpr& column) {
    pass.at = placement;
    pass.at.ranges = pass.ranges;
    pass.at.place(rows.var, tile.rows.first + row);
    pass.at.place(columns.var, tile.range.first + tile.columns.first + column);
    if (unit > 1) pass.at.place(axes.back().var, pass.part);
    if (tile.cut)
      pass.inside = {{pass.at.value_of.at(rows.var), rows.extent},
                     {pass.at.value_of.at(columns.var) - tile.range.first, tile.range.length}};
    return pass;
  };
  const TilePass down = pass(Symbol::loop("y"), tile.columns.length, tile.rows.length),
                 across = pass(Symbol::loop("x"), tile.rows.length, tile.columns.length);
  const TilePass reading = placed(down, down.inner, down.outer), computing = placed(across, across.outer, across.inner);
  if (schedule_.turns_results) {
    auto [computed, stored] = turned_results(reading, computing, buffers);
    append(body, loops(Symbol::loop("y"), tile.columns.length, tile.rows.length, std::move(computed)));
    append(body, loops(Symbol::loop("x"), tile.rows.length, tile.columns.length, std::move(stored)));
    return body;
  }
  for (size_t r = 0; r < buffers.size(); ++r) {
    const schedule::Read& read = schedule_.staged[r];
    const auto [buffer, turned] = buffers[r];
    std::vector<Stmt> element;
    evaluator_.enter(&element, &reading.at.ranges);
    evaluator_.only_where(reading.inside);
    const ExprId value = evaluator_.value(read.node, reading.at.at(read.index));
    evaluator_.only_where(kNoExpr);
    element.push_back(builder_.store({true, buffer, {reading.outer, reading.inner * unit + reading.part}}, value));
    append(body, loops(Symbol::loop("y"), tile.columns.length, tile.rows.length, std::move(element)));
    if (turned >= 0)
      body.push_back(Turn{{true, turned, {0, 0}}, {true, buffer, {0, 0}}, schedule_.tile, schedule_.tile});
    staged.emplace_back(computing.at.at(read.index),
                        turned < 0 ? Access{true, buffer, {computing.inner, computing.outer * unit + computing.part}}
                                   : Access{true, turned, {computing.outer, computing.inner}});
  }

  evaluator_.set_redirect([&](NodeId id, const Index& index) -> std::optional<Access> {
    for (size_t r = 0; r < staged.size(); ++r)
      if (schedule_.staged[r].node == id && staged[r].first == index) return staged[r].second;
    return std::nullopt;
  });
  std::vector<Stmt> element = elements(computing.at, computing.inside);
  evaluator_.set_redirect(nullptr);
  append(body, loops(Symbol::loop("x"), tile.rows.length, tile.columns.length, std::move(element)));
  return body;
}

void PointwiseLowering::tiles() {
  const auto& axes = domain().axes;
  const Axis& columns = axes[schedule::tiled_columns(schedule_)];
  const Axis& rows = axes[static_cast<size_t>(schedule_.across_axis)];
  const int64_t unit = schedule_.unit;
  int64_t size = 8;
  for (const schedule::Read& read : schedule_.staged)
    size = std::min<int64_t>(size, size_of(graph_.at(read.node).dtype));
  if (schedule_.turns_results)
    for (const StoredOutput& o : domain().outputs) size = std::min<int64_t>(size, size_of(graph_.at(o.node).dtype));
  const auto side_of = [&](const Axis& axis) {
    return on_gpu() ? even_side(schedule_.tile, axis.extent, size * unit) : schedule_.tile;
  };
  const int64_t down = side_of(rows), across = side_of(columns);
  std::vector<std::pair<int, int>> buffers;
  for (const schedule::Read& read : schedule_.staged) {
    const DType memory = graph_.at(read.node).dtype, t = on_gpu() ? memory : compute_type(memory);
    const bool turns = !on_gpu() && !schedule_.plain && (size_of(t) == 4 || size_of(t) == 8);
    const int buffer = add_scratch(t, {across, turns ? down : schedule::staged_row(down, t, unit)});
    buffers.emplace_back(buffer, turns ? add_scratch(t, {across, down}) : -1);
  }
  if (schedule_.turns_results)
    for (const StoredOutput& o : domain().outputs) {
      const DType t = graph_.at(o.node).dtype;
      buffers.emplace_back(add_scratch(t, {across, schedule::staged_row(down, t, unit)}), -1);
    }
  // The tiles of a range of the columns.
  const Symbol tr = Symbol::loop("tr"), tc = Symbol::loop("tc");
  const auto grid_of = [&](const IntExpr& length) {
    Grid grid;
    for (const Axis& axis : axes)
      if (&axis != &columns && &axis != &rows && (unit == 1 || &axis != &axes.back())) grid.add(axis.var, axis.extent);
    grid.add_pieces(tr, rows.extent, down);
    grid.add_pieces(tc, length, across);
    return grid;
  };
  const auto tiles_of = [&](const Placement& placement, const Piece& range) {
    const Tile any{piece_at(placement, tr, rows.extent, down), piece_at(placement, tc, range.length, across), range};
    const Tile whole{{any.rows.first, down}, {any.columns.first, across}, range};
    // A tile of an axis of unknown length may have one row.
    const bool even = rows.extent.constant() && range.length.constant();
    const Tile ending = even ? Tile{whole.rows, whole.columns, range, true} : any;
    if (!on_gpu() || (divides(down, rows.extent) && divides(across, range.length)))
      return through_tile(any, placement, buffers);
    const auto fits = [&](const IntExpr& first, int64_t side, const IntExpr& extent) {
      return builder_.apply(Op::Le, {builder_.index(first + side), builder_.index(extent)});
    };
    const ExprId is_whole = builder_.apply(
        Op::And, {fits(any.rows.first, down, rows.extent), fits(any.columns.first, across, range.length)});
    const ExprId is_cut = builder_.apply(Op::Not, {is_whole});
    std::vector<Stmt> body;
    body.push_back(If{is_whole, through_tile(whole, placement, buffers)});
    body.push_back(If{is_cut, through_tile(ending, placement, buffers)});
    return body;
  };
  if (!schedule_.cut) {
    const Grid grid = grid_of(columns.extent);
    Placement placement;
    grid.decode(placement);
    add_phase(grid.extent(), tiles_of(placement, {0, columns.extent}), down * across * unit);
    return;
  }
  IntExpr total = 0;
  std::vector<Stmt> body;
  for (const Piece& range : ranges_of_cut()) {
    const Grid grid = grid_of(range.length);
    Placement placement;
    If made = only_in_range(grid, total, placement);
    append(made.body, tiles_of(placement, range));
    body.push_back(std::move(made));
    total = total + grid.extent();
  }
  add_phase(total, std::move(body), down * across * unit);
}

}  // namespace smelt::kernel

// Products on a GPU: a tile of results to a workgroup, which has its sums in registers.
//
//   grid %g over the batch, the tiles of rows and of columns
//     sums = 0
//     vector %i over the first part of the tile's rows, and of its columns:  held = reads of f, g
//     serial %kb over parts of the inner axes:
//       vector %i over the part:                        rows panel, columns panel = f, g of held
//       vector %i over the next part:                   held = reads of f, g        on their way while this part is multiplied
//       vector %i over the threads:                     each has a block of results
//         serial %k over the part:  each total = fma(rows panel[%k, ..], columns panel[%k, ..], total)
//     vector %i over the threads: sums = total          so that neighbours in memory are stored by neighbours
//     vector %i over the tile: out = h(sums)
//
// Whole parts of whole tiles are read without asking whether an element is there. What is not there
// is 0.
//
// Matrix units get their parts by a pipeline, which needs no registers for what is on its way:
//
//     serial %kb over parts of the inner axes, in stages:
//       vector %i over the part:                        rows panel, columns panel of the stage = f, g
//       sums = rows panel times columns panel + sums
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lower_product.hpp"

namespace smelt::kernel {

namespace {

constexpr int64_t kApart = 4;  // columns of a thread that are adjacent
constexpr int64_t kPad = 4;    // elements between rows of scratch, so that they begin in other banks

}  // namespace

// Adjacent elements of a factor that a thread has at a time: where rows in memory begin anywhere,
// those of one thread would be read one by one, and in other sectors than its neighbours'.
int ProductLowering::lanes_of_part(bool of_rows) const {
  const schedule::Product& p = product();
  if (p.units) return schedule_.lanes;
  const bool along_inner = of_rows ? p.rows_along_inner : p.columns_along_inner;
  const auto& axes = along_inner ? p.inner : of_rows ? p.rows : p.columns;
  const auto length = domain().axes[static_cast<size_t>(axes.back())].extent.constant();
  return length && *length % schedule_.lanes != 0 ? 1 : schedule_.lanes;
}

// The loop over a part of a factor: the same for what goes to registers and on to the panel.
Stmt ProductLowering::over_part(bool of_rows, std::vector<Stmt> element) const {
  constexpr int64_t kMostHeld = 32;  // elements of a thread
  const schedule::Product& p = product();
  const int64_t points = (of_rows ? p.tile_rows : p.tile_columns) * p.tile_inner;
  const int lanes = lanes_of_part(of_rows);
  const int64_t steps = (points + int64_t{lanes} * schedule_.team - 1) / (int64_t{lanes} * schedule_.team);
  return loop(LoopKind::Vector, kLane, points, std::move(element), lanes,
              static_cast<int>(std::clamp<int64_t>(steps, 1, p.units ? 8 : kMostHeld / lanes)));
}

// Where the element of a part lies: the place in the panel, along the own axes and along the inner
// ones.
ProductLowering::PartElement ProductLowering::element_of_part(bool of_rows, const Ranges& ranges) const {
  const schedule::Product& p = product();
  const bool along_inner = of_rows ? p.rows_along_inner : p.columns_along_inner;
  const IntExpr lane = IntExpr::symbol(kLane);
  const int64_t fast = along_inner ? p.tile_inner : of_rows ? p.tile_rows : p.tile_columns;
  const IntExpr outer = floordiv(lane, fast, ranges), inner = mod(lane, fast, ranges);
  PartElement element{{}, along_inner ? outer : inner, along_inner ? inner : outer};
  element.in_panel = {element.inner, element.own};
  if (const int64_t width = Fragment::width(fast); p.units)
    element.in_panel = {floordiv(inner, width, ranges), outer, mod(inner, width, ranges)};
  return element;
}

Ranges ProductLowering::ranges_of_part(const Tile& tile, bool of_rows) const {
  Ranges ranges = tile.placement.ranges;
  ranges[kLane] = {0, (of_rows ? product().tile_rows : product().tile_columns) * product().tile_inner - 1};
  return ranges;
}

// A factor as units multiply it.
ExprId ProductLowering::as_factor(ExprId value) { return product().whole ? builder_.cast(value, DType::F32) : value; }

// A part of one factor into the panel, from number `part` of the inner axes on.
std::vector<Stmt> ProductLowering::stage(const Panel& panel, bool of_rows, const Tile& tile, const IntExpr& part,
                                         bool whole) {
  const schedule::Product& p = product();
  Placement placement = tile.placement;
  placement.ranges = ranges_of_part(tile, of_rows);
  const PartElement at = element_of_part(of_rows, placement.ranges);
  const IntExpr own = (of_rows ? tile.rows : tile.columns).first + at.own;
  place(placement, p.rows, of_rows ? own : IntExpr(0));
  place(placement, p.columns, of_rows ? IntExpr(0) : own);
  place(placement, p.inner, part * p.tile_inner + at.inner);
  std::vector<Stmt> element;
  evaluator_.enter(&element, &placement.ranges);
  ExprId inside = kNoExpr;
  if (!whole && panel.packed < 0) {
    inside = evaluator_.only_where(guards_of(placement, of_rows ? p.rows : p.columns, p.inner));
  }
  // Views show a part as they do the array.
  const auto array = panel.apart >= 0 ? evaluator_.read_from(panel.source, panel.apart) : std::nullopt;
  const ExprId value =
      panel.packed >= 0
          ? builder_.load({false, panel.packed, packed_at(of_rows, placement, own, part * p.tile_inner + at.inner)})
          : or_zero(as_factor(factor_at(panel, placement)), inside, panel.buffer);
  if (panel.apart >= 0) evaluator_.read_from(panel.source, array);
  evaluator_.only_where(kNoExpr);
  Access to{true, panel.buffer, at.in_panel};
  if (p.stages) to.index.insert(to.index.begin(), mod(IntExpr::symbol(kPart), p.stages, placement.ranges));
  Store store = builder_.store(std::move(to), value);
  store.later = p.stages > 0 && builder_.at(store.value).is<Load>();
  element.push_back(std::move(store));
  return single(over_part(of_rows, std::move(element)));
}

// Results of a thread: adjacent rows, and columns in pieces. Of four neighbours in a warp two have
// the same rows and two the same columns: a load of 16 bytes from scratch takes two cycles where
// all even lanes, or all pairs of lanes, read what the next ones read too, and else four (seen on
// an H200).
schedule::Index ProductLowering::result_of_thread(int64_t row, int64_t column) const {
  const schedule::Product& p = product();
  Ranges ranges;
  ranges[kLane] = {0, schedule_.team - 1};
  const int64_t across = p.tile_columns / p.block_columns, piece = std::min(kApart, p.block_columns);
  const IntExpr lane = IntExpr::symbol(kLane);
  IntExpr x = mod(lane, across, ranges), y = floordiv(lane, across, ranges);
  if (schedule::shares_columns(p)) {
    const IntExpr four = floordiv(lane, 4, ranges);
    x = 2 * mod(four, across / 2, ranges) + mod(lane, 2, ranges);
    y = 2 * floordiv(lane, 2 * across, ranges) + mod(floordiv(lane, 2, ranges), 2, ranges);
  }
  return {y * p.block_rows + row, x * piece + column / piece * (across * piece) + column % piece};
}

std::vector<Stmt> ProductLowering::multiply_by_units(const GpuPanels& panels) {
  std::vector<Stmt> firsts, others, added;
  for (size_t s = 0; s < product().sums.size(); ++s) {
    const schedule::ProductSum& sum = product().sums[s];
    const auto multiply = [&](int fragment, const std::pair<int, int>& parts) {
      return Matrix{Matrix::Step::Multiply, fragment, panel_of(panels.rows, sum.rows, parts.first).buffer,
                    panel_of(panels.columns, sum.columns, parts.second).buffer};
    };
    if (panels.firsts[s] < 0) {
      for (const auto& pair : schedule::pairs_of_parts(sum)) firsts.push_back(multiply(static_cast<int>(s), pair));
      continue;
    }
    firsts.push_back(Matrix{Matrix::Step::Clear, panels.firsts[s]});
    for (const auto& pair : schedule::pairs_of_parts(sum))
      (pair == std::pair(0, 0) ? firsts : others)
          .push_back(multiply(pair == std::pair(0, 0) ? panels.firsts[s] : panels.others[s], pair));
    added.push_back(Matrix{.step = Matrix::Step::Add, .fragment = static_cast<int>(s), .by = panels.firsts[s]});
  }
  append(firsts, std::move(others));
  append(firsts, std::move(added));
  return firsts;
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
  const auto add = [&](std::vector<Panel>& of, NodeId factor, size_t reduction, int64_t own, int parts) {
    if (std::any_of(of.begin(), of.end(), [&](const Panel& panel) { return panel.factor == factor; })) return;
    if (!p.units) {
      of.push_back({factor, reduction, add_scratch(compute_type(graph_.at(factor).dtype), {p.tile_inner, own + kPad})});
      kernel_.buffers.back().lifetime = Lifetime::Pipeline;
      return;
    }
    const bool along_inner = &of == &panels.rows ? p.rows_along_inner : p.columns_along_inner;
    const int64_t fast = along_inner ? p.tile_inner : own, other = along_inner ? own : p.tile_inner;
    const int64_t width = Fragment::width(fast);
    for (int part = 0; part < parts; ++part) {
      of.push_back({factor, reduction, add_scratch(*p.units, {p.stages, Fragment::pieces(fast), other, width})});
      of.back().part = part;
      if (is_packed(factor)) of.back().packed = add_packed(&of == &panels.rows);
      if (p.apart.count(factor) > 0) add_apart(of.back());
      kernel_.buffers.back().lifetime = Lifetime::Pipeline, kernel_.buffers.back().swizzled = true;
    }
  };
  for (const schedule::ProductSum& sum : p.sums) {
    add(panels.rows, sum.rows, sum.reduction, p.tile_rows, sum.parts_of_rows);
    add(panels.columns, sum.columns, sum.reduction, p.tile_columns, sum.parts_of_columns);
    const DType t = held_type(sum);
    panels.sums.push_back(add_scratch(t, {p.tile_rows, p.tile_columns + (p.units ? Fragment::kApart : kPad)}));
    kernel_.buffers.back().lifetime = Lifetime::Behind;
    if (p.split > 1) panels.partial.push_back(add_partial(t, p.split, kept_axes(), "partial sums"));
    if (p.units) {
      add_fragment(body, t);
      continue;
    }
    std::vector<LocalId>& totals = panels.totals.emplace_back();
    for (int64_t r = 0; r < p.block_rows * p.block_columns; ++r) {
      totals.push_back(builder_.new_local(t, true));
      body.push_back(assign(totals.back(), builder_.constant(neutral(ReduceKind::Sum, t))));
    }
  }
  for (const schedule::ProductSum& sum : p.sums) {
    const bool apart = p.units && sum.in_parts() && sum.is_full;
    panels.firsts.push_back(apart || (p.whole && !p.exact_in_f32) ? add_fragment(body, DType::F32) : -1);
    panels.others.push_back(apart ? add_fragment(body, DType::F32) : -1);
  }
  return panels;
}

// Sums of a tile, 0 at first.
int ProductLowering::add_fragment(std::vector<Stmt>& body, DType sums) {
  const schedule::Product& p = product();
  const int fragment = static_cast<int>(kernel_.fragments.size());
  kernel_.fragments.push_back({*p.units, sums, static_cast<int>(p.tile_rows), static_cast<int>(p.tile_columns),
                               static_cast<int>(p.tile_inner), p.down, p.rows_along_inner, p.columns_along_inner});
  body.push_back(Matrix{Matrix::Step::Clear, fragment});
  return fragment;
}

std::vector<Stmt> ProductLowering::put_sums(const GpuPanels& panels) {
  const schedule::Product& p = product();
  std::vector<Stmt> put;
  if (p.units) {
    for (size_t s = 0; s < p.sums.size(); ++s) {
      const int fragment = static_cast<int>(s);
      if (panels.others[s] >= 0)
        put.push_back(Matrix{.step = Matrix::Step::AddFinite, .fragment = fragment, .by = panels.others[s]});
      put.push_back(Matrix{Matrix::Step::Put, fragment, -1, -1, panels.sums[s]});
    }
    return put;
  }
  for (size_t s = 0; s < p.sums.size(); ++s)
    for (int64_t r = 0; r < p.block_rows; ++r)
      for (int64_t c = 0; c < p.block_columns; ++c)
        put.push_back(builder_.store({true, panels.sums[s], result_of_thread(r, c)},
                                     builder_.local(panels.totals[s][static_cast<size_t>(r * p.block_columns + c)])));
  return single(loop(LoopKind::Vector, kLane, schedule_.team, std::move(put)));
}

// What follows from the sums of a tile: results, or partial sums for the second phase.
std::vector<Stmt> ProductLowering::results(const GpuPanels& panels, const Tile& tile, Whole whole) {
  const schedule::Product& p = product();
  const int64_t points = p.tile_rows * p.tile_columns;
  Placement placement = tile.placement;
  placement.ranges[kLane] = {0, points - 1};
  const IntExpr lane = IntExpr::symbol(kLane);
  // Neighbours store neighbours.
  const int64_t run = p.tile_rows % p.run == 0 ? p.run : 1;
  const IntExpr across = floordiv(lane, run, placement.ranges);
  const IntExpr row = run * floordiv(lane, run * p.tile_columns, placement.ranges) + mod(lane, run, placement.ranges),
                column = mod(across, p.tile_columns, placement.ranges);
  place(placement, p.rows, tile.rows.first + row);
  place(placement, p.columns, tile.columns.first + column);
  std::vector<Stmt> body, stores;
  evaluator_.enter(&body, &placement.ranges);
  ExprId mask = kNoExpr;
  if (!whole.all()) {
    const std::vector<int> none;
    mask = evaluator_.only_where(guards_of(placement, whole.rows ? none : p.rows, whole.columns ? none : p.columns));
  }
  for (size_t s = 0; s < p.sums.size(); ++s) {
    const ExprId sum = sum_at(panels.sums[s], row, column);
    if (p.split > 1)
      stores.push_back(builder_.store(
          {false, panels.partial[s], partial_at(placement.value_of.at(kSplit), kept_axes(), placement)}, sum, mask));
    else
      evaluator_.set_reduction(p.sums[s].node, builder_.cast(sum, accumulator(p.sums[s])));
  }
  if (p.split == 1)
    for (const StoredOutput& o : domain().outputs)
      stores.push_back(store_output(o, placement, evaluator_.value_to_store(o.base, placement.at(o.base_index)), mask));
  evaluator_.only_where(kNoExpr);
  append(body, std::move(stores));
  // Neighbours store 16 bytes at once; where rows of results begin anywhere, threads store
  // single adjacent elements.
  const bool halves = p.split == 1 && std::all_of(domain().outputs.begin(), domain().outputs.end(),
                                                  [&](const auto& o) { return size_of(graph_.at(o.base).dtype) == 2; });
  const auto columns = (schedule::count_of(domain(), p.columns) * run).constant();
  int lanes = !columns ? 4 : p.units && halves && *columns % 8 == 0 ? 8 : *columns % 4 == 0 ? 4 : 1;
  // All threads add up what several warps have made.
  while (p.skinny && lanes > 1 && points / lanes < schedule_.team) lanes /= 2;
  return single(loop(LoopKind::Vector, kLane, points, std::move(body), lanes, 16 / lanes));
}

std::vector<Stmt> ProductLowering::in_pipeline(const GpuPanels& panels, const Tile& tile, const Piece& parts,
                                               bool whole) {
  Tile at = tile;
  at.placement.ranges[kPart] = {0, parts.length - 1};
  std::vector<Stmt> all;
  std::vector<Stmt> steps = for_panels(
      panels, [&](const Panel& panel, bool of_rows) { return stage_ahead(panel, of_rows, at, parts, whole, all); });
  append(steps, multiply_by_units(panels));
  Loop pipeline = loop(LoopKind::Serial, kPart, parts.length, std::move(steps));
  pipeline.stages = product().stages, pipeline.boxed = product().boxed;
  all.push_back(std::move(pipeline));
  return all;
}

// The inner axes by threads. While a part is multiplied, the next one is read.
std::vector<Stmt> ProductLowering::by_threads(const GpuPanels& panels, const Tile& tile, const Piece& parts,
                                              Whole whole, bool whole_parts) {
  Tile at = tile;
  at.placement.ranges[kPart] = {0, parts.length - 1};
  std::vector<Stmt> all;
  std::vector<Stmt> steps = for_panels(panels, [&](const Panel& panel, bool of_rows) {
    return stage_ahead(panel, of_rows, at, parts, whole_parts && (of_rows ? whole.rows : whole.columns), all);
  });
  append(steps, multiply_by_threads(panels));
  all.push_back(loop(LoopKind::Serial, kPart, parts.length, std::move(steps)));
  return all;
}

void ProductLowering::gpu_tiles() {
  const schedule::Product& p = product();
  if (p.skinny) return skinny_tiles();
  Tile tile = tile_of_grid();
  const IntExpr rows = schedule::count_of(domain(), p.rows), columns = schedule::count_of(domain(), p.columns),
                inner = schedule::count_of(domain(), p.inner), all = ceildiv(inner, p.tile_inner);
  std::vector<Stmt> body;
  evaluator_.enter(&body, &tile.placement.ranges);
  if (p.band > 1 && !has_whole_bands()) place_in_bands(tile);
  const auto fits = [&](const IntExpr& first, int64_t size, const IntExpr& of) {
    return builder_.apply(Op::Le, {builder_.index(first + size), builder_.index(of)});
  };
  // Sides of tiles that are always whole, never, or but for the last ones: these are asked for
  // once.
  const Whole always{divides(p.tile_rows, rows), divides(p.tile_columns, columns)};
  const ExprId rows_fit = fits(tile.rows.first, p.tile_rows, rows),
               columns_fit = fits(tile.columns.first, p.tile_columns, columns);
  const auto is_never = [&](ExprId fit) { return builder_.constant_at(fit) && !builder_.constant_at(fit)->as_bool(); };
  const Whole mostly{!is_never(rows_fit), !is_never(columns_fit)};
  ExprId is_whole = builder_.constant(Scalar::of_bool(true));
  if (mostly.rows && !always.rows) is_whole = rows_fit;
  if (mostly.columns && !always.columns)
    is_whole = mostly.rows && !always.rows ? builder_.apply(Op::And, {rows_fit, columns_fit}) : columns_fit;
  const bool is_settled = always == mostly;
  Piece parts{0, all};
  if (p.split > 1) {
    const IntExpr each = ceildiv(all, p.split);
    parts.first = tile.placement.value_of.at(kSplit) * each;
    // Packed factors have whole parts, of 0 where there are no more terms.
    parts.length =
        divides(p.split, all) || !p.packed.empty() ? each : max(0, min(each, all - parts.first, tile.placement.ranges));
  }
  const GpuPanels panels = add_gpu_panels(body);
  const IntExpr whole = floordiv(inner, p.tile_inner);
  if (p.units) {
    append(body, in_pipeline(panels, tile, parts, always.all() && divides(p.tile_inner * p.split, inner)));
  } else if (p.split > 1) {
    append(body, by_threads(panels, tile, parts, always, divides(p.tile_inner * p.split, inner)));
  } else if (is_settled) {
    append(body, by_threads(panels, tile, {0, whole}, always, true));
    if (!(all - whole).is(0)) append(body, by_threads(panels, tile, {whole, all - whole}, always, false));
  } else {
    const IntExpr done =
        evaluator_.as_index(builder_.apply(Op::Where, {is_whole, builder_.index(whole), builder_.index(0)}), whole + 1);
    tile.placement.ranges = evaluator_.ranges();
    body.push_back(If{is_whole, by_threads(panels, tile, {0, whole}, mostly, true)});
    append(body, by_threads(panels, tile, {done, all - done}, always, false));
  }
  append(body, put_sums(panels));
  if (is_settled) {
    append(body, results(panels, tile, always));
  } else {
    body.push_back(If{is_whole, results(panels, tile, mostly)});
    body.push_back(If{builder_.apply(Op::Not, {is_whole}), results(panels, tile, always)});
  }
  std::vector<Stmt> allocs = std::move(allocs_);
  pack(panels);
  allocs_ = std::move(allocs);
  add_phase(tile.grid, std::move(body), IntExpr(p.tile_rows * p.tile_columns));
  if (p.split > 1) add_up_parts(panels);
}

}  // namespace smelt::kernel

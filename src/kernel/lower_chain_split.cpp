// Chains whose tiles of rows are few and see many keys: the grid goes over parts of the keys too,
// each of which stores its sums, with the maximum and total of each row where rows are weighed. A
// second phase joins them:
//
//   grid %g over pieces of the results: vector %i over the piece:
//     maximum = that of all parts; each part's sums and total times exp(its maximum - maximum), added up
//     out = h(sum * what a row's sums are multiplied by)
#include <cmath>

#include "kernel/lower_chain.hpp"

namespace smelt::kernel {

std::vector<Axis> ChainLowering::axes_of_rows() const {
  std::vector<Axis> axes;
  for (const std::vector<int>* of : {&product().batch, &product().rows})
    for (const int a : *of) axes.push_back(domain().axes[static_cast<size_t>(a)]);
  return axes;
}

ChainLowering::Partial ChainLowering::add_partial_results() {
  const int64_t parts = product().split;
  Partial partial;
  for (size_t n = 0; n < chain().lasts.size(); ++n)
    partial.sums.push_back(add_partial(DType::F32, parts, kept_axes(), "sums of parts of the keys"));
  if (chain().weighs()) {
    partial.maxima = add_partial(DType::F32, parts, axes_of_rows(), "maxima of parts of the keys");
    partial.totals = add_partial(DType::F32, parts, axes_of_rows(), "totals of parts of the keys");
  }
  return partial;
}

// What a tile has of its part.
std::vector<Stmt> ChainLowering::store_part(const Partial& partial, const Tile& tile) {
  const schedule::Product& p = product();
  const Fragment& f = fragment_of_sums(0);
  const IntExpr lane = IntExpr::symbol(kLane);
  std::vector<Stmt> made;
  if (chain().weighs()) {
    const int rows = add_scratch(DType::F32, {2, p.tile_rows});
    made.push_back(
        Matrix{.step = Matrix::Step::PutRows, .fragment = sums(), .into = rows, .scale = scaled_products().scale});
    Placement placement = tile.placement;
    placement.ranges[kLane] = {0, p.tile_rows - 1};
    place(placement, p.rows, tile.rows.first + lane);
    std::vector<Stmt> body;
    evaluator_.enter(&body, &placement.ranges);
    const ExprId inside = evaluator_.only_where(guards_of(placement, p.rows));
    const schedule::Index at = partial_at(tile.part, axes_of_rows(), placement);
    for (const auto& [array, n] : {std::pair{partial.maxima, 0}, {partial.totals, 1}})
      body.push_back(builder_.store({false, array, at}, builder_.load({true, rows, {n, lane}}), inside));
    evaluator_.only_where(kNoExpr);
    made.push_back(loop(LoopKind::Vector, kLane, p.tile_rows, std::move(body)));
  }
  Placement placement = tile.placement;
  const PairAt at = place_pair(f, tile, placement);
  std::vector<Stmt> body;
  evaluator_.enter(&body, &placement.ranges);
  for (int c = 0; c < 2; ++c) {
    place(placement, p.columns, at.column + c);
    const ExprId mask = evaluator_.only_where(guards_of(placement, p.rows, p.columns));
    for (size_t n = 0; n < partial.sums.size(); ++n)
      body.push_back(builder_.store({false, partial.sums[n], partial_at(tile.part, kept_axes(), placement)},
                                    builder_.load({true, fragment_of_sums(n).registers, {lane, c}}), mask));
    evaluator_.only_where(kNoExpr);
  }
  made.push_back(loop(LoopKind::Vector, kLane, f.pairs(), std::move(body), 1, f.pairs() / schedule_.team));
  return made;
}

void ChainLowering::join_parts(const Partial& partial) {
  constexpr int64_t kPiece = 128;
  const auto parts = product().split;
  auto [placement, grid, length] = in_pieces(kept_axes(), kPiece);
  std::vector<Stmt> body;
  evaluator_.enter(&body, &placement.ranges);
  const auto load = [&](int array, const std::vector<Axis>& axes, int64_t part) {
    return builder_.load({false, array, partial_at(part, axes, placement)});
  };
  const auto add = [&](ExprId sum, ExprId more) {
    return sum == kNoExpr ? more : builder_.apply(Op::Add, {sum, more});
  };
  std::map<NodeId, ExprId> made;
  if (chain().weighs()) {
    ExprId sum = kNoExpr;
    std::vector<ExprId> maxima;
    ExprId most = kNoExpr, total = kNoExpr;
    for (int64_t n = 0; n < parts; ++n) {
      maxima.push_back(load(partial.maxima, axes_of_rows(), n));
      most = most == kNoExpr ? maxima.back() : builder_.apply(Op::Max, {most, maxima.back()});
    }
    // A part of which a row sees nothing has -inf, and sums of 0.
    const ExprId nothing = builder_.constant(Scalar::of_float(DType::F32, -HUGE_VAL)),
                 zero = builder_.constant(Scalar::of_float(DType::F32, 0));
    for (int64_t n = 0; n < parts; ++n) {
      const ExprId maximum = maxima[static_cast<size_t>(n)];
      const ExprId scale =
          builder_.apply(Op::Where, {builder_.apply(Op::Eq, {maximum, nothing}), zero,
                                     builder_.apply(Op::Exp, {builder_.apply(Op::Sub, {maximum, most})})});
      total = add(total, builder_.apply(Op::Mul, {load(partial.totals, axes_of_rows(), n), scale}));
      sum = add(sum, builder_.apply(Op::Mul, {load(partial.sums[0], kept_axes(), n), scale}));
    }
    made[product().sums[0].node] = builder_.apply(Op::Mul, {sum, factor_of_row(most, total, placement)});
  } else {
    for (size_t last = 0; last < partial.sums.size(); ++last) {
      ExprId sum = kNoExpr;
      for (int64_t n = 0; n < parts; ++n) sum = add(sum, load(partial.sums[last], kept_axes(), n));
      made[product().sums[last].node] = sum;
    }
  }
  ready_ = std::move(made);
  append(body, elements(placement));
  ready_.clear();
  add_phase(grid, single(loop(LoopKind::Vector, kLane, length, std::move(body), 1, 1)), kPiece);
  set_team(static_cast<int>(kPiece));
}

}  // namespace smelt::kernel

// Levels: sums of floats whose order does not show (LevelSums in any_order.hpp), in one atomic
// addition for each update.
//
//     phase 0: nothing is known of the updates
//     phase 1: grid over parts of the updates: the range of their exponents; what costs much is stored
//     phase 2: zeros, for the levels that these exponents need
//     phase 3: each update, an integer, is added to the level of its exponent
//     phase 4: out = x + the levels
#include "kernel/any_order.hpp"
#include "kernel/lower_scatter.hpp"

namespace smelt::kernel {

using schedule::reshaped_index;

namespace {

constexpr int64_t kTilesOfPart = 4;

Index in_front(const IntExpr& first, const Index& index) {
  Index all{first};
  all.insert(all.end(), index.begin(), index.end());
  return all;
}

}  // namespace

struct ScatterLowering::Levels {
  LevelSums sums;
  int facts, terms, values;  // params; values: the updates where phase 1 stores them, or -1
};

void ScatterLowering::scatter_levels(const Scattered& s) {
  const IntExpr terms = s.updates * s.columns;
  LevelSums sums(builder_, s.dtype, terms);
  Shape dims{sums.levels()};
  dims.insert(dims.end(), s.shape.begin(), s.shape.end());
  const Levels all{sums, add_temporary(DType::I32, {LevelSums::kFacts}, "range of exponents"),
                   add_temporary(DType::I64, dims, "sums of levels"),
                   schedule_.stores_updates ? add_temporary(compute_type(s.dtype), {terms}, "updates") : -1};
  over_chunks(LevelSums::kFacts, [&](const IntExpr& at, const Ranges&, std::vector<Stmt>& body) {
    body.push_back(builder_.store({false, all.facts, {at}}, builder_.constant(Scalar::of_int(DType::I32, 0))));
  });
  find_facts(s, all);
  clear_levels(s, all);
  over_updates(s, false, [&](const Destination& d, std::vector<Stmt>& body) {
    const ExprId value = all.values < 0
                             ? evaluator_.value(s.source, s.update_at(d.update, d.column, evaluator_.ranges()))
                             : builder_.load({false, all.values, {d.update * s.columns + d.column}});
    const LevelSums::Term term = all.sums.term(value, builder_.load({false, all.facts, {0}}));
    const IntExpr level = evaluator_.as_index(term.level, all.sums.levels());
    ExprId adds = builder_.apply(Op::Ne, {term.value, builder_.constant(Scalar::of_int(DType::I64, 0))});
    if (d.inside != kNoExpr) adds = builder_.apply(Op::And, {d.inside, adds});
    const Access to{false, all.terms, in_front(level, s.at(d.index, d.column, evaluator_.ranges()))};
    body.push_back(store_atomic(to, Op::Add, term.value, adds));
  });
  total_of_levels(s, all);
}

void ScatterLowering::find_facts(const Scattered& s, const Levels& all) {
  const IntExpr terms = s.updates * s.columns, part = schedule_.tile * kTilesOfPart;
  const Symbol number = Symbol::loop("part_of");
  Grid grid;
  Placement placement;
  grid.add_pieces(number, terms, part);
  grid.decode(placement);
  const Piece here = piece_at(placement, number, terms, part);
  const ExprId zero = builder_.constant(Scalar::of_int(DType::I32, 0));
  std::array<LocalId, LevelSums::kFacts> largest{};
  std::vector<Stmt> body;
  for (LocalId& local : largest) {
    local = builder_.new_local(DType::I32, true);
    body.push_back(assign(local, zero));
  }
  append(body, lanes_of(kLane, here.length, placement.ranges, [&](const Ranges& ranges, std::vector<Stmt>& into) {
           const IntExpr at = here.first + IntExpr::symbol(kLane);
           const IntExpr column = mod(at, s.columns, ranges), update = floordiv(at, s.columns, ranges);
           const ExprId value = evaluator_.value(s.source, s.update_at(update, column, ranges));
           if (all.values >= 0) into.push_back(builder_.store({false, all.values, {at}}, value));
           const auto facts = all.sums.facts(value);
           for (size_t n = 0; n < facts.size(); ++n)
             into.push_back(assign(largest[n], builder_.apply(Op::Max, {builder_.local(largest[n]), facts[n]})));
         }));
  for (const LocalId local : largest) body.push_back(combine(local, Op::Max));
  for (size_t n = 0; n < largest.size(); ++n) {
    const Access to{false, all.facts, {static_cast<int64_t>(n)}};
    const ExprId own = builder_.local(largest[n]);
    // What is read may be old, but it only grows.
    body.push_back(store_atomic(to, Op::Max, own, builder_.apply(Op::Gt, {own, builder_.load(to)})));
  }
  add_phase(grid.extent(), std::move(body), part);
}

// A phase over the elements of the result, which knows the levels that have terms.
void ScatterLowering::over_levels(const Scattered& s, const Levels& all, const LevelFill& fill) {
  const IntExpr elements = s.rows * s.columns;
  LevelSums::Known known{};
  IntExpr levels;
  over_chunks(
      elements,
      [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
        fill(reshaped_index({elements}, s.shape, {at}, ranges), known, levels, body);
      },
      [&] {
        std::array<ExprId, LevelSums::kFacts> facts{};
        for (size_t n = 0; n < facts.size(); ++n)
          facts[n] = builder_.load({false, all.facts, {static_cast<int64_t>(n)}});
        known = all.sums.known(facts);
        levels = evaluator_.as_index(builder_.cast(known.levels, DType::I64), all.sums.levels());
      });
}

void ScatterLowering::clear_levels(const Scattered& s, const Levels& all) {
  const ExprId zero = builder_.constant(Scalar::of_int(DType::I64, 0));
  over_levels(s, all,
              [&](const Index& at, const LevelSums::Known& known, const IntExpr& levels, std::vector<Stmt>& body) {
                const Symbol level = Symbol::loop("k");
                std::vector<Stmt> one{builder_.store({false, all.terms, in_front(IntExpr::symbol(level), at)}, zero)};
                body.push_back(loop(LoopKind::Serial, level, levels, std::move(one)));
                const Access last{false, all.terms, in_front(all.sums.levels() - 1, at)};
                body.push_back(builder_.store(last, zero, known.special));
              });
}

void ScatterLowering::total_of_levels(const Scattered& s, const Levels& all) {
  const int out = evaluator_.output_param(s.id);
  const ExprId zero = builder_.constant(Scalar::of_int(DType::I64, 0));
  over_levels(
      s, all, [&](const Index& at, const LevelSums::Known& known, const IntExpr& levels, std::vector<Stmt>& body) {
        const ExprId x = evaluator_.value(s.x, at);
        const LocalId sum = builder_.new_local(DType::F64, true), any = builder_.new_local(DType::I64, true);
        body.push_back(assign(sum, builder_.constant(Scalar::of_float(DType::F64, 0))));
        body.push_back(assign(any, zero));
        const Symbol level = Symbol::loop("k");
        const IntExpr k = IntExpr::symbol(level);
        const ExprId own = builder_.load({false, all.terms, in_front(k, at)});
        const ExprId value = all.sums.value_of(own, builder_.cast(builder_.index(k), DType::I32), known.top);
        std::vector<Stmt> one{assign(sum, builder_.apply(Op::Add, {builder_.local(sum), value})),
                              assign(any, builder_.apply(Op::Or, {builder_.local(any), own}))};
        body.push_back(loop(LoopKind::Serial, level, levels, std::move(one)));
        const ExprId last = builder_.load({false, all.terms, in_front(all.sums.levels() - 1, at)}, known.special, zero);
        const ExprId total = all.sums.total(x, builder_.local(sum), builder_.local(any), last);
        body.push_back(builder_.store({false, out, evaluator_.inside(s.id, at)}, total));
      });
}

}  // namespace smelt::kernel

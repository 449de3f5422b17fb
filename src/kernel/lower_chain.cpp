// Chains on a GPU with matrix units: a tile of rows to a workgroup, which has its scores and sums
// in registers. Where rows are weighed:
//
//   grid %g over the batch and the tiles of rows
//     vector %i over the tile:  queries panel = f
//     sums = 0, maxima = -inf, totals = 0
//     serial %kb over tiles of the keys, those that some row of the tile may see:
//       vector %i over the tile:  keys panel = g, values panel = v
//       scores = queries times keys
//       vector %i over the scores:  each = x(score)          at its row and key; -inf for keys that are not there
//       scores = exp(scores - maxima); maxima, totals and sums as they follow
//       sums += scores times values
//     vector %i over the rows:  factor = what the sums of a row are multiplied by after the product
//     vector %i over the sums:  out = h(sum * factor)
//
// Other chains have the scores of several products, of which x makes values that are multiplied as
// they are.
#include "kernel/lower_chain.hpp"

#include <algorithm>
#include <cmath>

namespace smelt::kernel {

static const Symbol kTileOfRows = Symbol::loop("rt"), kTileOfKeys = Symbol::loop("kb");

ChainLowering::Tile ChainLowering::tile_of_grid() const {
  Grid grid;
  for (const int a : product().batch) {
    const Axis& axis = domain().axes[static_cast<size_t>(a)];
    grid.add(axis.var, axis.extent);
  }
  const IntExpr rows = schedule::count_of(domain(), product().rows);
  grid.add_pieces(kTileOfRows, rows, product().tile_rows);
  if (product().split > 1) grid.add(kSplit, product().split);
  Tile tile;
  tile.grid = grid.extent();
  // Where later rows see more keys, their tiles come first: nobody waits for them at the end.
  const bool grows = std::any_of(chain().seen.begin(), chain().seen.end(), [&](const schedule::Seen& seen) {
    return is_from_above(seen) && slope_of(seen).value_or(0) > 0;
  });
  tile.placement.ranges.add(kGrid, {0, tile.grid - 1});
  grid.decode(tile.placement, grows ? tile.grid - 1 - IntExpr::symbol(kGrid) : IntExpr::symbol(kGrid));
  tile.rows = piece_at(tile.placement, kTileOfRows, rows, product().tile_rows);
  if (product().split > 1) tile.part = tile.placement.value_of.at(kSplit);
  return tile;
}

// ---- factors

ChainLowering::Panel ChainLowering::add_panel(const schedule::ValueAt& factor, int64_t own, int64_t inner,
                                              bool along_inner, int stages) {
  const int64_t fast = along_inner ? inner : own, other = along_inner ? own : inner, width = Fragment::width(fast);
  const int buffer = add_scratch(*product().units, {stages, Fragment::pieces(fast), other, width});
  kernel_.buffers.back().swizzled = true;
  if (stages > 1) kernel_.buffers.back().lifetime = Lifetime::Pipeline;
  return {factor.node, factor.index, buffer, own, inner, along_inner, stages};
}

// A factor into its panel, with 0 for what is not there.
Stmt ChainLowering::stage(const Panel& panel, const Tile& tile, const PlaceElement& place_element) {
  Placement placement = tile.placement;
  const int64_t points = panel.own * panel.inner, fast = panel.along_inner ? panel.inner : panel.own;
  placement.ranges[kLane] = {0, points - 1};
  const IntExpr lane = IntExpr::symbol(kLane);
  const IntExpr outer = floordiv(lane, fast, placement.ranges), inner = mod(lane, fast, placement.ranges);
  const auto guards = place_element(placement, panel.along_inner ? outer : inner, panel.along_inner ? inner : outer);
  std::vector<Stmt> element;
  evaluator_.enter(&element, &placement.ranges);
  const ExprId inside = evaluator_.only_where(guards);
  const ExprId value = or_zero(evaluator_.value(panel.factor, placement.at(panel.index)), inside, panel.buffer);
  evaluator_.only_where(kNoExpr);
  const int64_t width = Fragment::width(fast);
  const IntExpr stage =
      panel.stages > 1 ? mod(IntExpr::symbol(kTileOfKeys), panel.stages, placement.ranges) : IntExpr(0);
  const schedule::Index at{stage, floordiv(inner, width, placement.ranges), outer, mod(inner, width, placement.ranges)};
  Store store = builder_.store({true, panel.buffer, at}, value);
  store.later = panel.stages > 1 && builder_.at(store.value).is<Load>();
  element.push_back(std::move(store));
  const int64_t steps = points / (int64_t{schedule_.lanes} * schedule_.team);
  return loop(LoopKind::Vector, kLane, points, std::move(element), schedule_.lanes,
              static_cast<int>(std::clamp<int64_t>(steps, 1, 8)));
}

// A side of a first product: what it has at these axes from `from` on, along the depth.
Stmt ChainLowering::stage_first(const Panel& panel, const Tile& tile, const schedule::FirstProduct& first,
                                const std::vector<int>& axes, const IntExpr& from) {
  return stage(panel, tile, [&](Placement& placement, const IntExpr& own, const IntExpr& inner) {
    place(placement, axes, from + own);
    placement.place(first.depth.var, inner);
    std::vector<schedule::Guard> guards = guards_of(placement, axes);
    guards.push_back({inner, first.depth.extent});
    return guards;
  });
}

int ChainLowering::add_fragment(int64_t columns, int64_t inner, bool columns_along_inner) {
  const schedule::Product& p = product();
  Fragment made{*p.units,
                DType::F32,
                static_cast<int>(p.tile_rows),
                static_cast<int>(columns),
                static_cast<int>(inner),
                p.down,
                true,
                columns_along_inner};
  made.registers = add_scratch(DType::F32, {made.pairs(), 2});
  kernel_.buffers[static_cast<size_t>(made.registers)].scope = Scope::Lane;
  kernel_.fragments.push_back(made);
  return static_cast<int>(kernel_.fragments.size()) - 1;
}

// ---- keys

// By how much the condition moves from a row to the next; nothing where that is not known.
std::optional<int64_t> ChainLowering::slope_of(const schedule::Seen& seen) const {
  const schedule::Product& p = product();
  if (p.rows.size() != 1) return std::nullopt;
  const Symbol row = domain().axes[static_cast<size_t>(p.rows[0])].var;
  const auto of_row = seen.least.coefficient_of(row);
  if (of_row) return of_row->constant();
  return seen.least.mentions(row) ? std::nullopt : std::optional<int64_t>(0);
}

// What the condition compares with 0, at a key and for the row of the tile that is the first to
// meet it, or the last.
IntExpr ChainLowering::least_at(const schedule::Seen& seen, const Tile& tile, const IntExpr& key, bool for_all) const {
  const schedule::Product& p = product();
  Placement at = tile.placement;
  const bool last = (*slope_of(seen) > 0) != for_all;
  at.place(domain().axes[static_cast<size_t>(p.rows[0])].var,
           last ? tile.rows.first + tile.rows.length - 1 : tile.rows.first);
  at.place(domain().axes[static_cast<size_t>(p.inner[0])].var, key);
  return at.at({seen.least})[0];
}

bool ChainLowering::is_from_above(const schedule::Seen& seen) const {
  return seen.least.coefficient_of(domain().axes[static_cast<size_t>(product().inner[0])].var)->is(-1);
}

ChainLowering::Keys ChainLowering::keys_of(const Tile& tile) const {
  const schedule::Product& p = product();
  IntExpr low = 0, high = schedule::count_of(domain(), p.inner);
  for (const schedule::Seen& seen : chain().seen) {
    if (!slope_of(seen)) continue;
    const IntExpr bound = least_at(seen, tile, 0, false);
    if (is_from_above(seen))
      high = min(high, max(0, bound + 1, tile.placement.ranges), tile.placement.ranges);
    else
      low = max(low, -bound, tile.placement.ranges);
  }
  const IntExpr first = floordiv(low, p.tile_inner, tile.placement.ranges),
                all = ceildiv(high, p.tile_inner, tile.placement.ranges) - first;
  if (p.split == 1) return {first, all};
  const IntExpr each = ceildiv(all, p.split), before = tile.part * each;
  return {first + before, divides(p.split, all) ? each : max(0, min(each, all - before, tile.placement.ranges))};
}

// Whether every row of the tile sees all keys from the first one on: what is asked of each pair is
// known then.
ExprId ChainLowering::sees_all(const Tile& tile, const IntExpr& first_key) {
  const schedule::Product& p = product();
  const IntExpr end = first_key + p.tile_inner, &keys = domain().axes[static_cast<size_t>(p.inner[0])].extent;
  ExprId all = kNoExpr;
  const auto need = [&](const IntExpr& least) {
    const ExprId holds = builder_.apply(Op::Ge, {builder_.index(least), builder_.index(0)});
    all = all == kNoExpr ? holds : builder_.apply(Op::And, {all, holds});
  };
  if (p.inner.size() != 1) return kNoExpr;
  if (!keys.constant() || *keys.constant() % p.tile_inner != 0) need(keys - end);
  for (const schedule::Seen& seen : chain().seen)
    if (slope_of(seen)) need(least_at(seen, tile, is_from_above(seen) ? end - 1 : first_key, true));
  return all;
}

// The row of the pair that lane kLane of a fragment has.
PairAt ChainLowering::place_pair(const Fragment& f, const Tile& tile, Placement& placement) const {
  placement.ranges[kLane] = {0, f.pairs() - 1};
  const PairAt at = pair_at(f, IntExpr::symbol(kLane), placement.ranges);
  place(placement, product().rows, tile.rows.first + at.row);
  return at;
}

namespace {

std::optional<double> constant_at(const Graph& graph, NodeId id) {
  id = behind_views(graph, id);
  const Node& node = graph.at(id);
  return node.kind == NodeKind::Constant && is_float(node.dtype) ? std::optional(node.constant.as_double())
                                                                 : std::nullopt;
}

}  // namespace

ChainLowering::Scaled ChainLowering::scaled_products() const {
  const Scaled none{product_of_scores(), 1};
  NodeId id = chain().scores().node, user = -1;
  while (graph_.at(id).kind == NodeKind::Elementwise && graph_.at(id).op == Op::Where) {
    const Node& choice = graph_.at(id);
    if (constant_at(graph_, choice.args[2]) != -HUGE_VAL) return none;
    user = id, id = choice.args[1];
  }
  const Node& scaled = graph_.at(id);
  if (scaled.kind != NodeKind::Elementwise || scaled.op != Op::Mul) return none;
  const size_t side = scaled.args[0] == product_of_scores() ? 1 : 0;
  const auto scale = constant_at(graph_, scaled.args[side]);
  if (scaled.args[1 - side] != product_of_scores() || !scale || !(*scale > 0 && *scale < HUGE_VAL)) return none;
  // What a condition compares is the score itself.
  for (size_t n = 0; user >= 0 && n < graph_.nodes.size(); ++n) {
    const std::vector<NodeId>& args = graph_.nodes[n].args;
    if (static_cast<NodeId>(n) != user && std::find(args.begin(), args.end(), id) != args.end()) return none;
    if (static_cast<NodeId>(n) == user && args[0] == id) return none;
  }
  return {id, static_cast<float>(*scale)};
}

// Those of each pair that need no product, while the units multiply.
std::vector<Stmt> ChainLowering::values_of_keys(const Tile& tile, const IntExpr& first_key) {
  if (chain().of_keys.empty()) return {};
  const schedule::Product& p = product();
  const Fragment& f = kernel_.fragments[kScores];
  Placement placement = tile.placement;
  const IntExpr lane = IntExpr::symbol(kLane);
  const PairAt at = place_pair(f, tile, placement);
  std::vector<Stmt> body, stores;
  evaluator_.enter(&body, &placement.ranges);
  of_keys_.resize(chain().of_keys.size());
  for (int c = 0; c < 2; ++c) {
    place(placement, p.inner, first_key + at.column + c);
    evaluator_.only_where(guards_of(placement, p.inner));
    for (size_t n = 0; n < of_keys_.size(); ++n) {
      const schedule::ValueAt& value = chain().of_keys[n];
      int& buffer = of_keys_[n][static_cast<size_t>(c)];
      buffer = add_scratch(DType::F32, {f.pairs()});
      kernel_.buffers.back().scope = Scope::Lane;
      stores.push_back(builder_.store({true, buffer, {lane}}, evaluator_.value(value.node, placement.at(value.index))));
    }
    evaluator_.only_where(kNoExpr);
  }
  append(body, std::move(stores));
  return single(loop(LoopKind::Vector, kLane, f.pairs(), std::move(body), 1, f.pairs() / schedule_.team));
}

// What the last products take of each pair, from the products that are in registers, each in place
// of one of these: the program's score, but for a scale, or its values. `seen`: every row of the
// tile sees all keys.
std::vector<Stmt> ChainLowering::between(const Tile& tile, const IntExpr& first_key, bool seen) {
  const schedule::Product& p = product();
  const Fragment& f = kernel_.fragments[kScores];
  Placement placement = tile.placement;
  const IntExpr lane = IntExpr::symbol(kLane);
  const PairAt at = place_pair(f, tile, placement);
  std::vector<Stmt> body;
  evaluator_.enter(&body, &placement.ranges);
  std::vector<Stmt> stores;
  const bool weighs = chain().weighs();
  const double elsewhere = weighs ? -HUGE_VAL : 0;
  const NodeId scaled = weighs ? scaled_products().node : -1;
  bool same = true;
  for (int c = 0; c < 2; ++c) {
    place(placement, p.inner, first_key + at.column + c);
    // Rows that are not there need no such choice: nothing is stored of them.
    const ExprId is_there = seen ? kNoExpr : evaluator_.only_where(guards_of(placement, p.inner));
    evaluator_.only_where(guards_of(placement, p.inner, p.rows));
    for (size_t n = 0; n < chain().firsts.size(); ++n) {
      const ExprId sum = builder_.load({true, kernel_.fragments[n].registers, {lane, c}});
      ready_[chain().firsts[n].sum] = sum;
      if (chain().lasts.size() == 1) continue;
      // The first value that is stored takes the place of one that the others need.
      const LocalId held = builder_.new_local(DType::F32, false);
      body.push_back(let(held, sum));
      ready_[chain().firsts[n].sum] = builder_.local(held);
    }
    for (size_t n = 0; n < of_keys_.size(); ++n)
      ready_[chain().of_keys[n].node] = builder_.load({true, of_keys_[n][static_cast<size_t>(c)], {lane}});
    const ExprId product = ready_[product_of_scores()];
    if (weighs) ready_[scaled] = product;
    for (const schedule::Seen& condition : chain().seen)
      if (seen && slope_of(condition)) ready_[condition.condition] = builder_.constant(Scalar::of_bool(true));
    for (size_t n = 0; n < chain().lasts.size(); ++n) {
      const schedule::ValueAt& of = chain().lasts[n].value;
      ExprId value = evaluator_.value(of.node, placement.at(of.index));
      if (is_there != kNoExpr)
        value =
            builder_.apply(Op::Where, {is_there, value, builder_.constant(Scalar::of_float(DType::F32, elsewhere))});
      same = same && n == 0 && value == product;
      stores.push_back(builder_.store({true, kernel_.fragments[n].registers, {lane, c}}, value));
    }
    evaluator_.only_where(kNoExpr);
  }
  ready_.clear();
  if (same) return {};
  append(body, std::move(stores));
  return single(loop(LoopKind::Vector, kLane, f.pairs(), std::move(body), 1, f.pairs() / schedule_.team));
}

std::vector<Stmt> ChainLowering::over_keys(const Tile& tile, const Keys& keys, const std::vector<Panel>& rows) {
  const schedule::Product& p = product();
  const size_t firsts = chain().firsts.size();
  std::vector<Panel> panels;
  for (const schedule::FirstProduct& first : chain().firsts)
    panels.push_back(add_panel(first.keys, p.tile_inner, first.depth_padded, true, p.stages));
  std::vector<Panel> values;
  for (size_t n = 0; n < chain().lasts.size(); ++n) {
    const int shared = chain().lasts[n].of_columns;
    values.push_back(shared >= 0
                         ? panels[static_cast<size_t>(shared)]
                         : add_panel({p.sums[n].columns, domain().reductions[p.sums[n].reduction].argument_index},
                                     p.columns_along_inner ? p.tile_columns : chain().columns_padded, p.tile_inner,
                                     p.columns_along_inner, p.stages));
  }
  Tile at = tile;
  at.placement.ranges[kTileOfKeys] = {0, keys.count - 1};
  const IntExpr first_key = (keys.first + IntExpr::symbol(kTileOfKeys)) * p.tile_inner;
  std::vector<Stmt> steps;
  for (size_t n = 0; n < firsts; ++n)
    steps.push_back(stage_first(panels[n], at, chain().firsts[n], p.inner, first_key));
  for (size_t n = 0; n < values.size(); ++n)
    if (chain().lasts[n].of_columns < 0)
      steps.push_back(stage(values[n], at, [&](Placement& placement, const IntExpr& own, const IntExpr& inner) {
        place(placement, p.inner, first_key + inner);
        place(placement, p.columns, own);
        return guards_of(placement, p.inner, p.columns);
      }));
  for (size_t n = 0; n < firsts; ++n) {
    steps.push_back(Matrix{Matrix::Step::Clear, static_cast<int>(n)});
    steps.push_back(Matrix{Matrix::Step::Multiply, static_cast<int>(n), rows[n].buffer, panels[n].buffer});
  }
  append(steps, values_of_keys(at, first_key));
  if (const ExprId all = sees_all(at, first_key); all == kNoExpr) {
    append(steps, between(at, first_key, false));
  } else {
    for (const bool seen : {true, false})
      if (std::vector<Stmt> made = between(at, first_key, seen); !made.empty())
        steps.push_back(If{seen ? all : builder_.apply(Op::Not, {all}), std::move(made)});
  }
  if (chain().weighs())
    steps.push_back(
        Matrix{.step = Matrix::Step::Weigh, .fragment = sums(), .by = kScores, .scale = scaled_products().scale});
  for (size_t n = 0; n < values.size(); ++n)
    steps.push_back(Matrix{
        .step = Matrix::Step::Multiply, .fragment = sums(n), .columns = values[n].buffer, .by = static_cast<int>(n)});
  Loop pipeline = loop(LoopKind::Serial, kTileOfKeys, keys.count, std::move(steps));
  pipeline.stages = p.stages, pipeline.boxed = p.boxed;
  return single(std::move(pipeline));
}

// ---- what follows

// The sums of a row are exp(what was subtracted - what the program subtracts) times what multiplies
// its exponentials. The row's maximum and total stay known.
ExprId ChainLowering::factor_of_row(ExprId most, ExprId total, const Placement& placement) {
  const ExprId none = builder_.apply(Op::Eq, {most, builder_.constant(Scalar::of_float(DType::F32, -HUGE_VAL))});
  const ExprId base = builder_.apply(Op::Where, {none, builder_.constant(Scalar::of_float(DType::F32, 0)), most});
  ready_ = {{chain().maximum, most}};
  const ExprId below = evaluator_.value(chain().below.node, placement.at(chain().below.index));
  ExprId factor = builder_.apply(Op::Exp, {builder_.apply(Op::Sub, {base, below})});
  if (chain().total >= 0) ready_[chain().total] = builder_.apply(Op::Mul, {total, factor});
  for (const auto& [value, op] : {std::pair{chain().times, Op::Mul}, {chain().over, Op::Div}})
    if (value) factor = builder_.apply(op, {factor, evaluator_.value(value->node, placement.at(value->index))});
  return factor;
}

Stmt ChainLowering::row_factors(const Tile& tile, int rows, int factors) {
  const schedule::Product& p = product();
  Placement placement = tile.placement;
  placement.ranges[kLane] = {0, p.tile_rows - 1};
  const IntExpr lane = IntExpr::symbol(kLane);
  place(placement, p.rows, tile.rows.first + lane);
  std::vector<Stmt> body;
  evaluator_.enter(&body, &placement.ranges);
  const ExprId inside = evaluator_.only_where(guards_of(placement, p.rows));
  const auto of_row = [&](int n) { return builder_.load({true, rows, {n, lane}}); };
  const ExprId factor = factor_of_row(of_row(0), of_row(1), placement);
  std::vector<Stmt> stores;
  for (const schedule::ValueAt& result : chain().row_results) {
    const schedule::Index at = placement.at(result.index);
    stores.push_back(builder_.store({false, evaluator_.output_param(result.node), evaluator_.inside(result.node, at)},
                                    evaluator_.value_to_store(result.node, at), inside));
  }
  evaluator_.only_where(kNoExpr);
  ready_.clear();
  stores.push_back(builder_.store({true, factors, {lane}}, factor));
  append(body, std::move(stores));
  return loop(LoopKind::Vector, kLane, p.tile_rows, std::move(body));
}

Stmt ChainLowering::results(const Tile& tile, int factors) {
  const schedule::Product& p = product();
  const Fragment& f = fragment_of_sums(0);
  Placement placement = tile.placement;
  const IntExpr lane = IntExpr::symbol(kLane);
  const PairAt at = place_pair(f, tile, placement);
  std::vector<Stmt> body, stores;
  evaluator_.enter(&body, &placement.ranges);
  for (int c = 0; c < 2; ++c) {
    place(placement, p.columns, at.column + c);
    const ExprId mask = evaluator_.only_where(guards_of(placement, p.rows, p.columns));
    ready_.clear();
    for (size_t n = 0; n < p.sums.size(); ++n) {
      ExprId sum = builder_.load({true, fragment_of_sums(n).registers, {lane, c}});
      if (factors >= 0) sum = builder_.apply(Op::Mul, {sum, builder_.load({true, factors, {at.row}})});
      ready_[p.sums[n].node] = sum;
    }
    for (const StoredOutput& o : domain().outputs)
      stores.push_back(store_output(o, placement, evaluator_.value_to_store(o.base, placement.at(o.base_index)), mask));
    evaluator_.only_where(kNoExpr);
  }
  ready_.clear();
  append(body, std::move(stores));
  return loop(LoopKind::Vector, kLane, f.pairs(), std::move(body), 1, f.pairs() / schedule_.team);
}

void ChainLowering::phases() {
  const schedule::Product& p = product();
  Tile tile = tile_of_grid();
  evaluator_.set_known([this](NodeId id, const schedule::Index&) {
    const auto known = ready_.find(id);
    return known == ready_.end() ? kNoExpr : known->second;
  });
  std::vector<Panel> rows;
  for (const schedule::FirstProduct& first : chain().firsts) {
    add_fragment(p.tile_inner, first.depth_units, true);
    rows.push_back(add_panel(first.rows, p.tile_rows, first.depth_padded, true, 1));
  }
  for (size_t n = 0; n < chain().lasts.size(); ++n) {
    add_fragment(p.tile_columns, p.tile_inner, p.columns_along_inner);
    kernel_.fragments.back().holds_rows = true;
    kernel_.fragments.back().has_weights = chain().weighs();
  }
  std::vector<Stmt> body;
  for (size_t n = 0; n < rows.size(); ++n)
    body.push_back(stage_first(rows[n], tile, chain().firsts[n], p.rows, tile.rows.first));
  for (size_t n = 0; n < chain().lasts.size(); ++n) body.push_back(Matrix{Matrix::Step::Clear, sums(n)});
  append(body, over_keys(tile, keys_of(tile), rows));
  if (p.split > 1) {
    const Partial partial = add_partial_results();
    append(body, store_part(partial, tile));
    add_phase(tile.grid, std::move(body), IntExpr(p.tile_rows * p.tile_columns));
    return join_parts(partial);
  }
  int factors = -1;
  if (chain().weighs()) {
    const int of_rows = add_scratch(DType::F32, {2, p.tile_rows});
    factors = add_scratch(DType::F32, {p.tile_rows});
    body.push_back(
        Matrix{.step = Matrix::Step::PutRows, .fragment = sums(), .into = of_rows, .scale = scaled_products().scale});
    body.push_back(row_factors(tile, of_rows, factors));
  }
  body.push_back(results(tile, factors));
  add_phase(tile.grid, std::move(body), IntExpr(p.tile_rows * p.tile_columns));
}

}  // namespace smelt::kernel

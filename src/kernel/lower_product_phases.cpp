// What surrounds the tiles of a product on a GPU, as phases of their own.
//
// Factors that copies cannot bring on chip as they are, since they are computed or their rows begin
// anywhere, are packed first where they are used often: as rows of whole parts and tiles, with 0
// after their ends.
//
//   grid %g over pieces of the packed factor: vector %i over the piece:  packed = f
//
// Where tiles are few and the inner axes long, the grid goes over parts of these too: each stores
// its sums, and another phase, or where parts are many two,
//
//   grid %g over groups of parts and pieces of the results: vector %i over the piece: sums of the parts of a group
//   grid %g over pieces of the results: vector %i over the piece: out = h(sum of the parts)
#include <algorithm>
#include <limits>

#include "kernel/lower_product.hpp"

namespace smelt::kernel {

namespace {

constexpr int64_t kPackPiece = 2048, kPiece = 1024;

}  // namespace

bool ProductLowering::is_packed(NodeId factor) const {
  const std::vector<NodeId>& packed = product().packed;
  return std::find(packed.begin(), packed.end(), factor) != packed.end();
}

// Extents of a packed factor: the batch axes, then along which neighbours are last.
std::vector<Axis> ProductLowering::packed_axes(bool of_rows) const {
  const schedule::Product& p = product();
  std::vector<Axis> axes;
  for (const int a : p.batch) axes.push_back(domain().axes[static_cast<size_t>(a)]);
  const int64_t tile = of_rows ? p.tile_rows : p.tile_columns;
  const auto padded = [](Symbol var, const IntExpr& points, int64_t to) {
    return Axis{.var = var, .extent = ceildiv(points, to) * to};
  };
  const Axis own = padded(Symbol::loop("own"), schedule::count_of(domain(), of_rows ? p.rows : p.columns), tile);
  const Axis inner = padded(Symbol::loop("in"), schedule::count_of(domain(), p.inner), p.tile_inner * p.split);
  const bool along_inner = of_rows ? p.rows_along_inner : p.columns_along_inner;
  axes.push_back(along_inner ? own : inner);
  axes.push_back(along_inner ? inner : own);
  return axes;
}

int ProductLowering::add_packed(bool of_rows) {
  Shape dims;
  for (const Axis& axis : packed_axes(of_rows)) dims.push_back(axis.extent);
  return add_temporary(*product().units, std::move(dims), "packed factor");
}

schedule::Index ProductLowering::packed_at(bool of_rows, const Placement& placement, const IntExpr& own,
                                           const IntExpr& inner) const {
  schedule::Index index;
  for (const int a : product().batch) index.push_back(placement.value_of.at(domain().axes[static_cast<size_t>(a)].var));
  const bool along_inner = of_rows ? product().rows_along_inner : product().columns_along_inner;
  index.push_back(along_inner ? own : inner);
  index.push_back(along_inner ? inner : own);
  return index;
}

void ProductLowering::pack(const GpuPanels& panels) {
  for (const bool of_rows : {true, false})
    for (const Panel& panel : of_rows ? panels.rows : panels.columns)
      if (panel.part == 0 && panel.packed >= 0)
        pack(of_rows ? panels.rows : panels.columns, panel.factor, of_rows);
      else if (panel.part == 0 && panel.apart >= 0)
        take_apart(of_rows ? panels.rows : panels.columns, panel.factor);
}

void ProductLowering::add_apart(Panel& panel) {
  panel.source = product().apart.at(panel.factor);
  panel.apart = add_temporary(*product().units, graph_.at(panel.source).shape, "part of an array");
}

// All parts of the array that a factor shows.
void ProductLowering::take_apart(const std::vector<Panel>& panels, NodeId factor) {
  const NodeId source = panel_of(panels, factor).source;
  std::vector<Axis> axes;
  for (const IntExpr& extent : graph_.at(source).shape)
    axes.push_back({.var = Symbol::loop("x" + std::to_string(axes.size())), .extent = extent});
  auto [placement, grid, length] = in_pieces(axes, kPackPiece);
  schedule::Index at;
  for (const Axis& axis : axes) at.push_back(placement.value_of.at(axis.var));
  std::vector<Stmt> body;
  evaluator_.enter(&body, &placement.ranges);
  const ExprId value = evaluator_.value(source, at);
  store_parts(panels, factor, value, at, grid, length, std::move(body));
}

// A phase that stores all parts of a value, each in the array of its panel.
void ProductLowering::store_parts(const std::vector<Panel>& panels, NodeId factor, ExprId value,
                                  const schedule::Index& at, const IntExpr& grid, const IntExpr& length,
                                  std::vector<Stmt> body) {
  std::vector<const Panel*> all;
  for (const Panel& one : panels)
    if (one.factor == factor) all.push_back(&one);
  const std::vector<ExprId> parts = parts_of(value, all.size());
  for (const Panel* one : all)
    body.push_back(builder_.store({false, one->packed >= 0 ? one->packed : one->apart, at},
                                  parts[static_cast<size_t>(one->part)]));
  add_phase(grid, single(loop(LoopKind::Vector, kLane, length, std::move(body), 8, 1)), kPackPiece);
  set_team(static_cast<int>(kPackPiece / 8));
}

// The bf16 that add up to an f32, each what is left by those before it. What is left of an infinity
// is NaN, and what further parts make does not count then. The first part of a finite number is
// finite, and is 0 only for 0: it times an infinity is what the number makes of it.
std::vector<ExprId> ProductLowering::parts_of(ExprId value, size_t count) {
  if (count == 1) return {value};
  constexpr double kLargest = 0x1.FEp127, kLeast = 0x1p-133;
  const auto number = [&](double x) { return builder_.constant(Scalar::of_float(DType::F32, x)); };
  const auto where = [&](ExprId condition, ExprId x, ExprId y) { return builder_.apply(Op::Where, {condition, x, y}); };
  const ExprId size = builder_.apply(Op::Abs, {value});
  const auto compare = [&](Op op, double x) { return builder_.apply(op, {size, number(x)}); };
  const auto signed_like_value = [&](double x) { return builder_.apply(Op::Copysign, {number(x), value}); };
  const ExprId least = where(compare(Op::Eq, 0), value, signed_like_value(kLeast)),
               largest =
                   where(compare(Op::Eq, std::numeric_limits<double>::infinity()), value, signed_like_value(kLargest));
  const ExprId first = where(compare(Op::Gt, kLargest), largest, where(compare(Op::Lt, kLeast), least, value));
  std::vector<ExprId> parts{builder_.cast(first, DType::BF16)};
  ExprId left = value;
  while (parts.size() < count) {
    left = builder_.apply(Op::Sub, {left, parts.back()});
    parts.push_back(builder_.cast(left, DType::BF16));
  }
  return parts;
}

// All parts of a factor.
void ProductLowering::pack(const std::vector<Panel>& panels, NodeId factor, bool of_rows) {
  const Panel& panel = panel_of(panels, factor);
  const schedule::Product& p = product();
  const std::vector<Axis> axes = packed_axes(of_rows);
  auto [placement, grid, length] = in_pieces(axes, kPackPiece);
  schedule::Index to;
  for (const Axis& axis : axes) to.push_back(placement.value_of.at(axis.var));
  const IntExpr own = placement.value_of.at(Symbol::loop("own")), inner = placement.value_of.at(Symbol::loop("in"));
  place(placement, p.rows, of_rows ? own : IntExpr(0));
  place(placement, p.columns, of_rows ? IntExpr(0) : own);
  place(placement, p.inner, inner);
  std::vector<Stmt> body;
  evaluator_.enter(&body, &placement.ranges);
  const ExprId inside = evaluator_.only_where(guards_of(placement, of_rows ? p.rows : p.columns, p.inner));
  const ExprId value = or_zero(as_factor(factor_at(panel, placement)), inside, panel.buffer);
  evaluator_.only_where(kNoExpr);
  store_parts(panels, factor, value, to, grid, length, std::move(body));
}

// The sum of some parts, in their order.
ExprId ProductLowering::sum_of_parts(int array, const IntExpr& first, int64_t count, const Placement& placement) {
  const auto part = [&](int64_t p) {
    return builder_.load({false, array, partial_at(first + p, kept_axes(), placement)});
  };
  ExprId sum = part(0);
  for (int64_t p = 1; p < count; ++p) sum = builder_.apply(Op::Add, {sum, part(p)});
  return sum;
}

// A phase that makes `groups` of the parts, as arrays of their own; returns those.
std::vector<int> ProductLowering::add_up_groups(const std::vector<int>& partial, int64_t parts, int64_t groups) {
  const Axis group{.var = Symbol::loop("group"), .extent = groups};
  std::vector<Axis> axes{group};
  for (const Axis& axis : kept_axes()) axes.push_back(axis);
  auto [placement, grid, length] = in_pieces(axes, kPiece);
  const IntExpr at = placement.value_of.at(group.var);
  std::vector<Stmt> body;
  std::vector<int> made;
  evaluator_.enter(&body, &placement.ranges);
  for (const int array : partial) {
    const ExprId sum = sum_of_parts(array, at * (parts / groups), parts / groups, placement);
    made.push_back(
        add_partial(kernel_.params[static_cast<size_t>(array)].dtype, groups, kept_axes(), "sums of partial sums"));
    body.push_back(builder_.store({false, made.back(), partial_at(at, kept_axes(), placement)}, sum));
  }
  add_phase(grid, single(loop(LoopKind::Vector, kLane, length, std::move(body), 4, 1)), kPiece);
  set_team(static_cast<int>(kPiece / 4));
  return made;
}

// The phases after the first: parts are added up, many of them in groups first, so that a thread
// reads few and code is short.
void ProductLowering::add_up_parts(const GpuPanels& panels) {
  constexpr int64_t kMostAtOnce = 32;
  std::vector<int> partial = panels.partial;
  int64_t parts = product().split;
  if (parts > kMostAtOnce) {
    partial = add_up_groups(partial, parts, kMostAtOnce);
    parts = kMostAtOnce;
  }
  auto [placement, grid, length] = in_pieces(kept_axes(), kPiece);
  std::vector<Stmt> body;
  evaluator_.enter(&body, &placement.ranges);
  for (size_t s = 0; s < partial.size(); ++s)
    evaluator_.set_reduction(product().sums[s].node, builder_.cast(sum_of_parts(partial[s], 0, parts, placement),
                                                                   accumulator(product().sums[s])));
  append(body, elements(placement));
  add_phase(grid, single(loop(LoopKind::Vector, kLane, length, std::move(body), 4, 1)), kPiece);
  set_team(static_cast<int>(kPiece / 4));
}

}  // namespace smelt::kernel

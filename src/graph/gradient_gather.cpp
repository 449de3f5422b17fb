// Gathers and scatters: one is the derivative of the other.
#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "graph/gradient_detail.hpp"
#include "graph/term.hpp"

namespace smelt::gradients {

using functions::apply;
using functions::integer;
using functions::Term;

namespace {

NodeId zeros(GraphBuilder& b, DType dtype, const Shape& shape) {
  return b.broadcast_to(b.constant(convert(Scalar::of_int(DType::I64, 0), dtype)), shape);
}

// Each index picked in its own row, and its cotangent goes back there.
NodeId of_gather_along(GraphBuilder& b, NodeId id, NodeId g) {
  const Node node = b.at(id);
  const NodeId x = node.args[0];
  const int axis = node.axes[0];
  const auto along = static_cast<size_t>(axis);
  const Shape shape = b.shape(x);
  const Term index(b, b.iota(shape, axis));
  // What the mode makes of the indices, with its errors.
  const Term place(b, b.gather_along(index.id(), node.args[1], axis, node.gather));
  if (node.shape[along].is(1)) return where(equal(index, place), Term(b, g), 0.0).id();
  // As one axis: row * n + place.
  const IntExpr& n = shape[along];
  const IntExpr picks = node.shape[along];
  const auto last = [&](NodeId v) { return functions::moveaxis(b, v, {axis}, {-1}); };
  Shape rows = shape;
  rows.erase(rows.begin() + axis);
  const IntExpr count_of_rows = count(rows);
  const Term row = Term(b, b.iota({count_of_rows, picks}, 0)) * Term(b, b.size_value(n));
  const Term flat = row + Term(b, b.reshape(last(place.id()), {count_of_rows, picks}));
  const NodeId updates = b.reshape(last(g), {count_of_rows, picks});
  const NodeId made = functions::scatter(b, ScatterKind::Add, zeros(b, b.dtype(x), {count_of_rows * n}), flat.id(),
                                         updates, 0, GatherMode::Drop, false);
  rows.push_back(n);
  return functions::moveaxis(b, b.reshape(made, rows), {-1}, {axis});
}

// Updates of rows of x, the first axis.
class ScatterRule {
 public:
  ScatterRule(GraphBuilder& b, NodeId id, NodeId g)
      : b_(b),
        node_(b.at(id)),
        x_(b, node_.args[0]),
        indices_(node_.args[1]),
        u_(b, node_.args[2]),
        y_(b, id),
        g_(b, g) {}

  // By x, and by the updates.
  std::pair<NodeId, NodeId> shares() {
    switch (node_.scatter) {
      case ScatterKind::Add: return {g_.id(), picked(g_)};
      case ScatterKind::Set: return of_set();
      case ScatterKind::Mul: return of_product();
      case ScatterKind::Max:
      case ScatterKind::Min: return of_extreme();
    }
    throw InternalError("a scatter of no kind");
  }

 private:
  NodeId scatter(ScatterKind kind, NodeId x, NodeId updates) {
    return functions::scatter(b_, kind, x, indices_, updates, 0, node_.gather, false);
  }

  // For each update its row of v; of one that goes nowhere 0, from a row after the last.
  NodeId picked(const Term& v) {
    if (node_.gather != GatherMode::Drop) return b_.gather(v.id(), indices_, 0, node_.gather);
    const Term index(b_, b_.cast(indices_, DType::I64)), n(b_, b_.size_value(b_.shape(v.id())[0]));
    const Term inside = (index >= integer(0)) & (index < n);
    const NodeId longer = pad_axis(b_, v.id(), 0, 0, 1);
    return b_.gather(longer, where(inside, index, n).id(), 0, GatherMode::Clamp);
  }

  // The last update of a row has its cotangent: the one whose number, from 1, stays when they are
  // written there.
  std::pair<NodeId, NodeId> of_set() {
    const Shape& shape = b_.shape(indices_);
    const IntExpr updates = count(shape);
    const Term number = Term(b_, b_.reshape(b_.iota({updates}, 0), shape)) + integer(1);
    const NodeId none = zeros(b_, DType::I64, {b_.shape(x_.id())[0]});
    const Term last = equal(Term(b_, picked(Term(b_, scatter(ScatterKind::Max, none, number.id())))), number);
    Shape wide = b_.shape(last.id());
    wide.resize(b_.shape(u_.id()).size(), IntExpr(1));
    const Term counts(b_, b_.reshape(last.id(), wide));
    return {scatter(ScatterKind::Set, g_.id(), zeros(b_, node_.dtype, b_.shape(u_.id()))),
            where(counts, Term(b_, picked(g_)), 0.0).id()};
  }

  // By an update: x times the others. Where one of them is 0, only by that one, and where two are,
  // by none.
  std::pair<NodeId, NodeId> of_product() {
    const Term zero = equal(u_, 0.0);
    const Term rest(b_, scatter(ScatterKind::Mul, x_.id(), where(zero, 1.0, u_).id()));
    const NodeId zeros_there =
        scatter(ScatterKind::Add, zeros(b_, DType::I64, b_.shape(x_.id())), b_.cast(zero.id(), DType::I64));
    const Term others = Term(b_, picked(Term(b_, zeros_there))) - Term(b_, b_.cast(zero.id(), DType::I64));
    const Term given = Term(b_, picked(g_ * rest)) / where(zero, 1.0, u_);
    return {scatter(ScatterKind::Mul, g_.id(), u_.id()), where(equal(others, integer(0)), given, 0.0).id()};
  }

  // Equal extremes share it in equal parts, x among them.
  std::pair<NodeId, NodeId> of_extreme() {
    const DType wide = compute_type(node_.dtype);
    const Term kept = equal(x_, y_), won = equal(u_, Term(b_, picked(y_)));
    const Term count(b_, scatter(ScatterKind::Add, b_.cast(kept.id(), wide), b_.cast(won.id(), wide)));
    const Term share = Term(b_, b_.cast(g_.id(), wide)) / count;
    return {where(kept, share, 0.0).id(), where(won, Term(b_, picked(share)), 0.0).id()};
  }

  GraphBuilder& b_;
  const Node node_;
  const Term x_;
  const NodeId indices_;
  const Term u_, y_, g_;
};

}  // namespace

void gather(Sweep& s, NodeId id, NodeId g) {
  const Node node = s.b.at(id);
  const NodeId x = node.args[0];
  if (node.along) return s.add(x, of_gather_along(s.b, id, g));
  s.add(x, functions::scatter(s.b, ScatterKind::Add, zeros(s.b, node.dtype, s.b.shape(x)), node.args[1], g,
                              node.axes[0], node.gather, false));
}

void scatter(Sweep& s, NodeId id, NodeId g) {
  const auto [by_x, by_updates] = ScatterRule(s.b, id, g).shares();
  s.add(s.arg(id, 0), by_x);
  s.add(s.arg(id, 2), by_updates);
}

}  // namespace smelt::gradients

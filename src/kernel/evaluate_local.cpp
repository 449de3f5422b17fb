// Local reductions: the few elements of a window, one after the other. The innermost axes are
// written out, the others are serial loops with an accumulator:
//
//   sum = 0
//   serial c over the channels
//     sum = sum + x[c, h, i] * w[c, 0, 0] + x[c, h, i+1] * w[c, 0, 1] + ...
//
// The order is that of the elements, whatever the target and the schedule are.
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lowering.hpp"
#include "kernel/value.hpp"
#include "schedule/local.hpp"

namespace smelt::kernel {

static bool finds_position(ReduceKind kind) { return kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin; }

// Elements come in order, so that of equals the first stays; a NaN wins over a number.
Evaluator::Extreme Evaluator::next_element(const Node& node, const Extreme& so_far, ExprId value,
                                           const IntExpr& position) {
  if (!finds_position(node.reduce)) return {builder_.apply(op_of(node.reduce), {so_far.value, value}), kNoExpr};
  const Val x{&builder_, value}, best{&builder_, so_far.value}, at{&builder_, builder_.index(position)},
      best_at{&builder_, so_far.position};
  Val better = node.reduce == ReduceKind::ArgMax ? x > best : x < best;
  if (is_float(x.dtype())) better = better | ((x != x) & (best == best));
  return {select(better, x, best).id, select(better, at, best_at).id};
}

// Over the axes of the reduction from `from` on, written out.
Evaluator::Extreme Evaluator::unrolled(const Node& node, const Index& at, size_t from, const IntExpr& position,
                                       Extreme so_far) {
  if (from == node.axes.size()) {
    // A product is added with one rounding.
    const Node& element = graph_.at(node.args[0]);
    if (node.reduce == ReduceKind::Sum && is_float(node.dtype) && members_.count(node.args[0]) &&
        element.kind == NodeKind::Elementwise && element.op == Op::Mul) {
      const ExprId x = value(element.args[0], at), y = value(element.args[1], at);
      return {builder_.apply(Op::Fma, {x, y, so_far.value}), kNoExpr};
    }
    return next_element(node, so_far, value(node.args[0], at), position);
  }
  const auto d = static_cast<size_t>(node.axes[from]);
  const int64_t extent = graph_.at(node.args[0]).shape[d].constant().value();
  for (int64_t i = 0; i < extent; ++i) {
    Index here = at;
    here[d] = i;
    so_far = unrolled(node, here, from + 1, position * extent + i, so_far);
  }
  return so_far;
}

ExprId Evaluator::local_reduction(NodeId id, const Index& index) {
  const Node& node = graph_.at(id);
  const Shape& shape = graph_.at(node.args[0]).shape;
  const auto extent = [&](size_t a) { return shape[static_cast<size_t>(node.axes[a])].constant().value(); };
  const size_t serial = schedule::first_written_out(graph_, node, repeated_);
  int64_t elements = 1;
  for (size_t a = serial; a < node.axes.size(); ++a) elements *= extent(a);

  const DType t = accumulator_type(graph_.at(node.args[0]).dtype);
  Extreme so_far{builder_.constant(neutral(node.reduce, t)), builder_.index(0)};
  Index at = schedule::window_index(graph_, id, index, ranges_);
  const int64_t outside = repeated_;
  repeated_ *= elements;
  if (serial == 0) {
    so_far = unrolled(node, at, 0, 0, so_far);
    repeated_ = outside;
    return finds_position(node.reduce) ? so_far.position : so_far.value;
  }

  const LocalId sum = builder_.new_local(t, true);
  const LocalId found = finds_position(node.reduce) ? builder_.new_local(DType::I64, true) : -1;
  block_->push_back(assign(sum, so_far.value));
  if (found >= 0) block_->push_back(assign(found, so_far.position));
  so_far = {builder_.local(sum), found >= 0 ? builder_.local(found) : kNoExpr};
  std::vector<Stmt> body, *const outer = block_;
  const auto known = known_;  // what is named inside of the loop is not known after it
  block_ = &body;
  IntExpr position = 0;
  for (size_t a = 0; a < serial; ++a)
    if (extent(a) > 1) position = position * extent(a) + IntExpr::symbol(Symbol::window(id, node.axes[a]));
  so_far = unrolled(node, at, serial, position, so_far);
  if (found >= 0) {
    // The position first: it looks at the value so far.
    const LocalId value = builder_.new_local(t, false), place = builder_.new_local(DType::I64, false);
    body.push_back(let(value, so_far.value));
    body.push_back(let(place, so_far.position));
    so_far = {builder_.local(value), builder_.local(place)};
    body.push_back(assign(found, so_far.position));
  }
  body.push_back(assign(sum, so_far.value));
  for (size_t a = serial; a-- > 0;) {
    if (extent(a) == 1) continue;
    std::vector<Stmt> wrapped;
    wrapped.push_back(loop(LoopKind::Serial, Symbol::window(id, node.axes[a]), extent(a), std::move(body)));
    body = std::move(wrapped);
  }
  block_ = outer;
  known_ = known;
  repeated_ = outside;
  for (Stmt& s : body) block_->push_back(std::move(s));
  return builder_.local(found >= 0 ? found : sum);
}

}  // namespace smelt::kernel

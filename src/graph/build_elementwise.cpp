// Elementwise operations, and broadcasting.
#include "base/check.hpp"
#include "graph/build_detail.hpp"

namespace smelt {

namespace {

// Axis counted from the end (0 is the last) at which two shapes do not go together.
std::optional<size_t> conflict(const Shape& a, const Shape& b) {
  for (size_t k = 0; k < a.size() && k < b.size(); ++k) {
    const IntExpr &p = a[a.size() - 1 - k], &q = b[b.size() - 1 - k];
    if (!(p == q) && !p.is(1) && !q.is(1)) return k;
  }
  return std::nullopt;
}

std::string conflict_help(const IntExpr& p, const IntExpr& q, size_t axis_from_end) {
  if (p.constant() && q.constant())
    return fmt::format("sizes {} and {} of axis -{} must be equal, or one of them 1", p.str(), q.str(),
                       axis_from_end + 1);
  return fmt::format(
      "a symbolic size broadcasts only with itself and with 1: write {} and {} of axis -{} with one name, if they "
      "are equal",
      p.str(), q.str(), axis_from_end + 1);
}

void widen(Shape& to, const Shape& by) {
  if (by.size() > to.size()) to.insert(to.begin(), by.size() - to.size(), IntExpr(1));
  for (size_t k = 0; k < by.size(); ++k) {
    IntExpr& size = to[to.size() - 1 - k];
    if (size.is(1)) size = by[by.size() - 1 - k];
  }
}

// NumPy's rule. `text(i)` describes the shape at i in a message.
template <class Text>
Shape broadcast_all(std::span<const Shape> shapes, const Text& text) {
  Shape result;
  for (size_t j = 0; j < shapes.size(); ++j) {
    for (size_t i = 0; i < j; ++i)
      if (auto k = conflict(shapes[i], shapes[j]))
        fail(fmt::format("cannot broadcast {} with {}", text(i), text(j)),
             conflict_help(shapes[i][shapes[i].size() - 1 - *k], shapes[j][shapes[j].size() - 1 - *k], *k));
    widen(result, shapes[j]);
  }
  return result;
}

}  // namespace

Shape GraphBuilder::broadcast_shapes(std::span<const Shape> shapes) const {
  return broadcast_all(shapes, [&](size_t i) { return str(shapes[i]); });
}

NodeId GraphBuilder::broadcast_to(NodeId x, Shape to) {
  if (shape(x) == to) return x;
  check_shape(to);
  bool fits = shape(x).size() <= to.size();
  for (size_t k = 0; fits && k < shape(x).size(); ++k) {
    const IntExpr &from = shape(x)[shape(x).size() - 1 - k], &size = to[to.size() - 1 - k];
    fits = from == size || from.is(1);
  }
  if (!fits)
    fail(fmt::format("cannot broadcast {} to {}", describe(at(x)), str(to)),
         "aligned at the last axis, each size must be equal, or 1 in the array; a symbolic size broadcasts only with "
         "itself and with 1");
  if (shape(x).size() < to.size()) {
    Shape padded(to.size() - shape(x).size(), IntExpr(1));
    padded.insert(padded.end(), shape(x).begin(), shape(x).end());
    x = reshape(x, std::move(padded));
    if (shape(x) == to) return x;
  }
  Node node{.kind = NodeKind::Broadcast};
  node.dtype = dtype(x);
  node.shape = std::move(to);
  node.args = {x};
  return add(std::move(node));
}

NodeId GraphBuilder::elementwise(Op op, std::span<const Operand> args) {
  const OpInfo& row = info(op);
  const std::string what = label_.empty() ? std::string(row.name) : label_;
  SMELT_CHECK(static_cast<int>(args.size()) == row.arity, "{} takes {} arguments, not {}", row.name, row.arity,
              args.size());
  const size_t first = row.rule == TypeRule::Select ? 1 : 0;
  const DType dtype = common_dtype(*this, op, args.subspan(first), what);
  if (first && args[0].is_literal() && !std::holds_alternative<bool>(args[0].literal))
    fail(fmt::format("the condition of {} is {}, not a bool", what, describe(args[0].literal)), "write true or false");
  if (first && !args[0].is_literal() && !is_bool(this->dtype(args[0].node)))
    fail(fmt::format("the condition of {} is {}, not a bool", what, describe(at(args[0].node))),
         fmt::format("write {}", cast_text(*this, args[0], DType::Bool)));

  std::vector<Shape> shapes;
  std::vector<std::string> texts;
  for (const Operand& arg : args)
    if (!arg.is_literal()) {
      shapes.push_back(shape(arg.node));
      texts.push_back(describe(at(arg.node)));
    }
  Node node{.kind = NodeKind::Elementwise};
  node.op = op;
  node.dtype = result_type(op, dtype);
  node.shape = broadcast_all(shapes, [&](size_t i) { return texts[i]; });
  for (size_t i = 0; i < args.size(); ++i)
    node.args.push_back(broadcast_to(materialize(args[i], first && i == 0 ? DType::Bool : dtype), node.shape));
  return add(std::move(node));
}

NodeId GraphBuilder::multiply(NodeId x, NodeId y, Precision precision) {
  const NodeId product = elementwise(Op::Mul, {x, y});
  if (dtype(product) == DType::F32) graph_.nodes.back().precision = precision;
  return product;
}

}  // namespace smelt

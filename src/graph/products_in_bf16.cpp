// Products of f32 that may be less exact than f32, as one product of bf16 over three times as many
// terms:
//
//   x = hi + lo + ..., hi = bf16(x), lo = bf16(x - hi)
//   sum(x * y)  ->  sum over [x_hi, x_hi, x_lo] * [y_hi, y_lo, y_hi] along one inner axis
//
// What is left out, lo * lo and what lo is rounded by, is below 3 * 2^-16 of a product. Matrix
// units multiply bf16 more than ten times as fast as threads multiply f32. A factor that bf16 holds
// has no lo, and then there are two products.
#include <algorithm>

#include "graph/graph_copy.hpp"

namespace smelt {
namespace {

// Fewest rows, columns and terms: with fewer, reading and writing the parts costs more than
// multiplying in f32.
constexpr int64_t kFewestOfSide = 128, kFewestOfInner = 32;

class ProductsInBf16 : GraphCopy {
 public:
  ProductsInBf16(const Graph& from, const SizeBinding& sizes) : GraphCopy(from), sizes_(sizes) {}

  Graph run() {
    return copy([&](const Node& node) {
      const int axis = axis_of_parts(node);
      return axis < 0 ? add_as_it_is(node) : in_parts(node, static_cast<size_t>(axis));
    });
  }

 private:
  // Sizes that nobody knows are large.
  int64_t estimate(const Shape& shape, const std::vector<size_t>& axes) const {
    constexpr int64_t kLarge = 1024;
    int64_t count = 1;
    for (const size_t axis : axes) {
      const std::vector<Symbol> symbols = shape[axis].symbols();
      const bool known = std::all_of(symbols.begin(), symbols.end(), [&](Symbol s) { return sizes_.count(s) > 0; });
      count *= known ? shape[axis].evaluate(sizes_) : kLarge;
      if (count > kLarge) return kLarge;
    }
    return count;
  }

  // The inner axis along which the parts of both factors lie; -1: not such a product, or too small.
  int axis_of_parts(const Node& sum) const {
    if (sum.kind != NodeKind::Reduce || sum.reduce != ReduceKind::Sum || sum.local || sum.dtype != DType::F32)
      return -1;
    const Node& product = from_.at(sum.args[0]);
    if (product.precision == Precision::Full) return -1;
    const size_t rank = product.shape.size();
    const Shape* factors[2];
    bool exact = true;
    for (size_t f = 0; f < 2; ++f) {
      const Node& repeated = from_.at(product.args[f]);
      if (repeated.kind != NodeKind::Broadcast || from_.at(repeated.args[0]).shape.size() != rank) return -1;
      factors[f] = &from_.at(repeated.args[0]).shape;
      exact = exact && is_exact(repeated.args[0]);
    }
    if (exact) return -1;
    std::vector<size_t> own[2], inner;
    int axis = -1;
    for (size_t d = 0; d < rank; ++d) {
      const bool has[] = {!(*factors[0])[d].is(1), !(*factors[1])[d].is(1)};
      const bool summed = std::count(sum.axes.begin(), sum.axes.end(), static_cast<int>(d)) > 0;
      if (summed) inner.push_back(d);
      if (summed && has[0] && has[1]) axis = static_cast<int>(d);
      if (!summed && has[0] != has[1]) own[has[0] ? 0 : 1].push_back(d);
    }
    const bool large = estimate(product.shape, own[0]) >= kFewestOfSide &&
                       estimate(product.shape, own[1]) >= kFewestOfSide &&
                       estimate(product.shape, inner) >= kFewestOfInner;
    return large ? axis : -1;
  }

  // Whether bf16 holds its values.
  bool is_exact(NodeId id) const {
    id = behind_views(from_, id);
    if (from_.at(id).kind != NodeKind::Cast) return false;
    const DType narrow = from_.at(from_.at(id).args[0]).dtype;
    return narrow == DType::BF16 || is_f8(narrow);
  }

  NodeId in_parts(const Node& sum, size_t axis) {
    const Node& product = from_.at(sum.args[0]);
    const NodeId factors[] = {from_.at(product.args[0]).args[0], from_.at(product.args[1]).args[0]};
    const bool exact[] = {is_exact(factors[0]), is_exact(factors[1])};
    NodeId repeated[2];
    for (size_t f = 0; f < 2; ++f) {
      const NodeId x = written(factors[f]);
      const NodeId high = cast(x, DType::BF16, sum);
      std::vector<NodeId> parts;
      if (exact[f]) {
        parts = {high, high};
      } else {
        const NodeId low = cast(subtract(x, cast(high, DType::F32, sum), sum), DType::BF16, sum);
        parts = f == 0 ? std::vector{high, high, low} : std::vector{high, low, high};
        if (exact[1 - f]) parts = {high, low};
      }
      repeated[f] = broadcast(cast(joined(parts, axis, sum), DType::F32, sum), product.shape, axis, sum);
    }
    Node multiplied = product;
    multiplied.precision = Precision::Full;
    multiplied.shape = at(repeated[0]).shape;
    multiplied.args = {repeated[0], repeated[1]};
    Node added = sum;
    added.args = {add(std::move(multiplied))};
    return add(std::move(added));
  }

  NodeId cast(NodeId x, DType to, const Node& like) {
    Node node{.kind = NodeKind::Cast};
    node.dtype = to;
    return add_like(std::move(node), at(x).shape, {x}, like);
  }
  NodeId subtract(NodeId x, NodeId y, const Node& like) {
    Node node{.kind = NodeKind::Elementwise, .op = Op::Sub};
    node.dtype = at(x).dtype;
    return add_like(std::move(node), at(x).shape, {x, y}, like);
  }
  NodeId joined(const std::vector<NodeId>& parts, size_t axis, const Node& like) {
    Shape shape = at(parts[0]).shape;
    shape[axis] = shape[axis] * static_cast<int64_t>(parts.size());
    Node node{.kind = NodeKind::Concat};
    node.dtype = DType::BF16;
    node.axes = {static_cast<int>(axis)};
    return add_like(std::move(node), std::move(shape), parts, like);
  }
  NodeId broadcast(NodeId x, Shape shape, size_t axis, const Node& like) {
    shape[axis] = at(x).shape[axis];
    Node node{.kind = NodeKind::Broadcast};
    node.dtype = DType::F32;
    return add_like(std::move(node), std::move(shape), {x}, like);
  }

  const SizeBinding& sizes_;
};

}  // namespace

Graph with_products_in_bf16(Graph graph, const SizeBinding& sizes) {
  const auto less = [](const Node& node) { return node.precision != Precision::Full; };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), less)) return graph;
  return simplify(ProductsInBf16(graph, sizes).run());
}

}  // namespace smelt

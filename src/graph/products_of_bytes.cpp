// Products of matrices of 8-bit integers that are added up as wider ones, for matrix units of
// halves:
//
//   sum(i32(x) * i32(y))  ->  i32(sum(f32(x) * f32(y)))
//
// Halves hold all integers of 8 bits, their products and sums of these below 2^24 are exact in f32,
// in any order.
#include <algorithm>

#include "graph/graph_copy.hpp"

namespace smelt {
namespace {

class ProductsOfBytes : GraphCopy {
 public:
  explicit ProductsOfBytes(const Graph& from) : GraphCopy(from) {}

  bool finds_some() const {
    return std::any_of(from_.nodes.begin(), from_.nodes.end(), [&](const Node& n) { return is_exact_in_f32(n); });
  }

  Graph run() {
    return copy([&](const Node& node) { return is_exact_in_f32(node) ? in_f32(node) : add_as_it_is(node); });
  }

 private:
  // The largest magnitude of a factor that is read as a byte; 0: it is not.
  int64_t largest(NodeId factor) const {
    while (is_view(from_.at(factor).kind) || is_wider(from_.at(factor))) factor = from_.at(factor).args[0];
    const DType byte = from_.at(factor).dtype;
    return byte == DType::I8 ? 128 : byte == DType::U8 ? 255 : 0;
  }

  // A cast to an integer that has all values of the one before.
  bool is_wider(const Node& cast) const {
    return cast.kind == NodeKind::Cast && (cast.dtype == DType::I32 || cast.dtype == DType::I64) &&
           size_of(from_.at(cast.args[0]).dtype) < size_of(cast.dtype) && is_int(from_.at(cast.args[0]).dtype);
  }

  bool is_exact_in_f32(const Node& sum) const {
    constexpr int64_t kExact = 1 << 24;
    if (sum.kind != NodeKind::Reduce || sum.reduce != ReduceKind::Sum || sum.local || !is_dense_product(from_, sum) ||
        (sum.dtype != DType::I32 && sum.dtype != DType::I64))
      return false;
    const Node& product = from_.at(sum.args[0]);
    int64_t most = largest(product.args[0]) * largest(product.args[1]);
    for (const int axis : sum.axes) {
      const auto terms = product.shape[static_cast<size_t>(axis)].constant();
      if (!terms || most == 0 || *terms > kExact / most) return false;
      most *= std::max<int64_t>(1, *terms);
    }
    return most > 0;
  }

  NodeId in_f32(const Node& sum) {
    Node product = from_.at(sum.args[0]), added = sum;
    for (NodeId& factor : product.args) factor = as_f32(factor);
    product.dtype = added.dtype = DType::F32;
    added.args = {add(std::move(product))};
    Node back{.kind = NodeKind::Cast};
    back.dtype = sum.dtype;
    return add_like(std::move(back), sum.shape, {add(std::move(added))}, sum);
  }

  // The byte as f32, and then the views of it.
  NodeId as_f32(NodeId id) {
    Node node = from_.at(id);
    if (is_wider(node) && size_of(from_.at(node.args[0]).dtype) > 1) return as_f32(node.args[0]);
    node.dtype = DType::F32;
    node.args = {node.kind == NodeKind::Cast ? written(node.args[0]) : as_f32(node.args[0])};
    return add(std::move(node));
  }
};

}  // namespace

Graph with_products_of_bytes(const Graph& graph) {
  ProductsOfBytes products(graph);
  return products.finds_some() ? simplify(products.run()) : graph;
}

}  // namespace smelt

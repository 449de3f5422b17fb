// Products of 8-bit integers as products of f32: which are, and that they are the same values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "graph/build.hpp"
#include "graph/functions.hpp"
#include "support/arrays.hpp"

namespace smelt {
namespace {

Graph product(DType x, DType y, int64_t inner, DType sum = DType::I32) {
  GraphBuilder b;
  const NodeId left = b.input("x", x, {70, inner}), right = b.input("y", y, {80, inner});
  const NodeId made = functions::matmul(b, b.cast(left, sum), b.permute(b.cast(right, sum), {1, 0}));
  return simplify(b.finish({made}));
}

bool multiplies_floats(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& n) { return n.kind == NodeKind::Elementwise && n.dtype == DType::F32; });
}

TEST(ProductsOfBytes, AreProductsOfF32) {
  for (const auto& [x, y] : {std::pair(DType::I8, DType::I8), std::pair(DType::U8, DType::I8)})
    for (const DType sum : {DType::I32, DType::I64}) {
      const Graph graph = product(x, y, 260, sum), other = simplify(with_products_of_bytes(graph));
      verify(other);
      EXPECT_FALSE(multiplies_floats(graph));
      EXPECT_TRUE(multiplies_floats(other));
      std::mt19937_64 random(1);
      const Tensor a = noise(x, {70, 260}, random, 255), c = noise(y, {80, 260}, random, 255);
      const Tensor before = interpret(graph, {a, c})[0], after = interpret(other, {a, c})[0];
      ASSERT_EQ(before.dtype, after.dtype);
      EXPECT_EQ(std::memcmp(before.data, after.data, static_cast<size_t>(70 * 80 * size_of(before.dtype))), 0);
    }
}

TEST(ProductsOfBytes, NotWhereSumsMayLeaveF32) {
  EXPECT_TRUE(multiplies_floats(with_products_of_bytes(product(DType::I8, DType::I8, 1024))));
  EXPECT_FALSE(multiplies_floats(with_products_of_bytes(product(DType::I8, DType::I8, 1025))));
  EXPECT_FALSE(multiplies_floats(with_products_of_bytes(product(DType::U8, DType::U8, 300))));
  EXPECT_FALSE(multiplies_floats(with_products_of_bytes(product(DType::I16, DType::I8, 100))));
}

}  // namespace
}  // namespace smelt

// Products of f32 that may be less exact than f32: which are written as products of parts in bf16,
// and how far those are off.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "arrays.hpp"
#include "graph/functions.hpp"
#include "graph/gradient.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using namespace testing;
namespace f = functions;
using Build = std::function<NodeId(GraphBuilder&, NodeId, NodeId)>;

// As large as products have to be.
const SizeBinding kLarge;

Graph graph_of(const Shape& x, const Shape& y, const Build& build, DType of_y = DType::F32) {
  GraphBuilder b;
  const NodeId left = b.input("x", DType::F32, x), right = b.input("y", of_y, y);
  return simplify(b.finish({build(b, left, right)}));
}

// How many products of bf16 stand for one; 0: it is as it was.
int64_t parts(const Graph& graph, const SizeBinding& sizes = kLarge) {
  const Graph made = with_products_in_bf16(graph, sizes);
  verify(made);
  int64_t most = 0;
  for (const Node& node : made.nodes)
    if (node.kind == NodeKind::Concat) most = std::max(most, static_cast<int64_t>(node.args.size()));
  return most;
}

Build product(Precision precision) {
  return [precision](GraphBuilder& b, NodeId x, NodeId y) { return f::matmul(b, x, y, "matmul", precision); };
}
Build named(const char* subscripts) {
  return [subscripts](GraphBuilder& b, NodeId x, NodeId y) {
    return f::einsum(b, subscripts, {x, y}, Precision::Bf16x3);
  };
}

Tensor wide_noise(const Dims& dims, uint64_t seed) {
  std::mt19937_64 random(seed);
  Tensor t = Tensor::empty(DType::F32, dims);
  for (int64_t i = 0; i < t.count(); ++i) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    static_cast<float*>(t.data)[i] = static_cast<float>(std::ldexp(2 * u - 1, static_cast<int>(random() % 24) - 12));
  }
  return t;
}

// Sums of products are off by 2^-14 of the sum of their magnitudes at most, and not exact.
void expect_close(const Graph& graph, const std::vector<TensorView>& inputs) {
  const Graph made = with_products_in_bf16(graph, kLarge);
  Tensor magnitudes[2];
  std::vector<TensorView> positive;
  for (size_t i = 0; i < 2; ++i) {
    magnitudes[i] = Tensor::empty(DType::F32, inputs[i].dims);
    for (int64_t k = 0; k < magnitudes[i].count(); ++k)
      static_cast<float*>(magnitudes[i].data)[k] = std::fabs(static_cast<const float*>(inputs[i].data)[k]);
    positive.push_back(magnitudes[i]);
  }
  const std::vector<double> exact = values(interpret(graph, inputs)[0]), got = values(interpret(made, inputs)[0]),
                            sums = values(interpret(graph, positive)[0]);
  ASSERT_EQ(got.size(), exact.size());
  double worst = 0;
  for (size_t k = 0; k < got.size(); ++k) {
    ASSERT_LE(std::fabs(got[k] - exact[k]), 0x1p-14 * sums[k]) << k;
    worst = std::max(worst, std::fabs(got[k] - exact[k]) / sums[k]);
  }
  EXPECT_GT(worst, 0x1p-30);
}

TEST(ProductsInBf16, AreAsExactAsPromised) {
  const Tensor x = wide_noise({130, 40}, 1), y = wide_noise({40, 129}, 2);
  expect_close(graph_of({130, 40}, {40, 129}, product(Precision::Bf16x3)), {x, y});
  expect_close(graph_of({130, 40}, {40, 129}, product(Precision::Tf32)), {x, y});
  const Tensor a = wide_noise({2, 5, 9, 130}, 3), b = wide_noise({129, 9, 2, 5}, 4);
  expect_close(graph_of({2, 5, 9, 130}, {129, 9, 2, 5}, named("abkm,nkab->amn")), {a, b});
}

TEST(ProductsInBf16, AreOnlyThoseThatMayBeAndPay) {
  const Shape x{130, 40}, y{40, 129};
  EXPECT_EQ(parts(graph_of(x, y, product(Precision::Full))), 0);
  EXPECT_EQ(parts(graph_of(x, y, product(Precision::Tf32))), 3);
  EXPECT_EQ(parts(graph_of({20, 40}, y, product(Precision::Tf32))), 0) << "few rows";
  EXPECT_EQ(parts(graph_of({130, 8}, {8, 129}, product(Precision::Tf32))), 0) << "few terms";
  EXPECT_EQ(parts(graph_of(x, {40}, product(Precision::Tf32))), 0) << "a vector";
  EXPECT_EQ(parts(graph_of(x, y, product(Precision::Bf16x3), DType::BF16)), 2) << "one factor is exact";
  EXPECT_EQ(parts(graph_of(x, y, product(Precision::Bf16x3), DType::F8E4M3)), 2);
  EXPECT_EQ(parts(graph_of(x, y, product(Precision::Bf16x3), DType::F16)), 3);
  EXPECT_EQ(parts(graph_of(x, y, product(Precision::Bf16x3), DType::F64)), 0);
  const IntExpr m = IntExpr::symbol("M"_size), k = IntExpr::symbol("K"_size);
  const Graph symbolic = graph_of({m, k}, {k, 129}, product(Precision::Bf16x3));
  EXPECT_EQ(parts(symbolic), 3);
  EXPECT_EQ(parts(symbolic, {{"M"_size, 4}, {"K"_size, 1000}}), 0);
  EXPECT_EQ(parts(symbolic, {{"M"_size, 400}, {"K"_size, 1000}}), 3);
}

TEST(ProductsInBf16, PrecisionIsPartOfTheProgram) {
  // Two products of the same factors are one only where they are equally exact.
  const auto twice = [](Precision precision) {
    return [precision](GraphBuilder& b, NodeId x, NodeId y) {
      return b.elementwise(Op::Add, {f::matmul(b, x, y, "matmul", precision), f::matmul(b, x, y)});
    };
  };
  const auto products = [](const Graph& graph) {
    int count = 0;
    for (const Node& node : graph.nodes) count += node.kind == NodeKind::Elementwise && node.op == Op::Mul;
    return count;
  };
  EXPECT_EQ(products(graph_of({3, 4}, {4, 5}, twice(Precision::Full))), 1);
  EXPECT_EQ(products(graph_of({3, 4}, {4, 5}, twice(Precision::Tf32))), 2);
  EXPECT_NE(print(graph_of({3, 4}, {4, 5}, product(Precision::Tf32))).find("precision=tf32"), std::string::npos);
}

TEST(ProductsInBf16, GradientsAreAsExactAsTheProduct) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F32, {130, 40}), y = b.input("y", DType::F32, {40, 129});
  const NodeId loss = b.reduce(ReduceKind::Sum, f::matmul(b, x, y, "matmul", Precision::Bf16x3), {}, false);
  const Graph graph = b.finish(gradient(b, loss, {x, y}));
  int precise = 0;
  for (const Node& node : graph.nodes) precise += node.precision == Precision::Bf16x3;
  EXPECT_GE(precise, 2);
}

}  // namespace
}  // namespace smelt

// Reductions over a short last axis and others: which get that axis apart, and that the values
// stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "graph/build.hpp"
#include "support/arrays.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using Build = std::function<NodeId(GraphBuilder&)>;

Graph graph_of(const Build& build) {
  GraphBuilder b;
  return simplify(b.finish({build(b)}));
}

int64_t local_reductions(const Build& build) {
  const Graph made = with_short_axes_apart(graph_of(build));
  verify(made);
  return std::count_if(made.nodes.begin(), made.nodes.end(), [](const Node& n) { return n.local; });
}

// A reduction of a picture minus one value a channel.
Build of_picture(ReduceKind kind, std::vector<int> axes, IntExpr channels = 3, DType dtype = DType::F32,
                 IntExpr height = sym("H"_size)) {
  return [=](GraphBuilder& b) {
    const NodeId x = b.input("x", dtype, {sym("N"_size), height, channels}), m = b.input("m", dtype, {channels});
    return b.reduce(kind, b.elementwise(Op::Sub, {x, m}), axes, false);
  };
}

TEST(ShortAxes, AreApartWhereLanesWouldBeEmpty) {
  EXPECT_EQ(local_reductions(of_picture(ReduceKind::Sum, {1, 2})), 1);
  EXPECT_EQ(local_reductions(of_picture(ReduceKind::Max, {0, 1, 2}, 8)), 1);
  EXPECT_EQ(local_reductions(of_picture(ReduceKind::Min, {1, 2}, 2, DType::F16)), 1);
  EXPECT_EQ(local_reductions(of_picture(ReduceKind::Sum, {0, 2})), 1) << "the axis in between stays";
  EXPECT_EQ(local_reductions(of_picture(ReduceKind::Sum, {1, 2}, 3, DType::F32, 12)), 1) << "all axes are short";
}

TEST(ShortAxes, StayWhereThatGainsNothing) {
  EXPECT_EQ(local_reductions(of_picture(ReduceKind::Sum, {1, 2}, 9)), 0) << "long enough";
  EXPECT_EQ(local_reductions(of_picture(ReduceKind::Sum, {2})), 0) << "no other axis";
  EXPECT_EQ(local_reductions(of_picture(ReduceKind::Sum, {0, 1})), 0) << "stays a result";
  EXPECT_EQ(local_reductions(of_picture(ReduceKind::Sum, {1, 2}, 3, DType::F16)), 0) << "it would be rounded twice";
}

TEST(ShortAxes, StayWhereBothAxesAreOnePiece) {
  const Shape shape{sym("N"_size), sym("H"_size), 3};
  EXPECT_EQ(local_reductions([&](GraphBuilder& b) {
              const NodeId x = b.input("x", DType::F32, shape), w = b.input("w", DType::F32, {sym("N"_size), 1, 1});
              return b.reduce(ReduceKind::Sum, b.elementwise(Op::Mul, {x, w}), {1, 2}, false);
            }),
            0);
  EXPECT_EQ(local_reductions([&](GraphBuilder& b) {
              const NodeId x = b.input("x", DType::F32, shape);
              return b.reduce(ReduceKind::Sum, b.slice(x, {0, 0, 0}, {1, 1, 1}, {sym("N"_size), sym("H"_size), 2}),
                              {1, 2}, false);
            }),
            1)
      << "a part of each row";
  EXPECT_EQ(local_reductions([&](GraphBuilder& b) {
              const NodeId x = b.input("x", DType::F32, {sym("N"_size), 3, sym("H"_size)});
              return b.reduce(ReduceKind::Sum, b.permute(b.elementwise(Op::Exp, {x}), {0, 2, 1}), {0, 2}, false);
            }),
            1)
      << "the axis in between stays";
}

TEST(ShortAxes, ProductsOfMatricesStay) {
  EXPECT_EQ(local_reductions([](GraphBuilder& b) {
              const IntExpr n = sym("N"_size), h = sym("H"_size);
              const NodeId x = b.input("x", DType::F32, {n, 1, h, 4}), y = b.input("y", DType::F32, {1, 64, h, 1});
              return b.reduce(ReduceKind::Sum, b.elementwise(Op::Mul, {x, y}), {2, 3}, false);
            }),
            0);
}

TEST(ShortAxes, AreTheSameValues) {
  std::mt19937_64 random(5);
  for (const ReduceKind kind : {ReduceKind::Sum, ReduceKind::Max, ReduceKind::Prod}) {
    const Graph graph = graph_of([&](GraphBuilder& b) {
      const NodeId x = b.input("x", DType::F32, {3, 17, 5}), m = b.input("m", DType::F32, {5});
      return b.reduce(kind, b.elementwise(Op::Sub, {x, m}), {1, 2}, false);
    });
    const Graph apart = with_short_axes_apart(graph);
    const std::vector<Tensor> arrays{noise(DType::F32, {3, 17, 5}, random, 2), noise(DType::F32, {5}, random, 2)};
    const Tensor a = interpret(graph, {arrays[0], arrays[1]})[0], b = interpret(apart, {arrays[0], arrays[1]})[0];
    ASSERT_EQ(a.dims, b.dims);
    for (int64_t i = 0; i < a.count(); ++i) {
      const double expected = static_cast<const double*>(a.data)[i];
      ASSERT_NEAR(static_cast<const double*>(b.data)[i], expected, 1e-12 * (1 + std::abs(expected))) << name_of(kind);
    }
  }
}

}  // namespace
}  // namespace smelt

#include "graph/bounds.hpp"

#include <gtest/gtest.h>

#include "arrays.hpp"
#include "graph/build.hpp"

namespace smelt {
namespace {

// The errors of the one output of a program over one vector.
std::vector<double> errors(DType dtype, const std::vector<double>& values, auto make) {
  GraphBuilder b;
  const NodeId x = b.input("x", dtype, {static_cast<int64_t>(values.size())});
  const Graph graph = b.finish({make(b, x)});
  const Tensor input = array(dtype, {static_cast<int64_t>(values.size())}, values);
  return interpret_bounded(graph, {input}, false)[0].error;
}

constexpr double kHalf = 0x1p-24;  // of a unit in the last place of 1, in f32
const double kAnything = INFINITY;

NodeId tenth(GraphBuilder& b, NodeId x) { return b.elementwise(Op::Div, {x, 10.0}); }

TEST(Bounds, AnExactResultHasNoError) {
  const auto e = errors(DType::F32, {1, 2, 10}, [](auto& b, NodeId x) { return b.elementwise(Op::Mul, {x, 0.5}); });
  EXPECT_EQ(e, (std::vector<double>{0, 0, 0}));
}

TEST(Bounds, ARoundedResultIsOffByItsUnit) {
  const auto e = errors(DType::F32, {1, 20}, tenth);
  EXPECT_GT(e[0], 0.1 * kHalf);
  EXPECT_LT(e[0], 0.1 * 4 * kHalf);
  EXPECT_EQ(e[1], 0);
}

TEST(Bounds, AnOverflowThatErrorsDecideIsAnything) {
  const auto e = errors(DType::F32, {7e20}, [](auto& b, NodeId x) {
    return b.elementwise(Op::Exp, {b.elementwise(Op::Sub, {b.elementwise(Op::Mul, {x, 0.1}), tenth(b, x)})});
  });
  EXPECT_EQ(e[0], kAnything);
}

TEST(Bounds, AComparisonOfNeighboursIsAnything) {
  const auto e = errors(DType::F32, {1, 3, 5}, [](auto& b, NodeId x) {
    return b.elementwise(Op::Lt, {tenth(b, x), b.elementwise(Op::Mul, {x, 0.1})});
  });
  EXPECT_EQ(e[0], kAnything);
  const auto far = errors(DType::F32, {1, 3, 5}, [](auto& b, NodeId x) {
    return b.elementwise(Op::Lt, {tenth(b, x), x});
  });
  EXPECT_EQ(far, (std::vector<double>{0, 0, 0}));
}

TEST(Bounds, AnIntegerBesideAJumpIsOffByOne) {
  // 3 / 10 * 10 may be a little less than 3.
  const auto e = errors(DType::F32, {3, 4.5}, [](auto& b, NodeId x) {
    return b.cast(b.elementwise(Op::Mul, {tenth(b, x), 10.0}), DType::I32);
  });
  EXPECT_EQ(e, (std::vector<double>{1, 0}));
}

TEST(Bounds, SumsOfWholeNumbersAreExact) {
  const auto sum = [](auto& b, NodeId x) { return b.reduce(ReduceKind::Sum, x, {}, false); };
  EXPECT_EQ(errors(DType::F32, {1, 2, 3}, sum), (std::vector<double>{0}));
  EXPECT_GT(errors(DType::F32, {1.5, 2, 3}, sum)[0], 0);
}

TEST(Bounds, AnIndexIsAnythingWhereTwoAreNearlyTheLargest) {
  const auto place = [](auto& b, NodeId x) { return b.reduce(ReduceKind::ArgMax, tenth(b, x), {0}, false); };
  EXPECT_EQ(errors(DType::F32, {1, 3, 2}, place), (std::vector<double>{0}));
  EXPECT_EQ(errors(DType::F32, {1, 3, 3.0000002}, place), (std::vector<double>{kAnything}));
}

TEST(Bounds, RunningSumsGrow) {
  const auto e =
      errors(DType::F32, {1.5, 1.25, 1.125}, [](auto& b, NodeId x) { return b.scan(ReduceKind::Sum, x, 0); });
  EXPECT_GT(e[1], e[0]);
  EXPECT_GT(e[2], e[1]);
}

TEST(Bounds, ErrorsMoveAsValuesDo) {
  const auto e = errors(DType::F32, {1, 20},
                        [](auto& b, NodeId x) { return b.slice(tenth(b, x), {IntExpr(1)}, {-1}, {IntExpr(2)}); });
  EXPECT_EQ(e[0], 0);
  EXPECT_GT(e[1], 0);
}

TEST(Bounds, ResultsAreAllowedByThem) {
  Bounded b{array(DType::F64, {5}, {1, 1, INFINITY, NAN, 0}), {0.5, 0, 0, 0, 0}};
  const auto f = [](double v) { return Scalar::of_float(DType::F64, v); };
  EXPECT_TRUE(b.allows(0, f(1.5)));
  EXPECT_FALSE(b.allows(0, f(1.6)));
  EXPECT_FALSE(b.allows(0, f(NAN)));
  EXPECT_FALSE(b.allows(1, f(1.0000001)));
  EXPECT_TRUE(b.allows(2, f(INFINITY)));
  EXPECT_FALSE(b.allows(2, f(-INFINITY)));
  EXPECT_TRUE(b.allows(3, f(NAN)));
  EXPECT_FALSE(b.allows(4, f(-0.0)));
}

}  // namespace
}  // namespace smelt

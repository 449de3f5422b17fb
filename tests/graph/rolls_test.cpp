// Rolls as slices of arrays that go on around their ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "graph/build.hpp"
#include "graph/functions.hpp"
#include "support/arrays.hpp"

namespace smelt {
namespace {

namespace f = functions;
using Build = std::function<NodeId(GraphBuilder&, NodeId x)>;

Graph graph_of(const Shape& shape, const Build& build) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F64, shape);
  return simplify(b.finish({build(b, x)}));
}

int64_t count_of(const Graph& graph, NodeKind kind) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.kind == kind; });
}

TEST(Rolls, AreSlicesOfOneContinuedArray) {
  const Graph graph = graph_of({9, 7}, [](GraphBuilder& b, NodeId x) {
    const NodeId one = b.elementwise(Op::Add, {f::roll(b, x, 1, 0), f::roll(b, x, -2, 0)});
    return b.elementwise(Op::Mul, {one, f::roll(b, f::roll(b, x, 3, 1), -1, 0)});
  });
  const auto continued = with_rolls_continued(graph);
  ASSERT_TRUE(continued);
  const Graph simple = simplify(*continued);
  verify(simple);
  EXPECT_EQ(count_of(simple, NodeKind::Concat), 0);
  EXPECT_EQ(count_of(simple, NodeKind::Extend), 1);
  std::mt19937_64 random(1);
  const Tensor x = noise(DType::F64, {9, 7}, random, 9);
  const Tensor before = interpret(graph, {x})[0], after = interpret(simple, {x})[0];
  for (int64_t i = 0; i < 63; ++i)
    EXPECT_EQ(static_cast<const double*>(before.data)[i], static_cast<const double*>(after.data)[i]) << i;
}

TEST(Rolls, FarOnesAndOtherJoinedPartsStay) {
  EXPECT_FALSE(with_rolls_continued(graph_of({90}, [](GraphBuilder& b, NodeId x) { return f::roll(b, x, 40, 0); })));
  EXPECT_FALSE(with_rolls_continued(graph_of({9}, [](GraphBuilder& b, NodeId x) {
    return b.concat({b.slice(x, {8}, {1}, {1}), b.slice(x, {1}, {1}, {8})}, 0);
  })));
  EXPECT_FALSE(with_rolls_continued(graph_of({9}, [](GraphBuilder& b, NodeId x) {
    return b.concat({b.slice(x, {7}, {1}, {1}), b.slice(x, {0}, {1}, {8})}, 0);
  })));
}

}  // namespace
}  // namespace smelt

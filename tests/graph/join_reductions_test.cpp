// Reductions of reductions: which become one, and over which axes.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "graph/build.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using Build = std::function<std::vector<NodeId>(GraphBuilder&, NodeId x)>;
constexpr ReduceKind kSum = ReduceKind::Sum, kMax = ReduceKind::Max, kMin = ReduceKind::Min;

// "max 1,2; sum 0": the reductions of the simplified program.
std::string reductions(const Build& build, DType dtype = DType::F32) {
  GraphBuilder b;
  const NodeId x = b.input("x", dtype, {sym("A"_size), sym("B"_size), sym("C"_size)});
  const Graph graph = simplify(b.finish(build(b, x)));
  verify(graph);
  std::string text;
  for (const Node& n : graph.nodes)
    if (n.kind == NodeKind::Reduce)
      text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name_of(n.reduce), fmt::join(n.axes, ","));
  return text;
}

// The second over the result of the first.
Build nested(ReduceKind first, std::vector<int> axes, ReduceKind second, std::vector<int> of_result,
             bool keepdims = false) {
  return [=](GraphBuilder& b, NodeId x) {
    return std::vector{b.reduce(second, b.reduce(first, x, axes, keepdims), of_result, false)};
  };
}

TEST(JoinReductions, OverTheAxesOfBoth) {
  EXPECT_EQ(reductions(nested(kMax, {2}, kMax, {1})), "max 1,2");
  EXPECT_EQ(reductions(nested(kMax, {0}, kMax, {1})), "max 0,2");
  EXPECT_EQ(reductions(nested(kSum, {1}, kSum, {0, 1})), "sum 0,1,2");
  EXPECT_EQ(reductions(nested(kMin, {1}, kMin, {1, 2}, true)), "min 1,2");
  EXPECT_EQ(reductions(nested(kMax, {1}, kMax, {0}), DType::BF16), "max 0,1");
  EXPECT_EQ(reductions([](GraphBuilder& b, NodeId x) {
              for (int i = 0; i < 3; ++i) x = b.reduce(kSum, x, {0}, false);
              return std::vector{x};
            }),
            "sum 0,1,2");
}

TEST(JoinReductions, NotWhereTheFirstIsReadOrRoundedOrOfAnotherKind) {
  EXPECT_EQ(reductions([](GraphBuilder& b, NodeId x) {
              const NodeId rows = b.reduce(kMax, x, {2}, false);
              return std::vector{rows, b.reduce(kMax, rows, {1}, false)};
            }),
            "max 2; max 1");
  EXPECT_EQ(reductions(nested(kSum, {1}, kSum, {0}), DType::BF16), "sum 1; sum 0");
  EXPECT_EQ(reductions(nested(kMin, {2}, kMax, {1})), "min 2; max 1");
  EXPECT_EQ(reductions([](GraphBuilder& b, NodeId x) {
              const NodeId rows = b.reduce(kSum, x, {2}, false);
              return std::vector{b.reduce(kSum, b.elementwise(Op::Mul, {rows, 2.0}), {1}, false)};
            }),
            "sum 2; sum 1");
  EXPECT_EQ(reductions([](GraphBuilder& b, NodeId x) {
              const NodeId rows = b.reduce(kSum, x, {2}, false);
              return std::vector{b.reduce(kSum, b.reshape(rows, {sym("A"_size) * sym("B"_size)}), {0}, false)};
            }),
            "sum 2; sum 0");
}

}  // namespace
}  // namespace smelt

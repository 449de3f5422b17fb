#include "graph/short_results.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/build.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

// What is the same along the last axis of d: [N, M, components].
enum class Shared { Nothing, Values, Distances };

// The sum over M of d times that: how many sums are left to kernels.
int64_t sums(int64_t components, Shared shared) {
  GraphBuilder b;
  const NodeId d = b.input("d", DType::F32, {sym("N"_size), sym("M"_size), components}),
               w = b.input("w", DType::F32, {sym("N"_size), sym("M"_size), 1});
  const NodeId distances = b.reduce(ReduceKind::Sum, b.elementwise(Op::Mul, {d, d}), {2}, true);
  const NodeId factor = shared == Shared::Distances ? b.elementwise(Op::Sqrt, {distances})
                        : shared == Shared::Values  ? b.elementwise(Op::Exp, {w})
                                                    : d;
  Graph graph = b.finish({b.reduce(ReduceKind::Sum, b.elementwise(Op::Mul, {d, factor}), {1}, false)});
  for (Node& node : graph.nodes)
    if (node.kind == NodeKind::Reduce && node.axes == std::vector{2}) node.local = true;
  const Graph apart = with_short_results_apart(simplify(graph));
  verify(apart);
  return std::count_if(apart.nodes.begin(), apart.nodes.end(),
                       [](const Node& n) { return n.kind == NodeKind::Reduce && !n.local; });
}

TEST(ShortResults, AreSumsOfTheirOwn) {
  EXPECT_EQ(sums(3, Shared::Distances), 3);
  EXPECT_EQ(sums(2, Shared::Distances), 2);
  EXPECT_EQ(sums(5, Shared::Distances), 1) << "many results";
  EXPECT_EQ(sums(1, Shared::Distances), 1) << "one result";
  EXPECT_EQ(sums(3, Shared::Values), 1) << "no reduction is shared";
  EXPECT_EQ(sums(3, Shared::Nothing), 1);
}

// Rows with a value of each result: which reductions read them once, and how many those are.
TEST(ShortResults, OfRowsAreReadOnce) {
  const auto reductions = [](const IntExpr& results, Op op, bool dense) {
    GraphBuilder b;
    const NodeId x = b.input("x", DType::F32, {sym("N"_size), sym("M"_size), 1}),
                 q = b.input("q", DType::F32, dense ? Shape{sym("M"_size), results} : Shape{results});
    const Graph apart = with_short_results_apart(
        simplify(b.finish({b.reduce(ReduceKind::Max, b.elementwise(op, {x, q}), {1}, false)})));
    verify(apart);
    return std::count_if(apart.nodes.begin(), apart.nodes.end(),
                         [](const Node& n) { return n.kind == NodeKind::Reduce; });
  };
  EXPECT_EQ(reductions(9, Op::Sub, false), 9);
  EXPECT_EQ(reductions(17, Op::Sub, false), 1) << "many results";
  EXPECT_EQ(reductions(9, Op::Sub, true), 1) << "rows meet another value in each element";
}

}  // namespace
}  // namespace smelt

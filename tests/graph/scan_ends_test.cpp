// Single elements of the rows of scans as reductions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/build.hpp"
#include "support/arrays.hpp"

namespace smelt {
namespace {

int64_t count_of(const Graph& graph, NodeKind kind) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.kind == kind; });
}

// A scan of f64[3, 5] along axis 1, and column `place` of it.
Graph scan_and_column(ReduceKind kind, int64_t place, bool also_the_scan) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F64, {3, 5});
  const NodeId scan = b.scan(kind, x, 1), column = b.slice(scan, {0, place}, {1, 1}, {3, 1});
  return simplify(b.finish(also_the_scan ? std::vector<NodeId>{scan, column} : std::vector<NodeId>{column}));
}

TEST(ScanEnds, AreTheSameBits) {
  const double data[15] = {1, -2, 0.1, 4, 5, -0.0, 0, -0.0, -1, 1, 3, NAN, 1, HUGE_VAL, -HUGE_VAL};
  const Tensor x = array(DType::F64, {3, 5}, std::vector<double>(data, data + 15));
  for (const ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max, ReduceKind::Min})
    for (const int64_t place : {0, 2, 4}) {
      const Graph graph = scan_and_column(kind, place, true);
      const auto reduced = with_scan_ends_reduced(graph);
      ASSERT_TRUE(reduced);
      const Graph simple = simplify(*reduced);
      verify(simple);
      EXPECT_EQ(count_of(simple, NodeKind::Slice), 0);
      EXPECT_EQ(count_of(simple, NodeKind::Reduce), 1);
      const auto before = interpret(graph, {x}), after = interpret(simple, {x});
      for (size_t k = 0; k < 2; ++k)
        EXPECT_EQ(std::memcmp(before[k].data, after[k].data, (k ? 3 : 15) * sizeof(double)), 0) << place;
    }
}

TEST(ScanEnds, OnesThatAreAllThatIsReadStay) {
  EXPECT_FALSE(with_scan_ends_reduced(scan_and_column(ReduceKind::Sum, 4, false)) &&
               count_of(*with_scan_ends_reduced(scan_and_column(ReduceKind::Sum, 4, false)), NodeKind::Reduce) > 0);
}

TEST(ScanEnds, OnlyOneElementOfEachRow) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F64, {3, 5});
  const NodeId scan = b.scan(ReduceKind::Sum, x, 1);
  const Graph graph = b.finish({scan, b.slice(scan, {0, 1}, {1, 1}, {3, 2}), b.slice(scan, {1, 4}, {1, 1}, {1, 1})});
  EXPECT_FALSE(with_scan_ends_reduced(graph));
}

}  // namespace
}  // namespace smelt

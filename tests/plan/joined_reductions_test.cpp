// Reductions of arrays that are joined along the axis: which are written out.
#include <gtest/gtest.h>

#include <algorithm>

#include "planning.hpp"

namespace smelt::plan {
namespace {

std::optional<Graph> written_out(const std::string& body) {
  return with_joined_reduced(graph_of("input x: f32[5, 8]\ninput y: f32[5, 8]\nreturn " + body + "\n"));
}

int64_t count(const Graph& graph, NodeKind kind) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) { return node.kind == kind; });
}

TEST(JoinedReductions, AreWrittenOut) {
  for (const char* body :
       {"sum(stack((x, y)), axis=0)", "max(stack((x, y, x), axis=2), axis=2)",
        "sum(stack((x, y)) * stack((y, y)), axis=0)", "sum(stack((x, y)), axis=0), min(stack((x, y)), axis=0)"}) {
    const auto graph = written_out(body);
    ASSERT_TRUE(graph) << body;
    const Graph simple = simplify(*graph);
    verify(simple);
    EXPECT_EQ(count(simple, NodeKind::Reduce), 0) << body;
    EXPECT_EQ(count(simple, NodeKind::Concat), 0) << body;
  }
}

TEST(JoinedReductions, OthersStay) {
  for (const char* body : {"argmax(stack((x, y)), axis=0)", "sum(stack((x, y)), axis=1)", "sum(concat((x, y)), axis=0)",
                           "stack((x, y)), sum(stack((x, y)), axis=0)", "sum(x, axis=0)",
                           "exp(stack((x, y))) / sum(exp(stack((x, y))), axis=0)"})
    EXPECT_FALSE(written_out(body)) << body;
}

}  // namespace
}  // namespace smelt::plan

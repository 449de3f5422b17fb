// Scatters into each other's results, as one.
#include <gtest/gtest.h>

#include <algorithm>

#include "frontends/language.hpp"
#include "graph/graph.hpp"

namespace smelt {
namespace {

std::optional<Graph> joined(const std::string& body) {
  const std::string inputs =
      "input x: f32[9]\ninput i: i32[N]\ninput j: i32[N]\ninput k: i32[M]\ninput u: f32[N]\ninput v: f32[N]\n"
      "input w: f32[M]\n";
  auto made = with_joined_scatters(simplify(lang::parse_program(inputs + body, "joined.smelt")));
  if (made) verify(*made);
  return made;
}

int64_t scatters(const Graph& graph) {
  const Graph used = simplify(graph);
  return std::count_if(used.nodes.begin(), used.nodes.end(), [](const Node& n) { return n.kind == NodeKind::Scatter; });
}

TEST(JoinedScatters, ChainsOfAsManyUpdatesAreOne) {
  const auto two = joined("return scatter_add(scatter_add(x, i, u), j, v)\n");
  ASSERT_TRUE(two);
  EXPECT_EQ(scatters(*two), 1);
  const Node& scatter = two->at(two->outputs[0]);
  ASSERT_EQ(scatter.kind, NodeKind::Scatter);
  EXPECT_TRUE(two->at(scatter.args[1]).shape[1].is(2));
  const auto three = joined("return scatter_max(scatter_max(scatter_max(x, i, u), j, v), i, v)\n");
  ASSERT_TRUE(three);
  EXPECT_EQ(scatters(*three), 1);
}

TEST(JoinedScatters, OthersStay) {
  EXPECT_FALSE(joined("return scatter_add(x, i, u)\n"));
  EXPECT_FALSE(joined("return scatter_add(scatter_add(x, i, u), k, w)\n"));  // another number of updates
  EXPECT_FALSE(joined("return scatter_add(scatter_max(x, i, u), j, v)\n"));  // another operation
  EXPECT_FALSE(joined("return scatter(scatter(x, i, u), j, v)\n"));          // the last one stays
  EXPECT_FALSE(joined("return scatter_add(scatter_add(x, i, u), j, v, mode='drop')\n"));
  EXPECT_FALSE(joined("y = scatter_add(x, i, u)\nreturn y, scatter_add(y, j, v)\n"));  // read elsewhere
}

}  // namespace
}  // namespace smelt

// Products of products that share what is between them, and results of products in the order in
// which they are stored.
#include "plan/chains.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "frontends/language.hpp"
#include "plan/sums_in_order.hpp"

namespace smelt::plan {
namespace {

Options options_of(int compute) {
  Options options;
  options.target.device = "cuda", options.target.gpu = true, options.target.threads = 132;
  options.target.compute = compute;
  return options;
}

Graph graph_of(const std::string& program) { return simplify(lang::parse_program(program, "<test>")); }

std::string halves(std::initializer_list<const char*> names, int rows, int depth) {
  std::string text;
  for (const char* name : names) text += fmt::format("input {}: bf16[4, {}, {}]\n", name, rows, depth);
  return text;
}

size_t count_of(const Graph& graph, Op op) {
  return static_cast<size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.kind == NodeKind::Elementwise && node.op == op;
  }));
}

const std::string kShared =
    halves({"q", "k", "v", "g"}, 512, 64) + "p = bf16(relu(f32(q) @ f32(k).mT) / 8)\nreturn p @ v, p.mT @ g\n";

TEST(ChainsApart, HaveWhatIsBetweenForThemselves) {
  const Graph graph = graph_of(kShared);
  const auto made = with_chains_apart(graph, options_of(90));
  ASSERT_TRUE(made);
  verify(*made);
  EXPECT_EQ(count_of(graph, Op::Max), 1u);
  EXPECT_EQ(count_of(*made, Op::Max), 2u);
  EXPECT_EQ(merge_equal_nodes(*made).nodes.size(), graph.nodes.size()) << "nothing else is new";
  const Plan plan = make_plan(*made, options_of(90));
  verify(*made, plan);
  EXPECT_EQ(plan.groups.size(), 2u) << print(*made, plan);
  for (const FusionGroup& group : plan.groups) EXPECT_EQ(name_of(group.strategy()), "chain");
  EXPECT_EQ(plan.traffic.unfused_bytes, make_plan(graph, options_of(90)).traffic.unfused_bytes)
      << "of the program, which has it once";
}

TEST(ChainsApart, AreNoneElsewhere) {
  EXPECT_FALSE(with_chains_apart(graph_of(kShared), options_of(75)));
  Options unfused = options_of(90);
  unfused.fuse = false;
  EXPECT_FALSE(with_chains_apart(graph_of(kShared), unfused));
  const auto apart = [](const std::string& returned, int depth = 64) {
    return with_chains_apart(graph_of(halves({"q", "k", "v", "g"}, 512, depth) +
                                      "p = bf16(relu(f32(q) @ f32(k).mT) / 8)\nreturn " + returned + "\n"),
                             options_of(90))
        .has_value();
  };
  EXPECT_TRUE(apart("p @ v, p.mT @ g"));
  EXPECT_FALSE(apart("p @ v")) << "nobody else has it";
  EXPECT_FALSE(apart("p @ v, p")) << "it is stored in any case";
  EXPECT_FALSE(apart("p @ v, p.mT @ g", 512)) << "rows are too long for a tile";
}

// A row of weights is one exponential, less by one number of the row.
TEST(ChainsApart, WeighByOneNumberOfARow) {
  Graph graph = graph_of(halves({"q", "k", "v", "g"}, 512, 64) +
                         "return vjp(scaled_dot_product_attention(q, k, v), (q, k, v), g)\n");
  while (const auto in_order = with_sums_in_order(graph)) graph = simplify(*in_order);
  const auto made = with_chains_apart(graph, options_of(90));
  ASSERT_TRUE(made);
  verify(*made);
  EXPECT_EQ(count_of(*made, Op::Exp), 3u) << "of the results, of the gradient of q, and of those of k and v";
  EXPECT_EQ(count_of(*made, Op::Log), 1u) << print(*made);
}

// Two products along the same axes have what is between in one kernel, if registers hold both.
TEST(ChainsApart, AreOneWhereRegistersHoldBoth) {
  const auto lasts = [](int depth, int compute, const std::string& second) {
    Graph graph = graph_of(halves({"q", "k", "v", "g"}, 512, depth) +
                           "s, t = f32(k) @ f32(q).mT, f32(v) @ f32(g).mT\np = exp(s / 8)\n"
                           "return bf16(p) @ g, " +
                           second + ", bf16(p).mT @ k\n");
    while (const auto in_order = with_sums_in_order(graph)) graph = simplify(*in_order);
    const auto made = with_chains_apart(graph, options_of(compute));
    const Plan plan = make_plan(made ? *made : graph, options_of(compute));
    std::string found;
    for (const FusionGroup& group : plan.groups)
      if (group.schedule->chain) found += fmt::format("{} ", group.schedule->chain->lasts.size());
    return found;
  };
  EXPECT_EQ(lasts(64, 90, "bf16(p * t) @ q"), "2 1 ");
  EXPECT_EQ(lasts(128, 90, "bf16(p * t) @ q"), "2 1 ");
  EXPECT_EQ(lasts(64, 80, "bf16(p * t) @ q"), "2 1 ");
  EXPECT_EQ(lasts(256, 90, "bf16(p * t) @ q"), "1 1 1 ") << "too many registers";
}

TEST(SumsInOrder, AreStoredAsTheyAreSummed) {
  const Graph graph = graph_of(halves({"a", "b"}, 64, 96) + "return bf16((f32(a) @ f32(b).mT).mT)\n");
  const auto made = with_sums_in_order(graph);
  ASSERT_TRUE(made);
  verify(*made);
  const Node& result = made->at(made->outputs.at(0));
  EXPECT_EQ(result.kind, NodeKind::Cast) << print(*made);
  EXPECT_EQ(made->at(result.args[0]).kind, NodeKind::Reduce);
  EXPECT_EQ(result.shape, graph.at(graph.outputs.at(0)).shape);
  EXPECT_FALSE(with_sums_in_order(*made));
  EXPECT_FALSE(with_sums_in_order(graph_of(halves({"a", "b"}, 64, 96) + "p = a @ b.mT\nreturn p, p.mT\n")))
      << "others read it as it is";
}

}  // namespace
}  // namespace smelt::plan

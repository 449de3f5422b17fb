// Values that are computed again where they are read, and those that are stored instead.
#include <gtest/gtest.h>

#include "plan/short_reductions.hpp"
#include "planning.hpp"

namespace smelt::plan {
namespace {

// What the first kernel stores, as shapes.
std::vector<std::string> stored_first(const std::string& program) {
  const Graph graph = graph_of(program);
  const Plan plan = make_plan(graph, for_gpu());
  std::vector<std::string> shapes;
  for (const NodeId id : plan.groups[0].outputs) {
    std::string text;
    for (const IntExpr& size : graph.at(id).shape) text += (text.empty() ? "" : ",") + size.str();
    shapes.push_back(text);
  }
  return shapes;
}

// The second kernel goes over columns, so that it would compute what a row has in every element.
TEST(Repeats, WhatARowHasIsStoredForColumns) {
  using Shapes = std::vector<std::string>;
  EXPECT_EQ(stored_first("input x: f32[300000, 200]\ninput w: f32[200]\n"
                         "s = x @ w\nu = exp(-abs(s)) / (1 + exp(-abs(s))) * sum(x, axis=1)\n"
                         "return sum(u[:, None] * x, axis=0)"),
            Shapes{"300000"});
  // One operation of each element is computed again, not stored.
  EXPECT_EQ(stored_first("input x: f32[300000, 200]\nreturn sum(x - max(x, axis=1, keepdims=True), axis=0)"),
            Shapes{"300000"});
}

// A gain of three channels is no work of every pixel.
TEST(Repeats, ASmallResultOfReductionsIsStored) {
  const Graph graph = graph_of(
      "input x: f32[8, 1000, 1000, 3]\nm = mean(x, axis=(1, 2))\n"
      "g = mean(m, axis=1, keepdims=True) / m\n"
      "return x * g[:, None, None]");
  const Plan plan = make_plan(graph, for_gpu());
  const FusionGroup& last = plan.groups.back();
  EXPECT_EQ(last.inputs.size(), 2u);
  EXPECT_EQ(last.nodes.size(), 1u) << "the product alone";
}

// Halves are stored as they are, also where views lie between them and the cast that widens them.
TEST(Repeats, HalvesAreStoredAsHalves) {
  const Graph graph = graph_of(
      "input x: f32[8, 512, 768]\ninput g: f32[768]\ninput b: f32[768]\ninput w: bf16[2304, 768]\n"
      "return bf16(f32(bf16(layernorm(x, g, b)).reshape(4096, 768)) @ f32(w).T)");
  const Plan plan = make_plan(graph, for_gpu());
  ASSERT_EQ(plan.groups.size(), 2u);
  ASSERT_EQ(plan.groups[0].outputs.size(), 1u);
  EXPECT_EQ(graph.at(plan.groups[0].outputs[0]).dtype, DType::BF16);
  EXPECT_EQ(plan.groups[1].schedule->product->units, DType::BF16);
}

// Springs along three directions, whose ends both need them: computed twice they take less than
// they take to be stored.
TEST(Repeats, WhatTakesLessThanStoringItIsComputedAgain) {
  const Graph graph = graph_of(
      "input x: f32[3000, 2001, 3]\ninput v: f32[3000, 2001, 3]\n"
      "def spring(a, b, rest):\n"
      "  d = b - a\n"
      "  n = maximum(l2norm(d, axis=-1, keepdims=True), 1e-6)\n"
      "  return 50 * (n - rest) * d / n\n"
      "def ends(s, r, c): return pad(s, ((0, r), (0, c), (0, 0))) - pad(s, ((r, 0), (c, 0), (0, 0)))\n"
      "force = ends(spring(x[:-1], x[1:], 0.1), 1, 0) + ends(spring(x[:, :-1], x[:, 1:], 0.1), 0, 1)\n"
      "force = force + ends(spring(x[:-1, :-1], x[1:, 1:], 0.1414), 1, 1)\n"
      "v = 0.99 * (v + 0.01 * force)\n"
      "return x + 0.01 * v, v");
  const auto local = with_short_reductions_local(graph, for_gpu());
  ASSERT_TRUE(local);
  EXPECT_EQ(make_plan(*local, for_gpu()).groups.size(), 1u);
}

}  // namespace
}  // namespace smelt::plan

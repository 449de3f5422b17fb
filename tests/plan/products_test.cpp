// Which products become one kernel, and what is stored before them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "planning.hpp"

namespace smelt::plan {
namespace {

// So many projections of one array.
Graph projections(int count) {
  std::string text = "input x: bf16[4096, 512]\n", results;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("input w{}: bf16[512, 512]\n", i);
    results += fmt::format("{}x @ w{}", i > 0 ? ", " : "", i);
  }
  return graph_of(text + "return " + results + "\n");
}

TEST(Products, FewOfOneArrayAreOneKernel) { EXPECT_EQ(make_plan(projections(3), for_gpu()).groups.size(), 1u); }

// The sums of a tile share its registers: with twelve, tiles are small.
TEST(Products, ManyOfOneArrayAreSeveralKernels) {
  const Plan plan = make_plan(projections(12), for_gpu());
  EXPECT_GT(plan.groups.size(), 1u);
  for (const FusionGroup& group : plan.groups) {
    ASSERT_TRUE(group.schedule->product);
    EXPECT_GE(group.schedule->product->tile_rows, 64);
  }
}

// The cast of the array that all of them read is no value to be stored, whoever computes it.
TEST(Products, OfHalvesStayOfHalves) {
  for (const int count : {6, 7, 12})
    for (const FusionGroup& group : make_plan(projections(count), for_gpu()).groups) {
      EXPECT_EQ(group.schedule->product->units, DType::BF16) << count;
      EXPECT_TRUE(std::all_of(group.inputs.begin(), group.inputs.end(), [](NodeId id) { return id <= 12; })) << count;
    }
}

// Tiles would be mostly empty, and packing the weights a launch of its own.
TEST(Products, FewRowsAreNotStagedOnChip) {
  const auto is_staged = [](int rows) {
    const Graph graph = graph_of(
        fmt::format("input x: bf16[{}, 256]\ninput w: f32[128, 256]\nreturn relu(linear(x, bf16(w)))\n", rows));
    const Plan plan = make_plan(graph, for_gpu());
    EXPECT_EQ(plan.groups.size(), 1u);
    const auto& product = plan.groups[0].schedule->product;
    return product && !product->skinny;
  };
  EXPECT_FALSE(is_staged(8));
  EXPECT_TRUE(is_staged(4096));
}

// Each thread would look for its element among all of the tables.
TEST(Products, AFactorFromManyArraysIsStored) {
  std::string text = "input at: i64[64, 20]\n", parts;
  for (int i = 0; i < 20; ++i) {
    text += fmt::format("input t{}: f32[1000, 128]\n", i);
    parts += fmt::format("{}t{}[at[:, {}]][:, None]", i > 0 ? ", " : "", i, i);
  }
  const Graph graph = graph_of(text + "v = bf16(concat((" + parts + "), axis=1))\nreturn v @ v.mT\n");
  const Plan plan = make_plan(graph, for_gpu());
  for (const FusionGroup& group : plan.groups)
    if (group.schedule->product) {
      EXPECT_EQ(group.inputs.size(), 1u);
    }
  EXPECT_GT(plan.groups.size(), 1u);
}

// Heads side by side: each has 64 neighbours along the inner axis.
TEST(Products, JoinedHeadsLieAlongTheInnerAxis) {
  const Graph graph = graph_of(
      "input a: bf16[8, 12, 512, 64]\ninput w: bf16[768, 768]\n"
      "return linear(permute(a, (0, 2, 1, 3)).reshape(8, 512, 768), w)");
  const Plan plan = make_plan(graph, for_gpu());
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_TRUE(plan.groups[0].schedule->product->rows_along_inner);
  EXPECT_TRUE(plan.groups[0].schedule->product->columns_along_inner);
}

// Windows along the elements of a line begin anywhere, so that these come one by one.
TEST(Products, AnImageOfHalvesIsStoredForItsWindows) {
  const Graph graph =
      graph_of("input x: bf16[8, 3, 224, 224]\ninput w: bf16[64, 3, 7, 7]\nreturn conv(x, w, stride=7)");
  const Plan plan = make_plan(graph, for_gpu());
  ASSERT_EQ(plan.groups.size(), 1u) << "a cast to f32 is no work for windows";
}

}  // namespace
}  // namespace smelt::plan

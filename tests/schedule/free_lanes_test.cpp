// How many lanes go along an axis of which each has its own operands in registers.
#include <gtest/gtest.h>

#include <algorithm>

#include "frontends/language.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace smelt::schedule {
namespace {

int lanes_of(const std::string& program, int vector_bits) {
  const Graph graph = with_local_reductions(simplify(lang::parse_program(program, "<test>")), 8, true, false);
  plan::Options options;
  options.target.threads = 16;
  options.target.vector_bits = vector_bits;
  const plan::Plan plan = plan::make_plan(graph, options);
  EXPECT_EQ(plan.groups.size(), 1U) << plan::print(graph, plan);
  return plan.groups[0].schedule->lanes;
}

std::string nearest(const std::string& reduce, int dimensions) {
  const std::string d = std::to_string(dimensions);
  return "input x: f32[20000, " + d + "]\ninput c: f32[64, " + d + "]\nreturn " + reduce +
         "(sum((x[:, None, :] - c[None, :, :]) ** 2, axis=-1), axis=1)";
}

TEST(FreeLanes, PositionsStayInRegistersBesideTheOperandsOfTheLanes) {
  EXPECT_EQ(lanes_of(nearest("argmin", 8), 512), 32);
  EXPECT_EQ(lanes_of(nearest("argmax", 5), 512), 32);
  EXPECT_EQ(lanes_of(nearest("argmin", 4), 512), 64);
  EXPECT_EQ(lanes_of(nearest("argmin", 8), 256), 8);
  EXPECT_EQ(lanes_of(nearest("argmin", 2), 256), 32);
}

// Distances to the nearest are never stored; those that are stored have tiles of their own.
TEST(FreeLanes, SumsThatAreReducedAgainHaveMoreTerms) {
  EXPECT_EQ(lanes_of(nearest("argmin", 16), 512), 16);
  EXPECT_EQ(lanes_of(nearest("argmin", 32), 512), 16);
  const auto is_local = [](const std::string& last) {
    const std::string d = "input x: f32[20000, 16]\ninput c: f32[64, 16]\nd = sum((x[:, None] - c) ** 2, axis=-1)\n";
    const Graph graph = with_local_reductions(simplify(lang::parse_program(d + last, "<test>")), 8, true, false);
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) { return n.local; });
  };
  EXPECT_TRUE(is_local("return min(sqrt(d), axis=1)"));
  EXPECT_TRUE(is_local("return min(d, axis=1), max(d, axis=0)"));
  EXPECT_FALSE(is_local("return d"));
  EXPECT_FALSE(is_local("return min(d, axis=1), d")) << "stored too";
  EXPECT_FALSE(is_local("return d / sum(d, axis=1, keepdims=True)")) << "used again beside its sum";
}

TEST(FreeLanes, OperandsAloneMayComeFromTheStack) { EXPECT_EQ(lanes_of(nearest("min", 8), 512), 64); }

}  // namespace
}  // namespace smelt::schedule

// Rolls as slices of continued arrays, where that makes stencils of several steps.
#include "plan/rolls.hpp"

#include <gtest/gtest.h>

#include "planning.hpp"

namespace smelt::plan {
namespace {

TEST(RollsInStencils, StepsOfAPeriodicStencilAreFewerKernels) {
  const Graph graph = graph_of(
      "input u: f32[4096, 4096]\n"
      "def step(u):\n"
      "  return u + 0.1 * (roll(u, 1, axis=0) + roll(u, -1, axis=0) + roll(u, 1, axis=1) + roll(u, -1, axis=1) - 4 * "
      "u)\n"
      "return step(step(u))\n");
  const auto continued = with_rolls_in_stencils(graph, for_gpu());
  ASSERT_TRUE(continued);
  verify(*continued);
  EXPECT_EQ(make_plan(graph, for_gpu()).groups.size(), 2U);
  EXPECT_EQ(make_plan(*continued, for_gpu()).groups.size(), 1U);
}

TEST(RollsInStencils, NothingWithoutRolls) {
  EXPECT_FALSE(with_rolls_in_stencils(graph_of("input u: f32[4096, 4096]\nreturn u[1:] + u[:-1]\n"), for_gpu()));
}

// What another kernel reads is computed there again where only a few operations are between it and
// what both can read: a step's own part of the next one is not stored beside the step.
TEST(Recompute, FewOperationsAreNotStoredForAnotherKernel) {
  const Graph graph = graph_of(
      "input u: f32[4000, 4001]\ninput old: f32[4000, 4001]\ninput c: f32[4000, 4001]\n"
      "def line(a, b, c, d, e): return (-a + 16 * b - 30 * c + 16 * d - e) / 12\n"
      "def step(u, old, c):\n"
      "  n, m = u.shape\n"
      "  p = pad(u, 2)\n"
      "  row = line(p[0:n, 2:-2], p[1:n + 1, 2:-2], u, p[3:n + 3, 2:-2], p[4:, 2:-2])\n"
      "  col = line(p[2:-2, 0:m], p[2:-2, 1:m + 1], u, p[2:-2, 3:m + 3], p[2:-2, 4:])\n"
      "  return (1.98 * u - 0.98 * old + 0.1 * c * (row + col), u)\n"
      "u, old = step(u, old, c)\nu, old = step(u, old, c)\nreturn u, old\n");
  const Plan plan = make_plan(graph, for_gpu());
  ASSERT_EQ(plan.groups.size(), 2U);
  EXPECT_EQ(plan.groups[0].outputs.size(), 1U);
  EXPECT_EQ(plan.groups[1].inputs.size(), 3U);
}

}  // namespace
}  // namespace smelt::plan

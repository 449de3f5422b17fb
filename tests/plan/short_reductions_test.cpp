// Reductions of few elements, computed where they are needed if that takes fewer kernels.
#include "plan/short_reductions.hpp"

#include <gtest/gtest.h>

#include "planning.hpp"

namespace smelt::plan {
namespace {

size_t kernels(const Graph& graph) { return make_plan(graph, for_gpu()).groups.size(); }

TEST(ShortReductions, AreLocalWhereThatIsOneKernel) {
  for (const char* program : {
           "input x: f32[8, 3, 1080, 1920]\nm = max(x, axis=1)\n"
           "return stack((m, m - min(x, axis=1), x[:, 0] - m), axis=1)\n",
           "input f: f32[9, 1000, 2000]\nr = sum(f, axis=0)\nreturn stack([f[i] - 0.1 * r for i in (0, 1, 2, 3, 4, 5, "
           "6, 7, 8)])\n",
           "input p: f32[4000000, 3]\ninput m: f32[4, 4]\n"
           "h = concat((p, ones_like(p[:, :1])), axis=1) @ m.T\nreturn h[:, :3] / h[:, 3:]\n",
       }) {
    const Graph graph = graph_of(program);
    const auto local = with_short_reductions_local(graph, for_gpu());
    ASSERT_TRUE(local) << program;
    verify(*local);
    EXPECT_GT(kernels(graph), 1U) << program;
    EXPECT_EQ(kernels(*local), 1U) << program;
  }
}

TEST(ShortReductions, NotWhereThePlanIsAsGood) {
  for (const char* result :
       {"softmax(x)", "sum(x, axis=1)", "x - mean(x, axis=1, keepdims=True)", "sum(sum(x, axis=1))"})
    EXPECT_FALSE(with_short_reductions_local(graph_of("input x: f32[4000000, 4]\nreturn " + std::string(result) + "\n"),
                                             for_gpu()))
        << result;
  const std::string two = "input x: f32[1000000, 3]\nm = max(x, axis=1)\nreturn stack((m, x[:, 0] - m), axis=1)\n";
  EXPECT_TRUE(with_short_reductions_local(graph_of(two), for_gpu()));
  Options apart = for_gpu();
  apart.fuse = false;
  EXPECT_FALSE(with_short_reductions_local(graph_of(two), apart));
}

// Lanes of a CPU go along points, or along rows: what belongs to rows stays a kernel of its own.
TEST(ShortReductions, OnACpuWherePointsAreLanes) {
  Options cpu;
  cpu.target.threads = 2;
  const auto made = [&](const std::string& program) {
    return with_short_reductions_local(graph_of(program), cpu).has_value();
  };
  EXPECT_TRUE(
      made("input x: f32[8, 3, 1080, 1920]\nm = max(x, axis=1)\n"
           "return stack((m, m - min(x, axis=1), x[:, 0] - m), axis=1)\n"));
  EXPECT_FALSE(
      made("input x: f32[100000, 24, 3]\nr = sum(x * x, axis=2)\n"
           "return sum(r, axis=1), sum(x / r[:, :, None], axis=1)\n"));
}

}  // namespace
}  // namespace smelt::plan

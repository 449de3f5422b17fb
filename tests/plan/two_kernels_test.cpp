// Where the cost model holds two kernels to be much faster than one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontends/language.hpp"
#include "graph/build.hpp"
#include "plan/plan.hpp"

namespace smelt {
namespace {

plan::Plan planned(const std::string& program, bool gpu, int threads = 2) {
  const Graph graph = simplify(lang::parse_program(program, "<plan>"));
  plan::Options options;
  options.target.gpu = gpu;
  options.target.threads = gpu ? 132 : threads;
  if (gpu) options.target.l2_bytes = 50 << 20;
  const plan::Plan plan = plan::make_plan(graph, options);
  plan::verify(graph, plan);
  return plan;
}

const plan::Decision* cut_of(const plan::Plan& plan) {
  for (const plan::Decision& d : plan.decisions)
    if (!d.fused) return &d;
  return nullptr;
}

TEST(TwoKernels, ARowIsNotStoredAsAColumn) {
  for (const bool gpu : {false, true})
    for (const char* result : {"softmax(x).T", "layernorm(x).T * 2", "cumsum(x, axis=1).T"}) {
      const plan::Plan plan = planned("input x: f32[4096, 4096]\nreturn " + std::string(result), gpu);
      ASSERT_EQ(plan.groups.size(), 2u) << result;
      EXPECT_EQ(plan.groups[1].strategy(), plan::Strategy::Tiled) << result;
    }
}

// The first kernel leaves it to the one that turns the results to compute them: they are stored
// once.
TEST(TwoKernels, ANormIsComputedWhereItIsTurned) {
  const plan::Plan plan = planned(
      "input x: bf16[8, 64, 256, 256]\ninput w: f32[64]\ny = f32(x).reshape(8, 4, 16, 65536)\n"
      "m = mean(y, axis=(2, 3), keepdims=True)\n"
      "z = ((y - m) * rsqrt(var(y, axis=(2, 3), keepdims=True) + 1e-5)).reshape(8, 64, 256, 256) * w[:, None, None]\n"
      "return permute(bf16(silu(z)), (0, 2, 3, 1))",
      true);
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(plan.groups[1].strategy(), plan::Strategy::Tiled);
  EXPECT_LT(plan.traffic.fused_bytes, 4 * (int64_t{8} * 64 * 256 * 256 * 2));
}

TEST(TwoKernels, TheCutSaysWhy) {
  const plan::Plan plan = planned("input x: f32[4096, 4096]\nreturn softmax(x).T", false);
  const plan::Decision* cut = cut_of(plan);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->reason, "one kernel is predicted to take 6.6 times as long as two");
  EXPECT_EQ(cut->remedy, "nothing: storing the value takes less time");
}

TEST(TwoKernels, OneIsEnoughWhereCachesServe) {
  for (const bool gpu : {false, true})
    for (const char* program :
         {"input x: f32[64, 64]\nreturn softmax(x).T", "input x: f32[4096, 4096]\nreturn softmax(x)",
          "input x: f32[512, 8192]\nreturn x - mean(x, axis=0)",
          "input x: f32[64, 512, 784]\nreturn softmax(x, axis=1)"})
      EXPECT_EQ(planned(program, gpu).groups.size(), 1u) << program;
}

// What a window has, its maximum and how often it occurs, is stored once for all elements of the
// window; what is compared with it is computed where it is added up.
TEST(TwoKernels, ResultsOfWindowsAreNotComputedForEachElement) {
  for (const auto& [size, stride] : {std::pair{3, 1}, {3, 2}, {5, 2}, {5, 4}, {7, 3}}) {
    const int rows = (96 - size) / stride + 1;
    const std::string program = fmt::format(
        "input x: f32[64, 96, 96]\ninput g: f32[64, {0}, {0}]\nreturn vjp(max_pool(x, ({1}, {1}), stride={2}), x, g)",
        rows, size, stride);
    const Graph graph = simplify(lang::parse_program(program, "<plan>"));
    plan::Options options;
    const plan::Plan plan = plan::make_plan(graph, options);
    EXPECT_GE(plan.groups.size(), 2u) << program;
    for (const plan::FusionGroup& group : plan.groups)
      for (const NodeId output : group.outputs) EXPECT_EQ(graph.at(output).shape.size(), 3u) << program;
  }
}

// A lane of a CPU that goes down tall columns meets another page with each row.
TEST(TwoKernels, ColumnsThatCachesOfACpuDoNotHold) {
  const char* const program = "input x: f32[4096, 4096]\nreturn x - mean(x, axis=0)";
  EXPECT_EQ(planned(program, false).groups.size(), 2u);
  EXPECT_EQ(planned(program, true).groups.size(), 1u);
}

// Parts of a row that are scanned one after the other know nothing of the row's total.
TEST(TwoKernels, AScanInPartsHasNoTotalBesideIt) {
  EXPECT_EQ(planned("input x: f32[4, 1000000]\nreturn cumsum(x, axis=1), sum(x, axis=1)", true).groups.size(), 2u);
  EXPECT_EQ(planned("input x: f32[4, 1000000]\nreturn cumsum(x, axis=1)", true).groups.size(), 1u);
}

// What is fused decides the order of sums.
TEST(TwoKernels, ThreadsOfACpuDoNotMatter) {
  for (const char* program :
       {"input x: f32[4096, 4096]\nreturn softmax(x).T", "input x: f32[1000, 300]\nreturn softmax(x).T",
        "input x: f32[20000, 200]\nreturn layernorm(x).T",
        "input x: f32[64, 128, 1000]\nreturn permute(softmax(x), (0, 2, 1))"}) {
    const size_t kernels = planned(program, false, 1).groups.size();
    for (const int threads : {2, 16, 64}) EXPECT_EQ(planned(program, false, threads).groups.size(), kernels) << program;
  }
}

}  // namespace
}  // namespace smelt

// Horizontal fusion: independent work of like kind is one launch; and outputs in the middle of what
// is fused, in one pass.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontends/language.hpp"
#include "graph/build.hpp"
#include "plan/isolate.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "support/programs.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

struct Planned {
  Graph graph;
  plan::Plan plan;
  std::string text() const { return print(graph) + plan::print(graph, plan); }
};

plan::Options options_for(bool gpu) {
  plan::Options options;
  options.target.threads = gpu ? 132 : 2;
  options.target.gpu = gpu;
  if (gpu) options.target.l2_bytes = 50 << 20;
  return options;
}

Planned planned(const std::string& program, bool gpu, const SizeBinding& sizes = {}) {
  Planned p;
  p.graph = simplify(lang::parse_program(program, "<plan>"));
  plan::Options options = options_for(gpu);
  options.sizes = sizes;
  for (const Symbol symbol : p.graph.size_symbols()) options.sizes.try_emplace(symbol, 1024);
  p.plan = plan::make_plan(p.graph, options);
  plan::verify(p.graph, p.plan);
  return p;
}

class Batch : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(OnBoth, Batch, ::testing::Values(false, true),
                         [](const ::testing::TestParamInfo<bool>& info) { return info.param ? "gpu" : "cpu"; });

TEST_P(Batch, LikeKernelsOfManyArraysAreOneLaunch) {
  const Planned p = planned(shared_program("sigmoid_of_a_list"), GetParam());
  ASSERT_EQ(p.plan.groups.size(), 1u) << p.text();
  EXPECT_EQ(p.plan.groups[0].strategy(), plan::Strategy::Batch);
  EXPECT_EQ(p.plan.groups[0].parts.size(), 64u);
  EXPECT_EQ(p.plan.traffic.fused_bytes, p.plan.traffic.ideal_bytes);
  EXPECT_NE(p.plan.groups[0].note().find("64 independent pointwise kernels in one launch"), std::string::npos)
      << p.plan.groups[0].note();
}

TEST_P(Batch, SizesShapesAndChainsMayDiffer) {
  const Planned p = planned(
      "input a: f32[1000]; input b: f32[3, 5]; input c: f32[7]; input d: bf16[40]\n"
      "return sigmoid(2*a + 1), sigmoid(2*b + 1), exp(c), relu(d)",
      GetParam());
  ASSERT_EQ(p.plan.groups.size(), 1u) << p.text();
  EXPECT_EQ(p.plan.groups[0].parts.size(), 4u);
  const auto form = [&](int part) {
    return plan::isolate(p.graph, p.plan.groups[0].parts[static_cast<size_t>(part)], true).key;
  };
  EXPECT_EQ(form(0), form(1)) << "one form for any size and rank";
  EXPECT_NE(form(0), form(2));
}

TEST_P(Batch, AnArrayInEveryPartIsReadByEach) {
  const Planned p = planned("input xs: list[f32[64], 3]; input s: f32\nreturn [x * s for x in xs]", GetParam());
  EXPECT_EQ(p.plan.groups.size(), 1u) << p.text();
}

TEST_P(Batch, AnOptimizerStepIsOneLaunch) {
  const Planned p = planned(
      "input ps: list[f32[300], 5]; input gs: list[f32[300], 5]; input ms: list[f32[300], 5]; input vs: list[f32[300], "
      "5]\n"
      "input step: f32\n"
      "c = 1 - 0.9 ** step; d = 1 - 0.999 ** step\n"
      "m2 = [0.9*m + 0.1*g for m, g in zip(ms, gs)]\n"
      "v2 = [0.999*v + 0.001*g*g for v, g in zip(vs, gs)]\n"
      "p2 = [p - 0.001 * (m / c) / (sqrt(v / d) + 1e-8) for p, m, v in zip(ps, m2, v2)]\n"
      "return p2 + m2 + v2",
      GetParam());
  ASSERT_EQ(p.plan.groups.size(), 1u) << p.text();
  ASSERT_EQ(p.plan.groups[0].parts.size(), 5u) << p.text();
  for (const plan::FusionGroup& part : p.plan.groups[0].parts) {
    EXPECT_EQ(part.outputs.size(), 3u);
    EXPECT_EQ(part.inputs.size(), 5u) << "four arrays and the number of the step";
  }
}

TEST_P(Batch, RowsOfOneLengthAreOneLaunch) {
  const Planned p =
      planned("input a: f32[512, 256]; input b: f32[4096, 256]\nreturn softmax(a), softmax(b)", GetParam());
  EXPECT_EQ(p.plan.groups.size(), 1u) << p.text();
}

TEST_P(Batch, WhatDependsOnEachOtherStaysInOrder) {
  // The sums are needed before anything is scaled.
  const Planned p = planned(
      "input xs: list[f32[70000], 4]\n"
      "total = sqrt(sum(stack([sum(x*x) for x in xs])))\n"
      "return [x / total for x in xs]",
      GetParam());
  const plan::FusionGroup& last = p.plan.groups.back();
  EXPECT_EQ(last.parts.size(), 4u) << p.text();
  for (size_t g = 0; g + 1 < p.plan.groups.size(); ++g)
    for (const NodeId id : p.plan.groups[g].outputs)
      EXPECT_EQ(std::count(p.graph.outputs.begin(), p.graph.outputs.end(), id), 0) << p.text();
}

TEST_P(Batch, CheckedGathersStayAlone) {
  const Planned p = planned(
      "input x: f32[9]; input y: f32[8]; input i: i64[4]; input j: i64[5]\nreturn take(x, i), take(y, j)", GetParam());
  EXPECT_EQ(p.plan.groups.size(), 2u) << "an index out of range is reported by its own code";
}

TEST(BatchOnGpu, ManyFormsAreSeveralLaunches) {
  std::string text = "input x: list[f32[64], 20]\nreturn x[0] + 0.5";
  for (int i = 1; i < 20; ++i)
    text += fmt::format(", x[{}]{}", i, std::string(static_cast<size_t>(i), ' ') + " + " + std::to_string(i));
  EXPECT_EQ(planned(text, true).plan.groups.size(), 3u) << "eight forms each";
  EXPECT_EQ(planned(text, false).plan.groups.size(), 1u);
}

// ---- one pass, several outputs

struct Loop {
  const char* name;
  const char* text;
  size_t kernels;
};
void PrintTo(const Loop& loop, std::ostream* out) { *out << loop.name; }
class LoopFusion : public ::testing::TestWithParam<std::tuple<Loop, bool>> {};

TEST_P(LoopFusion, IsOnePass) {
  const auto& [loop, gpu] = GetParam();
  const Planned p = planned(loop.text, gpu, {{"N"_size, 1 << 22}, {"B"_size, 4096}, {"C"_size, 1024}});
  EXPECT_EQ(p.plan.groups.size(), loop.kernels) << p.text();
  EXPECT_EQ(p.plan.traffic.fused_bytes, p.plan.traffic.ideal_bytes) << p.text();
}

INSTANTIATE_TEST_SUITE_P(
    Programs, LoopFusion,
    ::testing::Combine(
        ::testing::Values(
            Loop{"two_outputs", "input b: f32[N]; input c: f32[N]; input e: f32[N]\na = b + c\nreturn a, a * e", 1},
            Loop{"outputs_on_the_way",
                 "input x: f32[N]\na = x * 2\nb = exp(a)\nc = b + a\nd = tanh(c)\nreturn a, b, d, d * c", 1},
            Loop{"one_producer_three_readers",
                 "input x: f32[N]; input y: f32[N]\na = sigmoid(x + y)\nreturn a * x, a - y, exp(a)", 1},
            Loop{"row_sum_and_row", "input x: f32[B, C]\ns = sum(x, axis=1)\nreturn s, x / s[:, None]", 1},
            Loop{"sibling_row_sums", "input x: f32[B, C]\nreturn sum(x, axis=1), max(x, axis=1), mean(x*x, axis=1)", 1},
            Loop{"softmax_and_its_maximum",
                 "input x: f32[B, C]\nm = max(x, axis=1)\nreturn softmax(x), m, exp(x - m[:, None])", 1},
            Loop{"residual_and_norm",
                 "input x: f32[B, C]; input r: f32[B, C]\nh = x + r\nreturn h, layernorm(h), sum(h, axis=1)", 1},
            Loop{"column_sum_beside_elements", "input x: f32[B, C]\ny = relu(x)\nreturn y, sum(y, axis=0)", 1},
            Loop{"total_beside_elements", "input x: f32[N]\ny = relu(x)\nreturn y, sum(y)", 1}),
        ::testing::Values(false, true)),
    [](const ::testing::TestParamInfo<std::tuple<Loop, bool>>& info) {
      return std::string(std::get<0>(info.param).name) + (std::get<1>(info.param) ? "_gpu" : "_cpu");
    });

}  // namespace
}  // namespace smelt

// The steps of the planner, made again: they lead from one kernel per operation to the plan.
#include "plan/replay.hpp"

#include <gtest/gtest.h>

#include "frontends/language.hpp"

namespace smelt::plan {
namespace {

struct Made {
  Graph graph;
  Options options;
  Plan plan, unfused;
  std::vector<ReplayState> states;

  explicit Made(const std::string& program, bool gpu = true, size_t most = 1000)
      : graph(simplify(lang::parse_program(program, "<test>"))) {
    options.target.threads = gpu ? 132 : 8;
    options.target.gpu = gpu;
    options.target.device = gpu ? "cuda" : "cpu";
    plan = make_plan(graph, options);
    Options apart = options;
    apart.fuse = false;
    unfused = make_plan(graph, apart);
    states = replay(graph, plan, options, most);
  }
};

const char* const kPrograms[] = {
    "input x: f32[256, 1024]\nreturn layernorm(relu(x))",
    "input x: f32[512, 512]\nreturn softmax(x).T + 1",
    "input x: f32[512, 512]\nreturn x - mean(x, axis=0), sum(x)",
    "input x: f32[512, 512]\ny = exp(x * 2)\nreturn sum(y, axis=0), sum(y, axis=1)",
    "input x: f32[512, 512]\nreturn sqrt(mean(x * x, axis=1) - mean(x, axis=1) * mean(x, axis=1))",
    "input x: f32[64]\nreturn x + 1"};

TEST(Replay, LeadsFromOneKernelPerOperationToThePlan) {
  for (const char* program : kPrograms)
    for (const bool gpu : {true, false}) {
      SCOPED_TRACE(program);
      const Made m(program, gpu);
      ASSERT_FALSE(m.states.empty());
      EXPECT_EQ(m.states.front().kernels, m.unfused.groups.size());
      EXPECT_EQ(m.states.front().bytes, m.plan.traffic.unfused_bytes);
      EXPECT_EQ(m.states.back().kernels, m.plan.groups.size());
      EXPECT_EQ(m.states.back().bytes, m.plan.traffic.fused_bytes);
      EXPECT_EQ(m.states.back().steps, m.plan.steps.size());
    }
}

TEST(Replay, EveryStateHasFewerKernelsOrTheSame) {
  for (const char* program : kPrograms) {
    const Made m(program);
    for (size_t i = 1; i < m.states.size(); ++i) {
      EXPECT_LE(m.states[i].kernels, m.states[i - 1].kernels) << program << " " << i;
      EXPECT_GT(m.states[i].steps, m.states[i - 1].steps);
      EXPECT_TRUE(m.states[i].us.has_value());
    }
  }
}

TEST(Replay, OfManyStepsAFewAreShown) {
  std::string program = "input x: f32[4096]\ny = x\n";
  for (int i = 0; i < 40; ++i) program += "y = exp(y) * 0.5\n";
  const Made all(program + "return y"), few(program + "return y", true, 10);
  ASSERT_GT(all.states.size(), 40u);
  EXPECT_EQ(few.states.size(), 10u);
  EXPECT_EQ(few.states.back().bytes, all.states.back().bytes);
}

TEST(Replay, WithoutFusionThereIsNoStep) {
  const Made m(kPrograms[0]);
  EXPECT_TRUE(m.unfused.steps.empty());
  EXPECT_FALSE(m.plan.steps.empty());
}

}  // namespace
}  // namespace smelt::plan

// What the cost model says of plans: kernels, kernels that are not one, other schedules.
#include "plan/predict.hpp"

#include <gtest/gtest.h>

#include "frontends/language.hpp"
#include "schedule/candidates.hpp"

namespace smelt::plan {
namespace {

struct Case {
  Graph graph;
  Options options;
  Plan plan;
  Prediction prediction;

  explicit Case(const std::string& program, bool gpu = true) : graph(simplify(lang::parse_program(program, "<test>"))) {
    options.target.threads = 8;
    options.target.l3_bytes = 32 << 20;
    if (gpu) {
      options.target.device = "cuda";
      options.target.gpu = true;
      options.target.threads = 132;
      options.target.l2_bytes = 50 << 20;
      options.target.clusters = true;
    }
    plan = make_plan(graph, options);
    prediction = predict(graph, plan, options);
  }
  std::vector<Boundary> boundaries() const { return plan::boundaries(graph, plan, options, prediction); }
};

TEST(Predict, KernelsAddUpToTheirOwnCosts) {
  for (const bool gpu : {true, false}) {
    const Case c("input x: f32[4096, 4096]\nreturn sum(x, 0), softmax(x).T", gpu);
    ASSERT_GT(c.plan.groups.size(), 1u);
    double sum = 0;
    for (size_t k = 0; k < c.plan.groups.size(); ++k) {
      const FusionGroup& group = c.plan.groups[k];
      ASSERT_TRUE(group.parts.empty());
      const schedule::Cost cost = schedule::predict(c.graph, group, *group.schedule, c.options);
      EXPECT_EQ(c.prediction.kernels[k]->us, cost.us);
      sum += cost.us;
    }
    EXPECT_DOUBLE_EQ(c.prediction.us, sum);
    EXPECT_TRUE(c.prediction.complete);
  }
}

// A CPU computes nothing of zeros that are inserted between elements: the gradient of a pool takes
// about the time of its reads and writes.
TEST(Predict, InsertedZerosCostNothing) {
  const Case spread(
      "input x: f32[64, 500, 500]\ninput g: f32[64, 250, 250]\n"
      "return vjp(avg_pool(x, (4, 4), stride=2, padding=1), x, g)",
      false);
  const Case copy("input x: f32[64, 500, 500]\nreturn x * 2", false);
  ASSERT_EQ(spread.plan.groups.size(), 1u);
  EXPECT_LT(spread.prediction.us, 2 * copy.prediction.us);
}

// The choice to cut and what is said of it come from one model.
TEST(Predict, AKernelThatWasCutIsSlowerAsOne) {
  for (const bool gpu : {true, false}) {
    const Case c("input x: f32[4096, 4096]\nreturn softmax(x).T", gpu);
    ASSERT_EQ(c.plan.groups.size(), 2u);
    const std::vector<Boundary> boundaries = c.boundaries();
    ASSERT_EQ(boundaries.size(), 1u);
    const Boundary& b = boundaries[0];
    EXPECT_EQ(b.decisions.size(), 1u);
    ASSERT_TRUE(b.one_us.has_value());
    EXPECT_DOUBLE_EQ(b.two_us, c.prediction.us);
    EXPECT_GT(*b.one_us, 1.5 * b.two_us);
    EXPECT_DOUBLE_EQ(b.gain_us, b.two_us - *b.one_us);
    EXPECT_FALSE(b.avoidable);
  }
}

TEST(Predict, AnInputThatIsReadTwiceCostsItsBytes) {
  const Case c("input x: f32[4096, 4096]\nreturn sum(x, 0), sum(x, 1)");
  const std::vector<Boundary> boundaries = c.boundaries();
  ASSERT_EQ(boundaries.size(), 1u);
  const Boundary& b = boundaries[0];
  EXPECT_EQ(b.read_again.size(), 1u);
  EXPECT_TRUE(b.avoidable);
  EXPECT_FALSE(b.one_us.has_value());
  const double bytes = 4096.0 * 4096 * 4 / c.prediction.facts.memory_bytes;
  EXPECT_GE(b.gain_us, bytes * 0.9);
  EXPECT_LE(b.gain_us, bytes + 2 * c.prediction.kernels[0]->launch_us);
}

TEST(Predict, NothingIsBetweenKernelsThatShareNothing) {
  EXPECT_TRUE(Case("input x: f32[64, 64]\ninput y: f32[64, 32]\nreturn sum(x, 1), max(y, 0)").boundaries().empty());
  EXPECT_TRUE(Case("input x: f32[64]\nreturn exp(x) + 1").boundaries().empty());
}

// One launch of several parts takes less than the parts by themselves, and no less than the
// longest.
TEST(Predict, ABatchIsOneLaunch) {
  const Case c("input a: f32[100000]\ninput b: f32[200000]\nreturn exp(a), exp(b)");
  ASSERT_EQ(c.plan.groups.size(), 1u);
  ASSERT_EQ(c.plan.groups[0].parts.size(), 2u);
  const double small = Case("input a: f32[100000]\nreturn exp(a)").prediction.us;
  const double large = Case("input b: f32[200000]\nreturn exp(b)").prediction.us;
  EXPECT_LT(c.prediction.us, small + large);
  EXPECT_GE(c.prediction.us, large);
}

TEST(Predict, FasterSchedulesAreThoseOfTheCandidates) {
  Case c("input x: f32[64, 1000000]\nreturn exp(x) * x");
  // A schedule that nobody would choose.
  FusionGroup& group = c.plan.groups[0];
  const auto slow = schedule::candidate(c.graph, group, c.options, Tuning{.lanes = 1, .unroll = 1, .threads = 32});
  ASSERT_TRUE(std::holds_alternative<schedule::Candidate>(slow));
  group.schedule = std::get<schedule::Candidate>(slow).schedule;
  c.prediction = predict(c.graph, c.plan, c.options);
  const std::vector<FasterSchedule> found = faster_schedules(c.graph, c.plan, c.options, c.prediction);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kernel, 0u);
  EXPECT_LT(found[0].us, found[0].own_us);
  EXPECT_DOUBLE_EQ(schedule::predict(c.graph, group, *found[0].schedule, c.options).us, found[0].us);
  // What was measured is known better.
  group.rebuilt = "tuned";
  EXPECT_TRUE(faster_schedules(c.graph, c.plan, c.options, c.prediction).empty());
}

}  // namespace
}  // namespace smelt::plan

// Graphs of ten thousand nodes: what takes n steps takes hundredths of a second, what takes n^2 steps takes minutes.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "graph/build.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace smelt {
namespace {

constexpr int kNodes = 10000;

using Build = std::function<std::vector<NodeId>(GraphBuilder&, NodeId x)>;

// The plan, made in seconds that leave room for a busy machine but none for n^2 steps.
plan::Plan planned_in_time(const Build& build) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F32, {IntExpr::symbol("N")});
  const Graph graph = b.finish(build(b, x));
  const auto start = std::chrono::steady_clock::now();
  const Graph simple = simplify(graph);
  verify(simple);
  plan::Options options;
  options.sizes = {{"N", 1000}};
  plan::Plan plan = plan::make_plan(simple, options, schedule::accepts);
  plan::verify(simple, plan);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(seconds, 8);
  ::testing::Test::RecordProperty("seconds", std::to_string(seconds));
  return plan;
}

NodeId apply(GraphBuilder& b, Op op, const Operand& x, const Operand& y) { return b.elementwise(op, {x, y}); }

TEST(LargePlan, Chain) {
  const plan::Plan plan = planned_in_time([](GraphBuilder& b, NodeId x) {
    for (int i = 0; i < kNodes; ++i) x = apply(b, i % 2 ? Op::Mul : Op::Add, x, 1 + i * 1e-3);
    return std::vector{x};
  });
  EXPECT_LT(plan.groups.size(), 10u);
  // Kernels end where they would take too long to compile, and say so.
  int cuts = 0;
  for (const plan::Decision& d : plan.decisions)
    if (!d.fused) {
      EXPECT_NE(d.reason.find("more operations than one kernel"), std::string::npos) << d.reason;
      ++cuts;
    }
  EXPECT_EQ(cuts + 1, static_cast<int>(plan.groups.size()));
}

TEST(LargePlan, Tree) {
  const plan::Plan plan = planned_in_time([](GraphBuilder& b, NodeId x) {
    std::vector<NodeId> level;
    for (int i = 0; i < kNodes / 2; ++i) level.push_back(apply(b, Op::Mul, x, 1.5 + i));
    while (level.size() > 1) {
      std::vector<NodeId> next;
      for (size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(apply(b, Op::Add, level[i], level[i + 1]));
      if (level.size() % 2) next.push_back(level.back());
      level = next;
    }
    return level;
  });
  EXPECT_LT(plan.groups.size(), 10u);
}

TEST(LargePlan, Lattice) {
  const plan::Plan plan = planned_in_time([](GraphBuilder& b, NodeId x) {
    std::vector<NodeId> live;
    for (int i = 0; i < 64; ++i) live.push_back(apply(b, Op::Mul, x, 1.5 + i));
    while (live.size() < kNodes) live.push_back(apply(b, Op::Add, live[live.size() - 64], live[live.size() - 63]));
    return std::vector<NodeId>(live.end() - 64, live.end());
  });
  EXPECT_LT(plan.groups.size(), 10u);
}

TEST(LargePlan, ManyOutputs) {
  const plan::Plan plan = planned_in_time([](GraphBuilder& b, NodeId x) {
    std::vector<NodeId> outputs;
    for (int i = 0; i < kNodes; ++i) outputs.push_back(apply(b, Op::Mul, x, 1.5 + i));
    return outputs;
  });
  EXPECT_LT(plan.groups.size(), 10u) << "readers of one array share kernels";
}

TEST(LargePlan, ManyInputs) {
  const plan::Plan plan = planned_in_time([](GraphBuilder& b, NodeId) {
    std::vector<NodeId> outputs;
    for (int i = 0; i < kNodes / 4; ++i) {
      NodeId v = b.input("y" + std::to_string(i), DType::F32, {IntExpr::symbol("N")});
      for (int k = 0; k < 4; ++k) v = b.elementwise(Op::Sqrt, {v});
      outputs.push_back(v);
    }
    return outputs;
  });
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].parts.size(), kNodes / 4u);
}

}  // namespace
}  // namespace smelt

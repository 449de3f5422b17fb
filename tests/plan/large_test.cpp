// Graphs of ten thousand nodes: what takes n steps takes hundredths of a second, what takes n^2
// steps takes minutes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>

#include "graph/build.hpp"
#include "kernel/lower.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

// SMELT_NODES=100000 plans larger ones, and prints how long they take.
const int kNodes = [] {
  const char* text = std::getenv("SMELT_NODES");
  return text ? std::max(1000, std::atoi(text)) : 10000;
}();
size_t few(size_t of_ten_thousand) { return of_ten_thousand * static_cast<size_t>(std::max(kNodes, 10000)) / 10000; }

using Build = std::function<std::vector<NodeId>(GraphBuilder&, NodeId x)>;

// The plan, made in seconds that leave room for a busy machine but none for n^2 steps.
plan::Plan planned_in_time(const Build& build) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F32, {sym("N"_size)});
  const Graph graph = b.finish(build(b, x));
  const std::clock_t start = std::clock();  // of the processor: other programs of the machine do not count
  const Graph simple = simplify(graph);
  verify(simple);
  plan::Options options;
  options.sizes = {{"N"_size, 1000}};
  plan::Plan plan = plan::make_plan(simple, options);
  plan::verify(simple, plan);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 8.0 * kNodes / 10000);
  if (std::getenv("SMELT_NODES"))
    std::printf("%zu nodes: %.2f s, %zu kernels\n", simple.nodes.size(), seconds, plan.groups.size());
  ::testing::Test::RecordProperty("seconds", std::to_string(seconds));
  return plan;
}

NodeId apply(GraphBuilder& b, Op op, const Operand& x, const Operand& y) { return b.elementwise(op, {x, y}); }

TEST(LargePlan, Chain) {
  const plan::Plan plan = planned_in_time([](GraphBuilder& b, NodeId x) {
    for (int i = 0; i < kNodes; ++i) x = apply(b, i % 2 ? Op::Mul : Op::Add, x, 1 + i * 1e-3);
    return std::vector{x};
  });
  EXPECT_LT(plan.groups.size(), few(10));
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
  EXPECT_LT(plan.groups.size(), few(10));
}

TEST(LargePlan, Lattice) {
  const plan::Plan plan = planned_in_time([](GraphBuilder& b, NodeId x) {
    std::vector<NodeId> live;
    for (int i = 0; i < 64; ++i) live.push_back(apply(b, Op::Mul, x, 1.5 + i));
    while (live.size() < static_cast<size_t>(kNodes))
      live.push_back(apply(b, Op::Add, live[live.size() - 64], live[live.size() - 63]));
    return std::vector<NodeId>(live.end() - 64, live.end());
  });
  EXPECT_LT(plan.groups.size(), few(10));
}

TEST(LargePlan, ManyOutputs) {
  const plan::Plan plan = planned_in_time([](GraphBuilder& b, NodeId x) {
    std::vector<NodeId> outputs;
    for (int i = 0; i < kNodes; ++i) outputs.push_back(apply(b, Op::Mul, x, 1.5 + i));
    return outputs;
  });
  EXPECT_LT(plan.groups.size(), few(10)) << "readers of one array share kernels";
}

TEST(LargePlan, ManyInputs) {
  const plan::Plan plan = planned_in_time([](GraphBuilder& b, NodeId) {
    std::vector<NodeId> outputs;
    for (int i = 0; i < kNodes / 4; ++i) {
      NodeId v = b.input("y" + std::to_string(i), DType::F32, {sym("N"_size)});
      for (int k = 0; k < 4; ++k) v = b.elementwise(Op::Sqrt, {v});
      outputs.push_back(v);
    }
    return outputs;
  });
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].parts.size(), static_cast<size_t>(kNodes / 4));
}

// Layers with reductions along both axes, one after another: kernels that cannot merge.
TEST(LargePlan, Layers) {
  const plan::Plan plan = planned_in_time([](GraphBuilder& b, NodeId) {
    NodeId v = b.input("y", DType::F32, {IntExpr(64), IntExpr(64)});
    for (int i = 0; i < kNodes / 8; ++i) {
      const NodeId most = b.reduce(ReduceKind::Max, v, {i % 2}, true);
      const NodeId wide = b.broadcast_to(most, {IntExpr(64), IntExpr(64)});
      v = b.elementwise(Op::Add, {b.elementwise(Op::Exp, {b.elementwise(Op::Sub, {v, wide})}), v});
    }
    return std::vector{v};
  });
  EXPECT_GE(plan.groups.size(), static_cast<size_t>(kNodes / 8));
}

// An array that grows piece by piece: where each begins is known but for the first one's size.
TEST(LargePlan, PiecesBehindOneOfOpenSize) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F32, {3});
  NodeId all = b.input("first", DType::F32, {sym("E"_size)});
  for (int i = 0; i < 60; ++i) all = b.concat({all, apply(b, Op::Mul, x, 1.5 + i)}, 0);
  const Graph graph = simplify(b.finish({all}));
  plan::Options options;
  options.sizes = {{"E"_size, 0}};
  const std::clock_t start = std::clock();
  const plan::Plan plan = plan::make_plan(graph, options);
  for (const plan::FusionGroup& group : plan.groups) kernel::verify(kernel::lower(graph, group, *group.schedule, "k"));
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 3) << "10 s where bounds nest";
}

}  // namespace
}  // namespace smelt

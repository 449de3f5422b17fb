// The axes of reductions and scans in the order of memory.
#include <gtest/gtest.h>

#include "frontends/language.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace smelt::schedule {
namespace {

// "a0 a1r": the axes of the only kernel, outermost first; r: reduced.
std::string axes(const std::string& program, bool gpu) {
  const Graph graph = simplify(lang::parse_program(program, "<test>"));
  plan::Options options;
  options.target.threads = gpu ? 132 : 16;
  options.target.gpu = gpu;
  if (gpu) options.target.device = "cuda";
  const plan::Plan plan = plan::make_plan(graph, options);
  EXPECT_EQ(plan.groups.size(), 1U) << plan::print(graph, plan);
  std::string text;
  for (const Axis& axis : plan.groups[0].schedule->domain.axes)
    text += (text.empty() ? "" : " ") + axis.var.name() + (axis.reduced ? "r" : "");
  return text;
}

TEST(MemoryOrder, ColumnsOfATransposedArrayAreRows) {
  for (const bool gpu : {false, true}) {
    EXPECT_EQ(axes("input x: f32[400, 300]\nreturn sum(x.T, axis=0)", gpu), "a1 a0r");
    EXPECT_EQ(axes("input x: f32[400, 300]\nreturn sum(x, axis=1)", gpu), "a0 a1r");
    EXPECT_EQ(axes("input x: f32[400, 300]\nreturn softmax(x.T).T", gpu), "a1r a0");
    EXPECT_EQ(axes("input x: f32[400, 300]\nreturn cumsum(x.T, axis=0).T", gpu), "a1 a0r");
    EXPECT_EQ(axes("input x: f32[40, 30, 64]\nreturn max(permute(x, (1, 2, 0)), axis=(0, 1))", gpu), "a2 a0a1r");
  }
}

TEST(MemoryOrder, StaysWhereAccessesDisagreeOrPositionsCount) {
  EXPECT_EQ(axes("input x: f32[4096, 512]\ninput y: f32[512, 4096]\nreturn sum(x.T*y, axis=1)", true), "a0 a1r");
  for (const bool gpu : {false, true})
    EXPECT_EQ(axes("input x: f32[9, 64]\nreturn argmax(x.T.reshape(-1), axis=0)", gpu), "a0r a1r");
}

// Whole lines are stored in any order, what is read has to be found.
TEST(MemoryOrder, RowsGoInTheOrderInWhichTheyAreRead) {
  const auto of_rows = [](const std::string& program) { return axes(program, false); };
  EXPECT_EQ(of_rows("input x: f32[8, 300, 16, 64]\nreturn permute(x, (0, 2, 1, 3)) * 2"), "a0 a2 a1 a3");
  EXPECT_EQ(of_rows("input x: f32[8, 16, 300, 64]\nreturn permute(x, (0, 2, 1, 3)) * 2"), "a0 a1 a2 a3");
  EXPECT_EQ(of_rows("input x: f32[8, 300, 16, 64]\nreturn x * 2"), "a0a1a2a3");
  EXPECT_EQ(of_rows("input x: f32[8, 300, 16, 64]\ninput y: f32[8, 16, 300, 64]\nreturn permute(x, (0, 2, 1, 3)) + y"),
            "a0 a1 a2 a3");
  // Little is read; rows are no lines; all of it is in the caches.
  EXPECT_EQ(of_rows("input x: f32[300, 16, 64]\ninput y: f32[8, 16, 300, 64]\n"
                    "return permute(x, (1, 0, 2)) + y"),
            "a0 a1 a2 a3");
  EXPECT_EQ(of_rows("input x: f32[300, 16, 3000]\nreturn i8(permute(x[:, :, ::100], (1, 0, 2)))"), "a0 a1 a2");
  EXPECT_EQ(of_rows("input x: f32[30, 16, 64]\nreturn permute(x, (1, 0, 2)) * 2"), "a0 a1 a2");
}

// How far apart the elements of neighbouring points of an axis, the last one, are: those that are
// read, then the one that is stored.
std::string steps(const std::string& program, bool first_axis = false) {
  const Graph graph = simplify(lang::parse_program(program, "<test>"));
  plan::Options options;
  options.target.threads = 16;
  const plan::Plan plan = plan::make_plan(graph, options);
  EXPECT_EQ(plan.groups.size(), 1U) << plan::print(graph, plan);
  const Domain& domain = plan.groups[0].schedule->domain;
  std::string text;
  const auto add = [&](NodeId node, const Index& index) {
    const auto step = flat_offset(graph.at(node).shape, index)
                          .coefficient_of((first_axis ? domain.axes.front() : domain.axes.back()).var);
    text += (text.empty() ? "" : " ") + (step ? step->str() : "?");
  };
  for (const Read& r : domain.reads) add(r.node, r.index);
  for (const Output& o : domain.outputs) add(o.node, o.store_index);
  return text;
}

TEST(MemoryOrder, WhatIsFlippedIsReadForwards) {
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn sum(x[:, ::-1], axis=1)"), "1 0");
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn exp(x[::-1, ::-1])[::-1, ::-1]"), "1 1");
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn softmax(x[:, ::-1])[:, ::-1]"), "1 1");
  EXPECT_EQ(steps("input x: f32[40, 300]\ninput y: f32[40, 300]\nreturn x[:, ::-1] - y[:, ::-1]"), "1 1 -1");
}

TEST(MemoryOrder, WhatIsStoredGoesForwardsWhereReadsDisagree) {
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn exp(x)[:, ::-1]"), "-1 1");
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn x[:, ::-1] * 2"), "-1 1");
  EXPECT_EQ(steps("input x: f32[40, 3]\nreturn x[:, ::-1]"), "-1 1");
}

TEST(MemoryOrder, RowsAreReadForwardsUnlessTheirElementsAreNot) {
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn x[::-1] * 2", true), "300 -300");
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn softmax(x[::-1])", true), "300 -300");
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn softmax(x)[::-1]", true), "300 -300");
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn softmax(x[:, ::-1])", true), "300 300");
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn x + x[::-1]", true), "300 -300 300");
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn x[::-1, ::-1] * 2"), "-1 1") << "as one axis";
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn x[::-1, ::-1] * 2", true), "-1 1") << "as one axis";
}

// Pixels of a mirrored picture are stored forwards, as pictures of single elements are not.
TEST(MemoryOrder, ShortRunsAreStoredForwards) {
  EXPECT_EQ(steps("input x: u8[400, 3]\nreturn x[::-1]", true), "-3 3");
  EXPECT_EQ(steps("input x: u8[400, 2, 2]\nreturn x[::-1] ^ 1", true), "-4 4");
  EXPECT_EQ(steps("input x: f32[400, 9]\nreturn x[::-1] * 2", true), "9 -9");
  EXPECT_EQ(steps("input x: u8[300, 400, 3]\nreturn x[::-1]", true), "1200 -1200");
}

TEST(MemoryOrder, PositionsAndScansKeepTheirDirection) {
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn argmax(x[:, ::-1], axis=1)"), "-1 0");
  EXPECT_EQ(steps("input x: f32[40, 300]\nreturn cumsum(x[:, ::-1], axis=1)"), "-1 1");
}

// How many rows a step down columns takes.
int rows_at_once(const std::string& program) {
  const Graph graph = simplify(lang::parse_program(program, "<test>"));
  plan::Options options;
  options.target.threads = 16;
  const plan::Plan plan = plan::make_plan(graph, options);
  EXPECT_EQ(plan.groups.size(), 1U) << plan::print(graph, plan);
  return plan.groups[0].schedule->unroll;
}

TEST(MemoryOrder, ColumnsOfMemoryInOrderTakeARowAtATime) {
  EXPECT_EQ(rows_at_once("input x: f32[12000, 1000]\nreturn sum(x, axis=0)"), 1);
  EXPECT_EQ(rows_at_once("input x: f32[10, 6000, 200]\nreturn max(x, axis=1)"), 1);
  EXPECT_EQ(rows_at_once("input x: f32[12000, 1000]\ninput w: f32[12000]\nreturn sum(x * w[:, None], axis=0)"), 1);
  EXPECT_EQ(rows_at_once("input x: f32[2000, 100]\nreturn sum(x, axis=0)"), 4) << "from the caches";
  EXPECT_EQ(rows_at_once("input x: f32[190000, 64]\nreturn sum(x, axis=0)"), 4) << "short rows";
  EXPECT_EQ(rows_at_once("input x: f32[3000, 4000]\nreturn sum(x, axis=0)"), 4) << "columns of several tiles";
  EXPECT_EQ(rows_at_once("input x: f32[6000, 3000]\nreturn sum(x[:, :1000], axis=0)"), 4) << "rows that are apart";
}

}  // namespace
}  // namespace smelt::schedule

// The variants of a phase on a GPU and the shapes of its Vector loops, and what verify() makes of
// wrong ones.
#include "kernel/shape_loops.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "changes.hpp"
#include "kernel/team_forms.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

using ::testing::HasSubstr;

const IntExpr g = sym("g"_loop), i = sym("i"_loop), B = sym("B"_size), C = sym("C"_size);

// out[g, i] = in[g, i + at] for i < columns, by a team of 128 threads. Rows have `beyond` more.
struct Row {
  Sample s;
  explicit Row(const IntExpr& columns, int lanes = 4, int unroll = 1, bool whole = false, const IntExpr& at = 0,
               int64_t beyond = 8) {
    s.size("B"_size);
    if (!columns.constant()) s.size("C"_size);
    const int in = s.input(DType::F32, {B, columns + beyond}), out = s.output(DType::F32, {B, columns + beyond});
    Loop row = vector("i"_loop, columns, {store({false, out, {g, i}}, s.load(in, {g, i + at}))}, lanes);
    row.unroll = unroll, row.whole = whole;
    s.phase(grid("g"_loop, B, {std::move(row)}));
    s.kernel.dialect = Dialect::Gpu;
    s.kernel.phases[0].team = {128, 128, 0};
  }
  Lines shaped() { return changes(s.kernel, shape_vector_loops); }
  Loop& loop() { return grid_body(s.kernel)[0].get<Loop>(); }
  // What verify() says of shapes that `change` has changed.
  template <class Change>
  std::string fault_of(size_t variant, const Change& change) {
    const auto before = loop().team;
    TeamForms forms = *before;
    change(forms.shapes[variant]);
    loop().team = std::make_shared<const TeamForms>(forms);
    const std::string found = fault(s.kernel);
    loop().team = before;
    return found;
  }
};

TEST(ShapeVectorLoops, OneStepOfAnExactExtent) {
  EXPECT_EQ(Row(1024, 4, 2).shaped(), (Lines{"+ variant fast", "+ variant odd", "+ variant any",
                                             "+ fast, odd: 2 x 4 to a thread, in one step, unchecked",
                                             "+ any: 8 x 1 to a thread, in one step, unchecked"}));
}

TEST(ShapeVectorLoops, ASizeIsAMultipleOrTheLoopIsPeeled) {
  EXPECT_EQ(Row(C).shaped(),
            (Lines{"+ variant fast where -(C % 4) >= 0", "+ variant odd", "+ variant any", "+ fast: 1 x 4 to a thread",
                   "+ odd: 1 x 4 to a thread, peeled, element 0 at 8*%g + %g*C", "+ any: 4 x 1 to a thread"}));
}

TEST(ShapeVectorLoops, GroupsFollowTheWordsOfMostArrays) {
  Row shifted(1001, 4, 1, false, 3);
  shifted.shaped();
  ASSERT_EQ(shifted.s.kernel.phases[0].variants.size(), 2U) << "1001 is no multiple: there is no fast one";
  const LoopShape& odd = shifted.loop().team->shapes[0];
  EXPECT_TRUE(odd.peeled);
  EXPECT_EQ(odd.origin, 1009 * g) << "of as many accesses as one 3 elements further, the store's";
}

// Rows that end anywhere and begin at words: their edge is at the end alone.
TEST(ShapeVectorLoops, GroupsOfWholeRowsBeginAtWords) {
  Row row(1001, 4, 1, false, 0, 7);
  row.shaped();
  const LoopShape& odd = row.loop().team->shapes[0];
  EXPECT_TRUE(odd.peeled);
  EXPECT_EQ(odd.origin, IntExpr(0));
}

TEST(ShapeVectorLoops, WhatIsExpectedToBeOneStep) {
  const Lines lines = Row(C, 4, 2, true).shaped();
  EXPECT_EQ(lines[0], "+ variant held fast where -(C % 4) >= 0 and -C + 1024 >= 0");
  EXPECT_EQ(lines[1], "+ variant held odd where -C + 1027 >= 0");
  EXPECT_EQ(lines[5], "+ held fast: 2 x 4 to a thread, in one step");
}

TEST(ShapeVectorLoops, FewThreadsHaveNoEdges) {
  Row few(1001);
  few.s.kernel.phases[0].team = {4, 64, 0};
  few.shaped();
  for (const LoopShape& shape : few.loop().team->shapes) EXPECT_EQ(shape.lanes, 1);
}

TEST(ShapeVectorLoops, LoopsInsideTakeOneGroup) {
  Sample s;
  const int in = s.input(DType::F32, {512, 8}), out = s.output(DType::F32, {512, 8});
  const std::vector<IntExpr> at{i, sym("r"_loop)};
  s.phase(
      grid("g"_loop, 1, {vector("i"_loop, 512, {serial("r"_loop, 8, {store({false, out, at}, s.load(in, at))})}, 1)}));
  grid_body(s.kernel)[0].get<Loop>().unroll = 4;
  s.kernel.dialect = Dialect::Gpu;
  s.kernel.phases[0].team = {128, 128, 0};
  EXPECT_EQ(changes(s.kernel, shape_vector_loops).back(), "+ fast, odd, any: 1 x 1 to a thread, unchecked");
}

TEST(ShapeVectorLoops, ElementByElementWhereADriverVectorizes) {
  Row looped(1024);
  looped.s.kernel.dialect = Dialect::PlainThread;
  looped.s.kernel.phases[0].team = {1, 8, 0};
  EXPECT_EQ(looped.shaped().back(), "+ fast, odd, any: element by element");
}

TEST(VerifyTeams, ShapesThatAreNotSo) {
  Row exact(1024, 4, 2), symbolic(C);
  exact.shaped();
  symbolic.shaped();
  EXPECT_EQ(fault(exact.s.kernel), "");
  EXPECT_NE(exact.fault_of(0, [](LoopShape& x) { x.unroll = 1; })
                .find("loop %i, fast: one step of 512 for an extent of 1024"),
            std::string::npos);
  EXPECT_NE(exact.fault_of(0, [](LoopShape& x) { x.unroll = 3; }).find("unchecked"), std::string::npos);
  EXPECT_NE(exact.fault_of(0, [](LoopShape& x) { x.lanes = 8; }).find("groups of 8 lanes"), std::string::npos);
  EXPECT_NE(exact.fault_of(2, [](LoopShape& x) { x.lanes = 4; }).find("any: groups of 4 lanes"), std::string::npos);
  EXPECT_NE(exact.fault_of(0, [](LoopShape& x) { x.checked = true, x.inside = 3; }).find("3 groups"),
            std::string::npos);
  EXPECT_NE(symbolic.fault_of(0, [](LoopShape& x) { x.one_step = true; }).find("one step of 512"), std::string::npos);
  EXPECT_NE(symbolic.fault_of(0, [](LoopShape& x) { x.checked = false; }).find("unchecked"), std::string::npos);
  EXPECT_NE(symbolic.fault_of(1, [](LoopShape& x) { x.peeled = false; }).find("no multiple of 4 lanes"),
            std::string::npos);
  EXPECT_NE(symbolic.fault_of(1, [](LoopShape& x) { x.origin = i; }).find("element 0 is at %i"), std::string::npos);
}

TEST(VerifyTeams, VariantsThatAreNotAll) {
  Row x(C);
  x.shaped();
  x.s.kernel.phases[0].variants[0].when.clear();
  EXPECT_NE(fault(x.s.kernel).find("fast: an extent of C is no multiple of 4 lanes"), std::string::npos);
  x.s.kernel.phases[0].variants[2].when = {C - 4};
  EXPECT_NE(fault(x.s.kernel).find("takes every size and address"), std::string::npos);
  x.s.kernel.phases[0].variants.pop_back();
  EXPECT_THAT(fault(x.s.kernel), HasSubstr("loop %i has 3 shapes for 2 variants"));
}

}  // namespace
}  // namespace smelt::kernel

// How lanes compute their indices, and what verify() makes of a form that is wrong.
#include "kernel/index_forms.hpp"

#include <gtest/gtest.h>

#include "changes.hpp"
#include "kernel/classify_accesses.hpp"
#include "kernel/lane_forms.hpp"
#include "kernel/verify_parts.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const IntExpr i = sym("i"_loop), S = sym("S"_size);

// out[i] = in[at] for i < 960 with 16 lanes, in steps that begin at their multiples, or anywhere.
struct Indexed {
  Sample s;
  explicit Indexed(const IntExpr& at, bool anywhere = false, ExprId (*mask)(Sample&) = nullptr) {
    s.size("S"_size);
    const int in = s.input(DType::F32, {1 << 20}), out = s.output(DType::F32, {960});
    const ExprId x = mask ? s.load(in, {at}, mask(s), s.f32(0)) : s.load(in, {at});
    s.phase(grid("g"_loop, 1, {vector("i"_loop, 960, {store({false, out, {i}}, x)}, 16)}));
    loop().begins = anywhere ? 1 : 16;
    classify_accesses(s.kernel);
  }
  Loop& loop() { return grid_body(s.kernel)[0].get<Loop>(); }
  const LaneForms& found() {
    classify_indices(s.kernel);
    verify_indices(s.kernel);
    return *loop().forms;
  }
};

TEST(ClassifyIndices, WhatAddsTheSameToLaneZeroInAllSteps) {
  Indexed x(1000 * mod(i, 16));
  EXPECT_EQ(changes(x.s.kernel, classify_indices),
            (Lines{"+ lanes of 1000*(%i % 16) are 0 1000 2000 3000 4000 5000 6000 7000 ... beyond the first",
                   "+ lanes of (%i % 16) by one division"}));
}

TEST(ClassifyIndices, NeighboursAreDividedOnce) {
  Indexed x(900 * mod(i, 5), true);
  EXPECT_EQ(changes(x.s.kernel, classify_indices), (Lines{"+ lanes of (%i % 5) by one division"}));
  const LaneDivision& form = x.found().divisions.begin()->second;
  EXPECT_EQ(form.step, 1);
  EXPECT_EQ(form.quotient, floordiv(i, 5));
  EXPECT_EQ(form.remainder, mod(i, 5));
}

TEST(ClassifyIndices, NothingWhereLanesLieAtADistance) {
  for (const IntExpr& at : {7 + i, 3 * i, 9 * i}) {
    Indexed x(at);
    EXPECT_EQ(changes(x.s.kernel, classify_indices), Lines{}) << at.str();
  }
}

TEST(ClassifyIndices, QuotientsAreComparedByTheirNumerators) {
  Indexed x(i, true, [](Sample& s) { return s.at_least(floordiv(i + S, 7), 12); });
  EXPECT_EQ(changes(x.s.kernel, classify_indices),
            (Lines{"+ lanes of ((%i + S) // 7) by one division",
                   "+ index(((%i + S) // 7)) >= 12:i64 where %i + S - 84 >= 0"}));
  const LaneComparison& form = x.found().comparisons.begin()->second;
  EXPECT_TRUE(form.at_least);
  EXPECT_EQ(form.step, 1);
}

TEST(ClassifyIndices, OthersByTheirDifference) {
  Indexed x(i, true, [](Sample& s) { return s.less(2 * i, S); });
  const LaneComparison& form = x.found().comparisons.begin()->second;
  EXPECT_FALSE(form.at_least);
  EXPECT_EQ(form.step, 2);
  EXPECT_EQ(form.difference, 2 * i - S);
}

// What verify() says of forms that `change` has changed.
template <class Change>
std::string fault_with(Indexed& x, const Change& change) {
  LaneForms forms = x.found();
  change(forms);
  x.loop().forms = std::make_shared<const LaneForms>(forms);
  return fault(x.s.kernel);
}

TEST(VerifyIndices, TablesThatAreNotSo) {
  const auto with = [](const auto& change) {
    Indexed x(1000 * mod(i, 16));
    return fault_with(x, [&](LaneForms& forms) { change(forms.tables.begin()->second); });
  };
  EXPECT_EQ(with([](std::vector<int64_t>&) {}), "");
  EXPECT_NE(with([](std::vector<int64_t>& table) { ++table[6]; }).find("lane 6 is 6000 beyond lane 0, not 6001"),
            std::string::npos);
  EXPECT_NE(with([](std::vector<int64_t>& table) { table.pop_back(); }).find("no table of 15 lanes"),
            std::string::npos);
  Indexed anywhere(900 * mod(i, 5), true);
  const auto add = [](LaneForms& forms) { forms.tables[mod(i, 16)] = std::vector<int64_t>(16, 0); };
  EXPECT_NE(fault_with(anywhere, add).find("the same in all steps"), std::string::npos);
}

TEST(VerifyIndices, DivisionsThatAreNotSo) {
  const auto with = [](const auto& change) {
    Indexed x(900 * mod(i + S, 5), true);
    return fault_with(x, [&](LaneForms& forms) { change(forms.divisions.begin()->second); });
  };
  EXPECT_EQ(with([](LaneDivision&) {}), "");
  EXPECT_NE(with([](LaneDivision& d) { d.step = 2; }).find("does not grow by 2"), std::string::npos);
  EXPECT_NE(with([](LaneDivision& d) { d.quotient = d.quotient + 1; }).find("is not the quotient"), std::string::npos);
  EXPECT_NE(with([](LaneDivision& d) { d.remainder = i; }).find("is not the remainder"), std::string::npos);
  EXPECT_NE(with([](LaneDivision& d) { d.atom = mod(i, 9).terms()[0].atoms[0]; }).find("no division is this one"),
            std::string::npos);
}

TEST(VerifyIndices, ComparisonsThatAreNotSo) {
  const auto with = [](const auto& change) {
    Indexed x(i, true, [](Sample& s) { return s.at_least(floordiv(i + S, 7), 12); });
    return fault_with(x, [&](LaneForms& forms) { change(forms.comparisons.begin()->second); });
  };
  EXPECT_EQ(with([](LaneComparison&) {}), "");
  EXPECT_NE(with([](LaneComparison& c) { c.difference = c.difference + 1; }).find("says something else"),
            std::string::npos);
  EXPECT_NE(with([](LaneComparison& c) { c.at_least = false; }).find("says something else"), std::string::npos);
  EXPECT_NE(with([](LaneComparison& c) { c.step = 3; }).find("does not grow by 3"), std::string::npos);
}

}  // namespace
}  // namespace smelt::kernel

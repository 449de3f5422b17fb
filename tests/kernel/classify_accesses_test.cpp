// How the lanes of an access lie, and what verify() makes of a form that is wrong.
#include "kernel/classify_accesses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "changes.hpp"
#include "kernel/lane_faults.hpp"
#include "kernel/verify_parts.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

using ::testing::HasSubstr;
using Form = LaneAccess::Form;

const IntExpr i = sym("i"_loop), W = sym("W"_size), S = sym("S"_size);

// out[i] = in[at] for i < 960, in steps that begin at multiples of the lanes, or anywhere.
struct Reading {
  Sample s;
  explicit Reading(const IntExpr& at, int lanes = 8, bool anywhere = false) {
    s.size("W"_size);
    s.size("S"_size);
    const int in = s.input(DType::F32, {1 << 20}), out = s.output(DType::F32, {960});
    s.phase(grid("g"_loop, 1, {vector("i"_loop, 960, {store({false, out, {i}}, s.load(in, {at}))}, lanes)}));
    loop().begins = anywhere ? 1 : lanes;
    classify_accesses(s.kernel);
    verify_lanes(s.kernel);
  }
  Loop& loop() { return grid_body(s.kernel)[0].get<Loop>(); }
  const LaneAccess& form() { return loop().forms->loads.begin()->second; }
};

TEST(ClassifyAccesses, OnePlaceNeighboursAndAnywhere) {
  EXPECT_EQ(Reading(7).form().form, Form::Broadcast);
  for (const bool anywhere : {false, true})
    for (const int step : {1, -1}) {
      Reading x(step * i + 1000, 8, anywhere);
      EXPECT_EQ(x.form().form, Form::Strided);
      EXPECT_EQ(x.form().step, step);
      EXPECT_TRUE(x.form().holds.empty());
    }
  EXPECT_EQ(Reading(i * i).form().form, Form::Gather);
  EXPECT_EQ(Reading(S * i, 8, true).form().form, Form::Gather) << "a distance that only the call knows";
}

TEST(ClassifyAccesses, NeighboursAtADistance) {
  for (const int step : {2, 3, 8, -5}) {
    Reading x(step * i + 8000, 8, true);
    EXPECT_EQ(x.form().form, Form::Strided);
    EXPECT_EQ(x.form().step, step);
  }
  EXPECT_EQ(Reading(32 * i, 8, true).form().form, Form::Apart);
  EXPECT_EQ(Reading(2 * i, 4, true).form().form, Form::Apart);
  EXPECT_EQ(Reading(33 * i, 8, true).form().form, Form::Gather) << "a place for each lane";
}

// out[i] = the sum of in[step * i + n] for these n, in steps that begin anywhere; the forms of the
// loads.
std::vector<Form> forms_of_row(int step, const std::vector<int>& numbers, int lanes, bool inside = false) {
  Sample s;
  const int in = s.input(DType::F32, {1 << 20}), out = s.output(DType::F32, {960});
  ExprId sum = s.f32(0);
  for (const int n : numbers) sum = s.build.apply(Op::Add, {sum, s.load(in, {step * i + n})});
  std::vector<Stmt> body{store({false, out, {i}}, sum)};
  if (inside) body = {serial("k"_loop, 3, std::move(body))};
  s.phase(grid("g"_loop, 1, {vector("i"_loop, 960, std::move(body), lanes)}));
  grid_body(s.kernel)[0].get<Loop>().begins = 1;
  classify_accesses(s.kernel);
  verify_lanes(s.kernel);
  std::vector<Form> forms;
  for (const auto& [id, access] : grid_body(s.kernel)[0].get<Loop>().forms->loads) forms.push_back(access.form);
  return forms;
}

TEST(ClassifyAccesses, RowsOfWhichMostElementsAreReadAreDealtOut) {
  using ::testing::Each;
  const auto to = [](int end, int by = 1) {
    std::vector<int> numbers;
    for (int n = 0; n < end; n += by) numbers.push_back(n);
    return numbers;
  };
  EXPECT_THAT(forms_of_row(16, to(16), 16), Each(Form::Pieces));
  EXPECT_THAT(forms_of_row(12, to(12), 8), Each(Form::Pieces));
  EXPECT_THAT(forms_of_row(32, to(32), 16, true), Each(Form::Pieces)) << "a loop inside runs at least once";
  EXPECT_THAT(forms_of_row(10, {3, 4, 6, 7, 8, 12}, 8), Each(Form::Pieces)) << "from the first to the last";
  EXPECT_THAT(forms_of_row(16, {0, 7, 15}, 16), Each(Form::Apart)) << "few elements of a row";
  EXPECT_THAT(forms_of_row(16, to(15), 16), Each(Form::Apart)) << "nobody reads the last element";
  EXPECT_THAT(forms_of_row(14, to(14), 16), Each(Form::Apart)) << "halves of seven";
  EXPECT_THAT(forms_of_row(16, to(16), 64), Each(Form::Apart)) << "more vectors than registers";
  EXPECT_THAT(forms_of_row(48, to(48), 16), Each(Form::Gather));
}

TEST(ClassifyAccesses, PiecesOfSeveralArrays) {
  Reading x(1000 * mod(i, 3) + floordiv(i, 3), 24);
  ASSERT_EQ(x.form().form, Form::Pieces);
  ASSERT_EQ(x.form().pieces.size(), 3U);
  EXPECT_EQ(x.form().pieces[1].lanes[0], (std::pair<int, int64_t>{1, 1000}));
  EXPECT_EQ(x.form().pieces[1].high, 1007);
  EXPECT_EQ(Reading(1000 * mod(i, 3) + floordiv(i, 3), 24, true).form().form, Form::Gather)
      << "where steps begin anywhere, lanes have no colour of their own";
  Reading apart(S * mod(i, 2) + floordiv(i, 2), 8);
  ASSERT_EQ(apart.form().pieces.size(), 2U);
  EXPECT_EQ(apart.form().pieces[1].apart, S);
  EXPECT_EQ(Reading(1000 * mod(i, 12), 24).form().form, Form::Gather) << "more pieces than are worth it";
}

TEST(ClassifyAccesses, WhatWrapsAroundNowAndThen) {
  Reading rolled(mod(i + S, 960), 8, true);
  EXPECT_EQ(rolled.form().form, Form::Strided);
  EXPECT_EQ(rolled.form().step, 1);
  ASSERT_EQ(rolled.form().holds.size(), 1U);
  EXPECT_EQ(rolled.form().holds[0], 960 - 1 - mod(i + S, 960) - 7);
  Reading row(floordiv(i + S, 100), 8, true);
  EXPECT_EQ(row.form().form, Form::Broadcast);
  EXPECT_EQ(row.form().holds.size(), 1U);
  Reading in_pieces(mod(2 * i + S, 960), 8);
  EXPECT_EQ(in_pieces.form().form, Form::Pieces);
  EXPECT_EQ(in_pieces.form().holds.size(), 1U);
  EXPECT_EQ(Reading(mod(i + S, 15), 8, true).form().form, Form::Gather) << "it wraps around in most steps";
}

// A channel's parameter over rows of fewer elements than lanes, and a pair's angle: the quotient of
// a quotient is one of rows of rows.
TEST(ClassifyAccesses, QuotientsOfQuotients) {
  Reading channel(floordiv(floordiv(i, 6), 20), 8, true);
  EXPECT_EQ(channel.form().form, Form::Broadcast);
  ASSERT_EQ(channel.form().holds.size(), 1U);
  EXPECT_EQ(channel.form().holds[0], 120 - 1 - mod(i, 120) - 7);
  const IntExpr pair = floordiv(i, 2), row = floordiv(floordiv(pair, 8), 4);
  Reading angle(mod(pair, 8) + 8 * mod(row + S, 1360), 8);
  EXPECT_EQ(angle.form().form, Form::Pieces);
  EXPECT_TRUE(angle.form().holds.empty());
}

TEST(ClassifyAccesses, ClampsHoldAtBothEndsOfAStep) {
  Reading x(max(0, i - S), 8, true);
  EXPECT_EQ(x.form().form, Form::Strided);
  EXPECT_EQ(x.form().holds, (std::vector<IntExpr>{i - S, i - S + 7}));
}

TEST(ClassifyAccesses, ClampsInsideOfClamps) {
  Reading x(max(0, min(i - S, 900)), 8, true);
  EXPECT_EQ(x.form().form, Form::Strided);
  EXPECT_EQ(x.form().step, 1);
  EXPECT_EQ(x.form().holds.size(), 4U);
}

TEST(ClassifyAccesses, WhatWrapsInEveryStepIsAGather) {
  EXPECT_EQ(Reading(mod(mod(i, 7) + 4, 5)).form().form, Form::Gather);
  EXPECT_EQ(Reading(mod(floordiv(i, 7) + 3, 6) * 5 + mod(i, 7), 56).form().form, Form::Gather);
}

TEST(ClassifyAccesses, MasksThatAllStepsShare) {
  Sample s;
  const int in = s.input(DType::F32, {2000}), out = s.output(DType::F32, {960});
  const ExprId even = s.build.apply(Op::Eq, {s.build.index(mod(i, 2)), s.build.index(0)});
  const ExprId x = s.load(in, {2 * i}, even, s.f32(0));
  s.phase(grid("g"_loop, 1, {vector("i"_loop, 960, {store({false, out, {i}}, x)})}));
  classify_accesses(s.kernel);
  verify(s.kernel);
  const LaneForms& forms = *grid_body(s.kernel)[0].get<Loop>().forms;
  EXPECT_EQ(forms.conditions.at(even), (std::vector<bool>{true, false, true, false, true, false, true, false}));
  EXPECT_EQ(forms.loads.at(x).form, Form::Pieces);
  EXPECT_EQ(forms.loads.at(x).pieces[0].lanes.size(), 4U);
}

TEST(ClassifyAccesses, MasksThatDifferFromStepToStep) {
  Sample s;
  const int in = s.input(DType::F32, {2000}), out = s.output(DType::F32, {960});
  const ExprId x = s.load(in, {2 * i}, s.less(i, 500), s.f32(0)), y = s.load(in, {i}, s.less(i, 500), s.f32(0));
  s.phase(grid("g"_loop, 1, {vector("i"_loop, 960, {store({false, out, {i}}, s.build.apply(Op::Add, {x, y}))})}));
  classify_accesses(s.kernel);
  const LaneForms& forms = *grid_body(s.kernel)[0].get<Loop>().forms;
  EXPECT_EQ(forms.loads.at(x).form, Form::Gather) << "what lies between may be nobody's";
  EXPECT_EQ(forms.loads.at(y).form, Form::Strided);
}

TEST(ClassifyAccesses, RowsOfScratchAtSeveralColumns) {
  Sample s;
  const int out = s.output(DType::F32, {960}), row = s.scratch(DType::F32, {1024});
  const ExprId left = s.load_scratch(row, {i}), right = s.load_scratch(row, {i + 17});
  s.phase(grid("g"_loop, 1,
               {alloc(row), vector("i"_loop, 1024, {store({true, row, {i}}, s.f32(1))}, 16),
                vector("j"_loop, 960, {store({false, out, {sym("j"_loop)}}, s.f32(0))}, 16),
                vector("i"_loop, 960, {store({false, out, {i}}, s.build.apply(Op::Add, {left, right}))}, 16)}));
  for (Stmt& stmt : grid_body(s.kernel))
    if (auto* loop = stmt.get_if<Loop>()) loop->begins = 1;
  classify_accesses(s.kernel);
  verify(s.kernel);
  const LaneForms& forms = *grid_body(s.kernel)[3].get<Loop>().forms;
  EXPECT_EQ(forms.loads.at(left).behind, 0);
  EXPECT_EQ(forms.loads.at(right).behind, 1);
}

TEST(ClassifyAccesses, PrintedBeforeEachLoad) {
  Sample s;
  s.size("S"_size);
  const int in = s.input(DType::F32, {2000}), out = s.output(DType::F32, {960});
  const ExprId sum = s.build.apply(
      Op::Add, {s.load(in, {959 - i}), s.build.apply(Op::Add, {s.load(in, {2 * i}), s.load(in, {mod(i + S, 960)})})});
  s.phase(grid("g"_loop, 1, {vector("i"_loop, 960, {store({false, out, {959 - i}}, sum)})}));
  grid_body(s.kernel)[0].get<Loop>().begins = 1;
  EXPECT_EQ(
      changes(s.kernel, classify_accesses).back(),
      "+ reversed out2[-%i + 959] = reversed in1[-%i + 959] + (strided in1[2*%i] + mostly contiguous in1[((%i + S) "
      "% 960)])");
}

// out[i] = a random word for i < 960, in steps that begin at multiples of `begins`; 0: of the
// lanes.
struct Drawing {
  Sample s;
  ExprId word;
  explicit Drawing(const IntExpr& element, int begins = 0, int lanes = 16) {
    s.size("S"_size);
    const int out = s.output(DType::U32, {960});
    const ExprId key = s.build.constant(Scalar::of_int(DType::U64, 5));
    word = s.build.random(philox::Draw::Words, {key, key, key}, element, 1 << 20);
    s.phase(grid("g"_loop, 1, {vector("i"_loop, 960, {store({false, out, {i}}, word)}, lanes)}));
    grid_body(s.kernel)[0].get<Loop>().begins = begins;
    classify_accesses(s.kernel);
    verify(s.kernel);
  }
  Loop& loop() { return grid_body(s.kernel)[0].get<Loop>(); }
  bool shared() { return loop().forms->draws.count(word) > 0; }
  const LaneDraw& draw() { return loop().forms->draws.at(word); }
  std::string fault_with(const std::function<void(LaneDraw&)>& change) {
    LaneForms forms = *loop().forms;
    change(forms.draws.at(word));
    loop().forms = std::make_shared<const LaneForms>(forms);
    return fault(s.kernel);
  }
};

TEST(ClassifyAccesses, LanesShareBlocksOfRandomWords) {
  Drawing x(i + 4 * S);
  EXPECT_TRUE(x.draw().aligned);
  EXPECT_EQ(x.draw().base, i + 4 * S);
  EXPECT_EQ(x.draw().words[5], 5);
  EXPECT_EQ(x.draw().count(16), 16);
  EXPECT_EQ(x.draw().count(4), 4) << "the last steps may take fewer lanes";
  Drawing behind(i + S, 4);
  EXPECT_FALSE(behind.draw().aligned);
  Drawing from_two(2 * i + 2);
  EXPECT_EQ(from_two.draw().base, 2 * i);
  EXPECT_EQ(from_two.draw().words[3], 8);
}

TEST(ClassifyAccesses, WordsOfTheirOwn) {
  EXPECT_FALSE(Drawing(i, 1).shared()) << "steps begin inside of blocks";
  EXPECT_FALSE(Drawing(9 * i).shared()) << "lanes are far apart";
  EXPECT_FALSE(Drawing(i * i).shared());
  EXPECT_FALSE(Drawing(S).shared()) << "one word for all";
  Drawing blocks(100 * floordiv(i, 4) + mod(i, 4), 4);
  EXPECT_EQ(blocks.draw().words.size(), 4U) << "the next lanes are far away";
  EXPECT_TRUE(blocks.draw().shared_by(4));
  EXPECT_FALSE(blocks.draw().shared_by(16));
}

TEST(VerifyLanes, DrawsThatAreNotSo) {
  EXPECT_EQ(Drawing(i).fault_with([](LaneDraw&) {}), "");
  EXPECT_NE(Drawing(i).fault_with([](LaneDraw& d) { d.words[7] = 8; }).find("lane 7 does not take word 8"),
            std::string::npos);
  EXPECT_NE(Drawing(i).fault_with([](LaneDraw& d) { d.words.push_back(16); }).find("17 of 16 lanes"),
            std::string::npos);
  EXPECT_THAT(Drawing(i).fault_with([](LaneDraw& d) { d.base = d.base + 1; }),
              HasSubstr("lane 0 does not take word 0"));
  EXPECT_NE(Drawing(i + S).fault_with([](LaneDraw& d) { d.aligned = true; }).find("begin between two"),
            std::string::npos);
  Drawing anywhere(i);
  anywhere.loop().begins = 1;
  EXPECT_NE(fault(anywhere.s.kernel).find("lane 0 is at any element"), std::string::npos);
}

// What verify() says of forms that `change` has changed.
template <class Change>
std::string fault_of(Reading& x, const Change& change) {
  LaneForms forms = *x.loop().forms;
  change(forms.loads.begin()->second);
  x.loop().forms = std::make_shared<const LaneForms>(forms);
  return fault(x.s.kernel);
}

TEST(VerifyLanes, FormsThatAreNotSo) {
  Reading one(7), strided(3 * i, 8, true), pieces(1000 * mod(i, 3) + floordiv(i, 3), 24),
      wraps(mod(i + 5, 960), 8, true);
  EXPECT_EQ(fault_of(strided, [](LaneAccess&) {}), "");
  EXPECT_EQ(fault_of(pieces, [](LaneAccess&) {}), "");
  EXPECT_EQ(fault_of(wraps, [](LaneAccess&) {}), "");
  EXPECT_NE(fault_of(wraps, [](LaneAccess& a) { a.holds[0] = a.holds[0] + 1; }).find("lane 7"), std::string::npos);
  EXPECT_THAT(fault_of(wraps, [](LaneAccess& a) { a.holds.clear(); }),
              HasSubstr("lane 1 is -((%i + 5) % 960) + ((%i + 6) % 960) elements from lane 0, not 1"));
  EXPECT_NE(fault_of(strided, [](LaneAccess& a) { a.step = 2; }).find("lane 1 is 3 elements from lane 0, not 2"),
            std::string::npos);
  EXPECT_THAT(fault_of(strided, [](LaneAccess& a) { a.form = Form::Broadcast; }),
              HasSubstr("lane 1 is 3 elements from lane 0, not 0"));
  EXPECT_NE(fault_of(pieces, [](LaneAccess& a) { a.pieces.pop_back(); }).find("reads 0 times"), std::string::npos);
  EXPECT_THAT(fault_of(one, [](LaneAccess& a) { a = {.form = Form::Strided, .step = 1}; }),
              HasSubstr("lane 1 is 0 elements from lane 0, not 1"));
}

// Lanes 1, 4 and 7 are where a broadcast would have them, others are not.
TEST(VerifyLanes, EveryLaneIsLookedAt) {
  const LaneAccess one{.form = Form::Broadcast};
  const LaneSteps steps{"i"_loop, 8, true, true};
  EXPECT_EQ(lane_fault(steps, one, mod(floordiv(mod(i, 7), 2), 2), nullptr), "lane 2 is 1 elements from lane 0, not 0");
}

TEST(VerifyLanes, StoresThatAreElsewhere) {
  Reading x(i, 8, true);
  EXPECT_EQ(fault(x.s.kernel), "");
  auto& store = x.loop().body[0].get<Store>();
  EXPECT_EQ(store.step, 1);
  store.step = 2;
  EXPECT_NE(fault(x.s.kernel).find("store out3[%i]: lane 1 is 1 elements from lane 0, not 2"), std::string::npos)
      << fault(x.s.kernel);
}

TEST(VerifyLanes, DistancesAndLinesThatAreNotSo) {
  Reading pieces(3 * i, 8), neighbours(i, 16, true);
  EXPECT_NE(fault_of(pieces, [](LaneAccess& a) { a.step = 2; }).find("a distance of 2"), std::string::npos);
  EXPECT_NE(fault_of(neighbours, [](LaneAccess& a) { a.behind = 3; }).find("3 elements behind a line"),
            std::string::npos)
      << "an array is no row of scratch";
}

TEST(VerifyLanes, PiecesThatAreNotSo) {
  const auto with = [](const auto& change) {
    Reading x(1000 * mod(i, 3) + floordiv(i, 3), 24);
    return fault_of(x, [&](LaneAccess& a) { change(a.pieces[1]); });
  };
  EXPECT_THAT(with([](LaneAccess::Piece& p) { std::swap(p.lanes[0].second, p.lanes[7].second); }),
              HasSubstr("lane 1 is 1000 elements from lane 0, not 1007"));
  EXPECT_THAT(with([](LaneAccess::Piece& p) { p.apart = p.apart + 1; }),
              HasSubstr("lane 1 is 1000 elements from lane 0, not 1001"));
  EXPECT_NE(with([](LaneAccess::Piece& p) { ++p.high; }).find("no lane reads the ends"), std::string::npos);
  EXPECT_THAT(with([](LaneAccess::Piece& p) { p.lanes[0].first = 0; }),
              HasSubstr("lane 0 is 0 elements from lane 0, not 1000"));
  EXPECT_THAT(with([](LaneAccess::Piece& p) { p.lanes[0].first = 24; }),
              HasSubstr("lane 24 reads 1000 of a piece 1000 .. 1007"));
}

TEST(VerifyLanes, ConditionsThatAreNotSo) {
  Sample s;
  const int in = s.input(DType::F32, {2000}), out = s.output(DType::F32, {960});
  const ExprId even = s.build.apply(Op::Eq, {s.build.index(mod(i, 2)), s.build.index(0)});
  const ExprId x = s.load(in, {i}, even, s.f32(0));
  s.phase(grid("g"_loop, 1, {vector("i"_loop, 960, {store({false, out, {i}}, x)})}));
  classify_accesses(s.kernel);
  Loop& loop = grid_body(s.kernel)[0].get<Loop>();
  LaneForms forms = *loop.forms;
  forms.conditions.at(even)[3] = true;
  loop.forms = std::make_shared<const LaneForms>(forms);
  EXPECT_NE(fault(s.kernel).find("lane 3 is not always true"), std::string::npos) << fault(s.kernel);
}

}  // namespace
}  // namespace smelt::kernel

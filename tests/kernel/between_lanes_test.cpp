// Loads and stores whose lanes are at a distance, and what verify() makes of forms of them that are
// wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "changes.hpp"
#include "kernel/classify_accesses.hpp"
#include "kernel/join_stores.hpp"
#include "kernel/unroll_short.hpp"
#include "kernel/widen_pieces.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

using ::testing::HasSubstr;
using Form = LaneAccess::Form;

const IntExpr i = sym("i"_loop), a = sym("a"_loop), n = sym("n"_size);

// out[i] = the sum of loads at these places, in steps of 8 lanes that begin anywhere.
struct Reads {
  Sample s;
  std::vector<ExprId> loads;
  explicit Reads(const std::vector<IntExpr>& places, std::optional<size_t> masked = {}) {
    s.size("n"_size);
    const int in = s.input(DType::F32, {4096}), out = s.output(DType::F32, {400});
    ExprId sum = s.f32(0);
    for (const IntExpr& at : places) {
      loads.push_back(loads.size() == masked ? s.load(in, {at}, s.less(n, 5), s.f32(0)) : s.load(in, {at}));
      sum = s.build.apply(Op::Add, {sum, loads.back()});
    }
    s.phase(grid("g"_loop, 1, {vector("i"_loop, 400, {store({false, out, {i}}, sum)})}));
    grid_body(s.kernel)[0].get<Loop>().begins = 1;
    classify_accesses(s.kernel);
    verify(s.kernel);
  }
  Loop& loop() { return grid_body(s.kernel)[0].get<Loop>(); }
  const LaneAccess& form(size_t load) { return loop().forms->loads.at(loads[load]); }
  // "0 .. 15" of a load's only piece.
  std::string piece(size_t load) {
    if (form(load).pieces.size() != 1) return fmt::format("{} pieces", form(load).pieces.size());
    return fmt::format("{} .. {}", form(load).pieces[0].low, form(load).pieces[0].high);
  }
  std::string fault_with(size_t load, const std::function<void(LaneAccess&)>& change) {
    LaneForms forms = *loop().forms;
    change(forms.loads.at(loads[load]));
    loop().forms = std::make_shared<const LaneForms>(forms);
    return fault(s.kernel);
  }
};

TEST(BetweenLanes, LoadsBesideEachOtherReadTheSameVectors) {
  Reads pairs({2 * i, 2 * i + 1});
  EXPECT_EQ(pairs.piece(0), "0 .. 15");
  EXPECT_EQ(pairs.piece(1), "-1 .. 14");
  EXPECT_EQ(pairs.form(0).step, 2) << "the last step still has it";
  Reads colours({3 * i + 2, 3 * i + 100, 3 * i, 3 * i + 1});
  EXPECT_EQ(colours.piece(0), "-2 .. 21");
  EXPECT_EQ(colours.piece(2), "0 .. 23");
  EXPECT_EQ(colours.piece(3), "-1 .. 22");
  EXPECT_EQ(colours.form(1).form, Form::Strided) << "nobody reads what is beside it";
  Reads backward({4000 - 2 * i, 4001 - 2 * i});
  EXPECT_EQ(backward.piece(0), "-14 .. 1");
}

TEST(BetweenLanes, AWindowEndsWithWhatSomebodyReads) {
  Reads window({2 * i, 2 * i + 1, 2 * i + 2});
  EXPECT_EQ(window.piece(0), "0 .. 15");
  EXPECT_EQ(window.piece(2), "-1 .. 14") << "2 * i + 17 is read by nobody";
}

TEST(BetweenLanes, ALoadAloneReadsNothingElse) {
  Reads x({2 * i});
  EXPECT_EQ(x.form(0).form, Form::Strided);
  Reads far({2 * i, 2 * i + 1000});
  EXPECT_EQ(far.form(0).form, Form::Strided);
}

TEST(BetweenLanes, WhatAMaskMayKeepFromBeingReadProvesNothing) {
  Reads x({2 * i, 2 * i + 1}, 1);
  EXPECT_EQ(x.form(0).form, Form::Strided);
  EXPECT_EQ(x.piece(1), "-1 .. 14") << "where the mask holds, both are";
}

TEST(BetweenLanes, WrongPieces) {
  const auto widened = [](const std::function<void(LaneAccess&)>& change) {
    return Reads({2 * i, 2 * i + 1}).fault_with(0, change);
  };
  EXPECT_EQ(widened([](LaneAccess&) {}), "");
  EXPECT_THAT(widened([](LaneAccess& x) { ++x.pieces[0].high; }), HasSubstr("nobody reads the ends"));
  EXPECT_THAT(widened([](LaneAccess& x) { --x.pieces[0].low; }), HasSubstr("nobody reads the ends"));
  EXPECT_THAT(widened([](LaneAccess& x) { x.pieces[0].within.clear(); }), HasSubstr("no lane reads the ends"));
  EXPECT_THAT(widened([](LaneAccess& x) { x.pieces[0].within = {0}; }), HasSubstr("not every step makes"));
  EXPECT_THAT(widened([](LaneAccess& x) { x.pieces[0].lanes[3].second = 7; }), HasSubstr("lane 3"));
}

// vector %i < 400: these statements, over an output of f32.
struct Stores {
  Sample s;
  int in, out;
  Stores() : in(s.input(DType::F32, {4096})), out(s.output(DType::F32, {8192})) {}
  Store at(const IntExpr& place, ExprId value = kNoExpr) {
    return store({false, out, {place}}, value == kNoExpr ? s.f32(1) : value);
  }
  void body(std::vector<Stmt> statements) {
    s.phase(grid("g"_loop, 1, {vector("i"_loop, 400, std::move(statements))}));
    classify_accesses(s.kernel);
    verify(s.kernel);
  }
  Loop& loop() { return grid_body(s.kernel)[0].get<Loop>(); }
  // The place of each store in its group, and "!" after the last one.
  std::string parts() {
    std::string text;
    for (const Stmt& stmt : loop().body)
      if (const auto* made = stmt.get_if<Store>()) text += fmt::format("{}{} ", made->part, made->closes ? "!" : "");
    return text;
  }
};

TEST(BetweenLanes, StoresThatFillWhatLiesBetween) {
  Stores pairs;
  pairs.body({pairs.at(2 * i + 1), pairs.at(2 * i)});
  EXPECT_EQ(pairs.parts(), "1 0! ");
  Stores colours;
  colours.body({colours.at(3 * i), colours.at(3 * i + 1), colours.at(3 * i + 2), colours.at(3 * i + 1300)});
  EXPECT_EQ(colours.parts(), "0 1 2! -1 ");
  for (const int count : {9, 16, 17}) {
    Stores many;
    std::vector<Stmt> stores;
    for (int n = 0; n < count; ++n) stores.push_back(many.at(count * i + n, many.s.f32(n)));
    many.body(std::move(stores));
    EXPECT_EQ(many.parts().find("15!") != std::string::npos, count == 16) << many.parts();
    EXPECT_EQ(many.parts().find('!') == std::string::npos, count == 17) << many.parts();
  }
}

TEST(BetweenLanes, StoresThatStayAlone) {
  Stores gap, twice, between, masked, other;
  gap.body({gap.at(3 * i), gap.at(3 * i + 1)});
  EXPECT_EQ(gap.parts(), "-1 -1 ");
  twice.body({twice.at(2 * i), twice.at(2 * i), twice.at(2 * i + 1)});
  EXPECT_EQ(twice.parts(), "-1 0 1! ") << "the second is what stays";
  between.body({between.at(2 * i), between.at(2 * i + 1, between.s.load(between.out, {2 * i}))});
  EXPECT_EQ(between.parts(), "-1 -1 ") << "it reads what the first has stored";
  Store some = masked.at(2 * i + 1);
  some.mask = masked.s.less(i, 300);
  masked.body({masked.at(2 * i), some});
  EXPECT_EQ(masked.parts(), "-1 -1 ");
  other.body({other.at(2 * i), other.at(i + 2000), other.at(2 * i + 1)});
  EXPECT_EQ(other.parts(), "-1 -1 -1 ");
}

TEST(BetweenLanes, WrongStores) {
  const auto changed = [](const std::function<void(std::vector<Stmt>&)>& change) {
    Stores x;
    x.body({x.at(2 * i), x.at(2 * i + 1)});
    change(x.loop().body);
    return fault(x.s.kernel);
  };
  const auto first = [](std::vector<Stmt>& body) -> Store& { return body[0].get<Store>(); };
  EXPECT_EQ(changed([](std::vector<Stmt>&) {}), "");
  EXPECT_THAT(changed([&](auto& body) { first(body).part = 1; }), HasSubstr("not element 1"));
  EXPECT_THAT(changed([&](auto& body) { first(body).part = 2; }), HasSubstr("not made with others"));
  EXPECT_THAT(changed([&](auto& body) { first(body).closes = true; }), HasSubstr("is made with 1 of 2"));
  EXPECT_THAT(changed([&](auto& body) { body.pop_back(); }), HasSubstr("no last one"));
  EXPECT_THAT(changed([&](auto& body) { first(body).part = -1; }), HasSubstr("is made with 1 of 2"));
}

TEST(BetweenLanes, ShortLoopsAreUnrolled) {
  Sample s;
  const int in = s.input(DType::F32, {2000}), out = s.output(DType::F32, {2000});
  s.phase(grid("g"_loop, 1,
               {vector("i"_loop, 1000,
                       {serial("a"_loop, 2, {store({false, out, {2 * i + a}}, s.load(in, {2 * i + 1 - a}))})})}));
  EXPECT_TRUE(unroll_short_loops(s.kernel));
  verify(s.kernel);
  EXPECT_EQ(grid_body(s.kernel)[0].get<Loop>().body.size(), 2U);
  classify_accesses(s.kernel);
  verify(s.kernel);
  EXPECT_TRUE(grid_body(s.kernel)[0].get<Loop>().body[1].get<Store>().closes);
}

TEST(BetweenLanes, LoopsThatStay) {
  const auto unrolls = [](const IntExpr& at, const IntExpr& count) {
    Sample s;
    s.size("n"_size);
    const int in = s.input(DType::F32, {1 << 20}), out = s.output(DType::F32, {1 << 20});
    s.phase(grid("g"_loop, 1,
                 {vector("i"_loop, 1000, {serial("a"_loop, count, {store({false, out, {at}}, s.load(in, {at}))})})}));
    return unroll_short_loops(s.kernel);
  };
  EXPECT_TRUE(unrolls(3 * i + a, 3));
  EXPECT_FALSE(unrolls(3 * i + 3000 * a, 3)) << "an iteration is far from the next";
  EXPECT_FALSE(unrolls(9 * i + a, 9)) << "lanes are too far apart";
  EXPECT_FALSE(unrolls(i + 1000 * a, 3)) << "lanes are neighbours";
  EXPECT_FALSE(unrolls(3 * i + a, min(n, 3))) << "only the call knows how many";
}

// The loads that the loops inside of a Vector loop over 64 elements make of one array.
struct LoopsInside {
  Sample s;
  std::vector<ExprId> loads;
  const int in = s.input(DType::F32, {4096}), out = s.output(DType::F32, {64});
  const LocalId sum = s.build.new_local(DType::F32, true);
  Stmt add(const IntExpr& at) {
    loads.push_back(s.load(in, {at}));
    return assign(sum, s.build.apply(Op::Add, {s.build.local(sum), loads.back()}));
  }
  void run(std::vector<Stmt> loops) {
    loops.insert(loops.begin(), assign(sum, s.f32(0)));
    loops.push_back(store({false, out, {i}}, s.build.local(sum)));
    s.phase(grid("g"_loop, 1, {vector("i"_loop, 64, std::move(loops))}));
    unroll_short_loops(s.kernel);
    grid_body(s.kernel)[0].get<Loop>().begins = 1;
    classify_accesses(s.kernel);
    verify(s.kernel);
  }
  const Loop& loop() { return grid_body(s.kernel)[0].get<Loop>(); }
};

TEST(BetweenLanes, LongLoopsTakeWhatLiesBetween) {
  LoopsInside x;
  x.run({serial("a"_loop, 21, {x.add(4 * i + a)})});
  const std::vector<Stmt>& body = x.loop().body;
  ASSERT_EQ(body.size(), 4U);
  EXPECT_TRUE(body[1].get<Loop>().extent.is(5));
  EXPECT_EQ(body[1].get<Loop>().body.size(), 4U);
  EXPECT_TRUE(body[2].is<Assign>()) << "the 21st";
  int together = 0;
  for (const auto& [load, form] : x.loop().forms->loads) together += form.form == Form::Pieces;
  EXPECT_EQ(together, 4);
}

TEST(BetweenLanes, LoadsOfOtherLoopsProveNothing) {
  LoopsInside x;
  x.run({serial("a"_loop, 8, {x.add(2 * i + 2 * a)}), serial("a"_loop, 8, {x.add(2 * i + 2 * a + 1)})});
  for (const ExprId load : x.loads) EXPECT_EQ(x.loop().forms->loads.at(load).form, Form::Strided);
  LoopsInside both;
  both.run({serial("a"_loop, 8, {both.add(2 * i + 2 * a), both.add(2 * i + 2 * a + 1)})});
  for (const ExprId load : both.loads) EXPECT_EQ(both.loop().forms->loads.at(load).form, Form::Pieces);
}

}  // namespace
}  // namespace smelt::kernel

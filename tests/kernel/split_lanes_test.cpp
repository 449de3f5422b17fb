// Elements that alternate: which Vector loops take those of one remainder at a time.
#include "kernel/split_lanes.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernel/rewrite.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const IntExpr g = sym("g"_loop), i = sym("i"_loop);

// Element n of a row is element n // by of the input, or 0 where n % by is not 0.
void fill_spread(Sample& s, const IntExpr& columns, int64_t by, int lanes) {
  const int in = s.input(DType::F32, {9, 200}), out = s.output(DType::F32, {9, columns});
  const ExprId is_there = s.less(mod(i, by), 1), zero = s.build.constant(Scalar::of_float(DType::F32, 0));
  const ExprId spread = s.load(in, {g, floordiv(i, by)}, is_there, zero);
  s.phase(grid("g"_loop, 9, {vector("i"_loop, columns, {store({false, out, {g, i}}, spread)}, lanes)}));
}

const std::vector<Stmt>& row_of(const Sample& s) { return s.kernel.phases[0].body[0].get<Loop>().body; }

TEST(SplitLanes, TakesAVectorOfEach) {
  Sample s;
  fill_spread(s, 200, 2, 64);
  EXPECT_TRUE(split_lanes(s.kernel));
  remove_dead_code(s.kernel);
  verify(s.kernel);
  ASSERT_EQ(row_of(s).size(), 1u);
  const Loop& loop = row_of(s)[0].get<Loop>();
  EXPECT_TRUE(loop.extent.is(100));
  EXPECT_EQ(loop.lanes, 16);
  EXPECT_EQ(loop.body.size(), 2u);
  for (const Expr& e : s.kernel.exprs) EXPECT_FALSE(e.is<Apply>());
}

TEST(SplitLanes, LastElementsStandAlone) {
  Sample s;
  fill_spread(s, 200, 3, 64);
  EXPECT_TRUE(split_lanes(s.kernel));
  verify(s.kernel);
  ASSERT_EQ(row_of(s).size(), 3u);
  EXPECT_TRUE(row_of(s)[0].get<Loop>().extent.is(66));
  EXPECT_TRUE(row_of(s)[1].is<Store>());
  EXPECT_TRUE(row_of(s)[2].is<Store>());
}

TEST(SplitLanes, AsksWhichLastElementsThereAre) {
  Sample s;
  fill_spread(s, sym("N"_size), 2, 64);
  s.kernel.assumptions.push_back(400 - sym("N"_size));
  EXPECT_TRUE(split_lanes(s.kernel));
  ASSERT_EQ(row_of(s).size(), 2u);
  EXPECT_TRUE(row_of(s)[1].is<If>());
}

// A position of a loop inside may be 0.
TEST(SplitLanes, KeepsMasksOfLoopsInside) {
  Sample s;
  const IntExpr w = sym("w"_loop);
  const int in = s.input(DType::F32, {9, 100, 5}), out = s.output(DType::F32, {9, 200});
  const LocalId sum = s.build.new_local(DType::F32, true);
  const ExprId is_there = s.both(s.less(mod(i, 2), 1), s.at_least(w, 1));
  const ExprId x = s.load(in, {g, floordiv(i, 2), w - 1}, is_there, s.f32(0));
  s.phase(grid("g"_loop, 9,
               {vector("i"_loop, 200,
                       {assign(sum, s.f32(0)),
                        serial("w"_loop, 5, {assign(sum, s.build.apply(Op::Add, {s.build.local(sum), x}))}),
                        store({false, out, {g, i}}, s.build.local(sum))},
                       64)}));
  EXPECT_TRUE(split_lanes(s.kernel));
  verify(s.kernel);
  EXPECT_NE(print(s.kernel).find("index(%w) >= 1"), std::string::npos) << print(s.kernel);
}

TEST(SplitLanes, LeavesManyRemaindersAndFewLanes) {
  for (const auto& [by, lanes] : {std::pair<int64_t, int>{9, 64}, {2, 8}}) {
    Sample s;
    fill_spread(s, 200, by, lanes);
    EXPECT_FALSE(split_lanes(s.kernel));
  }
}

// The first `n` of 100 elements are those of one array, the others those of another.
void fill_joined(Sample& s, int64_t n) {
  const int first = s.input(DType::F32, {9, n}), second = s.input(DType::F32, {9, 100 - n}),
            out = s.output(DType::F32, {9, 100});
  const ExprId is_first = s.less(i, n), zero = s.build.constant(Scalar::of_float(DType::F32, 0));
  const ExprId a = s.load(first, {g, i}, is_first, zero), b = s.load(second, {g, i - n}, s.at_least(i - n, 0), zero);
  const ExprId joined = s.build.apply(Op::Where, {is_first, a, b});
  s.phase(grid("g"_loop, 9, {vector("i"_loop, 100, {store({false, out, {g, i}}, joined)}, 32)}));
}

TEST(SplitLanes, TakesJoinedArraysOneByOne) {
  for (const int64_t n : {30, 50}) {
    Sample s;
    fill_joined(s, n);
    EXPECT_TRUE(split_lanes(s.kernel));
    remove_dead_code(s.kernel);
    verify(s.kernel);
    EXPECT_EQ(row_of(s).size(), n == 50 ? 1u : 2u);
    EXPECT_TRUE(row_of(s)[0].get<Loop>().extent.is(n));
    for (const Expr& e : s.kernel.exprs) EXPECT_FALSE(e.is<Apply>());
  }
}

TEST(SplitLanes, LeavesShortEnds) {
  Sample s;
  fill_joined(s, 7);
  EXPECT_FALSE(split_lanes(s.kernel));
}

}  // namespace
}  // namespace smelt::kernel

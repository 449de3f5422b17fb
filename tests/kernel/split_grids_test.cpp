// Rows that are joined by turns: which Grid loops take several of them at a time.
#include "kernel/split_grids.hpp"

#include <gtest/gtest.h>

#include "kernel/rewrite.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const IntExpr g = sym("g"_loop), i = sym("i"_loop);

// Row n of the output is row n // by of the first array, or of the second where n % by is not 0.
void fill_joined(Sample& s, const IntExpr& rows, int64_t by) {
  const int first = s.input(DType::F32, {50, 100}), second = s.input(DType::F32, {50, 100}),
            out = s.output(DType::F32, {rows, 100});
  const ExprId is_first = s.less(mod(g, by), 1), zero = s.build.constant(Scalar::of_float(DType::F32, 0));
  const auto part = [&](int array, ExprId mask) { return s.load(array, {floordiv(g, by), i}, mask, zero); };
  const ExprId joined =
      s.build.apply(Op::Where, {is_first, part(first, is_first), part(second, s.at_least(mod(g, by) - 1, 0))});
  s.phase(grid("g"_loop, rows, {vector("i"_loop, 100, {store({false, out, {g, i}}, joined)}, 16)}));
}

TEST(SplitGrids, TakesARowOfEach) {
  Sample s;
  fill_joined(s, 20, 2);
  EXPECT_TRUE(split_grids(s.kernel));
  remove_dead_code(s.kernel);
  verify(s.kernel);
  const Stmt& grid = s.kernel.phases[0].body[0];
  EXPECT_TRUE(grid.get<Loop>().extent.is(10));
  EXPECT_EQ(grid.get<Loop>().body.size(), 2u);
  for (const Expr& e : s.kernel.exprs) EXPECT_FALSE(e.is<Apply>());
}

TEST(SplitGrids, AsksWhereTheLastRowsAreMissing) {
  Sample s;
  fill_joined(s, 19, 3);
  EXPECT_TRUE(split_grids(s.kernel));
  verify(s.kernel);
  const auto& body = s.kernel.phases[0].body[0].get<Loop>().body;
  ASSERT_EQ(body.size(), 3u);
  EXPECT_TRUE(body[0].is<Loop>());
  EXPECT_TRUE(body[1].is<If>());
  EXPECT_TRUE(body[2].is<If>());
}

// Rows of pictures, of 7 rows each: the last row of each picture has no partner.
TEST(SplitGrids, TakesRowsOfEachPeriod) {
  for (const int64_t period : {6, 7}) {
    Sample s;
    const int in = s.input(DType::F32, {5, 4, 100}), out = s.output(DType::F32, {5, period, 100});
    const IntExpr row = mod(g, period), picture = floordiv(g, period);
    const ExprId is_there = s.less(mod(row, 2), 1), zero = s.build.constant(Scalar::of_float(DType::F32, 0));
    const ExprId spread = s.load(in, {picture, floordiv(row, 2), i}, is_there, zero);
    s.phase(grid("g"_loop, 5 * period, {vector("i"_loop, 100, {store({false, out, {picture, row, i}}, spread)}, 16)}));
    EXPECT_TRUE(split_grids(s.kernel));
    remove_dead_code(s.kernel);
    verify(s.kernel);
    const Loop& grid = s.kernel.phases[0].body[0].get<Loop>();
    EXPECT_TRUE(grid.extent.is(5 * ((period + 1) / 2)));
    ASSERT_EQ(grid.body.size(), 2u);
    EXPECT_EQ(grid.body[1].is<If>(), period == 7);
  }
}

TEST(SplitGrids, LeavesManyRemainders) {
  Sample s;
  fill_joined(s, 45, 9);
  EXPECT_FALSE(split_grids(s.kernel));
  verify(s.kernel);
}

}  // namespace
}  // namespace smelt::kernel

// Which outputs may reuse the memory of which inputs.
#include "kernel/in_place.hpp"

#include <gtest/gtest.h>

#include "changes.hpp"
#include "kernel/walk.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const IntExpr i = sym("i0"_loop), j = sym("i1"_loop), k = sym("i2"_loop);

std::vector<std::pair<int, int>> found(Kernel& kernel) {
  find_in_place(kernel);
  std::vector<std::pair<int, int>> pairs;
  for (const InPlace& p : kernel.in_place) pairs.emplace_back(p.input, p.output);
  return pairs;
}
std::vector<std::pair<int, int>> found(Kernel&& kernel) { return found(kernel); }
using Pairs = std::vector<std::pair<int, int>>;

TEST(FindInPlace, WhatIsReadAtItsOwnIndex) {
  Sample s;
  fill_pointwise(s, {i, j}, {9, 5}, {9, 5});
  EXPECT_EQ(changes(s.kernel, find_in_place), (Lines{"+ in place: out1 in in0"}));
  EXPECT_TRUE(s.kernel.may_be_shared(0));
  EXPECT_TRUE(s.kernel.may_be_shared(1));
}

TEST(FindInPlace, NotWhatIsReadElsewhere) {
  for (const auto& at : {std::vector{i, 4 - j}, {8 - i, j}, {i, floordiv(j, 2)}, {IntExpr(0), j}}) {
    Sample s;
    fill_pointwise(s, at, {9, 5}, {9, 5});
    EXPECT_EQ(found(s.kernel), Pairs{}) << str(Shape(at));
  }
  Sample square, larger;
  fill_pointwise(square, {j, i}, {9, 9}, {9, 9});
  EXPECT_EQ(found(square.kernel), Pairs{});
  fill_pointwise(larger, {i, j}, {9, 6}, {9, 5});
  EXPECT_EQ(found(larger.kernel), Pairs{}) << "another shape";
}

// out1 = -in0 and out2 = f(in0, in1), where `second` is what f reads of in0.
struct TwoOutputs {
  Sample s;
  TwoOutputs(const std::vector<IntExpr>& second, bool uses, DType other = DType::F32) {
    const int in = s.input(DType::F32, {9}), beside = s.input(DType::F32, {9}), a = s.output(DType::F32, {9}),
              b = s.output(other, {9});
    const ExprId x = s.load(in, {i}), y = s.load(beside, {i}), again = s.load(in, second);
    const ExprId sum = uses ? s.build.apply(Op::Add, {y, again}) : y;
    s.phase(
        grid("i0"_loop, 9,
             {store({false, a, {i}}, s.build.apply(Op::Neg, {x})),
              s.build.store({false, b, {i}}, other == DType::F32 ? sum : s.build.cast(sum, other), kNoExpr, false)}));
  }
};

TEST(FindInPlace, WhatSeveralOutputsNeed) {
  TwoOutputs both({i}, true), first({i}, false);
  EXPECT_EQ(found(both.s.kernel), (Pairs{{0, 2}, {0, 3}, {1, 3}}));
  // The second output does not wait for the input of the first: it may be stored before that is
  // read.
  EXPECT_EQ(found(first.s.kernel), (Pairs{{0, 2}, {1, 3}}));
  TwoOutputs elsewhere({8 - i}, true);
  EXPECT_EQ(found(elsewhere.s.kernel), (Pairs{{1, 3}})) << "another iteration reads what this one stores";
  TwoOutputs narrower({i}, true, DType::I32);
  EXPECT_EQ(found(narrower.s.kernel), (Pairs{{0, 2}})) << "another dtype";
}

TEST(FindInPlace, ThroughLocalsAndBothFormsOfALoop) {
  Sample s;
  const int in = s.input(DType::F32, {9, 8}), out = s.output(DType::F32, {9, 8});
  const LocalId x = s.build.new_local(DType::F32, false);
  const auto body = [&](const IntExpr& column, ExprId mask) {
    return std::vector<Stmt>{let(x, s.load(in, {i, column}, mask, mask == kNoExpr ? kNoExpr : s.f32(0))),
                             store({false, out, {i, j}}, s.build.local(x))};
  };
  Loop loop = vector("i1"_loop, 8, body(j, s.less(j, 7)));
  loop.interior = Interior{0, 7, {}, body(j, kNoExpr)};
  s.phase(grid("i0"_loop, 9, {loop}));
  EXPECT_EQ(found(s.kernel), (Pairs{{0, 1}}));
  interior_of(grid_body(s.kernel)[0])->body = body(7 - j, kNoExpr);
  EXPECT_EQ(found(s.kernel), Pairs{}) << "the interior reads another element";
}

// Two loops over the elements of a row: the first stores out1 or adds to a sum, the second stores
// out2.
struct TwoLoops {
  Sample s;
  TwoLoops(bool stores_first, bool sum_is_used, Dialect dialect) {
    s.kernel.dialect = dialect;
    const int in = s.input(DType::F32, {9, 8}), first = s.output(DType::F32, {9, 8}),
              second = s.output(DType::F32, {9, 8});
    const LocalId sum = s.build.new_local(DType::F32, true);
    const ExprId x = s.load(in, {i, j});
    std::vector<Stmt> body{assign(sum, s.build.apply(Op::Add, {s.build.local(sum), x}))};
    if (stores_first) body.push_back(store({false, first, {i, j}}, x));
    s.phase(grid(
        "i0"_loop, 9,
        {assign(sum, s.f32(0)), vector("i1"_loop, 8, body), combine(sum, Op::Add),
         vector("i1"_loop, 8,
                {store({false, second, {i, j}}, sum_is_used ? s.build.apply(Op::Sub, {x, s.build.local(sum)}) : x)})}));
    s.kernel.phases[0].team = {dialect == Dialect::Portable ? 0 : 64, 64};
  }
};

TEST(FindInPlace, RowsThatArePassedOverTwice) {
  // The second loop reads again what the first has stored over.
  EXPECT_EQ(found(TwoLoops(true, true, Dialect::Portable).s.kernel), (Pairs{{0, 2}}));
  EXPECT_EQ(found(TwoLoops(false, false, Dialect::Portable).s.kernel), (Pairs{{0, 2}}));
  // Threads of a team wait for each other only where they join what they have read.
  EXPECT_EQ(found(TwoLoops(false, true, Dialect::Gpu).s.kernel), (Pairs{{0, 2}}));
  EXPECT_EQ(found(TwoLoops(false, false, Dialect::Gpu).s.kernel), Pairs{});
}

TEST(FindInPlace, NotAcrossRunsOrAtomics) {
  Sample again;  // every iteration over i2 stores all of the row again
  const int in = again.input(DType::F32, {9}), out = again.output(DType::F32, {9});
  const ExprId x = again.load(in, {i});
  again.phase(grid("i0"_loop, 9, {serial("i2"_loop, 3, {store({false, out, {i}}, x)})}));
  EXPECT_EQ(found(again.kernel), Pairs{});
  Sample twice;  // what a branch loads, the next loads again
  const int from = twice.input(DType::F32, {9}), a = twice.output(DType::F32, {9}), b = twice.output(DType::F32, {9});
  const ExprId value = twice.load(from, {i});
  twice.phase(grid("i0"_loop, 9,
                   {when(twice.less(i, 5), {store({false, a, {i}}, value)}),
                    when(twice.less(i, 7), {store({false, b, {i}}, value)})}));
  EXPECT_EQ(found(twice.kernel), (Pairs{{0, 2}})) << "the first is stored before the second branch";
  Sample joined;
  fill_pointwise(joined, {i, j}, {9, 5}, {9, 5});
  grid_body(joined.kernel)[0].get<Loop>().body[0].get<Store>().atomic = Op::Add;
  EXPECT_EQ(found(joined.kernel), Pairs{});
}

}  // namespace
}  // namespace smelt::kernel

// Vector loops with an interior: where it is, what is asked there, and what verify() makes of one
// that is wrong.
#include "kernel/partition_loops.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "changes.hpp"
#include "kernel/walk.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const IntExpr i = sym("i"_loop), W = sym("W"_size);

// out[i] = value(in) for i < W.
template <class Value>
void fill(Sample& s, const Value& value, int lanes = 16) {
  s.size("W"_size);
  const int in = s.input(DType::F32, {W}), out = s.output(DType::F32, {W});
  const ExprId x = value(in);
  s.phase(grid("g"_loop, 1, {vector("i"_loop, W, {store({false, out, {i}}, x)}, lanes)}));
  s.kernel.assumptions.push_back(W - 1);
}
void fill_padded(Sample& s, int64_t by) {
  fill(s, [&](int in) { return s.load(in, {i - by}, s.at_least(i, by), s.f32(0)); });
}
// The lines after the two that say where steps begin: the range, and its first statement.
void expect_interior(Sample& s, const char* range, const char* statement) {
  const Lines lines = changes(s.kernel, partition_loops);
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines[2], range);
  EXPECT_EQ(lines[3], statement);
}

Loop& vector_loop(Sample& s) { return grid_body(s.kernel)[0].get<Loop>(); }

TEST(PartitionLoops, MasksThatFailAtAnEnd) {
  Sample s;
  fill_padded(s, 1);
  EXPECT_EQ(changes(s.kernel, partition_loops),
            (Lines{"- vector %i < W by 16:", "+ vector %i < W by 16, steps anywhere:", "+ inside 1 <= %i < W:",
                   "+ out2[%i] = in1[%i - 1]"}));
}

TEST(PartitionLoops, ClampsThatBindAtTheEnds) {
  Sample s;
  fill(s, [&](int in) {
    return s.build.apply(Op::Add, {s.load(in, {max(0, i - 1)}), s.load(in, {min(W - 1, i + 2)})});
  });
  expect_interior(s, "+ inside 1 <= %i < W - 2:", "+ out2[%i] = in1[%i - 1] + in1[%i + 2]");
}

TEST(PartitionLoops, OneClampInTwoDimensions) {
  Sample s;
  s.size("W"_size);
  const int in = s.input(DType::F32, {4, W}), out = s.output(DType::F32, {4, W});
  const IntExpr r = sym("r"_loop);
  const ExprId x = s.load(in, {max(0, r - 1), max(0, i - 1)});
  s.phase(grid("r"_loop, 4, {vector("i"_loop, W, {store({false, out, {r, i}}, x)}, 16)}));
  EXPECT_EQ(changes(s.kernel, partition_loops).back(), "+ out2[%r, %i] = in1[max(0, %r - 1), %i - 1]")
      << "that of the row is the same for all lanes";
}

TEST(PartitionLoops, ChoicesOfWhichTheConditionHolds) {
  Sample s;
  fill(s, [&](int in) {
    const ExprId inside = s.both(s.at_least(i, 3), s.less(i, W - 5));
    return s.build.apply(Op::Where, {inside, s.load(in, {i}), s.f32(1)});
  });
  expect_interior(s, "+ inside 3 <= %i < W - 5:", "+ out2[%i] = in1[%i]");
}

// A roll: the element before, and for the first one the last of the row.
TEST(PartitionLoops, ChoicesOfWhichTheConditionMostlyFails) {
  Sample s;
  fill(s, [&](int in) {
    const ExprId first = s.less(i, 1);
    const ExprId last = s.load(in, {i + W - 1}, first, s.f32(0));
    return s.build.apply(Op::Where, {first, last, s.load(in, {i - 1}, s.at_least(i, 1), s.f32(0))});
  });
  expect_interior(s, "+ inside 1 <= %i < W:", "+ out2[%i] = in1[%i - 1]");
}

TEST(PartitionLoops, RowsOfWhichTheConditionMostlyFails) {
  Sample s;
  const IntExpr g = sym("g"_loop);
  const int in = s.input(DType::F32, {2000, 100}), out = s.output(DType::F32, {2000, 100});
  const ExprId first = s.less(g, 1), inside = s.at_least(i, 1);
  const ExprId last = s.load(in, {g + 1999, i - 1}, s.both(first, inside), s.f32(0));
  const ExprId before = s.load(in, {g - 1, i - 1}, s.both(s.at_least(g, 1), inside), s.f32(0));
  const ExprId x = s.build.apply(Op::Where, {first, last, before});
  s.phase(grid("g"_loop, 2000, {vector("i"_loop, 100, {store({false, out, {g, i}}, x)}, 16)}));
  const Lines lines = changes(s.kernel, partition_loops);
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines[2], "+ inside 1 <= %i < 100 where %g - 1 >= 0:");
  EXPECT_EQ(lines[3], "+ out1[%g, %i] = in0[%g - 1, %i - 1]");
}

// In a row of two elements each condition holds as often as it fails.
TEST(PartitionLoops, ConditionsThatHoldAsOftenAsTheyFail) {
  Sample s;
  const IntExpr g = sym("g"_loop);
  const int in = s.input(DType::F32, {2, 100}), out = s.output(DType::F32, {2, 100});
  const ExprId x = s.load(in, {g - 1, i - 1}, s.both(s.at_least(g, 1), s.at_least(i, 1)), s.f32(0));
  s.phase(grid("g"_loop, 2, {vector("i"_loop, 100, {store({false, out, {g, i}}, x)}, 16)}));
  const Lines lines = changes(s.kernel, partition_loops);
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines[2], "+ inside 1 <= %i < 100 where %g - 1 >= 0:");
}

TEST(PartitionLoops, ConditionsThatAreTheSameForAllElements) {
  Sample s;
  s.size("H"_size);
  const IntExpr g = sym("g"_loop), H = sym("H"_size);
  const int in = s.input(DType::F32, {H, 100}), out = s.output(DType::F32, {H, 100});
  const ExprId inside = s.both(s.at_least(g, 1), s.at_least(i, 1));
  const ExprId x = s.load(in, {g - 1, i - 1}, inside, s.f32(0));
  s.phase(grid("g"_loop, H, {vector("i"_loop, 100, {store({false, out, {g, i}}, x)}, 16)}));
  const Lines lines = changes(s.kernel, partition_loops);
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines[2], "+ inside 1 <= %i < 100 where %g - 1 >= 0:");
}

TEST(PartitionLoops, ConditionsOfClampedPositions) {
  Sample s;
  const IntExpr clamped = max(0, min(i - 1, W - 1));
  fill(s, [&](int in) { return s.load(in, {clamped + 1}, s.less(clamped + 1, W), s.f32(0)); });
  expect_interior(s, "+ inside 1 <= %i < W:", "+ out2[%i] = in1[%i]");
}

TEST(PartitionLoops, PositionsLoseTheirClampsToo) {
  Sample s;
  const IntExpr clamped = max(0, i - 1);
  fill(s, [&](int in) {
    const ExprId far = s.less(clamped, W - 700), x = s.load(in, {clamped}, far, s.f32(0));
    return s.build.apply(Op::Add, {x, s.build.cast(s.build.index(clamped), DType::F32)});
  });
  expect_interior(
      s, "+ inside 1 <= %i < W:",
      "+ out2[%i] = (in1[%i - 1] if (index(%i - 1) < index(W - 700)) else 0:f32) + cast<f32>(index(%i - 1))");
}

TEST(PartitionLoops, MasksOfWhichOnePartHolds) {
  Sample s;
  fill(s, [&](int in) {
    const ExprId inside = s.both(s.at_least(i, 1), s.less(i, W - 700));
    return s.build.apply(Op::Add, {s.load(in, {i}, inside, s.f32(0)), s.load(in, {max(0, i - 1)})});
  });
  changes(s.kernel, partition_loops);
  ASSERT_TRUE(vector_loop(s).interior);
  const Store& made = vector_loop(s).interior->body[0].get<Store>();
  EXPECT_TRUE(any_below(s.kernel, {made.value}, [](const Expr& e) {
    const auto* load = e.get_if<Load>();
    return load && load->mask != kNoExpr;
  })) << "the other part may fail";
}

TEST(PartitionLoops, ConditionsOfQuotients) {
  Sample s;
  const int in = s.input(DType::F32, {8}), out = s.output(DType::F32, {20});
  const IntExpr third = floordiv(i, 3);
  const ExprId inside = s.both(s.at_least(third, 1), s.less(third, 6));
  const ExprId x = s.load(in, {third - 1}, inside, s.f32(0));
  s.phase(grid("g"_loop, 1, {vector("i"_loop, 20, {store({false, out, {i}}, x)}, 4)}));
  EXPECT_EQ(changes(s.kernel, partition_loops),
            (Lines{"- vector %i < 20 by 4:", "+ vector %i < 20 by 4, steps anywhere:", "+ inside 3 <= %i < 18:",
                   "+ out1[%i] = in0[(%i // 3) - 1]"}));
}

TEST(PartitionLoops, ConditionsThatFailFarFromTheEnds) {
  Sample s;
  fill_padded(s, 600);
  EXPECT_EQ(changes(s.kernel, partition_loops),
            (Lines{"- vector %i < W by 16:", "+ vector %i < W by 16, steps anywhere:"}));
}

TEST(PartitionLoops, PiecesOfARow) {
  Sample s;
  s.size("W"_size);
  const IntExpr g = sym("g"_loop), at = 4096 * g + i;
  const int in = s.input(DType::F32, {W}), out = s.output(DType::F32, {W});
  const ExprId x = s.load(in, {at + 1}, s.less(at, W - 1), s.f32(0));
  s.phase(grid("g"_loop, ceildiv(W, 4096),
               {vector("i"_loop, min(4096, W - 4096 * g), {store({false, out, {at}}, x)}, 16)}));
  EXPECT_EQ(changes(s.kernel, partition_loops).back(), "+ out2[4096*%g + %i] = in1[4096*%g + %i + 1]");
}

// As the factors of a convolution are packed: pairs of taps, at every `step`-th place of a padded
// row, in pieces of rows; of mirrored rows without a mask.
void fill_packed_taps(Sample& s, int64_t step, int64_t padding, bool mirrored) {
  s.size("H"_size);
  s.size("W"_size);
  const IntExpr H = sym("H"_size), g = sym("g"_loop), p = sym("p"_loop), z = sym("z"_loop), w = sym("w"_loop);
  const IntExpr places = floordiv(W - 1, step) + 1, pieces = ceildiv(places, 12), piece = 12 * mod(g, pieces);
  const IntExpr row = 5 * floordiv(g, pieces) + z, rows_of_piece = min(5, H - 5 * floordiv(g, pieces));
  const IntExpr taps_of_part = min(320, 630 - 320 * p), first = 320 * p + 2 * floordiv(taps_of_part, 2) + 2 * w;
  const int in = s.input(DType::F32, {floordiv(H + 10, 11), 71, 14, W}), out = s.scratch(DType::F32, {5, 12});
  const auto tap = [&](const IntExpr& n) {
    const IntExpr at = step * i + step * piece + mod(n, 3) - padding, below = max(at, -1 - at);
    const IntExpr plane = floordiv(floordiv(n, 3), 3), line = mod(row, 11) + mod(floordiv(n, 3), 3);
    const std::vector<IntExpr> place{floordiv(row, 11), plane, line, mirrored ? min(below, 2 * W - 1 - below) : at};
    return mirrored ? s.load(in, place) : s.load(in, place, s.both(s.at_least(at, 0), s.less(at, W)), s.f32(0));
  };
  const ExprId two = s.build.apply(Op::Add, {tap(first), tap(first + 1)});
  const Stmt of_a_piece = vector("i"_loop, min(12, places - piece), {store({true, out, {z, i}}, two)}, 16);
  const IntExpr pairs = ceildiv(taps_of_part, 2) - floordiv(taps_of_part, 2);
  s.phase(grid(
      "g"_loop, ceildiv(H, 5) * pieces,
      {alloc(out), serial("p"_loop, 2, {serial("z"_loop, rows_of_piece, {serial("w"_loop, pairs, {of_a_piece})})})}));
  s.kernel.assumptions.push_back(W - 3);
}

TEST(PartitionLoops, TapsAtEveryResidueOfPaddingAndStep) {
  for (const bool mirrored : {false, true})
    for (int64_t step = 1; step <= 4; ++step)
      for (int64_t padding = 0; padding <= 2; ++padding) {
        SCOPED_TRACE(fmt::format("step {}, padding {}{}", step, padding, mirrored ? ", mirrored" : ""));
        Sample s;
        fill_packed_taps(s, step, padding, mirrored);
        changes(s.kernel, partition_loops);
        const std::string text = print(s.kernel), interior = text.substr(std::min(text.find("inside"), text.size()));
        EXPECT_NE(interior.find("scratch0[%z, %i] = in2["), std::string::npos) << text;
        EXPECT_EQ(interior.find(" if "), std::string::npos) << text;
      }
}

TEST(PartitionLoops, StepsOfSumsBeginWithTheLoop) {
  Sample s;
  fill_row(s);
  changes(s.kernel, partition_loops);
  for (const Stmt& inner : grid_body(s.kernel))
    if (const auto* loop = inner.get_if<Loop>()) {
      EXPECT_EQ(loop->begins, loop->var == "i1"_loop ? 8 : 1);
    }
}

TEST(PartitionLoops, StepsOfRandomWordsBeginAtBlocks) {
  Sample s;
  fill(s, [&](int in) {
    const ExprId key = s.build.constant(Scalar::of_int(DType::U64, 1));
    s.kernel.exprs.push_back({DType::U32, Random{philox::Draw::Words, {key, key, key}, i, W}});
    const auto word = static_cast<ExprId>(s.kernel.exprs.size()) - 1;
    return s.build.apply(Op::Add, {s.build.cast(word, DType::F32), s.load(in, {i})});
  });
  EXPECT_EQ(changes(s.kernel, partition_loops).back(), "+ vector %i < W by 16, steps at multiples of 4:");
}

TEST(PartitionLoops, LoopsThatRunSeldomAreNotMadeTwice) {
  Sample s;
  fill_padded(s, 1);
  Loop seldom = serial("r"_loop, 4, {vector_loop(s)});
  seldom.rare = true;
  grid_body(s.kernel) = {seldom};
  changes(s.kernel, partition_loops);
  EXPECT_FALSE(grid_body(s.kernel)[0].get<Loop>().body[0].get<Loop>().interior);
}

TEST(PartitionLoops, VerifyRefusesInteriorsThatAreTooWide) {
  Sample s;
  fill(s, [&](int in) {
    const ExprId before = s.load(in, {i - 1}, s.at_least(i, 1), s.f32(0));
    return s.build.apply(Op::Add, {before, s.load(in, {i + 1}, s.less(i, W - 1), s.f32(0))});
  });
  partition_loops(s.kernel);
  ASSERT_EQ(fault(s.kernel), "");
  const Interior right = *vector_loop(s).interior;
  vector_loop(s).interior->first = 0;
  EXPECT_NE(fault(s.kernel).find("load in1[%i - 1]: index 0 is not proved inside"), std::string::npos);
  vector_loop(s).interior = right;
  vector_loop(s).interior->last = W;
  EXPECT_NE(fault(s.kernel).find("load in1[%i + 1]: index 0 is not proved inside"), std::string::npos);
  vector_loop(s).interior->last = W + 1;
  EXPECT_NE(fault(s.kernel).find("is not inside of 0 .. W"), std::string::npos);
  vector_loop(s).interior = right;
  vector_loop(s).interior->first = -1;
  EXPECT_NE(fault(s.kernel).find("is not inside of 0 .. W"), std::string::npos);
}

TEST(PartitionLoops, VerifyRefusesInteriorsThatGiveOtherLocals) {
  Sample s;
  fill_padded(s, 1);
  partition_loops(s.kernel);
  const LocalId more = s.build.new_local(DType::F32, false);
  vector_loop(s).interior->body.insert(vector_loop(s).interior->body.begin(), let(more, s.f32(1)));
  EXPECT_NE(fault(s.kernel).find("gives other locals values than its body"), std::string::npos);
}

}  // namespace
}  // namespace smelt::kernel

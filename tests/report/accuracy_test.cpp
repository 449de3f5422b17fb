#include "report/accuracy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/build.hpp"
#include "support/arrays.hpp"
#include "support/symbols.hpp"

namespace smelt::report {
namespace {

// A tensor of rank 1.
Tensor of(DType dtype, const std::vector<double>& values) {
  return array(dtype, {static_cast<int64_t>(values.size())}, values);
}

// A program whose one output is of dtype `to`, made from an input of dtype `from`.
Graph program(DType from, DType to) {
  GraphBuilder b;
  const NodeId x = b.input("x", from, {sym("n"_size)});
  return b.finish({b.cast(x, to)});
}

Accuracy floats(DType dtype, const std::vector<double>& got, const std::vector<double>& exact,
                const std::vector<double>& unfused) {
  return compare(program(dtype, dtype), {of(dtype, got)}, {of(dtype, unfused)}, {of(DType::F64, exact)}, 2);
}
Accuracy floats(DType dtype, const std::vector<double>& got, const std::vector<double>& exact) {
  return floats(dtype, got, exact, exact);
}

Accuracy integers(DType from, const std::vector<double>& got, const std::vector<double>& exact,
                  const std::vector<double>& unfused) {
  return compare(program(from, DType::I32), {of(DType::I32, got)}, {of(DType::I32, unfused)}, {of(DType::I32, exact)},
                 2);
}

TEST(UnitInLastPlace, MatchesTheNextFloat) {
  for (const float x : {1.0f, 1.5f, 0.1f, 3e38f, 1e-30f, 1e-40f, 0.0f, 16777216.0f})
    EXPECT_EQ(unit_in_last_place(DType::F32, static_cast<double>(-x)),
              static_cast<double>(std::nextafter(x, INFINITY)) - static_cast<double>(x));
  for (const double x : {1.0, 0.1, 1e300, 1e-310, 0.0})
    EXPECT_EQ(unit_in_last_place(DType::F64, x), std::nextafter(x, kInf) - x);
  EXPECT_EQ(unit_in_last_place(DType::F16, 1.0), 0x1p-10);
  EXPECT_EQ(unit_in_last_place(DType::F16, 0), 0x1p-24);
  EXPECT_EQ(unit_in_last_place(DType::BF16, 1.0), 0x1p-7);
  EXPECT_EQ(unit_in_last_place(DType::I8, 100), 1);
}

TEST(Accuracy, EqualIsCorrectAndZero) {
  const Accuracy a = floats(DType::F32, {1, -0.0, kNan, kInf, -kInf, 0}, {1, -0.0, kNan, kInf, -kInf, 0});
  EXPECT_TRUE(a.correct) << a.note;
  EXPECT_EQ(a.max_abs, 0);
  EXPECT_EQ(a.max_ulp, 0);
  EXPECT_EQ(a.elements, 6);
  EXPECT_EQ(a.note, "");
}

TEST(Accuracy, MeasuresInUlpOfTheResult) {
  const double next = static_cast<double>(std::nextafter(1.0f, 2.0f));
  const Accuracy a = floats(DType::F32, {1, next}, {1, 1});
  EXPECT_TRUE(a.correct);
  EXPECT_EQ(a.max_ulp, 1);
  EXPECT_EQ(a.max_abs, next - 1);
  EXPECT_EQ(a.max_rel, next - 1);
  EXPECT_EQ(a.percentiles.front().ulp, 0);
  EXPECT_EQ(a.percentiles.back().ulp, 1);
}

TEST(Accuracy, EveryPatternCounts) {
  const struct {
    double got, exact;
  } wrong[] = {{0, kNan},   {kNan, 0},   {kInf, -kInf}, {1, kInf},   {kInf, 1},
               {0.0, -0.0}, {-0.0, 0.0}, {kNan, kInf},  {kInf, kNan}};
  for (const auto& w : wrong) {
    const Accuracy a = floats(DType::F32, {5, w.got}, {5, w.exact});
    EXPECT_FALSE(a.correct) << w.got << " " << w.exact;
    EXPECT_EQ(a.patterns, 1);
    EXPECT_NE(a.note.find("output 1 at [1]"), std::string::npos) << a.note;
  }
}

TEST(Accuracy, TheSignOfATinyNumberIsNoPattern) {
  EXPECT_TRUE(floats(DType::F32, {0.0}, {-1e-60}).correct);
  EXPECT_TRUE(floats(DType::F32, {-0.0}, {1e-60}).correct);
  EXPECT_TRUE(floats(DType::F32, {1e-9}, {-1e-9}).correct);
}

TEST(Accuracy, OverflowOfTheDtypeIsInfinity) {
  EXPECT_TRUE(floats(DType::F32, {kInf}, {1e39}).correct);
  EXPECT_TRUE(floats(DType::F16, {kInf}, {70000}).correct);
  EXPECT_FALSE(floats(DType::F32, {kInf}, {1e38}).correct);
  EXPECT_FALSE(floats(DType::F32, {1e30}, {1e39}).correct);
  EXPECT_FALSE(floats(DType::F32, {3.4028234e38}, {kInf}).correct);
  EXPECT_TRUE(floats(DType::F32, {3.4028234e38}, {3.40282357e38}).correct);  // the last bit decides
}

TEST(Accuracy, NanIsPastTheLargestNumberWithoutInfinities) {
  EXPECT_TRUE(floats(DType::F8E4M3, {kNan}, {1000}).correct);
  EXPECT_TRUE(floats(DType::F8E4M3, {kNan}, {kInf}).correct);
  EXPECT_TRUE(floats(DType::F8E4M3, {kNan}, {463.9}).correct);  // the last bit decides
  EXPECT_FALSE(floats(DType::F8E4M3, {kNan}, {300}).correct);
  EXPECT_FALSE(floats(DType::F8E4M3, {300}, {kNan}).correct);
}

TEST(Accuracy, TheToleranceIsThatOfTheDtype) {
  for (const DType dtype : {DType::F8E4M3, DType::F8E5M2, DType::F16, DType::BF16, DType::F32, DType::F64}) {
    const Tolerance t = tolerance_of(dtype);
    const double inside = 8 + 0.5 * (8 * t.relative + t.absolute), outside = 8 + 3 * (8 * t.relative + t.absolute);
    EXPECT_TRUE(floats(dtype, {inside}, {8}).correct) << name_of(dtype);
    EXPECT_FALSE(floats(dtype, {outside}, {8}).correct) << name_of(dtype);
  }
}

TEST(Accuracy, TwiceTheUnfusedErrorIsAllowedButNotFarPast) {
  EXPECT_TRUE(floats(DType::F32, {1.0002}, {1}, {1.00015}).correct);
  EXPECT_FALSE(floats(DType::F32, {1.0002}, {1}, {1.00005}).correct);
  EXPECT_NE(floats(DType::F32, {1.0002}, {1}, {1.00015}).note.find("twice the error of the unfused"),
            std::string::npos);
  EXPECT_FALSE(floats(DType::F32, {1.5}, {1}, {1.5}).correct);  // both are broken
}

TEST(Accuracy, IntegersOfIntegersAreExact) {
  EXPECT_TRUE(integers(DType::I64, {1, 2}, {1, 2}, {1, 2}).correct);
  const Accuracy a = integers(DType::I64, {1, 3}, {1, 2}, {1, 3});
  EXPECT_FALSE(a.correct);
  EXPECT_EQ(a.max_abs, 1);
  EXPECT_NE(a.note.find("is 3, the reference has 2"), std::string::npos) << a.note;
}

TEST(Accuracy, IntegersOfFloatsMayFallBesideABoundary) {
  std::vector<double> exact(100000, 7);
  std::vector<double> got = exact;
  got[5] = 8;
  const Accuracy one = integers(DType::F32, got, exact, got);
  EXPECT_TRUE(one.correct);
  EXPECT_EQ(one.boundary, 1);
  EXPECT_NE(one.note.find("1 of 100,000"), std::string::npos) << one.note;
  got[5] = 9;  // two off, and the unfused program disagrees
  EXPECT_FALSE(integers(DType::F32, got, exact, exact).correct);
  for (int i = 0; i < 100; ++i) got[static_cast<size_t>(i)] = 8;
  EXPECT_FALSE(integers(DType::F32, got, exact, got).correct);
}

// Two counts differ where one of the things counted fell near a boundary.
TEST(Accuracy, CountsMayDifferByWhatTheyCount) {
  GraphBuilder b;
  const NodeId above = b.elementwise(Op::Gt, {b.input("x", DType::F32, {3, sym("n"_size)}), 0.5});
  const Graph graph = b.finish({b.reduce(ReduceKind::Sum, b.cast(above, DType::I32), {1}, false)});
  const auto judged = [&](std::vector<double> got) {
    return compare(graph, {of(DType::I32, got)}, {of(DType::I32, got)}, {of(DType::I32, {40000, 30000, 50})}, 2)
        .correct;
  };
  EXPECT_TRUE(judged({40001, 29999, 51}));
  EXPECT_FALSE(compare(program(DType::F32, DType::I32), {of(DType::I32, {40, 31, 51})}, {of(DType::I32, {40, 31, 51})},
                       {of(DType::I32, {40, 30, 50})}, 2)
                   .correct);
}

// 0.35 / 0.1 in f32 is 3.5, which is rounded to 4; of the same numbers in f64 it is a little less,
// rounded to 3.
TEST(Accuracy, ValuesBetweenIntegersMayFallToBothSides) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F32, {400}), s = b.input("s", DType::F32, {400});
  const Graph graph = b.finish({b.cast(b.elementwise(Op::Round, {b.elementwise(Op::Div, {x, s})}), DType::I8)});
  std::vector<double> values(400, 0.2), got(400, 2);
  for (const size_t tie : {3, 50, 51, 399}) values[tie] = 0.35, got[tie] = 4;
  const std::vector<Tensor> inputs{of(DType::F32, values), of(DType::F32, std::vector<double>(400, 0.1))};
  const std::vector<Tensor> reference = interpret(graph, {inputs.begin(), inputs.end()});
  const Computed from{{inputs.begin(), inputs.end()}};
  const auto judged = [&](const std::vector<double>& result, const Computed* computed) {
    return compare(graph, {of(DType::I8, result)}, {of(DType::I8, result)}, reference, 2, computed);
  };
  EXPECT_FALSE(judged(got, nullptr).correct);
  EXPECT_TRUE(judged(got, &from).correct);
  EXPECT_EQ(judged(got, &from).either, 4);
  EXPECT_EQ(judged(got, &from).note, "the last bit of a float decides 4 of 400 elements");

  std::vector<double> wrong = got;
  wrong[3] = 5;  // no side
  EXPECT_FALSE(judged(wrong, &from).correct);
  wrong = got;
  wrong[0] = 3;  // not between integers
  EXPECT_FALSE(judged(wrong, &from).correct);
  EXPECT_EQ(judged(wrong, &from).note, "output 1 at [0] is 3, the reference has 2");
}

TEST(Accuracy, LargeIntegersOfFloatsAreNearEnough) {
  EXPECT_TRUE(integers(DType::F32, {1000000100}, {1000000000}, {1000000000}).correct);
  EXPECT_FALSE(integers(DType::F32, {1001000000}, {1000000000}, {1000000000}).correct);
}

TEST(Accuracy, EmptyOutputsAreCorrect) {
  const Accuracy a = floats(DType::F32, {}, {});
  EXPECT_TRUE(a.correct);
  EXPECT_EQ(a.elements, 0);
  EXPECT_EQ(a.percentiles.size(), 5u);
}

TEST(Accuracy, PercentilesRise) {
  std::vector<double> exact(1000, 1), got = exact;
  for (int i = 0; i < 1000; ++i) got[static_cast<size_t>(i)] = 1 + i * 0x1p-40;
  const Accuracy a = floats(DType::F64, got, exact, got);
  const double expected[] = {499, 899, 989, 998, 999};
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(a.percentiles[i].abs, expected[i] * 0x1p-40);
}

}  // namespace
}  // namespace smelt::report

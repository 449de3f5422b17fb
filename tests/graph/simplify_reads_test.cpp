// Reads of ranges, of padding and of what is moved: what they become, and that no value changes by
// it.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "arrays.hpp"

namespace smelt {
namespace {

using namespace testing;
using Build = std::function<NodeId(GraphBuilder&, NodeId x)>;

constexpr int64_t kRows = 5, kColumns = 8;

// Small whole numbers, whose sums are exact, with one special value in a corner of every row.
Tensor special(double value, size_t at) {
  std::vector<double> v(kRows * kColumns);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i * 7 % 11) - 5;
  for (size_t row = 0; row < kRows; ++row) v[row * kColumns + at] = value;
  return array(DType::F32, {kRows, kColumns}, v);
}

// The kinds of the nodes after the input but for constants, of a program whose values stay: "slice;
// sum".
std::string kinds(const Build& build) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {kRows, kColumns});
  const Graph before = g.finish({build(g, x)}), after = simplify(before);
  for (const double value : {kNan, kInf, -kInf, -0.0, 0.0, 3.0})
    for (const size_t at : {0, 1, 7}) {
      const Tensor t = special(value, at);
      EXPECT_TRUE(same(run(before, {t}), run(after, {t}))) << value << " at " << at;
    }
  std::string text;
  for (const Node& n : after.nodes) {
    if (n.kind == NodeKind::Input || n.kind == NodeKind::Constant) continue;
    if (!text.empty()) text += "; ";
    text += n.kind == NodeKind::Reduce ? name_of(n.reduce) : name_of(n.kind);
  }
  return text;
}

// take(x, first + step * arange(count), axis=1)
Build taken(int64_t first, int64_t step, int64_t count, DType dtype = DType::I64) {
  return [=](GraphBuilder& b, NodeId x) {
    const NodeId moved = b.elementwise(Op::Mul, {b.iota({count}, 0), lit(step)});
    const NodeId index = b.cast(b.elementwise(Op::Add, {moved, lit(first)}), dtype);
    return b.gather(x, index, 1, GatherMode::Check);
  };
}

TEST(SimplifyReads, RowsNamedInOrderAreASlice) {
  EXPECT_EQ(kinds(taken(0, 1, 5)), "slice");
  EXPECT_EQ(kinds(taken(1, 2, 4)), "slice");
  EXPECT_EQ(kinds(taken(7, -1, 8)), "slice");
  EXPECT_EQ(kinds(taken(6, -3, 3, DType::I32)), "slice");
  EXPECT_EQ(kinds([](GraphBuilder& b, NodeId x) {
              return b.gather(x, b.elementwise(Op::Sub, {lit(4), b.iota({kRows}, 0)}), 0, GatherMode::Clamp);
            }),
            "slice");
}

// From the end, clamped or around, at one place, or by a type that they leave.
TEST(SimplifyReads, OtherRowsStayGathered) {
  EXPECT_EQ(kinds(taken(-8, 1, 8)).substr(0, 5), "iota;");
  EXPECT_EQ(kinds(taken(0, -1, 3)).substr(0, 5), "iota;");
  EXPECT_EQ(kinds(taken(0, 1, 8, DType::I8)).substr(0, 5), "iota;");
  for (const GatherMode mode : {GatherMode::Clamp, GatherMode::Wrap})
    EXPECT_EQ(kinds([=](GraphBuilder& b, NodeId x) {
                return b.gather(x, b.elementwise(Op::Add, {b.iota({kColumns}, 0), lit(1)}), 1, mode);
              }).substr(0, 5),
              "iota;");
  EXPECT_EQ(kinds([](GraphBuilder& b, NodeId x) {
              const NodeId i = b.iota({3}, 0);
              return b.gather(x, b.elementwise(Op::Mul, {i, i}), 1, GatherMode::Check);
            }).substr(0, 5),
            "iota;");
}

Build padded(ReduceKind kind, double value, std::vector<int> axes) {
  return [=](GraphBuilder& b, NodeId x) {
    return b.reduce(kind, b.pad(x, {1, 2}, {0, 3}, Literal(value)), axes, false);
  };
}

TEST(SimplifyReads, WhatChangesNoResultIsNotRead) {
  EXPECT_EQ(kinds(padded(ReduceKind::Sum, 0, {0, 1})), "sum");
  EXPECT_EQ(kinds(padded(ReduceKind::Sum, 0, {1})), "pad; sum");  // of the rows
  EXPECT_EQ(kinds(padded(ReduceKind::Prod, 1, {0, 1})), "prod");
  EXPECT_EQ(kinds(padded(ReduceKind::Max, -kInf, {0, 1})), "max");
  EXPECT_EQ(kinds(padded(ReduceKind::Min, kInf, {0, 1})), "min");
  EXPECT_EQ(kinds(padded(ReduceKind::Max, 0, {0, 1})), "pad; max");
  EXPECT_EQ(kinds(padded(ReduceKind::Sum, 1, {0, 1})), "pad; sum");
  EXPECT_EQ(kinds(padded(ReduceKind::ArgMax, -kInf, {1})), "pad; argmax");
}

// A concat of x[:, first:last] for each pair.
Build joined(ReduceKind kind, std::vector<std::pair<int64_t, int64_t>> ranges, std::vector<int> axes) {
  return [=](GraphBuilder& b, NodeId x) {
    std::vector<NodeId> parts;
    for (const auto& [first, last] : ranges) parts.push_back(b.slice(x, {0, first}, {1, 1}, {kRows, last - first}));
    return b.reduce(kind, b.concat(parts, 1), axes, false);
  };
}

TEST(SimplifyReads, AReductionDoesNotSeeWhereElementsAre) {
  EXPECT_EQ(kinds(joined(ReduceKind::Sum, {{3, 8}, {0, 3}}, {1})), "sum");
  EXPECT_EQ(kinds(joined(ReduceKind::Max, {{6, 8}, {0, 3}, {3, 6}}, {0, 1})), "max");
  const std::string stays = "slice; slice; concat; ";
  EXPECT_EQ(kinds(joined(ReduceKind::Sum, {{3, 8}, {0, 3}}, {0})), stays + "sum");  // columns have moved
  EXPECT_EQ(kinds(joined(ReduceKind::Sum, {{3, 8}, {1, 4}}, {1})), stays + "sum");
  EXPECT_EQ(kinds(joined(ReduceKind::Sum, {{0, 3}, {4, 8}}, {1})), stays + "sum");
  EXPECT_EQ(kinds(joined(ReduceKind::ArgMax, {{3, 8}, {0, 3}}, {1})), stays + "argmax");
}

}  // namespace
}  // namespace smelt

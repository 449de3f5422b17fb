// Takes of patterns that repeat become slices side by side.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "arrays.hpp"

namespace smelt {
namespace {

using namespace testing;

constexpr int64_t kColumns = 12;

using Index = std::function<NodeId(GraphBuilder&, NodeId iota)>;

// Whether the take is still one, of a program whose values stay.
bool gathers(const Index& index, int64_t count = kColumns, GatherMode mode = GatherMode::Check) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {3, kColumns});
  const Graph before = g.finish({g.gather(x, index(g, g.iota({count}, 0)), 1, mode)}), after = simplify(before);
  std::vector<double> v(3 * kColumns);
  std::iota(v.begin(), v.end(), -7.0);
  v[5] = kNan, v[6] = kInf, v[7] = -0.0;
  const Tensor t = array(DType::F32, {3, kColumns}, v);
  EXPECT_TRUE(same(run(before, {t}), run(after, {t})));
  return std::any_of(after.nodes.begin(), after.nodes.end(), [](const Node& n) { return n.kind == NodeKind::Gather; });
}

Index with(Op op, int64_t c) {
  return [=](GraphBuilder& g, NodeId i) { return g.elementwise(op, {i, lit(c)}); };
}

TEST(SimplifyPatterns, BitsOfIndices) {
  for (const int64_t c : {1, 2, 3}) EXPECT_FALSE(gathers(with(Op::Xor, c))) << c;
  EXPECT_FALSE(gathers(with(Op::Xor, 5), 8));
  EXPECT_FALSE(gathers(with(Op::Or, 1)));
  EXPECT_FALSE(gathers(with(Op::ShiftRight, 1)));
  EXPECT_FALSE(gathers(with(Op::ShiftLeft, 1), 6));
}

TEST(SimplifyPatterns, QuotientsAndRemainders) {
  EXPECT_FALSE(gathers(with(Op::FloorDiv, 3)));
  EXPECT_FALSE(gathers(with(Op::Mod, 4), 4));
  EXPECT_FALSE(gathers(with(Op::FloorDiv, 4), 4)) << "one element four times";
  EXPECT_FALSE(gathers([](GraphBuilder& g, NodeId i) {
    const NodeId pair = g.elementwise(Op::Mul, {g.elementwise(Op::FloorDiv, {i, lit(2)}), lit(2)});
    return g.elementwise(Op::Sub, {g.elementwise(Op::Add, {pair, lit(1)}), g.elementwise(Op::Mod, {i, lit(2)})});
  })) << "each pair the other way round";
  EXPECT_FALSE(gathers([](GraphBuilder& g, NodeId i) {
    return g.cast(g.elementwise(Op::Xor, {g.cast(i, DType::I32), lit(1)}), DType::I64);
  })) << "as numbers of 32 bits";
}

TEST(SimplifyPatterns, WhatStaysATake) {
  EXPECT_TRUE(gathers(with(Op::Xor, 1), 11)) << "the last pair is half of one";
  EXPECT_TRUE(gathers(with(Op::Xor, 8), 4, GatherMode::Clamp)) << "a long pattern";
  EXPECT_TRUE(gathers(with(Op::Xor, 4), 16, GatherMode::Clamp)) << "behind the last element";
  EXPECT_TRUE(gathers(with(Op::Xor, -1), 12, GatherMode::Wrap)) << "from the end";
  EXPECT_TRUE(gathers(with(Op::Mod, 4))) << "the same elements again and again";
  EXPECT_TRUE(gathers([](GraphBuilder& g, NodeId i) {
    return g.elementwise(Op::Mod, {g.elementwise(Op::Mul, {i, i}), lit(3)});
  }));
  EXPECT_TRUE(gathers(
      [](GraphBuilder& g, NodeId i) {
        const NodeId large = g.elementwise(Op::Mul, {i, lit(int64_t{1} << 61)});
        return g.elementwise(Op::Mod, {g.elementwise(Op::Add, {large, g.elementwise(Op::Xor, {i, lit(1)})}), lit(4)});
      },
      4))
      << "numbers that leave 64 bits";
}

TEST(SimplifyPatterns, TheFirstOfAChain) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {64});
  const auto taken = [&](NodeId from, int64_t bit) {
    return g.gather(from, g.elementwise(Op::Xor, {g.iota({64}, 0), lit(bit)}), 0, GatherMode::Check);
  };
  const NodeId once = g.elementwise(Op::Max, {x, taken(x, 2)});
  const Graph after = simplify(g.finish({g.elementwise(Op::Min, {once, taken(once, 4)})}));
  EXPECT_EQ(
      std::count_if(after.nodes.begin(), after.nodes.end(), [](const Node& n) { return n.kind == NodeKind::Gather; }),
      1);
}

TEST(SimplifyPatterns, LongRowsAreFoundOneByOne) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {8, 64});
  const NodeId index = g.elementwise(Op::Xor, {g.iota({8}, 0), lit(1)});
  const Graph after = simplify(g.finish({g.gather(x, index, 0, GatherMode::Check)}));
  EXPECT_EQ(after.nodes[static_cast<size_t>(after.outputs[0])].kind, NodeKind::Gather);
}

}  // namespace
}  // namespace smelt

// Pieces of axes, positions of merged axes, loops around a body: what every family of schedules is
// lowered with.
#include "kernel/nest.hpp"

#include <gtest/gtest.h>

#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const Symbol kTile = "t"_loop;

// What a grid over the pieces of an axis gives the iteration %g.
std::string piece_of(const IntExpr& extent, const IntExpr& size) {
  Grid grid;
  grid.add_pieces(kTile, extent, size);
  Placement placement;
  grid.decode(placement);
  const Piece piece = piece_at(placement, kTile, extent, size);
  return grid.extent().str() + ": " + piece.length.str() + " from " + piece.first.str();
}

TEST(Nest, OnePieceIsAll) {
  EXPECT_EQ(piece_of(100, 128), "1: 100 from 0");
  EXPECT_EQ(piece_of(128, 128), "1: 128 from 0");
  EXPECT_EQ(piece_of(0, 128), "1: 0 from 0");
}

TEST(Nest, FullPiecesHaveNoMinimum) { EXPECT_EQ(piece_of(512, 128), "4: 128 from 128*%g"); }

TEST(Nest, TheLastPieceMayBeShorter) {
  EXPECT_EQ(piece_of(500, 128), "4: min(128, -128*%g + 500) from 128*%g");
  EXPECT_EQ(piece_of(513, 128), "5: min(128, -128*%g + 513) from 128*%g");
  EXPECT_EQ(piece_of(sym("B"_size), 128), "((B + 127) // 128): min(128, -128*%g + B) from 128*%g");
  EXPECT_EQ(piece_of(sym("B"_size) * 128, 128), "B: 128 from 128*%g");
}

// Every piece of every small axis: they follow each other, and their lengths add up.
TEST(Nest, PiecesCoverTheAxis) {
  for (int64_t extent = 0; extent < 40; ++extent)
    for (int64_t size = 1; size < 12; ++size) {
      Grid grid;
      grid.add_pieces(kTile, extent, size);
      Placement placement;
      grid.decode(placement);
      const Piece piece = piece_at(placement, kTile, extent, size);
      int64_t next = 0;
      for (int64_t g = 0; g < *grid.extent().constant(); ++g) {
        EXPECT_EQ(piece.first.evaluate({{kGrid, g}}), next);
        next += piece.length.evaluate({{kGrid, g}});
      }
      EXPECT_EQ(next, extent) << extent << " in pieces of " << size;
    }
}

TEST(Nest, AxesUnravelAPosition) {
  const std::vector<schedule::Axis> axes{{"a0"_loop, 4}, {"a1"_loop, 3}, {"a2"_loop, 5}};
  Placement placement;
  placement.ranges[kLane] = {0, 59};
  placement.unravel(axes, IntExpr::symbol(kLane));
  for (int64_t i = 0; i < 60; ++i) {
    const SizeBinding at{{kLane, i}};
    EXPECT_EQ(placement.value_of.at(axes[0].var).evaluate(at), i / 15);
    EXPECT_EQ(placement.value_of.at(axes[1].var).evaluate(at), i / 5 % 3);
    EXPECT_EQ(placement.value_of.at(axes[2].var).evaluate(at), i % 5);
  }
}

// Parts of a split, whose size a launch computes.
TEST(Nest, PiecesOfASizeThatALaunchComputes) {
  const IntExpr part = sym("part"_launch);
  EXPECT_EQ(piece_of(500, part), "(499 // %part) + 1: min(-%g*%part + 500, %part) from %g*%part");
}

TEST(Nest, WithoutAxesOrLoops) {
  Placement placement;
  Grid().decode(placement);
  placement.unravel({}, IntExpr::symbol(kLane));
  EXPECT_TRUE(placement.value_of.empty());
  EXPECT_TRUE(Grid().extent().is(1));
  EXPECT_EQ(in_loops({}, {assign(0, 0)}).size(), 1u);
}

TEST(Nest, TheInnermostLoopTakesStepsTogether) {
  std::vector<Stmt> nest = in_loops({{"y"_loop, 3}, {"x"_loop, 4}}, {assign(0, 0)}, 2);
  ASSERT_EQ(nest.size(), 1u);
  const auto& outer = nest[0].get<Loop>();
  ASSERT_EQ(outer.body.size(), 1u);
  const auto& inner = outer.body[0].get<Loop>();
  EXPECT_EQ(outer.var, "y"_loop);
  EXPECT_EQ(outer.unroll, 1);
  EXPECT_EQ(inner.var, "x"_loop);
  EXPECT_EQ(inner.unroll, 2);
  ASSERT_EQ(inner.body.size(), 1u);
  EXPECT_TRUE(inner.body[0].is<Assign>());
}

}  // namespace
}  // namespace smelt::kernel

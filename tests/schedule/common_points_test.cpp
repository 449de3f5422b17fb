// Points that outputs of different shapes share.
#include "schedule/common_points.hpp"

#include <gtest/gtest.h>

namespace smelt::schedule {
namespace {

using Axes = std::vector<std::vector<int>>;

const IntExpr kN = IntExpr::symbol(Symbol::size("N"));

TEST(CommonPoints, ShortAxesAreElementsOfAPoint) {
  const auto found = common_points({{kN}, {kN, 3}, {2, kN}}, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shape, Shape{kN});
  EXPECT_EQ(found->axis_of, (Axes{{0}, {0, -1}, {-1, 0}}));
}

TEST(CommonPoints, WhatAllHaveIsALoop) {
  const auto found = common_points({{kN, 3, 3}, {kN, 3}}, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shape, (Shape{kN, 3}));
  EXPECT_EQ(found->axis_of, (Axes{{0, 1, -1}, {0, 1}}));
  const auto apart = common_points({{kN, 3, 3}, {kN, 3}}, 2);
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->shape, Shape{kN});
  EXPECT_EQ(apart->axis_of, (Axes{{0, -1, -1}, {0, -1}}));
  EXPECT_FALSE(common_points({{kN, 3, 3}, {kN, 3}}, 1));  // the first axis is no short one
  EXPECT_FALSE(common_points({{kN, 3, 3}, {kN, 3}}, 4));  // nor is there a third
}

TEST(CommonPoints, ShortAxesThatDifferAreApart) {
  const auto found = common_points({{kN, 3}, {kN, 1, 2}}, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shape, Shape{kN});
  EXPECT_EQ(found->axis_of, (Axes{{0, -1}, {0, -1, -1}}));
}

TEST(CommonPoints, NothingWhereTheyShareNoPoints) {
  const IntExpr m = IntExpr::symbol(Symbol::size("M"));
  EXPECT_FALSE(common_points({{kN}, {m}}, 0));
  EXPECT_FALSE(common_points({{kN}, {kN, m}}, 0));
  EXPECT_FALSE(common_points({{kN}, {kN, 17}}, 0));
  EXPECT_FALSE(common_points({{kN, 16}, {16, kN}}, 0));  // too many elements of a point
  EXPECT_FALSE(common_points({{kN}, {kN, 0}}, 0));
  EXPECT_FALSE(common_points({{2, 3}, {2}}, 0));  // no long axis
}

}  // namespace
}  // namespace smelt::schedule

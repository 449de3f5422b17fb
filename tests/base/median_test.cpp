#include "base/median.hpp"

#include <gtest/gtest.h>

namespace smelt {
namespace {

TEST(Median, IsTheMiddleOneOrTheMeanOfTwo) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({3, 1}), 2);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({2, 2, 9, 2}), 2);
  EXPECT_EQ(median({-1, 0, -7}), -1);
}

}  // namespace
}  // namespace smelt

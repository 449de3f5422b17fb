#include "base/line_diff.hpp"

#include <gtest/gtest.h>

namespace smelt {
namespace {

using Lines = std::vector<std::string>;

TEST(LineDiff, NamesWhatEachTextHasAlone) {
  EXPECT_EQ(changed_lines("a\nb\nc\n", "a\nb\nc\n"), Lines{});
  EXPECT_EQ(changed_lines("", ""), Lines{});
  EXPECT_EQ(changed_lines("", "x\n"), Lines{"+ x"});
  EXPECT_EQ(changed_lines("x\n", ""), Lines{"- x"});
  EXPECT_EQ(changed_lines("a\nb\nc\n", "a\nx\nc\n"), (Lines{"- b", "+ x"}));
  EXPECT_EQ(changed_lines("a\nb\na\nb\n", "a\na\nb\nb\n"), (Lines{"- b", "+ b"})) << "one line moved";
  EXPECT_EQ(changed_lines("a\nb\n", "a\nb\nb\n"), Lines{"+ b"});
}

}  // namespace
}  // namespace smelt

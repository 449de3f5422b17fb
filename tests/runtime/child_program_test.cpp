// Programs that smelt starts: what comes back of them.
#include <gtest/gtest.h>

#include <filesystem>

#include "runtime/child_program.hpp"

namespace smelt::runtime {
namespace {

ChildResult shell(const std::string& script, const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  return run_child("/bin/sh", {"-c", script}, environment);
}

TEST(ChildProgram, BothOutputsAndTheStatusComeBack) {
  const ChildResult result = shell("echo one; echo two >&2; exit 5");
  EXPECT_EQ(result.status, 5);
  EXPECT_EQ(result.output, "one\ntwo\n");
}

TEST(ChildProgram, ArgumentsArriveAsTheyAre) {
  const ChildResult result = run_child("/bin/sh", {"-c", "printf '%s|' \"$@\"", "sh", "a b", "", "$x \"'*"});
  EXPECT_EQ(result.output, "a b||$x \"'*|");
}

TEST(ChildProgram, TheEnvironmentComesOnTop) {
  ::setenv("SMELT_TEST_OLD", "old", 1);
  const ChildResult result =
      shell("echo $SMELT_TEST_OLD $SMELT_TEST_NEW", {{"SMELT_TEST_OLD", "changed"}, {"SMELT_TEST_NEW", "new"}});
  EXPECT_EQ(result.output, "changed new\n");
  EXPECT_STREQ(::getenv("SMELT_TEST_OLD"), "old");
}

TEST(ChildProgram, ASignalAndAMissingProgramAreStatuses) {
  EXPECT_EQ(shell("kill -9 $$").status, 128 + 9);
  const ChildResult missing = run_child("/nonexistent/program", {});
  EXPECT_EQ(missing.status, 127);
  EXPECT_EQ(missing.output, "");
}

TEST(ChildProgram, MuchOutputIsReadToItsEnd) {
  const ChildResult result = shell("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i + 1)); done");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output.size(), 20000u * 11);
}

// A child that holds the other ends of pipes would keep their readers waiting.
TEST(ChildProgram, ItsPipeIsOnItsOutputsAlone) {
  if (!std::filesystem::exists("/proc/self/fd")) GTEST_SKIP() << "no /proc";
  const ChildResult result = shell(
      "mine=$(readlink /proc/$$/fd/1); for f in 3 4 5 6 7 8 9; do "
      "if [ \"$(readlink /proc/$$/fd/$f)\" = \"$mine\" ]; then echo $f; fi; done");
  EXPECT_EQ(result.output, "");
}

}  // namespace
}  // namespace smelt::runtime

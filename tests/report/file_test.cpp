#include "report/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "smelt/error.hpp"
#include "support/message_of.hpp"
#include "temporary_folder.hpp"

namespace smelt::report {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

TEST(StagedFile, HasNoNameBeforeCommit) {
  const TemporaryFolder folder;
  {
    StagedFile file(folder / "a.txt");
    file.write("half");
    EXPECT_FALSE(std::filesystem::exists(folder / "a.txt"));
  }
  EXPECT_EQ(folder.entries(), 0u);
  write_text(folder / "a.txt", "whole");
  EXPECT_EQ(bytes_of(folder / "a.txt"), "whole");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(StagedFile, ReplacesKeepingModeAndLink) {
  const TemporaryFolder folder;
  const std::string real = folder.file("real.txt", "old");
  std::filesystem::permissions(real, std::filesystem::perms(0640));
  std::filesystem::create_symlink("real.txt", folder / "link.txt");
  write_text(folder / "link.txt", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.txt"));
  EXPECT_EQ(bytes_of(real), "new");
  EXPECT_EQ(std::filesystem::status(real).permissions(), std::filesystem::perms(0640));
}

TEST(StagedFile, NewFilesFollowTheUmask) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  write_text(folder / "a.txt", "x");
  ::umask(before);
  EXPECT_EQ(std::filesystem::status(folder / "a.txt").permissions(), std::filesystem::perms(0640));
}

TEST(StagedFile, DevicesStayDevices) {
  write_text("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THAT(message_of([&] { write_text("/dev/full", "no room"); }),
              HasSubstr("cannot write /dev/full: No space left on device"));
}

TEST(StagedFile, FoldersAndMissingFoldersAreErrors) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of([&] { write_text(folder.path.string(), "x"); }), HasSubstr(": Is a directory"));
  EXPECT_THAT(message_of([&] { write_text("", "x"); }), HasSubstr("cannot write \"\": No such file or directory"));
  try {
    write_text(folder / "no/a.txt", "x");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("mkdir -p"), std::string::npos);
  }
}

TEST(ReadText, IsBounded) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.txt", std::string(1000, 'x'));
  EXPECT_EQ(read_text(path, 1000).size(), 1000u);
  EXPECT_THAT(message_of([&] { read_text(path, 999); }), HasSubstr("is larger than 999 bytes"));
  EXPECT_THAT(message_of([&] { read_text("/dev/zero", 1 << 20); }),
              HasSubstr("/dev/zero is larger than 1048576 bytes, which is more than a file of this kind can need"));
  EXPECT_THAT(message_of([&] { read_text(folder.path.string(), 1000); }), HasSubstr(": Is a directory"));
  EXPECT_THAT(message_of([&] { read_text(folder / "none", 1000); }), HasSubstr("/none: No such file or directory"));
}

}  // namespace
}  // namespace smelt::report

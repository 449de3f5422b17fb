// Cases 37 to 43: real processes, real files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "runtime/disk_cache.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/message_of.hpp"

namespace smelt::testing {
namespace {

namespace fs = std::filesystem;
using namespace smelt::runtime;
using ::testing::HasSubstr;

class Cache : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "smelt-cache-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    folder_ = (root_ / "smelt").string();
  }
  void TearDown() override {
    fs::permissions(root_, fs::perms::owner_all);
    fs::remove_all(root_);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder_)) all.push_back(entry.path());
    return all;
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  static std::string value(int seed, size_t bytes = 20000) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::string out;
    while (out.size() < bytes) out += static_cast<char>(random());
    return out;
  }
  fs::path root_;
  std::string folder_;
};

TEST_F(Cache, KeepsWhatItWasGiven) {
  DiskCache first(folder_);
  EXPECT_EQ(first.find("a"), std::nullopt);
  first.store("a", value(1));
  first.store("b", "");
  first.store("", "empty key");
  DiskCache second(folder_);
  EXPECT_EQ(second.find("a"), value(1));
  EXPECT_EQ(second.find("b"), "");
  EXPECT_EQ(second.find(""), "empty key");
  EXPECT_EQ(second.find("c"), std::nullopt);
  second.store("a", value(2));
  EXPECT_EQ(first.find("a"), value(2));
  EXPECT_EQ(first.info().entries, 3);
  EXPECT_EQ(first.clear(), 3);
  EXPECT_EQ(first.find("a"), std::nullopt);
}

TEST_F(Cache, C37_ThreadsThatRequestTheSameEntryMakeItOnce) {
  DiskCache cache(folder_);
  std::atomic<int> made{0}, hits{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 32; ++t)
    threads.emplace_back([&] {
      bool hit = false;
      const std::string got = cache.get(
          "cold",
          [&] {
            ++made;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            return value(7);
          },
          &hit);
      EXPECT_EQ(got, value(7));
      hits += hit;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(hits, 31);
}

TEST_F(Cache, WhatCannotBeMadeIsAnErrorForAllWhoAskAndIsTriedAgain) {
  DiskCache cache(folder_);
  EXPECT_EQ(
      message_of<std::runtime_error>([&] { cache.get("k", []() -> std::string { throw std::runtime_error("no"); }); }),
      "no");
  EXPECT_EQ(cache.get("k", [] { return std::string("yes"); }), "yes");
}

TEST_F(Cache, C38_ProcessesOnAColdCache) {
  std::vector<pid_t> children;
  for (int p = 0; p < 32; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      DiskCache cache(folder_);
      bool fine = true;
      for (int k = 0; k < 20; ++k)
        fine = fine && cache.get("key" + std::to_string(k), [&] { return value(k); }) == value(k);
      ::_exit(fine ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(DiskCache(folder_).info().entries, 20);
  for (const fs::path& file : files()) EXPECT_EQ(file.extension(), ".entry");
}

TEST_F(Cache, C39_KilledWhileItWrites) {
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      DiskCache cache(folder_);
      for (int k = 0;; ++k) cache.store("key" + std::to_string(k % 10), value(k % 10, 1 << 20));
    }
    ::usleep(static_cast<useconds_t>(1000 + 1700 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    DiskCache cache(folder_);
    for (int k = 0; k < 10; ++k) {
      const auto found = cache.find("key" + std::to_string(k));
      EXPECT_TRUE(!found || *found == value(k, 1 << 20)) << round;
    }
  }
}

TEST_F(Cache, WhatKilledWritersLeftIsRemovedInTime) {
  DiskCache(folder_).store("a", "1");
  write(folder_ + "/99-1.tmp", "half");
  write(folder_ + "/99-2.tmp", "half");
  fs::last_write_time(folder_ + "/99-1.tmp", fs::file_time_type::clock::now() - std::chrono::hours(2));
  DiskCache(folder_).store("b", "2");
  EXPECT_FALSE(fs::exists(folder_ + "/99-1.tmp"));
  EXPECT_TRUE(fs::exists(folder_ + "/99-2.tmp")) << "somebody may be writing it";
}

TEST_F(Cache, C40_EveryTruncationAndEveryFlippedBit) {
  DiskCache(folder_).store("the key", "the value of it");
  const fs::path file = files().at(0);
  const std::string whole = read(file);
  const auto check = [&](const std::string& text, const std::string& what) {
    write(file, text);
    DiskCache cache(folder_);
    EXPECT_EQ(cache.find("the key"), std::nullopt) << what;
    EXPECT_FALSE(fs::exists(file)) << what << ": stays";
    bool hit = true;
    EXPECT_EQ(cache.get(
                  "the key", [] { return std::string("the value of it"); }, &hit),
              "the value of it");
    EXPECT_FALSE(hit);
    EXPECT_EQ(cache.find("the key"), "the value of it");
  };
  for (size_t length = 0; length < whole.size(); ++length) check(whole.substr(0, length), "cut");
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    check(changed, "flipped bit");
  }
  check(whole + "x", "longer");
}

TEST_F(Cache, C40_AFileOfATerabyte) {
  DiskCache cache(folder_);
  cache.store("k", "v");
  std::error_code failed;
  fs::resize_file(files().at(0), uintmax_t{1} << 40, failed);
  if (failed) GTEST_SKIP() << "no file can be so large here: " << failed.message();
  EXPECT_EQ(cache.find("k"), std::nullopt);
  EXPECT_EQ(cache.get("k", [] { return std::string("v"); }), "v");
  EXPECT_EQ(cache.find("k"), "v");
}

TEST_F(Cache, AFileOfAnotherKeyIsNotTaken) {
  DiskCache cache(folder_);
  cache.store("one", "1");
  const fs::path one = files().at(0);
  cache.store("two", "2");
  for (const fs::path& file : files())
    if (file != one) fs::copy_file(one, file, fs::copy_options::overwrite_existing);
  EXPECT_EQ(cache.find("two"), std::nullopt);
  EXPECT_EQ(cache.find("one"), "1");
}

TEST_F(Cache, C41_WithoutAFolderEveryCallMakesItAgain) {
  const auto works_without = [](DiskCache& cache) {
    bool hit = true;
    EXPECT_EQ(cache.get(
                  "k", [] { return std::string("v"); }, &hit),
              "v");
    EXPECT_FALSE(hit);
    EXPECT_EQ(cache.get(
                  "k", [] { return std::string("v"); }, &hit),
              "v");
    EXPECT_FALSE(hit);
  };
  DiskCache none("");
  works_without(none);
  EXPECT_EQ(none.info().refused, "there is no folder for it");

  write(root_ / "file", "x");
  DiskCache under_file((root_ / "file" / "smelt").string());
  works_without(under_file);

  DiskCache(folder_).store("a", "1");
  if (::geteuid() != 0) {  // root may write anywhere
    fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
    DiskCache read_only(folder_);
    works_without(read_only);
    EXPECT_EQ(read_only.find("a"), "1");
    fs::permissions(folder_, fs::perms::owner_all);
  }
}

TEST_F(Cache, C41_AFullDiskIsNoError) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{5000, 5000};
    ::setrlimit(RLIMIT_FSIZE, &small);  // a file that grows past it fails as on a full disk
    DiskCache cache(folder_);
    const bool fine = cache.get("k", [] { return value(1); }) == value(1) && !cache.find("k");
    cache.store("small", "fits");
    ::_exit(fine && cache.find("small") == "fits" ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(files().size(), 1U) << "what could not be written stays behind";
}

TEST_F(Cache, C41_FoldersNamedByTheEnvironment) {
  {
    const Variable chosen("SMELT_CACHE_DIR", (root_ / "own").string());
    EXPECT_EQ(DiskCache::of_user()->info().folder, (root_ / "own").string());
  }
  const Variable unset("SMELT_CACHE_DIR", "");
  {
    const Variable caches("XDG_CACHE_HOME", (root_ / "xdg").string());
    const auto cache = DiskCache::of_user();
    EXPECT_EQ(cache->info().folder, (root_ / "xdg" / "smelt").string());
    cache->store("a", "1");
    EXPECT_EQ(cache->find("a"), "1");
    EXPECT_EQ(fs::status(root_ / "xdg" / "smelt").permissions() & fs::perms::all, fs::perms::owner_all);
  }
  const Variable caches("XDG_CACHE_HOME", "relative");
  {
    const Variable home("HOME", root_.string());
    EXPECT_EQ(DiskCache::of_user()->info().folder, (root_ / ".cache" / "smelt").string());
  }
  const Variable home("HOME", "");
  EXPECT_EQ(DiskCache::of_user()->info().folder, "");
  EXPECT_EQ(DiskCache::of_user()->get("k", [] { return std::string("v"); }), "v");
  const Variable off("SMELT_CACHE_DIR", "off");
  EXPECT_EQ(DiskCache::of_user()->info().refused, "there is no folder for it");
}

TEST_F(Cache, C43_FoldersThatAreNotOursAreRefused) {
  fs::create_directories(folder_);
  DiskCache(folder_).store("a", "1");
  for (const fs::perms wide : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(folder_, wide, fs::perm_options::add);
    DiskCache cache(folder_);
    EXPECT_EQ(cache.find("a"), std::nullopt);
    EXPECT_THAT(cache.info().refused, HasSubstr("can be written by others"));
    fs::permissions(folder_, wide, fs::perm_options::remove);
  }
  fs::create_directory_symlink(folder_, root_ / "link");
  DiskCache linked((root_ / "link").string());
  EXPECT_EQ(linked.find("a"), std::nullopt);
  EXPECT_THAT(linked.info().refused, HasSubstr("is a link"));
  EXPECT_EQ(linked.clear(), 0);
  EXPECT_EQ(DiskCache(folder_).find("a"), "1");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder_.c_str(), 12345, 12345), 0);
    DiskCache foreign(folder_);
    EXPECT_EQ(foreign.find("a"), std::nullopt);
    EXPECT_THAT(foreign.info().refused, HasSubstr("belongs to another user"));
  }
}

TEST_F(Cache, C43_EntriesThatAreLinksAreNotRead) {
  DiskCache cache(folder_);
  cache.store("a", "1");
  const fs::path file = files().at(0);
  fs::rename(file, root_ / "elsewhere");
  fs::create_symlink(root_ / "elsewhere", file);
  EXPECT_EQ(cache.find("a"), std::nullopt);
}

TEST_F(Cache, StaysWithinItsLimitAndKeepsWhatIsUsed) {
  DiskCache cache(folder_, 500'000);
  cache.store("favourite", value(0));
  for (int k = 1; k < 200; ++k) {
    cache.store("key" + std::to_string(k), value(k));
    EXPECT_NE(cache.find("favourite"), std::nullopt) << k;
    ASSERT_LE(cache.info().bytes, 500'000) << k;
  }
  EXPECT_GE(cache.info().entries, 10);
  EXPECT_NE(cache.find("key199"), std::nullopt);
  EXPECT_EQ(cache.find("key1"), std::nullopt);
}

}  // namespace
}  // namespace smelt::testing

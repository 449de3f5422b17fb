// Cases 37 to 43 for kernels of the CPU: the tool itself, killed, its files corrupted.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "process.hpp"

namespace {

namespace fs = std::filesystem;

class CpuCache : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
    std::string name = (fs::temp_directory_path() / "smelt-cpu-cache-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    folder_ = (root_ / "smelt").string();
    expected_ = run({kProgram, {{"SMELT_CACHE_DIR", "off"}}, "", false}).out;
    ASSERT_NE(expected_, "");
  }
  void TearDown() override {
    if (root_.empty()) return;
    if (fs::exists(folder_)) fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(root_);
  }

  // Three kernels and a made-up input, the same in every run.
  const std::vector<std::string> kProgram = {
      "run", "sum(softmax(x, axis=0), axis=1), x.T * 2", "-i", "x=iota:f32[7,33]", "--device", "cpu"};

  Result smelt(std::map<std::string, std::string> more = {}) const {
    more.emplace("SMELT_CACHE_DIR", folder_);
    return run({kProgram, more, "", false});
  }
  // Kernels found, and kernels compiled, by a run that must go well.
  std::pair<int, int> use(std::map<std::string, std::string> more = {}) const {
    const Result ran = smelt(more);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.out, expected_);
    more.emplace("SMELT_CACHE_DIR", folder_);
    std::vector<std::string> arguments = kProgram;
    arguments.insert(arguments.end(), {"--json", "-"});
    const Result r = run({arguments, more, "", false});
    EXPECT_EQ(r.status, 0) << r.err;
    return {r.json()["cache"]["hits"], r.json()["cache"]["misses"]};
  }
  std::vector<fs::path> files(const std::string& extension) const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().extension() == extension) all.push_back(entry.path());
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
  pid_t start() const {
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    const pid_t child = ::start({kProgram, {{"SMELT_CACHE_DIR", folder_}}, "", false}, nowhere, nowhere, 2);
    ::close(nowhere);
    return child;
  }

  fs::path root_;
  std::string folder_, expected_;
};

}  // namespace

TEST_F(CpuCache, ASecondProcessFindsEveryKernelAndOpensNoLlvm) {
  const Result cold = smelt({{"LD_DEBUG", "libs"}});
  EXPECT_EQ(cold.out, expected_);
  EXPECT_TRUE(cold.err_has("libLLVM"));
  const Result warm = smelt({{"LD_DEBUG", "libs"}});
  EXPECT_EQ(warm.out, expected_);
  EXPECT_TRUE(warm.err_has("libstdc++"));
  EXPECT_FALSE(warm.err_has("libLLVM")) << warm.err;
  const auto [hits, misses] = use();
  EXPECT_GT(hits, 1);
  EXPECT_EQ(misses, 0);
  const Result explained = run({{"explain", "x + 1", "-i", "x=f32[4]"}, {{"SMELT_CACHE_DIR", folder_}}, "", false});
  EXPECT_TRUE(explained.out_has("0 of 1 kernels came from the cache")) << explained.out;
}

TEST_F(CpuCache, C38_ProcessesOnAColdCache) {
  std::vector<pid_t> children;
  for (int p = 0; p < 32; ++p) children.push_back(start());
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_TRUE(files(".tmp").empty());
  EXPECT_EQ(use().second, 0);
}

TEST_F(CpuCache, C39_KilledAtAnyMoment) {
  for (int round = 0; round < 40; ++round) {
    if (round % 4 == 0) fs::remove_all(folder_);
    const pid_t child = start();
    ::usleep(static_cast<useconds_t>(2000 * round));  // from before it opens a file to after it is done
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    if (round % 4 == 3) use();
  }
  EXPECT_EQ(use().second, 0);
}

TEST_F(CpuCache, C40_DamagedFilesAreMadeAgain) {
  const int kernels = use().first;
  std::mt19937 random(3);
  for (const std::string extension : {".entry", ".note"}) {
    for (int round = 0; round < 12; ++round) {
      const std::vector<fs::path> all = files(extension);
      ASSERT_FALSE(all.empty());
      for (const fs::path& path : all) {
        std::string bytes = read(path);
        if (round % 3 == 0)
          bytes.resize(random() % bytes.size());
        else
          bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
        write(path, bytes);
      }
      const Result r = smelt({{"LD_DEBUG", "libs"}});
      EXPECT_EQ(r.out, expected_);
      EXPECT_TRUE(r.err_has("libLLVM")) << "a damaged file passed for a good one";
      EXPECT_EQ(use(), std::pair(kernels, 0));
    }
  }
}

TEST_F(CpuCache, C41_WithoutAFolderEveryProcessCompiles) {
  const int kernels = use().first;
  const std::pair without{0, kernels};
  EXPECT_EQ(use({{"SMELT_CACHE_DIR", "off"}}), without);
  EXPECT_EQ(use({{"SMELT_CACHE_DIR", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", ""}}), without);
  write(root_ / "file", "x");
  EXPECT_EQ(use({{"SMELT_CACHE_DIR", (root_ / "file" / "smelt").string()}}), without);
  if (::geteuid() != 0) {  // root may write anywhere
    const std::string other = (root_ / "read-only").string();
    fs::create_directory(other);
    fs::permissions(other, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(use({{"SMELT_CACHE_DIR", other}}), without);
  }
  // A file that grows past the limit fails as on a full disk.
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_EQ(use({{"SMELT_CACHE_DIR", (root_ / "full").string()}}), without);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_DFL);
  for (const auto& entry : fs::directory_iterator(root_ / "full"))
    EXPECT_EQ(entry.path().extension(), ".note") << "what could not be written stays behind";
}

TEST_F(CpuCache, C42_AnotherProcessorOrLibraryIsAMiss) {
  const int kernels = use().first;
#if defined(__x86_64__)
  const Result lesser = smelt({{"SMELT_CPU", "x86-64"}, {"LD_DEBUG", "libs"}});
  EXPECT_EQ(lesser.status, 0) << lesser.err;
  EXPECT_TRUE(lesser.err_has("libLLVM")) << "instructions of another processor were taken";
#endif
  // The same library by another path may be another one tomorrow.
  const Result devices = run({{"devices", "--threads", "1", "--json", "-"}, {{"SMELT_CACHE_DIR", folder_}}, "", false});
  const std::string library = devices.json()["devices"][0]["llvm"]["path"];
  fs::create_symlink(fs::canonical(library), root_ / "libLLVM.so");
  const std::map<std::string, std::string> other = {{"SMELT_LLVM", (root_ / "libLLVM.so").string()},
                                                    {"LD_DEBUG", "libs"}};
  EXPECT_TRUE(smelt(other).err_has("libLLVM"));
  EXPECT_EQ(use(other), std::pair(kernels, 0));
  fs::remove(root_ / "libLLVM.so");
  EXPECT_TRUE(smelt(other).err_has("interpreter")) << "a library that is gone";
  EXPECT_EQ(use(), std::pair(kernels, 0));
}

TEST_F(CpuCache, C43_FoldersThatAreNotOursAreRefused) {
  const int kernels = use().first;
  const std::pair without{0, kernels}, with{kernels, 0};
  EXPECT_EQ(use(), with);
  fs::permissions(folder_, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(use(), without);
  fs::permissions(folder_, fs::perms::others_write, fs::perm_options::remove);
  fs::create_directory_symlink(folder_, root_ / "link");
  EXPECT_EQ(use({{"SMELT_CACHE_DIR", (root_ / "link").string()}}), without);
  EXPECT_EQ(use(), with);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder_.c_str(), 12345, 12345), 0);
    EXPECT_EQ(use(), without);
  }
}

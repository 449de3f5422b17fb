// What compiled code depends on is in its key, each by itself: what is left out would bring
// back code of another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "compile/compile.hpp"
#include "compile/state.hpp"
#include "frontends/language.hpp"
#include "runtime/disk_cache.hpp"

namespace smelt::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// The library of this machine under another identity.
class RenamedLlvm final : public runtime::Llvm {
 public:
  RenamedLlvm(std::shared_ptr<Llvm> inner, std::string identity)
      : inner_(std::move(inner)), identity_(std::move(identity)) {}
  int version() const override { return inner_->version(); }
  std::string version_text() const override { return inner_->version_text(); }
  std::string path() const override { return inner_->path(); }
  std::string triple() const override { return inner_->triple(); }
  std::string cpu_name() const override { return inner_->cpu_name(); }
  const std::string& identity() const override { return identity_; }
  std::string compile(const std::string& text) override { return inner_->compile(text); }
  std::string assembly(const std::string& text) override { return inner_->assembly(text); }

 private:
  std::shared_ptr<Llvm> inner_;
  std::string identity_;
};

class CacheKey : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "smelt-key-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

class CpuCacheKey : public CacheKey {
 protected:
  void SetUp() override {
    CacheKey::SetUp();
    machine_ = Machine::cpu();
    if (!machine_.llvm) GTEST_SKIP() << machine_.missing;
    real_ = machine_.llvm;
    machine_.cache = std::make_shared<runtime::DiskCache>((folder_ / "cache").string());
  }
  bool is_a_miss(const std::string& program, const std::string& identity) {
    machine_.llvm = std::make_shared<RenamedLlvm>(real_, identity);
    const CacheUse use = compile(lang::parse_program(program, "<test>"), machine_).cache_use();
    EXPECT_EQ(use.hits + use.misses, 1);
    return use.misses == 1;
  }
  Machine machine_;
  std::shared_ptr<runtime::Llvm> real_;
};

constexpr const char* kTwice = "input x: f32[N]\nreturn x * 2";

TEST_F(CpuCacheKey, AnotherIdentityOfTheCompilerIsAMiss) {
  EXPECT_TRUE(is_a_miss(kTwice, "one"));
  EXPECT_FALSE(is_a_miss(kTwice, "one"));
  EXPECT_TRUE(is_a_miss(kTwice, "two"));
  EXPECT_FALSE(is_a_miss(kTwice, "one"));
}

TEST_F(CpuCacheKey, AnotherTextIsAMiss) {
  EXPECT_TRUE(is_a_miss(kTwice, "one"));
  EXPECT_TRUE(is_a_miss("input x: f32[N]\nreturn x * 3", "one"));
  EXPECT_TRUE(is_a_miss("input x: f64[N]\nreturn x * 2", "one"));
}

TEST_F(CpuCacheKey, AnEntryNamesTheVersionTheCompilerAndTheText) {
  EXPECT_TRUE(is_a_miss(kTwice, "identity of the test"));
  std::string entry;
  for (const auto& file : fs::directory_iterator(folder_ / "cache")) {
    std::stringstream bytes;
    bytes << std::ifstream(file.path(), std::ios::binary).rdbuf();
    entry += bytes.str();
  }
  EXPECT_NE(entry.find("smelt " SMELT_VERSION), std::string::npos);
  EXPECT_NE(entry.find("identity of the test"), std::string::npos);
  EXPECT_NE(entry.find("define "), std::string::npos) << "the text";
}

// ---- NVRTC

class FakeNvrtc final : public runtime::Nvrtc {
 public:
  explicit FakeNvrtc(std::string path) : path_(std::move(path)) {}
  int version() const override { return 13000; }
  std::string version_text() const override { return text; }
  std::string path() const override { return path_; }
  std::vector<int> architectures() const override { return {80, 90}; }
  bool supports(int, std::string&) const override { return true; }
  std::vector<std::string> arguments(int compute, const runtime::NvrtcOptions& options) const override {
    return {"sm_" + std::to_string(compute), options.contract ? "contract" : "", options.for_device ? "device" : ""};
  }
  std::string compile(const std::string& s, int, const runtime::NvrtcOptions&) const override { return s; }
  std::string ptx(const std::string& s, int, const runtime::NvrtcOptions&) const override { return s; }
  std::string text = "13.0";

 private:
  std::string path_;
};

TEST_F(CacheKey, OfACubinChangesWithEachOfItsComponents) {
  const fs::path library = folder_ / "libnvrtc.so";
  std::ofstream(library) << "library";
  const auto nvrtc = std::make_shared<FakeNvrtc>(library.string());
  Machine machine;
  machine.nvrtc = nvrtc;
  machine.gpu_facts.compute = 90;
  machine.gpu_facts.driver = 13000;
  const auto key = [&](const runtime::NvrtcOptions& options = {}, const std::string& source = "text") {
    return gpu_cache_key(machine, options, source);
  };
  const std::string before = key();
  EXPECT_EQ(key(), before);
  EXPECT_THAT(before, HasSubstr("smelt " SMELT_VERSION));
  EXPECT_NE(key({}, "other text"), before);
  EXPECT_NE(key({.contract = true}), before);
  EXPECT_NE(key({.for_device = true}), before);
  machine.gpu_facts.compute = 80;
  EXPECT_NE(key(), before) << "the architecture";
  machine.gpu_facts.compute = 90;
  machine.gpu_facts.driver = 13010;
  EXPECT_NE(key(), before) << "the driver";
  machine.gpu_facts.driver = 13000;
  nvrtc->text = "13.1";
  EXPECT_NE(key(), before) << "the version of NVRTC";
  nvrtc->text = "13.0";
  std::ofstream(library, std::ios::app) << ", another build";
  EXPECT_NE(key(), before) << "the library's size";
}

}  // namespace
}  // namespace smelt::testing

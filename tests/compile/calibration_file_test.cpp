// The file that keeps what was measured of a device: written, read, and what it is ignored for.
#include "compile/calibration_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "compile/saved.hpp"
#include "frontends/language.hpp"
#include "runtime/disk_cache.hpp"
#include "support/message_of.hpp"

namespace smelt::testing {
namespace {

namespace fs = std::filesystem;
using schedule::Calibration;
using schedule::Fact;
using ::testing::HasSubstr;

Calibration some() {
  Calibration c;
  c.numbers[place_of(Fact::Memory)] = 36000;
  c.numbers[place_of(Fact::Operations)] = 70120;
  c.numbers[schedule::place_of(Op::Exp, false)] = 14.25;
  return c;
}

class CalibrationFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "smelt-calibration-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    device_.facts.name = "A CPU @ 3.0 GHz / 8";
    device_.cache = std::make_shared<runtime::DiskCache>((root_ / "cache").string());
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path file() const {
    for (const auto& entry : fs::directory_iterator(root_ / "cache"))
      if (entry.path().extension() == ".txt") return entry.path();
    return {};
  }
  std::string text() const {
    std::stringstream all;
    all << std::ifstream(file()).rdbuf();
    return all.str();
  }
  void put(const std::string& text) const { std::ofstream(file(), std::ios::trunc) << text; }
  std::string ignored() const {
    const KeptCalibration kept = kept_calibration(device_);
    EXPECT_EQ(kept.calibration, nullptr);
    return kept.ignored;
  }

  fs::path root_;
  Machine device_;
};

TEST_F(CalibrationFile, IsReadAsItWasKept) {
  EXPECT_EQ(kept_calibration(device_).calibration, nullptr);
  EXPECT_EQ(kept_calibration(device_).ignored, "");
  keep_calibration(device_, some(), "2026-11-26 15:40 UTC");
  EXPECT_EQ(file().filename(), "calibration-cpu-a-cpu-3-0-ghz-8.txt");
  const KeptCalibration kept = kept_calibration(device_);
  ASSERT_NE(kept.calibration, nullptr);
  EXPECT_EQ(*kept.calibration, some());
  EXPECT_EQ(kept.measured, "2026-11-26 15:40 UTC");
  Calibration other = some();
  other.numbers[place_of(Fact::Memory)] = 1;
  keep_calibration(device_, other, "later");
  EXPECT_EQ(*kept_calibration(device_).calibration, other);
  EXPECT_EQ(kept_calibration(device_).measured, "later");
}

TEST_F(CalibrationFile, IsForgotten) {
  EXPECT_FALSE(forget_calibration(device_));
  keep_calibration(device_, some(), "now");
  EXPECT_TRUE(forget_calibration(device_));
  EXPECT_FALSE(forget_calibration(device_));
  EXPECT_EQ(kept_calibration(device_).calibration, nullptr);
}

TEST_F(CalibrationFile, OutlivesTheKernels) {
  keep_calibration(device_, some(), "now");
  device_.cache->store("a key", "a kernel");
  EXPECT_EQ(device_.cache->clear(), 1);
  EXPECT_NE(kept_calibration(device_).calibration, nullptr);
  EXPECT_EQ(device_.cache->info().bytes, 0);
}

TEST_F(CalibrationFile, HoldsForItsMachineAlone) {
  keep_calibration(device_, some(), "now");
  device_.facts.threads += 1;
  EXPECT_THAT(ignored(), HasSubstr("threads"));
  device_.facts.threads -= 1;
  EXPECT_NE(kept_calibration(device_).calibration, nullptr);
  device_.facts.l3_bytes /= 2;
  EXPECT_THAT(ignored(), HasSubstr("and here are"));
  device_.facts.l3_bytes *= 2;
  // Another model has a file of its own, also one of the same letters.
  const std::string name = device_.facts.name;
  device_.facts.name = "Another CPU";
  EXPECT_EQ(ignored(), "");
  device_.facts.name = "A CPU @ 3.0 GHz   8";
  EXPECT_EQ(ignored(), "it is of cpu " + name);
  // So has an older processor that it stands for.
  device_.facts.name = name;
#if defined(__x86_64__)
  device_.level = "x86-64-v2";
  EXPECT_EQ(ignored(), "");
#endif
}

TEST_F(CalibrationFile, OfAGpuHoldsForItsDriver) {
  Machine gpu = device_;
  gpu.is_gpu = true;
  gpu.gpu_facts.name = "NVIDIA H200";
  gpu.gpu_facts.driver = 13000;
  EXPECT_EQ(kept_calibration(gpu).calibration, nullptr);
  EXPECT_EQ(
      message_of([&] { keep_calibration(gpu, some(), "now"); }),
      "the calibration cannot be kept: cpu is not in this machine\nhelp: it is a file in the folder of the cache; "
      "smelt cache info says where that is");
}

TEST_F(CalibrationFile, IsIgnoredWhenItIsDamaged) {
  keep_calibration(device_, some(), "now");
  const std::string good = text();
  ASSERT_NE(good, "");
  for (size_t cut = 0; cut < good.size(); ++cut) {
    put(good.substr(0, cut));
    EXPECT_EQ(ignored(), "its file is damaged") << cut;
  }
  const size_t version = std::string_view("smelt calibration ").size(), line = good.find('\n');
  for (size_t at = 0; at < good.size(); ++at) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    put(changed);
    EXPECT_EQ(ignored(), at >= version && at <= line ? "another version of smelt wrote it" : "its file is damaged")
        << at;
  }
  for (const std::string& more : {good + "x", good + good, "\n" + good, std::string("\0", 1) + good, std::string()}) {
    put(more);
    EXPECT_EQ(ignored(), "its file is damaged");
  }
  put(good);
  EXPECT_NE(kept_calibration(device_).calibration, nullptr);
}

TEST_F(CalibrationFile, OfAnotherVersionSaysSo) {
  keep_calibration(device_, some(), "now");
  std::string other = text();
  other.replace(other.find("calibration 1"), 13, "calibration 2");
  put(other);
  EXPECT_EQ(ignored(), "another version of smelt wrote it");
}

TEST_F(CalibrationFile, NeedsAFolder) {
  device_.cache = std::make_shared<runtime::DiskCache>("");
  EXPECT_EQ(kept_calibration(device_).calibration, nullptr);
  EXPECT_THAT(message_of([&] { keep_calibration(device_, some(), "now"); }),
              HasSubstr("the calibration cannot be kept: there is no folder for it"));
  EXPECT_FALSE(forget_calibration(device_));
  device_.cache = nullptr;
  EXPECT_EQ(kept_calibration(device_).calibration, nullptr);
  EXPECT_EQ(message_of([&] { keep_calibration(device_, some(), "now"); }),
            "the calibration cannot be kept: cpu has no cache\nhelp: it is a file in the folder of the cache; "
            "smelt cache info says where that is");
}

// What a program is planned for, compiled here or loaded from a file.
TEST_F(CalibrationFile, ReachesPrograms) {
  Machine device = Machine::cpu();
  if (!device.compiles()) GTEST_SKIP() << device.missing;
  device.measured = nullptr;
  // More than any cache holds: one was seen with 480 MiB.
  const Graph graph = lang::parse_program("input x: f32[400000000]\nreturn x + 1", "<test>");
  CompileOptions options;
  options.threads = 1;
  const double before = compile(graph, device, options).predicted({}).us;
  device.measured = std::make_shared<const Calibration>(some());
  const double after = compile(graph, device, options).predicted({}).us;
  EXPECT_LT(after, before / 2);
  Saver saver(device);
  saver.add(graph, options, nullptr);
  ByteWriter out;
  write(out, saver.target("cpu"));
  ByteReader in(out.bytes());
  const SavedTarget target = read_target(in);
  ASSERT_NE(target.measured, nullptr);
  EXPECT_EQ(*target.measured, some());
  Machine without = Machine::cpu();
  without.measured = nullptr;
  EXPECT_EQ(*machine_with_code(target, without).measured, some());
}

}  // namespace
}  // namespace smelt::testing

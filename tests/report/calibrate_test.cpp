// The programs that measure a machine run, and what they give can be believed.
#include "report/calibrate.hpp"

#include <gtest/gtest.h>

#include "support/fake_cuda/open.hpp"
#include "support/message_of.hpp"

namespace smelt::report {
namespace {

using schedule::Fact;
using testing::Variable;

TEST(Calibrate, MeasuresTheCpu) {
  const Machine cpu = Machine::cpu();
  if (!cpu.compiles()) GTEST_SKIP() << cpu.missing;
  CalibrateOptions options;
  options.rounds = 1;
  std::vector<std::string> stages;
  options.progress = [&](const std::string& stage) { stages.push_back(stage); };
  const Calibrated found = calibrate(cpu, options);
  EXPECT_EQ(stages.size(), 2u);
  const auto known = [&](size_t place) {
    for (const Calibrated::Refused& r : found.refused)
      if (r.place == place) return true;  // on a machine that is very busy, or instrumented
    return found.calibration.numbers[place] > 0;
  };
  for (const Fact fact : {Fact::FirstCache, Fact::SecondCache, Fact::SharedCache, Fact::FullCache, Fact::Memory,
                          Fact::FullCacheRead, Fact::FullCacheWrite, Fact::MemoryRead, Fact::MemoryWrite, Fact::Launch,
                          Fact::Operations, Fact::Multiplications, Fact::Scan, Fact::ScanExtreme})
    EXPECT_TRUE(known(schedule::place_of(fact))) << schedule::name_of_number(schedule::place_of(fact));
  if (found.calibration.of(Fact::Operations) > 0) {
    for (const Op op : {Op::Div, Op::Sqrt, Op::Exp, Op::Log, Op::Tanh, Op::Pow})
      for (const bool wide : {false, true})
        EXPECT_TRUE(known(schedule::place_of(op, wide))) << schedule::name_of_number(schedule::place_of(op, wide));
  }
  EXPECT_EQ(found.calibration.of(Op::Add, false), 0) << "one simple operation by definition";
  for (size_t place = 0; place < schedule::kNumbers; ++place) {
    const double number = found.calibration.numbers[place];
    if (number == 0) continue;
    EXPECT_EQ(schedule::fault_of(target_of(cpu), place, number), "");
    EXPECT_EQ(schedule::rounded(number), number);
  }
}

// By a driver over host memory, whose clock is not that of kernels: whatever comes of it is
// checked.
TEST(Calibrate, MeasuresAGpu) {
  const Variable driver("SMELT_CUDA", SMELT_FAKE_CUDA), nvrtc("SMELT_NVRTC", SMELT_FAKE_CUDA);
  const Variable cache("SMELT_CACHE_DIR", "off");
  const Machine gpu = Machine::cuda();
  ASSERT_TRUE(gpu.compiles()) << gpu.missing;
  CalibrateOptions options;
  options.rounds = 1;
  const Calibrated found = calibrate(gpu, options);
  for (size_t place = 0; place < schedule::kNumbers; ++place)
    if (const double number = found.calibration.numbers[place]; number != 0) {
      EXPECT_EQ(schedule::fault_of(target_of(gpu), place, number), "") << schedule::name_of_number(place);
    }
  EXPECT_EQ(found.calibration.of(Fact::Scan), 0);
}

TEST(Calibrate, RefusesWhatIsNotHere) {
  Machine architecture = Machine::cuda_architecture(90);
  EXPECT_EQ(testing::message_of([&] { calibrate(architecture, {}); }),
            "sm_90 is not in this machine, and a calibration measures it\nhelp: `smelt devices` lists those that are");
  Machine opencl;
  opencl.name = "opencl", opencl.is_gpu = true, opencl.gpu_facts.is_processor = true;
  EXPECT_NE(testing::message_of([&] { calibrate(opencl, {}); }).find("smelt devices --calibrate cpu"),
            std::string::npos);
}

}  // namespace
}  // namespace smelt::report

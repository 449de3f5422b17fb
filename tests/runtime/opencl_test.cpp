// The first OpenCL device of this machine: memory, queues, kernels. Without one, only the messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "runtime/opencl.hpp"
#include "smelt/error.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/message_of.hpp"

namespace smelt::testing {
namespace {

using namespace smelt::runtime;
using ::testing::HasSubstr;

class OpenClDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = OpenCl::open(0, why_);
    if (!device_) GTEST_SKIP() << why_;
  }
  std::string why_;
  std::shared_ptr<OpenCl> device_;
};

TEST(OpenClLibrary, WithoutItTheMessageSaysWhatWasTried) {
  const Variable chosen("SMELT_OPENCL", "/nowhere/libOpenCL.so");
  std::string why;
  EXPECT_EQ(OpenCl::open(0, why), nullptr);
  EXPECT_THAT(why, HasSubstr("SMELT_OPENCL=/nowhere/libOpenCL.so"));
}

TEST_F(OpenClDevice, ThereIsNoSuchDevice) {
  std::string why;
  EXPECT_EQ(OpenCl::open(1000, why), nullptr);
  EXPECT_THAT(why, HasSubstr("there is no OpenCL device 1000"));
  EXPECT_EQ(OpenCl::open(-1, why), nullptr);
}

TEST_F(OpenClDevice, BytesGoThereAndBack) {
  std::vector<int> values(1000), back(1000);
  std::iota(values.begin(), values.end(), 0);
  const uint64_t a = device_->allocate(4000), b = device_->allocate(4000);
  EXPECT_TRUE(device_->is_device_memory(reinterpret_cast<void*>(a)));
  EXPECT_FALSE(device_->is_device_memory(values.data()));
  const StreamHandle stream = device_->stream();
  device_->upload(a, values.data(), 4000, stream);
  device_->fill(b, 0xff, 4000, stream);
  device_->copy(b + 400, a, 2000, stream);
  device_->download(back.data(), b, 4000, stream);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(back[static_cast<size_t>(i)], i < 100 || i >= 600 ? -1 : i - 100) << i;
  device_->release(a);
  device_->release(b);
  EXPECT_EQ(message_of<InternalError>([&] { device_->upload(a, values.data(), 4, stream); }),
            "internal error in smelt: no buffer stands at 0x100000000000000");
}

// Code as it is kept on disk runs; arrays begin anywhere in a buffer; numbers are arguments by
// themselves.
TEST_F(OpenClDevice, RunsAKernelFromItsCode) {
  const std::string code = device_->build(R"(
__kernel void scale(__global const float* x_, const long x_at, const float by, __local uchar* scratch) {
  __global float* x = (__global float*)((__global const uchar*)x_ + x_at);
  x[get_global_id(0)] *= by;
})");
  const std::shared_ptr<GpuModule> module = device_->load(code);
  const FunctionHandle function = module->function("scale", {0, 4});
  EXPECT_GE(module->facts(function).max_threads, 1);
  std::vector<float> values(64, 3), back(64);
  const uint64_t at = device_->allocate(512);
  device_->upload(at + 128, values.data(), 256, nullptr);
  uint64_t address = at + 128;
  float by = 2;
  void* arguments[] = {&address, &by};
  LaunchShape shape;
  shape.workgroups = 16, shape.threads = 4;
  const EventHandle before = device_->create_event(true), after = device_->create_event(true);
  device_->record(before, nullptr);
  device_->launch(function, shape, arguments, nullptr);
  device_->record(after, nullptr);
  device_->synchronize_event(after);
  EXPECT_GE(device_->elapsed_ms(before, after), 0);
  device_->download(back.data(), at + 128, 256, nullptr);
  EXPECT_EQ(back, std::vector<float>(64, 6));
  device_->destroy_event(before);
  device_->destroy_event(after);
  device_->release(at);
}

TEST_F(OpenClDevice, WhatTheDeviceWritesForTheHostIsThereAfterSynchronizing) {
  const std::shared_ptr<GpuModule> module = device_->load(
      device_->build("__kernel void report(__global int* c, const long at, __local uchar* s) { c[at / 4] = 7; }"));
  const MappedMemory memory = device_->allocate_mapped(4);
  uint64_t address = memory.device;
  void* arguments[] = {&address};
  device_->launch(module->function("report", {0}), {}, arguments, nullptr);
  device_->synchronize(nullptr);
  EXPECT_EQ(*static_cast<int*>(memory.host), 7);
  *static_cast<int*>(memory.host) = 0;
  device_->synchronize(nullptr);
  EXPECT_EQ(*static_cast<int*>(memory.host), 0);
  device_->release_mapped(memory.host);
}

TEST_F(OpenClDevice, ABadProgramIsShownWithTheDriversLog) {
  try {
    device_->build("__kernel void wrong() { undeclared(); }");
    FAIL() << "it was built";
  } catch (const InternalError& e) {
    EXPECT_THAT(e.what(), HasSubstr("cannot build a kernel"));
  }
}

}  // namespace
}  // namespace smelt::testing

// A GPU over host memory, as a device of the C++ library.
#pragma once

#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <memory>
#include <optional>

#include "api/node.hpp"
#include "support/fake_cuda/open.hpp"

namespace smelt::testing {

class FakeGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_ = &fresh_fake();
    const Variable driver("SMELT_CUDA", SMELT_FAKE_CUDA), nvrtc("SMELT_NVRTC", SMELT_FAKE_CUDA);
    gpu_ = Device(std::make_shared<const detail::DeviceState>(detail::DeviceState{Machine::cuda()}));
    ASSERT_TRUE(gpu_->usable()) << gpu_->missing();
  }
  void TearDown() override {
    if (!fake_) return;  // its library is not there
    if (gpu_ && gpu_->usable()) set_memory_limit(*gpu_, 0), set_allocator(*gpu_, {});
    gpu_.reset();
    EXPECT_EQ(fake_->fault, "");
    EXPECT_TRUE(fake_->blocks.empty()) << "memory of the GPU was not given back";
  }

  fake_cuda::State* fake_ = nullptr;
  std::optional<Device> gpu_;
};

}  // namespace smelt::testing

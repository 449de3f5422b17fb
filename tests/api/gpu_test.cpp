// The C++ library on a GPU. What needs one is skipped where there is none; moving arrays is tested
// on a driver over host memory too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <numeric>

#include "fake_gpu.hpp"
#include "support/message_of.hpp"

namespace smelt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Device::cuda().usable()) GTEST_SKIP() << Device::cuda().missing();
  }
  static std::vector<float> range(size_t n) {
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 0.f);
    return values;
  }
};

TEST_F(OnGpu, ResultsStayWhereTheArraysAre) {
  const Device gpu = Device::cuda();
  const auto f = compile([](Array x, Array s) { return softmax(x * s); });
  const Array x = Array::from(range(4 * 64), {4, 64}), s = Array::scalar(0.1f);
  const Array on_gpu = f(x.to(gpu), s);
  EXPECT_EQ(on_gpu.device(), gpu);
  EXPECT_EQ(message_of([&] { on_gpu.span<float>(); }),
            "span(): f32[4, 64] is on " + gpu.name() + "\nhelp: x.to(Device::cpu()) brings it here");
  const Array here = on_gpu.to(Device::cpu()), expected = f(x, s);
  for (size_t i = 0; i < 256; ++i) ASSERT_NEAR(here.span<float>()[i], expected.span<float>()[i], 1e-6);
  EXPECT_EQ(f.compile_count(), 2);
  EXPECT_EQ(f.specializations()[1].reason, "the arrays are on cpu, not on cuda");
}

TEST_F(OnGpu, HostArraysGoThereAndBack) {
  Options options;
  options.device = Device::cuda();
  const Array table = Array::from(range(8));
  const auto f = compile([table](Array x) { return x * table; }, options);
  const Array y = f(Array::from(range(16), {2, 8}));
  EXPECT_FALSE(y.device().is_gpu());
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(y.span<float>()[i], static_cast<float>(i * (i % 8)));
}

TEST_F(OnGpu, EvaluatesBindsAndShares) {
  const Device gpu = Device::cuda();
  const Array x = Array::from(range(1024)).to(gpu);
  Array y = x * 2 + 1;
  eval(y);
  EXPECT_EQ(y.device(), gpu);
  EXPECT_EQ(y.to(Device::cpu()).span<float>()[1000], 2001);
  const auto f = compile([](Array a) { return a + 1; });
  const Bound bound = f.bind(y);
  bound();
  bound.synchronize();
  EXPECT_EQ(bound.outputs()[0].to(Device::cpu()).span<float>()[1000], 2002);
  const Array out = Array::empty({1024}, DType::F32).to(gpu);
  f.into(out)(y);
  EXPECT_EQ(out.to(Device::cpu()).span<float>()[3], 8);
  const Array shared = from_dlpack(to_dlpack(y));
  EXPECT_EQ(shared.device(), gpu);
  EXPECT_EQ(f(shared).to(Device::cpu()).span<float>()[1000], 2002);
}

// Over host memory.
using OnFakeGpu = testing::FakeGpu;

TEST_F(OnFakeGpu, ArraysGoThereAndBack) {
  std::vector<float> memory = {1, 2, 3, 4, 5, 6};
  const Array x = Array::borrow(memory, {3, 2}, {1, 3});
  const Array there = x.to(*gpu_);
  EXPECT_TRUE(there.device().is_gpu());
  EXPECT_EQ(there.to(*gpu_).data(), there.data());
  EXPECT_EQ(there.to(Device::cpu()).to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_THAT(message_of([&] { there.to_vector<float>(); }), HasSubstr("to_vector(): f32[3, 2] is on cuda"));
  EXPECT_EQ(x.to(Device::cpu()).data(), x.data());
}

TEST_F(OnFakeGpu, ArraysOfTwoPlacesDoNotMeet) {
  const Array here = Array::from({1.f, 2.f}), there = here.to(*gpu_);
  Array sum = here + there;
  try {
    eval(sum);
    FAIL() << "no error";
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "an array on cuda meets f32[2] in host memory\nhelp: move it with to(Device)");
  }
  const auto f = compile([](Array a) { return a * 2; });
  EXPECT_THAT(message_of([&] { f.into(here)(there); }),
              HasSubstr("output 0 is on cpu, but the function runs on arrays on cuda"));
  EXPECT_THAT(message_of([&] { f.into(there)(here); }),
              HasSubstr("output 0 is on cuda, but the function runs on arrays on cpu"));
}

TEST_F(OnFakeGpu, IsTunedWhereThatIsAskedFor) {
  const Array x = Array::from({1.f, 2.f, 3.f, 4.f}).to(*gpu_);
  Options options;
  const auto plain = compile([](Array a) { return a * 2 + 1; }, options);
  EXPECT_EQ(plain.explain(x).kernels.at(0).rebuilt, "");
  options.tune = true;
  const auto tuned = compile([](Array a) { return a * 2 + 1; }, options);
  EXPECT_NE(tuned.explain(x).kernels.at(0).rebuilt.find("tuned: the schedule stays"), std::string::npos);
  EXPECT_EQ(tuned(x).to(Device::cpu()).shape(), (std::vector<int64_t>{4}));
}

TEST_F(OnFakeGpu, LeavesByDlpack) {
  auto* out = to_dlpack(Array::from({1.f, 2.f}).to(*gpu_));
  EXPECT_EQ(out->tensor.device.type, dlpack::DeviceType::Cuda);
  EXPECT_EQ(out->tensor.device.id, 0);
  EXPECT_FALSE(fake_->blocks.empty());
  out->deleter(out);
}

}  // namespace
}  // namespace smelt

// Lists, and independent work in one launch: run, and compared with the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "frontends/language.hpp"
#include "generator_list.hpp"
#include "run.hpp"

namespace smelt::testing {
namespace {

class RandomLists : public ::testing::TestWithParam<uint64_t> {};
constexpr uint64_t kParts = 4;

TEST_P(RandomLists, FusedAndUnfusedMatchTheReference) {
  NEEDS_LLVM();
  const char* text = std::getenv("SMELT_PROGRAMS");
  const uint64_t programs = text ? std::strtoull(text, nullptr, 10) : 40;
  Coverage coverage;
  int failures = 0;
  for (uint64_t seed = GetParam(); seed < programs; seed += kParts) {
    const Program program = random_list_program(seed);
    const std::string complaint = check(program, device(), &coverage);
    if (complaint.empty()) continue;
    ADD_FAILURE() << "seed " << seed << "\n" << describe(program) << complaint;
    if (++failures == 5) break;
  }
  EXPECT_GT(coverage.elements, 0);
}
INSTANTIATE_TEST_SUITE_P(Part, RandomLists, ::testing::Range(uint64_t{0}, kParts));

std::vector<TensorView> views(const std::vector<Tensor>& tensors) { return {tensors.begin(), tensors.end()}; }

TEST(Lists, OfManyArraysOfAnySize) {
  NEEDS_LLVM();
  std::vector<Tensor> xs;
  std::string types;
  for (int i = 0; i < 1000; ++i) {
    xs.push_back(noise(DType::F32, {i % 7 == 0 ? 0 : (i * 37) % 301}, static_cast<uint64_t>(i)));
    types += fmt::format("input x{}: f32[{}]\n", i, xs.back().dims[0]);
  }
  types += "return abs(x0) * 4";
  for (int i = 1; i < 1000; ++i) types += fmt::format(", abs(x{}) * 4", i);
  const Executable e = compiled(types);
  EXPECT_EQ(e.plan().groups.size(), device().opencl ? 1000u : 1u) << "OpenCL has no batches";
  const std::vector<Tensor> results = e.run(views(xs));
  ASSERT_EQ(results.size(), 1000u);
  for (size_t i = 0; i < xs.size(); ++i)
    for (int64_t j = 0; j < xs[i].count(); ++j) ASSERT_EQ(number(results[i], j), std::abs(number(xs[i], j)) * 4) << i;
}

TEST(Lists, OfOneItem) {
  NEEDS_LLVM();
  EXPECT_TRUE(right("input xs: list[f32[N], 1]\nreturn [sigmoid(2*x + 1) for x in xs]", {noise(DType::F32, {777})}));
}

TEST(Lists, OfMixedDtypesAndShapes) {
  NEEDS_LLVM();
  EXPECT_TRUE(
      right("input a: list[f32[N], 2]; input b: list[bf16[M, 3], 2]; input c: i32[K]\n"
            "return [exp(x) for x in a], [relu(x) + 1 for x in b], c * 2",
            {noise(DType::F32, {1001}), noise(DType::F32, {1001}), noise(DType::BF16, {5, 3}),
             noise(DType::BF16, {5, 3}), noise(DType::I32, {64})}));
}

TEST(Lists, OneArrayTwice) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {5000});
  EXPECT_TRUE(right("input xs: list[f32[N], 3]\nreturn [2*x + 1 for x in xs]", {x, x, x}));
}

TEST(Lists, MembersBesideAlignedAddresses) {
  NEEDS_LLVM();
  const Tensor all = noise(DType::F32, {4096});
  std::vector<TensorView> xs;
  for (int64_t i = 0; i < 8; ++i) {
    TensorView x = all;
    x.dims = {300 + i};
    x.data = static_cast<float*>(all.data) + i;
    xs.push_back(x);
  }
  EXPECT_TRUE(right(
      "input a: f32[A]; input b: f32[B]; input c: f32[C]; input d: f32[D]; input e: f32[E]; input f: f32[F]; input g: "
      "f32[G]; input h: f32[H]\nreturn [tanh(x) for x in [a, b, c, d, e, f, g, h]]",
      xs));
}

TEST(Lists, OutputsMayShareTheMemoryOfInputs) {
  NEEDS_LLVM();
  const Executable e = compiled("input a: f32[N]; input b: f32[N]\nreturn a + b, a - b");
  Tensor a = filled(DType::F32, {100}, 5), b = filled(DType::F32, {100}, 3);
  e.run_into({a, b}, {b, a});
  EXPECT_EQ(number(b, 99), 8);
  EXPECT_EQ(number(a, 99), 2);
}

TEST(Lists, AnOptimizerStep) {
  NEEDS_LLVM();
  const std::string program =
      "input ps: list[f32[N], 3]; input gs: list[f32[N], 3]; input ms: list[f32[N], 3]; input vs: list[f32[N], 3]\n"
      "input step: f32\n"
      "c = 1 - 0.9 ** step; d = 1 - 0.999 ** step\n"
      "m2 = [0.9*m + 0.1*g for m, g in zip(ms, gs)]\n"
      "v2 = [0.999*v + 0.001*g*g for v, g in zip(vs, gs)]\n"
      "p2 = [p - 0.001 * (m / c) / (sqrt(v / d) + 1e-8) for p, m, v in zip(ps, m2, v2)]\n"
      "return p2 + m2 + v2";
  std::vector<Tensor> inputs;
  for (uint64_t i = 0; i < 12; ++i)
    inputs.push_back(i < 9 ? noise(DType::F32, {123}, i) : filled(DType::F32, {123}, 0.25 * static_cast<double>(i)));
  inputs.push_back(scalar(DType::F32, 3));
  EXPECT_TRUE(right(program, views(inputs)));
}

// ---- the same code once

TEST(AlikeKernels, ACodeForEachFormOnly) {
  NEEDS_LLVM();
  // Twelve rounds of the same row and column kernels, each reading what the one before stored: a
  // scan is not computed again.
  std::string text = "input x: f32[64, 48]\ny = x\n";
  for (int i = 0; i < 12; ++i) text += "y = softmax(y)\ny = cumsum(y, axis=0)\n";
  const Executable e = compiled(text + "return y");
  EXPECT_GT(e.plan().groups.size(), 4u) << plan::print(e.graph(), e.plan());
  const CacheUse use = e.cache_use();
  if (!device().is_gpu) {
    EXPECT_LE(use.hits + use.misses, 6) << "of " << e.plan().groups.size() << " kernels";
  }
  EXPECT_TRUE(right(text + "return y", {noise(DType::F32, {64, 48})}));
}

TEST(AlikeKernels, PartsOfAnySizeShareOne) {
  NEEDS_LLVM();
  if (device().opencl) GTEST_SKIP() << "OpenCL has no batches";
  const Executable e = compiled("input a: f32[3]; input b: f32[50, 7]; input c: f32[N]\nreturn a*2, b*2, c*2");
  ASSERT_EQ(e.kernels().size(), 1u);
  EXPECT_EQ(e.kernels()[0].bodies.size(), 1u);
  EXPECT_EQ(e.kernels()[0].parts.size(), 3u);
}

}  // namespace
}  // namespace smelt::testing

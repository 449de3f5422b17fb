// Variances and their like in one pass, where what they read does not stay on chip: data of every
// kind that trips up sums that are measured from a moving origin.
#include <fmt/format.h>

#include <cfloat>
#include <cmath>

#include "run.hpp"

namespace smelt::testing {
namespace {

// Columns of noise, and columns where single values, or all, are not ordinary. The first is always
// noise.
Tensor difficult_columns(DType dtype, int64_t height, int64_t width, uint64_t seed = 5) {
  std::vector<double> v = numbers(noise(dtype, {height, width}, seed));
  const bool half = size_of(dtype) == 2;
  const auto at = [&](int64_t row, int64_t column) -> double& { return v[static_cast<size_t>(row * width + column)]; };
  const auto last = height - 1;
  for (int64_t c = 1; c < width && height > 0; ++c) {
    const auto every = [&](auto change) {
      for (int64_t r = 0; r < height; ++r) at(r, c) = change(r, at(r, c));
    };
    switch (c % 12) {
      case 1: every([&](int64_t, double x) { return x + (half ? 100 : 10000); }); break;
      case 2: at(0, c) = half ? -500 : -30000; break;
      case 3: at(last, c) = half ? 500 : 30000; break;
      case 4: every([](int64_t, double) { return 2.7182818; }); break;
      case 5: at(last / 2, c) = kInf; break;
      case 6: at(0, c) = kNan; break;
      case 7: at(0, c) = -kInf; break;
      case 8: every([](int64_t, double) { return 0.0; }); break;
      case 9: every([](int64_t r, double) { return static_cast<double>(r % 1024); }); break;
      case 10: at(0, c) = kInf, at(last, c) = -kInf; break;
      case 11: every([](int64_t r, double x) { return r % 2 == 0 ? x : -x; }); break;
      default: break;
    }
  }
  return array(dtype, {height, width}, v);
}

std::string of(DType dtype, const std::string& text) {
  return fmt::format("input x: {}[M, N]\n", name_of(dtype)) + text;
}

TEST(Moments, ColumnsOfEveryKind) {
  NEEDS_LLVM();
  for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16})
    for (const auto& [height, width] : {std::pair<int64_t, int64_t>{5001, 24}, {1201, 133}, {30000, 3}}) {
      const Tensor x = difficult_columns(dtype, height, width);
      EXPECT_TRUE(right(of(dtype, "return var(x, axis=0), std(x, axis=0, ddof=1), mean(x, axis=0)\n"), {x}))
          << name_of(dtype) << " " << height << " x " << width;
    }
}

TEST(Moments, RowsOfEveryKind) {
  NEEDS_LLVM();
  for (const DType dtype : {DType::F32, DType::F64})
    for (const auto& [rows, length] : {std::pair<int64_t, int64_t>{9, 20003}, {3, 200001}}) {
      const Tensor columns = difficult_columns(dtype, length, rows);
      const std::vector<double> v = numbers(columns);
      std::vector<double> turned;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < length; ++c) turned.push_back(v[static_cast<size_t>(c * rows + r)]);
      EXPECT_TRUE(right(of(dtype, "return var(x, axis=1), mean(x, axis=1)\n"), {array(dtype, {rows, length}, turned)}))
          << name_of(dtype) << " " << rows << " x " << length;
    }
}

TEST(Moments, WholeArraysAndInnerAxes) {
  NEEDS_LLVM();
  const std::string x3 = "input x: f32[A, B, C]\n";
  for (const Dims& dims : {Dims{31, 57, 71}, Dims{1, 100000, 1}, Dims{700, 5, 30}, Dims{30, 3000, 2}}) {
    const Tensor x = noise(DType::F32, dims);
    EXPECT_TRUE(right(x3 + "return var(x, ddof=1), mean(x)\n", {x}));
    EXPECT_TRUE(right(x3 + "return var(x, axis=(0, 2)), std(x, axis=(0, 1)), var(x, axis=1)\n", {x}));
  }
}

// Nothing, one element, and few.
TEST(Moments, SizesOfOneExecutable) {
  NEEDS_LLVM();
  for (const int64_t width : {1, 5, 64}) {
    std::vector<std::vector<TensorView>> calls;
    std::vector<Tensor> keep;
    for (const int64_t height : {20000, 0, 1, 2, 511, 2003})
      keep.push_back(noise(DType::F32, {height, width}, static_cast<uint64_t>(height)));
    for (const Tensor& t : keep) calls.push_back({t});
    const std::string x = fmt::format("input x: f32[M, {}]\n", width);
    EXPECT_TRUE(right(x + "return var(x, axis=0), mean(x, axis=0)\n", calls)) << width;
    EXPECT_TRUE(right(x + "return std(x, axis=0, ddof=1)\n", calls)) << width;
    EXPECT_TRUE(right(x + "return var(x)\n", calls)) << width;
  }
}

TEST(Moments, OverflowIsInfinite) {
  NEEDS_LLVM();
  for (const int64_t width : {1, 40, 300}) {
    Tensor x = noise(DType::F32, {5000, width});
    auto* data = static_cast<float*>(x.data);
    for (int64_t i = 0; i < 5000 * width; ++i) data[i] *= 1e30F;
    for (const double v : numbers(run("input x: f32[M, N]\nreturn var(x, axis=0)\n", {x}))) EXPECT_EQ(v, kInf);
  }
}

// The mean is far from 0, and one element is far from all others.
TEST(Moments, FarFromZero) {
  NEEDS_LLVM();
  const int64_t n = 1000003;
  for (const double outlier : {1e4, 0.0, -1e6}) {
    const Tensor x = noise(DType::F32, {n, 1});
    auto* data = static_cast<float*>(x.data);
    for (int64_t i = 0; i < n; ++i) data[i] += 1e4F;
    data[0] = static_cast<float>(outlier);
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) mean += static_cast<double>(data[i]) / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) squares += std::pow(static_cast<double>(data[i]) - mean, 2);
    const double expected = squares / static_cast<double>(n);
    for (const char* axis : {"None", "0"}) {
      const Tensor got = run(fmt::format("input x: f32[M, 1]\nreturn var(x, axis={})\n", axis), {x});
      EXPECT_NEAR(number(got), expected, 1e-4 * expected) << outlier << ", axis " << axis;
    }
  }
}

TEST(Moments, CoMoments) {
  NEEDS_LLVM();
  const std::string two = "input x: f32[M, N]\ninput y: f32[M, N]\n";
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{5001, 24}, {30000, 3}}) {
    const Tensor x = difficult_columns(DType::F32, height, width), y = noise(DType::F32, {height, width}, 9);
    EXPECT_TRUE(right(two + "a = x - mean(x, axis=0)\nb = y - mean(y, axis=0)\n"
                            "return mean(a * b, axis=0), sum(-a * y, axis=0), sum(b * b, axis=0)\n",
                      {x, y}));
    EXPECT_TRUE(right(two + "return sum((mean(x, axis=0) - x) * y / (1 + std(y, axis=0)), axis=0)\n", {x, y}));
    EXPECT_TRUE(right(two + "return sum(x * y * mean(y, axis=0), axis=0)\n", {y, y}));
  }
}

TEST(Moments, Norms) {
  NEEDS_LLVM();
  const std::string norm =
      "m = mean(x, axis=0, keepdims=True)\nr = rsqrt(var(x, axis=0, keepdims=True) + 1e-5)\nh = (x - m) * r\n";
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{5001, 24}, {1201, 133}, {20000, 3}}) {
    const Tensor x = noise(DType::F32, {height, width}), g = noise(DType::F32, {height, width}, 3),
                 w = noise(DType::F32, {width}, 4);
    EXPECT_TRUE(right("input x: f32[M, N]\ninput w: f32[N]\n" + norm + "return h * w\n", {x, w}));
    EXPECT_TRUE(
        right("input x: f32[M, N]\ninput g: f32[M, N]\ninput w: f32[N]\n" + norm +
                  "g1 = g * w\n"
                  "return (g1 - mean(g1, axis=0) - h * mean(g1 * h, axis=0)) * r, sum(g * h, axis=0), sum(g, axis=0)\n",
              {x, g, w}));
  }
  EXPECT_TRUE(right("input x: f32[M, N]\nreturn layernorm(x)\n", {noise(DType::F32, {3, 400001})}));
}

}  // namespace
}  // namespace smelt::testing

// Compiled functions: what they calculate, when they compile, what they say.
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <cmath>
#include <random>
#include <thread>

namespace smelt {
namespace {

std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& v : values) v = normal(random);
  return values;
}

auto norm_function() {
  return compile([](Array x, Array g, Array b) {
    auto h = relu(x);
    return (h - mean(h, -1, keepdims)) * rsqrt(var(h, -1, keepdims) + 1e-5f) * g + b;
  });
}

// The same by hand, in double.
std::vector<float> norm_by_hand(const std::vector<float>& x, const std::vector<float>& g, const std::vector<float>& b) {
  std::vector<float> y(x.size());
  const size_t n = g.size();
  for (size_t row = 0; row < x.size(); row += n) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; ++i) sum += std::max(x[row + i], 0.f);
    const double mean = sum / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i) squares += std::pow(std::max(x[row + i], 0.f) - mean, 2);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-5);
    for (size_t i = 0; i < n; ++i)
      y[row + i] = static_cast<float>((std::max(x[row + i], 0.f) - mean) * scale * g[i] + b[i]);
  }
  return y;
}

TEST(Function, CalculatesWhatItSays) {
  const auto norm = norm_function();
  for (const int64_t rows : {4, 1, 7, 300}) {
    const auto x = random_floats(static_cast<size_t>(rows) * 33, 1), g = random_floats(33, 2), b = random_floats(33, 3);
    const Array y = norm(Array::from(x, {rows, 33}), Array::from(g), Array::from(b));
    EXPECT_EQ(y.str(), "f32[" + std::to_string(rows) + ", 33]");
    const auto expected = norm_by_hand(x, g, b);
    const auto values = y.span<float>();
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], expected[i], 2e-5) << rows << " rows, element " << i;
  }
}

TEST(Function, IsOneKernelAndSaysWhenNot) {
  const auto norm = norm_function();
  EXPECT_THROW(norm.expect_kernels(1), UserError);  // not called yet
  const Array x = Array::from(random_floats(8 * 64, 1), {8, 64}), g = Array::from(random_floats(64, 2));
  norm(x, g, g);
  norm.expect_kernels(1);
  EXPECT_EQ(norm.explain(x, g, g).kernels.size(), 1u);
  EXPECT_NE(norm.explain(x, g, g).text().find("1 kernel"), std::string::npos);
}

TEST(Function, OneExecutableServesEveryBatch) {
  const auto norm = norm_function();
  const Array g = Array::from(random_floats(16, 2));
  for (const int64_t rows : {4, 9, 2, 100, 4, 0, 33})
    norm(Array::from(random_floats(static_cast<size_t>(rows) * 16, 1), {rows, 16}), g, g);
  EXPECT_EQ(norm.compile_count(), 1);
  ASSERT_EQ(norm.specializations().size(), 1u);
  EXPECT_EQ(norm.specializations()[0].types, "f32[B, 16], f32[16], f32[16]");
  EXPECT_EQ(norm.specializations()[0].reason, "the first call");
  EXPECT_EQ(norm.specializations()[0].exact, "");
}

}  // namespace
}  // namespace smelt

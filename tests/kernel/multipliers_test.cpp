// What GPUs divide positions by sizes with.
#include "kernel/multipliers.hpp"
#include "support/symbols.hpp"

#include <gtest/gtest.h>

#include <random>

namespace smelt::kernel {
namespace {

// As the function int_quotient of emit/cuda_text.cpp.
int64_t divided(uint32_t a, int64_t multiplier) {
  const auto m = static_cast<uint64_t>(multiplier);
  const uint64_t low = static_cast<uint64_t>(a) * static_cast<uint32_t>(m);
  const uint64_t high = static_cast<uint64_t>(a) * static_cast<uint32_t>(m >> 32) + (low >> 32);
  return static_cast<int64_t>(high >> 30);
}

void expect_exact(int64_t a, int64_t d, int64_t multiplier) {
  if (a < 0 || a > INT32_MAX) return;
  ASSERT_EQ(divided(static_cast<uint32_t>(a), multiplier), a / d) << a << " / " << d;
}

TEST(Multipliers, DivideEveryPositionExactly) {
  const IntExpr multiplier = multiplier_of(sym("N"_size));
  std::mt19937_64 random(1);
  std::vector<int64_t> divisors{1, 2, 3, 5, 7, 641, 65535, 65536, 65537, INT32_MAX / 2, INT32_MAX - 1, INT32_MAX};
  for (int i = 0; i < 2000; ++i) divisors.push_back(1 + static_cast<int64_t>(random() >> (33 + random() % 30)));
  for (const int64_t d : divisors) {
    const int64_t m = multiplier.evaluate({{"N"_size, d}});
    for (const int64_t k : {int64_t{1}, int64_t{2}, INT32_MAX / d, static_cast<int64_t>(random() % 1000)})
      for (const int64_t near : {-1, 0, 1}) expect_exact(k * d + near, d, m);
    expect_exact(0, d, m);
    expect_exact(INT32_MAX, d, m);
    for (int i = 0; i < 50; ++i) expect_exact(static_cast<int64_t>(random() >> 33), d, m);
  }
  EXPECT_GT(multiplier.evaluate({{"N"_size, 0}}), 0) << "an empty axis has one too, and never uses it";
}

}  // namespace
}  // namespace smelt::kernel

// The expansions for GPUs, on a value type whose special functions err as far as those of a GPU
// may. All arguments are swept on a GPU by bench/gpu/math.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "ops/ulp.hpp"
#include "smelt/static/expand/gpu.hpp"
#include "smelt/static/unit.hpp"

namespace smelt::noisy {

inline expand::Real32 real(float x) { return {x}; }

// A float whose special functions are off by up to their documented error, up or down as the bits
// of the argument fall.
struct Noisy {
  float v;
  Noisy(float value) : v(value) {}
  Noisy(expand::Real32 value) : v(value.value) {}

  friend Noisy operator+(Noisy a, Noisy b) { return a.v + b.v; }
  friend Noisy operator-(Noisy a, Noisy b) { return a.v - b.v; }
  friend Noisy operator*(Noisy a, Noisy b) { return a.v * b.v; }
  friend Noisy operator-(Noisy a) { return -a.v; }
  friend bool operator<(Noisy a, Noisy b) { return a.v < b.v; }
  friend bool operator<=(Noisy a, Noisy b) { return a.v <= b.v; }
  friend bool operator>(Noisy a, Noisy b) { return a.v > b.v; }
  friend bool operator==(Noisy a, Noisy b) { return a.v == b.v; }
};

template <class N>
Noisy like(Noisy, N n) {
  return static_cast<float>(n);
}
inline Noisy select(bool c, Noisy a, Noisy b) { return c ? a : b; }
inline Noisy fma(Noisy a, Noisy b, Noisy c) { return std::fma(a.v, b.v, c.v); }
template <class Narrow, class Wide>
Noisy by_width(Noisy a, Narrow on32, Wide) {
  return on32(a);
}
inline Noisy at_most(Noisy a, double limit) { return a.v > limit ? static_cast<float>(limit) : a.v; }
inline Noisy at_least(Noisy a, double limit) { return a.v < limit ? static_cast<float>(limit) : a.v; }
inline Noisy floor(Noisy a) { return std::floor(a.v); }
inline Noisy abs(Noisy a) { return std::fabs(a.v); }
inline Noisy copysign(Noisy a, Noisy b) { return std::copysign(a.v, b.v); }
inline auto bits(Noisy a) { return expand::bits(real(a.v)); }
inline Noisy rint(Noisy a) { return std::rint(a.v); }
inline auto to_int(Noisy a) { return expand::to_int(real(a.v)); }

// `ulp` off, before it is rounded.
inline Noisy disturbed(double exact, float argument, double ulp) {
  const uint32_t hash = std::bit_cast<uint32_t>(argument) * 2654435761u;
  if (exact == 0 || !std::isfinite(exact)) return static_cast<float>(exact);
  const double sign = static_cast<int>(hash >> 16 & 3) - 1.5 > 0 ? 1 : -1;
  return expand::flushed(real(static_cast<float>(exact + sign * std::ldexp(ulp, std::ilogb(exact) - 23)))).value;
}
inline Noisy power_of_two(Noisy a) { return disturbed(std::exp2(static_cast<double>(a.v)), a.v, 1.5); }
inline Noisy power_of_two_full(Noisy a) {
  const Noisy normal = power_of_two(a);
  return normal.v == 0 ? Noisy{expand::power_of_two_full(real(a.v)).value} : normal;
}
inline Noisy reciprocal(Noisy a) { return disturbed(1.0 / expand::flushed(real(a.v)).value, a.v, 0.5); }
inline Noisy inverse_root(Noisy a) { return disturbed(1 / std::sqrt(expand::flushed(real(a.v)).value), a.v, 1.5); }
inline Noisy saturated_fma(Noisy a, Noisy b, Noisy c) {
  return expand::saturated_fma(real(a.v), real(b.v), real(c.v)).value;
}

}  // namespace smelt::noisy

namespace smelt {
namespace {

using noisy::Noisy;
using noisy::real;

struct Case {
  const char* name;
  std::function<float(float)> exactly, noisily;
  double (*meaning)(double);
};

#define CASE(name, call)                                                                            \
  {                                                                                                 \
#name, [](float at) { const expand::Real32 x = real(at); return (call).value; },                  \
   [](float at) { const Noisy x = at; return (call).v; }, static_cast<double (*)(double)>(std::name) \
  }
std::vector<Case> cases() {
  namespace gpu = expand::gpu;
  static constexpr gpu::UnitArithmetic unit;
  return {CASE(exp, gpu::exp(x)),
          CASE(tanh, gpu::tanh(x)),
          CASE(erf, gpu::erf(x)),
          CASE(log, gpu::log(x)),
          CASE(log2, gpu::log2(x)),
          CASE(log10, gpu::log10(x)),
          CASE(atan, gpu::atan(x)),
          CASE(cosh, gpu::cosh(x)),
          CASE(asin, expand::asin(x, unit)),
          CASE(acos, expand::acos(x, unit)),
          CASE(asinh, expand::asinh(x, unit)),
          CASE(acosh, expand::acosh(x, unit)),
          CASE(atanh, expand::atanh(x, unit)),
          CASE(erfc, expand::erfc(x, unit)),
          CASE(log1p, gpu::log1p(x))};
}
#undef CASE

void check(const Case& c, float x, int& failures) {
  const double exact = c.meaning(x);
  for (const float computed : {c.exactly(x), c.noisily(x)}) {
    const double error = ulp_error_f32(computed, exact);
    if (error <= 4 || ++failures > 5) continue;
    ADD_FAILURE() << c.name << "(" << x << ") [" << std::hexfloat << x << std::defaultfloat << "] gives " << computed
                  << ", not " << exact << ": " << error << " ULP";
  }
}

// Bases and exponents of every size, and those whose powers are near 1 or near the ends of the
// range.
TEST(ExpandGpu, Powers) {
  namespace gpu = expand::gpu;
  int failures = 0;
  const auto compare = [&](float x, float y) {
    const double exact = std::pow(static_cast<double>(x), static_cast<double>(y));
    const float computed_exactly = gpu::pow(real(x), real(y)).value;
    const bool plain = x > 0 && x != 1 && y != 0;
    for (const float computed : {computed_exactly, plain ? gpu::power(Noisy(x), Noisy(y)).v : computed_exactly}) {
      const double error = ulp_error_f32(computed, exact);
      if (error <= 4 || ++failures > 9) continue;
      ADD_FAILURE() << "pow(" << x << ", " << y << ") gives " << computed << ", not " << exact << ": " << error
                    << " ULP";
    }
  };
  std::mt19937 random(5);
  for (int k = 0; k < 2000000; ++k) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const float near_one = 1 + std::ldexp(static_cast<float>(random()), -32 - static_cast<int>(random() % 24));
    const float to = static_cast<float>(random()) / 1e9f - 2;
    compare(std::fabs(x), to), compare(near_one, std::ldexp(to, static_cast<int>(random() % 30)));
    compare(std::fabs(x), to * 127 / static_cast<float>(std::log2(std::fabs(x))));
    compare(x, static_cast<float>(static_cast<int>(random() % 9) - 4));
  }
  const float special[] = {0,      -0.0f, 1,         -1,         0.5f,          2,       3,        -3,
                           1e-40f, 3e38f, HUGE_VALF, -HUGE_VALF, std::nanf(""), 0x1p24f, 16777215, -0.5f};
  for (const float x : special)
    for (const float y : special) compare(x, y);
}

// Points of every size and direction; on the axes and the diagonals, and where one is not finite,
// the signs of zeros too.
TEST(ExpandGpu, Angles) {
  int failures = 0;
  const auto compare = [&](float y, float x) {
    const double exact = std::atan2(static_cast<double>(y), static_cast<double>(x));
    for (const float computed :
         {expand::gpu::atan2(real(y), real(x)).value, expand::gpu::atan2(Noisy(y), Noisy(x)).v}) {
      const double error = ulp_error_f32(computed, exact);
      if ((error <= 4 && std::signbit(computed) == std::signbit(exact)) || std::isnan(exact) || ++failures > 9)
        continue;
      ADD_FAILURE() << "atan2(" << y << ", " << x << ") gives " << computed << ", not " << exact << ": " << error
                    << " ULP";
    }
  };
  std::mt19937 random(9);
  for (int k = 0; k < 1000000; ++k) {
    const float y = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const float x = std::ldexp(y, static_cast<int>(random() % 40) - 20) * (static_cast<float>(random()) / 1e9f - 2);
    compare(y, x), compare(y, std::bit_cast<float>(static_cast<uint32_t>(random())));
  }
  const float special[] = {0,       -0.0f,     1,          -1,      0x1p-149f, -0x1p-149f, 0x1p-126f,
                           3.4e38f, HUGE_VALF, -HUGE_VALF, 0x1p32f, -3.4e38f,  0x1.8p32f,  0x1p-64f};
  for (const float x : special)
    for (const float y : special) compare(y, x);
  EXPECT_TRUE(std::isnan(expand::gpu::atan2(real(1), real(std::nanf(""))).value));
  EXPECT_TRUE(std::isnan(expand::gpu::atan2(real(std::nanf("")), real(HUGE_VALF)).value));
}

TEST(ExpandGpu, PowersOfANumber) {
  int failures = 0;
  for (const float base : {10.0f, 2.0f, 0.5f, 1e-3f, 1.0000001f, 0.999f, 3e38f, 1e-44f})
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 40093) {
      const float y = std::bit_cast<float>(static_cast<uint32_t>(bits));
      const double exact = std::pow(static_cast<double>(base), static_cast<double>(y));
      const double log2_base = std::log2(static_cast<double>(base));
      for (const float computed : {expand::gpu::exp2_of_product(real(y), log2_base).value,
                                   expand::gpu::exp2_of_product(Noisy(y), log2_base).v})
        if (const double error = ulp_error_f32(computed, exact); error > 4 && ++failures < 9)
          ADD_FAILURE() << base << " ** " << y << " gives " << computed << ", not " << exact << ": " << error << " ULP";
    }
}

TEST(ExpandGpu, AllExponents) {
  for (const Case& c : cases()) {
    int failures = 0;
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4093)
      check(c, std::bit_cast<float>(static_cast<uint32_t>(bits)), failures);
  }
}

TEST(ExpandGpu, WhereResultsChangeTheirNature) {
  const float points[] = {0, 0x1p-149f, 0x1p-126f, 0.5f,   0.55f, 2.0f / 3, 0.9f, 1,        4.0f / 3, 1.5f,     4,
                          9, 0x1p60f,   89.4f,     10.06f, 86,    87.3365f, 88,   88.7228f, 103.28f,  103.972f, 104};
  for (const Case& c : cases()) {
    int failures = 0;
    for (float point : points)
      for (float sign : {1.0f, -1.0f}) {
        float up = sign * point, down = up;
        for (int k = 0; k < 2000; ++k) {
          check(c, up, failures), check(c, down, failures);
          up = std::nextafter(up, HUGE_VALF);
          down = std::nextafter(down, -HUGE_VALF);
        }
      }
    for (float x : {HUGE_VALF, -HUGE_VALF, std::nanf(""), 0.0f, -0.0f, 3.4e38f, -3.4e38f}) check(c, x, failures);
  }
}

TEST(ExpandGpu, BoundedFunctionsEndAtOne) {
  for (float x : {10.0f, 100.0f, 3e38f, HUGE_VALF}) {
    EXPECT_EQ(expand::gpu::tanh(real(x)).value, 1) << x;
    EXPECT_EQ(expand::gpu::erf(real(x)).value, 1) << x;
    EXPECT_EQ(expand::gpu::tanh(real(-x)).value, -1) << x;
  }
  for (float zero : {0.0f, -0.0f}) {
    EXPECT_EQ(std::signbit(expand::gpu::tanh(real(zero)).value), std::signbit(zero));
  }
}

TEST(ExpandGpu, DivisionByANumber) {
  std::mt19937 random(3);
  std::vector<float> divisors = {
      3, 4.2f, 1, 2, -7, 10, 0.1f, 1.0f / 3, 127, 255, 6, 0x1.fffffep0f, 0x1.000002p0f, 0x1p-60f, 0x1p20f};
  for (int k = 0; k < 50; ++k) divisors.push_back(1 + static_cast<float>(random() >> 9) * 0x1p-23f);
  for (const float c : divisors) {
    int wrong = 0;
    for (uint32_t mantissa = 0; mantissa < 1u << 23; mantissa += 41) {
      const float x = std::bit_cast<float>(0x3f800000u + mantissa);
      wrong += expand::gpu::divided_by(real(x), static_cast<double>(c)).value != x / c;
    }
    EXPECT_EQ(wrong, 0) << "divided by " << c;
    for (const float x : {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, 3.4e38f, 0x1p-60f, -0x1p-40f}) {
      const float got = expand::gpu::divided_by(real(x), static_cast<double>(c)).value;
      EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(x / c)) << x << " / " << c;
    }
    EXPECT_TRUE(std::isnan(expand::gpu::divided_by(real(std::nanf("")), static_cast<double>(c)).value));
  }
}

// Within 2^-16 to where f16 ends, 2^-10 as far as anyone will look: beyond -11 all that is left is
// below 1e-26.
TEST(ExpandGpu, ShortGelu) {
  const auto exact = [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); };
  for (int k = -11000; k <= 40000; ++k) {
    const float x = static_cast<float>(k) * 0x1.0624dep-10f;
    const double error = std::fabs(expand::gpu::gelu_short(Noisy(x)).v - exact(x));
    EXPECT_LE(error, std::fabs(exact(x)) * (x > -5.7f ? 0x1p-16 : 0x1p-10)) << x;
  }
  for (const float x : {1e-30f, -1e-30f, 1e-3f, -1e-3f})
    EXPECT_NEAR(expand::gpu::gelu_short(real(x)).value / exact(x), 1, 0x1p-16) << x;
  for (const float x : {11.0f, 12.0f, 13.5f, 20.0f, 1e4f, 3e38f}) {
    EXPECT_EQ(expand::gpu::gelu_short(real(x)).value, x);
    EXPECT_NEAR(expand::gpu::gelu_short(real(-x)).value, 0, 1e-26);
  }
  // As x / 2 * (1 + erf(x / sqrt(2))) is.
  EXPECT_EQ(expand::gpu::gelu_short(real(HUGE_VALF)).value, HUGE_VALF);
  EXPECT_TRUE(std::isnan(expand::gpu::gelu_short(real(-HUGE_VALF)).value));
  EXPECT_TRUE(std::isnan(expand::gpu::gelu_short(real(std::nanf(""))).value));
  EXPECT_TRUE(std::signbit(expand::gpu::gelu_short(real(-0.0f)).value));
}

// What is stored as a half: within 2^-17, results below 2^-126 aside.
TEST(ExpandGpu, ShortExp) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> arguments(-87, 88.7f);
  for (int k = 0; k < 100000; ++k) {
    const float x = arguments(random);
    EXPECT_NEAR(expand::gpu::exp_short(Noisy(x)).v / std::exp(static_cast<double>(x)), 1, 0x1p-17) << x;
  }
  EXPECT_EQ(expand::gpu::exp_short(real(-HUGE_VALF)).value, 0);
  EXPECT_EQ(expand::gpu::exp_short(real(HUGE_VALF)).value, HUGE_VALF);
  EXPECT_TRUE(std::isnan(expand::gpu::exp_short(real(std::nanf(""))).value));
}

}  // namespace
}  // namespace smelt

#include <cmath>
#include <random>

#include "emit/reciprocal.hpp"
#include "fixture.hpp"
#include "support/symbols.hpp"

namespace smelt::test {

class Division : public OnEveryLlvm {};
INSTANTIATE_TEST_SUITE_P(Llvm, Division, testing::ValuesIn(libraries()), library_name);

static float from_pattern(uint32_t pattern) {
  float x = 0;
  std::memcpy(&x, &pattern, sizeof x);
  return x;
}

// Every exponent and sign, the first numbers of each, the last ones and some between; the subnormal
// ones near zero; and numbers whose quotient lies as near to a tie as it can.
static std::vector<float> dividends(float c) {
  std::mt19937 random(17);
  std::vector<float> all;
  for (uint32_t top = 0; top < 512; ++top) {
    for (uint32_t low : {0u, 1u, 2u, 3u, 0x3fffffu, 0x400000u, 0x7ffffdu, 0x7ffffeu, 0x7fffffu})
      all.push_back(from_pattern(top << 23 | low));
    for (int i = 0; i < 20; ++i) all.push_back(from_pattern(top << 23 | (random() & 0x7fffff)));
  }
  for (uint32_t pattern = 0; pattern < 3000; ++pattern) all.push_back(from_pattern(pattern));
  for (int i = 0; i < 20000; ++i) {
    const double tie =
        std::ldexp(static_cast<double>(random() | 0x1000001) / 0x1p25, static_cast<int>(random() % 270) - 140);
    const auto near = static_cast<float>(tie * c);
    for (float x : {near, std::nextafterf(near, HUGE_VALF), std::nextafterf(near, -HUGE_VALF)}) all.push_back(x);
  }
  return all;
}

TEST_P(Division, ByAConstantIsThatOfTheProcessor) {
  slow_division = true;
  for (float c :
       {4.2f, 3.0f, -0.3f, 0.1f, 255.0f, 1e-5f, 12345.678f, 1.0000001f, 1.9999999f, 6.0f, -7.7f, 0.7f, 9e9f}) {
    Maker m;
    const IntExpr n = m.size("N"_size), i = sym("i1"_loop);
    const int in = m.input(DType::F32, {n}), out = m.output(DType::F32, {n});
    m.phase(
        {grid(1, {vector("i1"_loop, n, {m.build.store(m.at(out, {i}), m.op(Op::Div, {m.load(in, {i}), m.f32(c)}))})})});
    auto module = load(m.kernel, 512);
    std::vector<float> x = dividends(c), y(x.size());
    run(*module, 0, 1, {x.data(), y.data()}, {static_cast<int64_t>(x.size())});
    for (size_t k = 0; k < x.size(); ++k) {
      const float expected = x[k] / c;
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(y[k])) << x[k] << " / " << c;
      } else {
        ASSERT_EQ(std::memcmp(&y[k], &expected, sizeof expected), 0)
            << x[k] << " / " << c << ": " << y[k] << ", not " << expected;
      }
    }
  }
}

TEST_P(Division, IsMadeOfMultiplicationsOnlyWhereThatIsSlow) {
  Maker m;
  const IntExpr n = m.size("N"_size), i = sym("i1"_loop);
  const int in = m.input(DType::F32, {n}), out = m.output(DType::F32, {n});
  m.phase(
      {grid(1, {vector("i1"_loop, n, {m.build.store(m.at(out, {i}), m.op(Op::Div, {m.load(in, {i}), m.f32(4.2)}))})})});
  EXPECT_NE(text(m.kernel, 512).find("fdiv"), std::string::npos);
  slow_division = true;
  EXPECT_EQ(text(m.kernel, 512).find("fdiv"), std::string::npos);
}

TEST(Reciprocal, IsThereForMostConstants) {
  EXPECT_EQ(emit::reciprocal_to_divide_by(4.2f), 1 / 4.2f);
  // Powers of two, whose quotients are products; even numbers, by which subnormal quotients are
  // ties; what could overflow on the way.
  for (float c : {0.0f, -4.2f, 1.0f, 2.0f, 0.25f, 6.0f, 100.0f, 1e-30f, 1e30f, HUGE_VALF, std::nanf("")})
    EXPECT_FALSE(emit::reciprocal_to_divide_by(c)) << c;
  std::mt19937 random(5);
  int found = 0;
  for (int k = 0; k < 1000; ++k)
    found += emit::reciprocal_to_divide_by(std::ldexp(1 + static_cast<float>(random() & 0x7fffff) * 0x1p-23f,
                                                      static_cast<int>(random() % 16) - 12))
                 .has_value();
  EXPECT_GT(found, 600);
}

}  // namespace smelt::test

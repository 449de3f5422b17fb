// Scalar functions in C against the same text compiled by the C++ compiler of these tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "run.hpp"

namespace smelt::lang {

using ::testing::HasSubstr;

// The function, and its text.
#define SMELT_C(name, ...) \
  __VA_ARGS__              \
  static const char* const name##_text = #__VA_ARGS__;

namespace {

using std::isnan;
using std::signbit;

SMELT_C(
    swishy, float swishy(float x, float beta) {
      float t = x * beta;
      return t / (1.0f + expf(-t));
    })
SMELT_C(
    early, static inline float early(float x, float y) {
      if (x < 0.0f) return -x;
      if (x > y) {
        if (y > 1) return y;
        x -= y;
      } else if (x == y)
        return 7;
      float r;
      if (x > 0.5f)
        r = 1;
      else
        r = x * y;
      return r + 0.25f;
    })
SMELT_C(
    poly, float poly(float x, float y) {
      float sum = 0, power = 1;
      for (int i = 0; i < 6; i++) {
        if (i % 2 == 0)
          sum += power / (i + 1);
        else
          sum -= power * y;
        for (int j = i; j > 3; --j) sum += j;
        power *= x;
      }
      return sum;
    })
SMELT_C(
    extremes, float extremes(float x, float y) {
      return fmaxf(x, y) - fminf(x, 1.0f) + (isnan(y) ? 2.0f : 0.0f) + (signbit(x) ? 10.f : 20.f);
    })
SMELT_C(
    rounds, float rounds(float x, float y) {
      return roundf(x) + 100 * rintf(x) + truncf(y) * 1e4f + floorf(x) - ceilf(y) + copysignf(3, x) + fdimf(x, y);
    })
SMELT_C(
    logic, float logic(float x, float y) {
      bool a = x > 0 && y > 0, b = !(x < y) || x == y;
      return a + 2 * b + (a != b) + (x ? 8.f : 16.f);
    })
SMELT_C(
    doubles, float doubles(float x, float y) {
      const double third = 1.0 / 3;
      return (float)(x * third + sqrt(fabs(y)) * 0x1p-2) + 1e-1f;
    })
SMELT_C(
    whole, int whole(int x, int y) {
      unsigned u = x;
      u >>= 3;
      long long big = (long long)x * y;
      int d = y == 0 ? 1 : y;
      short s = (short)(x * 7);
      return x / d + x % d * 3 + (int)(u ^ 5u) + (x << 2) + (x >> 1) + (int)(big >> 7) + s + (~y & 0xff) + abs(x) - -y +
             ((unsigned)x < 3u) + (unsigned char)(y * 9);
    })

const std::vector<double> kX = {0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1, 3, 0.7, -7, 1e-3, 0.75, 4.25};
const std::vector<double> kY = {1.0, 2.0, 0.5, -0.5, -1.5, 2.5, 1, 1, 0.5, 0.2, 3, -1e-3, 2, -4.25};

void expect_same(const std::string& text, const std::string& name, float (*f)(float, float), std::vector<double> x = kX,
                 std::vector<double> y = kY) {
  const auto n = static_cast<int64_t>(x.size());
  const std::vector<double> got = numbers("cfunction '''" + text + "'''\nreturn " + name + "(x, y)",
                                          {{"x", array(DType::F32, {n}, x)}, {"y", array(DType::F32, {n}, y)}});
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = f(static_cast<float>(x[i]), static_cast<float>(y[i]));
    if (std::isnan(want) || std::isinf(want))
      EXPECT_EQ(std::isnan(want), std::isnan(got[i])) << name << " of " << x[i] << ", " << y[i] << ": " << got[i];
    else
      EXPECT_NEAR(got[i], want, 2e-6 * (1 + std::fabs(want))) << name << " of " << x[i] << ", " << y[i];
  }
}

}  // namespace

TEST(CFunction, MeansWhatCMeans) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const std::vector<double> x = {nan, 1, nan, inf, -inf, 0, -0.0}, y = {1, nan, nan, -inf, inf, inf, nan};
  expect_same(swishy_text, "swishy", swishy);
  expect_same(early_text, "early", early);
  expect_same(early_text, "early", early, x, y);
  expect_same(poly_text, "poly", poly);
  expect_same(extremes_text, "extremes", extremes);
  expect_same(extremes_text, "extremes", extremes, x, y);
  expect_same(rounds_text, "rounds", rounds);
  expect_same(logic_text, "logic", logic);
  expect_same(logic_text, "logic", logic, x, y);
  expect_same(doubles_text, "doubles", doubles);
}

TEST(CFunction, IntegersAsInC) {
  const std::vector<double> x = {0, 1, -1, 7, -7, 1000, -1000, 123456, 12, -13},
                            y = {1, 0, 3, -2, 2, 7, -7, 99, -5, -13};
  const auto n = static_cast<int64_t>(x.size());
  const std::vector<double> got = numbers("cfunction '''" + std::string(whole_text) + "'''\nreturn whole(x, y)",
                                          {{"x", array(DType::I32, {n}, x)}, {"y", array(DType::I32, {n}, y)}});
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(got[i], whole(static_cast<int>(x[i]), static_cast<int>(y[i]))) << x[i] << ", " << y[i];
}

TEST(CFunction, ResultsHaveTheShapeOfAllArguments) {
  const std::string f = "cfunction 'float f(float x, float y) { return 2; }'\n";
  const NamedTensors x = {{"x", array(DType::F32, {3}, {1, 2, 3})}};
  EXPECT_EQ(run(f + "return f(x, 1)", x)[0].dims, (Dims{3}));
  EXPECT_EQ(numbers(f + "return f(x[:, None], x)", x), std::vector<double>(9, 2));
  EXPECT_THAT(error_of(f + "return f(x, x[:2])", x), HasSubstr("cannot broadcast [3] with [2]"));
}

TEST(CFunction, ArgumentsConvertWhereNothingIsLost) {
  const std::string f = "cfunction 'float f(float x, double y) { return x + (float)y; }'\n";
  EXPECT_EQ(numbers(f + "return f(f16(x), 2)", {{"x", array(DType::F32, {2}, {1, 2})}}), (std::vector<double>{3, 4}));
  EXPECT_EQ(numbers(f + "return f(x, x)", {{"x", array(DType::F32, {2}, {1, 2})}}), (std::vector<double>{2, 4}));
  EXPECT_NE(error_of(f + "return f(f64(x), 1)", {{"x", array(DType::F32, {2}, {1, 2})}})
                .find("f takes x as float (f32), not f64[2]"),
            std::string::npos);
}

static std::string error_in(const std::string& body) {
  return error_of("cfunction 'float f(float x) {" + body + "}'\nreturn f(x)", {{"x", array(DType::F32, {1}, {1})}});
}

TEST(CFunction, RefusesWhatIsNotItsSubset) {
  const std::pair<const char*, const char*> cases[] = {
      {"return x", "expected ';'"},
      {"return y;", "there is no variable 'y'"},
      {"return exf(x);", "there is no function 'exf'"},
      {"return max(x, x);", "did you mean fmaxf?"},
      {"return expf(x, x);", "expf takes 1 argument, not 2"},
      {"float y; return y;", "'y' has no value yet"},
      {"const float y = 1; y = 2; return y;", "'y' is const"},
      {"while (x > 0) x -= 1; return x;", "there is no 'while'"},
      {"for (int i = 0; i < x; ++i) x += 1; return x;", "depends on the arguments"},
      {"for (int i = 0; i < 5000; ++i) x += 1; return x;", "more than 1024 iterations"},
      {"for (int i = 0; i < 1000; ++i) for (int j = 0; j < 1000; ++j) x += 1; return x;", "more than 10000 operations"},
      {"if (x > 0) return x;", "may end without a return"},
      {"float* p = &x; return x;", "no pointers"},
      {"float a[4]; return x;", "no arrays"},
      {"return x % 2;", "'%' is for integers"},
      {"return x = 2;", "an assignment is a statement of its own"},
      {"return abs(x);", "abs is for integers in C"},
      {"return \"x\";", "numbers only"},
      {"return x; } asm(\"nop\"); {", "unexpected"},
      {"return x; #define y", "no preprocessor"},
      {"return 1.0q;", "is not a number"},
      {"return x /* ;", "never closed"},
  };
  for (const auto& [body, message] : cases)
    EXPECT_NE(error_in(body).find(message), std::string::npos) << body << "\n" << error_in(body);
  EXPECT_EQ(error_in("return (x > 0 ? x : 2 * x) + true;"), "");
}

TEST(CFunction, ErrorsPointIntoTheText) {
  EXPECT_EQ(error_of("cfunction '''float f(float x) {\n  return x + exf(x);\n}'''\nreturn f(x)",
                     {{"x", array(DType::F32, {1}, {1})}}),
            "<test>:2:14: error: there is no function 'exf'\n"
            "    return x + exf(x);\n"
            "               ^~~\n"
            "  help: did you mean expf?");
}

TEST(CFunction, DeepAndLongTextsEndSoon) {
  std::string open, close, sum = "x", ifs;
  for (int i = 0; i < 20'000; ++i) open += "(", close += ")";
  for (int i = 0; i < 4'000; ++i) sum += "+x";
  for (int i = 0; i < 4'000; ++i) ifs += "if (x > 0) ";
  EXPECT_NE(error_in("return " + open + "x" + close + ";").find("nested more than 200 deep"), std::string::npos);
  EXPECT_NE(error_in("return " + std::string(50'000, '-') + "x;").find("--"), std::string::npos);
  EXPECT_NE(error_in("return " + std::string(50'000, '!') + "x;").find("nested more than 200 deep"), std::string::npos);
  EXPECT_NE(error_in(ifs + "return x; return x;").find("nested more than 200 deep"), std::string::npos);
  EXPECT_EQ(error_in("return " + sum + ";"), "");
  EXPECT_NE(error_in(std::string(70'000, ' ')).find("at most 65536 bytes"), std::string::npos);
}

}  // namespace smelt::lang

// Operations of the user's for one element: in C, and as lambdas.
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <cmath>
#include <limits>

#include "support/message_of.hpp"

namespace smelt {
namespace {

using testing::message_of;

constexpr const char* kSwish = R"(float swish(float x, float beta) {
  float t = x * beta;
  return t / (1.0f + expf(-t));
})";

float swish_by_hand(float x, float beta) { return x * beta / (1 + std::exp(-x * beta)); }

TEST(ScalarFunction, IsAnOperationLikeAnyOther) {
  const auto swish = scalar_function(kSwish);
  EXPECT_EQ(swish.name(), "swish");
  EXPECT_EQ(swish.signature(), "float swish(float x, float beta)");
  std::vector<float> values;
  for (int i = 0; i < 1003; ++i) values.push_back(static_cast<float>(i - 500) / 50);
  auto f = compile([&](Array x, Array bias) { return relu(swish(x + bias, 1.5)) * 2; });
  const Array y = f(Array::from(values), Array::from({0.25f}));
  const std::vector<float> got = y.to_vector<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const float want = 2 * std::max(0.f, swish_by_hand(values[i] + 0.25f, 1.5f));
    ASSERT_NEAR(got[i], want, 1e-5f * (1 + std::fabs(want))) << i;
  }
  const Explanation e = f.explain(Array::from(values), Array::from({0.25f}));
  EXPECT_EQ(e.kernels.size(), 1u);
  EXPECT_NE(e.text().find("swish (5 operations)"), std::string::npos) << e.text();
}

TEST(ScalarFunction, BroadcastsAndKeepsNan) {
  const auto pick = scalar_function("float pick(float a, float b) { if (isnan(a)) return b; return fmaxf(a, b); }");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Array y = pick(Array::from({nan, 1.f, 3.f}), Array::from({2.f, nan}, {2, 1}));
  eval(y);
  EXPECT_EQ(y.str(), "f32[2, 3]");
  const auto v = y.to_vector<float>();
  EXPECT_EQ((std::vector<float>(v.begin(), v.begin() + 3)), (std::vector<float>{2, 2, 3}));
  EXPECT_TRUE(std::isnan(v[3]));
  EXPECT_EQ(v[4], 1);
  EXPECT_EQ(v[5], 3);
}

// Equal steps with another text are another program.
TEST(ScalarFunction, EvalTellsTextsApart) {
  const Array x = Array::from({1.f, 2.f});
  Array a = scalar_function("float f(float x) { return x * 2; }")(x);
  Array b = scalar_function("float f(float x) { return x * 3; }")(x);
  eval(a);
  eval(b);
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{3, 6}));
}

TEST(ScalarFunction, SaysWhatIsWrong) {
  EXPECT_EQ(message_of([] { scalar_function("float f(float x) {\n  return 2 * y;\n}"); }),
            "scalar function:2:14: error: there is no variable 'y'\n"
            "    return 2 * y;\n"
            "               ^\n"
            "  help: declare it: float name = ...;");
  const auto swish = scalar_function(kSwish);
  EXPECT_EQ(message_of([&] { swish(Array::from({1.f})); }),
            "swish takes 2 arguments, not 1\nhelp: float swish(float x, float beta)");
  EXPECT_NE(message_of([&] { swish(Array::from({1.0}), 2); }).find("swish takes x as float (f32), not f64[1]"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              swish(Array::from({1.f, 2.f}), Array::from({1.f, 2.f, 3.f}));
            }).find("cannot broadcast"),
            std::string::npos);
}

TEST(Elementwise, GivesSeveralStepsAName) {
  const Array x = Array::from({-1.f, 0.f, 3.f}), y = Array::from({2.f}, {1});
  const auto f = compile([](const Array& a, const Array& b) {
    return elementwise(
        "softsign", [](const Array& u, const Array& v, const Array& k) { return u / (abs(u) + v) * k; }, a, b, 2);
  });
  EXPECT_EQ(f(x, y).to_vector<float>(), (std::vector<float>{-2.f / 3, 0, 1.2f}));
  EXPECT_NE(f.explain(x, y).text().find("softsign (4 operations)"), std::string::npos) << f.explain(x, y).text();
}

// x - y and y - x are the same steps on the elements in another order.
TEST(Elementwise, EvalTellsTheArgumentsApart) {
  const Array x = Array::from({5.f}), y = Array::from({3.f});
  Array a = elementwise(
      "d", [](const Array& u, const Array& v) { return u - v; }, x, y);
  Array b = elementwise(
      "d", [](const Array& u, const Array& v) { return v - u; }, x, y);
  eval(a);
  eval(b);
  EXPECT_EQ(a.item<float>(), 2);
  EXPECT_EQ(b.item<float>(), -2);
}

TEST(Elementwise, RefusesWhatIsNot) {
  EXPECT_NE(message_of([] {
              elementwise(
                  "a\\", [](const Array& u) { return u; }, Array::from({1.f}));
            }).find("is no name"),
            std::string::npos);
  const Array x = Array::from({1.f, 2.f}), other = Array::from({3.f, 4.f});
  EXPECT_NE(message_of([&] {
              elementwise(
                  "s", [](const Array& u) { return u - sum(u); }, x);
            }).find("elementwise 's': sum is not elementwise"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              elementwise(
                  "s", [&](const Array& u) { return u * other; }, x);
            }).find("an array that is not among its arguments"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              compile([](const Array& a, const Array& b) {
                return elementwise(
                    "s", [&](const Array& u) { return u * b; }, a);
              })(x, other);
            }).find("an array that is not among its arguments"),
            std::string::npos);
}

}  // namespace
}  // namespace smelt

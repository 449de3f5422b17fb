// Gradients in programs: of values, and of functions as functions.
#include <gtest/gtest.h>

#include <cmath>

#include "run.hpp"

namespace smelt::lang {
namespace {

using list = std::vector<double>;

const NamedTensors kInputs = {{"x", array(DType::F64, {3}, {1, 2, 3})},
                              {"y", array(DType::F64, {3}, {4, 5, 6})},
                              {"t", array(DType::F64, {}, {0.5})}};

const std::string kDeclared = "input x: f64[N]\ninput y: f64[N]\ninput t: f64\n";

std::vector<double> of(const std::string& program) { return numbers(kDeclared + program, kInputs); }

TEST(Gradients, OfValues) {
  EXPECT_EQ(of("return gradient(sum(x * x * y) + 0 * t, x)"), list({8, 20, 36}));
  EXPECT_EQ(of("h = x * y\nreturn gradient(sum(h * h) * t, h)"), list({4, 10, 18}));
  EXPECT_EQ(of("a, b = gradient(sum(x * x * y) * t, (x, t))\nreturn sum(a) + b"), list({32 + 78}));
  EXPECT_EQ(of("g = gradient(sum(x ** 3) + t * y[0], x)\nreturn gradient(sum(g), x)"), list({6, 12, 18}));
  EXPECT_EQ(of("return gradient(sum(y) * t, x)"), list({0, 0, 0}));
  EXPECT_EQ(of("return gradient(sum(x * stop_gradient(x)) + sum(y) * t, x)"), list({1, 2, 3}));
}

TEST(Gradients, OfFunctions) {
  const std::string f = "def f(a, b, scale=1): return sum(a * a * b) * scale\n";
  EXPECT_EQ(of(f + "return gradient(f)(x, y) * (t + 0.5)"), list({8, 20, 36}));
  EXPECT_EQ(of(f + "return gradient(f, 1)(x, y, scale=2) * (t + 0.5)"), list({2, 8, 18}));
  EXPECT_EQ(of(f + "return gradient(f, argnums=1)(x, y) * (t + 0.5)"), list({1, 4, 9}));
  EXPECT_EQ(of(f + "return gradient(f, by=0)(x, x) * (t + 0.5) + 0 * y"), list({2, 8, 18}));
  EXPECT_EQ(of(f + "v, g = value_and_gradient(f)(x, y)\nreturn g * 0 + v * (t + 0.5)"), list({78, 78, 78}));
  EXPECT_EQ(of(f + "a, b = gradient(f, (0, 1))(x, y)\nreturn a + b + 0 * t"), list({9, 24, 45}));
  EXPECT_EQ(of("def f(a): return a ** 3\nreturn gradient(gradient(f))(t) + 0 * (x + y)"), list({3, 3, 3}));
  EXPECT_EQ(of("def f(a): return a ** 3\ndf = gradient(f)\nd2f = grad(df)\nreturn d2f(t) + 0 * (x + y)"),
            list({3, 3, 3}));
  EXPECT_EQ(of("return gradient(sum)(x * t) + 0 * y"), list({1, 1, 1}));
}

TEST(Gradients, WithinFunctions) {
  EXPECT_EQ(of("def slope(f, a): return gradient(f)(a)\ndef g(a): return sum(a * a)\nreturn slope(g, x) + 0 * y * t"),
            list({2, 4, 6}));
  EXPECT_EQ(of("def step(w, g): return w - 0.5 * gradient(sum(w * w * g), w)\nreturn step(x, y) * (t + 0.5)"),
            list({1 - 4, 2 - 10, 3 - 18}));
  EXPECT_EQ(of("cfunction 'double f(double a) { return a > 1.5 ? a * a : 3.0 * a; }'\nreturn gradient(sum(f(x)), x) + "
               "0 * y * t"),
            list({3, 4, 6}));
}

TEST(Gradients, OfLists) {
  EXPECT_EQ(
      of("def f(ws): return sum(ws[0] * ws[1]) * ws[2]\ng = gradient(f)((x, y, t))\nreturn g[0] + g[1] * 0 + g[2]"),
      list({32 + 2, 32 + 2.5, 32 + 3}));
  EXPECT_EQ(of("g = gradient(sum(x * y) * t, ((x, y), t))\nreturn g[0][0] + g[0][1] * 2 + g[1]"),
            list({32 + 3, 32 + 4.5, 32 + 6}));
}

TEST(Gradients, VectorJacobianProducts) {
  EXPECT_EQ(of("return vjp(x * x, x, y) + 0 * t"), list({8, 20, 36}));
  EXPECT_EQ(of("a, b = vjp((x * t, sum(x) * t), (x, t), (y, 2.0 + 0 * t))\nreturn a + b"), list({47, 47.5, 48}));
}

// Each gradient is several times as large as what it is of.
TEST(Gradients, CannotGrowWithoutEnd) {
  std::string program = "g = sum(tanh(x) * exp(x)) + sum(y) * t\n";
  for (int i = 0; i < 40; ++i) program += "g = sum(gradient(g, x) * x)\n";
  EXPECT_NE(error_of(kDeclared + program + "return g", kInputs).find("more than 1048576 operations"),
            std::string::npos);
}

}  // namespace
}  // namespace smelt::lang

// Lists of arrays: std::vector<Array> in and out of functions, and of programs in text.
#include <gtest/gtest.h>

#include "smelt/smelt.hpp"

namespace smelt {
namespace {

std::vector<Array> three() {
  return {Array::from(std::vector<float>{1, 2, 3}), Array::from(std::vector<float>{-4}),
          Array::from(std::vector<float>{5, 6, 7, 8}, {2, 2})};
}

Array number(float value) { return Array::from(std::vector<float>{value}, {}); }

TEST(Lists, OfAFunctionAreOneKernel) {
  const auto f = compile([](const std::vector<Array>& xs) {
    std::vector<Array> results;
    for (const Array& x : xs) results.push_back(abs(2 * x) + 1);
    return results;
  });
  const std::vector<Array> results = f(three());
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].to_vector<float>(), (std::vector<float>{3, 5, 7}));
  EXPECT_EQ(results[1].to_vector<float>(), (std::vector<float>{9}));
  EXPECT_EQ(results[2].to_vector<float>(), (std::vector<float>{11, 13, 15, 17}));
  f.expect_kernels(1);
}

TEST(Lists, OfAProgramInText) {
  const Program p = compile_text("input xs: list[f32[...]]; input s: f32\nreturn [x * s for x in xs]");
  EXPECT_EQ(p.parameters(), (std::vector<std::string>{"xs", "s"}));
  const std::vector<Array> results = p(three(), number(2));
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[2].to_vector<float>(), (std::vector<float>{10, 12, 14, 16}));
  const std::vector<Array> named = p({{"s", number(3)}, {"xs[0]", three()[0]}, {"xs[1]", three()[1]}});
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(named[1].to_vector<float>(), (std::vector<float>{-12}));
}

TEST(Lists, MistakesAreNamed) {
  const Program p = compile_text("input xs: list[f32[N], 2]\nreturn xs[0] + xs[1]");
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] { p(three()); }), "the input 'xs' is a list of 2, but 3 are given");
  EXPECT_EQ(message([&] { p(three()[0]); }), "the input 'xs' is a list, but the argument is an array");
  EXPECT_EQ(message([&] {
              p({{"xs[0]", three()[0]}, {"xs[2]", three()[0]}});
            }),
            "the input 'xs[1]' is not given, but 'xs[2]' is");
}

TEST(Lists, OfNoArraysNoneAreMade) {
  const auto halves = compile([](std::vector<Array> xs, Array by) {
    for (Array& x : xs) x = x / by;
    return xs;
  });
  EXPECT_TRUE(halves({}, 2.0).empty());
  EXPECT_EQ(halves({Array::from({4.f})}, 2.0)[0].item<float>(), 2);
  const auto total = compile([](std::vector<Array> xs) {
    Array sum = zeros({2});
    for (const Array& x : xs) sum = sum + x;
    return sum;
  });
  EXPECT_EQ(total({}).to_vector<float>(), (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace smelt

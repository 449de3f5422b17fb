// Programs in text, from C++.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <functional>

#include "support/message_of.hpp"

namespace smelt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

TEST(Program, RunsByNameAndByOrder) {
  const Program f = compile_text("input x: f32[B, 3]\ninput g: f32[3]\nreturn relu(x) * g, x.sum(axis=1)\n");
  EXPECT_EQ(f.parameters(), (std::vector<std::string>{"x", "g"}));
  const Array x = Array::from({1.f, -2.f, 3.f}, {1, 3}), g = Array::from({1.f, 2.f, 3.f});
  const auto outputs = f({{"g", g}, {"x", x}});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].to_vector<float>(), (std::vector<float>{1, 0, 9}));
  EXPECT_EQ(outputs[1].to_vector<float>(), (std::vector<float>{2}));
  EXPECT_EQ(f(x, g)[0].to_vector<float>(), outputs[0].to_vector<float>());
  f(Array::from(std::vector<float>(12), {4, 3}), g);
  EXPECT_EQ(f.compile_count(), 1);  // B is open, for 1 too
  EXPECT_EQ(f.specializations()[0].types, "f32[B, 3], f32[3]");
}

// Each length of a short row has kernels of its own, up to eight of them; beyond, one executable
// supports all that are left.
TEST(Program, ShortRowsHaveTheirOwnKernels) {
  const Program f = compile_text("input x: f32[B, C]\ninput w: f32[C]\nreturn sum(x * w, axis=1), softmax(x)\n");
  const auto call = [&](int64_t rows, int64_t columns) {
    const Array x = Array::from(std::vector<float>(static_cast<size_t>(rows * columns), 2.f), {rows, columns});
    const Array w = Array::from(std::vector<float>(static_cast<size_t>(columns), 0.5f));
    const auto got = f(x, w);
    EXPECT_EQ(got[0].to_vector<float>(), std::vector<float>(static_cast<size_t>(rows), static_cast<float>(columns)));
    EXPECT_EQ(got[1].shape(), x.shape());
    for (const float p : got[1].to_vector<float>()) EXPECT_NEAR(p, 1.f / static_cast<float>(columns), 1e-6f);
  };
  call(5, 17);
  EXPECT_EQ(f.specializations().back().types, "f32[B, C], f32[C]");
  call(5, 3);
  EXPECT_EQ(f.compile_count(), 2);
  EXPECT_EQ(f.specializations().back().types, "f32[B, 3], f32[3]");
  EXPECT_EQ(f.specializations().back().reason, "rows of 3 are short: their length is a constant of the kernels");
  call(6, 3), call(5, 17);
  EXPECT_EQ(f.compile_count(), 2);
  for (int64_t columns = 1; columns < 16; ++columns) call(4, columns);
  int fixed = 0;
  for (const Specialization& s : f.specializations()) fixed += s.types.find("C") == std::string::npos;
  EXPECT_EQ(fixed, 8);
  const int count = f.compile_count();
  for (int64_t columns = 1; columns < 20; ++columns) call(4, columns);
  EXPECT_EQ(f.compile_count(), count);
  call(0, 3), call(1, 3), call(100, 3);  // other numbers of rows
}

TEST(Program, ExpressionsTakeNamedArrays) {
  const Program f = compile_text("exp((x + y) * 2)", {"x", "y"});
  const Array x = Array::from({0.f, 1.f});
  const auto y = f(x, x)[0].to_vector<float>();
  const auto g = compile([](Array a, Array b) { return exp((a + b) * 2); });
  EXPECT_EQ(y, g(x, x).to_vector<float>());
  f(Array::from({1.f, 2.f, 3.f}), Array::from({1.f, 2.f, 3.f}));
  EXPECT_EQ(f.compile_count(), 1);
}

TEST(Program, SaysWhereTheTextIsWrong) {
  EXPECT_EQ(
      message_of([] { compile_text("input x: f32[B, 8]\ninput y: f32[B, 4]\nreturn x + y * 2\n", Options{}); }),
      "program:3:8: error: cannot broadcast f32[B, 8] with f32[B, 4]\n  return x + y * 2\n         ^~~~~~~~~\n  help: "
      "sizes 8 and 4 of axis -1 must be equal, or one of them 1");
  Options options;
  options.name = "loss.smelt";
  EXPECT_EQ(message_of([&] { compile_text("input x: f32[N]\nreturn sofmax(x)", options); }),
            "loss.smelt:2:8: error: there is no function 'sofmax'\n  return sofmax(x)\n         ^~~~~~\n  help: did "
            "you mean softmax?");
}

TEST(Program, SaysWhichArgumentIsWrong) {
  const Program f = compile_text("input x: f32[B, 3]\nreturn x + 1");
  const Array x = Array::from({1.f, 2.f, 3.f}, {1, 3});
  EXPECT_EQ(message_of([&] { f({{"y", x}}); }), "the program has no input 'y'\nhelp: it has x");
  EXPECT_EQ(message_of([&] { f({{"x", x}, {"x", x}}); }), "the input 'x' is given twice");
  EXPECT_EQ(message_of([&] { f({}); }), "the input 'x' is not given");
  EXPECT_EQ(message_of([&] { f(x, x); }), "the program takes 1 array (x), not 2");
  EXPECT_NE(message_of([&] {
              f(Array::from({1, 2, 3}, {1, 3}));
            }).find("'x' is declared f32[B, 3], but given i32[1, 3]"),
            std::string::npos);
  EXPECT_NE(message_of([&] { f(x + 1); }).find("is not evaluated yet"), std::string::npos);
}

TEST(Program, OfAnyRankIsCompiledForTheShapeAtHand) {
  const Program f = compile_text("input x: f32[..., C]\nreturn softmax(x)");
  EXPECT_EQ(f(Array::from(std::vector<float>(12), {2, 3, 2}))[0].to_vector<float>(), std::vector<float>(12, 0.5f));
  EXPECT_EQ(f(Array::from(std::vector<float>(4), {2, 2}))[0].to_vector<float>(), std::vector<float>(4, 0.5f));
}

TEST(Program, RunsIntoMemoryAndBound) {
  const Program f = compile_text("input x: f32[N]\nreturn x * 2");
  const Array x = Array::from({1.f, 2.f});
  Array out = Array::empty({2}, DType::F32);
  f.into(out)({{"x", x}});
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{2, 4}));
  const Bound bound = f.bind({{"x", x}});
  bound();
  EXPECT_EQ(bound.outputs()[0].to_vector<float>(), (std::vector<float>{2, 4}));
  f.expect_kernels(1);
  EXPECT_EQ(f.explain({{"x", x}}).kernels.size(), 1u);
}

}  // namespace

TEST(Program, NamesOfParametersAreChecked) {
  for (const char* name : {"1", "", "return", "a b"})
    EXPECT_THAT(message_of([&] { compile_text("1 + 1", {name}); }), HasSubstr("is no name for a parameter")) << name;
  EXPECT_THAT(message_of([&] { compile_text("x + x", {"x", "x"}); }), HasSubstr("two parameters are called 'x'"));
}

}  // namespace smelt

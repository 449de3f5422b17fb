// Programs over arrays whose last axis is short: elements that lie together are few, and guards
// read places along the axis before.
#include <fmt/format.h>

#include <tuple>

#include "run.hpp"

namespace smelt::testing {
namespace {

TEST(ShortAxis, PiecesFromElsewhere) {
  NEEDS_LLVM();
  for (const DType t : {DType::F32, DType::F64, DType::BF16, DType::U8, DType::Bool})
    for (const int64_t length : {2, 3, 5, 8, 17}) {
      const Tensor x = noise(t, {5, 41, 3, length}, static_cast<uint64_t>(length));
      for (const char* order : {"(1, 0, 2, 3)", "(2, 1, 0, 3)", "(0, 2, 1, 3)", "(3, 2, 1, 0)"}) {
        const std::string text =
            fmt::format("input x: {}[5, 41, 3, {}]\nreturn transpose(x, {})\n", name_of(t), length, order);
        EXPECT_TRUE(right(text, {x})) << text;
      }
    }
}

TEST(ShortAxis, PiecesWithMoreInThem) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {33, 70, 3}, 1), y = noise(DType::F32, {70, 33, 3}, 2),
               c = noise(DType::F32, {3}, 3), w = noise(DType::F32, {70, 33}, 4);
  const std::string inputs = "input x: f32[33, M, 3]\ninput y: f32[M, 33, 3]\ninput c: f32[3]\ninput w: f32[M, 33]\n";
  for (const char* last :
       {"return transpose(x, (1, 0, 2)) + y", "return transpose(x, (1, 0, 2)) * c", "return flip(x, axis=1) * 2",
        "return transpose(x, (1, 0, 2)) * expand_dims(w, 2)", "return transpose(x, (1, 0, 2)), y",
        "return transpose(x[::2, 1:, :], (1, 0, 2))", "return transpose(x, (1, 0, 2))[:, :, ::-1]",
        "return f16(transpose(x, (1, 0, 2)))", "return transpose(x, (1, 0, 2)) > 0"})
    EXPECT_TRUE(right(inputs + last, {x, y, c, w})) << last;
}

// Ends of rows fall anywhere in a vector.
TEST(ShortAxis, GuardsAlongTheAxisBefore) {
  NEEDS_LLVM();
  for (const auto& [rows, columns, length] :
       {std::tuple<int64_t, int64_t, int64_t>{7, 333, 3}, {3, 1, 5}, {2, 2, 3}, {1, 17, 2}, {4, 64, 4}, {5, 21, 31}}) {
    const Tensor x = noise(DType::F32, {rows, columns, length}, 5);
    for (const char* type : {"f32[R, W, {}]", "f32[7, W, {}]"}) {
      if (rows != 7 && type[4] == '7') continue;
      const std::string input = "input x: " + fmt::format(fmt::runtime(type), length) + "\n";
      for (const char* last : {"return roll(x, 1, axis=1)", "return roll(x, -2, axis=1)", "return roll(x, 5, axis=0)",
                               "return roll(x, (1, 2, 1), axis=(0, 1, 2))", "return pad(x, ((1, 1), (1, 1), (0, 0)))",
                               "return pad(x, ((0, 2), (3, 0), (0, 0)), value=-1) * 2",
                               "return pad(x, ((0, 0), (2, 2), (0, 0)), mode='edge')", "return pad(x, 1)",
                               "return concat((x, x * 2, x), axis=1)", "return concat((x, x[:, :1]), axis=1) + 1",
                               "return x * expand_dims(f32(arange(x.shape[1])), 1)", "return tril(x)"})
        EXPECT_TRUE(right(input + last, {x})) << input << last << rows << " " << columns;
    }
  }
}

TEST(ShortAxis, NastyNumbersStayWhereTheyAre) {
  NEEDS_LLVM();
  const Tensor x = filled(DType::F32, {3, 50, 3}, -0.0);
  auto* data = static_cast<float*>(x.data);
  for (int64_t i = 0; i < 450; i += 7) data[i] = i % 2 ? static_cast<float>(kNan) : static_cast<float>(-kInf);
  std::vector<double> rolled(450), turned(450);
  for (int64_t r = 0; r < 3; ++r)
    for (int64_t w = 0; w < 50; ++w)
      for (int64_t c = 0; c < 3; ++c) {
        const double value = data[(r * 50 + w) * 3 + c];
        rolled[static_cast<size_t>((r * 50 + (w + 11) % 50) * 3 + c)] = value;
        turned[static_cast<size_t>((w * 3 + r) * 3 + c)] = value;
      }
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[3, 50, 3]\nreturn roll(x, 11, axis=1)\n", {x})), rolled));
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[3, 50, 3]\nreturn transpose(x, (1, 0, 2))\n", {x})), turned));
}

TEST(ShortAxis, IsNotDividedElementByElement) {
  NEEDS_LLVM();
  for (const char* last : {"transpose(x, (1, 0, 2))", "roll(x, 5, axis=1)", "pad(x, ((1, 1), (1, 1), (0, 0)))"}) {
    const std::string source = compiled(fmt::format("input x: f32[100, 333, 3]\nreturn {}\n", last)).dump("source");
    EXPECT_EQ(source.find("masked.gather"), std::string::npos) << last;
  }
}

}  // namespace
}  // namespace smelt::testing

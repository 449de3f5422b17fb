// Programs over arrays whose last axis is short: elements that lie together are few, and guards
// read places along the axis before.
#include <fmt/format.h>

#include <limits>
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

// Chains over the pixels of pictures, at neighbouring pixels and rows, of odd and of long rows.
TEST(ShortAxis, ChainsOverPixels) {
  NEEDS_LLVM();
  for (const auto& [rows, columns, length] : {std::tuple<int64_t, int64_t, int64_t>{37, 333, 3},
                                              {3, 700, 3},
                                              {64, 40, 4},
                                              {9, 257, 2},
                                              {130, 3, 3},
                                              {21, 129, 5}}) {
    const Tensor x = noise(DType::U8, {rows, columns, length}, 11), y = noise(DType::F32, {rows, columns, length}, 12),
                 c = noise(DType::F32, {length}, 13);
    const std::string input = fmt::format(
        "input x: u8[{0}, {1}, {2}]\ninput y: f32[{0}, {1}, {2}]\ninput c: f32[{2}]\nf = (f32(x) / 255 - 0.5) / 0.25\n",
        rows, columns, length);
    for (const char* last :
         {"h = f[:, :-2] + f[:, 1:-1] + f[:, 2:]\nreturn h[:-2] + h[1:-1] + h[2:]",
          "h = f[:-2] + f[1:-1] + f[2:]\nreturn u8(clamp(round(h[:, 2:] - h[:, :-2] + 128), 0, 255))",
          "p = pad(y, ((1, 1), (1, 1), (0, 0)))\nh = p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]\nreturn h[:-2] - h[2:]",
          "p = pad(f, ((1, 1), (1, 1), (0, 0)), mode='edge')\nh = p[:, :-2] + p[:, 2:]\nreturn exp(h[:-2] * h[2:])",
          "h = exp(f * c)[:, 1:] + exp(f * c)[:, :-1]\nreturn h[1:] * h[:-1]",
          "h = exp(f)[:, :, ::-1]\nv = h[:, 1:] - h[:, :-1]\nreturn v[1:] + v[:-1]",
          "h = (f[:-1:2, :-1:2] + f[1::2, :-1:2] + f[:-1:2, 1::2] + f[1::2, 1::2]) / 4\nreturn u8(clamp(h * 64, 0, "
          "255))",
          "return roll(f, 1, axis=1) * c + f", "return f[::2, ::-1] * c"})
      EXPECT_TRUE(right(input + last, {x, y, c})) << input << last;
  }
}

// Sums over rows that are reduced again: what a lane has of its own is dealt out of whole vectors,
// or comes one by one.
TEST(ShortAxis, NearestOfManyDimensions) {
  NEEDS_LLVM();
  for (const auto& [points, centres, dimensions] : {std::tuple<int64_t, int64_t, int64_t>{333, 7, 16},
                                                    {1000, 33, 12},
                                                    {65, 1, 9},
                                                    {17, 5, 32},
                                                    {15, 3, 20},
                                                    {400, 20, 17},
                                                    {100, 9, 33}}) {
    const Tensor x = noise(DType::F32, {points, dimensions}, 21), c = noise(DType::F32, {centres, dimensions}, 22);
    const std::string input =
        fmt::format("input x: f32[N, {0}]\ninput c: f32[K, {0}]\nd = x[:, None, :] - c\n", dimensions);
    for (const char* last : {"return argmin(sum(d * d, axis=-1), axis=1)", "return max(sum(abs(d), axis=-1), axis=1)",
                             "s = sum(d * d, axis=-1)\nreturn min(s, axis=1), argmin(s, axis=0)",
                             "s = sqrt(sum(d * d, axis=-1))\nreturn s, min(s, axis=1)",
                             "return sum(exp(-sum(d * d, axis=-1)), axis=0)", "return max(max(d, axis=-1), axis=1)"})
      EXPECT_TRUE(right(input + last, {x, c})) << input << last;
    static_cast<float*>(x.data)[points / 2 * dimensions] = std::numeric_limits<float>::quiet_NaN();
    static_cast<float*>(c.data)[0] = std::numeric_limits<float>::infinity();
    EXPECT_TRUE(right(input + "return argmin(sum(d * d, axis=-1), axis=1)", {x, c})) << input;
  }
}

// Lanes over two short axes at once, and components far apart, of one element and of whole rows.
TEST(ShortAxis, ManySmallMatrices) {
  NEEDS_LLVM();
  for (const DType t : {DType::F32, DType::F64, DType::U8})
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{3, 3}, {2, 3}, {5, 5}, {4, 8}})
      for (const int64_t n : {7, 777}) {
        const Tensor x = noise(t, {n, rows, columns}, 17);
        const std::string input = fmt::format("input x: {}[N, {}, {}]\n", name_of(t), rows, columns);
        for (const char* last :
             {"return swapaxes(x, 1, 2)", "return x[:, ::-1, ::-1] - x", "return tril(x)",
              "return where(arange(x.shape[1])[:, None] == arange(x.shape[2]), x, x * 2)", "return x[:, 1, 0]",
              "return x[::-1, 0, 1] * 2, x[:, 1, 1]", "return exp(f32(x[:, 0, 1])) - f32(x[:, 1, 0])",
              "return sum(x, axis=(1, 2)), max(x, axis=(1, 2))"})
          EXPECT_TRUE(right(input + last, {x})) << input << last << n;
      }
  Tensor x = noise(DType::F32, {4000, 16}, 18);
  for (int64_t i = 3; i < 64000; i += 11) static_cast<float*>(x.data)[i] = i % 2 ? static_cast<float>(kNan) : -0.0F;
  for (const char* last :
       {"return x[:, 0]", "return x[:, 15] + x[:, 3]", "return max(x, axis=1)", "return argmax(x[:, :13], axis=1)",
        "return x[::2, 5]", "return pad(x[:, 7], 3)", "return concat((x[:, 1], x[:, 14]))"})
    EXPECT_TRUE(right(std::string("input x: f32[N, 16]\n") + last, {x})) << last;
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

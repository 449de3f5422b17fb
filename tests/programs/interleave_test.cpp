// Arrays that meet, or part, along a short last axis: pairs, colours, repeated pixels.
#include <gtest/gtest.h>

#include "run.hpp"

namespace smelt::testing {
namespace {

constexpr DType kTypes[] = {DType::F32, DType::F64, DType::F16, DType::BF16,
                            DType::I8,  DType::U16, DType::I64, DType::Bool};

TEST(Interleave, ArraysSideBySide) {
  NEEDS_LLVM();
  const char* two = "input x: $[N]\ninput y: $[N]\nreturn stack((x, y), axis=-1)\n";
  const char* three = "input x: $[N]\ninput y: $[N]\nreturn stack((x, y, x), axis=-1)\n";
  const char* seven = "input x: $[N]\ninput y: $[N]\nreturn stack((x, y, x, x, y, y, x), axis=1)[::-1]\n";
  for (const DType dtype : kTypes)
    for (std::string text : {two, three, seven}) {
      for (size_t at; (at = text.find('$')) != std::string::npos;) text.replace(at, 1, name_of(dtype));
      std::vector<std::vector<TensorView>> calls;
      std::vector<Tensor> held;
      for (const int64_t n : {0, 1, 64, 331, 5000}) {
        held.push_back(noise(dtype, {n}, static_cast<uint64_t>(n) + 1));
        held.push_back(noise(dtype, {n}, static_cast<uint64_t>(n) + 2));
        calls.push_back({held[held.size() - 2], held.back()});
      }
      EXPECT_TRUE(right(text, calls));
    }
}

TEST(Interleave, ArithmeticOfPairsAndColours) {
  NEEDS_LLVM();
  const char* product =
      "input a: f32[N, 2]\ninput b: f32[N, 2]\n"
      "return stack((a[:, 0] * b[:, 0] - a[:, 1] * b[:, 1], a[:, 0] * b[:, 1] + a[:, 1] * b[:, 0]), axis=-1)\n";
  const char* colours =
      "input x: f32[N, 3]\nr = x[:, 0]\ng = x[:, 1]\nb = x[:, 2]\n"
      "return stack((0.299 * r + 0.587 * g, r - b, g * b), axis=-1), x[:, ::-1]\n";
  for (const int64_t n : {1, 21, 1000, 8192}) {
    EXPECT_TRUE(right(product, {noise(DType::F32, {n, 2}, 1), noise(DType::F32, {n, 2}, 2)}));
    EXPECT_TRUE(right(colours, {noise(DType::F32, {n, 3}, 3)}));
  }
}

// The rows of a picture end between lanes.
TEST(Interleave, PicturesByColourAndRepeatedPixels) {
  NEEDS_LLVM();
  const char* last = "input x: f32[N, 3, H, W]\nreturn u8(clamp(transpose(x, (0, 2, 3, 1)) * 99, 0, 255))\n";
  const char* larger = "input x: u8[N, H, W]\nreturn repeat(repeat(x, 2, axis=1), 2, axis=2)\n";
  const char* thrice = "input x: f16[H, W]\nreturn repeat(x, 3, axis=1) * 2\n";
  const char* edges = "input x: f32[H, W]\nreturn repeat(pad(x, 1), 2, axis=1)\n";
  for (const auto& [h, w] : {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {7, 31}, {40, 64}, {33, 257}}) {
    EXPECT_TRUE(right(last, {noise(DType::F32, {2, 3, h, w}, 4)}));
    EXPECT_TRUE(right(larger, {noise(DType::U8, {2, h, w}, 5)}));
    EXPECT_TRUE(right(thrice, {noise(DType::F16, {h, w}, 6)}));
    EXPECT_TRUE(right(edges, {noise(DType::F32, {h, w}, 7)}));
  }
}

}  // namespace
}  // namespace smelt::testing

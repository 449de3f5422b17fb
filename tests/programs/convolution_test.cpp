// Convolutions of many channels, which are products of matrices over windows
// (docs/internals/products.md).
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "run.hpp"

namespace smelt::testing {
namespace {

// Whether the first kernel goes over tiles of products.
bool in_tiles(const std::string& program) {
  return compiled(program).plan().groups[0].schedule->strategy == schedule::Strategy::Product;
}

// Lines that are shorter and longer than vectors and tiles, windows that move by steps or have
// holes, and groups.
TEST(Convolution, OfManyChannels) {
  NEEDS_LLVM();
  struct Case {
    Dims x, w;
    const char* how;
  };
  for (const auto& [x, w, how] :
       {Case{{2, 12, 17, 19}, {24, 12, 3, 3}, "padding=1"},
        Case{{2, 12, 17, 19}, {24, 12, 3, 3}, "padding=1, stride=2"},
        Case{{1, 3, 33, 40}, {16, 3, 7, 7}, "padding=3, stride=2"}, Case{{3, 16, 7, 7}, {40, 16, 3, 3}, "padding=1"},
        Case{{1, 8, 2, 300}, {9, 8, 1, 3}, "padding=(0, 1)"},
        Case{{2, 10, 20, 23}, {13, 10, 3, 3}, "dilation=2, padding=2"},
        Case{{2, 20, 14, 14}, {36, 20, 1, 1}, "padding=0"}, Case{{2, 20, 15, 15}, {36, 20, 1, 1}, "stride=2"},
        Case{{2, 24, 14, 14}, {32, 12, 3, 3}, "groups=2, padding=1"}, Case{{4, 24, 129}, {40, 24, 5}, "padding=2"},
        Case{{1, 4, 9, 10, 11}, {11, 4, 2, 3, 3}, "padding=1"}, Case{{1, 90, 6, 6}, {270, 90, 3, 3}, "padding=1"}}) {
    const std::string program =
        fmt::format("input x: f32{}\ninput w: f32{}\nreturn conv(x, w, {})\n", str(x), str(w), how);
    EXPECT_TRUE(right(program, {noise(DType::F32, x, 1), noise(DType::F32, w, 2)})) << program;
    if (!device().is_gpu) {
      EXPECT_TRUE(in_tiles(program)) << program;
    }
  }
}

TEST(Convolution, OfEveryFloat) {
  NEEDS_LLVM();
  for (const DType t : {DType::F64, DType::F16, DType::BF16}) {
    const std::string program = fmt::format(
        "input x: {0}[N, 10, H, W]\ninput w: {0}[20, 10, 3, 3]\nreturn conv(x, w, padding=1)\n", name_of(t));
    EXPECT_TRUE(right(program, {noise(t, {2, 10, 18, 21}, 1), noise(t, {20, 10, 3, 3}, 2)})) << name_of(t);
  }
}

// One executable supports images of any size, also those with less than a line of a tile.
TEST(Convolution, OfAnySize) {
  NEEDS_LLVM();
  for (const auto& [how, least] : {std::pair{"padding=1", 1}, {"padding=1, stride=2", 1}, {"padding=0", 3}}) {
    std::vector<std::vector<Tensor>> tensors;
    for (const Dims& x : {Dims{2, 9, 24, 24}, {1, 9, least, 3}, {3, 9, 7, 31}, {1, 9, least, 270}})
      tensors.push_back({noise(DType::F32, x, 1), noise(DType::F32, {10, 9, 3, 3}, 2)});
    std::vector<std::vector<TensorView>> calls;
    for (const auto& t : tensors) calls.push_back({t[0], t[1]});
    EXPECT_TRUE(
        right(fmt::format("input x: f32[N, 9, H, W]\ninput w: f32[10, 9, 3, 3]\nreturn conv(x, w, {})\n", how), calls))
        << how;
  }
}

// Shapes as they come: each is more multiplications than a short sum is worth.
TEST(Convolution, OfDrawnShapes) {
  NEEDS_LLVM();
  std::mt19937_64 draw(7);
  const auto among = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(draw() % static_cast<uint64_t>(high - low + 1));
  };
  for (int drawn = 0; drawn < 16; ++drawn) {
    const int64_t groups = among(1, 5) == 1 ? 2 : 1, kernel = among(1, 4), stride = among(1, 3), dilation = among(1, 2),
                  padding = among(0, 2), channels = among(3, 12) * groups, results = among(8, 20) * groups,
                  reach = dilation * (kernel - 1) + 1;
    const Dims x{among(1, 3), channels, among(reach, 20), among(std::max<int64_t>(reach, 8), 40)},
        w{results, channels / groups, kernel, among(1, kernel)};
    const std::string program = fmt::format(
        "input x: f32[N, {}, H, W]\ninput w: f32{}\ninput b: f32[{}]\n"
        "return relu(conv(x, w, b, stride={}, padding={}, dilation={}, groups={}))\n",
        channels, str(w), results, stride, padding, dilation, groups);
    EXPECT_TRUE(right(program, {noise(DType::F32, x, 1), noise(DType::F32, w, 2), noise(DType::F32, {results}, 3)}))
        << program << str(x);
  }
}

TEST(Convolution, WhatStandsAround) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {2, 10, 16, 18}, 1), w = noise(DType::F32, {16, 10, 3, 3}, 2),
               b = noise(DType::F32, {16}, 3), v = noise(DType::F32, {16, 10, 3, 3}, 4),
               u = noise(DType::F32, {16, 16, 3, 3}, 5), r = noise(DType::F32, {2, 16, 16, 18}, 6),
               q = noise(DType::U8, {2, 16, 18, 10}, 7);
  const std::string inputs =
      "input x: f32[N, 10, 16, 18]\ninput w: f32[16, 10, 3, 3]\ninput b: f32[16]\ninput v: f32[16, 10, 3, 3]\n"
      "input u: f32[16, 16, 3, 3]\ninput r: f32[N, 16, 16, 18]\ninput q: u8[N, 16, 18, 10]\n";
  for (const char* last :
       {"relu(conv(x, w, b, padding=1))", "relu(conv(x, w, padding=1) * b[:, None, None] + r)",
        "conv(relu(x), w, padding=1), x", "conv(x, w, padding=1) * sigmoid(conv(x, v, padding=1))",
        "conv(relu(conv(x, w, padding=1)), u, padding=1) + r", "max_pool(relu(conv(x, w, padding=1)), 2)",
        "mean(conv(x, w, padding=1), axis=(2, 3))", "softmax(conv(x, w, padding=1), axis=1)",
        "conv(pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), mode='reflect'), w)",
        "conv(concat((x[:, :4], x[:, 4:]), axis=1), w, padding=1)", "permute(conv(x, w, padding=1), (0, 2, 3, 1))",
        "conv(f32(permute(q, (0, 3, 1, 2))) / 255, w, padding=1)", "conv(x[:, :, ::2, 1::3], w, padding=1)",
        "gradient(sum(tanh(conv(x, w, b, padding=1) * 0.01)), (x, w, b))"})
    EXPECT_TRUE(right(inputs + "g = " + last + "\nreturn g\n", {x, w, b, v, u, r, q})) << last;
}

// A nan reaches the results whose windows hold it, and no others: what a vector has beyond a line
// is multiplied, and left there.
TEST(Convolution, NanAndInfinity) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {1, 9, 15, 15}, 1), w = noise(DType::F32, {12, 9, 3, 3}, 2);
  auto* const numbers = static_cast<float*>(x.data);
  numbers[3 * 225 + 0] = std::numeric_limits<float>::quiet_NaN();
  numbers[5 * 225 + 224] = std::numeric_limits<float>::infinity();
  numbers[7 * 225 + 14] = -std::numeric_limits<float>::infinity();
  for (const char* how : {"padding=1", "padding=1, stride=2", "padding=0"})
    EXPECT_TRUE(right(
        fmt::format("input x: f32[N, 9, 15, 15]\ninput w: f32[12, 9, 3, 3]\nreturn conv(x, w, {})\n", how), {x, w}))
        << how;
}

// A channel each, and what few channels make: every result is a short sum, and is added up where it
// is needed.
TEST(Convolution, OfFewChannelsIsNoProduct) {
  NEEDS_LLVM();
  EXPECT_FALSE(in_tiles("input x: f32[8, 32, 56, 56]\ninput w: f32[32, 1, 3, 3]\nreturn conv(x, w, groups=32)\n"));
  EXPECT_FALSE(in_tiles("input x: f32[8, 3, 56, 56]\ninput w: f32[4, 3, 3, 3]\nreturn conv(x, w)\n"));
  EXPECT_FALSE(in_tiles("input x: f32[1, 8, 4, 4]\ninput w: f32[8, 8, 3, 3]\nreturn conv(x, w)\n"));
}

// Channels are lanes, and several pixels share the weights: pixels that are no multiple of four,
// few channels, steps, dilation, several results of a channel, elements that alias.
TEST(Convolution, DepthwiseWithChannelsLast) {
  NEEDS_LLVM();
  const std::string taps = "return sum(window(pad(x, (({0}, {0}), ({0}, {0}), (0, 0))), ({1}, {1}), axis=(0, 1){2}) * ";
  for (const char* type : {"f32", "bf16", "f64"})
    for (const int64_t size : {3, 5, 7})
      for (const char* steps : {"", ", stride=2", ", dilation=2"})
        for (const auto& [rows, columns, channels] :
             {std::tuple<int64_t, int64_t, int64_t>{13, 41, 37}, {32, 16, 96}, {17, 30, 5}}) {
          if (std::string(steps).empty() == (channels == 5) || (type[0] == 'b' && size == 5)) continue;
          const Tensor x = noise(*dtype_from_name(type), {rows, columns, channels}, 3),
                       w = noise(*dtype_from_name(type), {channels, size, size}, 4);
          if (std::string(type) == "f32") static_cast<float*>(x.data)[400] = std::numeric_limits<float>::quiet_NaN();
          EXPECT_TRUE(right(fmt::format("input x: {0}[{1}, {2}, {3}]\ninput w: {0}[{3}, {4}, {4}]\n", type, rows,
                                        columns, channels, size) +
                                fmt::format(fmt::runtime(taps), size - 1, size, steps) + "w, axis=(-2, -1))\n",
                            {x, w}))
              << type << size << steps << channels;
        }
}

}  // namespace
}  // namespace smelt::testing

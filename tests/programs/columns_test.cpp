// Reductions down columns and over several axes, in several passes: a GPU holds what it reads in
// registers between these.
#include <fmt/format.h>

#include "run.hpp"

namespace smelt::testing {
namespace {

// [outer, height, width]: whole tiles of columns, a tile cut short, fewer columns than a tile, odd
// everything, and columns that registers do not hold.
const std::vector<Dims> kShapes = {{3, 64, 96},   {2, 512, 784}, {2, 200, 37}, {5, 21, 132},
                                   {1, 1000, 64}, {2, 7, 3},     {4, 1, 40},   {2, 33, 1},
                                   {1, 4099, 5},  {2, 9000, 33}, {0, 8, 8},    {3, 129, 257}};

std::string text(const Dims& d, DType dtype = DType::F32) {
  return fmt::format("input x: {}[{},{},{}]\n", name_of(dtype), d[0], d[1], d[2]);
}

// Noise with columns of -inf, of one NaN, and of one value.
Tensor columns(const Dims& d, DType dtype) {
  std::vector<double> v = numbers(noise(dtype, d, 7));
  if (v.empty()) return array(dtype, d, v);
  for (int64_t r = 0; r < d[1]; ++r) {
    v[static_cast<size_t>(r * d[2])] = -kInf;
    if (d[2] > 2) v[static_cast<size_t>(r * d[2] + 2)] = 2.5;
  }
  if (d[2] > 1) v[static_cast<size_t>(d[1] / 2 * d[2] + 1)] = kNan;
  return array(dtype, d, v);
}

TEST(Columns, SeveralPasses) {
  NEEDS_LLVM();
  for (const DType dtype : {DType::F32, DType::BF16})
    for (const Dims& d : kShapes) {
      SCOPED_TRACE(text(d, dtype));
      const Tensor x = columns(d, dtype);
      EXPECT_TRUE(right(text(d, dtype) + "return softmax(f32(x), axis=1)\n", {x}));
      EXPECT_TRUE(right(text(d, dtype) + "return var(f32(x), axis=1), mean(f32(x), axis=1)\n", {x}));
    }
}

TEST(Columns, ResultsOfColumnsBesideElements) {
  NEEDS_LLVM();
  for (const Dims& d : kShapes) {
    if (d[0] == 0) continue;
    SCOPED_TRACE(text(d));
    const Tensor x = columns(d, DType::F32);
    EXPECT_TRUE(right(
        text(d) + "m = max(x, axis=1, keepdims=True)\nreturn x - m, m, argmax(x, axis=1), min(x - m, axis=1)\n", {x}));
    EXPECT_TRUE(right(text(d) + "a = any(x > 2, axis=1, keepdims=True)\nreturn where(a, x, -x), a\n", {x}));
  }
}

// Passes that go along rows of a tile: whole tiles, one cut short, one that is less than a vector;
// columns that are summed in blocks.
TEST(Columns, PassesOverRowsOfATile) {
  NEEDS_LLVM();
  for (const Dims& d :
       {Dims{2, 40, 512}, Dims{3, 17, 300}, Dims{1, 700, 261}, Dims{2, 1030, 70}, Dims{4, 1, 40}, Dims{2, 5, 3}}) {
    SCOPED_TRACE(text(d));
    const Tensor x = columns(d, DType::F32), h = columns(d, DType::BF16);
    for (const char* results :
         {"softmax(x, axis=1), logsumexp(x, axis=1)", "layernorm(x, axis=1), mean(x, axis=1), std(x, axis=1)",
          "x - max(x, axis=1, keepdims=True), argmax(x, axis=1), any(x > 2, axis=1)", "softmax(gelu(x), axis=1)",
          "log_softmax(x, axis=1) * 2, min(x, axis=1)", "x - mean(x, axis=(0, 1), keepdims=True)"})
      EXPECT_TRUE(right_as({.tile = 256}, text(d) + "return " + results + "\n", {x}));
    EXPECT_TRUE(right_as({.tile = 256}, text(d, DType::BF16) + "return softmax(f32(x), axis=1)\n", {h}));
  }
}

// Lanes beyond the last column read 0 from scratch, and a processor stops where an integer is
// divided by that.
TEST(Columns, IntegersOfATileAreDividedInItsColumnsAlone) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::U64, {127, 31}, 3);
  EXPECT_TRUE(right_as({.tile = 256}, "input x: u64[127, B]\nv = sum(x, axis=0)\nreturn x // v, v\n", {x}));
  EXPECT_TRUE(right_as({.tile = 256}, "input x: u64[127, B]\nv = max(x, axis=0)\nreturn x % (v // 2), v\n", {x}));
}

// Functions of what all rows of a tile share, once for a column: of an array, of a number of the
// column, and beside divisions whose divisors they might be.
TEST(Columns, WhatRowsShareOnce) {
  NEEDS_LLVM();
  for (const Dims& d : {Dims{2, 21, 512}, Dims{3, 4, 300}, Dims{1, 700, 261}, Dims{2, 5, 3}}) {
    const std::string in = text(d) + fmt::format("input k: i64[{0}, {2}]\ninput w: bf16[{2}]\n", d[0], d[1], d[2]);
    SCOPED_TRACE(in);
    const Tensor x = columns(d, DType::F32), k = noise(DType::I64, {d[0], d[2]}, 13),
                 w = noise(DType::BF16, {d[2]}, 14);
    for (const char* results :
         {"-sum(where(arange(x.shape[1])[None, :, None] == (k % 21)[:, None], log_softmax(x, axis=1), 0), axis=1)",
          "sum(x * exp(f32(w) * 0.1), axis=1)", "softmax(x + sqrt(abs(f32(w))), axis=1)",
          "x - max(x * cos(f32(arange(x.shape[2]))), axis=1, keepdims=True)",
          "sum(i64(x > 0) * 7 // (k % 5 + 6)[:, None], axis=1), max(x * 2, axis=1)"})
      EXPECT_TRUE(right_as({.tile = 256}, in + "return " + results + "\n", {x, k, w}));
  }
}

// Tall columns, whose rows are split over the grid: any number of columns, also one short of a
// tile.
TEST(Columns, TallOnesInParts) {
  NEEDS_LLVM();
  for (const Dims& d :
       {Dims{1, 70001, 3}, Dims{1, 4096, 128}, Dims{2, 3001, 37}, Dims{3, 600, 132}, Dims{1, 100003, 1}}) {
    SCOPED_TRACE(text(d));
    const Tensor x = noise(DType::F32, d, 5), h = noise(DType::BF16, d, 6), n = noise(DType::I8, d, 7);
    EXPECT_TRUE(right(text(d) + "return sum(x, axis=1), max(abs(x), axis=1)\n", {x}));
    EXPECT_TRUE(right(text(d) + "return sum(x, axis=(0, 1)) * 2, argmin(x, axis=1)\n", {x}));
    EXPECT_TRUE(right(text(d, DType::BF16) + "return mean(f32(x) * f32(x), axis=1), any(x > 3, axis=1)\n", {h}));
    EXPECT_TRUE(right(text(d, DType::I8) + "return sum(i32(x), axis=1), argmax(x, axis=1), min(x, axis=1)\n", {n}));
  }
}

// Columns of which the workgroups of a cluster hold the rows between passes: even and odd rows,
// tiles cut short, clusters of 2, 4 and 8 workgroups, bytes and positions that they hand over.
TEST(Columns, TallOnesThatWorkgroupsShare) {
  NEEDS_LLVM();
  for (const Dims& d : {Dims{1, 5000, 70}, Dims{1, 8192, 32}, Dims{2, 1100, 131}, Dims{3, 770, 33}}) {
    SCOPED_TRACE(text(d));
    const Tensor x = columns(d, DType::F32), h = columns(d, DType::BF16), n = noise(DType::I8, d, 7);
    EXPECT_TRUE(right(text(d) + "return softmax(x, axis=1)\n", {x}));
    EXPECT_TRUE(right(
        text(d) + "m = max(x, axis=1, keepdims=True)\nreturn x - m, m, argmax(x, axis=1), min(x - m, axis=1)\n", {x}));
    EXPECT_TRUE(right(text(d) + "a = any(x > 2, axis=1, keepdims=True)\nreturn where(a, x, -x), a\n", {x}));
    EXPECT_TRUE(right(text(d, DType::BF16) + "return layernorm(f32(x), axis=1)\n", {h}));
    EXPECT_TRUE(right(text(d, DType::I8) + "return x - min(x, axis=1, keepdims=True), std(f32(x), axis=1)\n", {n}));
  }
}

TEST(Columns, SizesThatAreSymbols) {
  NEEDS_LLVM();
  std::vector<std::vector<TensorView>> calls;
  std::vector<Tensor> keep;
  for (const Dims& d : {Dims{3, 64, 96}, Dims{3, 64, 97}, Dims{1, 100, 4}, Dims{2, 1, 33}, Dims{2, 80, 1024}})
    keep.push_back(noise(DType::F32, d, 3));
  for (const Tensor& t : keep) calls.push_back({t});
  EXPECT_TRUE(right("input x: f32[A, B, C]\nreturn softmax(x, axis=1)\n", calls));
  EXPECT_TRUE(right("input x: f32[A, B, C]\nreturn x - mean(x, axis=(0, 1), keepdims=True)\n", calls));
}

TEST(Columns, RowsOfSeveralAxes) {
  NEEDS_LLVM();
  for (const Dims& d : {Dims{2, 4, 6, 50}, Dims{3, 5, 7, 9}, Dims{2, 3, 64, 64}, Dims{1, 8, 1, 33}}) {
    const std::string in = fmt::format("input x: f32[{},{},{},{}]\ninput w: f32[{}]\n", d[0], d[1], d[2], d[3], d[1]);
    const Tensor x = noise(DType::F32, d, 11), w = noise(DType::F32, {d[1]}, 12);
    SCOPED_TRACE(in);
    for (const char* axes : {"(1, 2, 3)", "(0, 2, 3)", "(2, 3)", "(0, 1)", "(0, 3)"})
      EXPECT_TRUE(right(in + fmt::format("m = mean(x, axis={0}, keepdims=True)\nv = var(x, axis={0}, keepdims=True)\n"
                                         "return (x - m) * rsqrt(v + 1e-5) * w[:, None, None]\n",
                                         axes),
                        {x, w}));
  }
}

TEST(Columns, RangesOfEqualLengthsSideBySide) {
  NEEDS_LLVM();
  for (const Dims& d : {Dims{3, 5, 128}, Dims{2, 3, 256}, Dims{64, 6, 64}}) {
    const std::string in = text(d) + fmt::format("input c: f32[{}, {}]\n", d[1], d[2] / 2);
    const Tensor x = noise(DType::F32, d, 21), c = noise(DType::F32, {d[1], d[2] / 2}, 22);
    const std::string halves = fmt::format("a = x[..., :{0}]\nb = x[..., {0}:]\n", d[2] / 2);
    EXPECT_TRUE(right(in + halves + "return concat((a * c - b, b * c + a), axis=-1)\n", {x, c}));
    EXPECT_TRUE(right(in + halves + "return concat((a * c, b, a, b - c), axis=-1) * 2, a + b\n", {x, c}));
    EXPECT_TRUE(right(in + halves + "return concat((a * c, b), axis=0)\n", {x, c}));
    EXPECT_TRUE(right(in + halves + "return concat((a * c, b[:, :, ::-1]), axis=1)[:, ::-1]\n", {x, c}));
  }
}

TEST(Columns, PairsOfPoints) {
  NEEDS_LLVM();
  for (const int k : {1, 2, 3, 8, 16, 33, 64}) {
    const std::string in = fmt::format("input x: f32[57, {0}]\ninput y: f32[130, {0}]\n", k);
    const Tensor x = noise(DType::F32, {57, k}, 31), y = noise(DType::F32, {130, k}, 32);
    SCOPED_TRACE(in);
    EXPECT_TRUE(right(in + "d = x[:, None, :] - y[None, :, :]\nreturn sqrt(sum(d * d, axis=-1))\n", {x, y}));
    EXPECT_TRUE(
        right(in + "d = x[:, None, :] - y[None, :, :]\nreturn argmin(sum(abs(d), axis=-1), axis=-1)\n", {x, y}));
    EXPECT_TRUE(right(
        in + "return max(x[:, None, :] * y[None, :, :], axis=2), sum(sum(x[:, None] * y[None], axis=2), axis=0)\n",
        {x, y}));
  }
}

// Reductions of what two arrays compute together, over both of their axes: no operand runs through
// these as through one.
TEST(Columns, AllPairs) {
  NEEDS_LLVM();
  for (const Dims& d :
       {Dims{300, 400}, Dims{1, 70000}, Dims{70000, 1}, Dims{3, 50000}, Dims{50001, 3}, Dims{257, 263}}) {
    const std::string in = fmt::format("input x: f32[{}]\ninput y: f32[{}]\nd = x[:, None] - y[None, :]\n", d[0], d[1]);
    const Tensor x = noise(DType::F32, {d[0]}, 41), y = noise(DType::F32, {d[1]}, 42);
    SCOPED_TRACE(in);
    EXPECT_TRUE(right(in + "return max(d), argmin(d.reshape(-1))\n", {x, y}));
    EXPECT_TRUE(right(in + "return sum(exp(-d * d))\n", {x, y}));
    EXPECT_TRUE(right(in + "return max(d, axis=1), argmax(d, axis=0)\n", {x, y}));
  }
  const std::string in = "input x: f32[3, 200]\ninput y: f32[3, 190]\nd = x[:, :, None] * y[:, None, :]\n";
  const Tensor x = noise(DType::F32, {3, 200}, 43), y = noise(DType::F32, {3, 190}, 44);
  EXPECT_TRUE(right(in + "return sum(d, axis=(1, 2)), max(d, axis=(0, 2)), min(d, axis=(0, 1)), max(d)\n", {x, y}));
  const Tensor z = noise(DType::F32, {40, 50, 60}, 45);
  EXPECT_TRUE(
      right("input x: f32[40, 50, 60]\ny = x[1:-1, 1:-1, 1:-1]\nreturn sum(y), max(y, axis=(0, 1)), "
            "sum(y, axis=(1, 2)), argmax(y.reshape(-1))\n",
            {z}));
}

// More than the caches hold, in order and from rows that are apart, with NaN, -inf and -0 in some.
TEST(Columns, LargerThanTheCaches) {
  NEEDS_LLVM();
  for (const auto& [dtype, columns] :
       {std::pair{DType::F32, 257}, {DType::F32, 512}, {DType::BF16, 1999}, {DType::U8, 2047}}) {
    const int64_t rows = (9 << 20) / (columns * size_of(dtype)) + 3;
    const Tensor x = noise(dtype, {rows, columns}, 3);
    if (is_float(dtype))
      for (const auto& [at, value] : {std::pair{0, kNan}, {1, -kInf}, {2, -0.}})
        store_scalar(Scalar::of_float(dtype, value),
                     static_cast<char*>(x.data) + ((rows - 2) * columns + at) * size_of(dtype));
    for (const char* sums : {"sum(x, axis=0), max(x, axis=0)", "sum(x[:, 1:], axis=0)", "sum(x[::-1], axis=0)"}) {
      const std::string program = fmt::format("input x: {}[N, {}]\nreturn {}\n", name_of(dtype), columns, sums);
      EXPECT_TRUE(right(program, {x})) << program;
    }
  }
}

}  // namespace
}  // namespace smelt::testing

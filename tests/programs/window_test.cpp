// Windows against loops written out by hand, and against the reference.
#include <fmt/format.h>

#include <gmock/gmock.h>
#include <cmath>

#include "run.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"

namespace smelt::testing {
namespace {

using ::testing::HasSubstr;

double at(const Tensor& t, const Dims& index) {
  int64_t flat = 0;
  for (size_t d = 0; d < index.size(); ++d) flat = flat * t.dims[d] + index[d];
  return number(t, flat);
}

TEST(Windows, ConvolutionIsTheLoopThatEverybodyKnows) {
  NEEDS_LLVM();
  constexpr int64_t kN = 2, kC = 4, kO = 6, kH = 9, kW = 37, kStride = 2, kPad = 1, kDilation = 2, kGroups = 2;
  const Tensor x = noise(DType::F64, {kN, kC, kH, kW}), w = noise(DType::F64, {kO, kC / kGroups, 3, 3}, 2),
               b = noise(DType::F64, {kO}, 3);
  const Tensor got =
      run("input x: f64[2, 4, H, W]\ninput w: f64[6, 2, 3, 3]\ninput b: f64[6]\n"
          "return conv(x, w, b, stride=2, padding=1, dilation=2, groups=2)\n",
          {x, w, b});
  const int64_t rows = (kH + 2 * kPad - 2 * kDilation - 1) / kStride + 1, columns = (kW + 2 - 4 - 1) / kStride + 1;
  ASSERT_EQ(got.dims, (Dims{kN, kO, rows, columns}));
  for (int64_t n = 0; n < kN; ++n)
    for (int64_t o = 0; o < kO; ++o)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          double sum = number(b, o);
          for (int64_t c = 0; c < kC / kGroups; ++c)
            for (int64_t p = 0; p < 3; ++p)
              for (int64_t q = 0; q < 3; ++q) {
                const int64_t h = i * kStride - kPad + p * kDilation, v = j * kStride - kPad + q * kDilation;
                if (h < 0 || h >= kH || v < 0 || v >= kW) continue;
                sum += at(x, {n, o / (kO / kGroups) * (kC / kGroups) + c, h, v}) * at(w, {o, c, p, q});
              }
          ASSERT_NEAR(at(got, {n, o, i, j}), sum, 1e-12) << n << " " << o << " " << i << " " << j;
        }
}

TEST(Windows, PadsContinueAsNumPyDoes) {
  NEEDS_LLVM();
  const Tensor x = vector(DType::F32, {1, 2, 3, 4});
  const auto padded = [&](const char* mode) {
    return numbers(run(fmt::format("input x: f32[N]\nreturn pad(x, (3, 2), mode='{}')\n", mode), {x}));
  };
  EXPECT_EQ(padded("edge"), (std::vector<double>{1, 1, 1, 1, 2, 3, 4, 4, 4}));
  EXPECT_EQ(padded("reflect"), (std::vector<double>{4, 3, 2, 1, 2, 3, 4, 3, 2}));
  EXPECT_EQ(padded("symmetric"), (std::vector<double>{3, 2, 1, 1, 2, 3, 4, 4, 3}));
  EXPECT_EQ(padded("wrap"), (std::vector<double>{2, 3, 4, 1, 2, 3, 4, 1, 2}));
  EXPECT_EQ(padded("constant"), (std::vector<double>{0, 0, 0, 1, 2, 3, 4, 0, 0}));
}

TEST(Windows, AWrapMayGoAroundMoreThanOnce) {
  NEEDS_LLVM();
  const Tensor x = vector(DType::F32, {1, 2});
  EXPECT_EQ(numbers(run("input x: f32[N]\nreturn pad(x, (5, 3), mode='wrap')\n", {x})),
            (std::vector<double>{2, 1, 2, 1, 2, 1, 2, 1, 2, 1}));
}

TEST(Windows, NanAndNegativeZeroAreWhatReductionsSay) {
  NEEDS_LLVM();
  const Tensor x = vector(DType::F32, {1, kNan, 3, -0.0, -0.0, -0.0, kInf, -kInf});
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[N]\nreturn max_pool(x, 2)\n", {x})), {kNan, 3, -0.0, kInf}));
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[N]\nreturn sum(window(x, 2, stride=2), axis=-1)\n", {x})),
                           {kNan, 3, 0.0, kNan}));
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[N]\nreturn prod(window(x, 1), axis=-1)\n", {x})), numbers(x)));
  EXPECT_TRUE(
      same_numbers(numbers(run("input x: f32[N]\nreturn argmax(window(x, 4, stride=4), axis=-1)\n", {x})), {1, 2}));
}

TEST(Windows, LongWindowsFindTheFirstOfEquals) {
  NEEDS_LLVM();
  std::vector<double> values(50, -kInf);
  const Tensor x = vector(DType::F32, values);
  EXPECT_TRUE(
      same_numbers(numbers(run("input x: f32[N]\nreturn argmax(window(x, 40, stride=5), axis=-1)\n", {x})), {0, 0, 0}));
  values[17] = values[21] = 5;
  EXPECT_TRUE(same_numbers(
      numbers(run("input x: f32[N]\nreturn argmax(window(x, 40, stride=5), axis=-1)\n", {vector(DType::F32, values)})),
      {17, 12, 7}));
}

TEST(Windows, OneKernelEach) {
  NEEDS_LLVM();
  const char* programs[] = {
      "input x: f32[B, 3, H, W]\ninput w: f32[8, 3, 3, 3]\ninput b: f32[8]\n"
      "return relu(conv(x, w, b, padding=1))\n",
      "input x: f32[B, C, H, W]\nreturn max_pool(relu(x), (2, 2))\n",
      "input x: f32[B, C, H, W]\nreturn avg_pool(x, (3, 3), stride=1, padding=1, count_padding=False)\n",
      "input x: f32[H, W]\ninput k: f32[5]\nreturn filter(x, k, mode='reflect')\n",
      "input x: f32[H, W]\ninput k: f32[3, 3]\nreturn layernorm(filter(x, k))\n",
      "input x: f32[B, 4, W]\ninput w: f32[4, 1, 7]\nreturn sum(conv(x, w, groups=4), axis=-1)\n",
  };
  for (const char* program : programs)
    EXPECT_EQ(compiled(program).plan().groups.size(), 1U)
        << program << print(compiled(program).graph(), compiled(program).plan());
}

TEST(Windows, ValuesThatCostMuchAreNotComputedForEveryWindow) {
  NEEDS_LLVM();
  EXPECT_EQ(compiled("input x: f32[2048, 2048]\ninput k: f32[5, 5]\nreturn filter(erf(x), k)\n").plan().groups.size(),
            2U);
}

TEST(Windows, OddOnesMatchTheReference) {
  NEEDS_LLVM();
  const Tensor image = noise(DType::F32, {13, 70}), bytes = noise(DType::U8, {5, 40}),
               half = noise(DType::F16, {2, 5, 19});
  EXPECT_TRUE(right("input x: f32[H, W]\nreturn max_pool(x, (3, 4), stride=(5, 7))\n", {image}));
  EXPECT_TRUE(right("input x: f32[H, W]\nreturn min_pool(x, (3, 3), stride=1, padding=1, dilation=2)\n", {image}));
  EXPECT_TRUE(right("input x: f32[H, W]\nreturn window(x, (2, 3), axis=(1, 0), stride=(3, 2))\n", {image}));
  EXPECT_TRUE(right("input x: f32[H, W]\nreturn max(window(x, (13, 70)), axis=(-1, -2))\n", {image}));
  EXPECT_TRUE(right("input x: f32[H, W]\nreturn sum(window(x, (5, 60)), axis=(-1, -2)) * 2\n", {image}));
  EXPECT_TRUE(right("input x: u8[H, W]\nreturn max_pool(x, (2, 2), stride=1, padding=1)\n", {bytes}));
  EXPECT_TRUE(
      right("input x: u8[H, W]\nreturn avg_pool(f32(x), (3, 3), stride=1, padding=1, count_padding=False)\n", {bytes}));
  EXPECT_TRUE(right("input x: f16[B, C, W]\nreturn sum(window(x, 3), axis=-1)\n", {half}));
  EXPECT_TRUE(
      right("input x: f16[B, 5, W]\ninput w: f16[3, 5, 3]\nreturn conv(x, w)\n", {half, noise(DType::F16, {3, 5, 3})}));
  EXPECT_TRUE(right("input x: f32[H, W]\nreturn max_pool(max_pool(x, (3, 3), stride=1), (3, 3), stride=2)\n", {image}));
  EXPECT_TRUE(right("input x: f32[H, W]\nreturn softmax(avg_pool(x, (2, 2)), axis=-1)\n", {image}));
  EXPECT_TRUE(right("input x: f32[H, W]\nreturn avg_pool(softmax(x, axis=-1), (1, 5))\n", {image}));
}

TEST(Windows, LanesAFewElementsApart) {
  NEEDS_LLVM();
  for (const char* type : {"f32", "f16", "i8"}) {
    const DType t = *dtype_from_name(type);
    for (const int64_t columns : {129, 390}) {
      const Tensor x = noise(t, {3, columns});
      for (const char* view :
           {"x[:, ::2]", "x[:, 1::3]", "x[:, 3::4]", "x[:, ::5]", "max(window(x, 3, stride=3), axis=-1)"})
        EXPECT_TRUE(right(fmt::format("input x: {}[H, W]\nreturn {}\n", type, view), {x}));
    }
  }
  const Tensor row = noise(DType::F32, {2, 700});
  for (const char* mode : {"edge", "reflect", "symmetric", "wrap"})
    for (const char* taken : {"", "[:, ::2]", "[:, 1::3]", "[:, ::-1]"})
      EXPECT_TRUE(right(
          fmt::format("input x: f32[H, W]\nreturn (pad(x, ((0, 0), (5, 9)), mode='{}') * 2){}\n", mode, taken), {row}));
}

// Windows of many elements that move by a few: lanes share what several elements read.
TEST(Windows, LongOnesThatMoveBySteps) {
  NEEDS_LLVM();
  for (const char* type : {"f32", "f64", "bf16", "u8"}) {
    const DType t = *dtype_from_name(type);
    for (const int64_t columns : {67, 200, 1311})
      for (const int64_t step : {2, 3, 4, 7}) {
        const Tensor x = noise(t, {3, columns}, static_cast<uint64_t>(step)), h = noise(t, {65}, 9);
        if (t == DType::F32) static_cast<float*>(x.data)[70] = std::numeric_limits<float>::quiet_NaN();
        for (const char* made : {"sum(window(x, 65, stride={}) * h, axis=-1)", "max(window(x, 29, stride={}), axis=-1)",
                                 "sum(window(pad(x, ((0, 0), (7, 9))), 65, stride={}) * h[::-1], axis=-1)"})
          EXPECT_TRUE(right(fmt::format("input x: {0}[3, {1}]\ninput h: {0}[65]\nreturn ", type, columns) +
                                fmt::format(fmt::runtime(made), step) + "\n",
                            {x, h}))
              << made << step << type;
      }
  }
}

// Windows of many elements that begin far from each other are rows.
TEST(Windows, LongOnesFarApart) {
  NEEDS_LLVM();
  for (const char* type : {"f32", "f64", "f16", "i16"}) {
    const DType t = *dtype_from_name(type);
    for (const int64_t columns : {64, 131, 700})
      for (const int64_t step : {33, 64, 129}) {
        const Tensor x = noise(t, {3, columns}, static_cast<uint64_t>(step)), h = noise(t, {64}, 9);
        if (t == DType::F32) static_cast<float*>(x.data)[40] = std::numeric_limits<float>::quiet_NaN();
        EXPECT_TRUE(right(fmt::format("input x: {0}[3, {1}]\ninput h: {0}[64]\nf = window(x, 64, stride={2})\n"
                                      "return sum(f * h, axis=-1), max(f, axis=-1), argmin(f + h, axis=-1) * 2\n",
                                      type, columns, step),
                          {x, h}))
            << columns << step << type;
      }
  }
}

// Overlapping or not, with elements that no window sees: a window of NaN, equal elements, -0.
TEST(Windows, GradientsOfPools) {
  NEEDS_LLVM();
  struct Pool {
    int64_t size, stride, padding;
  };
  const int64_t rows = 19, columns = 67;
  for (const Pool& pool :
       {Pool{2, 1, 0}, {3, 1, 1}, {3, 2, 1}, {4, 3, 0}, {5, 2, 2}, {5, 4, 0}, {6, 5, 0}, {7, 3, 3}, {9, 4, 0}}) {
    const auto places = [&](int64_t extent) { return (extent + 2 * pool.padding - pool.size) / pool.stride + 1; };
    const Tensor x = noise(DType::F32, {2, rows, columns}, 3);
    const Tensor g = noise(DType::F32, {2, places(rows), places(columns)}, 4);
    float* elements = static_cast<float*>(x.data);
    elements[5] = std::numeric_limits<float>::quiet_NaN();
    for (const int64_t i : {200, 201, 267, 268}) elements[i] = 7;
    for (const int64_t i : {400, 402}) elements[i] = -0.0F;
    for (const char* kind : {"max", "avg"})
      EXPECT_TRUE(
          right(fmt::format("input x: f32[2, {0}, {1}]\ninput g: f32[2, {2}, {3}]\n"
                            "return vjp({4}_pool(x, ({5}, {5}), stride={6}, padding={7}), x, g)\n",
                            rows, columns, places(rows), places(columns), kind, pool.size, pool.stride, pool.padding),
                {x, g}))
          << kind << pool.size << pool.stride;
  }
}

// What a window has in common, beside each of its elements.
TEST(Windows, ElementsBesideTheirWindows) {
  NEEDS_LLVM();
  for (const int64_t size : {3, 8, 25, 40})
    for (const char* result : {"softmax(f, axis=-1)", "f / sqrt(sum(f * f, axis=-1, keepdims=True) + 1)",
                               "sum(where(f == max(f, axis=-1, keepdims=True), f, 0), axis=-1)",
                               "f[:, :, :2] - mean(f, axis=-1, keepdims=True)"}) {
      const Tensor x = noise(DType::F32, {3, 131}, static_cast<uint64_t>(size));
      static_cast<float*>(x.data)[70] = std::numeric_limits<float>::infinity();
      EXPECT_TRUE(right(fmt::format("input x: f32[3, 131]\nf = window(x, {})\nreturn {}\n", size, result), {x}))
          << size << result;
    }
}

TEST(Windows, SizesOfACallAreChecked) {
  NEEDS_LLVM();
  const Executable pool = compiled("input x: f32[N]\nreturn max_pool(x, 5)\n");
  try {
    pool.run({noise(DType::F32, {4})});
    FAIL() << "a window of 5 in 4 elements";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("a window of 5 does not fit"), std::string::npos) << e.what();
  }
  EXPECT_EQ(message_of(
                [&] { compiled("input x: f32[N]\nreturn pad(x, 3, mode='reflect')\n").run({noise(DType::F32, {3})}); }),
            "axis 0 of f32[N] cannot be padded by 3 in mode 'reflect': at most N - 1 can be mirrored; here N is 3 "
            "(axis 0 of input x)");
  EXPECT_THAT(
      message_of([&] { compiled("input x: f32[N]\nreturn pad(x, 3, mode='edge')\n").run({noise(DType::F32, {0})}); }),
      HasSubstr("axis 0 of f32[N] has no elements to pad with in mode 'edge'"));
}

}  // namespace
}  // namespace smelt::testing

// Arrays that meet, or part, along a short last axis: pairs, colours, repeated pixels.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string_view>

#include "run.hpp"

namespace smelt::testing {
namespace {

constexpr DType kTypes[] = {DType::F32, DType::F64, DType::F16, DType::BF16,
                            DType::I8,  DType::U16, DType::I64, DType::Bool};

// A program in which every such letter is replaced.
std::string with(std::string program, char letter, const std::string& by) {
  for (size_t at; (at = program.find(letter)) != std::string::npos;) program.replace(at, 1, by);
  return program;
}

TEST(Interleave, ArraysSideBySide) {
  NEEDS_LLVM();
  const char* two = "input x: $[N]\ninput y: $[N]\nreturn stack((x, y), axis=-1)\n";
  const char* three = "input x: $[N]\ninput y: $[N]\nreturn stack((x, y, x), axis=-1)\n";
  const char* seven = "input x: $[N]\ninput y: $[N]\nreturn stack((x, y, x, x, y, y, x), axis=1)[::-1]\n";
  for (const DType dtype : kTypes)
    for (std::string text : {two, three, seven}) {
      text = with(text, '$', std::string(name_of(dtype)));
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

// More results side by side than lanes are read between: 9 to 16, of any factors, and 17.
TEST(Interleave, ManySideBySide) {
  NEEDS_LLVM();
  for (const DType dtype : {DType::F32, DType::BF16, DType::I8, DType::I64})
    for (const int count : {9, 10, 13, 16, 17}) {
      std::string parts;
      for (int part = 0; part < count; ++part) parts += part % 3 ? "x, " : "y, ";
      const std::string text =
          fmt::format("input x: {0}[N]\ninput y: {0}[N]\nreturn stack(({1}), axis=-1)\n", name_of(dtype), parts);
      std::vector<std::vector<TensorView>> calls;
      std::vector<Tensor> held;
      for (const int64_t n : {0, 1, 33, 64, 331}) {
        held.push_back(noise(dtype, {n}, static_cast<uint64_t>(n) + 1));
        held.push_back(noise(dtype, {n}, static_cast<uint64_t>(n) + 2));
        calls.push_back({held[held.size() - 2], held.back()});
      }
      EXPECT_TRUE(right(text, calls)) << text;
    }
}

// What the results share is computed once for all of them.
TEST(Interleave, MatricesOfAngles) {
  NEEDS_LLVM();
  const char* rotations =
      "input e: f32[N, 3]\ns = sin(e)\nc = cos(e)\na = s[:, 0]\nb = s[:, 1]\nx = c[:, 0]\ny = c[:, 1]\n"
      "return stack((y, a * b, a - x * b, x * b + a, y * b, a * b, -b, a * y, x * y), axis=-1).reshape(N, 3, 3)\n";
  const char* joined =
      "input e: f32[N, 3]\nt = e[:, 0] * 2\n"
      "return concat((e, exp(e[:, ::-1]), stack((t, t + 1, t - e[:, 2]), axis=-1), e[:, 1:] * t[:, None]), axis=1)\n";
  for (const int64_t n : {1, 40, 333, 5000}) {
    Tensor e = noise(DType::F32, {n, 3}, 31);
    static_cast<float*>(e.data)[n] = std::numeric_limits<float>::quiet_NaN();
    for (const char* text : {rotations, joined}) EXPECT_TRUE(right(text, {e}));
  }
}

// Outputs with one element and with several for each point.
TEST(Interleave, OutputsOfSeveralShapes) {
  NEEDS_LLVM();
  for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::U8, DType::I64})
    for (const char* results :
         {"x * 2, x[:, 0], x[:, 1] < x[:, 2]", "x.T, x[:, 0] + x[:, 1], stack((x[:, 2], x[:, 1]), axis=-1)",
          "x, stack((x[:, 0], x[:, 1], x[:, 0], x[:, 2], x[:, 1]), axis=0)",
          "x[:, :2], maximum(x[:, 0], 0), (x + 1).reshape(N, 1, 3)"}) {
      const std::string text = fmt::format("input x: {}[N, 3]\nreturn {}\n", name_of(dtype), results);
      std::vector<std::vector<TensorView>> calls;
      std::vector<Tensor> held;
      for (const int64_t n : {0, 1, 33, 500, 5000}) held.push_back(noise(dtype, {n, 3}, static_cast<uint64_t>(n) + 3));
      for (const Tensor& x : held) calls.push_back({x});
      EXPECT_TRUE(right(text, calls)) << text;
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

// Reads by lanes at a distance: sums, extremes and windows of pairs, triples and rows of eight,
// alone and next to each other.
// Rows that are there several times, whose ends no vector crosses: of any width, and joined with
// others.
TEST(Interleave, PixelsRepeatedBothWays) {
  NEEDS_LLVM();
  for (const DType dtype : {DType::F32, DType::U8, DType::BF16})
    for (const int64_t width : {91, 45, 23, 16, 9, 1})
      for (const int times : {2, 3, 11}) {
        const std::string in = fmt::format("input x: {}[3, 2, 11, {}]\ninput y: {}[3, 1, {}, {}]\n", name_of(dtype),
                                           width, name_of(dtype), 11 * times, width * times);
        const Tensor x = noise(dtype, {3, 2, 11, width}, 5), y = noise(dtype, {3, 1, 11 * times, width * times}, 6);
        const std::string up = fmt::format("u = repeat(repeat(x, {0}, axis=2), {0}, axis=3)\n", times);
        EXPECT_TRUE(right(in + up + "return u\n", {x, y})) << in;
        EXPECT_TRUE(right(in + up + "return concat((u, y), axis=1)\n", {x, y})) << in;
      }
}

TEST(Interleave, ReadsAtADistance) {
  NEEDS_LLVM();
  const char* sums =
      "input x: $[N, M]\nreturn sum(x[:, ::2], axis=1) + sum(x[:, 1::2], axis=1), max(x[:, 1::3], axis=1)\n";
  const char* windows =
      "input x: $[N, M]\nreturn max_pool(x, (1, 2)), max_pool(x, (2, 3), stride=2), min(window(x, 5, stride=4, "
      "axis=1), axis=-1)\n";
  const char* alone =
      "input x: $[N, M]\ny = x.reshape(N, M // 3, 3)\nreturn y[..., 0] + y[..., 2][:, ::-1], y[..., 1]\n";
  for (const DType dtype : {DType::F32, DType::F64, DType::BF16, DType::I8})
    for (const std::string given : {sums, windows, alone}) {
      std::string text = given;
      text.replace(text.find('$'), 1, name_of(dtype));
      for (const int64_t m : {6, 66, 1026})
        for (const int64_t n : {2, 9})
          EXPECT_TRUE(right(text, {noise(dtype, {n, m}, static_cast<uint64_t>(m))})) << text;
    }
}

// Rows and columns by turns, from arrays, from neighbours' means, from padded ones, of even and odd
// numbers of both, and from the second on.
TEST(Interleave, RowsAndColumnsByTurns) {
  NEEDS_LLVM();
  const char* twice =
      "input x: $[N, M]\nr = stack((x[:-1], x[1:] + x[:-1]), axis=1).reshape(2*N - 2, M)\n"
      "y = stack((r[:, :-1], r[:, :-1] + r[:, 1:]), axis=-1).reshape(2*N - 2, 2*M - 2)\nreturn y, y[1:, 1:]\n";
  const char* padded =
      "input x: $[N, M]\np = pad(x, 1)\nr = stack((p[:-1], p[:-1] + p[1:]), axis=1).reshape(2*N + 2, M + 2)\n"
      "return stack((r[:, :-1], r[:, :-1] + r[:, 1:]), axis=-1).reshape(2*N + 2, 2*M + 2)[1:, 1:]\n";
  const char* apart =
      "input x: $[N, M]\nr = stack((x, x + x), axis=1)\n"
      "return stack((r[:, :, :-1], r[:, :, :-1] + r[:, :, 1:]), axis=-1).reshape(2*N, 2*M - 2)\n";
  const char* thirds =
      "input x: $[N, M]\nreturn stack((x, x * 2, maximum(x, 0)), axis=1).reshape(3*N, M)[1:-1] * 2, "
      "stack((x, x, x * 3, x), axis=1).reshape(4*N, M)[3:, ::-1]\n";
  const char* batches =
      "input x: $[3, N, M]\nr = stack((x, x + x), axis=2).reshape(3, 2*N, M)\n"
      "return stack((r, r * 3), axis=-1).reshape(3, 2*N, 2*M), r[:, 1:]\n";
  for (const DType dtype : {DType::F32, DType::F64, DType::BF16, DType::U8, DType::I64})
    for (std::string text : {twice, padded, apart, thirds, batches}) {
      const bool batch = text.find("3, N") != std::string::npos;
      text = with(text, '$', std::string(name_of(dtype)));
      for (const auto& [n, m] :
           {std::pair<int64_t, int64_t>{1, 1}, {2, 3}, {5, 64}, {33, 97}, {64, 130}, {7, 515}, {3, 0}}) {
        if (m == 0 && !batch) continue;
        std::string sized = text;
        for (const auto& [name, size] : {std::pair{'N', n}, {'M', m}}) sized = with(sized, name, std::to_string(size));
        const Tensor x = noise(dtype, batch ? Dims{3, n, m} : Dims{n, m}, static_cast<uint64_t>(n) + 5);
        if (dtype == DType::F32 && x.count() > 2) {
          static_cast<float*>(x.data)[1] = std::numeric_limits<float>::quiet_NaN();
          static_cast<float*>(x.data)[2] = -0.0F;
        }
        EXPECT_TRUE(right(sized, {x}));
      }
    }
}

// Zeros between the elements of rows and columns, as gradients of windows that move by steps have.
TEST(Interleave, ZerosInserted) {
  NEEDS_LLVM();
  const char* both =
      "input x: $[3, N, M]\nu = pad(x.reshape(3, N, 1, M, 1), ((0, 0), (0, 0), (0, 1), (0, 0), (0, 1)))"
      ".reshape(3, 2*N, 2*M)\nreturn u, sum(window(pad(u, ((0, 0), (2, 1), (1, 2))), (3, 3)), axis=(-2, -1))\n";
  const char* odd =
      "input x: $[3, N, M]\nu = pad(x.reshape(3, N, M, 1), ((0, 0), (0, 0), (0, 0), (0, 2))).reshape(3, N, 3*M)\n"
      "return u[:, :, 1:] * 2, pad(u, ((0, 0), (0, 0), (4, 5)))[:, ::-1], max(window(u, 3), axis=-1)\n";
  const char* gradient =
      "input x: $[3, N, M]\nreturn vjp(avg_pool(x, (1, 3), stride=(1, 2), padding=(0, 1)), x, x[:, :, :(M + 1) // "
      "2])\n";
  for (const DType dtype : {DType::F32, DType::F64, DType::BF16, DType::I16})
    for (std::string text : {both, odd, gradient}) {
      if (!is_float(dtype) && text == gradient) continue;
      text = with(text, '$', std::string(name_of(dtype)));
      for (const auto& [n, m] : {std::pair<int64_t, int64_t>{1, 2}, {2, 3}, {5, 64}, {9, 97}, {4, 130}, {3, 275}}) {
        std::string sized = text;
        for (const auto& [name, size] : {std::pair{'N', n}, {'M', m}}) sized = with(sized, name, std::to_string(size));
        const Tensor x = noise(dtype, {3, n, m}, static_cast<uint64_t>(m) + 5);
        if (dtype == DType::F32) {
          static_cast<float*>(x.data)[1] = std::numeric_limits<float>::quiet_NaN();
          static_cast<float*>(x.data)[2] = -0.0F;
        }
        EXPECT_TRUE(right(sized, {x})) << sized;
      }
    }
}

// Reductions along the axis that arrays are joined along.
TEST(Interleave, JoinedAndReduced) {
  NEEDS_LLVM();
  for (const DType t : {DType::F32, DType::F64, DType::F16, DType::BF16, DType::I8, DType::I64}) {
    const Tensor x = noise(t, {7, 37}, 3), y = noise(t, {7, 37}, 4);
    if (t == DType::F32) {
      static_cast<float*>(x.data)[3] = std::numeric_limits<float>::quiet_NaN();
      for (const Tensor* zeros : {&x, &y}) static_cast<float*>(zeros->data)[9] = -0.0F;
    }
    for (const char* made :
         {"sum(stack((x, y, x)), axis=0)", "sum(stack((x, y, x * y), axis=1), axis=1, keepdims=True)",
          "prod(stack((x, y), axis=-1), axis=-1)", "max(stack((x, y, y * 2)), axis=0)",
          "min(abs(stack((x, y))), axis=0)", "any(stack((x > 0, y > x)), axis=0)", "all(stack((x > 0, y > x)), axis=0)",
          "argmax(stack((x, y)), axis=0)", "sum(stack((x, y)) * stack((y, y + x)), axis=0)",
          "sum(stack((x, y)), axis=0), max(stack((x, y)), axis=0)", "sum(square(stack((sum(x * x), sum(y), x[0, 0]))))",
          "sum(stack((x, y)), axis=1)", "sum(stack((x,)), axis=0)",
          "stack((x, y)) / (abs(sum(stack((x, y)), axis=0)) + 1)"}) {
      if (!is_float(t) && std::string_view(made).find('/') != std::string_view::npos) continue;
      EXPECT_TRUE(right(fmt::format("input x: {0}[7, M]\ninput y: {0}[7, M]\nreturn {1}\n", name_of(t), made), {x, y}))
          << name_of(t) << made;
    }
  }
}

// Arrays that are joined within a row, in the last pass over it.
TEST(Interleave, JoinedWithinRows) {
  NEEDS_LLVM();
  for (const char* type : {"f32", "f64", "bf16"})
    for (const int64_t half : {16, 24, 48, 65})
      for (const char* body :
           {"concat((n[:, :H] * c, n[:, H:] + c), axis=1)", "concat((n[:, H:] - c, n * 2, n[:, H:2*H - 1]), axis=1)",
            "concat((n[:, ::-1], n[:, 3:H - 2]), axis=1), n[:, 1:]"}) {
        std::string text = fmt::format(
            "input x: {0}[5, {1}]\ninput c: {0}[{2}]\nn = x / sqrt(sum(x * x, axis=1, keepdims=True))\nreturn {3}\n",
            type, 2 * half, half, body);
        for (size_t at; (at = text.find('H')) != std::string::npos;) text.replace(at, 1, std::to_string(half));
        const DType t = *dtype_from_name(type);
        const Tensor x = noise(t, {5, 2 * half}, 3), c = noise(t, {half}, 4);
        if (t == DType::F32) static_cast<float*>(x.data)[2 * half] = std::numeric_limits<float>::quiet_NaN();
        EXPECT_TRUE(right(text, {x, c})) << text;
      }
}

// The rows of a short last axis: what is stored of each is in whole vectors, and ends anywhere.
TEST(Interleave, NarrowRows) {
  NEEDS_LLVM();
  for (const int width : {2, 3, 4, 6, 8})
    for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::U8})
      for (const char* result : {"x / sqrt(sum(x * x, axis=1, keepdims=True))", "x - max(x, axis=1, keepdims=True)",
                                 "flip(x, axis=1) * sqrt(sum(x, axis=1))[:, None]", "cumsum(x, axis=1)"}) {
        const std::string text = fmt::format("input x: {}[N, {}]\nreturn {}\n", name_of(dtype), width, result);
        std::vector<std::vector<TensorView>> calls;
        std::vector<Tensor> held;
        for (const int64_t n : {0, 1, 33, 1000}) held.push_back(noise(dtype, {n, width}, static_cast<uint64_t>(n)));
        for (const Tensor& x : held) calls.push_back({x});
        if (dtype != DType::U8 || std::string_view(result).find("sqrt") == std::string_view::npos) {
          EXPECT_TRUE(right(text, calls)) << text;
        }
      }
}

// What is computed for each place of a short axis, and what differs from place to place.
TEST(Interleave, PairsThatAreComputed) {
  NEEDS_LLVM();
  const char* rotated =
      "input x: $[N, 32, 8]\ninput c: $[32, 4]\na = x[..., ::2]\nb = x[..., 1::2]\n"
      "return stack([a*c - b, b*c + a], axis=-1).reshape(N, 32, 8)\n";
  const char* alpha = "input x: $[N, 40, 3]\ninput c: $[40, 4]\nreturn concat([x, x[..., :1] + c[:, 1:2]], axis=-1)\n";
  const char* apart =
      "input x: $[N, 64]\ninput c: $[64]\ny = x.reshape(N // 2, 2, 64)\na = y[:, 0]\nb = y[:, 1]\n"
      "return stack([stack([a, b + c]), stack([b, a * c])])\n";
  for (const DType dtype : {DType::F32, DType::F16, DType::I32})
    for (std::string text : {rotated, alpha, apart}) {
      text = with(text, '$', std::string(name_of(dtype)));
      const bool first = text.find("32, 8") != std::string::npos, last = text.find("[N, 64]") != std::string::npos;
      for (const int64_t n : {2, 6, 40}) {
        const Shape x = first ? Shape{n, 32, 8} : last ? Shape{n, 64} : Shape{n, 40, 3};
        const Shape c = first ? Shape{32, 4} : last ? Shape{64} : Shape{40, 4};
        EXPECT_TRUE(right(text, {noise(dtype, evaluate(x, {}), 8), noise(dtype, evaluate(c, {}), 9)})) << text;
      }
    }
}

TEST(Interleave, ChosenByTheIndex) {
  NEEDS_LLVM();
  const char* shifted = "input x: u8[N, 40]\nreturn (repeat(x, 2, axis=1) >> u8(arange(80) % 2 * 4)) & 15\n";
  const char* chosen =
      "input x: i32[N, 40]\nreturn where(arange(4) % 2 == 0, x[..., None] // 3, x[..., None] * arange(4)).reshape(N, "
      "160)\n";
  const char* hashed =
      "input x: i64[N, 40]\nreturn x + arange(40) * 6364136223846793005 % 7 + (arange(40) * 2**40 >> 3)\n";
  for (const int64_t n : {1, 7, 64}) {
    EXPECT_TRUE(right(shifted, {noise(DType::U8, {n, 40}, 11)}));
    EXPECT_TRUE(right(chosen, {noise(DType::I32, {n, 40}, 12)}));
    EXPECT_TRUE(right(hashed, {noise(DType::I64, {n, 40}, 13)}));
  }
}

TEST(Interleave, PatternsOfIndices) {
  NEEDS_LLVM();
  for (const char* index :
       {"arange(24) ^ 1", "arange(24) // 3", "arange(24) ^ 3", "23 - (arange(24) ^ 2)", "(arange(24) + 1) % 4 + 20",
        "arange(24) // 2 * 2", "i32(arange(24)) ^ 5", "(arange(24) & 6) | 1"})
    for (const DType dtype : {DType::F32, DType::BF16, DType::I8}) {
      const std::string text =
          fmt::format("input x: {}[N, 24]\nreturn take(x, {}, axis=1) + x\n", name_of(dtype), index);
      for (const int64_t n : {1, 7, 100}) EXPECT_TRUE(right(text, {noise(dtype, {n, 24}, 10)})) << text;
    }
}

// Lanes so far apart that whole vectors would reach further than any lane.
TEST(Interleave, WindowsThatAreWrittenOut) {
  NEEDS_LLVM();
  EXPECT_TRUE(
      right("input x: f32[8, 7, 17, 4]\ninput w: f32[3, 3, 3]\ny = relu(filter(x, w, mode='wrap'))\n"
            "return min(window(y, (2, 4)), axis=(-2, -1)), y\n",
            {noise(DType::F32, {8, 7, 17, 4}, 14), noise(DType::F32, {3, 3, 3}, 15)}));
  EXPECT_TRUE(
      right("input x: i8[7, 2, 8, 4, 1]\ninput w: i8[5, 3, 2]\ny = filter(x, w, mode='wrap')\nreturn pad(y, 1), y\n",
            {noise(DType::I8, {7, 2, 8, 4, 1}, 16), noise(DType::I8, {5, 3, 2}, 17)}));
}

}  // namespace
}  // namespace smelt::testing

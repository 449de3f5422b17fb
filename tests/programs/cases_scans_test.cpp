// Scans: against the reference, and against loops written by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "generator_scan.hpp"
#include "run.hpp"

namespace smelt::testing {
namespace {

// Lengths around lanes, warps, workgroups and steps.
const std::vector<int64_t> kLengths{1,    2,    3,    7,    8,    15,   16,   17,    31,    32,    33,   63,   64,
                                    65,   127,  128,  129,  255,  257,  511,  512,   513,   1000,  1023, 1024, 1025,
                                    2047, 2049, 4095, 4096, 4097, 8192, 8193, 16385, 20001, 32768, 40000};

TEST(Scans, RowsOfEveryLengthMatchALoop) {
  NEEDS_LLVM();
  const Executable executable = compiled("input x: i32[3, N]\ns = cumsum(x)\nreturn s, cummax(x), s.sum(-1)");
  for (const int64_t n : kLengths) {
    Tensor x = Tensor::empty(DType::I32, {3, n});
    int32_t* data = static_cast<int32_t*>(x.data);
    for (int64_t i = 0; i < 3 * n; ++i) data[i] = static_cast<int32_t>((i * 7919 + n) % 2003 - 1000);
    const auto got = executable.run({x});
    const auto* sums = static_cast<const int64_t*>(got[0].data);
    const auto* tops = static_cast<const int32_t*>(got[1].data);
    const auto* totals = static_cast<const int64_t*>(got[2].data);
    for (int64_t r = 0; r < 3; ++r) {
      int64_t sum = 0, total = 0;
      int32_t top = INT32_MIN;
      for (int64_t i = r * n; i < (r + 1) * n; ++i) {
        sum += data[i], total += sum, top = std::max(top, data[i]);
        ASSERT_EQ(sums[i], sum) << n << " at " << i;
        ASSERT_EQ(tops[i], top) << n << " at " << i;
      }
      ASSERT_EQ(totals[r], total) << n;
    }
  }
}

// Rows of this length, and few of them, are cut into parts on a GPU: a program for every length,
// since that is decided when it is compiled.
TEST(Scans, LongRowsMatchALoop) {
  NEEDS_LLVM();
  for (const int64_t n : {int64_t{40001}, int64_t{131072}, int64_t{32 * 4096 + 1}, int64_t{5000000}}) {
    const std::string text =
        fmt::format("input x: i32[2, {}]\nreturn cumsum(x), cumsum(x, reverse=True, exclusive=True)", n);
    const Tensor x = noise(DType::I32, {2, n}, static_cast<uint64_t>(n));
    const auto* data = static_cast<const int32_t*>(x.data);
    const Executable executable = compiled(text);
    for (int again = 0; again < 3; ++again) {
      const auto got = executable.run({x});
      const auto* sums = static_cast<const int64_t*>(got[0].data);
      const auto* rests = static_cast<const int64_t*>(got[1].data);
      for (int64_t r = 0; r < 2; ++r) {
        int64_t sum = 0;
        for (int64_t i = r * n; i < (r + 1) * n; ++i) ASSERT_EQ(sums[i], sum += data[i]) << n << " at " << i;
        sum = 0;
        for (int64_t i = (r + 1) * n; i-- > r * n; sum += data[i]) ASSERT_EQ(rests[i], sum) << n << " at " << i;
      }
    }
  }
}

// However threads and workgroups happen to run, floats come out the same to the bit.
TEST(Scans, TimesDoNotShow) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {3000001});
  const Executable executable = compiled("input x: f32[3000001]\nreturn cumsum(x), cumsum(x, restart=x > 3.99)");
  const auto first = executable.run({x});
  for (int again = 0; again < 5; ++again) {
    const auto next = executable.run({x});
    for (size_t o = 0; o < 2; ++o) ASSERT_EQ(std::memcmp(first[o].data, next[o].data, 4 * 3000001), 0);
  }
}

TEST(Scans, EveryKindAxisAndDirection) {
  NEEDS_LLVM();
  std::vector<std::vector<Tensor>> inputs;
  std::vector<std::vector<TensorView>> calls;
  for (const Dims& dims : {Dims{5, 33, 70}, Dims{1, 1000, 3}, Dims{2, 3, 1}}) {
    inputs.push_back({noise(DType::F32, dims), noise(DType::I16, dims, 2)});
    calls.push_back({inputs.back()[0], inputs.back()[1]});
  }
  for (int axis = 0; axis < 3; ++axis)
    for (const std::string how : {"", ", reverse=True", ", exclusive=True", ", reverse=True, exclusive=True",
                                  ", restart=x > 2", ", restart=x > 2, reverse=True, exclusive=True"}) {
      const std::string rest = fmt::format("axis={}{})", axis, how);
      const std::string program = "input x: f32[A, B, C]\ninput w: i16[A, B, C]\nreturn cumsum(x * 0.5, " + rest +
                                  ", cummax(w, " + rest + ", cummin(x, " + rest + ", cumprod(w, " + rest;
      ASSERT_TRUE(right(program, calls)) << program;
    }
}

TEST(Scans, NastyNumbers) {
  NEEDS_LLVM();
  const auto f32 = [](const std::vector<double>& v) { return vector(DType::F32, v); };
  const auto scanned = [&](const std::string& call, const std::vector<double>& v) {
    return numbers(run("input x: f32[N]\nreturn " + call, {f32(v)}));
  };
  EXPECT_TRUE(same_numbers(scanned("cumsum(x)", {-0.0, -0.0, 0.0, -0.0}), {-0.0, -0.0, 0.0, 0.0}));
  EXPECT_TRUE(same_numbers(scanned("cumsum(x, exclusive=True)", {-0.0, -0.0, 1}), {0.0, 0.0, 0.0}));
  EXPECT_TRUE(same_numbers(scanned("cumsum(x)", {1, kInf, 2, -kInf, 3}), {1, kInf, kInf, kNan, kNan}));
  EXPECT_TRUE(same_numbers(scanned("cummax(x)", {1, -0.0, kNan, 5}), {1, 1, kNan, kNan}));
  EXPECT_TRUE(same_numbers(scanned("cummax(x)", {-0.0, 0.0, -0.0}), {-0.0, 0.0, 0.0}));
  EXPECT_TRUE(same_numbers(scanned("cummin(x)", {0.0, -0.0, 0.0}), {0.0, -0.0, -0.0}));
  EXPECT_TRUE(same_numbers(scanned("cummin(x, exclusive=True)", {3, 4, 1}), {kInf, 3, 3}));
  EXPECT_TRUE(same_numbers(scanned("cummax(x, exclusive=True, reverse=True)", {3, 4, 1}), {4, 1, -kInf}));
  EXPECT_TRUE(same_numbers(scanned("cumprod(x, exclusive=True)", {3, kNan, 1}), {1, 3, kNan}));
  EXPECT_TRUE(same_numbers(scanned("cumsum(x, restart=x == 1)", {kNan, 1, 2, 1, 5}), {kNan, 1, 3, 1, 6}));
}

// The maximum grows, and falls, by more than exponentials of f32 span.
TEST(Scans, LogarithmsOfSumsOfExponentials) {
  NEEDS_LLVM();
  const auto sums = [](const std::vector<double>& v) {
    return numbers(run("input x: f32[N]\nreturn logcumsumexp(x)", {vector(DType::F32, v)}));
  };
  EXPECT_TRUE(same_numbers(sums({-500, -0.0, 300, -kInf, 200}), {-500, 0, 300, 300, 300}));
  EXPECT_TRUE(same_numbers(sums({-kInf, -kInf, 7, kInf, -kInf, kInf, 3}), {-kInf, -kInf, 7, kInf, kInf, kInf, kInf}));
  EXPECT_TRUE(same_numbers(sums({1, kNan, 5, kInf}), {1, kNan, kNan, kNan}));
  EXPECT_TRUE(same_numbers(sums({-kInf, kNan, 5}), {-kInf, kNan, kNan}));
  EXPECT_TRUE(same_numbers(sums({kInf, 2, kNan}), {kInf, kInf, kNan}));
  EXPECT_TRUE(same_numbers(sums({}), {}));
  for (const DType t : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    std::vector<Tensor> keep;
    for (const Dims& dims : {Dims{3, 1001}, Dims{1, 40000}, Dims{1000, 5}, Dims{33, 64}, Dims{0, 5}, Dims{5, 0}})
      keep.push_back(noise(t, dims));
    std::vector<std::vector<TensorView>> calls;
    for (const Tensor& x : keep) calls.push_back({x});
    for (const int axis : {0, 1})
      for (const std::string of : {"x * 40", "where(x > 3, x * 60, -inf)"}) {
        const std::string program =
            fmt::format("input x: {}[M, N]\nreturn logcumsumexp({}, axis={})", name_of(t), of, axis);
        EXPECT_TRUE(right(program, calls)) << program;
      }
  }
}

TEST(Scans, Integers) {
  NEEDS_LLVM();
  const Tensor wide = array(DType::I64, {4}, {0x1p62, 0x1p62, 1, -3});
  EXPECT_TRUE(same_numbers(numbers(run("input x: i64[N]\nreturn cumsum(x)", {wide})),
                           {0x1p62, -0x1p63, -0x1p63 + 1, -0x1p63 - 2 + 0x1p64}));
  const Tensor flags = vector(DType::Bool, {1, 0, 1, 1});
  EXPECT_TRUE(same_numbers(numbers(run("input x: bool[N]\nreturn cumsum(x)", {flags})), {1, 1, 2, 3}));
  EXPECT_TRUE(same_numbers(numbers(run("input x: bool[N]\nreturn cummin(x)", {flags})), {1, 0, 0, 0}));
  const Tensor bytes = vector(DType::U8, {200, 100, 3});
  EXPECT_TRUE(same_numbers(numbers(run("input x: u8[N]\nreturn cumsum(x)", {bytes})), {200, 300, 303}));
  EXPECT_TRUE(same_numbers(numbers(run("input x: u8[N]\nreturn cummin(x, exclusive=True)", {bytes})), {255, 200, 100}));
}

TEST(Scans, OfNothing) {
  NEEDS_LLVM();
  for (const Dims& dims : {Dims{0, 5}, Dims{5, 0}})
    for (int axis = 0; axis < 2; ++axis)
      EXPECT_TRUE(
          right(fmt::format("input x: f32[A, B]\nreturn cumsum(x, axis={})", axis), {Tensor::empty(DType::F32, dims)}));
}

TEST(Scans, FuseWithWhatStandsAround) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {40, 1003}), h = noise(DType::F16, {7, 300});
  for (const std::string text :
       {"return cumsum(relu(x) * 2) / f32(arange(x.shape[1]) + 1)", "return cumsum(softmax(x))",
        "s = cumsum(x)\nreturn s / max(s, -1, keepdims=True)", "return cumsum(cumsum(x)), cummax(x) + cummin(x)",
        "return sum(cumsum(x, axis=0), axis=0)", "return cumsum(softmax(x, axis=0), axis=0)",
        "return cumsum(where(x > 0, x, 0), restart=x > 2)", "return logcumsumexp(x), cummean(x)"}) {
    const std::string program = "input x: f32[A, B]\n" + text;
    EXPECT_TRUE(right(program, {x})) << program;
    // Columns that are few for a GPU are reduced in parts first.
    EXPECT_LE(compiled(program).kernels().size(), device().is_gpu ? 2u : 1u) << program;
  }
  EXPECT_TRUE(right("input x: f16[A, B]\nreturn cumsum(x), cummax(x * 2), cumprod(x * 0.1, axis=0)", {h}));
}

// Every form that the random programs take too, more of them.
TEST(Scans, RandomExpressions) {
  NEEDS_LLVM();
  std::mt19937_64 random(11);
  for (int i = 0; i < 40; ++i) {
    const DType t = i % 3 == 0 ? DType::I32 : i % 3 == 1 ? DType::F32 : DType::F64;
    const Dims dims = i % 4 == 0   ? Dims{3, 2, 517}
                      : i % 4 == 1 ? Dims{1, 3000}
                      : i % 4 == 2 ? Dims{600, 33}
                                   : Dims{1234};
    std::string shape;
    for (size_t d = 0; d < dims.size(); ++d)
      shape += fmt::format("{}{}", d ? ", " : "", i % 2 ? std::string(1, char('A' + d)) : fmt::format("{}", dims[d]));
    const std::string program = fmt::format("input x: {}[{}]\nreturn {}", name_of(t), shape,
                                            scan_expression({"x", t, dims.size(), "(x > 1)"}, random));
    EXPECT_TRUE(right(program, {noise(t, dims, static_cast<uint64_t>(i))})) << program;
  }
}

}  // namespace
}  // namespace smelt::testing

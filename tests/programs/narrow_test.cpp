// Reductions down a few columns: lanes are elements of whole rows, which end anywhere in a vector.
#include <fmt/format.h>

#include "run.hpp"

namespace smelt::testing {
namespace {

bool by_whole_rows(const std::string& program) {
  const Executable made = compiled(program);
  return made.plan().groups[0].note().find("rows at a time") != std::string::npos;
}

TEST(Narrow, EveryNumberOfColumns) {
  NEEDS_LLVM();
  for (const int64_t columns : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 20, 24, 25, 36, 40, 41})
    for (const int64_t rows : {int64_t{331}, int64_t{24064}}) {
      const std::string text = fmt::format(
          "input x: f32[{}, {}]\nreturn sum(x, axis=0), max(x, axis=0), argmin(x, axis=0)\n", rows, columns);
      EXPECT_TRUE(right(text, {noise(DType::F32, {rows, columns}, 1)})) << text;
    }
}

TEST(Narrow, RowsThatMakeNoStep) {
  NEEDS_LLVM();
  const char* text = "input x: f32[N, 3]\nreturn sum(x, axis=0), prod(sign(x), axis=0)\n";
  std::vector<Tensor> held;
  std::vector<std::vector<TensorView>> calls;
  for (const int64_t n : {0, 1, 2, 15, 16, 17, 31, 32, 33, 1000, 10922, 10923, 40001, 100000}) {
    held.push_back(noise(DType::F32, {n, 3}, static_cast<uint64_t>(n)));
    calls.push_back({held.back()});
  }
  EXPECT_TRUE(right(text, calls));
}

TEST(Narrow, EveryDtype) {
  NEEDS_LLVM();
  for (const DType t :
       {DType::F64, DType::F16, DType::BF16, DType::F8E4M3, DType::I8, DType::U16, DType::I64, DType::Bool}) {
    const std::string text = fmt::format(
        "input x: {}[5000, 5]\nreturn sum(x, axis=0), min(x, axis=0), argmax(x, axis=0), any(x, axis=0)\n", name_of(t));
    EXPECT_TRUE(right(text, {noise(t, {5000, 5}, 7)})) << text;
  }
}

// NaN, infinities, zeros of both signs and the first of equals, wherever a lane, a row of lanes or
// a part begins or ends.
TEST(Narrow, NastyNumbersAnywhere) {
  NEEDS_LLVM();
  constexpr int64_t kRows = 22011, kColumns = 3;
  const Executable extremes =
      compiled("input x: f32[22011, 3]\nreturn max(x, axis=0), min(x, axis=0), argmax(x, axis=0), argmin(x, axis=0)\n");
  const Executable sum = compiled("input x: f32[22011, 3]\nreturn sum(x, axis=0)\n");
  for (const int64_t at : {0, 1, 15, 16, 5, 10, 11, 10879, 10880, 10881, 21999, 22000, 22010}) {
    const Tensor x = filled(DType::F32, {kRows, kColumns}, -0.0);
    auto* data = static_cast<float*>(x.data);
    EXPECT_TRUE(same_numbers(numbers(extremes.run({x})[2]), {0, 0, 0}));
    data[at * kColumns] = 0.0F;
    data[at * kColumns + 1] = static_cast<float>(kNan);
    data[at * kColumns + 2] = static_cast<float>(-kInf);
    const std::vector<Tensor> got = extremes.run({x});
    const auto row = static_cast<double>(at);
    EXPECT_TRUE(same_numbers(numbers(got[0]), {0.0, kNan, -0.0})) << at;
    EXPECT_TRUE(same_numbers(numbers(got[1]), {-0.0, kNan, -kInf})) << at;
    EXPECT_TRUE(same_numbers(numbers(got[2]), {0, row, at == 0 ? 1.0 : 0.0})) << at;
    EXPECT_TRUE(same_numbers(numbers(got[3]), {0, row, row})) << at;
    EXPECT_TRUE(same_numbers(numbers(sum.run({x})[0]), {0.0, kNan, -kInf})) << at;
  }
}

// Axes outside of the rows, more of them reduced, columns of several axes, views, and what is
// stored on the way.
TEST(Narrow, OtherAxesAround) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {7, 333, 3}, 1), w = noise(DType::F32, {333, 1}, 2), c = noise(DType::F32, {3}, 3);
  const std::string inputs = "input x: f32[7, 333, 3]\ninput w: f32[333, 1]\ninput c: f32[3]\n";
  for (const char* last :
       {"return sum(x, axis=1)", "return sum(x, axis=(0, 1))", "return max(x * w + c, axis=1)",
        "return mean(x[:, 3:-5], axis=(0, 1))", "return sum(x[::-1, :, ::-1], axis=(0, 1))",
        "return argmax(x * w, axis=1)", "return sum(x * w, axis=1), x * 2", "return sum(pad(x, 1), axis=(0, 1))",
        "return sum(reshape(x, (777, 3, 3)) * c, axis=0)", "return sum(take(c, abs(i64(x)) % 3), axis=1)",
        "return sum(pad(x, ((0, 0), (0, 0), (8, 9))), axis=(0, 1))", "return sum(roll(x, 5, axis=1), axis=1)",
        "return var(x, axis=(0, 1))"})
    EXPECT_TRUE(right(inputs + last, {x, w, c})) << last;
}

TEST(Narrow, TakesWholeRows) {
  NEEDS_LLVM();
  if (device().is_gpu) GTEST_SKIP() << "a schedule of CPUs";
  EXPECT_TRUE(by_whole_rows("input x: f32[100000, 3]\nreturn sum(x, axis=0)\n"));
  EXPECT_TRUE(by_whole_rows("input x: u8[N, W, 3]\nreturn mean(f32(x), axis=(0, 1))\n"));
  EXPECT_TRUE(by_whole_rows("input x: f32[N, 10]\nreturn argmax(x, axis=0)\n"));
  EXPECT_FALSE(by_whole_rows("input x: f32[8, 3]\nreturn sum(x, axis=0)\n"));
}

// The same numbers with any number of threads.
TEST(Narrow, OrderIsThatOfTheSizes) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {100001, 7}, 5);
  const std::string text = "input x: f32[N, 7]\nreturn sum(x, axis=0)\n";
  const std::vector<double> expected = numbers(compiled(text, true, 1).run({x})[0]);
  for (const int threads : {2, 3, 8})
    EXPECT_TRUE(same_numbers(numbers(compiled(text, true, threads).run({x})[0]), expected)) << threads;
}

}  // namespace
}  // namespace smelt::testing

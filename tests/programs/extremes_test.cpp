// argmax and argmin: which of equals, of NaNs, and of what is as small as nothing, in rows of every
// length and axes in every order.
#include <fmt/format.h>

#include "run.hpp"

namespace smelt::testing {
namespace {

double smallest(DType t) { return is_float(t) ? -kInf : static_cast<double>(min_int(t)); }
double largest(DType t) { return is_float(t) ? kInf : static_cast<double>(max_int(t)); }

// Rows in which several lanes, blocks and threads hold the extreme, or none differs from what
// nothing gives.
Tensor ties(DType t, int64_t length) {
  constexpr int64_t kRows = 10;
  std::vector<double> v(static_cast<size_t>(kRows * length));
  const auto row = [&](int64_t r) { return v.begin() + r * length; };
  const auto fill = [&](int64_t r, double x) { std::fill_n(row(r), length, x); };
  fill(1, smallest(t));
  fill(2, largest(t));
  fill(3, 1), row(3)[length / 2] = 2, row(3)[length - 1] = 2, row(3)[length / 3] = 0, row(3)[length / 2 + 1] = 0;
  fill(4, smallest(t)), row(4)[length - 1] = 1;
  fill(5, largest(t)), row(5)[length - 1] = 1;
  for (int64_t i = 0; i < length; ++i) row(6)[i] = static_cast<double>(i % 100), row(7)[i] = 99 - row(6)[i];
  if (is_float(t)) {
    row(8)[length / 3] = kNan, row(8)[length - 1] = kNan;
    fill(9, kNan);
  }
  return array(t, {kRows, length}, v);
}

constexpr DType kTypes[] = {DType::F32, DType::F16, DType::F64, DType::I8, DType::U64, DType::I32};

TEST(Extremes, FirstOfEqualsAlongRows) {
  NEEDS_LLVM();
  for (const DType t : kTypes)
    for (const int64_t length : {1, 5, 33, 1000, 8193, 40001})
      EXPECT_TRUE(right(fmt::format("input x: {}[R, N]\nreturn argmax(x, axis=1), argmin(x, axis=1)\n", name_of(t)),
                        {ties(t, length)}))
          << name_of(t) << " " << length;
}

TEST(Extremes, RowsOfAKnownLength) {
  NEEDS_LLVM();
  for (const int64_t length : {33, 8193})
    EXPECT_TRUE(right(
        fmt::format("input x: f32[R, {}]\nreturn argmax(x, axis=1), max(x, axis=1), argmin(-x, axis=1)\n", length),
        {ties(DType::F32, length)}));
}

// The index of a block's element is counted from its start, in fewer bits.
TEST(Extremes, LongRowsOverThreads) {
  NEEDS_LLVM();
  for (const DType t : {DType::F32, DType::I8})
    for (const int64_t at : {0, 16383, 16384, 70000, 2999999}) {
      Tensor x = filled(t, {3000000}, 1);
      std::vector<double> v = numbers(x);
      v[static_cast<size_t>(at)] = 3, v.back() = 3;
      EXPECT_TRUE(
          right(fmt::format("input x: {}[N]\nreturn argmax(x), argmin(x)\n", name_of(t)), {array(t, {3000000}, v)}))
          << at;
    }
}

TEST(Extremes, AxesInEveryOrder) {
  NEEDS_LLVM();
  for (const DType t : {DType::F32, DType::U64})
    for (const char* call : {"argmax(x, axis=0)", "argmax(x)", "argmin(x.T)", "argmax(x.T, axis=1)",
                             "argmax(flip(x, 1), axis=1)", "argmin(x + 0 * cumsum(x, axis=1, reverse=True), axis=1)"})
      for (const int64_t length : {7, 1200})
        EXPECT_TRUE(right(fmt::format("input x: {}[R, N]\nreturn {}\n", name_of(t), call), {ties(t, length)}))
            << call << " " << length;
}

// Found on a GPU: a thread may take the elements before the first aligned address after others.
TEST(Extremes, ZerosInOddRows) {
  NEEDS_LLVM();
  EXPECT_TRUE(
      right("input x: u64[700, B, N]\nreturn argmin(fmod(x, x), axis=2)\n", {filled(DType::U64, {700, 4, 33}, 5)}));
}

}  // namespace
}  // namespace smelt::testing

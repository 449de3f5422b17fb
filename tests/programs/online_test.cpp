// Sums of exponentials along with their maximum, in one pass where rows do not stay on chip: rows
// of every kind that trips them up.
#include <fmt/format.h>

#include <cfloat>

#include "run.hpp"

namespace smelt::testing {
namespace {

// Rows of noise, and rows where single values, or all, are not ordinary.
Tensor difficult_rows(DType dtype, int64_t rows, int64_t length) {
  std::vector<double> v = numbers(noise(dtype, {rows, length}, 5));
  const auto row = [&](int64_t r) { return v.begin() + r * length; };
  const auto fill = [&](int64_t r, double x) { std::fill_n(row(r), length, x); };
  fill(1, -kInf);
  fill(2, -kInf), row(2)[length - 1] = 3;
  row(3)[length / 2] = kInf;
  row(4)[length / 2] = kNan;
  fill(5, -kInf), row(5)[0] = kNan;
  fill(6, 2.5);
  for (int64_t i = 0; i < length; ++i) row(7)[i] = static_cast<double>(i % 4096) / 16;  // new maxima all the time
  for (int64_t i = 0; i < length; ++i) row(8)[i] = -row(7)[i];
  row(9)[0] = 30000;
  row(10)[length - 1] = 30000;
  row(11)[7] = kInf, row(11)[8] = kInf, row(11)[9] = -kInf;
  fill(12, dtype == DType::F16 ? -65504 : -FLT_MAX);
  row(13)[3] = kInf, row(13)[5] = kNan;
  return array(dtype, {rows, length}, v);
}

// As many rows as a GPU has multiprocessors, and of a length that its registers do not hold.
int64_t row_count() { return device().is_gpu ? 140 : 14; }
constexpr int64_t kLength = 40960;

TEST(Online, RowsOfEveryKind) {
  NEEDS_LLVM();
  for (const DType dtype : {DType::F32, DType::F16}) {
    const int64_t length = dtype == DType::F32 ? kLength : 3 * kLength;
    const std::string x = fmt::format("input x: {}[R, C]\n", name_of(dtype));
    const Tensor rows = difficult_rows(dtype, row_count(), length);
    EXPECT_TRUE(right(x + "return logsumexp(f32(x), axis=1)\n", {rows}));
    EXPECT_TRUE(
        right(x + "f = f32(x)\nm = max(f, axis=1, keepdims=True)\nreturn sum(exp(f - m), axis=1), m\n", {rows}));
  }
}

TEST(Online, OddLengthsAndFurtherOutputs) {
  NEEDS_LLVM();
  const Tensor rows = difficult_rows(DType::F32, row_count(), kLength + 1);
  EXPECT_TRUE(right("input x: f32[R, C]\nreturn logsumexp(x, axis=1), max(x, axis=1), sum(abs(x), axis=1)\n", {rows}));
  const Tensor targets = array(DType::I64, {row_count()}, std::vector<double>(static_cast<size_t>(row_count()), 11));
  EXPECT_TRUE(
      right("input x: f32[R, C]\ninput t: i64[R]\nreturn cross_entropy(x, t, reduction='none')\n", {rows, targets}));
}

TEST(Online, RowsOfDoubles) {
  NEEDS_LLVM();
  EXPECT_TRUE(
      right("input x: f64[R, C]\nreturn logsumexp(x, axis=1)\n", {difficult_rows(DType::F64, row_count(), kLength)}));
}

// One executable for short rows, which registers hold, and for long ones.
TEST(Online, RowsOfAllLengthsInOneExecutable) {
  NEEDS_LLVM();
  std::vector<std::vector<TensorView>> calls;
  std::vector<Tensor> keep;
  for (const int64_t length : {1024, 1, 3, 1000, 1028, 5000, 4096})
    keep.push_back(noise(DType::F32, {row_count(), length}, static_cast<uint64_t>(length)));
  for (const Tensor& t : keep) calls.push_back({t});
  EXPECT_TRUE(right("input x: f32[R, C]\nreturn softmax(x)\n", calls));
  EXPECT_TRUE(right("input x: f32[R, C]\nreturn layernorm(relu(x))\n", calls));
}

}  // namespace
}  // namespace smelt::testing

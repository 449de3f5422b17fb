// Results of one element a row that are computed for a block of rows at once, after the reductions
// of each.
#include <fmt/format.h>

#include "run.hpp"

namespace smelt::testing {
namespace {

bool together(const Executable& made) { return made.plan().groups[0].note().find(" rows of ") != std::string::npos; }

// Rows with -inf, NaN, infinities of both signs and zeros of both signs somewhere.
Tensor rows(DType dtype, const Dims& d) {
  std::vector<double> v = numbers(noise(dtype, d, 11));
  const double nasty[] = {-kInf, kNan, kInf, -0.0, 0.0};
  for (size_t i = 0; i < v.size(); i += 97) v[i] = nasty[i / 97 % std::size(nasty)];
  return array(dtype, d, v);
}

TEST(RowsTogether, AreTakenWhereResultsTakeLong) {
  NEEDS_LLVM();
  if (device().is_gpu) GTEST_SKIP() << "a schedule of CPUs";
  EXPECT_TRUE(together(compiled("input x: f32[100000, 20]\nreturn exp(sum(x, axis=1))\n")));
  EXPECT_TRUE(together(compiled("input x: f32[100000, 64]\nreturn logsumexp(x, axis=1)\n")));
  EXPECT_FALSE(together(compiled("input x: f32[100000, 20]\nreturn sum(x, axis=1)\n")));
  EXPECT_FALSE(together(compiled("input x: f32[100000, 20]\nreturn softmax(x)\n")));
  EXPECT_FALSE(together(compiled("input x: f32[1000, 20000]\nreturn exp(sum(x, axis=1))\n")));
}

TEST(RowsTogether, AnyNumberOfRows) {
  NEEDS_LLVM();
  if (device().is_gpu) GTEST_SKIP() << "a schedule of CPUs";
  const char* text =
      "input x: f32[N, 20]\ninput w: f32[N]\n"
      "return exp(0.1 * sum(x, axis=1)) * w, argmax(x, axis=1), logsumexp(x, axis=1), any(x > 3, axis=1)\n";
  EXPECT_TRUE(together(compiled("input x: f32[9000, 20]\nreturn exp(sum(x, axis=1))\n")));
  std::vector<Tensor> held;
  std::vector<std::vector<TensorView>> calls;
  for (const int64_t n : {9001, 9024, 0, 1, 63, 64, 65, 129, 4096}) {
    const Tensor x = rows(DType::F32, {n, 20}), w = noise(DType::F32, {n}, 5);
    held.push_back(x), held.push_back(w);
    calls.push_back({x, w});
  }
  EXPECT_TRUE(right(text, calls));
}

TEST(RowsTogether, RowsOfSeveralAxesAndDtypes) {
  NEEDS_LLVM();
  for (const DType t : {DType::F32, DType::F64, DType::BF16, DType::F16}) {
    SCOPED_TRACE(name_of(t));
    const std::string of = std::string(name_of(t));
    EXPECT_TRUE(
        right("input x: " + of + "[3, 4111, 33]\nreturn tanh(f32(max(x, axis=2))), log(f32(sum(x * x, axis=2)))\n",
              {rows(t, {3, 4111, 33})}));
    EXPECT_TRUE(right("input x: " + of + "[5, 4999, 9]\nreturn exp(-f32(max(abs(x), axis=(0, 2))))\n",
                      {rows(t, {5, 4999, 9})}));
  }
}

TEST(RowsTogether, BesideElementsViewsAndGathers) {
  NEEDS_LLVM();
  const Tensor x = rows(DType::F32, {9001, 40}), i = noise(DType::I32, {9001}, 3);
  for (const char* results : {"x - mean(x, axis=1, keepdims=True), exp(mean(x, axis=1))", "sin(sum(x, axis=1))[::-1]",
                              "pad(exp(sum(x, axis=1) * 0.1), 3)", "softmax(x), logsumexp(x, axis=1)",
                              "std(x, axis=1), log(var(x, axis=1)), mean(x, axis=1)"})
    EXPECT_TRUE(right(std::string("input x: f32[9001, 40]\nreturn ") + results + "\n", {x})) << results;
  EXPECT_TRUE(
      right("input x: f32[9001, 40]\ninput i: i32[9001]\nreturn logsumexp(x, axis=1) - "
            "take_along_axis(x, abs(i)[:, None] % 40, axis=1)[:, 0]\n",
            {x, i}));
}

// Lanes beyond the last row find no divisor.
TEST(RowsTogether, IntegersAreDividedInRowsAlone) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::I64, {9001, 20}, 3);
  EXPECT_TRUE(
      right("input x: i64[N, 20]\nv = max(abs(x), axis=1) + 1\nreturn 1000 // v, 1000 % v, exp(-f32(v))\n", {x}));
}

}  // namespace
}  // namespace smelt::testing

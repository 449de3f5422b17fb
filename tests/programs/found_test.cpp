// What random programs found: each failed once, cut down to the lines that matter.
#include "run.hpp"

namespace smelt::testing {
namespace {

// `total + v` in the last pass is spelled as the accumulation of `total` in the pass before; it is not the same value.
TEST(Found, AnAccumulatorOnItsWayIsNotItsResult) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {129});
  EXPECT_TRUE(right("input x: f32[129]\nv = minimum(logsumexp(x), x)\nreturn sum(v) + v\n", {x}));
  EXPECT_TRUE(right("input x: f32[129]\nv = tanh(x)\nreturn prod(v) * v, sum(v) + v\n", {x}));
  EXPECT_TRUE(right("input x: f32[129]\nv = tanh(x)\nreturn maximum(max(v), v), minimum(min(v), v)\n", {x}));
  const Tensor rows = noise(DType::F32, {33, 700});
  EXPECT_TRUE(right("input x: f32[M, N]\nv = exp(x)\nreturn sum(v, axis=1, keepdims=True) + v\n", {rows}));
  EXPECT_TRUE(right("input x: f32[M, N]\nv = exp(x)\nreturn sum(v, axis=0) + v\n", {rows}));
}

// Two outputs of one shape, of which one is stored through its permutation.
TEST(Found, APermutedOutputBesideACastOfIt) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::BF16, {31, 5, 5});
  EXPECT_TRUE(
      right("input x: bf16[31, 5, 5]\ny = transpose(broadcast_to(x, (2,) + x.shape), (2, 1, 3, 0))\nreturn i64(y), y\n",
            {x}));
  EXPECT_TRUE(right("input x: bf16[A, B, C]\ny = transpose(x, (2, 0, 1))\nreturn y * 2, y, x + 1\n", {x}));
}

}  // namespace
}  // namespace smelt::testing

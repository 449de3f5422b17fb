// What random programs found: each failed once, cut down to the lines that matter.
#include <fmt/format.h>

#include <cmath>

#include "run.hpp"

namespace smelt::testing {
namespace {

// `total + v` in the last pass is spelled as the accumulation of `total` in the pass before; it is
// not the same value.
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

// Loops over [3, 4, 6] cannot store [6, 12] row by row, and there was no other schedule for a
// reshape by itself.
TEST(Found, AReshapeThatCutsRowsElsewhere) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {3, 4, 6});
  for (const char* shape : {"6, 12", "2, 36", "4, 2, 9", "9, 8", "12, 6", "72"}) {
    EXPECT_TRUE(right(std::string("input x: f32[3, 4, 6]\nreturn reshape(x, ") + shape + ")\n", {x})) << shape;
    EXPECT_TRUE(right(std::string("input x: f32[3, 4, 6]\nreturn reshape(x.T, ") + shape + ") + 1\n", {x})) << shape;
  }
}

// Reduced axes that cannot be walked as one: thousands of short steps into one accumulator lost
// four digits.
TEST(Found, ManyShortRowsAreSummedInBlocks) {
  NEEDS_LLVM();
  const std::string squares = "input x: u8[A, B]\ninput y: u8[C]\nd = f32(x)[:, :, None] - f32(y)\n";
  const Tensor x = filled(DType::U8, {65, 64}, 1), y = filled(DType::U8, {2}, 250);
  EXPECT_TRUE(right(squares + "return mean(square(d)), max(d), argmax(d)\n", {x, y}));
  EXPECT_TRUE(right(squares + "return sum(square(d), axis=(0, 2))\n", {x, y}));
  const std::string outer = "input x: f32[A, B]\nreturn sum(abs(x[:, None, :] - x[None, :, ::-1]))\n";
  EXPECT_TRUE(right(outer, {filled(DType::F32, {127, 2}, 0.1)}));
  EXPECT_TRUE(right(outer, {noise(DType::F32, {700, 3})}));
}

// A clamp of an index that lies inside for all sizes and places vanished when it was built, but its
// proof with the ranges of the loops ran out of steps.
TEST(Found, AMirroredPoolOfSymbolicRows) {
  NEEDS_LLVM();
  const std::string program =
      "input x: f16[B, H]\ninput w: f16[2, 2]\n"
      "return filter(avg_pool(x, (3, ), stride=(2, ), count_padding=False), w, mode='symmetric')\n";
  EXPECT_TRUE(right(program, {noise(DType::F16, {5, 129}), noise(DType::F16, {2, 2})}));
  EXPECT_TRUE(right(program, {noise(DType::F16, {6, 3}), noise(DType::F16, {2, 2})}));
}

TEST(Found, PaddingAroundAnArrayWithoutElements) {
  NEEDS_LLVM();
  const Tensor x = Tensor::empty(DType::I16, {0, 1, 1023, 2});
  EXPECT_TRUE(right("input x: i16[0, 1, 1023, 2]\nreturn pad(x[None, ::2, :, 1:, -1], (0, 2), value=3)\n", {x}));
  const Tensor y = Tensor::empty(DType::F32, {3, 1, 0, 8});
  EXPECT_TRUE(right("input x: f32[3, 1, 0, 8]\nreturn pad(softmax(x, axis=-3), (0, 2), value=-0.25)\n", {y}));
  EXPECT_TRUE(right("input x: f32[3, 1, N, 8]\nreturn pad(softmax(x, axis=-3), (0, 2), value=-0.25)\n", {y}));
}

// The rows of a grid of tiles say that there are rows.
TEST(Found, ARollInColumns) {
  NEEDS_LLVM();
  EXPECT_TRUE(right("input x: f64[B, 64, N, 1]\ny = roll(x, 1)\nreturn y < min(y, axis=1, keepdims=True)\n",
                    {noise(DType::F64, {3, 64, 16, 1})}));
}

// A piece of a padded array may have no elements although the whole has some: that the loops run
// says nothing of its size.
TEST(Found, PadsOfWhatMayBeEmpty) {
  NEEDS_LLVM();
  for (const int64_t n : {0, 1, 3}) {
    const Tensor x = noise(DType::I16, {n});
    EXPECT_TRUE(right("input x: i16[B]\nreturn pad(x, (0, 2), value=100)[0]\n", {x})) << n;
    const Tensor y = noise(DType::F32, {7, n, 3});
    EXPECT_TRUE(
        right("input y: f32[7, B, 3]\nreturn pad(expand_dims(y, axis=1), (3, 0), value=1)[::2, ::-1, 0, :]\n", {y}))
        << n;
    EXPECT_TRUE(right("input y: f32[7, B, 3]\nreturn roll(pad(y, (3, 0), value=3), 5)\n", {y})) << n;
  }
}

// Rows of a part of an array, flattened: that there are rows, and how long they are, says that
// there are elements.
TEST(Found, FlattenedRowsOfAPart) {
  NEEDS_LLVM();
  const std::string program = "input x: i16[B, N]\nreturn x[-2::-1, :][None, :, 1:-1].reshape(-1)\n";
  for (const int64_t b : {1, 2, 34})
    for (const int64_t n : {2, 3, 65}) EXPECT_TRUE(right(program, {noise(DType::I16, {b, n})})) << b << " " << n;
}

// For two minima of negated integers in sequence, the assembler of CUDA 13.0 loses the negation.
TEST(Found, ExtremesOfNegatedNarrowIntegers) {
  NEEDS_LLVM();
  for (const DType t : {DType::I8, DType::I16, DType::U8, DType::U16, DType::I32, DType::U32}) {
    const std::string x = fmt::format("input x: {}[M, N]\n", name_of(t));
    const Tensor noisy = noise(t, {64, 34}, 3);
    EXPECT_TRUE(right(x + "return min(-x, axis=0), max(-x, axis=1)\n", {noisy}));
    EXPECT_TRUE(
        right(x + "v = x - max(x, axis=1, keepdims=True)\nreturn v + max(v, axis=1, keepdims=True)\n", {noisy}));
    EXPECT_TRUE(right(x + "v = -x\nreturn v < max(v, axis=1, keepdims=True), where(v < x, v, x)\n", {noisy}));
  }
}

// An index that a reduction leaves is read in later passes over the row.
TEST(Found, ArgmaxUsedInTheSameKernel) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {3, 1025}, 4);
  EXPECT_TRUE(right("input x: f32[M, N]\nreturn argmax(x, axis=1, keepdims=True) + i64(x)\n", {x}));
  EXPECT_TRUE(right("input x: f32[M, N]\nreturn argmin(x, keepdims=True) * i64(x > 0)\n", {x}));
}

// The last of the reduced axes is too short to be shared by threads, and cannot be merged with the
// first.
TEST(Found, LongReductionOverAShortLastAxis) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {1 << 16, 1}, 5), y = noise(DType::F32, {1}, 6);
  EXPECT_TRUE(right("input x: f32[M, 1]\ninput y: f32[1]\nreturn mse(concat((y, y)) + 0 * x, x)\n", {x, y}));
}

// The loop that fills a tile is not around the one that empties it.
TEST(Found, TransposesOfUnitAxes) {
  NEEDS_LLVM();
  for (const int64_t b : {59, 63, 64})
    EXPECT_TRUE(
        right("input x: f32[B, 63, 1, 1]\nreturn transpose(x, (2, 1, 0, 3))\n", {noise(DType::F32, {b, 63, 1, 1})}));
}

// The first lanes of a step lie before the second array: their elements are negative, and so are
// their blocks.
TEST(Found, DrawsBehindAJoin) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {5, 129}, 7);
  EXPECT_TRUE(right("input x: f32[M, N]\nv = dropout(x, 0.5, 3)\nreturn concat((v, v), axis=1)\n", {x}));
  EXPECT_TRUE(right("input x: f32[M, N]\nv = random_bits(x.shape, 0)\nreturn stack((v, v), axis=0), x\n", {x}));
}

// Two lanes are half a block.
TEST(Found, DrawsStoredInPairs) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {2, 64}, 8);
  EXPECT_TRUE(right("input x: f32[M, N]\nv = random_bits(x.shape, 7)\nreturn i64(v), all(v)\n", {x}));
}

// A group that reduces everything to one number has values of several shapes.
TEST(Found, ReductionsToOneNumberSideBySide) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {32, 64}, 9), y = noise(DType::F32, {1}, 10);
  EXPECT_TRUE(
      right("input x: f32[32, 64]\ninput y: f32[1]\nv = x >= max(x, keepdims=True)\n"
            "return concat((v, v), axis=1), u8(all(y > 0, axis=0, keepdims=True))\n",
            {x, y}));
}

// A row that the data names is not known before the loop over tiles; nor is the range of a roll by
// more than its axis may have.
TEST(Found, TakeFromATransposedArray) {
  NEEDS_LLVM();
  const Tensor i = filled(DType::U8, {2}, 0);
  EXPECT_TRUE(right("input x: f32[65, 5, 1, 8]\ninput i: u8[2]\nreturn take(transpose(x, (3, 2, 1, 0)), i, axis=1)\n",
                    {noise(DType::F32, {65, 5, 1, 8}, 11), i}));
}

TEST(Found, RollOfAnAxisThatMayBeShort) {
  NEEDS_LLVM();
  const char* text = "input x: f32[8, B, N]\nreturn roll(x, 1, axis=1)\n";
  EXPECT_TRUE(right(text, {noise(DType::F32, {8, 64, 34}, 12)}));
  EXPECT_TRUE(right(text, {noise(DType::F32, {8, 1, 3}, 13)}));
}

// What names its own axes is not made flat with the rest of a group.
TEST(Found, TriangleOfOneElementBesideOthers) {
  NEEDS_LLVM();
  EXPECT_TRUE(
      right("input x: bool[B, 7, 1, 1]\ninput y: i16[7, 1, 1]\nv = f32(y) * 0.5\n"
            "return tril(x), v.reshape(-1), maximum(v, v)\n",
            {noise(DType::Bool, {3, 7, 1, 1}, 14), noise(DType::I16, {7, 1, 1}, 15)}));
}

// Two columns in vectors of 64: LLVM 19 did not come to an end over the join of their bits.
TEST(Found, JoinedBitsOfTwoColumns) {
  NEEDS_LLVM();
  EXPECT_TRUE(
      right("input x: i16[5, 2, 1, 1]\nv = x >= max(x, axis=(0, 2), keepdims=True)\n"
            "w = expand_dims(concat((v, v), axis=2), axis=1)\nreturn sum(w, axis=(0, 2)), w\n",
            {noise(DType::I16, {5, 2, 1, 1}, 16)}));
}

// That there is a row to read follows from a quotient of a quotient that is not 0.
TEST(Found, EveryOtherRowOfEveryOther) {
  NEEDS_LLVM();
  const char* text =
      "input x: f16[B, N, 32, M]\nv = x[1::2, 1::2, None, 7:15, :-1]\nreturn v[1::2, :, ::-1, :, -2::-1]\n";
  EXPECT_TRUE(right(text, {noise(DType::F16, {3, 3, 32, 33}, 17)}));
  EXPECT_TRUE(right(text, {noise(DType::F16, {33, 2, 32, 34}, 18)}));
}

// Forty lanes, of which the data says where each reads: LLVM 19 filled them up to 64 with what a
// gather may not have.
TEST(Found, GathersOfFortyLanes) {
  NEEDS_LLVM();
  EXPECT_TRUE(right("input x: f32[B, 5]\ninput i: u8[5]\nreturn concat((take(x, i, axis=1), x), axis=0) * 2\n",
                    {noise(DType::F32, {100, 5}, 19), filled(DType::U8, {5}, 3)}));
}

// What a row was reduced to is one index for all lanes after it.
TEST(Found, APlaceInARowAsAnIndexOfTheNextPass) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {37, 64}, 5);
  EXPECT_TRUE(right("input x: f32[N, 64]\ninput t: f32[64]\nreturn x - take(t, argmax(x, axis=1), axis=0)[:, None]\n",
                    {x, noise(DType::F32, {64}, 6)}));
  EXPECT_TRUE(right("input x: f32[N, 64]\ninput t: f32[100, 64]\nreturn x - take(t, argmax(x, axis=1), axis=0)\n",
                    {x, noise(DType::F32, {100, 64}, 7)}));
}

// Maxima and sums of exponentials in one pass, where 2^x is no instruction: a GPU's teams in OpenCL
// C.
TEST(Found, SoftmaxOfRowsThatDoNotStayOnChip) {
  NEEDS_LLVM();
  EXPECT_TRUE(
      right("input x: f32[2, 20000]\nreturn softmax(x), logsumexp(x, axis=1)\n", {noise(DType::F32, {2, 20000})}));
}

// That C is a multiple of 4 is known of the sizes of a call alone.
TEST(Found, AReshapeThatSplitsASymbolicAxis) {
  NEEDS_LLVM();
  const std::string program =
      "input x: f32[B, C]\n"
      "return x.reshape(B, C // 4, 4)*2, sum(x.reshape(B, C // 4, 4), axis=2), max(x.reshape(B // 2, 2, C), axis=1)\n";
  const Tensor a = noise(DType::F32, {6, 8}), b = noise(DType::F32, {2, 100});
  EXPECT_TRUE(right(program, std::vector<std::vector<TensorView>>{{a}, {b}}));
}

// A reshape of no elements splits nothing.
TEST(Found, ReductionsOfNothingThatWasRepeated) {
  NEEDS_LLVM();
  EXPECT_TRUE(
      right("input x: u16[B, N, M, 1]\ny = repeat(x + 2, 2, axis=3)\ny = f32(y) * f32(arange(y.shape[-1]))\n"
            "return logsumexp(y[0, 0, -2::-1, 1:-1], axis=-2)\n",
            {noise(DType::U16, {2, 3, 5, 1})}));
}

// Columns of a transposed array are rows of it, and positions are still counted in the order of the
// program.
TEST(Found, ReductionsInTheOrderOfMemory) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {5, 7, 33}, 9);
  EXPECT_TRUE(
      right("input x: f32[A, B, C]\ny = permute(x, (2, 0, 1))\n"
            "return sum(y, axis=0), argmax(y, axis=1), argmin(y.reshape(C, -1), axis=1), cumsum(y, axis=0), "
            "softmax(y, axis=0) + y, max(y.reshape(C, -1), axis=1), var(permute(y, (1, 0, 2)), axis=(0, 1))\n",
            {x}));
  EXPECT_TRUE(
      right("input x: f32[A, B, C]\ny = permute(x, (1, 0, 2)).reshape(B, -1)\n"
            "m = mean(y, axis=1, keepdims=True)\nreturn (y - m)*2, argmax(x.reshape(-1)), m\n",
            {x}));
}

// One kernel computes the first reduction and the cast of it again, and then is one with that which
// stored what the cast reads.
TEST(Found, AKernelThatWasReadByACopyOnly) {
  NEEDS_LLVM();
  EXPECT_TRUE(
      right("input x: i16[5]\ninput y: f32[5]\na = all(x, axis=0, keepdims=True)\n"
            "b = all(lerp(f32(a), y, 0.25), axis=0, keepdims=True)\nreturn tile(b, 2)\n",
            {noise(DType::I16, {5}), noise(DType::F32, {5}, 3)}));
}

// The assembler of CUDA 13.0 takes an unsigned that was widened from a short for that short when it
// becomes a float.
TEST(Found, UnsignedsThatWereNegativeShorts) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::I32, {257});
  EXPECT_TRUE(
      right("input x: i32[N]\ncfunction 'unsigned f(int a) { return (short)(a * 3); }'\n"
            "cfunction 'unsigned g(int a) { return (signed char)(a * 5); }'\n"
            "return f64(f(x)), f32(f(x)), f64(g(x)) + 0.5, f32(g(x)), f32(i64(f(x))), i64(g(x)), f32(u64(f(x)))\n",
            {x}));
}

// A recurrence over one element has no loop to be in.
TEST(Found, ARecurrenceOfOneElement) {
  NEEDS_LLVM();
  for (const char* value : {"logcumsumexp(softmax(x))", "logcumsumexp(x)", "logcumsumexp(x, axis=0) + sum(x)"})
    for (const double only : {-0.0, 3.0, -HUGE_VAL, HUGE_VAL, double{NAN}})
      EXPECT_TRUE(right(std::string("input x: f32[1]\nreturn ") + value + "\n", {filled(DType::F32, {1}, only)}))
          << value << " of " << only;
}

// Bytes and bools that workgroups of a cluster, or threads of one, hand over.
TEST(Found, BytesOnTheirWayThroughSharedMemory) {
  NEEDS_LLVM();
  EXPECT_TRUE(right("input x: i8[129, B]\nreturn x * 3, x - min(x, axis=(0, 1), keepdims=True)\n",
                    {noise(DType::I8, {129, 1025})}));
  EXPECT_TRUE(
      right("input x: i8[33, 16, 3, 3]\nv = x < max(x, axis=(2, 3), keepdims=True)\n"
            "a = any(~v, axis=(0, 1, 2))\nreturn where(a, a, v)\n",
            {noise(DType::I8, {33, 16, 3, 3})}));
}

}  // namespace
}  // namespace smelt::testing

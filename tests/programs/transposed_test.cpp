// Transposed convolutions and the gradients of convolutions by their input, compiled and run: by
// phases, by columns, and as they are written (plan/phases.hpp).
#include <fmt/format.h>

#include <string>
#include <utility>

#include "emulated_gpu.hpp"

namespace smelt::testing {
namespace {

// x with zeros between its elements, and a convolution of it; of stride and padding along both
// axes.
std::string transposed(const Dims& x, const Dims& w, int64_t stride, int64_t padding, int64_t more, DType t,
                       const std::string& after = "y") {
  const auto wide = [&](size_t d) { return x[d] * stride; };
  const int64_t high = w[2] - 1 - padding + more;
  return fmt::format(
      "input x: {0}{1}\ninput w: {0}{2}\n"
      "z = pad(x[:, :, :, None, :, None], ((0, 0), (0, 0), (0, 0), (0, {3}), (0, 0), (0, {3})))\n"
      "z = z.reshape({4}, {5}, {6}, {7})[:, :, :{8}, :{9}]\n"
      "y = conv(pad(z, ((0, 0), (0, 0), ({10}, {11}), ({10}, {11}))), flip(swapaxes(w, 0, 1), axis=(2, 3)))\n"
      "return {12}\n",
      name_of(t), str(x), str(w), stride - 1, x[0], x[1], wide(2), wide(3), wide(2) - stride + 1, wide(3) - stride + 1,
      w[2] - 1 - padding, high, after);
}

struct Case {
  Dims x, w;
  int64_t stride, padding, more;
};
const Case kCases[] = {
    {{2, 12, 9, 19}, {12, 9, 4, 4}, 2, 1, 0},   // phases that read one element further on
    {{1, 12, 9, 33}, {12, 10, 2, 2}, 2, 0, 0},  // all phases read the same element
    {{1, 9, 9, 17}, {9, 8, 3, 3}, 2, 1, 1},     // taps that the stride does not divide
    {{1, 8, 7, 9}, {8, 9, 6, 6}, 3, 2, 1},      // three phases, results that are no multiple
    {{2, 8, 7, 9}, {8, 8, 2, 2}, 3, 0, 0},      // results without a tap
    {{1, 8, 5, 5}, {8, 9, 8, 8}, 4, 2, 0},      // few positions, many taps
    {{1, 8, 31, 1}, {8, 8, 5, 5}, 2, 2, 1},
};

TEST(TransposedConvolution, OfManyShapes) {
  NEEDS_LLVM();
  for (const auto& [x, w, stride, padding, more] : kCases)
    for (const char* after : {"y", "relu(y[:, 1:] + 0.5)"}) {
      const std::string program = transposed(x, w, stride, padding, more, DType::F32, after);
      EXPECT_TRUE(right(program, {noise(DType::F32, x, 1), noise(DType::F32, w, 2)})) << program;
    }
}

TEST(TransposedConvolution, OfEveryFloat) {
  NEEDS_LLVM();
  for (const DType t : {DType::F64, DType::F16, DType::BF16})
    for (const auto& [x, w, stride, padding, more] : {kCases[0], kCases[2], kCases[3]}) {
      const std::string program = transposed(x, w, stride, padding, more, t);
      EXPECT_TRUE(right(program, {noise(t, x, 1), noise(t, w, 2)})) << program;
    }
}

// Infinities and NaN meet the taps that the window has there, and no others.
TEST(TransposedConvolution, OfWhatIsNoNumber) {
  NEEDS_LLVM();
  for (const auto& [x, w, stride, padding, more] : {kCases[0], kCases[1], kCases[2]}) {
    const std::string program = transposed(x, w, stride, padding, more, DType::F32);
    EXPECT_TRUE(right(program, {special_noise(DType::F32, x), noise(DType::F32, w, 2)})) << program;
  }
}

TEST(TransposedConvolution, OfNoneAndAnySize) {
  NEEDS_LLVM();
  const std::string program =
      "input x: f32[N, 12, H, W]\ninput w: f32[12, 9, 4, 4]\nn, c, h, k = x.shape\n"
      "z = pad(x[:, :, :, None, :, None], ((0, 0), (0, 0), (0, 0), (0, 1), (0, 0), (0, 1))).reshape(n, c, 2 * h, 2 * "
      "k)\n"
      "return conv(pad(z, ((0, 0), (0, 0), (2, 1), (2, 1))), flip(swapaxes(w, 0, 1), axis=(2, 3)))\n";
  std::vector<Tensor> keep;
  for (const Dims& x : {Dims{2, 12, 17, 19}, Dims{0, 12, 5, 5}, Dims{1, 12, 1, 40}, Dims{3, 12, 2, 2}})
    keep.push_back(noise(DType::F32, x, 1));
  const Tensor w = noise(DType::F32, {12, 9, 4, 4}, 2);
  std::vector<std::vector<TensorView>> calls;
  for (const Tensor& x : keep) calls.push_back({x, w});
  EXPECT_TRUE(right(program, calls));
}

TEST(TransposedConvolution, ByGradients) {
  NEEDS_LLVM();
  struct Gradient {
    Dims x, w, g;
    const char* how;
  };
  for (const auto& [x, w, g, how] :
       {Gradient{{2, 9, 34, 38}, {12, 9, 4, 4}, {2, 12, 17, 19}, "stride=2, padding=1"},
        Gradient{{2, 9, 17, 19}, {12, 9, 3, 3}, {2, 12, 17, 19}, "padding=1"},
        Gradient{{2, 9, 17, 19}, {12, 9, 3, 5}, {2, 12, 13, 11}, "dilation=2"},
        Gradient{{1, 9, 33, 40}, {16, 9, 7, 7}, {1, 16, 17, 20}, "padding=3, stride=2"},
        Gradient{{1, 12, 20, 22}, {24, 4, 4, 4}, {1, 24, 10, 11}, "padding=1, stride=2, groups=3"},
        Gradient{{1, 12, 20, 22}, {12, 1, 4, 4}, {1, 12, 10, 11}, "padding=1, stride=2, groups=12"},
        Gradient{{2, 8, 160}, {12, 8, 16}, {2, 12, 20}, "stride=8, padding=4"},
        Gradient{{1, 4, 9, 10, 11}, {8, 4, 2, 3, 3}, {1, 8, 8, 10, 11}, "padding=(0, 1, 1)"}}) {
    const std::string program =
        fmt::format("input x: f32{}\ninput w: f32{}\ninput g: f32{}\nreturn vjp(conv(x, w, {}), x, g)\n", str(x),
                    str(w), str(g), how);
    EXPECT_TRUE(right(program, {noise(DType::F32, x, 1), noise(DType::F32, w, 2), noise(DType::F32, g, 3)})) << program;
  }
}

// The gradient by the weights of windows that move by two: lanes go along the positions.
const char* const kByWeights =
    "input x: f32[2, 9, 24, 36]\ninput w: f32[12, 9, 3, 3]\ninput g: f32[2, 12, 12, 18]\n"
    "return vjp(conv(x, w, padding=1, stride=2), w, g)\n";
std::vector<Tensor> by_weights() {
  return {noise(DType::F32, {2, 9, 24, 36}, 1), noise(DType::F32, {12, 9, 3, 3}, 2),
          noise(DType::F32, {2, 12, 12, 18}, 3)};
}

TEST(StridedConvolution, ByGradientsOfWeights) {
  NEEDS_LLVM();
  const std::vector<Tensor> inputs = by_weights();
  EXPECT_TRUE(right(kByWeights, std::vector<TensorView>(inputs.begin(), inputs.end())));
  const std::string shorter =
      "input x: f32[1, 8, 29]\ninput w: f32[9, 8, 3]\ninput g: f32[1, 9, 14]\n"
      "return vjp(conv1d(x, w, stride=2), w, g)\n";
  EXPECT_TRUE(right(
      shorter, {noise(DType::F32, {1, 8, 29}, 1), noise(DType::F32, {9, 8, 3}, 2), noise(DType::F32, {1, 9, 14}, 3)}));
}

class EmulatedTransposed : public EmulatedGpu {};
class EmulatedTransposedHopper : public EmulatedGpu {
 protected:
  int major() const override { return 9; }
};

TEST_F(EmulatedTransposed, OfManyShapes) {
  for (const auto& [x, w, stride, padding, more] : kCases)
    check(transposed(x, w, stride, padding, more, DType::F32, "tanh(y)"),
          {special_noise(DType::F32, x), noise(DType::F32, w, 2)});
}

TEST_F(EmulatedTransposed, ByGradientsOfWeights) {
  const std::vector<Tensor> inputs = by_weights();
  check(kByWeights, {inputs.begin(), inputs.end()});
}

TEST_F(EmulatedTransposedHopper, OfHalves) {
  for (const auto& [x, w, stride, padding, more] :
       {Case{{2, 32, 9, 11}, {32, 24, 4, 4}, 2, 1, 0}, Case{{2, 64, 8, 8}, {64, 64, 2, 2}, 2, 0, 0}})
    check(transposed(x, w, stride, padding, more, DType::BF16), {noise(DType::BF16, x, 1), noise(DType::BF16, w, 2)});
  check(
      "input x: bf16[2, 32, 17, 16]\ninput w: bf16[64, 32, 3, 3]\ninput g: bf16[2, 64, 17, 16]\n"
      "return vjp(conv(x, w, padding=1), x, g)\n",
      {noise(DType::BF16, {2, 32, 17, 16}, 1), noise(DType::BF16, {64, 32, 3, 3}, 2),
       noise(DType::BF16, {2, 64, 17, 16}, 3)});
}

}  // namespace
}  // namespace smelt::testing

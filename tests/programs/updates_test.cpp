// slice_update: arrays in which a region has other elements, in one kernel with what comes before
// and after.
#include <fmt/format.h>

#include "run.hpp"
#include "smelt/error.hpp"

namespace smelt::testing {
namespace {

TEST(Updates, RegionsOfEveryKind) {
  NEEDS_LLVM();
  const char* regions[] = {"0",
                           "-1",
                           "slice(1, -1)",
                           "slice(None, None, -1)",
                           "(slice(None), slice(1, None, 3))",
                           "(slice(None, None, -2), slice(-2, 0, -5))",
                           "(..., 3)",
                           "(None, slice(2, 3), None, slice(0, 33))",
                           "(slice(4, 2), 0)"};
  for (const char* dtype : {"f32", "f16", "i8", "bool"}) {
    const DType t = dtype_from_name(dtype).value();
    const Tensor x = noise(t, {5, 33}), y = noise(t, {5, 33}, 2);
    for (const char* region : regions) {
      const std::string put = fmt::format("slice_update(x, {0}, y[{1}])", region, [&] {
        // The same part of y: slices as a subscript has them.
        return std::string(region)[0] == '(' ? std::string(region).substr(1, std::string(region).size() - 2) : region;
      }());
      EXPECT_TRUE(right(fmt::format("input x: {0}[5, 33]\ninput y: {0}[5, 33]\nreturn {1}\n", dtype, put), {x, y}))
          << put;
      EXPECT_TRUE(right(fmt::format("input x: {0}[B, C]\ninput y: {0}[B, C]\nreturn {1}\n", dtype, put), {x, y}))
          << put;
    }
  }
}

TEST(Updates, AreOneKernelWithWhatIsAround) {
  NEEDS_LLVM();
  const auto kernels = [](const std::string& text) { return compiled(text).plan().groups.size(); };
  const std::string chain =
      "input x: f32[B, C]\ninput v: f32[C]\nu = slice_update(x * 2, (slice(1, -1), slice(None, None, 2)), "
      "v[::2] * 3 - 1)\n"
      "return relu(u) + 1\n";
  EXPECT_EQ(kernels(chain), 1u);
  EXPECT_TRUE(right(chain, {{noise(DType::F32, {4, 31}), noise(DType::F32, {31})},
                            {noise(DType::F32, {2, 64}), noise(DType::F32, {64})},
                            {noise(DType::F32, {300, 33}), noise(DType::F32, {33})}}));
  const std::string rows =
      "input x: f32[B, 96]\ninput s: f32\nreturn softmax(slice_update(x, (..., slice(90, None)), s))\n";
  EXPECT_EQ(kernels(rows), 1u);
  EXPECT_TRUE(right(rows, {noise(DType::F32, {9, 96}), scalar(DType::F32, -kInf)}));
  const std::string twice =
      "input x: f32[N]\na = slice_update(x, slice(None, None, 2), 0)\nreturn slice_update(a, slice(0, 3), x[-3:]), "
      "sum(a)\n";
  EXPECT_TRUE(right(twice, {noise(DType::F32, {1001})}));
}

// A step of a cellular automaton whose border stays: x[1:-1, 1:-1] = ...
TEST(Updates, BordersStay) {
  NEEDS_LLVM();
  const std::string step =
      "input x: f32[H, W]\nn = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]\n"
      "return slice_update(x, (slice(1, -1), slice(1, -1)), n * 0.25)\n";
  EXPECT_EQ(compiled(step).plan().groups.size(), 1u);
  EXPECT_TRUE(right(step, {noise(DType::F32, {3, 3})}));
  EXPECT_TRUE(right(step, {noise(DType::F32, {40, 65})}));
}

TEST(Updates, KeepNanAndZeros) {
  NEEDS_LLVM();
  const Tensor x = vector(DType::F32, {kNan, -0.0, kInf, 1}), y = vector(DType::F32, {-0.0, kNan});
  EXPECT_TRUE(
      same_numbers(numbers(run("input x: f32[4]\ninput y: f32[2]\nreturn slice_update(x, slice(1, 3), y)\n", {x, y})),
                   {kNan, -0.0, kNan, 1}));
  EXPECT_TRUE(
      same_numbers(numbers(run("input x: f32[4]\ninput y: f32[2]\nreturn slice_update(x, slice(2, 4), y)\n", {x, y})),
                   {kNan, -0.0, -0.0, kNan}));
}

}  // namespace
}  // namespace smelt::testing

// Outputs that are in place of inputs: which may, and that a call then computes what it does
// elsewhere. Random programs are run in place too (check.cpp).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "run.hpp"

namespace smelt::testing {
namespace {

// "output 1 of x": as `explain` names them.
std::vector<std::string> pairs(const Executable& executable) {
  std::vector<std::string> found;
  for (const InPlaceArrays& p : executable.in_place())
    found.push_back(
        fmt::format("{} of {}", p.output + 1, executable.graph().at(executable.graph().inputs[p.input]).name));
  std::sort(found.begin(), found.end());
  return found;
}
using Pairs = std::vector<std::string>;

TEST(InPlace, OutputsOfElementwisePrograms) {
  NEEDS_LLVM();
  const std::pair<const char*, Pairs> programs[] = {
      {"input x: f32[N]\nreturn x*2 + 1", {"1 of x"}},
      {"input x: f32[N]\ninput y: f32[N]\nreturn x + y", {"1 of x", "1 of y"}},
      {"input x: bf16[A, B]\ninput b: bf16[B]\nreturn relu(x + b)", {"1 of x"}},
      {"input x: f32[N]\nreturn i32(x)", {}},
      {"input x: f32[N]\nreturn x[::-1]", {}},
      {"input x: f32[N]\nreturn x + x[::-1]", {}},
      {"input x: f32[A, B]\nreturn x - max(x)", {"1 of x"}},
      {"input x: f32[A, B]\nreturn x.T * 2", {}},
      {"input x: f32[A, B]\nreturn roll(x, 1, axis=0) + x", {}},
      // Another pass over the row, or another kernel, reads x again.
      {"input x: f32[A, 64]\nreturn x*2, x - mean(x, axis=1, keepdims=True)", {"2 of x"}},
      {"input x: f32[A, B]\ny = cumsum(x, axis=0)\nreturn x*2, cumsum(y, axis=1) + x.T[0, 0]", {}},
  };
  for (const auto& [program, expected] : programs) EXPECT_EQ(pairs(compiled(program)), expected) << program;
}

const char* const kAdam =
    "input p: f32[N]\ninput g: f32[N]\ninput m: f32[N]\ninput v: f32[N]\ninput rate: f32\n"
    "m2 = 0.9*m + 0.1*g\nv2 = 0.99*v + 0.01*g*g\nreturn p - rate*m2/(sqrt(v2) + 0.001), m2, v2\n";

TEST(InPlace, AnOptimizerStepWritesOverItsState) {
  NEEDS_LLVM();
  if (device().is_gpu) GTEST_SKIP() << "the arrays are of the host";
  const Executable adam = compiled(kAdam);
  const Pairs found = pairs(adam);
  for (const char* pair : {"1 of p", "2 of m", "3 of v"})
    EXPECT_EQ(std::count(found.begin(), found.end(), pair), 1) << fmt::format("{}", fmt::join(found, ", "));
  for (const int64_t n : {1, 7, 64, 1000, 100003}) {
    const Tensor g = noise(DType::F32, {n}, 2), rate = scalar(DType::F32, 0.1);
    std::vector<Tensor> state = {noise(DType::F32, {n}, 1), noise(DType::F32, {n}, 3), filled(DType::F32, {n}, 0.5)};
    const std::vector<Tensor> expected = adam.run({state[0], g, state[1], state[2], rate});
    adam.run_into({state[0], g, state[1], state[2], rate}, {state[0], state[1], state[2]});
    for (size_t o = 0; o < 3; ++o) EXPECT_TRUE(same_numbers(numbers(state[o]), numbers(expected[o]))) << n << " " << o;
  }
}

// Outputs next to an input, or over several, are computed as if nothing overlapped.
TEST(InPlace, OneElementFurtherIsAnotherPlace) {
  NEEDS_LLVM();
  if (device().is_gpu) GTEST_SKIP() << "the arrays are of the host";
  const Executable sum = compiled("input x: i64[N]\ninput y: i64[N]\nreturn x*2 + y, x - y");
  for (const int first : {0, 1}) {
    for (const int second : {0, 3, 10}) {
      const Tensor memory = Tensor::empty(DType::I64, {32});
      auto* data = static_cast<int64_t*>(memory.data);
      for (int64_t i = 0; i < 32; ++i) data[i] = i * i;
      const auto at = [&](int64_t offset) { return TensorView{DType::I64, {10}, {1}, data + offset}; };
      std::vector<double> expected = numbers(memory);
      for (size_t i = 0; i < 10; ++i) {
        const auto x = static_cast<double>(i * i), y = static_cast<double>((i + 10) * (i + 10));
        expected[i + static_cast<size_t>(first)] = x * 2 + y;
      }
      for (size_t i = 0; i < 10; ++i) {
        const auto x = static_cast<double>(i * i), y = static_cast<double>((i + 10) * (i + 10));
        expected[i + static_cast<size_t>(second)] = x - y;
      }
      sum.run_into({at(0), at(10)}, {at(first), at(second)});
      EXPECT_TRUE(same_numbers(numbers(memory), expected)) << first << " " << second;
    }
  }
}

TEST(InPlace, RowsOverThemselves) {
  NEEDS_LLVM();
  if (device().is_gpu) GTEST_SKIP() << "the arrays are of the host";
  for (const char* returned :
       {"softmax(x)", "layernorm(x)", "cumsum(x, axis=1)", "x*2, x - mean(x, axis=1, keepdims=True)"})
    for (const int64_t length : {1, 31, 64, 5000}) {
      const Executable e = compiled(fmt::format("input x: f32[A, B]\nreturn {}\n", returned));
      for (const InPlaceArrays& p : e.in_place()) {
        const Tensor x = noise(DType::F32, {7, length});
        const std::vector<Tensor> expected = e.run({x});
        std::vector<Tensor> outputs;
        for (const Tensor& t : expected) outputs.push_back(Tensor::empty(t.dtype, t.dims));
        outputs[p.output] = x;
        e.run_into({x}, {outputs.begin(), outputs.end()});
        for (size_t o = 0; o < outputs.size(); ++o)
          EXPECT_TRUE(same_numbers(numbers(outputs[o]), numbers(expected[o]))) << returned << " " << length;
      }
    }
}

TEST(InPlace, OneArrayAsBothInputsAndTheOutput) {
  NEEDS_LLVM();
  if (device().is_gpu) GTEST_SKIP() << "the arrays are of the host";
  const Executable sum = compiled("input x: f32[N]\ninput y: f32[N]\nreturn x + y*3");
  const Tensor x = vector(DType::F32, {1, 2, kNan, -0.0, kInf});
  sum.run_into({x, x}, {x});
  EXPECT_TRUE(same_numbers(numbers(x), {4, 8, kNan, -0.0, kInf}));
}

}  // namespace
}  // namespace smelt::testing

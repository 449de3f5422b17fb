// Programs on an emulated GPU against the reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "compile/state.hpp"
#include "frontends/language.hpp"
#include "graph/bounds.hpp"
#include "run.hpp"
#include "support/fake_cuda/emulate.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {

// Numbers of many sizes, and now and then what is none.
inline Tensor special_noise(DType t, const Dims& dims, double scale = 1) {
  std::vector<double> values;
  for (int64_t k = 0; k < element_count(dims); ++k) {
    const double number = scale * std::ldexp(static_cast<double>(k * 37 % 101 - 50), static_cast<int>(k % 9) - 4);
    const bool is_special = is_float(t) && k % 131 == 130;
    values.push_back(!is_special  ? is_float(t) ? number : std::round(number / 10)
                      : k % 4 == 0 ? NAN
                     : k % 4 == 1 ? HUGE_VAL
                     : k % 4 == 2 ? -HUGE_VAL
                                  : -0.0);
  }
  return array(t, dims, values);
}

// The same elements with gaps between the rows, which hold what is no number.
inline Tensor with_gaps(const TensorView& rows, const Dims& strides) {
  int64_t last = 0;
  for (size_t d = 0; d < strides.size(); ++d) last += (rows.dims[d] - 1) * strides[d];
  Tensor made = Tensor::empty(rows.dtype, {last + 1});
  std::memset(made.data, 0xff, static_cast<size_t>(made.bytes()));
  made.dims = rows.dims, made.strides = strides;
  copy_into(rows, made);
  return made;
}

class EmulatedGpu : public ::testing::Test {
 protected:
  // The compute capability.
  virtual int major() const { return 8; }
  virtual int processors() const { return 4; }
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "threads of the emulated GPU have stacks that the sanitizer does not know";
#endif
    static const bool can = can_emulate();
    if (!can) GTEST_SKIP() << "no " << SMELT_TEST_CXX << " here";
    gpu_ = emulated_gpu({.major = major(), .processors = processors()});
    gpu_.driver->memory_bytes = size_t{256} << 20;
    ASSERT_TRUE(gpu_.machine.compiles()) << gpu_.machine.missing;
  }
  void TearDown() override { gpu_.machine = {}; }

  // Each call twice: workgroups wake their threads in the other order the second time.
  // One executable, made for the sizes of the first call unless others are given; several calls.
  void check_calls(const std::string& program, const std::vector<std::vector<TensorView>>& calls,
                   SizeBinding sizes = {}) {
    check_calls(lang::parse_program(program, "emulated.smelt"), calls, std::move(sizes));
  }
  void check_calls(const Graph& graph, const std::vector<std::vector<TensorView>>& calls, SizeBinding sizes = {}) {
    CompileOptions options;
    options.sizes = std::move(sizes);
    const Executable executable = compile(graph, gpu_.machine, options);
    for (size_t c = 0; c < calls.size(); ++c) {
      const std::vector<Bounded> expected = interpret_bounded(graph, calls[c], true);
      for (int again = 0; again < 2; ++again) {
        const std::vector<Tensor> got = executable.run(calls[c]);
        ASSERT_EQ(gpu_.driver->fault, "") << graph.source << "call " << c;
        for (size_t o = 0; o < got.size(); ++o)
          ASSERT_EQ(differences(got[o], expected[o]), "") << graph.source << "call " << c << ", output " << o;
      }
    }
  }
  void check(const std::string& program, const std::vector<TensorView>& inputs, SizeBinding sizes = {}) {
    check_calls(program, {inputs}, std::move(sizes));
  }

  // Whether the calls so far had threads that fetch boxes besides those that multiply.
  bool took_boxes() const {
    return std::any_of(gpu_.driver->launches.begin(), gpu_.driver->launches.end(),
                       [](const auto& launch) { return launch.block % 128 == 32; });
  }

  EmulatedMachine gpu_;
};

}  // namespace smelt::testing

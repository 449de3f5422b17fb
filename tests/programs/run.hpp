// Programs as text, compiled and run: what the tests of single cases need.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "check.hpp"
#include "compile/compile.hpp"
#include "support/arrays.hpp"

namespace smelt::testing {

// Where the tests run programs (device.hpp).
const Machine& device();
// What went wrong in a kernel on the emulated GPU since the last time, or "".
std::string fault_of_device();
// While it lives, tests run there.
class RunOn {
 public:
  explicit RunOn(const Machine& machine);
  RunOn(const RunOn&) = delete;
  RunOn& operator=(const RunOn&) = delete;
  ~RunOn();
};
// Skips a test where there is no compiler, or no GPU when it should run there.
#define NEEDS_LLVM() \
  if (!device().compiles()) GTEST_SKIP() << device().missing

Tensor vector(DType dtype, const std::vector<double>& values);  // rank 1
Tensor scalar(DType dtype, double value);
Tensor filled(DType dtype, const Dims& dims, double value);
// Numbers between -4 and 4, or small integers.
Tensor noise(DType dtype, const Dims& dims, uint64_t seed = 1);
// Rows of noise, of which row k begins with k times -inf; the last has nothing else.
Tensor begins_with_nothing(DType dtype, int64_t length);
double number(const Tensor& t, int64_t i = 0);
std::vector<double> numbers(const Tensor& t);
std::vector<double> numbers(const TensorView& view);  // of any strides

Executable compiled(const std::string& program, bool fuse = true, int threads = 0);
std::vector<Tensor> run_all(const std::string& program, const std::vector<TensorView>& inputs, bool fuse = true);
// The only output, of the fused program.
Tensor run(const std::string& program, const std::vector<TensorView>& inputs);

// Fused and unfused, both within the bounds of the reference, with the bytes around the outputs
// intact.
::testing::AssertionResult right(const std::string& program, const std::vector<TensorView>& inputs);
// The same for several calls of one executable.
::testing::AssertionResult right(const std::string& program, const std::vector<std::vector<TensorView>>& calls);

// Fused, with another schedule than its family would choose.
::testing::AssertionResult right_as(const plan::Tuning& tuning, const std::string& program,
                                    const std::vector<TensorView>& inputs);

// The same number, nan included; -0 is not 0.
::testing::AssertionResult same_numbers(const std::vector<double>& got, const std::vector<double>& expected);

}  // namespace smelt::testing

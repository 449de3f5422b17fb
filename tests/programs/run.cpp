#include "run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "frontends/language.hpp"
#include "graph/bounds.hpp"
#include "support/device.hpp"
#include "support/fake_cuda/emulate.hpp"

namespace smelt::testing {

static const Machine* chosen_for_now = nullptr;
RunOn::RunOn(const Machine& machine) { chosen_for_now = &machine; }
RunOn::~RunOn() { chosen_for_now = nullptr; }

// With SMELT_TEST_DEVICE=emulated, the emulated GPU; where that does not work, a machine that says
// so.
static const EmulatedMachine* emulated() {
  static const char* const name = std::getenv("SMELT_TEST_DEVICE");
  if (!name || std::strcmp(name, "emulated") != 0) return nullptr;
  static const EmulatedMachine* const made = [] {
    auto* const gpu = new EmulatedMachine(emulated_gpu());  // never deleted: its driver would go first
    gpu->driver->memory_bytes = size_t{256} << 20;
    return gpu;
  }();
  return made;
}

std::string fault_of_device() { return emulated() ? std::exchange(emulated()->driver->fault, "") : ""; }

const Machine& device() {
  if (chosen_for_now) return *chosen_for_now;
  if (emulated()) return emulated()->machine;
  static const Machine chosen = [] {
    Machine named = named_device();
    if (!named.is_gpu) named.cache = nullptr;  // compiles what it is asked to; the user's cache is the user's
    return named;
  }();
  return chosen;
}

static char* at(const TensorView& t, int64_t i) { return static_cast<char*>(t.data) + i * size_of(t.dtype); }

Tensor vector(DType dtype, const std::vector<double>& values) {
  return array(dtype, {static_cast<int64_t>(values.size())}, values);
}

Tensor scalar(DType dtype, double value) { return array(dtype, {}, {value}); }

Tensor filled(DType dtype, const Dims& dims, double value) {
  Tensor t = Tensor::empty(dtype, dims);
  const Scalar s = convert(Scalar::of_float(DType::F64, value), dtype);
  for (int64_t i = 0, n = t.count(); i < n; ++i) store_scalar(s, at(t, i));
  return t;
}

Tensor noise(DType dtype, const Dims& dims, uint64_t seed) {
  std::mt19937_64 random(seed);
  return smelt::noise(dtype, dims, random, 200);
}

double number(const Tensor& t, int64_t i) { return load_scalar(t.dtype, at(t, i)).as_double(); }

std::vector<double> numbers(const TensorView& view) {
  const Tensor t = contiguous_copy(view);
  std::vector<double> result;
  for (int64_t i = 0, n = t.count(); i < n; ++i) result.push_back(number(t, i));
  return result;
}
std::vector<double> numbers(const Tensor& t) { return numbers(static_cast<const TensorView&>(t)); }

Tensor begins_with_nothing(DType dtype, int64_t length) {
  const Tensor rest = noise(dtype, {length + 1, length}, static_cast<uint64_t>(length));
  std::vector<double> v = numbers(rest);
  for (int64_t k = 0; k <= length; ++k) std::fill_n(v.begin() + k * length, k, -kInf);
  return array(dtype, rest.dims, v);
}

static Graph parsed(const std::string& program) { return lang::parse_program(program, "case.smelt"); }

Executable compiled(const std::string& program, bool fuse, int threads) {
  CompileOptions options;
  options.fuse = fuse;
  options.threads = threads;
  return compile(parsed(program), device(), options);
}

std::vector<Tensor> run_all(const std::string& program, const std::vector<TensorView>& inputs, bool fuse) {
  return compiled(program, fuse).run(inputs);
}

Tensor run(const std::string& program, const std::vector<TensorView>& inputs) { return run_all(program, inputs).at(0); }

static std::string wrong(const Executable& executable, const Graph& graph, const std::vector<TensorView>& inputs,
                         const std::vector<Bounded>& expected) {
  std::vector<Guarded> memory;
  std::vector<TensorView> outputs;
  const std::vector<Dims> dims = executable.output_dims(inputs);
  for (size_t o = 0; o < dims.size(); ++o) memory.emplace_back(graph.at(graph.outputs[o]).dtype, dims[o], 0);
  for (const Guarded& m : memory) outputs.push_back(m.view());
  executable.run_into(inputs, outputs);
  for (size_t o = 0; o < outputs.size(); ++o) {
    const std::string difference = differences(outputs[o], expected[o]);
    if (!difference.empty()) return fmt::format("output {}: {}", o, difference);
    if (!memory[o].intact()) return fmt::format("bytes around output {} were written", o);
  }
  return {};
}

::testing::AssertionResult right(const std::string& program, const std::vector<std::vector<TensorView>>& calls) {
  const Graph graph = parsed(program);
  std::vector<std::vector<Bounded>> expected;
  for (const auto& inputs : calls) expected.push_back(interpret_bounded(graph, inputs, device().is_gpu));
  for (const bool fuse : {true, false}) {
    const Executable executable = compiled(program, fuse);
    for (size_t c = 0; c < calls.size(); ++c)
      if (const std::string text = wrong(executable, graph, calls[c], expected[c]); !text.empty())
        return ::testing::AssertionFailure()
               << program << (fuse ? "fused" : "unfused") << ", call " << c << ", " << text;
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult right(const std::string& program, const std::vector<TensorView>& inputs) {
  return right(program, std::vector<std::vector<TensorView>>{inputs});
}

::testing::AssertionResult right_as(const plan::Tuning& tuning, const std::string& program,
                                    const std::vector<TensorView>& inputs) {
  const Graph graph = parsed(program);
  CompileOptions options;
  options.tuning = tuning;
  const Executable executable = compile(graph, device(), options);
  const std::string text = wrong(executable, graph, inputs, interpret_bounded(graph, inputs, device().is_gpu));
  if (text.empty()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << program << text << "\n" << kernel::print(executable.kernels()[0]);
}

::testing::AssertionResult same_numbers(const std::vector<double>& got, const std::vector<double>& expected) {
  if (got.size() != expected.size())
    return ::testing::AssertionFailure() << got.size() << " numbers, not " << expected.size();
  for (size_t i = 0; i < got.size(); ++i) {
    const bool same = std::isnan(expected[i])
                          ? std::isnan(got[i])
                          : got[i] == expected[i] && std::signbit(got[i]) == std::signbit(expected[i]);
    if (!same) return ::testing::AssertionFailure() << "number " << i << " is " << got[i] << ", not " << expected[i];
  }
  return ::testing::AssertionSuccess();
}

}  // namespace smelt::testing

// Programs as standalone C++ files: compiled by the host compiler, loaded, run on nasty sizes and
// data, and compared with what smelt compiles, bit for bit.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/scalar.hpp"
#include "compile/standalone.hpp"
#include "emit/cuda.hpp"
#include "frontends/language.hpp"
#include "support/programs.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

namespace fs = std::filesystem;

struct Row {
  const char* name;
  std::string text;
  std::vector<SizeBinding> sizes;  // of calls
};

std::vector<Row> rows() {
  return {
      {"quantize", shared_program("quantize_int8", {"f32[N]"}), {{{"N"_size, 1003}}, {{"N"_size, 1}}, {{"N"_size, 0}}}},
      {"softmax",
       "input x: f32[B, C]\nreturn softmax(x), argmax(x, axis=-1)",
       {{{"B"_size, 5}, {"C"_size, 333}}, {{"B"_size, 2}, {"C"_size, 16}}}},
      {"column_sum",
       "input x: f32[M, N]\nreturn sum(x * x, axis=0), max(x, axis=0)",
       {{{"M"_size, 301}, {"N"_size, 37}}, {{"M"_size, 2}, {"N"_size, 130}}}},
      {"total",
       "input x: f32[N]\nreturn sqrt(sum(x * x)), min(x), sin(x) + 1",
       {{{"N"_size, 100003}}, {{"N"_size, 3}}}},
      {"halves", "input x: f16[N]\ninput y: bf16[N]\nreturn f16(gelu(f32(x)) + y), bf16(x) * y", {{{"N"_size, 515}}}},
      {"integers",
       "input x: i32[N]\ninput y: i16[N]\nreturn x // y + x % y, i8(x), (u8(y) << 3) ^ 5, x ** 3, u64(f64(x) * 1e12)",
       {{{"N"_size, 999}}}},
      {"nearest",
       "input x: f32[N, 3]\ninput c: f32[5, 3]\nd = x[:, None, :] - c\nreturn argmin(sum(d * d, axis=-1), axis=1)",
       {{{"N"_size, 333}}, {{"N"_size, 7}}}},
      {"transpose_add",
       shared_program("transpose_add", {"f32[M, N]", "f32[N, M]"}),
       {{{"M"_size, 70}, {"N"_size, 45}}}},
      {"bools", "input x: f32[N]\nreturn x > 0, where(x > 1, x, -x), any(x > 2), isnan(x)", {{{"N"_size, 130}}}},
      {"normalized",
       "input x: f32[B, C]\ny = layernorm(relu(x))\nreturn y, rmsnorm(x) * 2, x / (1 + sqrt(sum(x * x, axis=-1, "
       "keepdims=True)))",
       {{{"B"_size, 5}, {"C"_size, 333}}, {{"B"_size, 3}, {"C"_size, 31}}, {{"B"_size, 4}, {"C"_size, 64}}}},
      {"padded",
       "def step(x):\n  p = pad(x, 1)\n  return x + 0.1 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 "
       "* "
       "x)\ninput x: f32[M, N]\nreturn step(x), step(step(x)), max_pool(x, (3, 3), stride=1, padding=1)",
       {{{"M"_size, 33}, {"N"_size, 97}}, {{"M"_size, 1}, {"N"_size, 200}}, {{"M"_size, 5}, {"N"_size, 3}}}},
      {"by_turns",
       "input x: f32[8, 45]\nr = stack((x[:-1], x[:-1] + x[1:]), axis=1).reshape(14, 45)\n"
       "y = stack((r[:, :-1], r[:, :-1] * r[:, 1:]), axis=-1).reshape(14, 88)\nreturn y, y[1:, 1:]",
       {{}}},
      {"windows", "input x: f32[3, 700]\ninput h: f32[37]\nreturn sum(window(x, 37, stride=4) * h, axis=-1)", {{}}},
      {"few_rows",
       "input x: f32[7, 320]\ninput p: u8[20, 160]\ninput s: f32[20, 5]\n"
       "w = f32(stack((p & 15, p >> 4), axis=-1).reshape(20, 5, 64)) * s[..., None]\nreturn x @ w.reshape(20, 320).T",
       {{}}},
      {"small_factors",
       "input x: bf16[37, 301]\ninput w: bf16[301, 50]\ninput p: i8[20, 70]\ninput q: u8[33, 70]\n"
       "return f32(x) @ f32(w), linear(i32(p), i32(q))",
       {{}}},
  };
}

Scalar some_value(DType dtype, std::mt19937_64& random) {
  static const double special[] = {0, -0.0, 1, -1.5, 1e30, HUGE_VAL, -HUGE_VAL, NAN, 3, 1e-40};
  if (is_bool(dtype)) return Scalar::of_bool(random() & 1);
  if (!is_float(dtype))
    return random() % 5 == 0 ? Scalar::of_int(dtype, static_cast<int64_t>(random() % 3) - 1)
                             : Scalar::of_uint(dtype, random());
  if (random() % 37 == 0) return Scalar::of_float(dtype, special[random() % std::size(special)]);
  return Scalar::of_float(dtype, std::ldexp(static_cast<double>(random() >> 11), -50) - 4);
}

Tensor some_tensor(DType dtype, const Dims& dims, std::mt19937_64& random) {
  Tensor t = Tensor::empty(dtype, dims);
  for (int64_t i = 0; i < t.count(); ++i)
    store_scalar(some_value(dtype, random), static_cast<char*>(t.data) + i * size_of(dtype));
  return t;
}

// The function, called through pointers alone.
std::string caller(const Graph& graph, const std::string& name) {
  std::string text =
      "\nextern \"C\" int call(void** a, const int64_t* n, void* workspace) {\n  (void)n;\n  return " + name + "(";
  size_t at = 0;
  const auto pointer = [&](NodeId id) {
    text += "(" + emit::c_like::memory_type(emit::cuda_spellings(), graph.at(id).dtype) + "*)a[" +
            std::to_string(at++) + "], ";
  };
  for (const NodeId id : graph.inputs) pointer(id);
  for (size_t i = 0; i < graph.size_symbols().size(); ++i) text += "n[" + std::to_string(i) + "], ";
  for (const NodeId id : graph.outputs) pointer(id);
  text += "workspace);\n}\nextern \"C\" int64_t bytes(const int64_t* n) {\n  (void)n;\n  return " + name +
          "_workspace_bytes(";
  for (size_t i = 0; i < graph.size_symbols().size(); ++i) text += (i ? ", n[" : "n[") + std::to_string(i) + "]";
  return text + ");\n}\n";
}

struct Loaded {
  void* handle;
  int (*call)(void**, const int64_t*, void*);
  int64_t (*bytes)(const int64_t*);
};

Loaded build(const std::string& source, const std::string& name) {
  const fs::path folder = fs::temp_directory_path() / ("smelt-standalone-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const fs::path file = folder / (name + ".cpp"), library = folder / (name + ".so");
  std::ofstream(file) << source;
  const std::string command =
      "g++ -std=c++17 -O1 -march=native -ffp-contract=off -Wall -Wextra -Werror -fPIC -shared -o " + library.string() +
      " " + file.string();
  if (std::system(command.c_str()) != 0) return {};
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return {};
  const Loaded loaded = {handle, reinterpret_cast<int (*)(void**, const int64_t*, void*)>(::dlsym(handle, "call")),
                         reinterpret_cast<int64_t (*)(const int64_t*)>(::dlsym(handle, "bytes"))};
  fs::remove_all(folder);
  return loaded;
}

bool same_element(const Tensor& a, const Tensor& b, int64_t i) {
  const auto at = [i](const Tensor& t) {
    return load_scalar(t.dtype, static_cast<const char*>(t.data) + i * size_of(t.dtype));
  };
  return at(a) == at(b);
}

class Standalone : public ::testing::TestWithParam<Row> {};

TEST_P(Standalone, GivesWhatSmeltCompiles) {
  if (std::system("g++ --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no g++ here";
  const Row& row = GetParam();
  CompileOptions options;
  options.threads = 1;
  const Executable executable = compile(lang::parse_program(row.text, "<test>"), Machine::cpu(), options);
  const Graph& graph = executable.graph();
  StandaloneOptions standalone;
  standalone.name = row.name;
  const std::string source = standalone_cpp(executable, standalone);
  EXPECT_EQ(source, standalone_cpp(executable, standalone));
  const Loaded loaded = build(source + caller(graph, row.name), row.name);
  ASSERT_NE(loaded.call, nullptr);
  std::mt19937_64 random(11);
  for (const SizeBinding& sizes : row.sizes) {
    std::vector<int64_t> numbers;
    for (const Symbol symbol : graph.size_symbols()) numbers.push_back(sizes.at(symbol));
    std::vector<Tensor> inputs, outputs;
    for (const NodeId id : graph.inputs)
      inputs.push_back(some_tensor(graph.at(id).dtype, evaluate(graph.at(id).shape, sizes), random));
    const std::vector<Tensor> expected = executable.run({inputs.begin(), inputs.end()});
    std::vector<void*> arrays;
    for (const Tensor& t : inputs) arrays.push_back(t.data);
    for (const Tensor& t : expected)
      outputs.push_back(Tensor::empty(t.dtype, t.dims)), arrays.push_back(outputs.back().data);
    const std::unique_ptr<void, decltype(&std::free)> workspace(
        std::aligned_alloc(64, static_cast<size_t>(loaded.bytes(numbers.data()) + 64) / 64 * 64), &std::free);
    ASSERT_EQ(loaded.call(arrays.data(), numbers.data(), workspace.get()), 0);
    for (size_t o = 0; o < outputs.size(); ++o) {
      int64_t wrong = 0, first = -1;
      for (int64_t i = 0; i < outputs[o].count(); ++i)
        if (!same_element(outputs[o], expected[o], i) && wrong++ == 0) first = i;
      EXPECT_EQ(wrong, 0) << "of output " << o << ", the first at " << first;
    }
  }
  ::dlclose(loaded.handle);
}

INSTANTIATE_TEST_SUITE_P(All, Standalone, ::testing::ValuesIn(rows()),
                         [](const ::testing::TestParamInfo<Row>& info) { return std::string(info.param.name); });

TEST(StandaloneErrors, IndexOutOfRange) {
  if (std::system("g++ --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no g++ here";
  const Executable executable = compile(
      lang::parse_program("input x: f32[V]\ninput i: i64[N]\nreturn take(x, i) * 2", "<test>"), Machine::cpu(), {});
  const Loaded loaded = build(standalone_cpp(executable, {}) + caller(executable.graph(), "smelt_program"), "take");
  ASSERT_NE(loaded.call, nullptr);
  float x[3] = {1, 2, 3}, y[2] = {};
  int64_t good[2] = {2, 0}, bad[2] = {1, 3};
  std::vector<int64_t> n;
  for (const Symbol symbol : executable.graph().size_symbols()) n.push_back(symbol == "V"_size ? 3 : 2);
  std::vector<char> workspace(static_cast<size_t>(loaded.bytes(n.data()) + 64));
  void* call[] = {x, good, y};
  EXPECT_EQ(loaded.call(call, n.data(), workspace.data()), 0);
  EXPECT_EQ(y[0], 6);
  call[1] = bad;
  EXPECT_EQ(loaded.call(call, n.data(), workspace.data()), 2);
  n[0] = -1;
  EXPECT_EQ(loaded.call(call, n.data(), workspace.data()), 1);
  ::dlclose(loaded.handle);
}

}  // namespace
}  // namespace smelt::testing

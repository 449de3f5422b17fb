// What a call costs on a GPU from C++: wall time per call back to back, and the time from the text
// of a program to its first result, compiled again and from the cache on disk.
//   call_overhead [--json FILE]     FILE gets {"quantize_int8 500K": microseconds, ...}
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

#include "compile/compile.hpp"
#include "frontends/language.hpp"
#include "runtime/disk_cache.hpp"
#include "smelt/error.hpp"

using namespace smelt;

namespace {

constexpr const char* kQuantize = "input x: f32[N]\nreturn int8(clamp(round(x / 4.2 + 1.2), -128, 127))\n";
constexpr const char* kAddMulExp = "input x: f32[N]\ninput y: f32[N]\nreturn exp((x + y) * 2)\n";
constexpr const char* kLayernorm = "input x: f32[B, C]\nreturn layernorm(relu(x))\n";
constexpr const char* kSoftmax = "input x: f32[B, C]\nreturn softmax(x)\n";

struct Row {
  const char* name;
  const char* program;
  std::vector<Dims> inputs;
};

double ms_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Microseconds per call of 500 calls, the wait at the end among them.
double per_call(const std::function<void()>& call, const std::function<void()>& wait) {
  std::vector<double> samples;
  for (int sample = 0; sample < 21; ++sample)
    samples.push_back(ms_of([&] {
                        for (int i = 0; i < 500; ++i) call();
                        wait();
                      }) *
                      1e3 / 500);
  return median(samples);
}

struct Arrays {
  std::vector<Tensor> inputs, outputs;
  Arrays(const Machine& device, const Executable& e, const std::vector<Dims>& dims) {
    for (const Dims& d : dims) inputs.push_back(to_device(device, Tensor::zeros(DType::F32, d)));
    const std::vector<Dims> out = e.output_dims({inputs.begin(), inputs.end()});
    for (size_t o = 0; o < out.size(); ++o)
      outputs.push_back(device_empty(device, e.graph().at(e.graph().outputs[o]).dtype, out[o]));
  }
};

double first_result_ms(const Machine& device, const Row& row) {
  return ms_of([&] {
    const Executable e = compile(lang::parse_program(row.program, row.name), device);
    std::vector<Tensor> inputs;
    for (const Dims& d : row.inputs) inputs.push_back(Tensor::zeros(DType::F32, d));
    e.run({inputs.begin(), inputs.end()});
  });
}

int measure(const std::string& json) {
  Machine device = Machine::cuda();
  if (!device.compiles()) {
    fmt::print(stderr, "{}\n", device.missing);
    return 2;
  }
  std::string text;
  fmt::print("wall time per call, back to back (µs)      bound   not bound\n");
  for (const Row& row :
       {Row{"quantize_int8 500K", kQuantize, {{500'000}}}, Row{"quantize_int8 1M", kQuantize, {{1'000'000}}},
        Row{"add_mul_exp 100K", kAddMulExp, {{100'000}, {100'000}}},
        Row{"add_mul_exp 300K", kAddMulExp, {{300'000}, {300'000}}},
        Row{"add_mul_exp 1M", kAddMulExp, {{1'000'000}, {1'000'000}}},
        Row{"sixteen elements", kAddMulExp, {{16}, {16}}}}) {
    const Executable e = compile(lang::parse_program(row.program, row.name), device);
    const Arrays arrays(device, e, row.inputs);
    const std::vector<TensorView> in(arrays.inputs.begin(), arrays.inputs.end());
    const std::vector<TensorView> out(arrays.outputs.begin(), arrays.outputs.end());
    const BoundCall call = e.bind(in, out);
    const auto wait = [&] { call.synchronize(); };
    const double bound = per_call([&] { call.run(); }, wait);
    const double loose = per_call([&] { e.run_device(in, out, device.gpu->stream()); }, wait);
    fmt::print("  {:36} {:9.2f} {:11.2f}\n", row.name, bound, loose);
    text += fmt::format("{}\"{}\": {:.3f}", text.empty() ? "" : ", ", row.name, bound);
  }

  fmt::print("text to first result, warm process (ms)    compiled   from the cache\n");
  const std::string folder = (std::filesystem::temp_directory_path() / "smelt-call-overhead").string();
  std::filesystem::remove_all(folder);
  device.cache = std::make_shared<runtime::DiskCache>(folder);
  for (const Row& row :
       {Row{"quantize_int8", kQuantize, {{500'000}}}, Row{"add_mul_exp", kAddMulExp, {{100'000}, {100'000}}},
        Row{"relu_layernorm", kLayernorm, {{256, 1024}}}, Row{"softmax", kSoftmax, {{256, 1024}}}}) {
    const double cold = first_result_ms(device, row);
    std::vector<double> again;
    for (int i = 0; i < 9; ++i) again.push_back(first_result_ms(device, row));
    fmt::print("  {:38} {:10.2f} {:16.2f}\n", row.name, cold, median(again));
  }
  std::filesystem::remove_all(folder);
  if (!json.empty()) std::ofstream(json) << "{" << text << "}\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc == 3 && std::string(argv[1]) == "--json" ? argv[2] : "");
  } catch (const Error& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 1;
  }
}

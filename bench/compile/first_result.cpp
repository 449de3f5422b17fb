// From the text of a program to its first result, in a process that has compiled before: nothing
// from the cache on disk, then all. Since 12.9 NVRTC keeps what it makes in the driver's cache too,
// and takes it from there whatever we ask: CUDA_CACHE_DISABLE=1 turns that off.
//   first_result [cuda|cpu] < LINES     a line: a name, a program's file, inputs as `smelt -i` has them, between spaces;
//                                       bench/gpu/lines.py and bench/suite/lines.py write them
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "compile/compile.hpp"
#include "frontends/language.hpp"
#include "report/file.hpp"
#include "report/inputs.hpp"
#include "runtime/disk_cache.hpp"
#include "smelt/error.hpp"

using namespace smelt;

namespace {

constexpr int kRuns = 7;
constexpr int64_t kLargestProgram = 1 << 20;

struct Row {
  std::string name, file, text;
  std::vector<lang::InputType> types;
  std::vector<Tensor> inputs;
};

Row read_row(const std::string& line, const Machine& device) {
  std::istringstream words(line);
  Row row;
  words >> row.name >> row.file;
  row.text = report::read_text(row.file, kLargestProgram);
  for (std::string word; words >> word;)
    for (const report::InputSpec& spec : report::parse_input_list(word)) {
      const lang::ArrayType type = lang::parse_type(spec.type, spec.name);
      row.types.push_back({spec.name, type.dtype, type.shape});
      Dims dims;
      for (const IntExpr& size : type.shape) dims.push_back(*size.constant());
      if (dims.empty() || !device.is_gpu)
        row.inputs.push_back(Tensor::zeros(type.dtype, dims));
      else
        row.inputs.push_back(device_empty(device, type.dtype, dims));
    }
  return row;
}

struct Times {
  double all_ms = 0, processor_ms = 0;  // of all threads, which says more where others use the machine
  std::string stages;
};

Times run_once(const Machine& device, const Row& row) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  const Executable e = compile(lang::parse_program(row.text, row.file, row.types), device);
  const std::vector<TensorView> inputs(row.inputs.begin(), row.inputs.end());
  std::vector<Tensor> outputs;
  if (device.is_gpu) {
    const std::vector<Dims> dims = e.output_dims(inputs);
    for (size_t o = 0; o < dims.size(); ++o)
      outputs.push_back(device_empty(device, e.graph().at(e.graph().outputs[o]).dtype, dims[o]));
    e.run_device(inputs, {outputs.begin(), outputs.end()}, device.gpu->stream());
    device.gpu->synchronize(device.gpu->stream());
  } else {
    outputs = e.run(inputs);
  }
  Times times;
  times.all_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  times.processor_ms = 1e3 * static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
  for (const StageTime& s : e.stage_times()) times.stages += fmt::format(" {} {:.1f}", s.stage, s.ms);
  return times;
}

std::vector<Times> runs(const Machine& device, const Row& row) {
  std::vector<Times> all;
  for (int i = 0; i < kRuns; ++i) all.push_back(run_once(device, row));
  std::sort(all.begin(), all.end(), [](const Times& a, const Times& b) { return a.all_ms < b.all_ms; });
  return all;
}

int measure(std::string_view where) {
  Machine device = where == "cpu" ? Machine::cpu() : Machine::cuda();
  if (!device.compiles()) throw UserError(device.missing);
  Machine without = device, with = device;
  without.cache = nullptr;
  const std::string folder = (std::filesystem::temp_directory_path() / "smelt-first-result").string();
  fmt::print(
      "from text to first result, ms: the first, then median and least of {} more, least of the processor (from the "
      "cache: median)\n",
      kRuns);
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) continue;
    const Row row = read_row(line, device);
    std::filesystem::remove_all(folder);
    with.cache = std::make_shared<runtime::DiskCache>(folder);
    const double first_ms = run_once(without, row).all_ms;
    const std::vector<Times> cold = runs(without, row), again = runs(with, row);
    const auto by_processor = [](const Times& a, const Times& b) { return a.processor_ms < b.processor_ms; };
    fmt::print("{:28} {:6.1f} {:6.1f} {:6.1f} {:6.1f}  {:5.2f} {}\n", row.name, first_ms, cold[kRuns / 2].all_ms,
               cold[0].all_ms, std::min_element(cold.begin(), cold.end(), by_processor)->processor_ms,
               again[kRuns / 2].all_ms, cold[0].stages);
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return measure(count > 1 ? arguments[1] : "cuda");
  } catch (const Error& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 1;
  }
}

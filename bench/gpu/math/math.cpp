// Every function of one argument on a GPU: its error over all 2^32 arguments in f32, and over all
// of bf16 and f16, against CUDA's in f64; and its time beside CUDA's in f32.
//
//   gpu_math [--json FILE] [--errors] [--times] [function ...]
//   gpu_math --architecture 90 [function ...]      only builds everything; needs no GPU
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "compile/compile.hpp"
#include "frontends/language.hpp"
#include "functions.hpp"
#include "ops/ulp.hpp"
#include "smelt/error.hpp"
#include "source.hpp"

namespace smelt::bench {
namespace {

using nlohmann::json;

constexpr int kTerms = 16;
constexpr int64_t kTimed = int64_t{1} << 24;
constexpr int kThreads = 256;

struct Options {
  std::string json_file;
  int architecture = 0;
  bool errors = true, times = true;
  std::vector<std::string> names;
  bool wants(const std::string& name) const {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  }
};

struct Format {
  DType dtype;
  int bits;
  int64_t arguments() const { return int64_t{1} << bits; }
  int64_t chunk() const { return std::min(arguments(), int64_t{1} << 28); }
};

Executable program(const Machine& device, const std::string& text, DType dtype, int64_t count) {
  const lang::InputType x{"x", dtype, {IntExpr(count)}};
  return compile(lang::parse_program(text, "gpu_math", {x}), device);
}

std::string sum_of_terms(const std::string& name) {
  std::string text = name + "(x)";
  for (int k = 1; k < kTerms; ++k) text += fmt::format(" + {}(x + {} / 1024)", name, k);
  return text;
}

std::string source_for(const Function& f, const Format& format) {
  const FloatFormat u = float_format(format.dtype);
  return checking_source(f.exact, format.bits, u.mantissa, u.least, u.most);
}

uint64_t address(const Tensor& array) { return reinterpret_cast<uint64_t>(array.data); }

void launch(runtime::Gpu& gpu, runtime::FunctionHandle function, int64_t workgroups, std::vector<void*> arguments) {
  gpu.launch(function, {workgroups, kThreads, 1, 0}, arguments.data(), gpu.stream());
}

json errors_of(const Machine& device, const Function& f, const Format& format) {
  runtime::Gpu& gpu = *device.gpu;
  const auto module = gpu.load(device.nvrtc->compile(source_for(f, format), gpu.facts().compute));
  const auto fill = module->function("fill"), check = module->function("check");
  const Tensor in = device_empty(device, format.dtype, {format.chunk()});
  const Tensor out = device_empty(device, format.dtype, {format.chunk()});
  const Tensor found = device_empty(device, DType::U64, {9});
  const Executable run = program(device, f.name + "(x)", format.dtype, format.chunk());
  const BoundCall call = run.bind({in}, {out}, gpu.stream());
  uint64_t in_at = address(in), out_at = address(out), worst = address(found), histogram = address(found) + 8;
  gpu.fill(worst, 0, 72, gpu.stream());
  const int64_t workgroups = gpu.facts().processors * 8;
  for (int64_t start = 0; start < format.arguments(); start += format.chunk()) {
    auto first = static_cast<uint32_t>(start), count = static_cast<uint32_t>(format.chunk());
    launch(gpu, fill, workgroups, {&in_at, &first, &count});
    call.run();
    launch(gpu, check, workgroups, {&out_at, &first, &count, &worst, &histogram});
  }
  uint64_t result[9];
  gpu.download(result, worst, 72, gpu.stream());
  const float error = std::bit_cast<float>(static_cast<uint32_t>(result[0] >> 32));
  const auto argument = static_cast<uint32_t>(result[0]);
  json j = {{"function", f.name}, {"dtype", std::string(name_of(format.dtype))}, {"argument_bits", argument}};
  j["bound"] = format.bits == 32 ? f.bound : 0.0;
  // JSON has no infinity: a wrong nan, infinity or sign of zero.
  j["wrong"] = std::isinf(error);
  if (!std::isinf(error)) j["ulp"] = error;
  for (int k = 1; k < 9; ++k) j["histogram"].push_back(result[k]);
  return j;
}

double milliseconds(runtime::Gpu& gpu, const std::function<void()>& run) {
  const auto from = gpu.create_event(true), to = gpu.create_event(true);
  double best = HUGE_VAL;
  for (int round = 0; round < 6; ++round) {
    gpu.record(from, gpu.stream());
    for (int k = 0; k < 5; ++k) run();
    gpu.record(to, gpu.stream());
    gpu.synchronize_event(to);
    if (round > 0) best = std::min(best, gpu.elapsed_ms(from, to) / 5);
  }
  gpu.destroy_event(from);
  gpu.destroy_event(to);
  return best;
}

json times_of(const Machine& device, const Function& f) {
  runtime::Gpu& gpu = *device.gpu;
  std::vector<float> host(static_cast<size_t>(kTimed));
  for (size_t i = 0; i < host.size(); ++i)
    host[i] = static_cast<float>(f.low + (f.high - f.low) * static_cast<double>(i * 2654435761u % 1000003) / 1000003);
  const Tensor in = device_empty(device, DType::F32, {kTimed}), out = device_empty(device, DType::F32, {kTimed});
  gpu.upload(address(in), host.data(), kTimed * 4, gpu.stream());
  const BoundCall ours = program(device, sum_of_terms(f.name), DType::F32, kTimed).bind({in}, {out}, gpu.stream());
  const auto module = gpu.load(device.nvrtc->compile(rival_source(f.library, kTerms), gpu.facts().compute));
  const auto sums = module->function("sums");
  uint64_t in_at = address(in), out_at = address(out);
  const double smelt_ms = milliseconds(gpu, [&] { ours.run(); });
  const double cuda_ms = milliseconds(gpu, [&] { launch(gpu, sums, kTimed / 8 / kThreads, {&in_at, &out_at}); });
  const double scale = 1e9 / static_cast<double>(kTimed * kTerms);
  return {{"function", f.name}, {"smelt_ps", smelt_ms * scale}, {"cuda_ps", cuda_ms * scale}};
}

std::string shown(const json& j) {
  const uint32_t bits = j["argument_bits"];
  if (j["dtype"] == "f32") return fmt::format("{:.9g} ({:a})", std::bit_cast<float>(bits), std::bit_cast<float>(bits));
  return fmt::format("{:#06x}", bits);
}

bool print_errors(const json& all) {
  bool good = true;
  fmt::print(
      "\n| function | dtype | largest error (ULP) | promised | at | <=0.5 | <=1 | <=1.5 | <=2 | <=3 | <=4 | more | "
      "wrong |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const json& j : all) {
    const bool wrong = j["wrong"];
    const double bound = j["bound"], ulp = wrong ? HUGE_VAL : j["ulp"].get<double>();
    good = good && !wrong && (bound == 0 || ulp <= bound);
    fmt::print("| {} | {} | {} | {} | {} |", j["function"].get<std::string>(), j["dtype"].get<std::string>(),
               wrong ? "**wrong**" : fmt::format("{:.2f}{}", ulp, bound > 0 && ulp > bound ? " **above**" : ""),
               bound > 0 ? fmt::format("{}", bound) : "", shown(j));
    for (const json& count : j["histogram"]) fmt::print(" {} |", count.get<uint64_t>());
    fmt::print("\n");
  }
  return good;
}

void print_times(const json& all) {
  fmt::print("\n| function | smelt, ps an element | CUDA's f32 function | ratio |\n|---|---|---|---|\n");
  for (const json& j : all) {
    const double ours = j["smelt_ps"], theirs = j["cuda_ps"];
    fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} |\n", j["function"].get<std::string>(), ours, theirs, theirs / ours);
  }
}

const std::vector<Format> kFormats = {{DType::F32, 32}, {DType::BF16, 16}, {DType::F16, 16}};

int build_only(const Options& options) {
  const Machine device = Machine::cuda_architecture(options.architecture);
  if (!device.compiles()) throw UserError("no NVRTC: " + device.missing);
  for (const Function& f : functions()) {
    if (!options.wants(f.name)) continue;
    for (const Format& format : kFormats) {
      (void)device.nvrtc->compile(source_for(f, format), options.architecture);
      (void)program(device, f.name + "(x)", format.dtype, format.chunk());
    }
    (void)program(device, sum_of_terms(f.name), DType::F32, kTimed);
    (void)device.nvrtc->compile(rival_source(f.library, kTerms), options.architecture);
    fmt::print("{} builds\n", f.name);
  }
  return 0;
}

int run(const Options& options) {
  if (options.architecture) return build_only(options);
  const Machine device = Machine::cuda();
  if (!device.gpu || !device.compiles()) throw UserError("no GPU to measure: " + device.missing);
  json result = {{"gpu", device.gpu_facts.name}, {"errors", json::array()}, {"times", json::array()}};
  fmt::print("{}\n", device.gpu_facts.name);
  for (const Function& f : functions()) {
    if (!options.wants(f.name)) continue;
    if (options.errors)
      for (const Format& format : kFormats) result["errors"].push_back(errors_of(device, f, format));
    if (options.times) result["times"].push_back(times_of(device, f));
  }
  const bool good = print_errors(result["errors"]);
  print_times(result["times"]);
  if (!options.json_file.empty()) std::ofstream(options.json_file) << result.dump(1) << "\n";
  return good ? 0 : 1;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--json" && i + 1 < argc)
      options.json_file = argv[++i];
    else if (arg == "--architecture" && i + 1 < argc)
      options.architecture = std::atoi(argv[++i]);
    else if (arg == "--errors")
      options.times = false;
    else if (arg == "--times")
      options.errors = false;
    else
      options.names.push_back(arg);
  }
  return options;
}

}  // namespace
}  // namespace smelt::bench

int main(int argc, char** argv) {
  try {
    return smelt::bench::run(smelt::bench::parse(argc, argv));
  } catch (const smelt::Error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}

// How well the cost model chooses: the kernels of many programs, what they were predicted to take
// and what they take, and the same of other schedules that they could have had. A line of JSON a
// program.
//   choice DEVICE [--others N] [--seconds S] [--threads T] [--memory GBS] [--once] [--numbers FILE] < LINES
//     DEVICE     cuda: measured, every launch with a cold cache; sm_90: predictions alone;
//                cpu: measured, call after call
//     --others   measures so many other schedules of each kernel, the best by prediction
//     --seconds  begins nothing new after that time
//     --threads  that compile; of a CPU those that run, after another one has compiled
//     --numbers  a calibration of another CPU, as `smelt devices --calibrate` keeps it: predictions alone
//     --memory   GB/s that the memory of the GPU could deliver, where there is none: 3350 of an H100
//     --once     runs every program once and times nothing: for a profiler, which sees ranges with their names
//   a line: a name, a program's file, inputs as `smelt -i` has them, between spaces; `below=100:i32[7]` is integers from 0 to 99.
//   bench/suite/lines.py --large writes them
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "base/scalar.hpp"
#include "compile/compile.hpp"
#include "frontends/language.hpp"
#include "report/device_clock.hpp"
#include "report/file.hpp"
#include "report/inputs.hpp"
#include "report/traffic.hpp"
#include "smelt/error.hpp"

using namespace smelt;
using Json = nlohmann::json;

namespace {

constexpr int64_t kLargestProgram = 1 << 20;
constexpr size_t kMostBuilt = 64;             // programs that wait to be measured
constexpr int64_t kDrawn = int64_t{1} << 22;  // elements that larger arrays repeat

struct Arguments {
  std::string device;
  size_t others = 0;
  double seconds = 1e9;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  double memory_gbs = 0;
  bool once = false;
  std::string numbers;

  bool on_cpu() const { return device == "cpu"; }
  bool measures() const { return device == "cuda" || (on_cpu() && numbers.empty()); }
  int run_threads() const { return on_cpu() ? threads : 0; }
};

struct Input {
  report::InputSpec spec;
  DType dtype;
  Dims dims;
  int64_t below = 0;  // integers from 0 to one less; 0: as the spec says
};

struct Row {
  std::string name, file, text;
  std::vector<lang::InputType> types;
  std::vector<Input> inputs;
};

Row read_row(const std::string& line) {
  std::istringstream words(line);
  Row row;
  words >> row.name >> row.file;
  row.text = report::read_text(row.file, kLargestProgram);
  for (std::string word; words >> word;) {
    int64_t below = 0;
    if (const size_t at = word.find("=below="); at != std::string::npos) {
      const size_t colon = word.find(':', at);
      below = std::stoll(word.substr(at + 7, colon - at - 7));
      word = word.substr(0, at + 1) + word.substr(colon + 1);
    }
    for (const report::InputSpec& spec : report::parse_input_list(word)) {
      const lang::ArrayType type = lang::parse_type(spec.type, spec.name);
      row.types.push_back({spec.name, type.dtype, type.shape});
      Dims dims;
      for (const IntExpr& size : type.shape) dims.push_back(*size.constant());
      row.inputs.push_back({spec, type.dtype, dims, below});
    }
  }
  return row;
}

Tensor below(int64_t limit, DType dtype, const Dims& dims, uint64_t seed) {
  Tensor tensor = Tensor::empty(dtype, dims);
  std::mt19937_64 draw(seed);
  const auto bytes = static_cast<size_t>(size_of(dtype));
  for (int64_t i = 0; i < element_count(dims); ++i) {
    const uint64_t value = draw() % static_cast<uint64_t>(limit);  // the least bytes come first
    std::memcpy(static_cast<char*>(tensor.data) + static_cast<size_t>(i) * bytes, &value, bytes);
  }
  return tensor;
}

Tensor repeat(const Tensor& drawn, const Dims& dims) {
  Tensor all = Tensor::empty(drawn.dtype, dims);
  const int64_t bytes = all.bytes(), part = drawn.bytes();
  for (int64_t at = 0; at < bytes; at += part)
    std::memcpy(static_cast<char*>(all.data) + at, drawn.data, static_cast<size_t>(std::min(part, bytes - at)));
  return all;
}

Tensor data_of(const Input& input, size_t number) {
  const bool repeats = element_count(input.dims) > kDrawn && input.spec.filler != report::Filler::Iota;
  const Dims dims = repeats ? Dims{kDrawn} : input.dims;
  const Tensor drawn = input.below > 0 ? below(input.below, input.dtype, dims, number)
                                       : report::fill(input.spec.filler, input.dtype, dims, number);
  return repeats ? repeat(drawn, input.dims) : drawn;
}

// A program as it is compiled, and as it is with another schedule of each kernel, round by round.
struct Built {
  Row row;
  std::vector<Executable> executables;
  std::vector<std::vector<size_t>> candidates;  // per round and kernel: which of its own list; its size: none is left
  Json json;
  std::string error;
};

Json json_of(const schedule::Candidate& c) {
  return {{"form", schedule::form_of(*c.schedule)},
          {"tuning", schedule::text_of(c.tuning)},
          {"us", c.cost.us},
          {"limit", static_cast<int>(c.cost.limit)},
          {"memory", c.cost.memory_us},
          {"cache", c.cost.cache_us},
          {"chip", c.cost.on_chip_us},
          {"issue", c.cost.issue_us},
          {"latency", c.cost.latency_us},
          {"launch", c.cost.launch_us},
          {"registers", c.cost.registers},
          {"workgroups", c.cost.workgroups},
          {"columns", c.schedule->columns}};
}

void build_others(Built& built, const Graph& graph, const Machine& device, const SizeBinding& sizes,
                  const Arguments& arguments) {
  const Executable own = built.executables[0];
  const bool measures = arguments.measures();
  const size_t most = arguments.others;
  std::vector<std::vector<Considered>> considered = own.considered(sizes, false);
  std::vector<std::vector<size_t>> orders;
  size_t rounds = 0;
  for (size_t k = 0; k < considered.size(); ++k) {
    std::vector<size_t> order;
    for (size_t c = 0; c < considered[k].size(); ++c) {
      Json entry = json_of(considered[k][c].candidate);
      if (considered[k][c].chosen) entry["chosen"] = true;
      built.json["kernels"][k]["candidates"].push_back(entry);
      if (!considered[k][c].chosen) order.push_back(c);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return considered[k][a].candidate.cost.us < considered[k][b].candidate.cost.us;
    });
    order.resize(measures ? std::min(order.size(), most) : 0);
    rounds = std::max(rounds, order.size());
    orders.push_back(std::move(order));
  }
  for (size_t round = 0; round < rounds; ++round) {
    Settled settled = own.settled();
    std::vector<size_t> taken;
    for (size_t k = 0; k < considered.size(); ++k) {
      taken.push_back(considered[k].size());
      if (round >= orders[k].size()) continue;
      taken.back() = orders[k][round];
      settled.tunings[k] = considered[k][taken.back()].candidate.tuning;
    }
    CompileOptions options;
    options.sizes = sizes;
    options.settled = std::make_shared<const Settled>(settled);
    options.threads = arguments.run_threads();
    try {
      built.executables.push_back(compile(graph, device, options));
      built.candidates.push_back(std::move(taken));
    } catch (const Error&) {  // NVRTC or the driver refuses one of them
    }
  }
}

Built build(const std::string& line, const Machine& device, const Arguments& arguments) {
  Built built;
  try {
    built.row = read_row(line);
    const Graph graph = lang::parse_program(built.row.text, built.row.file, built.row.types);
    CompileOptions options;
    options.program = built.row.name;
    options.threads = arguments.run_threads();
    built.executables.push_back(compile(graph, device, options));
    const Executable& own = built.executables[0];
    std::vector<Dims> dims;
    for (const Input& input : built.row.inputs) dims.push_back(input.dims);
    const SizeBinding sizes = bind_sizes(own.graph(), dims);
    const plan::Prediction predicted = own.predicted(sizes);
    built.json = {{"row", built.row.name}, {"predicted", predicted.us}, {"compile_ms", own.compile_ms()}};
    for (size_t k = 0; k < own.plan().groups.size(); ++k) {
      const plan::FusionGroup& group = own.plan().groups[k];
      Json kernel = {{"strategy", plan::name_of(group.strategy())}};
      if (group.schedule && group.parts.empty() && predicted.kernels[k])
        kernel["own"] = json_of({group.tuning, group.schedule, *predicted.kernels[k]});
      built.json["kernels"].push_back(kernel);
    }
    if (arguments.others > 0) build_others(built, graph, device, sizes, arguments);
  } catch (const std::exception& e) {
    built.error = e.what();
  }
  return built;
}

std::vector<Tensor> data_of(const Row& row) {
  std::vector<Tensor> inputs;
  for (const Input& input : row.inputs) inputs.push_back(data_of(input, inputs.size()));
  return inputs;
}

// What `ms` says that every kernel takes, its own schedule and others.
void measure_each(Built& built, const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
                  const std::function<double(const std::function<void()>&)>& ms) {
  for (size_t e = 0; e < built.executables.size(); ++e)
    built.executables[e].run_each(inputs, outputs, [&](size_t k, const std::function<void()>& run) {
      Json& kernel = built.json["kernels"][k];
      const size_t taken = e == 0 ? 0 : built.candidates[e - 1][k];
      if (e == 0)
        kernel["measured"] = ms(run) * 1e3;
      else if (taken < kernel["candidates"].size())
        kernel["candidates"][taken]["measured"] = ms(run) * 1e3;
      else
        run();
    });
}

void measure_on_cpu(Built& built, const Arguments& arguments, const report::BenchOptions& options) {
  const std::vector<Tensor> inputs = data_of(built.row);
  const std::vector<TensorView> views = report::views_of(inputs);
  const Executable& own = built.executables[0];
  std::vector<Tensor> outputs;
  std::vector<Dims> given;
  for (const Tensor& input : inputs) given.push_back(input.dims);
  const std::vector<Dims> dims = own.output_dims(views);
  for (size_t o = 0; o < dims.size(); ++o)
    outputs.push_back(Tensor::empty(own.graph().at(own.graph().outputs[o]).dtype, dims[o]));
  const std::vector<TensorView> results = report::views_of(outputs);
  const auto least = [&](const std::function<void()>& run) { return report::measure(options, run).min; };
  const BoundCall call = own.bind(views, results);
  built.json["measured"] = least([&] { call.run(); }) * 1e3;
  const int64_t bytes = report::kernel_bytes(own.graph(), own.plan(), bind_sizes(own.graph(), given));
  built.json["copy"] = runtime::measure_copy_seconds(std::max<int64_t>(64, bytes / 2), arguments.threads, 5) * 1e6;
  measure_each(built, views, results, least);
}

void measure(Built& built, const Machine& device, report::DeviceClock* clock) {
  const std::vector<Tensor> inputs = data_of(built.row);
  std::vector<Tensor> outputs;
  const report::DeviceInputs there = report::bring_inputs(device, inputs);
  const Executable& own = built.executables[0];
  const std::vector<Dims> dims = own.output_dims(there.views);
  for (size_t o = 0; o < dims.size(); ++o)
    outputs.push_back(device_empty(device, own.graph().at(own.graph().outputs[o]).dtype, dims[o]));
  const std::vector<TensorView> views(outputs.begin(), outputs.end());
  const BoundCall call = own.bind(there.views, views, device.gpu->stream());
  if (!clock) {
    call.run();
    return call.synchronize();
  }
  built.json["measured"] = clock->cold([&] { call.run(); }).median * 1e3;
  measure_each(built, there.views, views, [&](const std::function<void()>& run) { return clock->cold(run).median; });
}

// Programs in the order of their lines, each when it is built; without threads each when the one
// before has been taken.
class Builders {
 public:
  Builders(std::vector<std::string> lines, int threads, const std::function<Built(const std::string&)>& build)
      : lines_(std::move(lines)), build_(build) {
    for (int t = 0; t < threads; ++t) threads_.emplace_back([this] { work(); });
  }
  ~Builders() {
    for (std::thread& thread : threads_) thread.join();
  }
  std::optional<Built> next() {
    std::unique_lock lock(mutex_);
    if (taken_ == lines_.size()) return std::nullopt;
    if (threads_.empty()) return build_(lines_[taken_++]);
    changed_.wait(lock, [&] { return done_.contains(taken_); });
    Built built = std::move(done_.extract(taken_++).mapped());
    changed_.notify_all();
    return built;
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!stopped_ && begun_ < lines_.size()) {
      const size_t number = begun_++;
      changed_.wait(lock, [&] { return stopped_ || number < taken_ + kMostBuilt; });
      if (stopped_) return;
      lock.unlock();
      Built built = build_(lines_[number]);
      lock.lock();
      done_.emplace(number, std::move(built));
      changed_.notify_all();
    }
  }

  std::vector<std::string> lines_;
  std::function<Built(const std::string&)> build_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<size_t, Built> done_;
  size_t begun_ = 0, taken_ = 0;
  bool stopped_ = false;
};

Arguments read_arguments(int count, char** words) {
  constexpr const char* kUsage =
      "usage: choice DEVICE [--others N] [--seconds S] [--threads T] [--memory GBS] [--once] [--numbers FILE] < LINES";
  if (count < 2) throw UserError(kUsage);
  Arguments arguments{words[1]};
  for (int i = 2; i < count; ++i) {
    const std::string_view name = words[i];
    if (name == "--once") {
      arguments.once = true;
      continue;
    }
    if (i + 1 == count) throw UserError(kUsage);
    const std::string value = words[++i];
    if (name == "--others")
      arguments.others = std::stoul(value);
    else if (name == "--seconds")
      arguments.seconds = std::stod(value);
    else if (name == "--memory")
      arguments.memory_gbs = std::stod(value);
    else if (name == "--numbers")
      arguments.numbers = value;
    else if (name == "--threads")
      arguments.threads = std::stoi(value);
    else
      throw UserError(fmt::format("no option {}", name));
  }
  return arguments;
}

// The lines between what the file says of the machine and its end.
std::shared_ptr<const schedule::Calibration> read_numbers(const std::string& file) {
  constexpr int64_t kLargest = 1 << 16;
  const std::string text = report::read_text(file, kLargest);
  const size_t begin = text.find('\n', text.find("\nmeasured ") + 1), end = text.rfind("end ");
  const auto numbers = begin < end ? schedule::calibration_of(text.substr(begin + 1, end - begin - 1)) : std::nullopt;
  if (!numbers) throw UserError(fmt::format("{} holds no calibration", file));
  return std::make_shared<const schedule::Calibration>(*numbers);
}

Machine machine_of(const Arguments& arguments) {
  const bool here = arguments.device == "cuda";
  Machine device = here                 ? Machine::cuda()
                   : arguments.on_cpu() ? Machine::cpu()
                                        : Machine::cuda_architecture(std::stoi(arguments.device.substr(3)));
  if ((here || arguments.on_cpu()) && !device.compiles()) throw UserError(device.missing);
  device.cache = nullptr;
  if (!arguments.numbers.empty()) device.measured = read_numbers(arguments.numbers);
  if (!here && !arguments.on_cpu()) device.gpu_facts.memory_gbs = arguments.memory_gbs;
  return device;
}

int run(const Arguments& arguments) {
  const Machine device = machine_of(arguments);
  const report::BenchOptions options{.threads = arguments.threads, .noise = 0.01, .time_limit_s = 0.04};
  std::optional<report::DeviceClock> clock;
  if (device.gpu && !arguments.once) clock.emplace(*device.gpu, options);
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);)
    if (!line.empty()) lines.push_back(line);
  const auto start = std::chrono::steady_clock::now();
  const bool apart = arguments.on_cpu() && arguments.measures();
  Builders builders(lines, apart ? 0 : arguments.threads,
                    [&](const std::string& line) { return build(line, device, arguments); });
  while (std::optional<Built> built = builders.next()) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > arguments.seconds) break;
    try {
      if (built->error.empty() && apart) measure_on_cpu(*built, arguments, options);
      if (built->error.empty() && device.gpu) measure(*built, device, clock ? &*clock : nullptr);
    } catch (const std::exception& e) {
      built->error = e.what();
    }
    if (!built->error.empty()) built->json = {{"row", built->row.name}, {"error", built->error}};
    fmt::print("{}\n", built->json.dump());
    std::fflush(stdout);
  }
  builders.stop();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(read_arguments(count, words));
  } catch (const std::exception& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 1;
  }
}

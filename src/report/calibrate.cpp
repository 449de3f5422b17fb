#include "report/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>

#include "base/median.hpp"
#include "graph/build.hpp"
#include "graph/functions.hpp"
#include "report/bench.hpp"
#include "report/device_clock.hpp"
#include "schedule/operations.hpp"
#include "schedule/target_facts.hpp"
#include "smelt/error.hpp"

namespace smelt::report {
namespace {

using schedule::Calibration;
using schedule::Fact;

// Elements of arrays that the first-level cache holds, three at a time.
constexpr int64_t kNear = 2048, kNearWide = 1024;
constexpr int kChains = 4;                    // beside each other
constexpr int64_t kPicked = 4096;             // elements that indices pick from
constexpr int64_t kWritten = 1024;            // elements of a row that is written
constexpr int kSteps = 4;                     // of a chain of operations
constexpr double kOperationsOfStep = 3;       // a multiply-add, and a subtraction
constexpr int64_t kProduct = 512;             // rows, columns and terms
constexpr int64_t kSmallest = 16;             // elements: nothing but a launch
constexpr int64_t kShareOfThread = 64 << 10;  // bytes that each thread has of a launch of all
constexpr double kLeastCost = 0.25;           // of an operation that another one hides
constexpr double kSampleUs = 300;             // one measurement of a short program
constexpr double kMostSeconds = 1;            // of a long program over all rounds: a last cache of 480 MiB has such
constexpr int kCalibrationSamples = 16, kFewestRepeats = 3, kMostRepeats = 2000;

// Microseconds by name, the least of all rounds: what other processes take is no property of the
// machine.
class Times {
 public:
  void add(const std::string& name, double us) {
    const auto [at, first] = all_.try_emplace(name, us);
    if (!first) at->second = std::min(at->second, us);
  }
  // 0 where nothing was measured.
  double least(const std::string& name) const {
    const auto found = all_.find(name);
    return found == all_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, double> all_;
};

// ── Programs

Shape row_of(int64_t elements) { return {IntExpr(elements)}; }

// x + 1
Graph copying(int64_t elements) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F32, row_of(elements));
  return b.finish({b.elementwise(Op::Add, {x, 1.0})});
}

// Chains beside each other, as many as hide that each step waits for the one before: every step
// multiplies, adds and subtracts.
Graph chained(DType dtype, int64_t elements, int steps) {
  GraphBuilder b;
  const NodeId x = b.input("x", dtype, row_of(elements)), y = b.input("y", dtype, row_of(elements));
  std::vector<NodeId> chains;
  for (int c = 0; c < kChains; ++c) {
    NodeId v = b.elementwise(Op::Add, {x, 1.0 + c});
    for (int i = 0; i < steps; ++i)
      v = b.elementwise(Op::Sub, {y, b.elementwise(Op::Add, {b.elementwise(Op::Mul, {v, y}), x})});
    chains.push_back(v);
  }
  NodeId sum = chains[0];
  for (int c = 1; c < kChains; ++c) sum = b.elementwise(Op::Add, {sum, chains[static_cast<size_t>(c)]});
  return b.finish({sum});
}
// The number of operations for an element.
constexpr double operations_of_chains(int steps) { return kChains * (steps * kOperationsOfStep + 2) - 1; }

// x + y
Graph adding(DType dtype, int64_t elements) {
  GraphBuilder b;
  const NodeId x = b.input("x", dtype, row_of(elements)), y = b.input("y", dtype, row_of(elements));
  return b.finish({b.elementwise(Op::Add, {x, y})});
}

// x[i], of a short x
Graph gathering(int64_t elements) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F32, row_of(kPicked)), i = b.input("i", DType::I32, row_of(elements));
  return b.finish({b.gather(x, i, 0, GatherMode::Check)});
}

// sum(x)
Graph reading(int64_t elements) {
  GraphBuilder b;
  return b.finish({b.reduce(ReduceKind::Sum, b.input("x", DType::F32, row_of(elements)), {}, false)});
}

// x[:, None] * y
Graph writing(int64_t elements) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F32, {IntExpr(elements / kWritten), IntExpr(1)});
  return b.finish({b.elementwise(Op::Mul, {x, b.input("y", DType::F32, row_of(kWritten))})});
}

Graph running(ReduceKind kind, int64_t elements) {
  GraphBuilder b;
  return b.finish({b.scan(kind, b.input("x", DType::F32, row_of(elements)), 0)});
}

Graph multiplied(int64_t side) {
  GraphBuilder b;
  const Shape shape = {IntExpr(side), IntExpr(side)};
  const NodeId x = b.input("x", DType::F32, shape), y = b.input("y", DType::F32, shape);
  return b.finish({functions::matmul(b, x, y)});
}

// Operations whose cost is not that of one instruction everywhere.
bool is_measured(Op op) {
  const OpInfo& i = info(op);
  if (!i.on_float || i.rule == TypeRule::Integer || i.rule == TypeRule::Bits) return false;
  return i.llvm_float.empty() || op == Op::Div || op == Op::Sqrt;
}

// All of them on floats, each an output of its own; and a negation, which stands for the accesses.
Graph operations_of(DType dtype, int64_t elements) {
  GraphBuilder b;
  const NodeId x = b.input("x", dtype, row_of(elements)), y = b.input("y", dtype, row_of(elements));
  std::vector<NodeId> outputs = {b.elementwise(Op::Neg, {x})};
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (!is_measured(op)) continue;
    outputs.push_back(info(op).arity == 1   ? b.elementwise(op, {x})
                      : info(op).arity == 2 ? b.elementwise(op, {x, y})
                                            : b.elementwise(op, {x, y, x}));
  }
  return b.finish(outputs);
}

// ── Running them

// Floats near one, or not far below; indices in no order.
void fill(const Tensor& array) {
  if (is_float(array.dtype)) {
    std::memset(array.data, 0x3f, static_cast<size_t>(array.bytes()));
    return;
  }
  for (int64_t i = 0; i < array.count(); ++i)
    static_cast<int32_t*>(array.data)[i] = static_cast<int32_t>(i * 1009 % kPicked);
}

// A compiled program with its arrays.
class Repeated {
 public:
  Repeated(const Machine& device, const Graph& graph, int threads, bool fuse = true) : threads_(threads) {
    CompileOptions options;
    options.fuse = fuse;
    options.threads = threads;
    executable_ = compile(graph, device, options);
    std::vector<Tensor> inputs;
    for (const NodeId id : graph.inputs) {
      inputs.push_back(Tensor::empty(graph.at(id).dtype, evaluate(graph.at(id).shape, {})));
      fill(inputs.back());
    }
    if (device.is_gpu) {
      there_ = bring_inputs(device, inputs);
      views_ = there_.views;
    } else {
      inputs_ = std::move(inputs);
      views_ = views_of(inputs_);
    }
    const std::vector<Dims> dims = executable_.output_dims(views_);
    for (size_t o = 0; o < dims.size(); ++o) {
      const DType dtype = executable_.graph().at(executable_.graph().outputs[o]).dtype;
      outputs_.push_back(device.is_gpu ? device_empty(device, dtype, dims[o]) : Tensor::empty(dtype, dims[o]));
    }
    call_ = executable_.bind(views_, views_of(outputs_));
  }

  void run() const { call_.run(); }
  int threads() const { return threads_; }
  const Executable& executable() const { return executable_; }
  void each(const Executable::EachKernel& each) const { executable_.run_each(views_, views_of(outputs_), each); }

 private:
  Executable executable_;
  std::vector<Tensor> inputs_, outputs_;
  DeviceInputs there_;
  std::vector<TensorView> views_;
  BoundCall call_;
  int threads_;
};

// Seconds of the clock: of this thread's processor time, which does not run while another process
// has the core, or of the wall.
double seconds_now(bool alone) {
  timespec now{};
  clock_gettime(alone ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The least time of some runs: what other processes take is no property of the machine. `alone`:
// the calling thread does all of it.
double least_us(bool alone, const std::function<void()>& run) {
  const auto timed = [&](int times) {
    const double start = seconds_now(alone);
    for (int i = 0; i < times; ++i) run();
    return (seconds_now(alone) - start) * 1e6 / times;
  };
  run();
  const double once = std::max(timed(1), 1e-2);
  const int batch = static_cast<int>(std::clamp(kSampleUs / kCalibrationSamples / once, 1.0, double(kMostRepeats)));
  double least = once;
  const double start = seconds_now(false);
  for (int i = 0; i < kFewestRepeats || (i < kCalibrationSamples && (seconds_now(false) - start) * 1e6 < kSampleUs);
       ++i)
    least = std::min(least, timed(batch));
  return least;
}

// ── CPU

struct Copy {
  Fact fact, by_all;
  double bytes;  // read and written
};

class CpuCalibration {
 public:
  CpuCalibration(const Machine& device, const CalibrateOptions& options) : device_(device), options_(options) {
    device_.measured = nullptr;
    threads_ = device.facts.threads;
  }

  Calibration run() {
    options_.progress("compiling the programs that measure");
    make();
    for (int round = 0; round < options_.rounds; ++round) {
      options_.progress(fmt::format("measuring, round {} of {}", round + 1, options_.rounds));
      for (const auto& [name, runner] : runners_) {
        double& spent = spent_[name];
        if (spent > kMostSeconds) continue;
        const double start = seconds_now(false);
        times_.add(name, least_us(runner->threads() == 1, [&r = *runner] { r.run(); }));
        spent += seconds_now(false) - start;
      }
      for (const auto& [name, runner] : operations_) measure_operations(name, *runner);
    }
    return fit();
  }

 private:
  // So many of an array that is read and one that is written.
  static int64_t elements_of(double bytes) { return static_cast<int64_t>(bytes) / 8 / 1024 * 1024; }
  double last() const { return static_cast<double>(device_.facts.l3_bytes); }
  double far() const {
    return std::min(last() * schedule::kFarSize, static_cast<double>(device_.facts.memory_bytes) / 8);
  }

  void add(const std::string& name, const Graph& graph, int threads) {
    runners_.emplace_back(name, std::make_unique<Repeated>(device_, graph, threads));
  }

  void make() {
    const runtime::CpuFacts& f = device_.facts;
    copies_ = {{Fact::FirstCache, Fact::FirstCache, static_cast<double>(f.l1_bytes) / 2},
               {Fact::SecondCache, Fact::SecondCache, static_cast<double>(f.l2_bytes) / 2},
               {Fact::SharedCache, Fact::SharedByAll, last() / 4},
               {Fact::FullCache, Fact::FullCache, last()},
               {Fact::Memory, Fact::MemoryByAll, far()}};
    for (const Copy& copy : copies_) {
      const Graph graph = copying(elements_of(copy.bytes));
      add(schedule::name_of_number(place_of(copy.fact)), graph, 1);
      if (threads_ > 1 && copy.by_all != copy.fact)
        add(schedule::name_of_number(place_of(copy.by_all)), graph, threads_);
    }
    for (const auto& [fact, bytes] : {std::pair{Fact::FullCacheRead, last()}, {Fact::MemoryRead, far()}})
      add(schedule::name_of_number(place_of(fact)), reading(2 * elements_of(bytes)), 1);
    for (const auto& [fact, bytes] : {std::pair{Fact::FullCacheWrite, last()}, {Fact::MemoryWrite, far()}})
      add(schedule::name_of_number(place_of(fact)), writing(2 * elements_of(bytes)), 1);
    add("scan", running(ReduceKind::Sum, kNear), 1);
    add("scan_extreme", running(ReduceKind::Max, kNear), 1);
    add("launch", copying(kSmallest), 1);
    if (threads_ > 1) {
      add("share", copying(kShareOfThread / 8), 1);
      add("shares", copying(kShareOfThread / 8 * threads_), threads_);
    }
    add("chain.f32", chained(DType::F32, kNear, kSteps), 1);
    add("chain.f64", chained(DType::F64, kNearWide, kSteps), 1);
    for (const DType dtype : {DType::F32, DType::BF16, DType::F16})
      add(fmt::format("sum.{}", name_of(dtype)), adding(dtype, kNear), 1);
    add("gather", gathering(kNear), 1);
    add("product", multiplied(kProduct), 1);
    for (const auto& [name, dtype, elements] : {std::tuple{"f32", DType::F32, kNear}, {"f64", DType::F64, kNearWide}})
      operations_.emplace_back(name, std::make_unique<Repeated>(device_, operations_of(dtype, elements), 1, false));
  }

  // One kernel each: by the operation that it has after all simplifications.
  void measure_operations(const std::string& dtype, const Repeated& runner) {
    const Graph& graph = runner.executable().graph();
    const std::vector<plan::FusionGroup>& groups = runner.executable().plan().groups;
    runner.each([&](size_t k, const std::function<void()>& run) {
      run();
      const Node& node = graph.at(groups[k].nodes.back());
      if (groups[k].nodes.size() != 1 || node.kind != NodeKind::Elementwise) return;
      times_.add(fmt::format("{}.{}", name_of(node.op), dtype), least_us(true, run));
    });
  }

  Calibration fit() const {
    Calibration c;
    const auto set = [&](Fact fact, double number) { c.numbers[place_of(fact)] = number; };
    for (const Copy& copy : copies_)
      for (const Fact fact : {copy.fact, copy.by_all})
        if (const double us = times_.least(schedule::name_of_number(place_of(fact))); us > 0)
          set(fact, static_cast<double>(elements_of(copy.bytes)) * 8 / std::max(us - times_.least("launch"), us / 4));
    for (const auto& [fact, bytes] : {std::pair{Fact::FullCacheRead, last()},
                                      {Fact::FullCacheWrite, last()},
                                      {Fact::MemoryRead, far()},
                                      {Fact::MemoryWrite, far()}})
      set(fact, static_cast<double>(elements_of(bytes)) * 8 / times_.least(schedule::name_of_number(place_of(fact))));
    set(Fact::Launch, times_.least("launch"));
    if (threads_ > 1) {
      set(Fact::Threads, threads_);
      set(Fact::LaunchByAll, std::max(times_.least("shares") - times_.least("share"), 0.0) + times_.least("launch"));
    }
    const double rate = rate_of("chain.f32", "negative.f32", kNear),
                 wide = rate_of("chain.f64", "negative.f64", kNearWide);
    set(Fact::Operations, rate);
    if (rate <= 0) return c;
    set(Fact::Wide, wide > 0 ? rate / wide : 0);
    set(Fact::Bf16, converting("sum.bf16", rate));
    set(Fact::F16, converting("sum.f16", rate));
    // A load and a store of each element are there in either case; the model counts both.
    const double vector = std::max(4, device_.facts.vector_bits / 32);
    set(Fact::Gather,
        ((times_.least("gather") - times_.least("negative.f32")) * rate / static_cast<double>(kNear) + 1) / vector);
    for (const auto& [fact, name] : {std::pair{Fact::Scan, "scan"}, {Fact::ScanExtreme, "scan_extreme"}})
      set(fact,
          std::max(1.0, (times_.least(name) - times_.least("negative.f32")) * rate / static_cast<double>(kNear) + 1));
    set(Fact::Multiplications, std::pow(static_cast<double>(kProduct), 3) / times_.least("product"));
    for (int i = 0; i < kOpCount; ++i) {
      const Op op = static_cast<Op>(i);
      c.numbers[schedule::place_of(op, false)] = cost_of(op, "f32", kNear, rate, 1);
      c.numbers[schedule::place_of(op, true)] = cost_of(op, "f64", kNearWide, rate, c.of(Fact::Wide));
    }
    return c;
  }

  // Operations of a microsecond, in what a chain takes besides its accesses.
  double rate_of(const std::string& chain, const std::string& accesses, int64_t elements) const {
    const double us = times_.least(chain) - times_.least(accesses);
    return us > 0 ? (operations_of_chains(kSteps) - 1) * static_cast<double>(elements) / us : 0;
  }
  // An element of three arrays.
  double converting(const std::string& name, double rate) const {
    const double us = times_.least(name) - times_.least("sum.f32");
    return std::max(kLeastCost, us * rate / static_cast<double>(3 * kNear));
  }
  // Besides that of a negation, which takes as long as one instruction.
  double cost_of(Op op, const char* dtype, int64_t elements, double rate, double instruction) const {
    const double own = times_.least(fmt::format("{}.{}", name_of(op), dtype)),
                 accesses = times_.least(fmt::format("negative.{}", dtype));
    if (own <= 0 || accesses <= 0 || !is_measured(op)) return 0;
    return std::max(kLeastCost, (own - accesses) * rate / static_cast<double>(elements) + instruction);
  }

  Machine device_;
  const CalibrateOptions& options_;
  int threads_ = 1;
  std::vector<Copy> copies_;
  std::vector<std::pair<std::string, std::unique_ptr<Repeated>>> runners_, operations_;
  std::map<std::string, double> spent_;  // seconds, by name
  Times times_;
};

// ── GPU

class GpuCalibration {
 public:
  GpuCalibration(const Machine& device, const CalibrateOptions& options) : device_(device), options_(options) {
    device_.measured = nullptr;
    bench_.time_limit_s = 0.1;
  }

  Calibration run() {
    DeviceClock clock(*device_.gpu, bench_);
    const auto memory = static_cast<double>(std::min(device_.gpu->free_bytes() / 8, kMostBytes));
    const auto cache = std::min(static_cast<double>(device_.gpu_facts.l2_bytes), memory);
    const int64_t far = std::min(kFar, elements_of(memory / 2));
    const auto cold = [&](const Repeated& r) { return clock.cold([&] { r.run(); }).median * 1e3; };
    const auto hot = [&](const Repeated& r) { return clock.hot([&] { r.run(); }).median * 1e3; };
    Calibration c;
    c.numbers[place_of(Fact::Launch)] = measured("launch", {copying(kSmallest)}, cold);
    const auto rate = [&](Fact fact, double amount, double us) {
      if (us > 0) c.numbers[place_of(fact)] = amount / us;
    };
    // The model counts more time than memory needs for its bytes.
    const int64_t much = elements_of(memory), little = elements_of(memory / 4);
    rate(Fact::Memory, schedule::kMemoryTime * 8 * static_cast<double>(much - little),
         measured("memory", {copying(much), copying(little)}, cold));
    const int64_t half = elements_of(cache / 2), quarter = elements_of(cache / 4);
    rate(Fact::SharedCache, 8 * static_cast<double>(half - quarter),
         measured("the last cache", {copying(half), copying(quarter)}, hot));
    const auto operations = [&](DType dtype) {
      return measured(fmt::format("operations of {}", name_of(dtype)),
                      {chained(dtype, far, kMany), chained(dtype, far, kFew)}, hot);
    };
    const double narrow = operations(DType::F32), wide = device_.gpu_facts.f64 ? operations(DType::F64) : 0;
    const double steps = kChains * (kMany - kFew) * kOperationsOfStep;
    rate(Fact::Operations, steps * static_cast<double>(far) / device_.gpu_facts.processors, narrow);
    if (narrow > 0 && wide > 0) c.numbers[place_of(Fact::Wide)] = wide / narrow;
    return c;
  }

 private:
  // Microseconds of a program, or of what it takes more than a second one: the median of all
  // rounds.
  template <class Time>
  double measured(const std::string& what, const std::vector<Graph>& programs, const Time& time) {
    options_.progress("compiling what measures " + what);
    std::vector<std::unique_ptr<Repeated>> runners;
    for (const Graph& program : programs) runners.push_back(std::make_unique<Repeated>(device_, program, 0));
    options_.progress("measuring " + what);
    std::vector<double> us;
    for (int round = 0; round < options_.rounds / kRoundsOfCpu + 1; ++round)
      us.push_back(time(*runners[0]) - (runners.size() > 1 ? time(*runners[1]) : 0));
    return median(us);
  }

  // Each round of the clock is a median of many samples.
  static constexpr int kRoundsOfCpu = 8;
  static constexpr int64_t kMostBytes = int64_t{1} << 30, kFar = 1 << 22;
  static constexpr int kFew = 12, kMany = 36;  // steps
  static int64_t elements_of(double bytes) {
    return std::max<int64_t>(1024, static_cast<int64_t>(bytes) / 8 / 1024 * 1024);
  }

  Machine device_;
  const CalibrateOptions& options_;
  BenchOptions bench_;
};

}  // namespace

schedule::Target target_of(const Machine& device) {
  schedule::Target target;
  target.gpu = device.is_gpu;
  target.threads = device.is_gpu ? device.gpu_facts.processors : device.facts.threads;
  target.vector_bits = device.facts.vector_bits;
  target.l1_bytes = device.facts.l1_bytes;
  target.l2_bytes = device.is_gpu ? device.gpu_facts.l2_bytes : device.facts.l2_bytes;
  target.l3_bytes = device.facts.l3_bytes;
  target.memory_gbs = device.is_gpu ? device.gpu_facts.memory_gbs : 0;
  return target;
}

Calibrated calibrate(const Machine& device, const CalibrateOptions& options) {
  if (device.is_gpu && device.gpu_facts.is_processor)
    throw UserError(fmt::format(
        "{} is the CPU, of which its driver makes what it likes\nhelp: smelt devices --calibrate cpu", device.name));
  if (device.is_gpu && !device.gpu && device.missing.empty())
    throw UserError(
        fmt::format("{} is not in this machine, and a calibration measures it\n"
                    "help: `smelt devices` lists those that are",
                    device.name));
  if (!device.compiles() || (device.is_gpu && !device.gpu)) throw UserError(device.missing);
  Calibrated result;
  result.calibration = device.is_gpu ? GpuCalibration(device, options).run() : CpuCalibration(device, options).run();
  const schedule::Target target = target_of(device);
  for (size_t place = 0; place < schedule::kNumbers; ++place) {
    double& number = result.calibration.numbers[place];
    if (number == 0) continue;
    number = schedule::rounded(number);
    const std::string why = schedule::fault_of(target, place, number);
    if (why.empty()) continue;
    result.refused.push_back({place, number, why});
    number = 0;
  }
  return result;
}

}  // namespace smelt::report

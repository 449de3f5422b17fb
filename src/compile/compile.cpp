#include "compile/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.hpp"
#include "compile/clock.hpp"
#include "compile/code_events.hpp"
#include "compile/custom.hpp"
#include "compile/lower_groups.hpp"
#include "compile/state.hpp"
#include "graph/short_results.hpp"
#include "plan/chains.hpp"
#include "plan/channels_last.hpp"
#include "plan/phases.hpp"
#include "plan/predict.hpp"
#include "plan/rolls.hpp"
#include "plan/scan_ends.hpp"
#include "plan/short_reductions.hpp"
#include "plan/sums_in_order.hpp"
#include "plan/turned_copies.hpp"
#include "schedule/schedule.hpp"

namespace smelt {
namespace {

plan::Options plan_options(const Machine& device, const CompileOptions& options) {
  plan::Options o;
  o.fuse = options.fuse;
  o.depth = options.depth;
  o.sizes = options.sizes;
  o.tuning = options.tuning;
  o.target.threads = options.threads > 0 ? options.threads : device.facts.threads;
  o.target.vector_bits = device.facts.vector_bits;
  o.target.dot_bf16 = device.facts.dot_bf16;
  o.target.dot_bytes = device.facts.dot_bytes;
  o.target.tiles = device.facts.tiles;
  o.target.l1_bytes = device.facts.l1_bytes;
  o.target.l2_bytes = device.facts.l2_bytes;
  o.target.l3_bytes = device.facts.l3_bytes;
  o.target.measured = device.measured;
  if (device.is_gpu) {
    const runtime::GpuFacts& gpu = device.gpu_facts;
    o.target.device = "cuda";
    o.target.gpu = true;
    o.target.threads = gpu.processors;
    o.target.l2_bytes = gpu.l2_bytes;
    o.target.compute = gpu.compute;
    o.target.memory_gbs = gpu.memory_gbs;
    o.target.shared_bytes = gpu.shared_bytes_per_workgroup - kStaticShared;
    o.target.clusters = gpu.clusters;
    if (device.opencl) {
      o.target.device = "opencl";
      o.target.plain = true;
      o.target.atomics64 = gpu.f64 && gpu.atomics64;
      o.target.workgroup = gpu.threads_per_workgroup;
      // Part of it is for exchanges between threads.
      o.target.shared_bytes = gpu.shared_bytes_per_workgroup / 2;
      o.target.gpu = !gpu.is_processor;
      // Half of it holds what a row keeps between its passes, which is in a workgroup's memory.
      if (gpu.is_processor) {
        o.target.l2_bytes = std::min(device.facts.l2_bytes, gpu.shared_bytes_per_workgroup / 2);
        o.target.l1_bytes = std::min(device.facts.l1_bytes, gpu.shared_bytes_per_workgroup / 2);
      }
    }
  }
  return o;
}

// Sizes that the caller did not give are taken to be middling; they only steer estimates.
SizeBinding estimated_sizes(const Graph& graph, const SizeBinding& given) {
  SizeBinding sizes = given;
  std::vector<Symbol> missing;
  for (Symbol symbol : graph.size_symbols())
    if (!sizes.count(symbol)) missing.push_back(symbol);
  // With many symbols, smaller ones, so that no array is beyond any memory.
  for (int64_t estimate = 1024;; estimate /= 2) {
    for (Symbol symbol : missing) sizes[symbol] = estimate;
    try {
      for (const Node& node : graph.nodes) element_count(evaluate(node.shape, sizes));
      return sizes;
    } catch (const UserError&) {
      if (estimate == 1 || missing.empty()) throw;
    }
  }
}

CompileOptions with_all_sizes(const Graph& graph, const CompileOptions& options) {
  CompileOptions complete = options;
  complete.sizes = estimated_sizes(graph, options.sizes);
  return complete;
}

constexpr int kMostSplits = 4;

// Two kernels may be predicted to take so much longer than one, which spills.
constexpr double kMostOfASplit = 1.5;

// Without what spills cost.
double predicted_us(const Executable::State& state) { return plan::predict(state.graph, state.plan, state.target).us; }

// Spilled bytes of a thread, of the kernel that spills most.
int64_t spilled_bytes(const Executable::State& state) {
  int64_t most = 0;
  for (const Launch& launch : state.launches)
    for (const GpuPhase& phase : launch.gpu_phases)
      for (const auto& function : phase.variants)
        if (const GpuCode* code = function->loaded()) most = std::max(most, code->facts.local_bytes);
  return most;
}

std::shared_ptr<Executable::State> build(const Graph& graph, const Machine& device, const CompileOptions& options,
                                         const plan::Options& target, const std::vector<StageTime>& times) {
  auto state = std::make_shared<Executable::State>();
  state->times = times;
  Clock clock(state->times);
  state->graph = graph;
  state->device = device;
  state->program = options.program;
  state->settled = options.settled;
  state->nvrtc = options.nvrtc;
  state->target = target;
  state->threads = options.run_threads > 0 ? options.run_threads : target.target.threads;
  state->plan = clock.stage("plan", [&] { return plan::make_plan(state->graph, target); });
  plan::verify(state->graph, state->plan);
  if (device.compiles())
    clock.stage("lower", [&] {
      lower_groups(*state);
      return state->kernels.size();
    });
  if (device.is_gpu) {
    build_for_gpu(*state, options.tune);
  } else if (device.llvm) {
    build_for_cpu(*state, options.tune);
  }
  return state;
}

// What the compiler makes of the program with these sizes at hand, up to the code.
std::string kernels_for(const Executable::State& state, const SizeBinding& sizes) {
  plan::Options target = state.target;
  target.sizes = sizes;
  Executable::State made;
  made.graph = state.graph;
  made.device = state.device;
  made.plan = plan::make_plan(made.graph, target);
  lower_groups(made);
  std::string text;
  for (const kernel::Kernel& kernel : made.kernels) text += kernel::print(kernel);
  return text;
}

}  // namespace

// A thread of a GPU reads rows of few elements through the first cache; lanes of a CPU that are
// rows apart are gathers.
static int64_t most_local(const Machine& device) { return device.is_gpu && !device.gpu_facts.is_processor ? 64 : 8; }

// Simple, and as devices of this kind compute it best. A GPU keeps long windows together
// (schedule/blocked.hpp).
static Graph for_device(const Graph& graph, const Machine& device, const CompileOptions& options) {
  Graph simple = simplify(graph);
  if (const auto written_out = with_joined_reduced(simple)) simple = simplify(*written_out);
  if (device.is_gpu && !device.gpu_facts.is_processor)
    if (const auto one = with_joined_scatters(simple)) simple = simplify(*one);
  const bool has_units = device.is_gpu && !device.opencl && device.gpu_facts.compute >= 80;
  const auto finished = [&](Graph made) {
    if (has_units)
      while (const auto in_order = plan::with_sums_in_order(made)) made = simplify(*in_order);
    if (!device.is_gpu) made = with_short_axes_apart(simplify(with_windows_in_steps(made)));
    const bool has_parts = has_units && device.gpu_facts.compute == 90;
    return with_local_reductions(std::move(made), most_local(device), !device.is_gpu, has_units, has_parts);
  };
  if (auto by_phases = plan::with_phases(simple, plan_options(device, with_all_sizes(simple, options)), finished))
    simple = std::move(*by_phases);
  return store_for_custom(with_short_results_apart(finished(std::move(simple))));
}

Executable compile(const Graph& graph, const Machine& device, const CompileOptions& options) {
  if (device.is_gpu && !device.compiles()) throw UserError(device.missing);
  if (!device.compiles()) fall_back(device, options);
  std::vector<StageTime> times;
  Clock clock(times);
  verify(graph);
  Graph simplified = clock.stage("simplify", [&] { return for_device(graph, device, options); });
  verify(simplified);
  check_custom(simplified, device);
  const CompileOptions complete = with_all_sizes(simplified, options);
  plan::Options target = plan_options(device, complete);
  if (auto copied = clock.stage("plan", [&] {
        return device.is_gpu ? plan::with_channels_last(simplified, target)
                             : plan::with_turned_copies(simplified, target);
      })) {
    simplified = std::move(copied->graph);
    target.splits = std::move(copied->splits);
    verify(simplified);
  }
  for (const auto& other_form : {plan::with_chains_apart, plan::with_rolls_in_stencils, plan::with_scan_ends_in_rows,
                                 plan::with_short_reductions_local})
    if (auto other = clock.stage("plan", [&] { return other_form(simplified, target); }))
      simplified = std::move(*other);
  if (options.settled) target.splits = options.settled->splits;
  std::shared_ptr<Executable::State> state = build(simplified, device, complete, target, times);
  // What spills as one kernel is planned again, as two, as long as that helps.
  for (int again = 0; again < kMostSplits && !state->splits.empty(); ++again) {
    target.splits.insert(target.splits.end(), state->splits.begin(), state->splits.end());
    const std::shared_ptr<Executable::State> next = build(simplified, device, complete, target, state->times);
    if (spilled_bytes(*next) >= spilled_bytes(*state) || predicted_us(*next) > kMostOfASplit * predicted_us(*state))
      break;
    state = next;
  }
  Executable executable;
  executable.state_ = std::move(state);
  return executable;
}

const Graph& Executable::graph() const { return state_->graph; }
const plan::Plan& Executable::plan() const { return state_->plan; }
const std::vector<kernel::Kernel>& Executable::kernels() const { return state_->kernels; }
bool Executable::interpreted() const { return !state_->device.compiles(); }
bool Executable::suits(const SizeBinding& sizes) const {
  return interpreted() ||
         kernels_for(*state_, estimated_sizes(state_->graph, sizes)) == kernels_for(*state_, state_->target.sizes);
}

Settled Executable::settled() const {
  Settled settled{state_->target.splits, {}};
  for (const plan::FusionGroup& group : state_->plan.groups) settled.tunings.push_back(group.tuning);
  return settled;
}

const Machine& Executable::device() const { return state_->device; }
CacheUse Executable::cache_use() const { return state_->cache_use; }
const std::vector<StageTime>& Executable::stage_times() const { return state_->times; }

double Executable::compile_ms() const {
  double sum = 0;
  for (const StageTime& t : state_->times) sum += t.ms;
  return sum;
}

}  // namespace smelt

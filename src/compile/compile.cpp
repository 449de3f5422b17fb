#include "compile/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "base/check.hpp"
#include "compile/state.hpp"
#include "emit/llvm.hpp"
#include "kernel/lower.hpp"
#include "schedule/schedule.hpp"

namespace smelt {
namespace {

class Clock {
 public:
  explicit Clock(std::vector<StageTime>& times) : times_(times) {}
  // Runs one stage and notes how long it took.
  template <class F>
  auto stage(const std::string& name, F&& f) {
    const auto start = std::chrono::steady_clock::now();
    auto result = f();
    times_.push_back(
        {name, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()});
    return result;
  }

 private:
  std::vector<StageTime>& times_;
};

plan::Options plan_options(const Device& device, const CompileOptions& options) {
  plan::Options o;
  o.fuse = options.fuse;
  o.sizes = options.sizes;
  o.target.threads = options.threads > 0 ? options.threads : device.facts.threads;
  o.target.vector_bits = device.facts.vector_bits;
  o.target.l1_bytes = device.facts.l1_bytes;
  o.target.l2_bytes = device.facts.l2_bytes;
  o.target.l3_bytes = device.facts.l3_bytes;
  if (device.is_gpu) {
    const runtime::GpuFacts& gpu = device.gpu_facts;
    o.target.device = "cuda";
    o.target.gpu = true;
    o.target.threads = gpu.processors;
    o.target.l2_bytes = gpu.l2_bytes;
    o.target.compute = gpu.compute;
    o.target.shared_bytes = gpu.shared_bytes_per_workgroup;
    o.target.clusters = gpu.clusters;
  }
  return o;
}

// Sizes that the caller did not give are taken to be middling; they only steer estimates.
SizeBinding estimated_sizes(const Graph& graph, const SizeBinding& given) {
  SizeBinding sizes = given;
  std::vector<std::string> missing;
  for (const std::string& symbol : graph.size_symbols())
    if (!sizes.count(symbol)) missing.push_back(symbol);
  // With many symbols, smaller ones, so that no array is beyond any memory.
  for (int64_t estimate = 1024;; estimate /= 2) {
    for (const std::string& symbol : missing) sizes[symbol] = estimate;
    try {
      for (const Node& node : graph.nodes) element_count(evaluate(node.shape, sizes));
      return sizes;
    } catch (const UserError&) {
      if (estimate == 1 || missing.empty()) throw;
    }
  }
}

std::vector<kernel::Kernel> lower_groups(const Graph& graph, const plan::Plan& plan, const plan::Options& options) {
  std::vector<kernel::Kernel> kernels;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    auto made = schedule::make_schedule(graph, plan.groups[g], options);
    SMELT_CHECK(std::holds_alternative<schedule::Schedule>(made), "group {} lost its schedule", g);
    kernels.push_back(kernel::lower(graph, plan.groups[g], std::get<schedule::Schedule>(made), fmt::format("k{}", g)));
  }
  return kernels;
}

// Gives every value between kernels, and every array between phases, a slot of the arena.
class Binder {
 public:
  Binder(const Graph& graph, std::vector<Slot>& slots) : graph_(graph), slots_(slots) {}

  Launch bind(const kernel::Kernel& kernel, int order) {
    Launch launch;
    for (const kernel::Param& p : kernel.params) {
      if (p.kind == kernel::ParamKind::Size)
        launch.sizes.push_back(p.symbol);
      else
        launch.arrays.push_back(bind(kernel, p, order));
    }
    launch.scratch_bytes = emit::scratch_bytes(kernel);
    return launch;
  }

 private:
  Binding bind(const kernel::Kernel& kernel, const kernel::Param& p, int order) {
    if (kernel.error_param >= 0 && &p == &kernel.params[static_cast<size_t>(kernel.error_param)])
      return {Binding::Error, 0};
    if (p.value >= 0) {
      const bool writes = p.kind == kernel::ParamKind::Output;
      const auto& inputs = graph_.inputs;
      const auto in = std::find(inputs.begin(), inputs.end(), p.value);
      if (!writes && in != inputs.end()) return {Binding::Input, static_cast<int>(in - inputs.begin())};
      const auto out = std::find(graph_.outputs.begin(), graph_.outputs.end(), p.value);
      if (out != graph_.outputs.end()) return {Binding::Output, static_cast<int>(out - graph_.outputs.begin())};
      auto [it, fresh] = slot_of_.try_emplace(p.value, static_cast<int>(slots_.size()));
      if (fresh) slots_.push_back({p.dtype, p.dims, order, order});
      slots_[static_cast<size_t>(it->second)].last_use = order;
      return {Binding::Slot, it->second};
    }
    Shape dims = p.dims;
    // The arena is laid out before a launch is prepared, so sizes that the launch computes are put in.
    for (size_t l = kernel.launch_sizes.size(); l-- > 0;)
      for (IntExpr& d : dims) d = d.substitute({{kernel.launch_sizes[l].symbol, kernel.launch_sizes[l].value}}, {});
    slots_.push_back({p.dtype, dims, order, order});
    return {Binding::Slot, static_cast<int>(slots_.size()) - 1};
  }

  const Graph& graph_;
  std::vector<Slot>& slots_;
  std::map<NodeId, int> slot_of_;
};

}  // namespace

Executable compile(const Graph& graph, const Device& device, const CompileOptions& options) {
  auto state = std::make_shared<Executable::State>();
  if (device.is_gpu)
    throw UserError("programs cannot be compiled for GPUs in this version\nhelp: run on the CPU: --device cpu");
  Clock clock(state->times);
  verify(graph);
  state->device = device;
  state->graph = clock.stage("simplify", [&] { return simplify(graph); });
  verify(state->graph);
  CompileOptions complete = options;
  complete.sizes = estimated_sizes(state->graph, options.sizes);
  const plan::Options target = plan_options(device, complete);
  state->threads = target.target.threads;
  state->plan = clock.stage("plan", [&] { return plan::make_plan(state->graph, target, schedule::accepts); });
  plan::verify(state->graph, state->plan);
  if (device.llvm) {
    state->kernels = clock.stage("lower", [&] { return lower_groups(state->graph, state->plan, target); });
    const emit::LlvmTarget dialect{device.llvm->triple(), device.llvm->version(), device.facts.vector_bits};
    state->sources = clock.stage("emit", [&] {
      std::vector<std::string> sources;
      for (const kernel::Kernel& k : state->kernels) sources.push_back(emit::emit_llvm(k, dialect));
      return sources;
    });
    state->launches = clock.stage("load", [&] {
      std::vector<Launch> launches;
      Binder binder(state->graph, state->slots);
      for (size_t k = 0; k < state->kernels.size(); ++k) {
        launches.push_back(binder.bind(state->kernels[k], static_cast<int>(k)));
        launches.back().module = device.llvm->load(state->sources[k]);
        for (size_t p = 0; p < state->kernels[k].phases.size(); ++p)
          launches.back().phases.push_back(
              launches.back().module->function(fmt::format("{}_p{}", state->kernels[k].name, p)));
      }
      return launches;
    });
  }
  Executable executable;
  executable.state_ = std::move(state);
  return executable;
}

const Graph& Executable::graph() const { return state_->graph; }
const plan::Plan& Executable::plan() const { return state_->plan; }
const std::vector<kernel::Kernel>& Executable::kernels() const { return state_->kernels; }
bool Executable::interpreted() const { return !state_->device.llvm; }
const std::vector<StageTime>& Executable::stage_times() const { return state_->times; }

double Executable::compile_ms() const {
  double sum = 0;
  for (const StageTime& t : state_->times) sum += t.ms;
  return sum;
}

std::string Executable::dump(const std::string& stage) const {
  std::string text;
  if (stage == "graph") return print(state_->graph);
  if (stage == "plan") return plan::print(state_->graph, state_->plan);
  const bool source = stage == "source", assembly = stage == "asm";
  if (stage != "kernel" && !source && !assembly)
    throw UserError(
        fmt::format("nothing to dump by the name '{}'\nhelp: one of graph, plan, kernel, source, asm", stage));
  if (interpreted()) return "no LLVM here, so there are no kernels: " + state_->device.missing + "\n";
  for (size_t k = 0; k < state_->kernels.size(); ++k)
    text += assembly ? state_->device.llvm->assembly(state_->sources[k])
            : source ? state_->sources[k]
                     : kernel::print(state_->kernels[k]);
  return text;
}

}  // namespace smelt

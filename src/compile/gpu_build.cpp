// Kernels for a GPU: text, code, functions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/stat.h>
#include <algorithm>
#include <mutex>
#include <string_view>

#include "base/check.hpp"
#include "compile/bind.hpp"
#include "compile/clock.hpp"
#include "compile/code_events.hpp"
#include "compile/custom.hpp"
#include "compile/gpu_kernel.hpp"
#include "compile/lower_groups.hpp"
#include "emit/cuda.hpp"
#include "emit/opencl.hpp"
#include "runtime/cubin.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/opencl.hpp"

namespace smelt {
namespace {

constexpr int64_t kSharedWithoutAsking = 48 << 10;
constexpr int kClusterWithoutAsking = 8;

// The functions of a source, each with what comes before the first: compiled side by
// side, they take as long as the longest of them, and what no call needs is never compiled.
std::string with_only(const std::string& source, const std::string& begin, const std::string& function) {
  size_t at = source.find(begin);
  const std::string before = source.substr(0, at);
  while (at != std::string::npos) {
    const size_t next = source.find(begin, at + 1);
    const size_t name = source.find(" " + function + "(", at);
    if (name < next) return before + source.substr(at, next == std::string::npos ? next : next - at);
    at = next;
  }
  throw InternalError("no kernel was printed that is called " + function);
}

std::vector<GpuPhase> list_functions(const emit::DeviceSource& source) {
  std::vector<GpuPhase> phases;
  for (const emit::DevicePhase& emitted : source.phases) {
    GpuPhase phase;
    for (const emit::DeviceVariant& variant : emitted.variants)
      phase.variants.push_back(
          std::make_shared<GpuFunction>(variant, with_only(source.text, source.begin, variant.function.name)));
    phases.push_back(std::move(phase));
  }
  return phases;
}

bool holds(const std::vector<IntExpr>& conditions, const SizeBinding& sizes) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const IntExpr& e) { return e.evaluate(sizes) >= 0; });
}
bool takes(const GpuFunction& function, const SizeBinding& sizes) { return holds(function.when(), sizes); }

}  // namespace

// The library's size stands for what its version does not say.
std::string code_identity(const Machine& device, const runtime::NvrtcOptions& options) {
  if (!device.identity.empty()) return device.identity;
  if (device.llvm) return fmt::format("object\nsmelt {}\n{}", SMELT_VERSION, device.llvm->identity());
  if (device.opencl) return fmt::format("opencl\nsmelt {}\n{}", SMELT_VERSION, device.opencl->identity());
  struct stat facts = {};
  ::stat(device.nvrtc->path().c_str(), &facts);
  return fmt::format("cubin\nsmelt {}\nNVRTC {} of {} bytes\ndriver {}\n{}", SMELT_VERSION,
                     device.nvrtc->version_text(), facts.st_size, device.gpu_facts.driver,
                     fmt::join(device.nvrtc->arguments(device.gpu_facts.compute, options), " "));
}

std::string gpu_cache_key(const Machine& device, const runtime::NvrtcOptions& options, const std::string& source) {
  return fmt::format("{}\n{}", code_identity(device, options), source);
}

std::string describe_kernel(const Executable::State& state, size_t kernel) {
  std::vector<std::string> labels;
  for (const NodeId id : state.plan.groups[kernel].nodes) {
    const std::string& label = state.graph.at(id).label;
    if (!label.empty() && std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }
  if (labels.size() > 8) labels.resize(8), labels.push_back("...");
  return fmt::format("kernel {}{}", kernel + 1, labels.empty() ? "" : fmt::format(" ({})", fmt::join(labels, ", ")));
}

bool GpuFunction::compile(const Executable::State& state, size_t kernel) {
  const Machine& device = state.device;
  const CodeEvents events(state, kernel);
  const auto make = [&] {
    return events.compiled([&] {
      return device.opencl ? device.opencl->build(source_)
                           : device.nvrtc->compile(source_, device.gpu_facts.compute, state.nvrtc);
    });
  };
  const runtime::Stopwatch time;
  bool hit = false, stored = false;
  cubin_ = device.cache ? device.cache->get(gpu_cache_key(device, state.nvrtc, source_), make, &hit, &stored) : make();
  if (hit) events.say(Event::Kind::CacheHit, time.ms(), cubin_.size());
  if (stored) events.say(Event::Kind::CacheStored, 0, cubin_.size());
  return hit;
}

const GpuCode& GpuFunction::code(const Executable::State& state, size_t kernel) {
  std::call_once(once_, [&] {
    if (cubin_.empty()) compile(state, kernel);
    const runtime::Stopwatch time;
    const runtime::GpuFacts& gpu = state.device.gpu_facts;
    code_.module = state.device.gpu->load(cubin_);
    code_.handle = code_.module->function(emitted().name, emitted().arguments);
    code_.facts = code_.module->facts(code_.handle);
    const auto fixed = emitted().shared_bytes.constant();
    if (!fixed || *fixed + code_.facts.shared_bytes > kSharedWithoutAsking)
      code_.module->allow_shared_bytes(code_.handle, std::min(gpu.shared_bytes_per_workgroup - code_.facts.shared_bytes,
                                                              fixed.value_or(gpu.shared_bytes_per_workgroup)));
    if (emitted().cluster > kClusterWithoutAsking) code_.module->allow_large_clusters(code_.handle);
    SMELT_CHECK(emitted().threads <= code_.facts.max_threads, "{} is launched with {} threads, but can run with {}",
                emitted().name, emitted().threads, code_.facts.max_threads);
    CodeEvents(state, kernel).say(Event::Kind::Loaded, time.ms(), cubin_.size());
    cubin_.clear();
    is_loaded_ = true;
  });
  return code_;
}

// What an argument of a kernel may take: more with CUDA 12.1, in the compiler and in the driver.
static int64_t table_bytes(const Machine& device) {
  const bool large = device.gpu_facts.compute >= 70 && device.nvrtc->version() >= 12010 &&
                     (device.gpu_facts.driver == 0 || device.gpu_facts.driver >= 12010);
  return large ? 32764 : 4096;
}

GpuKernel print_for_gpu(const Executable::State& state, kernel::Kernel kernel) {
  const runtime::GpuFacts& facts = state.device.gpu_facts;
  if (state.device.opencl) {
    const emit::DeviceSource emitted = emit::emit_opencl(kernel, {facts.f64, facts.atomics64, facts.ptx});
    return {std::move(kernel), emitted.text, list_functions(emitted)};
  }
  constexpr int kCopiesBoxes = 12000;  // the driver
  const emit::CudaTarget target{facts.compute, state.device.nvrtc->version(),
                                !state.device.gpu || facts.driver >= kCopiesBoxes};
  if (kernel.is_batch()) {
    const emit::DeviceSource emitted = emit::emit_cuda_batch(kernel, target, table_bytes(state.device));
    return {std::move(kernel), emitted.text, list_functions(emitted), emitted.table};
  }
  const emit::DeviceSource emitted = emit::emit_cuda(kernel, target);
  SMELT_CHECK(emitted.phases.size() == kernel.phases.size(), "{} has {} phases, but {} were printed", kernel.name,
              kernel.phases.size(), emitted.phases.size());
  return {std::move(kernel), emitted.text, list_functions(emitted)};
}

GpuKernel make_kernel(const Executable::State& state, size_t group, const schedule::Schedule& schedule) {
  return print_for_gpu(state, lower_with(state, group, schedule));
}

// Iterations of a phase's Grid loop in a launch of its own; `sizes` has the launch sizes too.
static int64_t iterations_of(const kernel::Kernel& kernel, size_t p, const SizeBinding& sizes) {
  const auto extent = [&](size_t phase) {
    return kernel.phases[phase].body.back().get<kernel::Loop>().extent.evaluate(sizes);
  };
  // The launch before does it along, unless there is none.
  return kernel.phases[p].last && extent(p - 1) > 0 ? 0 : extent(p);
}

// Those that take some part.
static std::vector<GpuFunction*> needed_of_batch(const Executable::State& state, const GpuKernel& kernel) {
  const bool here = state.device.gpu != nullptr;
  std::vector<GpuFunction*> functions;
  for (const GpuPhase& phase : kernel.phases) {
    std::vector<bool> needed(phase.variants.size(), !here);
    for (const kernel::Part& part : kernel.kernel.parts) {
      SizeBinding all = state.target.sizes;
      all[kernel::kLaunchThreads] = state.threads;
      for (const auto& [symbol, size] : part.sizes) all[symbol] = size.evaluate(state.target.sizes);
      const auto body = static_cast<size_t>(part.body);
      for (const kernel::LaunchSize& s : kernel.kernel.bodies[body].launch_sizes) all[s.symbol] = s.value.evaluate(all);
      size_t v = 0;
      while (v + 1 < phase.variants.size() && !holds(phase.variants[v]->bodies()[body].when, all)) ++v;
      needed[v] = true;
    }
    for (size_t v = 0; v < needed.size(); ++v)
      if (needed[v]) functions.push_back(phase.variants[v].get());
  }
  return functions;
}

std::vector<GpuFunction*> needed_functions(const Executable::State& state, const GpuKernel& kernel) {
  if (kernel.kernel.is_batch()) return needed_of_batch(state, kernel);
  const bool here = state.device.gpu != nullptr;
  SizeBinding all = state.target.sizes;
  all[kernel::kLaunchThreads] = state.threads;
  for (const kernel::LaunchSize& s : kernel.kernel.launch_sizes) all[s.symbol] = s.value.evaluate(all);
  std::vector<GpuFunction*> functions;
  for (size_t p = 0; p < kernel.phases.size(); ++p) {
    if (here && iterations_of(kernel.kernel, p, all) == 0) continue;
    for (const auto& function : kernel.phases[p].variants) {
      const bool needed = takes(*function, all);
      if (needed || !here) functions.push_back(function.get());
      if (needed && here) break;
    }
  }
  return functions;
}

std::vector<bool> compile_kernels(const Executable::State& state, const std::vector<const GpuKernel*>& kernels,
                                  const std::vector<size_t>& groups) {
  struct Job {
    size_t kernel;
    GpuFunction* function;
  };
  std::vector<Job> jobs;
  for (size_t k = 0; k < kernels.size(); ++k)
    for (GpuFunction* function : needed_functions(state, *kernels[k])) jobs.push_back({k, function});
  std::vector<bool> compiled(kernels.size(), false);
  std::mutex mutex;
  runtime::parallel_for(std::min(state.device.facts.threads, 16), static_cast<int64_t>(jobs.size()), 1,
                        [&](int, int64_t begin, int64_t end) {
                          for (auto j = static_cast<size_t>(begin); j < static_cast<size_t>(end); ++j) {
                            const bool hit = jobs[j].function->compile(state, groups[jobs[j].kernel]);
                            const std::lock_guard lock(mutex);
                            if (!hit) compiled[jobs[j].kernel] = true;
                          }
                        });
  return compiled;
}

void load_kernel(const Executable::State& state, const GpuKernel& kernel, size_t group) {
  if (!state.device.gpu) return;
  for (GpuFunction* function : needed_functions(state, kernel)) function->code(state, group);
}

std::vector<std::optional<GpuKernel>> try_kernels(const Executable::State& state, size_t group,
                                                  const std::vector<schedule::Candidate>& alternatives) {
  std::vector<std::optional<GpuKernel>> made(alternatives.size());
  const auto attempt = [&](size_t a, const auto& what) {
    try {
      what();
    } catch (const InternalError&) {
      made[a].reset();
    }
  };
  for (size_t a = 0; a < alternatives.size(); ++a)
    attempt(a, [&] { made[a] = make_kernel(state, group, *alternatives[a].schedule); });
  runtime::parallel_for(std::min(state.device.facts.threads, 16), static_cast<int64_t>(made.size()), 1,
                        [&](int, int64_t begin, int64_t end) {
                          for (auto a = static_cast<size_t>(begin); a < static_cast<size_t>(end); ++a)
                            attempt(a, [&] {
                              if (!made[a]) return;
                              for (GpuFunction* f : needed_functions(state, *made[a])) f->compile(state, group);
                            });
                        });
  for (size_t a = 0; a < made.size(); ++a)
    attempt(a, [&] {
      if (made[a]) load_kernel(state, *made[a], group);
    });
  return made;
}

void share_kernels(Executable::State& state, std::vector<GpuKernel>& kernels) {
  for (size_t k = 0; k < kernels.size(); ++k) {
    const size_t first = state.alike[k];
    if (first == k) continue;
    kernels[k] = {for_group(state, kernels[first].kernel, k), kernels[first].source, kernels[first].phases};
  }
  share_schedules(state);
}

void bind_kernels(Executable::State& state, const std::vector<const GpuKernel*>& kernels) {
  Binder binder(state.graph, state.slots);
  for (size_t k = 0; k < kernels.size(); ++k) {
    state.kernels.push_back(kernels[k]->kernel);
    if (state.alike[k] == k) state.sources.push_back(kernels[k]->source);
    state.launches.push_back(binder.bind(kernels[k]->kernel, static_cast<int>(k)));
    state.launches[k].gpu_phases = kernels[k]->phases;
    state.launches[k].table = kernels[k]->table;
    if (is_custom(state, k)) state.launches[k].custom = load_custom(state, k);
  }
  state.in_place = binder.in_place();
}

void build_for_gpu(Executable::State& state, bool tuned) {
  Clock clock(state.times);
  std::vector<GpuKernel> kernels;
  clock.stage("emit", [&] {
    for (size_t k = 0; k < state.kernels.size(); ++k)
      if (is_custom(state, k))
        kernels.push_back({std::move(state.kernels[k]), custom_source(state, k), {}});
      else if (state.alike[k] == k)
        kernels.push_back(print_for_gpu(state, std::move(state.kernels[k])));
      else
        kernels.emplace_back();
    state.kernels.clear();
    if (!tuned) take_tuned(state, kernels);
    return kernels.size();
  });
  std::vector<const GpuKernel*> pointers, own;
  std::vector<size_t> groups;
  for (size_t k = 0; k < kernels.size(); ++k) {
    pointers.push_back(&kernels[k]);
    if (state.alike[k] != k) continue;
    own.push_back(&kernels[k]);
    groups.push_back(k);
  }
  const std::vector<bool> compiled = clock.stage("compile", [&] { return compile_kernels(state, own, groups); });
  const auto misses = static_cast<int>(std::count(compiled.begin(), compiled.end(), true));
  state.cache_use = {static_cast<int>(compiled.size()) - misses, misses};
  clock.stage("load", [&] {
    for (size_t i = 0; i < own.size(); ++i) load_kernel(state, *own[i], groups[i]);
    return own.size();
  });
  if (state.device.gpu && !state.settled)
    clock.stage("check", [&] {
      relieve(state, kernels);
      return kernels.size();
    });
  share_kernels(state, kernels);
  if (state.device.gpu && tuned && state.splits.empty())
    clock.stage("tune", [&] {
      tune(state, kernels);
      share_kernels(state, kernels);
      return kernels.size();
    });
  bind_kernels(state, pointers);
}

static std::vector<runtime::BoxShape> box_shapes(const emit::DeviceFunction& function, const SizeBinding& sizes) {
  std::vector<runtime::BoxShape> shapes;
  for (const emit::BoxMap& map : function.boxes)
    shapes.push_back({evaluate(map.extents, sizes), evaluate(map.strides, sizes), map.box});
  return shapes;
}

std::vector<Prepared::GpuPhase> gpu_shapes(const Executable::State& state, size_t kernel, const SizeBinding& sizes) {
  const Launch& launch = state.launches[kernel];
  const int64_t most_shared = state.device.gpu_facts.shared_bytes_per_workgroup;
  std::vector<Prepared::GpuPhase> shapes;
  for (size_t p = 0; p < launch.gpu_phases.size(); ++p) {
    const GpuPhase& phase = launch.gpu_phases[p];
    const int64_t extent = iterations_of(state.kernels[kernel], p, sizes);
    Prepared::GpuPhase made;
    made.runs = extent > 0;
    for (const auto& function : phase.variants) {
      if (!made.runs) break;
      const emit::DeviceFunction& f = function->emitted();
      made.boxes.push_back(box_shapes(f, sizes));
      runtime::LaunchShape shape;
      const int64_t teams = extent / f.iterations + (extent % f.iterations != 0);
      shape.threads = f.threads;
      shape.cluster = f.cluster;
      shape.workgroups = teams > runtime::kMostWorkgroups ? teams : teams * f.cluster;
      shape.shared_bytes = f.shared_bytes.evaluate(sizes);
      if (function != phase.variants.back()) {
        const bool fits =
            shape.workgroups <= runtime::kMostWorkgroups && shape.shared_bytes + kStaticShared <= most_shared;
        made.variants.push_back(fits && takes(*function, sizes) ? std::optional(shape) : std::nullopt);
        continue;
      }
      if (shape.workgroups > runtime::kMostWorkgroups)
        throw UserError(
            fmt::format("{} would need {} workgroups for these sizes, and a launch has at most {}\n"
                        "help: use smaller arrays, or split the work into several calls",
                        describe_kernel(state, kernel), shape.workgroups, runtime::kMostWorkgroups));
      SMELT_CHECK(shape.shared_bytes <= most_shared, "{} needs {} bytes of shared memory, and a workgroup has {}",
                  f.name, shape.shared_bytes, most_shared);
      made.variants.push_back(shape);
    }
    shapes.push_back(std::move(made));
  }
  return shapes;
}

static BuiltFunction described(const emit::DeviceFunction& emitted, size_t kernel, const SizeBinding& sizes) {
  BuiltFunction built;
  built.name = emitted.name;
  built.kernel = static_cast<int>(kernel);
  built.threads = emitted.threads;
  built.cluster = emitted.cluster;
  built.shared_bytes = emitted.shared_bytes.evaluate(sizes);
  return built;
}

// The functions of a launch with these sizes, for a GPU that is not available.
static std::vector<BuiltFunction> built_elsewhere(const Executable::State& state,
                                                  const std::vector<KernelLaunch>& launches) {
  std::vector<BuiltFunction> functions;
  for (const KernelLaunch& launch : launches) {
    const GpuFunction& f = *state.launches[launch.kernel].gpu_phases[launch.phase].variants[launch.variant];
    const auto facts = runtime::facts_of_cubin(f.cubin(), f.emitted().name);
    if (!facts) continue;
    functions.push_back(described(f.emitted(), launch.kernel, launch.sizes));
    functions.back().shared_bytes = launch.shared_bytes;
    functions.back().facts = *facts;
  }
  return functions;
}

static bool has_all_sizes(const Graph& graph, const SizeBinding& sizes) {
  return std::all_of(graph.inputs.begin(), graph.inputs.end(), [&](NodeId id) {
    const Shape& shape = graph.at(id).shape;
    return std::none_of(shape.begin(), shape.end(), [&](const IntExpr& size) {
      return size.any_symbol([&](Symbol s) { return sizes.count(s) == 0; });
    });
  });
}

std::vector<BuiltFunction> Executable::built(const SizeBinding& sizes) const {
  std::vector<BuiltFunction> functions;
  if (!state_->device.gpu) {
    const bool known = state_->device.is_gpu && !interpreted() && has_all_sizes(state_->graph, sizes);
    return known ? built_elsewhere(*state_, launches(sizes)) : functions;
  }
  for (size_t k = 0; k < state_->launches.size(); ++k) {
    SizeBinding all = sizes;
    all[kernel::kLaunchThreads] = state_->threads;
    for (const kernel::LaunchSize& s : state_->kernels[k].launch_sizes) all[s.symbol] = s.value.evaluate(all);
    for (const GpuPhase& phase : state_->launches[k].gpu_phases) {
      for (const auto& f : phase.variants) {
        const GpuCode* code = f->loaded();
        if (!code) continue;
        BuiltFunction built = described(f->emitted(), k, all);
        built.facts = code->facts;
        built.workgroups_per_processor =
            code->module->workgroups_per_processor(code->handle, built.threads, built.shared_bytes);
        built.occupancy = static_cast<double>(built.workgroups_per_processor) * built.threads /
                          std::max(1, state_->device.gpu_facts.threads_per_processor);
        functions.push_back(built);
      }
    }
  }
  return functions;
}

}  // namespace smelt

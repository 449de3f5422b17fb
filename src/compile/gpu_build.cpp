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
#include "emit/cuda.hpp"
#include "runtime/disk_cache.hpp"

namespace smelt {
namespace {

constexpr int64_t kSharedWithoutAsking = 48 << 10;
constexpr int kClusterWithoutAsking = 8;

// Everything that a cubin depends on. The library's size stands for what its version does not tell.
std::string cache_key(const Machine& device, const runtime::NvrtcOptions& options, const std::string& source) {
  struct stat facts = {};
  ::stat(device.nvrtc->path().c_str(), &facts);
  return fmt::format("cubin\nsmelt {}\nNVRTC {} of {} bytes\ndriver {}\n{}\n{}", SMELT_VERSION,
                     device.nvrtc->version_text(), facts.st_size, device.gpu_facts.driver,
                     fmt::join(device.nvrtc->arguments(device.gpu_facts.compute, options), " "), source);
}

// The functions of a source each by itself, behind what stands before the first: compiled side by side, they take as long as the
// longest of them.
std::vector<std::string> split_functions(const std::string& source) {
  constexpr std::string_view begin = "extern \"C\" __global__";
  std::vector<size_t> starts;
  for (size_t at = source.find(begin); at != std::string::npos; at = source.find(begin, at + 1)) starts.push_back(at);
  if (starts.size() < 2) return {source};
  const std::string before = source.substr(0, starts[0]);
  std::vector<std::string> parts;
  for (size_t f = 0; f < starts.size(); ++f)
    parts.push_back(before +
                    source.substr(starts[f], f + 1 < starts.size() ? starts[f + 1] - starts[f] : std::string::npos));
  return parts;
}

// The code of one kernel: its parts, and the modules that they became.
struct Built {
  std::vector<std::string> parts, cubins;
  std::vector<std::shared_ptr<runtime::GpuModule>> modules;  // none without a GPU

  std::shared_ptr<runtime::GpuModule> module_of(const std::string& function) const {
    if (modules.empty()) return nullptr;
    for (size_t p = 0; p < parts.size(); ++p)
      if (parts[p].find(" " + function + "(") != std::string::npos) return modules[p];
    throw InternalError("no kernel was printed that is called " + function);
  }
};

GpuFunction load_function(const Built& built, const emit::CudaFunction& emitted, const runtime::GpuFacts& gpu) {
  GpuFunction function;
  function.module = built.module_of(emitted.name);
  const runtime::GpuModule* const module = function.module.get();
  function.name = emitted.name;
  function.threads = emitted.threads;
  function.iterations = emitted.iterations;
  function.cluster = emitted.cluster;
  function.shared_bytes = emitted.shared_bytes;
  if (!module) return function;
  function.handle = module->function(emitted.name);
  function.facts = module->facts(function.handle);
  const auto fixed = emitted.shared_bytes.constant();
  if (!fixed || *fixed > kSharedWithoutAsking)
    module->allow_shared_bytes(function.handle, std::min(gpu.shared_bytes_per_workgroup - function.facts.shared_bytes,
                                                         fixed.value_or(gpu.shared_bytes_per_workgroup)));
  if (emitted.cluster > kClusterWithoutAsking) module->allow_large_clusters(function.handle);
  SMELT_CHECK(function.threads <= function.facts.max_threads, "{} is launched with {} threads, but can run with {}",
              function.name, function.threads, function.facts.max_threads);
  return function;
}

std::vector<GpuPhase> load_phases(const Built& built, const emit::CudaSource& source, const runtime::GpuFacts& gpu) {
  std::vector<GpuPhase> phases;
  for (const emit::CudaPhase& p : source.phases) {
    GpuPhase phase;
    phase.fast = load_function(built, p.fast, gpu);
    phase.general = p.general.name == p.fast.name ? phase.fast : load_function(built, p.general, gpu);
    phase.fast_if = p.fast_if;
    phase.alignment = p.alignment;
    phases.push_back(std::move(phase));
  }
  return phases;
}

// Several at a time, each from the cache when it is there.
std::vector<Built> compile_all(Executable::State& state) {
  const Machine& device = state.device;
  std::vector<Built> kernels(state.sources.size());
  std::vector<std::pair<size_t, size_t>> jobs;  // kernel, part
  for (size_t k = 0; k < kernels.size(); ++k) {
    kernels[k].parts = split_functions(state.sources[k]);
    kernels[k].cubins.resize(kernels[k].parts.size());
    for (size_t p = 0; p < kernels[k].parts.size(); ++p) jobs.emplace_back(k, p);
  }
  std::vector<char> compiled(kernels.size(), 0);
  std::mutex mutex;
  runtime::parallel_for(
      std::min(device.facts.threads, 16), static_cast<int64_t>(jobs.size()), 1, [&](int, int64_t begin, int64_t end) {
        for (auto j = static_cast<size_t>(begin); j < static_cast<size_t>(end); ++j) {
          const auto [k, p] = jobs[j];
          const std::string& source = kernels[k].parts[p];
          const auto make = [&] { return device.nvrtc->compile(source, device.gpu_facts.compute, state.nvrtc); };
          bool hit = false;
          kernels[k].cubins[p] =
              device.cache ? device.cache->get(cache_key(device, state.nvrtc, source), make, &hit) : make();
          const std::lock_guard lock(mutex);
          if (!hit) compiled[k] = 1;
        }
      });
  state.cache_use.misses = static_cast<int>(std::count(compiled.begin(), compiled.end(), 1));
  state.cache_use.hits = static_cast<int>(kernels.size()) - state.cache_use.misses;
  return kernels;
}

}  // namespace

std::string describe_kernel(const Executable::State& state, size_t kernel) {
  std::vector<std::string> labels;
  for (const NodeId id : state.plan.groups[kernel].nodes) {
    const std::string& label = state.graph.at(id).label;
    if (!label.empty() && std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }
  if (labels.size() > 8) labels.resize(8), labels.push_back("...");
  return fmt::format("kernel {}{}", kernel + 1, labels.empty() ? "" : fmt::format(" ({})", fmt::join(labels, ", ")));
}

void build_for_gpu(Executable::State& state) {
  Clock clock(state.times);
  const Machine& device = state.device;
  const std::vector<emit::CudaSource> emitted = clock.stage("emit", [&] {
    std::vector<emit::CudaSource> sources;
    for (const kernel::Kernel& k : state.kernels) sources.push_back(emit::emit_cuda(k, {device.gpu_facts.compute}));
    return sources;
  });
  for (const emit::CudaSource& source : emitted) state.sources.push_back(source.text);
  std::vector<Built> built = clock.stage("compile", [&] { return compile_all(state); });
  state.launches = clock.stage("load", [&] {
    std::vector<Launch> launches;
    Binder binder(state.graph, state.slots);
    for (size_t k = 0; k < state.kernels.size(); ++k) {
      Launch launch = binder.bind(state.kernels[k], static_cast<int>(k));
      if (device.gpu)
        for (const std::string& cubin : built[k].cubins) built[k].modules.push_back(device.gpu->load(cubin));
      launch.gpu_phases = load_phases(built[k], emitted[k], device.gpu_facts);
      SMELT_CHECK(launch.gpu_phases.size() == state.kernels[k].phases.size(), "{} has {} phases, but {} were printed",
                  state.kernels[k].name, state.kernels[k].phases.size(), launch.gpu_phases.size());
      launches.push_back(std::move(launch));
    }
    return launches;
  });
}

std::vector<Prepared::GpuPhase> gpu_shapes(const Executable::State& state, size_t kernel, const SizeBinding& sizes) {
  const Launch& launch = state.launches[kernel];
  const int64_t most_shared = state.device.gpu_facts.shared_bytes_per_workgroup;
  std::vector<Prepared::GpuPhase> shapes;
  for (size_t p = 0; p < launch.gpu_phases.size(); ++p) {
    const GpuPhase& phase = launch.gpu_phases[p];
    const int64_t extent = state.kernels[kernel].phases[p].body.back().extent.evaluate(sizes);
    const auto shape_of = [&](const GpuFunction& f) {
      runtime::LaunchShape shape;
      const int64_t teams = extent / f.iterations + (extent % f.iterations != 0);
      shape.threads = f.threads;
      shape.cluster = f.cluster;
      shape.workgroups = teams > runtime::kMostWorkgroups ? teams : teams * f.cluster;
      shape.shared_bytes = f.shared_bytes.evaluate(sizes);
      return shape;
    };
    const auto fits = [&](const runtime::LaunchShape& shape, const GpuFunction& f) {
      return shape.workgroups <= runtime::kMostWorkgroups && shape.shared_bytes + f.facts.shared_bytes <= most_shared;
    };
    Prepared::GpuPhase made;
    made.runs = extent > 0;
    if (made.runs) {
      made.fast = shape_of(phase.fast);
      made.general = shape_of(phase.general);
      made.may_be_fast =
          fits(made.fast, phase.fast) && std::all_of(phase.fast_if.begin(), phase.fast_if.end(),
                                                     [&](const IntExpr& e) { return e.evaluate(sizes) >= 0; });
      if (made.general.workgroups > runtime::kMostWorkgroups)
        throw UserError(
            fmt::format("{} would need {} workgroups for these sizes, and a launch has at most {}\n"
                        "help: use smaller arrays, or split the work into several calls",
                        describe_kernel(state, kernel), made.general.workgroups, runtime::kMostWorkgroups));
      SMELT_CHECK(fits(made.general, phase.general), "{} needs {} bytes of shared memory, and a workgroup has {}",
                  phase.general.name, made.general.shared_bytes + phase.general.facts.shared_bytes, most_shared);
    }
    shapes.push_back(made);
  }
  return shapes;
}

std::vector<BuiltFunction> Executable::built(const SizeBinding& sizes) const {
  std::vector<BuiltFunction> functions;
  if (!state_->device.gpu) return functions;
  for (size_t k = 0; k < state_->launches.size(); ++k) {
    SizeBinding all = sizes;
    all["%threads"] = state_->threads;
    for (const kernel::LaunchSize& s : state_->kernels[k].launch_sizes) all[s.symbol] = s.value.evaluate(all);
    for (const GpuPhase& phase : state_->launches[k].gpu_phases) {
      for (const GpuFunction* f : {&phase.fast, &phase.general}) {
        if (f == &phase.general && f->name == phase.fast.name) continue;
        BuiltFunction built;
        built.name = f->name;
        built.kernel = static_cast<int>(k);
        built.threads = f->threads;
        built.cluster = f->cluster;
        built.facts = f->facts;
        built.shared_bytes = f->shared_bytes.evaluate(all);
        built.workgroups_per_processor = f->module->workgroups_per_processor(f->handle, f->threads, built.shared_bytes);
        built.occupancy = static_cast<double>(built.workgroups_per_processor) * f->threads /
                          std::max(1, state_->device.gpu_facts.threads_per_processor);
        functions.push_back(built);
      }
    }
  }
  return functions;
}

}  // namespace smelt

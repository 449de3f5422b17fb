// Kernels for the CPU: text, object code, functions.
#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "compile/bind.hpp"
#include "compile/clock.hpp"
#include "compile/custom.hpp"
#include "compile/state.hpp"
#include "emit/llvm.hpp"
#include "runtime/disk_cache.hpp"

namespace smelt {
namespace {

// Everything that object code depends on.
std::string cache_key(const Machine& device, const std::string& source) {
  return fmt::format("object\nsmelt {}\n{}\n{}", SMELT_VERSION, device.llvm->identity(), source);
}

// One object for each source. Those in the cache one after another, which takes microseconds; the others several at a time.
std::vector<std::string> compile_all(Executable::State& state) {
  const Machine& device = state.device;
  runtime::DiskCache* const cache = device.cache.get();
  std::vector<std::string> keys, objects(state.sources.size());
  std::vector<size_t> missing;
  for (size_t k = 0; k < objects.size(); ++k) {
    keys.push_back(cache_key(device, state.sources[k]));
    std::optional<std::string> found = cache ? cache->find(keys[k]) : std::nullopt;
    if (found)
      objects[k] = std::move(*found);
    else
      missing.push_back(k);
  }
  state.cache_use.misses = static_cast<int>(missing.size());
  state.cache_use.hits = static_cast<int>(objects.size() - missing.size());
  runtime::parallel_for(device.facts.threads, static_cast<int64_t>(missing.size()), 1,
                        [&](int, int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            const size_t k = missing[static_cast<size_t>(i)];
                            const auto make = [&] { return device.llvm->compile(state.sources[k]); };
                            objects[k] = cache ? cache->get(keys[k], make) : make();
                          }
                        });
  return objects;
}

// The code of a kernel, and where its functions stand.
struct Code {
  std::shared_ptr<runtime::Module> module;
  std::vector<runtime::Module::PhaseFunction> phases;
  IntExpr scratch_bytes;
};

void give(Launch& launch, const Code& code) {
  launch.module = code.module;
  launch.phases = code.phases;
  launch.scratch_bytes = code.scratch_bytes;
}

// The kernels that have code of their own: those of groups that are like no earlier one, and the bodies of batches.
std::vector<const kernel::Kernel*> distinct(const Executable::State& state) {
  std::vector<const kernel::Kernel*> kernels;
  for (size_t k = 0; k < state.kernels.size(); ++k) {
    if (state.alike[k] == k && !state.kernels[k].is_batch() && !is_custom(state, k))
      kernels.push_back(&state.kernels[k]);
    for (const kernel::Kernel& body : state.kernels[k].bodies) kernels.push_back(&body);
  }
  return kernels;
}

}  // namespace

void build_for_cpu(Executable::State& state) {
  Clock clock(state.times);
  const Machine& device = state.device;
  const emit::LlvmTarget dialect{device.llvm->triple(), device.llvm->version(), device.facts.vector_bits,
                                 device.facts.slow_division};
  const std::vector<const kernel::Kernel*> kernels = distinct(state);
  std::map<const kernel::Kernel*, size_t> source_of;
  clock.stage("emit", [&] {
    std::unordered_map<std::string, size_t> known;
    for (const kernel::Kernel* kernel : kernels) {
      std::string text = emit::emit_llvm(*kernel, dialect);
      const auto [at, fresh] = known.try_emplace(text, state.sources.size());
      if (fresh) state.sources.push_back(std::move(text));
      source_of[kernel] = at->second;
    }
    return kernels.size();
  });
  const std::vector<std::string> objects = clock.stage("compile", [&] { return compile_all(state); });
  state.launches = clock.stage("load", [&] {
    std::vector<std::shared_ptr<runtime::Module>> modules;
    for (const std::string& object : objects) modules.push_back(runtime::load_object(object));
    std::map<const kernel::Kernel*, Code> code;
    for (const kernel::Kernel* kernel : kernels) {
      Code& made = code[kernel];
      made.module = modules[source_of.at(kernel)];
      made.scratch_bytes = emit::scratch_bytes(*kernel);
      for (size_t p = 0; p < kernel->phases.size(); ++p)
        made.phases.push_back(made.module->function(fmt::format("{}_p{}", kernel->name, p)));
    }
    std::vector<Launch> launches;
    Binder binder(state.graph, state.slots);
    for (size_t k = 0; k < state.kernels.size(); ++k) {
      const kernel::Kernel& kernel = state.kernels[k];
      launches.push_back(binder.bind(kernel, static_cast<int>(k)));
      if (is_custom(state, k))
        launches[k].custom = load_custom(state, k);
      else if (!kernel.is_batch())
        give(launches[k], code.at(&state.kernels[state.alike[k]]));
      for (size_t i = 0; i < kernel.parts.size(); ++i)
        give(launches[k].parts[i], code.at(&kernel.bodies[static_cast<size_t>(kernel.parts[i].body)]));
    }
    return launches;
  });
}

}  // namespace smelt

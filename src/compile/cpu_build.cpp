// Kernels for the CPU: text, object code, functions.
#include <fmt/format.h>

#include "compile/bind.hpp"
#include "compile/clock.hpp"
#include "compile/state.hpp"
#include "emit/llvm.hpp"
#include "runtime/disk_cache.hpp"

namespace smelt {
namespace {

// Everything that object code depends on.
std::string cache_key(const Machine& device, const std::string& source) {
  return fmt::format("object\nsmelt {}\n{}\n{}", SMELT_VERSION, device.llvm->identity(), source);
}

// Those in the cache one after another, which takes microseconds; the others several at a time.
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

Launch make_launch(Executable::State& state, Binder& binder, size_t k, const std::string& object) {
  const kernel::Kernel& kernel = state.kernels[k];
  Launch launch = binder.bind(kernel, static_cast<int>(k));
  launch.scratch_bytes = emit::scratch_bytes(kernel);
  launch.module = runtime::load_object(object);
  for (size_t p = 0; p < kernel.phases.size(); ++p)
    launch.phases.push_back(launch.module->function(fmt::format("{}_p{}", kernel.name, p)));
  return launch;
}

}  // namespace

void build_for_cpu(Executable::State& state) {
  Clock clock(state.times);
  const Machine& device = state.device;
  const emit::LlvmTarget dialect{device.llvm->triple(), device.llvm->version(), device.facts.vector_bits};
  state.sources = clock.stage("emit", [&] {
    std::vector<std::string> sources;
    for (const kernel::Kernel& k : state.kernels) sources.push_back(emit::emit_llvm(k, dialect));
    return sources;
  });
  const std::vector<std::string> objects = clock.stage("compile", [&] { return compile_all(state); });
  state.launches = clock.stage("load", [&] {
    std::vector<Launch> launches;
    Binder binder(state.graph, state.slots);
    for (size_t k = 0; k < state.kernels.size(); ++k) launches.push_back(make_launch(state, binder, k, objects[k]));
    return launches;
  });
}

}  // namespace smelt

// Kernels for the CPU: text, object code, functions.
#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "compile/bind.hpp"
#include "compile/clock.hpp"
#include "compile/cpu_build.hpp"
#include "compile/custom.hpp"
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

using SourceOf = std::map<const kernel::Kernel*, size_t>;

// Prints all kernels into state.sources, each text once.
SourceOf print_kernels(Executable::State& state) {
  const emit::LlvmTarget dialect{state.device.llvm->triple(), state.device.llvm->version(),
                                 state.device.facts.vector_bits, state.device.facts.slow_division};
  SourceOf source_of;
  std::unordered_map<std::string, size_t> known;
  state.sources.clear();
  for (const kernel::Kernel* kernel : distinct(state)) {
    std::string text = emit::emit_llvm(*kernel, dialect);
    const auto [at, fresh] = known.try_emplace(text, state.sources.size());
    if (fresh) state.sources.push_back(std::move(text));
    source_of[kernel] = at->second;
  }
  return source_of;
}

// Loads the code of all kernels, and gives them the arrays that they read and write.
void load_kernels(Executable::State& state, const SourceOf& source_of, const std::vector<std::string>& objects) {
  std::vector<std::shared_ptr<runtime::Module>> modules;
  for (const std::string& object : objects) modules.push_back(runtime::load_object(object));
  std::map<const kernel::Kernel*, Code> code;
  for (const auto& [kernel, source] : source_of) {
    Code& made = code[kernel];
    made.module = modules[source];
    made.scratch_bytes = emit::scratch_bytes(*kernel);
    for (size_t p = 0; p < kernel->phases.size(); ++p)
      made.phases.push_back(made.module->function(fmt::format("{}_p{}", kernel->name, p)));
  }
  state.slots.clear();
  state.launches.clear();
  Binder binder(state.graph, state.slots);
  for (size_t k = 0; k < state.kernels.size(); ++k) {
    const kernel::Kernel& kernel = state.kernels[k];
    Launch& launch = state.launches.emplace_back(binder.bind(kernel, static_cast<int>(k)));
    if (is_custom(state, k))
      launch.custom = load_custom(state, k);
    else if (!kernel.is_batch())
      give(launch, code.at(&state.kernels[state.alike[k]]));
    for (size_t i = 0; i < kernel.parts.size(); ++i)
      give(launch.parts[i], code.at(&kernel.bodies[static_cast<size_t>(kernel.parts[i].body)]));
  }
}

// Per group with a schedule of its own: what its fastest schedule is remembered by.
std::vector<std::string> tuned_keys(const Executable::State& state, const SourceOf& source_of) {
  std::vector<std::string> keys(state.kernels.size());
  for (size_t k = 0; k < keys.size(); ++k)
    if (has_own_schedule(state, k))
      keys[k] = tuned_key(state, state.kernels[k], state.sources[source_of.at(&state.kernels[k])]);
  return keys;
}

}  // namespace

void build_kernels(Executable::State& state) {
  const SourceOf source_of = print_kernels(state);
  load_kernels(state, source_of, compile_all(state));
}

void build_for_cpu(Executable::State& state, bool tuned) {
  Clock clock(state.times);
  SourceOf source_of;
  clock.stage("emit", [&] {
    source_of = print_kernels(state);
    if (!tuned && state.device.cache && take_tuned(state, tuned_keys(state, source_of)))
      source_of = print_kernels(state);
    return state.kernels.size();
  });
  const std::vector<std::string> objects = clock.stage("compile", [&] { return compile_all(state); });
  clock.stage("load", [&] {
    load_kernels(state, source_of, objects);
    return state.kernels.size();
  });
  if (!tuned) return;
  clock.stage("tune", [&] {
    tune(state, tuned_keys(state, source_of));
    return state.kernels.size();
  });
}

}  // namespace smelt

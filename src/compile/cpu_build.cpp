// Kernels for the CPU: text, object code, functions.
#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_map>

#include "compile/bind.hpp"
#include "compile/clock.hpp"
#include "compile/code_events.hpp"
#include "compile/cpu_build.hpp"
#include "compile/custom.hpp"
#include "compile/lower_groups.hpp"
#include "compile/slices.hpp"
#include "emit/llvm.hpp"
#include "runtime/disk_cache.hpp"
#include "smelt/error.hpp"

namespace smelt {
namespace {

// Everything that object code depends on.
std::string cache_key(const Machine& device, const std::string& source) {
  return fmt::format("{}\n{}", code_identity(device), source);
}

// From the cache, or compiled now and kept there.
std::string object_of(const Executable::State& state, size_t kernel, const std::string& key,
                      const std::string& source) {
  const CodeEvents events(state, kernel);
  const auto make = [&] { return events.compiled([&] { return state.device.llvm->compile(source); }); };
  if (!state.device.cache) return make();
  bool stored = false;
  std::string object = state.device.cache->get(key, make, nullptr, &stored);
  if (stored) events.say(Event::Kind::CacheStored, 0, object.size());
  return object;
}

using SourceOf = std::map<const kernel::Kernel*, size_t>;

// Per source: the first kernel of the plan that has it.
std::vector<size_t> kernels_of(const Executable::State& state, const SourceOf& source_of) {
  std::vector<size_t> first(state.sources.size(), state.kernels.size());
  for (size_t k = 0; k < state.kernels.size(); ++k) {
    const auto note = [&](const kernel::Kernel& kernel) {
      if (const auto found = source_of.find(&kernel); found != source_of.end())
        first[found->second] = std::min(first[found->second], k);
    };
    note(state.kernels[k]);
    for (const kernel::Kernel& body : state.kernels[k].bodies) note(body);
  }
  return first;
}

int compiling_threads(const Machine& device) { return device.llvm->on_any_thread() ? device.facts.threads : 1; }

// One object for each source. Those in the cache one after another, which takes microseconds; the
// others several at a time.
std::vector<std::string> compile_all(Executable::State& state, const SourceOf& source_of) {
  const std::vector<size_t> kernel_of = kernels_of(state, source_of);
  const Machine& device = state.device;
  runtime::DiskCache* const cache = device.cache.get();
  std::vector<std::string> keys, objects(state.sources.size());
  std::vector<size_t> missing;
  for (size_t k = 0; k < objects.size(); ++k) {
    keys.push_back(cache_key(device, state.sources[k]));
    const runtime::Stopwatch time;
    std::optional<std::string> found = cache ? cache->find(keys[k]) : std::nullopt;
    if (!found) {
      missing.push_back(k);
      continue;
    }
    CodeEvents(state, kernel_of[k]).say(Event::Kind::CacheHit, time.ms(), found->size());
    objects[k] = std::move(*found);
  }
  state.cache_use.misses = static_cast<int>(missing.size());
  state.cache_use.hits = static_cast<int>(objects.size() - missing.size());
  runtime::parallel_for(compiling_threads(device), static_cast<int64_t>(missing.size()), 1,
                        [&](int, int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            const size_t k = missing[static_cast<size_t>(i)];
                            objects[k] = object_of(state, kernel_of[k], keys[k], state.sources[k]);
                          }
                        });
  return objects;
}

CpuCode code_of(const kernel::Kernel& kernel, const std::shared_ptr<runtime::Module>& module) {
  CpuCode code{module, {}, emit::scratch_bytes(kernel)};
  for (size_t p = 0; p < kernel.phases.size(); ++p)
    code.phases.push_back(module->function(fmt::format("{}_p{}", kernel.name, p)));
  return code;
}

void give(Launch& launch, const CpuCode& code) {
  launch.module = code.module;
  launch.phases = code.phases;
  launch.scratch_bytes = code.scratch_bytes;
}

void take_code(Launch& launch, Launch& from) {
  give(launch, {std::move(from.module), std::move(from.phases), std::move(from.scratch_bytes)});
  launch.custom = std::move(from.custom);
  for (size_t i = 0; i < launch.parts.size(); ++i) take_code(launch.parts[i], from.parts[i]);
}

emit::LlvmTarget dialect_of(const Machine& device) {
  return {device.llvm->triple(), device.llvm->version(), device.facts.vector_bits, device.facts.slow_division};
}

// The kernels that have code of their own: those of groups that are like no earlier one, and the
// bodies of batches.
std::vector<const kernel::Kernel*> distinct(const Executable::State& state) {
  std::vector<const kernel::Kernel*> kernels;
  for (size_t k = 0; k < state.kernels.size(); ++k) {
    if (state.alike[k] == k && !state.kernels[k].is_batch() && !is_custom(state, k))
      kernels.push_back(&state.kernels[k]);
    for (const kernel::Kernel& body : state.kernels[k].bodies) kernels.push_back(&body);
  }
  return kernels;
}

// Prints all kernels into state.sources, each text once.
SourceOf print_kernels(Executable::State& state) {
  const emit::LlvmTarget dialect = dialect_of(state.device);
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

std::shared_ptr<runtime::Module> load_code(const Executable::State& state, size_t kernel, const std::string& object) {
  const runtime::Stopwatch time;
  std::shared_ptr<runtime::Module> module = runtime::load_object(object, name_of_code(state, kernel));
  CodeEvents(state, kernel).say(Event::Kind::Loaded, time.ms(), object.size());
  return module;
}

// Loads the code of all kernels, and gives them the arrays that they read and write.
void load_kernels(Executable::State& state, const SourceOf& source_of, const std::vector<std::string>& objects) {
  std::vector<std::shared_ptr<runtime::Module>> modules;
  const std::vector<size_t> kernel_of = kernels_of(state, source_of);
  for (size_t s = 0; s < objects.size(); ++s) modules.push_back(load_code(state, kernel_of[s], objects[s]));
  std::map<const kernel::Kernel*, CpuCode> code;
  for (const auto& [kernel, source] : source_of) code[kernel] = code_of(*kernel, modules[source]);
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
  state.in_place = binder.in_place();
  state.sliced = find_slices(state);
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

std::string sources_with_labels(const Executable::State& state) {
  emit::LlvmTarget plain = dialect_of(state.device), labelled = plain;
  labelled.labels = true;
  std::set<std::string> known;
  std::string text;
  for (const kernel::Kernel* kernel : distinct(state))
    if (known.insert(emit::emit_llvm(*kernel, plain)).second) text += emit::emit_llvm(*kernel, labelled);
  return text;
}

OtherKernels build_others(const Executable::State& state,
                          const std::vector<std::vector<schedule::Candidate>>& candidates) {
  struct Job {
    size_t group, candidate;
    std::optional<kernel::Kernel> kernel;
    std::string text;  // LLVM IR, then the object
  };
  std::vector<Job> jobs;
  OtherKernels made(candidates.size());
  for (size_t k = 0; k < candidates.size(); ++k) {
    made[k].resize(candidates[k].size());
    for (size_t c = 0; c < candidates[k].size(); ++c) jobs.push_back({k, c, {}, ""});
  }
  const auto attempt = [](Job& job, const auto& step) {
    try {
      step();
    } catch (const InternalError&) {
      job.kernel.reset();
    }
  };
  const emit::LlvmTarget dialect = dialect_of(state.device);
  for (Job& job : jobs)
    attempt(job, [&] {
      job.kernel = lower_with(state, job.group, *candidates[job.group][job.candidate].schedule);
      job.text = emit::emit_llvm(*job.kernel, dialect);
    });
  runtime::parallel_for(
      compiling_threads(state.device), static_cast<int64_t>(jobs.size()), 1, [&](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          Job& job = jobs[static_cast<size_t>(i)];
          if (!job.kernel) continue;
          attempt(job, [&] { job.text = object_of(state, job.group, cache_key(state.device, job.text), job.text); });
        }
      });
  for (Job& job : jobs)
    attempt(job, [&] {
      if (!job.kernel) return;
      CpuCode code = code_of(*job.kernel, load_code(state, job.group, job.text));
      made[job.group][job.candidate] = {std::move(*job.kernel), std::move(code)};
    });
  return made;
}

void replace_kernels(Executable::State& state, const Replacements& others) {
  for (const auto& [k, other] : others) set_kernel(state, k, other->kernel);
  std::vector<Launch> before = std::move(state.launches);
  state.launches.clear();
  state.slots.clear();
  state.last.store(nullptr);  // of a call with the kernels before
  Binder binder(state.graph, state.slots);
  for (size_t k = 0; k < state.kernels.size(); ++k) {
    Launch& launch = state.launches.emplace_back(binder.bind(state.kernels[k], static_cast<int>(k)));
    if (const auto other = others.find(state.alike[k]); other != others.end())
      give(launch, other->second->code);
    else
      take_code(launch, before[k]);
  }
  state.in_place = binder.in_place();
  state.sliced = find_slices(state);
}

void print_sources(Executable::State& state) { print_kernels(state); }

void build_for_cpu(Executable::State& state, bool tuned) {
  Clock clock(state.times);
  SourceOf source_of;
  clock.stage("emit", [&] {
    source_of = print_kernels(state);
    if (!tuned && (state.settled || state.device.cache) && take_tuned(state, tuned_keys(state, source_of)))
      source_of = print_kernels(state);
    return state.kernels.size();
  });
  const std::vector<std::string> objects = clock.stage("compile", [&] { return compile_all(state, source_of); });
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

// How kernels for the CPU are built, and built again with other schedules. Internal to this folder.
#pragma once

#include <functional>
#include <map>

#include "compile/tune.hpp"

namespace smelt {

// Loaded code of a kernel.
struct CpuCode {
  std::shared_ptr<runtime::Module> module;
  std::vector<runtime::Module::PhaseFunction> phases;
  IntExpr scratch_bytes;
};
struct CpuKernel {
  kernel::Kernel kernel;
  CpuCode code;
};

// Per group: kernels by other schedules, each built by itself; nothing for one that cannot be
// built.
using OtherKernels = std::vector<std::vector<std::optional<CpuKernel>>>;
// An InternalError concerns one candidate, which is left out. A UserError (out of memory, say)
// concerns the machine, and is thrown.
OtherKernels build_others(const Executable::State& state,
                          const std::vector<std::vector<schedule::Candidate>>& candidates);

// By group: the kernel that takes the place of its own.
using Replacements = std::map<size_t, const CpuKernel*>;
// Replaces kernels of a state that is built, without compiling anything.
void replace_kernels(Executable::State& state, const Replacements& others);
// Prints the kernels as they now are into state.sources.
void print_sources(Executable::State& state);

// Takes the schedules that were found fastest before; whether there are any. `keys`: per group,
// what it is remembered by.
bool take_tuned(Executable::State& state, const std::vector<std::string>& keys);
// Times other schedules, takes the fastest, builds them, and keeps on disk which they are. Of a
// state that is built.
void tune(Executable::State& state, const std::vector<std::string>& keys);
// Times the kernels of a state that is built, and others in their place. Throws UserError when that
// is not possible.
Times times_on_cpu(const Executable::State& state, const std::vector<std::vector<schedule::Candidate>>& candidates);

// Runs the program and times the kernels that are asked for: milliseconds, -1 for all others.
// Without a round every kernel is the program's own; in round r those asked for are candidate r of
// their group.
using RunRound = std::function<std::vector<double>(std::optional<size_t> round, const std::vector<bool>& asked)>;
// The least times of several turns through all rounds. A candidate that takes at least twice as
// long as the group's own kernel is not timed again. `tuned`: per group, whether it is timed at
// all; `built`: per group and candidate, whether it can run.
Times times_in_turns(const std::vector<bool>& tuned, const std::vector<std::vector<bool>>& built, const RunRound& run);

}  // namespace smelt

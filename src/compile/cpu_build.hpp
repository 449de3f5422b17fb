// How kernels for the CPU are built, and built again with other schedules. Internal to this folder.
#pragma once

#include "compile/tune.hpp"

namespace smelt {

// Prints, compiles and loads all kernels, and gives them the arrays that they read and write.
void build_kernels(Executable::State& state);

// Takes the schedules that were found fastest before; whether there are any. `keys`: per group, what it is remembered by.
bool take_tuned(Executable::State& state, const std::vector<std::string>& keys);
// Times other schedules, takes the fastest, builds them, and keeps on disk which they are. Of a state that is built.
void tune(Executable::State& state, const std::vector<std::string>& keys);
// The kernels of a state that is built, and others in their place, one after another.
Times times_on_cpu(const Executable::State& state, const std::vector<std::vector<schedule::Candidate>>& candidates);

}  // namespace smelt

// Kernels of a CPU that run slice by slice: a thread takes a slice through all of them, so that
// what they hand to each other stays in its caches and takes the memory of one slice.
#pragma once

#include <vector>

#include "compile/state.hpp"

namespace smelt {

// Which of the kernels can; none on a GPU. `launches`, `slots` and `in_place` are known.
std::vector<SlicedKernels> find_slices(const Executable::State& state);

// Where the temporaries of a call are, and which kernels it runs in slices; `sizes` has
// kLaunchThreads.
struct Layout {
  Arena arena;
  std::vector<Prepared::Run> runs;  // on a GPU nobody looks at them
};
Layout lay_out_call(const Executable::State& state, const SizeBinding& sizes);

// The same where every kernel runs by itself.
Layout lay_out_apart(const Executable::State& state, const SizeBinding& sizes);

// The kernels of one run; `addresses`: per launch.
void launch_run(const Executable::State& state, const Prepared& prepared, const Prepared::Run& run,
                std::vector<Addresses>& addresses, char* scratch);

}  // namespace smelt

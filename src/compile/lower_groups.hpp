// The kernels of a plan: what is alike is lowered once.
#pragma once

#include "compile/state.hpp"

namespace smelt {

// Fills state.kernels, one for every group, and state.alike.
void lower_groups(Executable::State& state);

// The kernel of the group that group k is like, with k's own arrays.
kernel::Kernel for_group(const Executable::State& state, const kernel::Kernel& first, size_t k);

// The group's kernel by this schedule.
kernel::Kernel lower_with(const Executable::State& state, size_t group, const schedule::Schedule& schedule);
// Gives the group, and those that are like it, this kernel.
void set_kernel(Executable::State& state, size_t group, kernel::Kernel kernel);

}  // namespace smelt

// The kernels of a plan: what is alike is lowered once.
#pragma once

#include "compile/state.hpp"

namespace smelt {

// Fills state.kernels, one for every group, and state.alike.
void lower_groups(Executable::State& state);

// The kernel of the group that group k is like, with k's own arrays.
kernel::Kernel for_group(const Executable::State& state, const kernel::Kernel& first, size_t k);

}  // namespace smelt

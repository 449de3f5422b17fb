// Batches on a GPU. Internal to this folder.
#pragma once

#include <vector>

#include "compile/gpu_call.hpp"

namespace smelt {

// Per function of a phase: the parts that run in it. `values`: the arguments of each part.
std::vector<std::vector<size_t>> parts_by_variant(const Executable::State& state, const Prepared& prepared,
                                                  size_t kernel, size_t phase,
                                                  const std::vector<std::vector<uint64_t>>& values);

// A launch of these parts, which are not more than the table holds. The function is still to be
// filled in.
GpuStep table_step(const Executable::State& state, const Prepared& prepared, size_t kernel, size_t phase,
                   size_t variant, const std::vector<size_t>& parts, const std::vector<std::vector<uint64_t>>& values);

}  // namespace smelt

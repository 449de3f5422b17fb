// The few functions that a CUDA module may call.
#pragma once

#include <string>

#include "emit/cuda.hpp"

namespace smelt::emit::cuda {

std::string random_functions(const kernel::Kernel& kernel);  // what draws call; empty where there are none
std::string prelude(const CudaTarget& target);
// What scans call, of a team and over the grid.
std::string scan_helpers();
std::string scan_grid_helpers();

}  // namespace smelt::emit::cuda

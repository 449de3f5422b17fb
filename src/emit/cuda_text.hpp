// The helpers that a CUDA module may call.
#pragma once

#include <string>
#include <utility>

#include "emit/cuda.hpp"
#include "emit/prelude.hpp"

namespace smelt::emit::cuda {

// The helpers of every module, and of those that draw random words, that scan, and that scan over
// the grid.
HelperList prelude(const CudaTarget& target);
HelperList random_helpers();
HelperList scan_helpers();
HelperList matrix_helpers(const kernel::Kernel& kernel);
HelperList box_helpers();
// The registers of a group's sums as inline assembler names them, and as its operands.
std::pair<std::string, std::string> sums_of_group(int sums);
HelperList chain_helpers(const kernel::Kernel& kernel);  // after those of matrix units
HelperList scan_grid_helpers();
// Those that the module of a kernel may have.
HelperList helpers(const kernel::Kernel& kernel, const CudaTarget& target);

}  // namespace smelt::emit::cuda

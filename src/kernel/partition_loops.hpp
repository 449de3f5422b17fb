// What holds everywhere but at the ends of a row is asked at its ends only:
//
//   vector %i < W by 16:                                     vector %i < W by 16, steps anywhere:
//     out[%i] = in[%i - 1] if %i >= 1 else 0          ->       out[%i] = in[%i - 1] if %i >= 1 else 0
//                                                              inside max(0, 1) <= %i < W:
//                                                                out[%i] = in[%i - 1]
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Of kernels of a CPU: says where the steps of Vector loops may begin, and gives those that ask conditions of their variable an
// interior, in which masks and choices that hold are gone and clamps that do not bind. Returns whether anything changed.
bool partition_loops(Kernel& kernel);

}  // namespace smelt::kernel

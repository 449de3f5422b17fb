// Conditions that fail near the ends of a row alone are checked near its ends alone:
//
//   vector %i < W by 16:                                     vector %i < W by 16, steps anywhere:
//     out[%i] = in[%i - 1] if %i >= 1 else 0          ->       out[%i] = in[%i - 1] if %i >= 1 else 0
//                                                              inside max(0, 1) <= %i < W:
//                                                                out[%i] = in[%i - 1]
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Sets where the steps of the Vector loops of a CPU kernel may begin, and gives loops that ask
// conditions of their variable an interior: a body without the masks and choices that hold there,
// and without clamps that do not bind. Returns whether anything changed.
bool partition_loops(Kernel& kernel);

}  // namespace smelt::kernel

// A short loop whose iterations fill what lies between the lanes of a Vector loop on a CPU is
// unrolled, so that its loads and stores become whole vectors:
//
//   vector %i < 64 by 16:                      vector %i < 64 by 16:
//     serial %a < 2:                             out[2*%i] = 2 * in[2*%i]
//       out[2*%i + %a] = 2 * in[2*%i + %a]  ->   out[2*%i + 1] = 2 * in[2*%i + 1]
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Returns whether anything changed.
bool unroll_short_loops(Kernel& kernel);

}  // namespace smelt::kernel

// How the lanes of every access of a Vector loop lie in memory, so that a printer of vectors only
// spells it:
//
//   vector %i < 99 by 16:                                    vector %i < 99 by 16:
//     out[%i] = in[98 - %i] + in[2*%i] + in[(%i + s) % 99]  ->  out[%i] = reversed in[98 - %i] + strided in[2*%i] + mostly contiguous in[..]
#pragma once

#include "kernel/lane_forms.hpp"

namespace smelt::kernel {

// Whether neighbours that are `step` elements apart are read with what lies between them, in whole
// vectors.
bool reads_between(int64_t step, int lanes);

// Gives the Vector loops and conditions of a CPU kernel their forms, and stores in Vector loops
// their step. Returns whether anything changed.
bool classify_accesses(Kernel& kernel);

}  // namespace smelt::kernel

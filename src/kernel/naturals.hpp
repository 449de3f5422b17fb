// Which numerators of a phase are at least 0, so that a quotient or a remainder of them needs no
// rounding down:
//
//   phase 0                              phase 0
//     vector %i < 99 by 16:                naturals %i
//       .. = in[%i // 3, (%i - 7) % 5]  ->   vector %i < 99 by 16: ..
//
// That holds wherever the phase computes them: a variable that several loops have ranges as far as
// the longest of them.
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// What is known of symbols anywhere in a phase.
Ranges ranges_in(const Kernel& kernel, const Phase& phase);

// Returns whether there are any. It runs after all passes that make indices.
bool find_naturals(Kernel& kernel);

}  // namespace smelt::kernel

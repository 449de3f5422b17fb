// What every element of a Vector loop computes alike is computed once, before the loop:
//
//   vector %i < N by 4:                                 let %v3: f32 = 1:f32 / cast<f32>(in1)
//     out2[%i] = in0[%i] * (1:f32 / cast<f32>(in1))  →  vector %i < N by 4:
//                                                         out2[%i] = in0[%i] * %v3
//
// What all elements of a column compute or read alike, in a loop over rows of columns, a loop over
// their lanes computes and reads first.
//
// The compiler of the printed text would find most of this late: it unrolls the loop first, and
// moves no instructions in assembler.
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Loops with loops or scans inside stay as they are. Returns whether anything was moved.
bool hoist_invariants(Kernel& kernel);

}  // namespace smelt::kernel

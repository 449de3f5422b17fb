// Which outputs may reuse the memory of which inputs: every element of the input is read at the
// index of the element of the output that takes its place alone, and before that is stored.
//
//   grid %i < N                                     in place: out1 in in0
//     out1[%i] = in0[%i]*0.9 + in2[%i + 1]    ->    grid %i < N: ..
//
// Where there are several phases, the first copies the input, and the others change the copy alone.
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Returns whether there are any. It runs after all passes that move accesses.
bool find_in_place(Kernel& kernel);

}  // namespace smelt::kernel

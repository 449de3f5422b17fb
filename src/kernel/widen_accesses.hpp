// Accesses of a GPU's Vector loops that are made at once: the stores of neighbouring lanes; and
// where a thread takes single elements, loads and stores of a block that follow each other in
// memory, as in rows of a stencil, where every column of a thread is an expression of its own, or
// in the elements of a short row, which are loaded early; and random words, of which lanes share
// blocks.
//
//   vector %i < 128 by 1:
//     fast: 1 x 1 to a thread
//     out1[%g, 2*%i] = in0[%g, 2*%i]
//     out1[%g, 2*%i + 1] = in0[%g, 2*%i + 1]
//   →
//   vector %i < 128 by 1:
//     fast: 1 x 1 to a thread
//     fast: loads in0[%g, 2*%i] and the 1 after it; stores out1[%g, 2*%i] and the 1 after it
//     out1[%g, 2*%i] = in0[%g, 2*%i]
//     out1[%g, 2*%i + 1] = in0[%g, 2*%i + 1]
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

bool widen_accesses(Kernel& kernel);

}  // namespace smelt::kernel

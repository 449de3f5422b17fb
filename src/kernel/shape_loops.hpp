// The variants of a phase on a GPU, and how its Vector loops are spread over the threads in each of
// them.
//
//   phase 0, work C                 phase 0, work C
//     grid %g < B:                    variant fast where -(C % 4) >= 0
//       vector %i < C by 4:           variant odd
//         out1[%g, %i] = ...          variant any
//                                     grid %g < B:
//                             →         vector %i < C by 4:
//                                         fast: 1 x 4 to a thread
//                                         odd: 1 x 4 to a thread, peeled, element 0 at %g*C
//                                         any: 4 x 1 to a thread
//                                         out1[%g, %i] = ...
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

bool shape_vector_loops(Kernel& kernel);

// Adds what must be at least 0 where a variant may run, each once; what the address of a param is a
// multiple of.
void require(const std::vector<IntExpr>& conditions, Variant& variant);
void align(int param, int bytes, Variant& variant);

// Whether a condition says that a size is a multiple of a number.
bool is_multiple(const IntExpr& condition);

}  // namespace smelt::kernel

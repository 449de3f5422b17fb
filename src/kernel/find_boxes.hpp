// Which parts of a pipeline are boxes of arrays, which the copy engine of a GPU brings on chip by
// itself:
//
//   serial %kb < 64 in 4 stages:                                   serial %kb < 64 in 4 stages:
//     vector %i < 8192:                                              vector %i < 8192:
//       later scratch0[%kb % 4, 0, %i // 64, %i % 64] =       ->       box of in0: 64 from 64*%kb, 128 from 128*%g
//           in0[128*%g + %i // 64, 64*%kb + %i % 64]                   later scratch0[..] = in0[..]
//
// A variant takes them so where all parts of the pipeline are boxes and copied 16 aligned bytes at
// a time.
#pragma once

#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

bool find_boxes(Kernel& kernel);

// The comparisons of indices that all hold where a condition does, each as what is at least 0 then.
// False where it is made of something else.
bool comparisons_of(const Kernel& kernel, ExprId condition, std::vector<IntExpr>& holds);

}  // namespace smelt::kernel

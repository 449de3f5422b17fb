// Arrays that are joined row by row: what a row is made of follows from its number's remainder, so
// each iteration of the Grid loop takes as many rows as there are remainders, and asks nothing:
//
//   grid %g < 9:                                        grid %g < 5:
//     vector %i < 100 by 16:                              vector %i < 100 by 16:
//       out[%g, %i] = where(%g % 2 < 1,          ->         out[2*%g, %i] = a[%g, %i]
//         a[%g // 2, %i] if %g % 2 < 1,                   if 2*%g + 1 < 9:
//         b[%g // 2, %i] if %g % 2 - 1 >= 0)                vector %i < 100 by 16:
//                                                             out[2*%g + 1, %i] = b[%g, %i]
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Returns whether anything changed.
bool split_grids(Kernel& kernel);

}  // namespace smelt::kernel

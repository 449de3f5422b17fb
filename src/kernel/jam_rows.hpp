// Rows that share much of what they read in lanes, as the pixels of a depthwise convolution share
// its weights, are taken together (unroll and jam): what several of them read is read once.
//
//   grid %g < 57:                                 grid %g < 15:
//     vector %i < 96 by 64:                         if %g < 14:
//       %v := 0                                       vector %i < 96 by 32:
//       serial %w < 7:                                  %v := 0, ..
//         %v := fma(x[%g + %w, %i], k[%w, %i], %v)   ->  serial %w < 7:
//       out[%g, %i] = %v                                  %v := fma(x[4*%g + %w, %i], k[%w, %i], %v), ..
//                                                       out[4*%g, %i] = %v, ..
//                                                   if 13 < %g:
//                                                     vector %i < 96 by 32:  of row 56
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Returns whether anything changed.
bool jam_rows(Kernel& kernel);

}  // namespace smelt::kernel

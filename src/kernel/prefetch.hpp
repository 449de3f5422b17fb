// Rows of arrays are fetched into the caches before the loops that read them begin. A CPU only.
//
// Between passes. While a later pass over a row computes from what is in the caches, memory would
// be idle; so that pass fetches what the first pass over the next row will read: the last pass
// does, or one before it that computes far more.
//
//   grid %g < B:                              grid %g < B:
//     vector %i0 < C by 16: reads in0[%g, %i0]  vector %i0 < C by 16: reads in0[%g, %i0]
//     combine ...                         →     combine ...
//     vector %i1 < C by 16: ...                 vector %i1 < C by 16:
//                                                 prefetch in0[(%g + 1) * C + %i1] and the 15 after it to level 1
//
// Kernels of one pass fetch the next row as well where elements and rows go opposite ways in
// memory. Rows that are read from their ends are fetched from their starts.
//
// In a loop down rows (Stmt::ahead), each Vector loop prefetches the new rows that it, or another
// one, reads this many iterations later.
//
// Along a loop. Where nothing of this kind is fetched, the first loop that reads an array in order
// fetches what it will read itself, some kilobytes later.
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Returns whether there is anything to fetch.
bool add_prefetches(Kernel& kernel);

}  // namespace smelt::kernel

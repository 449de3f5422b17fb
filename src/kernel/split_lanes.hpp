// Elements of a row that alternate: where masks of loads ask the remainder of an element's number,
// as those of arrays with zeros inserted do, a step takes as many vectors as there are remainders,
// each of the elements of one remainder, and asks nothing:
//
//   vector %i < 101 by 64:                              vector %i < 50 by 32:
//     out[%i] = gathered a[%i // 2] if %i % 2 < 1   ->    interleaved out[2*%i] = a[%i]
//               else 0                                    interleaved out[2*%i + 1] = 0
//                                                       out[100] = a[50]
//
// Where masks change within a row, as where one array of a concat ends, each range of elements has
// a loop of its own; ranges of equal length have one:
//
//   vector %i < 128 by 64:                              vector %i < 64 by 32:
//     out[%i] = where(%i < 64, a[%i] if %i < 64,    ->    out[%i] = a[%i]
//       b[%i - 64] if %i - 64 >= 0)                       out[%i + 64] = b[%i]
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Returns whether anything changed.
bool split_lanes(Kernel& kernel);

}  // namespace smelt::kernel

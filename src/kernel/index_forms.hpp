// How the lanes of a Vector loop on a CPU compute the indices that are not linear in the variable:
//
//   vector %i < 960 by 8:              vector %i < 960 by 8:
//     .. = gathered in[9*(%i % 4)]       lanes of 9*(%i % 4) are 0 9 18 27 .. beyond the first
//                                        lanes of (%i % 4) by one division
//                                        .. = gathered in[9*(%i % 4)]
//
// A table says what each lane is beyond lane 0, in every whole step. A quotient or a remainder of
// neighbours takes one division, of lane 0. A comparison of indices becomes one of lane numbers
// with one number.
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Adds to the forms of Vector loops and conditions: it runs after classify_accesses. Returns
// whether it changed anything.
bool classify_indices(Kernel& kernel);

}  // namespace smelt::kernel

// Sums of integers that are known to be small are accumulated in narrower lanes, of which a vector
// register has more:
//
//   %v0 := 0:i64                                      %v0 := 0:u16
//   vector %i < 12000 by 64:                          vector %i < 12000 by 64:
//     %v0 := %v0 + cast<i64>(in0[%g, %i] < 7:u8)  ->    %v0 := %v0 + cast<u16>(in0[%g, %i] < 7:u8)
//   combine %v0 by add over lane                      combine %v0 by add over lane
//   out1[%g] = %v0                                    out1[%g] = cast<i64>(%v0)
//
// Integers are added in any order with the same result, so only the largest sum counts.
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Returns whether anything changed.
bool narrow_sums(Kernel& kernel);

}  // namespace smelt::kernel

// Loads of Vector loops on a GPU that are made before anything of their block is computed, so that
// all of a step are under way together, in one access where the lanes of a group are neighbours;
// and those that several passes over a row have in common, which are made once and stay in
// registers between them.
//
//   vector %i < 1024 by 4:                              vector %i < 1024 by 4:
//     fast: 2 x 4 to a thread, in one step                fast: 2 x 4 to a thread, in one step
//     %v0 := %v0 + in0[%g, %i]                            fast: holds groups of in0[%g, %i]
//   ...                                           →       %v0 := %v0 + in0[%g, %i]
//   vector %i < 1024 by 4:                              ...
//     fast: 2 x 4 to a thread, in one step
//     out1[%g, %i] = in0[%g, %i] / %v0
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

bool load_early(Kernel& kernel);

}  // namespace smelt::kernel

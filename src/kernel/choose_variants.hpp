// The variants of a phase that a GPU is given, and what each of them requires in full.
//
//   variant fast where -(C % 4) >= 0        variant fast where -C + 2146435072 >= 0 and -(C % 4) >= 0
//   variant odd                        →    variant odd where -C + 2146435072 >= 0
//   variant any                             variant any, 64-bit indices
//
// Of a fast variant that requires no multiples there is no odd one, and where the best takes every
// size and address nothing else.
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

bool choose_variants(Kernel& kernel);

}  // namespace smelt::kernel

// The variants of a phase that a GPU is given, and what each of them requires in full.
//
//   variant fast where -(C % 4) >= 0        variant fast where -C + 2146435072 >= 0 and -(C % 4) >= 0
//   variant odd                        →    variant odd where -C + 2146435072 >= 0
//   variant any                             variant any, 64-bit indices
//
// A fast variant that requires no multiples makes the odd one superfluous, and one that takes every
// size and address all others.
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

bool choose_variants(Kernel& kernel);

}  // namespace smelt::kernel

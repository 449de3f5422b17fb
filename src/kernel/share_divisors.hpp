// Quotients whose divisor all elements of a loop share, by products, on a GPU:
//
//   x / y  →  fma(x * s, hi, x * s * lo),  hi + lo = 1 / (y * s)
//
// A division takes some twelve instructions and a branch for exponents at the ends of the range; s,
// hi and lo are found once, before the loop. A quotient of two ULP takes hi alone.
#pragma once

#include <unordered_map>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// `same` says of each expression of the loop whether all elements have one value of it. Returns
// whether there was such a quotient.
bool share_divisors(Kernel& kernel, Loop& loop, const std::unordered_map<ExprId, bool>& same);

}  // namespace smelt::kernel

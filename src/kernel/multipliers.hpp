// Division by a size that is known only at run time takes a GPU some twenty instructions. Where the
// launch hands over a multiplier made of that size it takes three: for 0 <= a < 2^31 and 0 < d <
// 2^31, with m = floor(2^62 / d) + 1,
//
//   floor(a / d) = floor(a * m / 2^62),  since  a * m / 2^62 = a / d + a * e / (d * 2^62)  with 0 < e <= d, and a * e < 2^62.
//
// (T. Granlund and P. Montgomery, Division by invariant integers using multiplication, PLDI 1994.)
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Launch sizes for the divisors that positions of loops are divided by in this kernel. Returns
// whether there are any.
bool add_multipliers(Kernel& kernel);

}  // namespace smelt::kernel

// Which kernels of a CPU can run slice by slice with others: a slice is so many iterations of the
// Grid loop that follow each other.
#pragma once

#include <cstddef>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Whether, of so many slices with equally many iterations, the one with number s accesses only the
// elements of this array in the part with number s, of as many parts of equal size. Of a kernel
// with one phase; false where it is not proved.
bool stays_in_slices(const Kernel& kernel, size_t param, const IntExpr& slices);

}  // namespace smelt::kernel

// Which kernels of a CPU can run slice by slice with others: a slice is so many iterations of the
// Grid loop that follow each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Whether, of so many slices with equally many iterations, the one with number s accesses only the
// elements of this array in the part with number s, of as many parts of equal size. Of a kernel
// with one phase. Proved: false where no proof is found. Tried: some accesses are looked at, which
// takes far less time.
enum class Slicing : uint8_t { Tried, Proved };
bool stays_in_slices(const Kernel& kernel, size_t param, const IntExpr& slices, Slicing how);

}  // namespace smelt::kernel

// Where an element stands in its array.
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// In elements from the start of the param or scratch buffer, which is row-major.
IntExpr flat_offset(const Kernel& kernel, const Access& access);

}  // namespace smelt::kernel

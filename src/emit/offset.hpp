// Where an element stands in its array.
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::emit {

// In elements from the start of the param or scratch buffer, which is row-major.
IntExpr flat_offset(const kernel::Kernel& kernel, const kernel::Access& access);

}  // namespace smelt::emit

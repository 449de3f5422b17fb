// Where an element is in its array.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// In elements from the start of the param or scratch buffer, which is row-major.
IntExpr flat_offset(const Kernel& kernel, const Access& access);

// The number that is added to all else.
int64_t constant_term(const IntExpr& e);

}  // namespace smelt::kernel

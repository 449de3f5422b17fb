// Calls whose arrays lie in one buffer.
#pragma once

#include "compile/compile.hpp"

namespace smelt::testing {

// Some programs, each with so many calls with random arrays of one buffer, against the interpreter.
void check_aliasing(const Machine& machine, int calls);

}  // namespace smelt::testing

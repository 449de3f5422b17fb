#pragma once

#include "generator.hpp"

namespace smelt::testing {

// Updates of places that the data names: indices of all kinds, what is computed before and after.
Program random_scatter_program(uint64_t seed);

}  // namespace smelt::testing

// Random programs of independent work: the same and different chains over arrays of different sizes
// and dtypes, some of them empty.
#pragma once

#include "generator.hpp"

namespace smelt::testing {

Program random_list_program(uint64_t seed);

}  // namespace smelt::testing

// Draws of random programs.
#pragma once

#include <random>
#include <string>

#include "base/dtype.hpp"

namespace smelt::testing {

// Something about `x`, of this dtype, with random numbers in it. `seed`: an integer of rank 0 of
// the program, or empty.
std::string draw_expression(std::mt19937_64& random, const std::string& x, DType dtype, const std::string& seed);

}  // namespace smelt::testing

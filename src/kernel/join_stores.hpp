// Stores of a Vector loop on a CPU that together fill what lies between its lanes become whole
// vectors:
//
//   out[2*%i] = a                 interleaved out[2*%i] = a
//   out[2*%i + 1] = b         ->  interleaved out[2*%i + 1] = b     which stores both
#pragma once

#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Says of the stores of a block in a Vector loop, whose steps are known, which ones are made
// together (Store::part).
void join_stores(const Kernel& kernel, std::vector<Stmt>& body);

// What is wrong with stores of a block that are made together; "" if nothing is.
std::string fault_of_joined_stores(const Kernel& kernel, const std::vector<Stmt>& body);

}  // namespace smelt::kernel

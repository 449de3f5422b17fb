// Prints a Kernel as plain C++17, for a host compiler: loops that g++ and clang vectorise.
#pragma once

#include <functional>
#include <string>

#include "kernel/kernel.hpp"

namespace smelt::emit {

// What is in front of all kernels: includes, and the functions that they call.
std::string cpp_prelude();

// One function a phase:
//
//   static void <kernel.name>_p<phase>(int64_t begin, int64_t end, T* p0, const U* p1, int64_t s2, ..., char* scratch)
//
// runs iterations begin .. end-1 of the phase's Grid loop; the params in their order, sizes as
// int64_t. `scratch` is this thread's, 64-byte aligned, scratch_bytes() of emit/llvm.hpp large.
// Throws UserError for what cannot be printed yet.
std::string emit_cpp(const kernel::Kernel& kernel);

// An integer expression over symbols that have the names that `name_of` gives them.
std::string cpp_integer(const IntExpr& e, const std::function<std::string(Symbol)>& name_of);

}  // namespace smelt::emit

// A program as one source file that needs nothing of smelt.
#pragma once

#include <string>

#include "compile/compile.hpp"

namespace smelt {

struct StandaloneOptions {
  std::string name = "smelt_program";  // of the function, a C identifier
};

// Throws UserError for what no C function can be called.
void check_function_name(const std::string& name);

// C++17 with a C ABI; what it is, is said in the comment at its top. Of an executable for the CPU.
// Throws UserError for what cannot be printed.
std::string standalone_cpp(const Executable& executable, const StandaloneOptions& options);

// CUDA C++ with a C ABI, for nvcc. Of an executable for a GPU, or for an architecture.
std::string standalone_cuda(const Executable& executable, const StandaloneOptions& options);

}  // namespace smelt

// The compiler that set_llvm_compiler() gave, in place of a libLLVM.
#pragma once

#include <memory>

#include "smelt/runtime.hpp"

namespace smelt::runtime::llvm {

// Null: there is none.
std::shared_ptr<const LlvmCompiler> compiler_of_user();

}  // namespace smelt::runtime::llvm

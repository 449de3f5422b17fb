// Finding and opening libLLVM.
#pragma once

#include <memory>
#include <string>

#include "runtime/llvm_api.hpp"

namespace smelt::runtime::llvm {

struct OpenedLibrary {
  std::shared_ptr<Api> api;  // empty when nothing usable was found
  std::string path;
  unsigned major = 0, minor = 0, patch = 0;
  explicit operator bool() const { return api != nullptr; }
};

// $SMELT_LLVM alone when it is set, else the system's names of libLLVM 22 down to 16. The host's
// target is initialised. When nothing is usable, `why` says what was tried and how to install it.
OpenedLibrary open_library(std::string& why);
// The library at this path.
OpenedLibrary open_library_at(const std::string& path, std::string& why);

}  // namespace smelt::runtime::llvm

// LLVM IR text to object code or assembly, through the LLVM C API.
#pragma once

#include <string>

#include "runtime/llvm_api.hpp"

namespace smelt::runtime::llvm {

struct HostTarget {
  Target target = nullptr;
  std::string triple, cpu, features;
};

// The machine that this runs on; $SMELT_CPU ("x86-64-v3", say) names a lesser one.
HostTarget find_host_target(const Api& api);

struct Compiled {
  MemoryBuffer code = nullptr;         // the caller disposes of it or hands it on
  std::vector<std::string> functions;  // the exported functions, as the text calls them
};

// Parses, verifies, optimises and compiles. `prefix` is put before the name of every exported function, so that many modules
// may stand in one JIT. Throws InternalError with LLVM's message and the line of the text.
Compiled compile_text(const Api& api, const HostTarget& host, const std::string& text, int file_type,
                      const std::string& prefix);

// The text of an LLVM error, which this consumes.
std::string take_message(const Api& api, Error error);

}  // namespace smelt::runtime::llvm

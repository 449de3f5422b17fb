// LLVM IR text to object code or assembly, through the LLVM C API.
#pragma once

#include <string>

#include "runtime/llvm_api.hpp"

namespace smelt::runtime::llvm {

struct HostTarget {
  Target target = nullptr;
  std::string triple, cpu, features;
};

std::string default_triple(const Api& api);
// The machine that this runs on; `chosen_cpu` ("x86-64-v3", say) names a lesser one.
HostTarget find_host_target(const Api& api, const std::string& chosen_cpu);

// Parses, verifies, optimises and compiles to kObject or kAssembly. Throws InternalError with
// LLVM's message and the line of the text.
std::string compile_text(const Api& api, const HostTarget& host, const std::string& text, int file_type);

// The passes, as LLVM names them.
const char* passes(unsigned major);

}  // namespace smelt::runtime::llvm

#include "runtime/llvm_library.hpp"

#include <fmt/format.h>

#include <mutex>

namespace smelt::runtime::llvm {

static constexpr unsigned kNewest = 22, kOldest = 16;
static constexpr const char* kInstall = "apt-get install libllvm19";

// LLVM is "libLLVM.so.19.1" since 18 and was "libLLVM-17.so.1" before; distributions add
// "libLLVM-19.so".
static std::vector<std::string> system_names() {
  std::vector<std::string> names;
  for (unsigned v = kNewest; v >= kOldest; --v) {
    if (v >= 18) names.push_back(fmt::format("libLLVM.so.{}.1", v));
    names.push_back(fmt::format("libLLVM-{}.so.1", v));
    names.push_back(fmt::format("libLLVM-{}.so", v));
  }
  return names;
}

// LLVM keeps one registry of targets per process and fills it without a lock.
static void initialize_target(const Api& api) {
  static std::mutex registry;
  const std::lock_guard lock(registry);
  api.initialize_target_info();
  api.initialize_target();
  api.initialize_target_mc();
  api.initialize_asm_printer();
}

OpenedLibrary open_library_at(const std::string& name, std::string& why) {
  const SharedLibrary library = runtime::open_library(name, why);
  if (!library.handle) return {};
  OpenedLibrary opened;
  const Call<void(unsigned*, unsigned*, unsigned*)> get_version{library, "LLVMGetVersion"};
  if (!get_version) {
    why = fmt::format("{}: not a libLLVM of version {} or newer (it has no LLVMGetVersion)", name, kOldest);
    return {};
  }
  get_version(&opened.major, &opened.minor, &opened.patch);
  if (opened.major < kOldest) {
    why = fmt::format("{}: LLVM {} is too old, {} to {} are supported", name, opened.major, kOldest, kNewest);
    return {};
  }
  opened.api = open_functions<Api>(library, name, fmt::format("LLVM {} is not supported", opened.major), why);
  if (!opened.api) return {};
  initialize_target(*opened.api);
  opened.path = path_of(get_version.address(), name);
  return opened;
}

OpenedLibrary open_library(std::string& why) {
  const std::vector<std::string> names = system_names();
  return search_library({"libLLVM", "SMELT_LLVM", names, tried(names), fmt::format("Install it: {}", kInstall),
                         fmt::format(", or install LLVM: {}", kInstall)},
                        open_library_at, why);
}

}  // namespace smelt::runtime::llvm

#include "runtime/llvm_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <mutex>

namespace smelt::runtime::llvm {

static constexpr unsigned kNewest = 22, kOldest = 16;
static constexpr const char* kInstall = "apt-get install libllvm19";

void* Library::find(const char* name) const {
  void* symbol = dlsym(handle, name);
  if (!symbol && missing) missing->push_back(name);
  return symbol;
}

// LLVM is "libLLVM.so.19.1" since 18 and was "libLLVM-17.so.1" before; distributions add "libLLVM-19.so".
static std::vector<std::string> system_names() {
  std::vector<std::string> names;
  for (unsigned v = kNewest; v >= kOldest; --v) {
    if (v >= 18) names.push_back(fmt::format("libLLVM.so.{}.1", v));
    names.push_back(fmt::format("libLLVM-{}.so.1", v));
    names.push_back(fmt::format("libLLVM-{}.so", v));
  }
  return names;
}

static std::string path_of(void* function, const std::string& name) {
  Dl_info info;
  return dladdr(function, &info) && info.dli_fname ? info.dli_fname : name;
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

// Opens one library. The handle is never closed: LLVM keeps state for the life of the process.
OpenedLibrary open_library_at(const std::string& name, std::string& why) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* message = dlerror();
    why = message ? message : "cannot be opened";
    return {};
  }
  std::vector<std::string> missing;
  OpenedLibrary opened;
  void* get_version = dlsym(handle, "LLVMGetVersion");
  if (!get_version) {
    why = fmt::format("{}: not a libLLVM of version {} or newer (it has no LLVMGetVersion)", name, kOldest);
    return {};
  }
  reinterpret_cast<void (*)(unsigned*, unsigned*, unsigned*)>(get_version)(&opened.major, &opened.minor, &opened.patch);
  if (opened.major < kOldest) {
    why = fmt::format("{}: LLVM {} is too old, {} to {} are supported", name, opened.major, kOldest, kNewest);
    return {};
  }
  auto api = std::make_shared<Api>(Library{handle, &missing});
  if (!missing.empty()) {
    why = fmt::format("{}: LLVM {} lacks {}", name, opened.major, fmt::join(missing, ", "));
    return {};
  }
  api->library.missing = nullptr;
  initialize_target(*api);
  opened.path = path_of(get_version, name);
  opened.api = std::move(api);
  return opened;
}

OpenedLibrary open_library(std::string& why) {
  const char* chosen = std::getenv("SMELT_LLVM");
  if (chosen && *chosen) {
    std::string reason;
    OpenedLibrary opened = open_library_at(chosen, reason);
    if (!opened.api)
      why = fmt::format("SMELT_LLVM={} cannot be used ({}). Unset it to search the system, or install LLVM: {}", chosen,
                        reason, kInstall);
    return opened;
  }
  const std::vector<std::string> names = system_names();
  std::string unusable;
  for (const std::string& name : names) {
    std::string reason;
    OpenedLibrary opened = open_library_at(name, reason);
    if (opened.api) return opened;
    // A library that exists but does not fit is worth a word; one that is absent is not.
    if (reason.find("No such file") == std::string::npos) unusable += "; " + reason;
  }
  why = fmt::format("libLLVM was not found (tried {}{}). Install it: {}", fmt::join(names, ", "), unusable, kInstall);
  return {};
}

}  // namespace smelt::runtime::llvm

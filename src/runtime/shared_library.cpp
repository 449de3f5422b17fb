#include "runtime/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

namespace smelt::runtime {

void* SharedLibrary::find(const char* name, bool needed) const {
  void* symbol = dlsym(handle, name);
  if (!symbol && needed && missing) missing->push_back(name);
  return symbol;
}

SharedLibrary open_library(const std::string& name, std::string& why) {
  SharedLibrary library;
  library.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library.handle) {
    const char* message = dlerror();
    why = message ? message : name + " cannot be opened";
  }
  return library;
}

std::string path_of(void* function, const std::string& otherwise) {
  Dl_info info;
  return dladdr(function, &info) && info.dli_fname ? info.dli_fname : otherwise;
}

void try_names(const LibrarySearch& search, const std::function<bool(const std::string&, std::string&)>& open,
               std::string& why) {
  std::string reason;
  const char* chosen = std::getenv(search.variable);
  if (chosen && *chosen) {
    if (open(chosen, reason)) return;
    why = fmt::format("{}={} cannot be used ({}). Unset it to search the system{}", search.variable, chosen, reason,
                      search.or_install);
    return;
  }
  std::string unusable;
  for (const std::string& name : search.names) {
    if (open(name, reason)) return;
    // A library that exists but does not fit is reported; one that is absent is not.
    if (reason.find("No such file") == std::string::npos) unusable += "; " + reason;
  }
  why = fmt::format("{} was not found ({}{}). {}", search.library, search.tried, unusable, search.install);
}

std::string tried(const std::vector<std::string>& names) { return fmt::format("tried {}", fmt::join(names, ", ")); }

std::string take_missing(SharedLibrary& library) {
  const std::string names = fmt::format("{}", fmt::join(*library.missing, ", "));
  library.missing = nullptr;
  return names;
}

}  // namespace smelt::runtime

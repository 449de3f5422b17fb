#include "runtime/shared_library.hpp"

#include <dlfcn.h>

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

}  // namespace smelt::runtime

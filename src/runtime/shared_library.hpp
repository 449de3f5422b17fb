// A shared library opened at run time, and its functions.
#pragma once

#include <string>
#include <vector>

namespace smelt::runtime {

struct SharedLibrary {
  void* handle = nullptr;
  std::vector<std::string>* missing = nullptr;  // collects the names that the library lacks, while it is looked through

  void* find(const char* name, bool needed = true) const;
};

// Opens by path or by a name that the system knows; the handle is never closed, since drivers keep state for the life of the
// process. Without a handle, `why` is what the loader said.
SharedLibrary open_library(const std::string& name, std::string& why);
// The path of the library that a function stands in; `otherwise` when that cannot be found out.
std::string path_of(void* function, const std::string& otherwise);

// One function of a library, called like one. Empty when it is not needed and not there.
template <class Signature>
class Call;
template <class R, class... A>
class Call<R(A...)> {
 public:
  Call(const SharedLibrary& library, const char* name, bool needed = true)
      : pointer_(reinterpret_cast<R (*)(A...)>(library.find(name, needed))) {}
  R operator()(A... arguments) const { return pointer_(arguments...); }
  explicit operator bool() const { return pointer_ != nullptr; }
  void* address() const { return reinterpret_cast<void*>(pointer_); }

 private:
  R (*pointer_)(A...);
};

}  // namespace smelt::runtime

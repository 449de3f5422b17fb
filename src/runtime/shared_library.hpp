// A shared library opened at run time, and its functions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace smelt::runtime {

struct SharedLibrary {
  void* handle = nullptr;
  std::vector<std::string>* missing = nullptr;  // collects the names that the library lacks, while it is looked through

  void* find(const char* name, bool needed = true) const;
};

// Opens by path or by a name that the system knows; the handle is never closed, since drivers keep
// state for the life of the process. Without a handle, `why` is what the loader said.
SharedLibrary open_library(const std::string& name, std::string& why);
// The path of the library that a function is in; `otherwise` when that cannot be found out.
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

// Where a library is searched for, and what the user can do when none is found.
struct LibrarySearch {
  const char* library;             // "libcuda"
  const char* variable;            // of the environment; where it is set, only the library that it names is tried
  std::vector<std::string> names;  // paths, and names that the system's loader may know; best first
  std::string tried;               // "tried libcuda.so.1"
  std::string install;             // a sentence
  std::string or_install = "";     // follows "Unset it to search the system"
};
// Calls `open(name, reason)` for each name until it returns true. If it never does, `why` says what
// was tried, each reason that is more than an absent file, and what to do.
void try_names(const LibrarySearch& search, const std::function<bool(const std::string&, std::string&)>& open,
               std::string& why);
// The same for an `open` that returns what it opened, or nothing. Returns that.
template <class Open>
auto search_library(const LibrarySearch& search, const Open& open, std::string& why) {
  std::invoke_result_t<Open, const std::string&, std::string&> found;
  const auto opens = [&](const std::string& name, std::string& reason) {
    found = open(name, reason);
    return static_cast<bool>(found);
  };
  try_names(search, opens, why);
  return found;
}
// "tried libcuda.so.1, libcuda.so"
std::string tried(const std::vector<std::string>& names);

// Ends the search for functions that a library lacks. Returns their names: "a, b".
std::string take_missing(SharedLibrary& library);

// The functions of an opened library, if it has them all: `Functions` is a struct of Calls, made
// from a SharedLibrary that it keeps as `library`. Otherwise nothing, and `why` is "NAME: TOO_OLD:
// it lacks a, b". Without a handle `why` stays as open_library() left it.
template <class Functions>
std::shared_ptr<Functions> open_functions(const SharedLibrary& library, const std::string& name,
                                          const std::string& too_old, std::string& why) {
  if (!library.handle) return nullptr;
  std::vector<std::string> missing;
  auto functions = std::make_shared<Functions>(SharedLibrary{library.handle, &missing});
  if (const std::string lacking = take_missing(functions->library); !lacking.empty()) {
    why = name + ": " + too_old + ": it lacks " + lacking;
    return nullptr;
  }
  return functions;
}

}  // namespace smelt::runtime

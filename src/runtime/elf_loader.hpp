// Relocatable ELF objects, as LLVM makes them of kernels, loaded into this process: x86-64 and
// AArch64. Memory is written, then made executable or read-only; it is never both writable and
// executable. What such kernels do not have (writable data, thread-local variables, unknown
// relocations) is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace smelt::runtime {

class LoadedObject {
 public:
  // Bytes may be any: whatever is wrong with them is an InternalError. Functions outside of the
  // object are those of external_function(). `name`: what profilers and debuggers show
  // (code_listing.hpp).
  explicit LoadedObject(std::string_view object, const std::string& name = {});
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;
  ~LoadedObject();

  void* function(const std::string& name) const;  // null when the object has none of this name

 private:
  char* memory_ = nullptr;
  size_t bytes_ = 0;
  std::map<std::string, void*> functions_;
  void* listed_ = nullptr;  // with a debugger
};

// The address of a function that LLVM may call for what a processor has no instruction for (memcpy,
// fmod, ...); null for another name.
void* external_function(std::string_view name);

}  // namespace smelt::runtime

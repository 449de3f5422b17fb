// The opened driver of NVIDIA GPUs, and what its refusals become.
#pragma once

#include <memory>
#include <string>

#include "runtime/gpu_api.hpp"

namespace smelt::runtime::cuda {

// Opens libcuda and starts it. Nothing without one, or when it finds no GPU; then `why` says what
// was tried, and what to do.
std::shared_ptr<const Driver> open_driver(std::string& why);

// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)".
std::string describe(const Driver& driver, Status status);
// Throws for anything but success: "the GPU cannot <what>: ...".
void check(const Driver& driver, Status status, const char* what);

// Makes a context current in this thread. Another one that was current before comes back at the
// end.
class Current {
 public:
  Current(const Driver& driver, Context context);
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  const Driver& driver_;
  bool pushed_ = false;
};

}  // namespace smelt::runtime::cuda

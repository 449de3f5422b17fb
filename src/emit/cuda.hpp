// Prints a Kernel as CUDA C++ for NVRTC: no header, nothing but the language and its built-in
// functions.
#pragma once

#include <string>

#include "emit/c_like.hpp"

namespace smelt::emit {

struct CudaTarget {
  int compute = 90;    // compute capability: 75, 80, 90, 100
  int nvrtc = 999999;  // its version: 12010
  bool boxes = true;   // whoever launches gives the arguments that boxes of arrays are copied by
  // Stores into the shared memory of other workgroups that count themselves at a barrier there (PTX
  // 8.1).
  bool counted_stores() const { return compute >= 90 && nvrtc >= 12010; }
};

// Arrays are pointers into device memory.
DeviceSource emit_cuda(const kernel::Kernel& kernel, const CudaTarget& target);
// The source of a batch; its variants take parts, not sizes: `bodies` says which one a part may
// use. `table_bytes`: the largest size of an argument.
DeviceSource emit_cuda_batch(const kernel::Kernel& batch, const CudaTarget& target, int64_t table_bytes);
// The table of CUDA C++.
const CLike& cuda_spellings();

}  // namespace smelt::emit

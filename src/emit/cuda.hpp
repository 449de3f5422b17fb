// Prints a Kernel as CUDA C++ for NVRTC: no header, nothing but the language and its built-in functions.
#pragma once

#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::emit {

struct CudaTarget {
  int compute = 90;    // compute capability: 75, 80, 90, 100
  int nvrtc = 999999;  // its version: 12010
  // Stores into the shared memory of other workgroups that count themselves at a barrier there (PTX 8.1).
  bool counted_stores() const { return compute >= 90 && nvrtc >= 12010; }
};

// One __global__ function. Its parameters are the kernel's params in their order: a pointer into device memory for every array, the
// value itself for a Scalar, a 64-bit integer for a Size.
struct CudaFunction {
  std::string name;
  int threads = 1;           // of a workgroup
  int iterations = 1;        // of the phase's Grid loop that one workgroup runs
  int cluster = 1;           // workgroups that run one iteration together
  IntExpr shared_bytes = 0;  // dynamic shared memory of a workgroup, over the Size params
};

// May be launched when every expression of `when` is >= 0 for the sizes of the call, and the address of every array is a multiple of
// its entry in `alignment` (per param; 0 for what is no array).
struct CudaVariant {
  CudaFunction function;
  std::vector<IntExpr> when;
  std::vector<int> alignment;
};

// The best first; the last takes every size and address.
struct CudaPhase {
  std::vector<CudaVariant> variants;
};

struct CudaSource {
  std::string text;
  std::vector<CudaPhase> phases;
};

CudaSource emit_cuda(const kernel::Kernel& kernel, const CudaTarget& target);

}  // namespace smelt::emit

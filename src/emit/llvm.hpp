// Prints a Kernel as textual LLVM IR for a CPU.
#pragma once

#include <string>

#include "kernel/kernel.hpp"

namespace smelt::emit {

struct LlvmTarget {
  std::string triple;          // "x86_64-pc-linux-gnu"
  int llvm_version = 19;       // major version that will parse the text: 16 to 22
  int vector_bits = 256;       // preferred width of the host's vectors
  bool slow_division = false;  // a vector is divided in the time of ten multiplications and more
  bool labels = false;         // comments say which operation of the program an instruction is of
};

// One function a phase, with C linkage:
//
//   void <kernel.name>_p<phase>(int64_t begin, int64_t end, void** arrays, const int64_t* sizes, char* scratch);
//
// runs iterations begin .. end-1 of the phase's Grid loop. `arrays` holds a pointer for each param
// that is not a Size, in order (a Scalar: to its value, in its dtype). `sizes` holds the Size
// params in order, strides and launch sizes included. `scratch` is this thread's, 64-byte aligned,
// scratch_bytes() large.
std::string emit_llvm(const kernel::Kernel& kernel, const LlvmTarget& target);

// Bytes of scratch that one thread needs, as an expression over the kernel's Size params.
IntExpr scratch_bytes(const kernel::Kernel& kernel);

}  // namespace smelt::emit

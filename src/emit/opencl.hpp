// Prints a Kernel as OpenCL C 1.2. Arrays are buffers, each with the place in bytes where the array
// begins; after the kernel's params comes one for shared memory.
#pragma once

#include <string>

#include "emit/c_like.hpp"

namespace smelt::emit {

struct OpenClTarget {
  bool f64 = true;        // cl_khr_fp64
  bool atomics64 = true;  // cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics
  bool ptx = false;       // takes functions in PTX, and needs them: ptx_text.hpp
};

// Throws UserError for what the target does not have.
DeviceSource emit_opencl(const kernel::Kernel& kernel, const OpenClTarget& target);
// The helpers that the module of a kernel may have.
HelperList opencl_helpers(const kernel::Kernel& kernel, const OpenClTarget& target);
const CLike& opencl_spellings();

}  // namespace smelt::emit

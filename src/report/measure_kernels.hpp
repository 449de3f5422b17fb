// How long each kernel of a program takes, compared with a copy of as many bytes.
#pragma once

#include <vector>

#include "compile/compile.hpp"
#include "report/bench.hpp"

namespace smelt::report {

struct KernelTime {
  int64_t bytes = 0;    // that it reads and writes
  Summary measured_ms;  // on a GPU by its own clock, the L2 cache flushed before; on a CPU back to back
  double copy_ms = 0;   // of a copy of as many bytes, measured in the same way
  double of_copy() const { return measured_ms.median > 0 ? copy_ms / measured_ms.median : 0; }
};

// Runs the program once, every kernel of it many times. The inputs are arrays of the host.
std::vector<KernelTime> measure_kernels(const Executable& executable, const std::vector<Tensor>& inputs,
                                        const BenchOptions& options);

}  // namespace smelt::report

// Measures a program on a GPU: data stays there, times are those of the device.
#pragma once

#include "report/bench.hpp"

namespace smelt::report {

// As bench(), for executables of a GPU.
BenchResult bench_gpu(const Executable& fused, const Executable* unfused, const std::vector<Tensor>& inputs,
                      const BenchOptions& options);

}  // namespace smelt::report

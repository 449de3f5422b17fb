// Groups that are one operation with the user's own code.
#pragma once

#include "compile/gpu_call.hpp"
#include "graph/custom_code.hpp"

namespace smelt {

// Its code, ready to run.
struct CustomLaunch {
  std::shared_ptr<const CustomCode> code;
  size_t inputs = 0;
  std::vector<DType> dtypes;  // of its inputs, then of its outputs
  GpuCode gpu;
};

// Throws UserError for operations without code for the machine.
void check_custom(const Graph& graph, const Machine& device);

bool is_custom(const Executable::State& state, size_t group);
// The source of its CUDA kernel; empty where it has none.
std::string custom_source(const Executable::State& state, size_t group);
// The arrays that it reads and writes; there is nothing else to say.
kernel::Kernel custom_kernel(const Graph& graph, const plan::FusionGroup& group, const std::string& name);
// Compiles the user's source for a GPU. Throws UserError with the compiler's words.
std::shared_ptr<const CustomLaunch> load_custom(const Executable::State& state, size_t group);

void run_custom(int threads, const CustomLaunch& launch, const std::vector<Dims>& dims, void* const* arrays);
// Nothing when there is nothing to write. The machine and the launch outlive the step.
std::optional<GpuStep> custom_step(const Machine& device, const CustomLaunch& launch, const std::vector<Dims>& dims,
                                   const std::vector<uint64_t>& addresses);

}  // namespace smelt

// The whole compiler as one function, and what it makes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "kernel/kernel.hpp"
#include "plan/plan.hpp"
#include "runtime/cpu.hpp"
#include "runtime/gpu.hpp"

namespace smelt {

// The machine to compile for: the CPU, or an NVIDIA GPU.
struct Device {
  std::string name = "cpu";  // "cpu", "cuda", "cuda:1", "sm_90"
  runtime::CpuFacts facts;   // of the host
  std::string missing;       // when it cannot compile: what was tried, and the command that installs it

  // CPU. Without it, programs run by the reference interpreter.
  std::shared_ptr<runtime::Llvm> llvm;

  // GPU
  bool is_gpu = false;
  runtime::GpuFacts gpu_facts;
  std::shared_ptr<runtime::Gpu> gpu;  // empty: kernels are built for it, but cannot run here
  std::shared_ptr<runtime::Nvrtc> nvrtc;

  static Device cpu();
  // Without a usable GPU or NVRTC, `missing` says so, and programs cannot be compiled for it.
  static Device cuda(int ordinal = 0);
  // A GPU of this architecture that is not here: to look at kernels, and to see that they compile.
  static Device cuda_architecture(int compute);
  // The first GPU when it is usable, else the CPU.
  static Device best();

  bool compiles() const { return is_gpu ? nvrtc != nullptr : llvm != nullptr; }
};

struct CompileOptions {
  bool fuse = true;
  int threads = 0;    // 0: all that the device has
  SizeBinding sizes;  // the sizes at hand, for estimates
};

// Milliseconds of each stage, in order.
struct StageTime {
  std::string stage;  // "simplify", "plan", "lower", "emit", "load"
  double ms;
};

// A whole runnable plan. Cheap to copy, safe to run from many threads at once, serves every size of its symbols.
class Executable {
 public:
  const Graph& graph() const;  // simplified
  const plan::Plan& plan() const;
  const std::vector<kernel::Kernel>& kernels() const;  // one per group of the plan; empty without LLVM
  bool interpreted() const;                            // no LLVM: the reference interpreter runs the program
  const std::vector<StageTime>& stage_times() const;
  double compile_ms() const;

  // Fresh outputs, row-major. Throws UserError when the inputs do not fit (dtype, rank, sizes, constraints).
  std::vector<Tensor> run(const std::vector<TensorView>& inputs) const;
  // Into memory of the caller: dims, dtype as output_types() says, any strides but 0 (copied when not row-major or when it
  // overlaps an input).
  void run_into(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs) const;
  std::vector<Dims> output_dims(const std::vector<TensorView>& inputs) const;
  int64_t temporary_bytes(const SizeBinding& sizes) const;  // the arena for values between kernels

  // "graph", "plan", "kernel", "source" (LLVM IR), "asm". Throws UserError for another name.
  std::string dump(const std::string& stage) const;

  struct State;

 private:
  friend Executable compile(const Graph&, const Device&, const CompileOptions&);
  std::shared_ptr<const State> state_;
};

Executable compile(const Graph& graph, const Device& device, const CompileOptions& options = {});

}  // namespace smelt

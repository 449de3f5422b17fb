// A call on a GPU: the launches of all kernels for arrays at fixed addresses.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compile/state.hpp"
#include "runtime/gpu_pool.hpp"
#include "runtime/nvtx.hpp"

namespace smelt {

// One thing that the stream does.
struct GpuStep {
  int kernel = -1;  // of the plan; -1: a copy
  // A launch.
  runtime::FunctionHandle function = nullptr;  // empty: a copy of plain bytes
  runtime::LaunchShape shape;
  std::vector<uint64_t> values;        // the arguments; one may take several words
  std::vector<runtime::BoxMap> boxes;  // further arguments
  std::vector<void*> arguments;        // into `values` and `boxes`
  std::function<void(runtime::StreamHandle)>
      on_host;  // in place of a launch: returns when it is done, and is in no graph
  // A copy.
  uint64_t to = 0, from = 0;
  int64_t bytes = 0;
};

class GpuCall {
 public:
  using StatePtr = std::shared_ptr<const Executable::State>;
  GpuCall(StatePtr state, std::shared_ptr<const Prepared> prepared, const std::vector<TensorView>& inputs,
          const std::vector<TensorView>& outputs, runtime::StreamHandle stream);
  GpuCall(const GpuCall&) = delete;
  GpuCall& operator=(const GpuCall&) = delete;
  ~GpuCall();

  void record_graph();  // of more than one step
  void run();
  void run_each(const Executable::EachKernel& each);
  void synchronize();
  int launches() const { return graph_ ? 1 : static_cast<int>(steps_.size()); }
  runtime::StreamHandle stream() const { return stream_; }

 private:
  struct Addresses {
    std::vector<uint64_t> inputs, outputs;  // row-major
    uint64_t arena = 0;
    uint64_t counters = 0;  // one word per kernel
  };
  void check_addresses(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs) const;
  void add_kernel(size_t kernel, const std::vector<TensorView>& inputs, const Addresses& at);
  void add_batch(size_t kernel, const std::vector<TensorView>& inputs, const Addresses& at);
  std::vector<uint64_t> values_of(size_t number, const kernel::Kernel& kernel, const Launch& launch,
                                  const Prepared::Launch& prepared, const std::vector<TensorView>& inputs,
                                  const Addresses& at) const;
  uint64_t value_of(size_t kernel, const kernel::Param& param, const Binding& binding,
                    const std::vector<TensorView>& inputs, const Addresses& at) const;
  void issue(const GpuStep& step, runtime::StreamHandle stream);
  void run_in_ranges();
  void name_ranges();
  bool reports_errors() const;
  int64_t error_bytes() const;  // a word for each kernel
  bool needs_counters() const;

  StatePtr state_;
  std::shared_ptr<const Prepared> prepared_;
  runtime::Gpu& gpu_;
  runtime::StreamHandle stream_;
  std::unique_ptr<runtime::PooledBlock> memory_;  // temporaries
  runtime::MappedMemory error_;
  std::vector<GpuStep> steps_;
  runtime::GraphHandle graph_ = nullptr;
  const runtime::Nvtx* nvtx_ = runtime::nvtx();  // a profiler, if there is one
  std::vector<std::string> ranges_;              // for it: what each step is called, then the whole call
};

}  // namespace smelt

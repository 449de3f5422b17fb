// Copies arrays of any strides within the memory of a GPU.
#pragma once

#include <memory>
#include <mutex>

#include "compile/gpu_call.hpp"

namespace smelt {

class GpuCopier {
 public:
  explicit GpuCopier(int compute) : compute_(compute) {}
  // Its code, for the cache.
  static std::string code(const Machine& device, int compute);
  // A step that copies one array to another of the same dims and dtype; they share no memory.
  GpuStep step(const Machine& device, const TensorView& from, const TensorView& to);

 private:
  runtime::FunctionHandle function(const Machine& device, int element_bytes);

  int compute_;
  std::mutex mutex_;
  std::shared_ptr<runtime::GpuModule> module_;
};

}  // namespace smelt

// Times what is queued on smelt's stream of a GPU, by events.
#pragma once

#include <functional>
#include <vector>

#include "report/bench.hpp"
#include "runtime/gpu.hpp"

namespace smelt::report {

// Inputs as an executable of a GPU takes them: arrays there, scalars in the memory of the host.
struct DeviceInputs {
  std::vector<Tensor> arrays;  // what the views of arrays show
  std::vector<TensorView> views;
};
DeviceInputs bring_inputs(const Machine& device, const std::vector<Tensor>& inputs);

class DeviceClock {
 public:
  DeviceClock(runtime::Gpu& gpu, const BenchOptions& options);
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;
  ~DeviceClock();

  // Milliseconds of one `work`, the L2 cache flushed before each.
  Summary cold(const std::function<void()>& work);
  // The same with what the work before left in the cache. The flush only keeps the device busy
  // until the host has queued the rest.
  Summary hot(const std::function<void()>& work);
  // Wall time per call of calls back to back, the host's part included.
  Summary call(const std::function<void()>& work);
  // The time of a copy within the GPU's memory; `bytes` are those read and written together.
  Summary cold_copy(int64_t bytes);
  Summary hot_copy(int64_t bytes);

 private:
  void flush() { gpu_.fill(flush_, 1, flush_bytes_, stream_); }
  double estimate(const std::function<void()>& work);
  Summary sample(int batch, const std::function<void()>& before, const std::function<void()>& work);
  template <class F>
  Summary with_copy(int64_t bytes, const F& measured);

  runtime::Gpu& gpu_;
  const BenchOptions& options_;
  runtime::StreamHandle stream_;
  int64_t flush_bytes_ = 0;
  uint64_t flush_ = 0;
  std::vector<runtime::EventHandle> events_;
};

}  // namespace smelt::report

// Running an executable on a GPU: with arrays of the host, and with arrays of the GPU.
#include <algorithm>
#include <mutex>
#include <utility>

#include "base/check.hpp"
#include "compile/gpu_call.hpp"
#include "compile/gpu_copy.hpp"

namespace smelt {
namespace {

std::shared_ptr<GpuCall> make_call(const std::shared_ptr<const Executable::State>& state,
                                   const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
                                   runtime::StreamHandle stream) {
  if (!state->device.gpu)
    throw UserError("the program was compiled for a GPU that is not here\nhelp: `smelt devices` lists those that are");
  const std::shared_ptr<const Prepared> prepared = prepare(*state, inputs);
  check_outputs(*state, *prepared, outputs);
  return std::make_shared<GpuCall>(state, prepared, inputs, outputs, stream);
}

}  // namespace

void run_on_gpu(const std::shared_ptr<const Executable::State>& state, const std::shared_ptr<const Prepared>& prepared,
                const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs) {
  const Machine& device = state->device;
  if (!device.gpu)
    throw UserError("the program was compiled for a GPU that is not here\nhelp: `smelt devices` lists those that are");
  runtime::Gpu& gpu = *device.gpu;
  const runtime::StreamHandle stream = runtime::current_stream(gpu);
  int64_t bytes = 0;
  std::vector<Tensor> copies;
  std::vector<TensorView> on_device[2] = {expected_inputs(*state, inputs, copies), outputs};
  for (TensorView& view : on_device[1]) view.strides = contiguous_strides(view.dims);
  for (std::vector<TensorView>& views : on_device)
    for (TensorView& view : views) bytes += aligned(bytes_across(view), kGpuAlignment);
  const runtime::PooledBlock memory(device.pool, bytes, stream);
  uint64_t at = memory.address();
  for (std::vector<TensorView>& views : on_device)
    for (TensorView& view : views) {
      void* const host = std::exchange(view.data, reinterpret_cast<void*>(at));
      at += static_cast<uint64_t>(aligned(bytes_across(view), kGpuAlignment));
      if (&views != &on_device[0]) continue;
      if (view.dims.empty())
        view.data = host;  // its value becomes an argument
      else
        gpu.upload(reinterpret_cast<uint64_t>(view.data), host, bytes_across(view), stream);
    }
  GpuCall call(state, prepared, on_device[0], on_device[1], stream);
  call.run();
  call.synchronize();
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o].count() == 0) continue;
    const auto from = reinterpret_cast<uint64_t>(on_device[1][o].data);
    if (outputs[o].contiguous()) {
      gpu.download(outputs[o].data, from, outputs[o].bytes(), stream);
    } else {
      const Tensor copy = Tensor::empty(outputs[o].dtype, outputs[o].dims);
      gpu.download(copy.data, from, copy.bytes(), stream);
      copy_into(copy, outputs[o]);
    }
  }
}

void run_each_on_gpu(const std::shared_ptr<const Executable::State>& state,
                     const std::shared_ptr<const Prepared>& prepared, const std::vector<TensorView>& inputs,
                     const std::vector<TensorView>& outputs, const Executable::EachKernel& each) {
  SMELT_CHECK(state->device.gpu, "kernels for a GPU that is not here");
  GpuCall call(state, prepared, inputs, outputs, state->device.gpu->stream());
  call.run_each(each);
  call.synchronize();
}

BoundCall Executable::bind(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
                           runtime::StreamHandle stream) const {
  BoundCall bound;
  bound.call_ = make_call(state_, inputs, outputs, stream);
  bound.call_->record_graph();
  return bound;
}

void Executable::run_device(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
                            runtime::StreamHandle stream) const {
  make_call(state_, inputs, outputs, stream)->run();
}

namespace {

// Memory of an array, which goes back to the pool with the array: once the work on it that is
// queued then is done.
struct PooledMemory {
  std::shared_ptr<runtime::GpuPool> pool;
  runtime::GpuPool::Block block;
  runtime::StreamHandle stream = nullptr;  // where it was made
  std::mutex mutex;
  std::vector<runtime::StreamHandle> others{};  // where it was used besides
  bool escaped = false;

  ~PooledMemory() {
    if (escaped)
      pool->free(block);
    else
      pool->give_back(block, stream, others);
  }
};

struct GiveBack {
  std::shared_ptr<PooledMemory> memory;
  void operator()(void*) { memory.reset(); }
};

PooledMemory* pooled(const Tensor& tensor) {
  const GiveBack* deleter = std::get_deleter<GiveBack>(tensor.memory);
  return deleter ? deleter->memory.get() : nullptr;
}

}  // namespace

void note_use(const Tensor& tensor, runtime::StreamHandle stream) {
  PooledMemory* const memory = pooled(tensor);
  if (!memory || memory->stream == stream) return;
  const std::lock_guard lock(memory->mutex);
  memory->pool->order(stream, memory->stream);
  if (std::find(memory->others.begin(), memory->others.end(), stream) == memory->others.end())
    memory->others.push_back(stream);
}

void note_escape(const Tensor& tensor) {
  PooledMemory* const memory = pooled(tensor);
  if (!memory) return;
  const std::lock_guard lock(memory->mutex);
  memory->escaped = true;
}

Tensor device_empty(const Machine& device, DType dtype, Dims dims) {
  SMELT_CHECK(device.gpu, "memory of a GPU that is not here");
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.strides = contiguous_strides(dims);
  tensor.dims = std::move(dims);
  // The user's allocator decides itself what it keeps.
  if (!device.pool || runtime::gpu_account(device.gpu_facts.ordinal).has_allocator()) {
    const uint64_t address =
        device.pool ? device.pool->allocate_array(tensor.bytes()) : device.gpu->allocate(tensor.bytes());
    tensor.data = reinterpret_cast<void*>(address);
    tensor.memory = std::shared_ptr<void>(tensor.data, [gpu = device.gpu, address](void*) { gpu->release(address); });
    return tensor;
  }
  const runtime::StreamHandle stream = runtime::current_stream(*device.gpu);
  std::shared_ptr<PooledMemory> memory(
      new PooledMemory{device.pool, device.pool->take(std::max<int64_t>(1, tensor.bytes()), stream), stream, {}});
  tensor.data = reinterpret_cast<void*>(memory->block.address);
  tensor.memory = std::shared_ptr<void>(tensor.data, GiveBack{std::move(memory)});
  return tensor;
}

Tensor to_device(const Machine& device, const TensorView& host) {
  if (!host.contiguous()) return to_device(device, contiguous_copy(host));
  Tensor tensor = device_empty(device, host.dtype, host.dims);
  device.gpu->upload(reinterpret_cast<uint64_t>(tensor.data), host.data, host.bytes(),
                     runtime::current_stream(*device.gpu));
  return tensor;
}

Tensor copy_on_device(const Machine& device, const Tensor& on_device) {
  Tensor tensor = device_empty(device, on_device.dtype, on_device.dims);
  if (tensor.count() == 0) return tensor;
  const runtime::StreamHandle stream = runtime::current_stream(*device.gpu);
  note_use(on_device, stream);
  if (on_device.contiguous()) {
    device.gpu->copy(reinterpret_cast<uint64_t>(tensor.data), reinterpret_cast<uint64_t>(on_device.data),
                     tensor.bytes(), stream);
    return tensor;
  }
  GpuStep copy = device.copier->step(device, on_device, tensor);
  device.gpu->launch(copy.function, copy.shape, copy.arguments.data(), stream);
  return tensor;
}

Tensor to_host(const Machine& device, const TensorView& on_device) {
  SMELT_CHECK(device.gpu, "memory of a GPU that is not here");
  const runtime::StreamHandle stream = runtime::current_stream(*device.gpu);
  Tensor tensor = Tensor::empty(on_device.dtype, on_device.dims);
  if (tensor.count() == 0) return tensor;
  if (on_device.contiguous()) {
    device.gpu->download(tensor.data, reinterpret_cast<uint64_t>(on_device.data), tensor.bytes(), stream);
    return tensor;
  }
  const runtime::PooledBlock memory(device.pool, tensor.bytes(), stream);
  TensorView row_major = tensor;
  row_major.data = reinterpret_cast<void*>(memory.address());
  GpuStep copy = device.copier->step(device, on_device, row_major);
  device.gpu->launch(copy.function, copy.shape, copy.arguments.data(), stream);
  device.gpu->download(tensor.data, memory.address(), tensor.bytes(), stream);
  return tensor;
}

}  // namespace smelt

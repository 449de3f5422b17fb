#include "smelt/stream.hpp"

#include <fmt/format.h>

#include "api/node.hpp"

namespace smelt {

namespace detail {

struct StreamState {
  Device device;
  std::shared_ptr<runtime::Gpu> gpu;
  runtime::StreamHandle handle = nullptr;
  bool owned = false;
  ~StreamState() {
    if (owned) gpu->destroy_stream(handle);
  }
};

struct StreamEventState {
  std::shared_ptr<runtime::Gpu> gpu;
  runtime::EventHandle handle = nullptr;
  bool owned = false;
  ~StreamEventState() {
    if (owned) gpu->destroy_event(handle);
  }
};

}  // namespace detail

namespace {

using detail::StreamEventState;
using detail::StreamState;

const std::shared_ptr<runtime::Gpu>& gpu_of(const Device& device, const char* what) {
  const Machine& machine = detail::machine_of(device);
  if (!machine.is_gpu || machine.opencl)
    throw UserError(fmt::format("{}: {} has no streams of CUDA\nhelp: Device::cuda() has", what, device.name()));
  if (!machine.gpu) throw UserError(fmt::format("{}: {} cannot be used: {}", what, device.name(), device.missing()));
  return machine.gpu;
}

void check_device(const Stream& stream, const runtime::Gpu& gpu, const char* what) {
  if (detail::machine_of(stream.device()).gpu.get() != &gpu)
    throw UserError(fmt::format("{}: the stream is on {}, and the event is on another GPU\nhelp: use one of its own",
                                what, stream.device().name()));
}

}  // namespace

Stream::Stream(const Device& device, void* handle)
    : state_(std::shared_ptr<StreamState>(new StreamState{device, gpu_of(device, "Stream"), handle, false})) {}

Stream Stream::create(const Device& device) {
  const std::shared_ptr<runtime::Gpu>& gpu = gpu_of(device, "Stream::create()");
  return Stream(std::shared_ptr<const StreamState>(new StreamState{device, gpu, gpu->create_stream(), true}));
}

Stream Stream::current(const Device& device) {
  return Stream(device, runtime::current_stream(*gpu_of(device, "Stream::current()")));
}

void* Stream::handle() const { return state_->handle; }
const Device& Stream::device() const { return state_->device; }
void Stream::synchronize() const { state_->gpu->synchronize(state_->handle); }

StreamScope::StreamScope(const Stream& stream) : stream_(stream), before_(Stream::current(stream.device())) {
  had_ = runtime::set_current_stream({detail::machine_of(stream.device()).gpu.get(), true, stream.handle()}).set;
}
StreamScope::~StreamScope() {
  runtime::set_current_stream({detail::machine_of(stream_.device()).gpu.get(), had_, before_.handle()});
}

StreamEvent::StreamEvent(const Device& device, bool timing) {
  const std::shared_ptr<runtime::Gpu>& gpu = gpu_of(device, "StreamEvent");
  state_ = std::shared_ptr<const StreamEventState>(new StreamEventState{gpu, gpu->create_event(timing), true});
}
StreamEvent::StreamEvent(const Device& device, void* handle)
    : state_(std::shared_ptr<StreamEventState>(new StreamEventState{gpu_of(device, "StreamEvent"), handle, false})) {}

void StreamEvent::record(const Stream& stream) const {
  check_device(stream, *state_->gpu, "StreamEvent::record()");
  state_->gpu->record(state_->handle, stream.handle());
}
void StreamEvent::wait(const Stream& stream) const {
  check_device(stream, *state_->gpu, "StreamEvent::wait()");
  state_->gpu->wait(stream.handle(), state_->handle);
}
void StreamEvent::synchronize() const { state_->gpu->synchronize_event(state_->handle); }
double StreamEvent::elapsed_ms(const StreamEvent& start) const {
  return state_->gpu->elapsed_ms(start.state_->handle, state_->handle);
}
void* StreamEvent::handle() const { return state_->handle; }

}  // namespace smelt

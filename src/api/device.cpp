#include "smelt/device.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>

#include "api/node.hpp"

namespace smelt {

using detail::DeviceState;

// Devices belong to the process: their libraries are opened once, and arrays and functions of
// static storage may outlive everything else, so they are never destroyed.
static const detail::Handle<const DeviceState>& cpu_state() {
  static const auto* state =
      new detail::Handle<const DeviceState>(std::make_shared<const DeviceState>(DeviceState{Machine::cpu()}));
  return *state;
}

static detail::Handle<const DeviceState> gpu_state(Machine (*open)(int), int ordinal) {
  static std::mutex* mutex = new std::mutex;
  static auto* states = new std::map<std::pair<Machine (*)(int), int>, detail::Handle<const DeviceState>>;
  const std::lock_guard lock(*mutex);
  detail::Handle<const DeviceState>& state = (*states)[{open, ordinal}];
  // One that is not there is tried again: the driver may have been installed since. A GPU is opened
  // once, so that all that use it have one stream and one pool; without a compiler it moves arrays
  // and runs what was saved.
  if (!state || !state->machine.gpu) state = std::make_shared<const DeviceState>(DeviceState{open(ordinal)});
  return state;
}

Device::Device() : state_(cpu_state()) {}
Device Device::cpu() { return Device(); }
Device Device::cuda(int ordinal) { return Device(gpu_state(Machine::cuda, ordinal)); }
Device Device::opencl(int number) { return Device(gpu_state(Machine::opencl_device, number)); }

Device Device::best() {
  Device gpu = cuda();
  return gpu.usable() ? gpu : cpu();
}

const std::string& Device::name() const { return state_->machine.name; }
void Device::synchronize() const {
  const Machine& machine = state_->machine;
  if (!machine.is_gpu) return;
  if (!machine.gpu) throw UserError(fmt::format("synchronize(): {} cannot be used: {}", name(), missing()));
  machine.gpu->synchronize_all();
}

bool Device::is_gpu() const { return state_->machine.is_gpu; }
bool Device::usable() const { return state_->machine.compiles() && (!state_->machine.is_gpu || state_->machine.gpu); }
const std::string& Device::missing() const { return state_->machine.missing; }

}  // namespace smelt

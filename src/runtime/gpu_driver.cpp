#include "runtime/gpu_driver.hpp"

#include <fmt/format.h>

#include "base/check.hpp"

namespace smelt::runtime::cuda {
namespace {

std::shared_ptr<const Driver> find_driver(std::string& why) {
  const std::vector<std::string> names{"libcuda.so.1", "libcuda.so"};
  const auto open = [](const std::string& name, std::string& reason) {
    return open_functions<Driver>(open_library(name, reason), name, "the driver is too old", reason);
  };
  return search_library({"libcuda", "SMELT_CUDA", names, tried(names),
                         "It comes with the GPU driver: apt-get install nvidia-driver-full on Debian, ubuntu-drivers "
                         "install on Ubuntu; in a container, start it with --gpus all"},
                        open, why);
}

}  // namespace

std::shared_ptr<const Driver> open_driver(std::string& why) {
  std::shared_ptr<const Driver> driver = find_driver(why);
  if (!driver) return nullptr;
  if (const Status status = driver->init(0); status != kSuccess) {
    why = status == kNoDevice
              ? "the driver of NVIDIA GPUs is here, but no GPU that it supports (CUDA_VISIBLE_DEVICES may hide it)"
              : fmt::format("the driver of the GPU does not start: {}", describe(*driver, status));
    return nullptr;
  }
  int count = 0;
  if (driver->device_count(&count) != kSuccess || count == 0) {
    why = "the driver of NVIDIA GPUs is here, but no GPU that it supports (CUDA_VISIBLE_DEVICES may hide it)";
    return nullptr;
  }
  return driver;
}

std::string describe(const Driver& driver, Status status) {
  const char *name = nullptr, *text = nullptr;
  driver.error_name(status, &name);
  driver.error_text(status, &text);
  return fmt::format("{} ({})", text ? text : "unknown error", name ? name : fmt::format("CUDA error {}", status));
}

void check(const Driver& driver, Status status, const char* what) {
  if (status == kSuccess) return;
  const std::string message = fmt::format("the GPU cannot {}: {}", what, describe(driver, status));
  switch (status) {
    case kOutOfMemory: throw UserError(message + "\nhelp: use smaller arrays, or free memory of the GPU");
    case kDeviceUnavailable:
    case kEccError:
    case kNvlinkError:
    case kLaunchTimeout:
    case kSystemNotReady:
    case kDriverMismatch: throw UserError(message + "\nhelp: nvidia-smi says more about the machine");
    default: throw InternalError(message);
  }
}

Current::Current(const Driver& driver, Context context) : driver_(driver) {
  Context now = nullptr;
  driver.current_context(&now);
  if (now == context) return;
  // A thread that has none keeps this one, so that it is looked up only in later calls.
  check(driver, now ? driver.push_context(context) : driver.set_context(context), "set its context");
  pushed_ = now != nullptr;
}

Current::~Current() {
  Context popped = nullptr;
  if (pushed_) driver_.pop_context(&popped);
}

}  // namespace smelt::runtime::cuda

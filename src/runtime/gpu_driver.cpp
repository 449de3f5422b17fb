#include "runtime/gpu_driver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "base/check.hpp"

namespace smelt::runtime::cuda {
namespace {

constexpr const char* kNames[] = {"libcuda.so.1", "libcuda.so"};
constexpr const char* kInstall =
    "The driver of the GPU brings it: apt-get install nvidia-driver-full on Debian, ubuntu-drivers install on Ubuntu; "
    "in a container, start it with --gpus all";

std::shared_ptr<const Driver> try_open(const std::string& name, std::string& why) {
  const SharedLibrary library = open_library(name, why);
  if (!library.handle) return nullptr;
  std::vector<std::string> missing;
  const auto driver = std::make_shared<Driver>(SharedLibrary{library.handle, &missing});
  if (!missing.empty()) {
    why = fmt::format("{}: the driver is too old: it lacks {}", name, fmt::join(missing, ", "));
    return nullptr;
  }
  driver->library.missing = nullptr;
  return driver;
}

std::shared_ptr<const Driver> find_driver(std::string& why) {
  std::string reason;
  const char* chosen = std::getenv("SMELT_CUDA");
  if (chosen && *chosen) {
    if (auto driver = try_open(chosen, reason)) return driver;
    why = fmt::format("SMELT_CUDA={} cannot be used ({}). Unset it to search the system", chosen, reason);
    return nullptr;
  }
  std::string unusable;
  for (const char* name : kNames) {
    if (auto driver = try_open(name, reason)) return driver;
    if (reason.find("No such file") == std::string::npos) unusable += "; " + reason;
  }
  why = fmt::format("libcuda was not found (tried {}{}). {}", fmt::join(kNames, ", "), unusable, kInstall);
  return nullptr;
}

}  // namespace

std::shared_ptr<const Driver> open_driver(std::string& why) {
  std::shared_ptr<const Driver> driver = find_driver(why);
  if (!driver) return nullptr;
  if (const Status status = driver->init(0); status != kSuccess) {
    why = status == kNoDevice
              ? "the driver of NVIDIA GPUs is here, but no GPU that it serves (CUDA_VISIBLE_DEVICES may hide it)"
              : fmt::format("the driver of the GPU does not start: {}", describe(*driver, status));
    return nullptr;
  }
  int count = 0;
  if (driver->device_count(&count) != kSuccess || count == 0) {
    why = "the driver of NVIDIA GPUs is here, but no GPU that it serves (CUDA_VISIBLE_DEVICES may hide it)";
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
    case kDriverMismatch: throw UserError(message + "\nhelp: see to the machine: nvidia-smi tells more");
    default: throw InternalError(message);
  }
}

Current::Current(const Driver& driver, Context context) : driver_(driver) {
  Context now = nullptr;
  driver.current_context(&now);
  if (now == context) return;
  // A thread that has none keeps this one, so that it is looked up only in later calls.
  check(driver, now ? driver.push_context(context) : driver.set_context(context), "enter its context");
  pushed_ = now != nullptr;
}

Current::~Current() {
  Context popped = nullptr;
  if (pushed_) driver_.pop_context(&popped);
}

}  // namespace smelt::runtime::cuda

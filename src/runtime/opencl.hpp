// OpenCL devices: libOpenCL is opened at run time, and finds the drivers that are installed.
// Addresses are numbers of smelt's own, since OpenCL 1.2 has none: ranges that no two buffers
// share, from which every call finds the buffer and the place in it.
#pragma once

#include "runtime/gpu.hpp"

namespace smelt::runtime {

class OpenCl : public Gpu {
 public:
  // The device with this number, counted over all platforms. Nothing when there is none; then `why`
  // says what was tried, and what to install.
  static std::shared_ptr<OpenCl> open(int ordinal, std::string& why);
  // Names of all devices that are here.
  // To code that load() takes. Throws InternalError with the driver's log.
  virtual std::string build(const std::string& source) = 0;
  // Everything besides the source that code depends on.
  virtual std::string identity() const = 0;
};

}  // namespace smelt::runtime

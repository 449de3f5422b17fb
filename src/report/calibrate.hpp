// Measures what the cost model knows of a machine, by small programs that run as any program does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "schedule/calibration.hpp"

namespace smelt::report {

struct CalibrateOptions {
  int rounds = 32;  // of all programs, one after the other
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct Calibrated {
  schedule::Calibration calibration;
  // Not to be believed: the built-in number stays.
  struct Refused {
    size_t place = 0;
    double number = 0;
    std::string why;
  };
  std::vector<Refused> refused;
};

// The device must be here, and compile. Throws UserError for a CPU that OpenCL has as its device.
Calibrated calibrate(const Machine& device, const CalibrateOptions& options);

// The target that numbers of this device are compared for.
schedule::Target target_of(const Machine& device);

}  // namespace smelt::report

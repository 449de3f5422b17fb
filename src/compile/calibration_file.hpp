// Where the calibration of a device is kept: a file of text in the folder of the cache, one for
// each kind of device by its name. It holds for the machine that it was measured on alone.
#pragma once

#include <memory>
#include <string>

#include "compile/compile.hpp"
#include "schedule/calibration.hpp"

namespace smelt {

struct KeptCalibration {
  std::shared_ptr<const schedule::Calibration> calibration;  // empty: none that holds
  std::string measured;                                      // when: "2026-11-26 15:40 UTC"
  std::string ignored;                                       // why an existing file is ignored
};

// The calibration of a device that is here; nothing is kept of others. One that is damaged, of
// another form of the file, or of another machine is ignored.
KeptCalibration kept_calibration(const Machine& device);
// Throws UserError where there is no folder to keep one in.
void check_keeps_calibration(const Machine& device);
// Replaces the one before. Throws UserError where that fails.
void keep_calibration(const Machine& device, const schedule::Calibration& calibration, const std::string& measured);
// Whether there was one, that holds or not.
bool forget_calibration(const Machine& device);

}  // namespace smelt

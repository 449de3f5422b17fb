/// \file
/// The machines that programs run on.
#pragma once

#include <string>
#include <utility>

#include "smelt/export.hpp"
#include "smelt/handle.hpp"

namespace smelt {

namespace detail {
struct DeviceState;
}

/// The CPU, an NVIDIA GPU, or a device of OpenCL. A cheap handle: copies mean the same device.
///
/// Programs run on the CPU, unless Options::device says otherwise or the arrays are on a GPU.
/// Arrays made from host memory are on the CPU; Array::to moves them.
class SMELT_API Device {
 public:
  /// The CPU. Without libLLVM nothing compiles for it (Options::fallback); see missing().
  Device();
  /// The same as Device().
  static Device cpu();
  /// The GPU of this number, counted from 0 as the CUDA driver does. Never throws: where it cannot
  /// be used, usable() is false and missing() says why.
  static Device cuda(int ordinal = 0);
  /// The OpenCL device of this number, counted over all platforms. No other function chooses one.
  /// Never throws, as cuda().
  static Device opencl(int number = 0);
  /// The first GPU when it is usable, else the CPU.
  static Device best();

  /// "cpu", "cuda", "cuda:1", "opencl".
  const std::string& name() const;
  bool is_gpu() const;  ///< whether arrays on it are out of reach of the host
  /// Whether it can compile kernels.
  bool usable() const;
  /// When it is not usable: what was tried, and the command that installs it. Else empty.
  const std::string& missing() const;

  /// Waits until all that smelt and others have queued on it is done, in every stream; nothing on
  /// the CPU. Throws the errors of that work, and UserError when the device is not available.
  void synchronize() const;

  /// Whether two handles mean the same device.
  friend bool operator==(const Device& a, const Device& b) { return a.state_ == b.state_ || a.name() == b.name(); }

  /// \cond internal
  explicit Device(detail::Handle<const detail::DeviceState> state) : state_(std::move(state)) {}
  const detail::DeviceState& state() const { return *state_; }
  /// \endcond

 private:
  detail::Handle<const detail::DeviceState> state_;
};

}  // namespace smelt

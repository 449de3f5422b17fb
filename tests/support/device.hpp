// The device that SMELT_TEST_DEVICE names: cuda, opencl or opencl:N; the CPU without it. With
// opencl-teams, OpenCL's first device runs the kernels of a GPU even where it is a CPU.
#pragma once

#include <cctype>
#include <cstdlib>
#include <string_view>

#include "base/check.hpp"
#include "compile/compile.hpp"

namespace smelt {

inline Machine named_device() {
  const char* variable = std::getenv("SMELT_TEST_DEVICE");
  const std::string_view name = variable ? variable : "";
  constexpr std::string_view kOpencl = "opencl";
  if (name == "cuda") return Machine::cuda();
  if (name == kOpencl) return Machine::opencl_device();
  if (name == "opencl-teams") {
    Machine machine = Machine::opencl_device();
    machine.gpu_facts.is_processor = false;
    return machine;
  }
  if (name.size() == kOpencl.size() + 2 && name.starts_with("opencl:") && std::isdigit(name.back()))
    return Machine::opencl_device(name.back() - '0');
  SMELT_CHECK(name.empty(), "SMELT_TEST_DEVICE={} is no device", name);
  return Machine::cpu();
}

}  // namespace smelt

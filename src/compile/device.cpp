#include "compile/compile.hpp"

namespace smelt {

Device Device::cpu() {
  Device device;
  device.facts = runtime::read_cpu_facts();
  device.llvm = runtime::Llvm::open(device.missing);
  return device;
}

}  // namespace smelt

// What happens to a kernel between its lowering and its text: this table, from the top. verify() runs after every pass.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

struct Pass {
  std::string_view name, purpose;
  bool gpu, cpu;         // kernels that it is for
  bool (*run)(Kernel&);  // returns whether it changed the kernel
};

std::span<const Pass> passes();

// Sees the kernel after every pass that it is for; `changed` as the pass returned it.
using PassObserver = std::function<void(const Pass& pass, const Kernel& kernel, bool changed)>;

void run_passes(Kernel& kernel, const PassObserver& observer = {});

}  // namespace smelt::kernel

// What happens to a kernel between its lowering and its text: this table, from the top. verify()
// runs after every pass.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

struct Pass {
  std::string_view name, purpose;
  bool gpu, cpu;                           // kernels that it is for
  bool (*run)(Kernel&);                    // returns whether it changed the kernel
  bool may_fail = false;                   // its result need not be provable: it is undone where it is not
  void (*check)(const Kernel&) = nullptr;  // verifies what it adds, where it changes nothing that was verified
};

std::span<const Pass> passes();

// Runs one and verifies what it made. Returns whether it changed the kernel; throws InternalError
// where the result is not proved, unless the pass may fail: then the kernel is as before, and
// `undone` names the pass.
bool run_pass(const Pass& pass, Kernel& kernel, Proved& proved);

// Sees the kernel after every pass that it is for; `changed` as the pass returned it.
using PassObserver = std::function<void(const Pass& pass, const Kernel& kernel, bool changed)>;

// `proved`: of verifying the kernel before.
void run_passes(Kernel& kernel, Proved& proved, const PassObserver& observer = {});

}  // namespace smelt::kernel

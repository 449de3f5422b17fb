// Lowers a scheduled group to a Kernel.
#pragma once

#include <string>

#include "kernel/kernel.hpp"
#include "kernel/passes.hpp"
#include "schedule/schedule.hpp"

namespace smelt::kernel {

// What an observer of lower() sees first: the lowering itself, before the first of passes(). `run`
// is null.
inline constexpr Pass kLowering{"lowering", "a scheduled group becomes loops", true, true, nullptr};

// The kernel after all passes, verified. Where an index cannot be proved inside its array, the
// kernel is lowered again with such indices clamped: that changes no value, and what is left can be
// proved. `observer` sees the kernel after kLowering, then after each pass.
Kernel lower(const Graph& graph, const schedule::Group& group, const schedule::Schedule& schedule,
             const std::string& name, const PassObserver& observer = {});

}  // namespace smelt::kernel

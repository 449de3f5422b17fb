// Lowers a scheduled group to a Kernel.
#pragma once

#include <functional>
#include <string>

#include "kernel/kernel.hpp"
#include "kernel/passes.hpp"
#include "schedule/schedule.hpp"

namespace smelt::kernel {

// The kernel after all passes, verified. Where an index cannot be proved inside its array, the
// kernel is lowered again with such indices clamped: that changes no value, and what is left can be
// proved. `seen_lowered` sees the kernel before the first pass, `observer` after each.
Kernel lower(const Graph& graph, const schedule::Group& group, const schedule::Schedule& schedule,
             const std::string& name, const std::function<void(const Kernel&)>& seen_lowered = {},
             const PassObserver& observer = {});

}  // namespace smelt::kernel

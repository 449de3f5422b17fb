// Lowers a scheduled group to a Kernel.
#pragma once

#include <string>

#include "kernel/kernel.hpp"
#include "schedule/schedule.hpp"

namespace smelt::kernel {

// The kernel, verified. Where an index cannot be proved inside its array, the kernel is made again with such indices clamped:
// that changes no value, and what is left can be proved.
Kernel lower(const Graph& graph, const schedule::Group& group, const schedule::Schedule& schedule,
             const std::string& name);

}  // namespace smelt::kernel

// Lowers a scheduled group to a Kernel.
#pragma once

#include <string>

#include "kernel/kernel.hpp"
#include "schedule/schedule.hpp"

namespace smelt::kernel {

Kernel lower(const Graph& graph, const plan::FusionGroup& group, const schedule::Schedule& schedule,
             const std::string& name);

}  // namespace smelt::kernel

// What the counters of a GPU say of a program, for the commands that show them.
#pragma once

#include "arguments.hpp"
#include "progress.hpp"
#include "report/profile.hpp"

namespace smelt::tool {

// Runs the program under Nsight Compute, fused and unfused. Throws UserError where there is none.
report::Profile count_program(const ProfileOptions& options, const Program& program, const Machine& device,
                              Progress& progress);

}  // namespace smelt::tool

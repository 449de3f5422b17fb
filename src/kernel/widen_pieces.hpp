// Loads of one array whose pieces are not whole vectors read what lies between those of
// their neighbours too, so that all read the same vectors:
//
//   in[2*%i], in[2*%i + 1]   elements 0 to 126 and 1 to 127 beyond 2*%i  ->  0 to 127 both
//
// Gathers that together read most elements of rows share vectors too.
#pragma once

#include <vector>

#include "kernel/lane_faults.hpp"

namespace smelt::kernel {

// The loads that every whole step of a Vector loop makes, whichever of its bodies runs.
std::vector<ExprId> loads_of_every_step(const Kernel& kernel, const Loop& loop);

// Widens the pieces of a loop's loads. A load at a distance becomes one of a piece where that
// helps.
void widen_pieces(const Kernel& kernel, const Loop& loop, LaneForms& forms);

// What is wrong with what a load reads beyond its own lanes; "" if nothing is.
std::string fault_of_widening(const Kernel& kernel, const Loop& loop, const LaneForms& forms, ExprId load);

}  // namespace smelt::kernel

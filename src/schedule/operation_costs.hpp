// What operations take on a CPU that was not calibrated.
#pragma once

#include "schedule/calibration.hpp"

namespace smelt::schedule {

// Its operations, and those facts whose unit they are. Rates and launches are not among them: those
// differ more between machines (target_facts.cpp).
const Calibration& built_in_costs();

}  // namespace smelt::schedule

// What operations take, in simple operations on 32 bits.
#pragma once

#include "schedule/calibration.hpp"

namespace smelt::schedule {

// `numbers` has those of operations on floats, and facts whose unit they are. Rates and launches
// are not among them: those differ more between machines (target_facts.cpp).
struct OperationCosts {
  const Calibration* numbers = nullptr;
  // Divisions of integers: by one number, or by others element by element; of 64 bits.
  double by_constant = 0, wide_by_constant = 0, by_any = 0, wide_by_any = 0;
  double wide = 1;        // how many times as long f64 takes as `numbers` say
  double converting = 1;  // between f64 and others
};

// What is built in for a CPU and for a GPU.
const OperationCosts& built_in_costs();
const OperationCosts& built_in_gpu_costs();

}  // namespace smelt::schedule

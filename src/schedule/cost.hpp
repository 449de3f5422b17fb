// What a schedule costs: one model for every family and machine. Predictions compare schedules;
// they promise no time.
#pragma once

#include <string_view>

#include "schedule/schedule.hpp"

namespace smelt::schedule {

// What a kernel waits for.
enum class Resource : uint8_t {
  Memory,   // bytes that memory moves
  Cache,    // sectors that the shared cache delivers
  OnChip,   // bytes of the first-level cache and of shared memory
  Issue,    // operations, and the instructions around them
  Latency,  // round trips to memory, one after the other, of as many threads as fit
};
std::string_view name_of(Resource resource);

struct Cost {
  double us = 0;  // launches, and the longest of the terms
  Resource limit = Resource::Memory;
  double memory_us = 0, cache_us = 0, on_chip_us = 0, issue_us = 0, latency_us = 0, launch_us = 0;
  int registers = 0;            // of a thread of a GPU
  int64_t workgroups = 1;       // of a GPU, with work
  int resident_workgroups = 1;  // of a multiprocessor, at a time
};

// Sets the time, the longest of the terms plus the launches, and what limits it.
void take_longest(Cost& cost);

// For the sizes at hand.
Cost predict(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options);

}  // namespace smelt::schedule

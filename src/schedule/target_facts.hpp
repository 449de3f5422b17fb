// What machines do in a microsecond: the numbers behind every predicted time.
#pragma once

#include <array>
#include <memory>

#include "schedule/group.hpp"
#include "schedule/operation_costs.hpp"

namespace smelt::schedule {

// Copies far larger than the last level of a CPU's caches are so many times as large.
inline constexpr int kFarSize = 4;

// What memory of a GPU takes of the time that it should, fitted as the constants of cost_gpu.cpp.
inline constexpr double kMemoryTime = 1.1;

struct TargetFacts {
  int processors = 1;           // multiprocessors, or CPU threads
  double memory_bytes = 1;      // that memory moves in a microsecond, read and written
  double cache_bytes = 1;       // the same of the cache that all processors share
  double on_chip_bytes = 1;     // the same of one processor's first-level cache or shared memory
  double operations = 1;        // of one processor in a microsecond, in units of cost_of
  double multiplications = 1;   // CPU: the same of f32 in products of matrices
  double gather = 5;            // CPU: instructions of an element whose place the data names (Xeon, AVX-512)
  double latency_us = 0;        // of a read of memory, with what leads to it
  double next_latency_us = 0;   // of the following reads of a loop
  double cache_latency_us = 0;  // of a read of the shared cache
  double near_latency_us = 0;   // of a read of the first-level cache, in a loop
  double launch_us = 0;         // of a kernel, up to its first instruction and from its last
  double next_launch_us = 0;    // of a launch after another one of the same kernel
  double barrier_us = 0;        // of the threads of a workgroup
  double shuffles_us = 0;       // that join the lanes of a warp
  double cluster_us = 0;        // of a barrier of the workgroups of a cluster
  int64_t cache_bytes_total = 0;
  // The resources of one multiprocessor.
  int64_t registers = 0, shared_bytes = 0;
  int threads = 1, workgroups = 1;
  std::shared_ptr<const Calibration> measured;  // what of these was; may be empty
  OperationCosts costs;                         // what operations take
  std::array<int64_t, 3> caches{};              // CPU: bytes of its levels

  // CPU: microseconds in which so many threads move so many bytes, each array once; the share of
  // them that is written.
  double moving_us(double bytes, double written, double threads) const;
};

TargetFacts facts_of(const Target& target);

}  // namespace smelt::schedule

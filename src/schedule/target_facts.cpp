#include "schedule/target_facts.hpp"

#include <algorithm>

namespace smelt::schedule {
namespace {

// The share of its peak memory rate that is reached: copies of large arrays reach 4.4 of 4.92 TB/s
// on an H200, and 2.97 of 3.35 on an H100.
constexpr double kReached = 0.895;

// NVIDIA H200 (docs/benchmarks, bench/gpu): pointwise kernels over 2.4 GB move 4.4 TB/s, and over
// arrays in the L2 cache about 2.5 times that. chain10, which is bound by arithmetic, does 310,000
// units of cost_of a microsecond and multiprocessor. A launch over nothing takes 3 us, with caches
// flushed before. Other GPUs with as many multiprocessors are taken to be alike, smaller ones to
// have their part of it.
TargetFacts of_gpu(const Target& target) {
  constexpr double kProcessors = 132;
  TargetFacts facts;
  facts.processors = std::max(1, target.threads);
  const double part = std::min(1.0, facts.processors / kProcessors);
  facts.memory_bytes = target.memory_gbs > 0 ? kReached * target.memory_gbs * 1e3 : 4.4e6 * part;
  facts.cache_bytes = 11e6 * part;
  facts.on_chip_bytes = 128 * 1755;  // 128 bytes a cycle, at 1.755 GHz
  facts.operations = 310e3;
  facts.latency_us = 0.75;
  facts.next_latency_us = 0.55;
  facts.cache_latency_us = 0.3;
  facts.near_latency_us = 0.03;
  facts.launch_us = 3.0;
  facts.next_launch_us = 1.0;
  facts.barrier_us = 0.04;
  facts.shuffles_us = 0.06;
  facts.cluster_us = 0.5;
  facts.cache_bytes_total = target.l2_bytes;
  facts.registers = 65536;
  facts.shared_bytes = target.shared_bytes;
  facts.threads = 2048;
  facts.workgroups = 32;
  return facts;
}

// One thread takes about 8 bytes a nanosecond from memory, and does 16 lanes of 32 bits, twice a
// cycle, at 3 GHz with vectors of 512 bits.
TargetFacts of_cpu(const Target& target) {
  TargetFacts facts;
  facts.processors = std::max(1, target.threads);
  facts.memory_bytes = 8e3 * std::min(facts.processors, 32);
  facts.cache_bytes = 20e3 * facts.processors;
  facts.on_chip_bytes = 128e3;
  facts.operations = 3e3 * 2 * target.vector_bits / 32;
  facts.latency_us = 0.1;
  facts.next_latency_us = 0.1;
  facts.cache_latency_us = 0.02;
  facts.near_latency_us = 0.005;
  facts.launch_us = facts.processors > 1 ? 1.5 : 0.1;
  facts.next_launch_us = facts.launch_us;
  facts.cache_bytes_total = target.l3_bytes;
  return facts;
}

}  // namespace

TargetFacts facts_of(const Target& target) { return target.gpu ? of_gpu(target) : of_cpu(target); }

}  // namespace smelt::schedule

#include "schedule/target_facts.hpp"

#include <algorithm>
#include <cmath>

#include "schedule/operation_costs.hpp"
#include "schedule/operations.hpp"

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
  facts.multiplications = 0.8 * facts.operations;  // of what a thread could do (AVX-512, f32, 1024^3)
  facts.latency_us = 0.1;
  facts.next_latency_us = 0.1;
  facts.cache_latency_us = 0.02;
  facts.near_latency_us = 0.005;
  facts.launch_us = facts.processors > 1 ? 1.5 : 0.1;
  facts.next_launch_us = facts.launch_us;
  facts.cache_bytes_total = target.l3_bytes;
  facts.caches = {target.l1_bytes, target.l2_bytes, target.l3_bytes};
  return facts;
}

void take(double& number, double measured) {
  if (measured > 0) number = measured;
}

// Threads, as many as one thread's rate is multiplied by where so many share what all of those that
// were measured together reach. More threads than that have as many more caches and memories.
double sharing(const Calibration& m, Fact one, Fact all, double threads) {
  const double measured = m.of(Fact::Threads), most = m.of(one) > 0 ? m.of(all) / m.of(one) : 0;
  if (measured <= 1 || most <= 0) return threads;
  return threads <= measured ? std::min(threads, most) : most * threads / measured;
}

void take_measured(TargetFacts& facts, const Target& target) {
  const Calibration& m = *target.measured;
  take(facts.operations, m.of(Fact::Operations));
  take(facts.launch_us, m.of(facts.processors > 1 && !target.gpu ? Fact::LaunchByAll : Fact::Launch));
  if (target.gpu) {
    take(facts.memory_bytes, m.of(Fact::Memory));
    take(facts.cache_bytes, m.of(Fact::SharedCache));
    if (m.of(Fact::Wide) > 0) facts.costs.wide = m.of(Fact::Wide) / facts.costs.numbers->of(Fact::Wide);
    return;
  }
  facts.costs.numbers = &m;
  const double threads = facts.processors;
  facts.next_launch_us = facts.launch_us;
  take(facts.multiplications, m.of(Fact::Multiplications));
  take(facts.gather, m.of(Fact::Gather));
  take(facts.memory_bytes, m.of(Fact::Memory) * sharing(m, Fact::Memory, Fact::MemoryByAll, threads));
  take(facts.cache_bytes, m.of(Fact::SharedCache) * sharing(m, Fact::SharedCache, Fact::SharedByAll, threads));
}

}  // namespace

TargetFacts facts_of(const Target& target) {
  TargetFacts facts = target.gpu ? of_gpu(target) : of_cpu(target);
  facts.measured = target.measured;
  facts.costs = target.gpu ? built_in_gpu_costs() : built_in_costs();
  if (facts.measured) take_measured(facts, target);
  return facts;
}

namespace {

// Microseconds of a byte, of which so many are written: between arrays that are only read, copies,
// and arrays that are only written.
double us_of_byte(double copied, double read, double write, double written) {
  const double copy = 1 / copied;
  const double other = written < 0.5 ? read : write;
  if (other <= 0) return copy;
  const double away = std::abs(2 * written - 1);
  return (1 - away) * copy + away / other;
}

}  // namespace

double TargetFacts::moving_us(double bytes, double written, double threads) const {
  const auto of = [&](Fact fact) { return measured ? measured->of(fact) : 0; };
  constexpr Fact kCurve[] = {Fact::FirstCache, Fact::SecondCache, Fact::SharedCache, Fact::FullCache, Fact::Memory};
  if (std::any_of(std::begin(kCurve), std::end(kCurve), [&](Fact fact) { return of(fact) <= 0; })) {
    const bool near = bytes <= static_cast<double>(cache_bytes_total) / 2;
    return bytes / (near ? cache_bytes * threads / processors : memory_bytes);
  }
  // Between the sizes that were measured the time of a byte follows the logarithm of the size.
  const double shared = sharing(*measured, Fact::SharedCache, Fact::SharedByAll, threads);
  const double far = sharing(*measured, Fact::Memory, Fact::MemoryByAll, threads);
  const auto level = [&](size_t at) { return static_cast<double>(caches[at]); };
  const auto mixed = [&](Fact copy, Fact read, Fact write) {
    return us_of_byte(of(copy), of(read), of(write), written);
  };
  struct Point {
    double bytes, us;
  };
  const Point points[] = {
      {level(0) / 2 * threads, 1 / (of(Fact::FirstCache) * threads)},
      {level(1) / 2 * threads, 1 / (of(Fact::SecondCache) * threads)},
      {level(2) / 4, 1 / (of(Fact::SharedCache) * shared)},
      {level(2), mixed(Fact::FullCache, Fact::FullCacheRead, Fact::FullCacheWrite) / std::min(shared, far)},
      {level(2) * kFarSize, mixed(Fact::Memory, Fact::MemoryRead, Fact::MemoryWrite) / far}};
  const Point* before = &points[0];
  for (const Point& point : points) {
    if (point.bytes <= before->bytes) continue;  // the first, and small caches of many threads
    if (bytes <= point.bytes) {
      const double share = std::max(0.0, std::log(bytes / before->bytes) / std::log(point.bytes / before->bytes));
      return bytes * ((1 - share) * before->us + share * point.us);
    }
    before = &point;
  }
  return bytes * before->us;
}

double built_in(const Target& target, size_t place) {
  Target plain = target;
  plain.measured = nullptr;
  plain.threads = target.gpu ? target.threads : 1;
  const TargetFacts facts = facts_of(plain);
  constexpr double kOther = 2;  // of an operation that is in no table
  if (const double number = facts.costs.numbers->numbers[place]; number > 0) return number;
  if (place >= kFactCount) return kOther;
  switch (static_cast<Fact>(place)) {
    case Fact::FirstCache: return facts.on_chip_bytes;
    case Fact::SecondCache:
    case Fact::SharedCache:
    case Fact::FullCache:
    case Fact::FullCacheRead:
    case Fact::FullCacheWrite:
    case Fact::SharedByAll: return facts.cache_bytes;
    case Fact::Memory:
    case Fact::MemoryRead:
    case Fact::MemoryWrite:
    case Fact::MemoryByAll: return facts.memory_bytes;
    case Fact::Threads: return target.threads;
    case Fact::Launch: return facts.launch_us;
    case Fact::LaunchByAll:
      return facts_of([&] {
               plain.threads = std::max(2, target.threads);
               return plain;
             }())
          .launch_us;
    case Fact::Operations: return facts.operations;
    case Fact::Gather: return facts.gather;
    case Fact::Multiplications: return facts.multiplications;
    case Fact::Wide:
    case Fact::Bf16:
    case Fact::F16:
    case Fact::Scan:
    case Fact::ScanExtreme: return 1;
  }
  return 0;
}

}  // namespace smelt::schedule

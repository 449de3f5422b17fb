// Predicted times of scatters: what memory moves, and updates one by one on a CPU, or those that
// meet in one word on a GPU.
#include <algorithm>
#include <cmath>

#include "schedule/cost_parts.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// Measured on an H200: atomic additions of the shared cache in a microsecond, the time between two
// to the same word, and additions of words of 64 bits in shared memory in a microsecond.
constexpr int kPhasesOfLists = 9;
constexpr double kInCache = 44e3, kSameWordUs = 0.1, kOnChip = 8 * 1755;

}  // namespace

Cost predict_scatter_on_cpu(const Graph& graph, const Group& group, const Schedule& s, const Options& options) {
  // Instructions of an update, of each vector of its row, and to look whether it lies in a part of
  // the rows. Measured on an AMD EPYC (Zen 4, AVX-512): counts and sums of random rows.
  constexpr double kOfUpdate = 6, kOfVector = 4, kOfLook = 0.7;
  // Microseconds until a line of the result is there, where the second-level cache, and the last
  // one, do not hold the result: several are under way at a time.
  constexpr double kFarUs = 1e-3, kMemoryUs = 4e-3, kLineBytes = 64;
  // As kernel/lower_scatter.cpp splits updates and rows.
  constexpr double kMostParts = 64, kUpdatesOfPart = 1 << 16, kUpdatesOfElement = 4;
  constexpr double kMostPartsOfThread = 4, kColumnsOfPart = 16, kWorkOfPiece = 32768;
  const TargetFacts facts = facts_of(options.target);
  const Node& node = graph.at(group.outputs[0]);
  const auto elements = [&](const Shape& shape) {
    return static_cast<double>(std::max<int64_t>(1, element_count(evaluate(shape, options.sizes))));
  };
  const double size = size_of(node.dtype), result = elements(node.shape),
               updates = elements(graph.at(node.args[1]).shape);
  const double columns = std::max(1.0, elements(graph.at(node.args[2]).shape) / updates),
               rows = std::max(1.0, result / columns);
  const double width = std::max(4, options.target.vector_bits / 32);
  double parts = 1, looks = 0, copied = 0;
  if (s.scatter == ScatterForm::Copies) {
    const double least = std::max(kUpdatesOfPart, result * kUpdatesOfElement);
    parts = std::clamp(std::floor(updates * columns / least), 1.0, kMostParts);
    copied = 2 * parts * result / width;
  } else {
    parts =
        std::min(rows, facts.processors * std::clamp(std::floor(columns / kColumnsOfPart), 1.0, kMostPartsOfThread));
    looks = parts * updates * kOfLook;
  }
  // Threads take so many parts that they are worth it (compile/prepare.cpp).
  const double work = s.scatter == ScatterForm::Copies ? updates * columns / parts : updates;
  const double pieces = ceil_ratio(parts, std::max(1.0, std::floor(kWorkOfPiece / work)));
  const double threads = ratio(parts, ceil_ratio(parts, std::min<double>(facts.processors, pieces)));
  const double vectors = columns > 1 ? ceil_ratio(columns, width) : 0;
  const double far = result * size > static_cast<double>(facts.caches[2])   ? kMemoryUs
                     : result * size > static_cast<double>(facts.caches[1]) ? kFarUs
                                                                            : 0;
  Cost cost;
  const double bytes = group_bytes(graph, options.sizes, group);
  cost.memory_us = facts.moving_us(bytes, ratio(result * size, bytes), threads);
  const double instructions = updates * (kOfUpdate + vectors * kOfVector) + looks + copied;
  cost.issue_us = instructions * width / (facts.operations * threads) +
                  updates * ceil_ratio(columns * size, kLineBytes) * far / threads;
  cost.launch_us = facts.launch_us + facts.next_launch_us;
  cost.workgroups = static_cast<int64_t>(parts);
  take_longest(cost);
  return cost;
}

Cost predict_scatter_on_gpu(const Graph& graph, const Group& group, const Schedule& s, const Options& options) {
  const TargetFacts facts = facts_of(options.target);
  const Node& node = graph.at(group.outputs[0]);
  const auto result = static_cast<double>(std::max<int64_t>(1, element_count(evaluate(node.shape, options.sizes))));
  const Shape& of_updates = graph.at(node.args[2]).shape;
  const auto updates = static_cast<double>(element_count(evaluate(of_updates, options.sizes)));
  const bool exact = s.scatter == ScatterForm::Exact, atomic = exact || s.scatter == ScatterForm::Atomic;
  Cost cost;
  const double bytes = group_bytes(graph, options.sizes, group), again = exact ? bytes : 0;
  const bool near = bytes < static_cast<double>(facts.cache_bytes_total) / 2;
  cost.memory_us = bytes / facts.memory_bytes + again / (near ? facts.cache_bytes : facts.memory_bytes);
  if (atomic && s.on_chip)
    cost.issue_us = updates / (facts.processors * kOnChip);
  else if (atomic)
    cost.issue_us = std::max(updates / kInCache, updates / result * kSameWordUs);
  const int words = size_of(node.dtype) == 8 ? 2 : 1;
  int phases = exact ? 3 + words : atomic ? 2 : s.scatter == ScatterForm::Newest ? 3 : 1;
  if (s.scatter == ScatterForm::Listed) {
    const Shape& of_indices = graph.at(node.args[1]).shape;
    const auto listed = static_cast<double>(std::max<int64_t>(1, element_count(evaluate(of_indices, options.sizes))));
    cost.issue_us = 2 * std::max(listed / kInCache, updates / result * kSameWordUs);
    phases = kPhasesOfLists;
  }
  cost.launch_us = facts.launch_us + (phases - 1) * facts.next_launch_us;
  cost.latency_us = phases * facts.latency_us;
  cost.workgroups = static_cast<int64_t>(ceil_ratio(updates, std::max<double>(1, static_cast<double>(s.tile))));
  take_longest(cost);
  return cost;
}

}  // namespace smelt::schedule

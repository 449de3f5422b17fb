// Predicted times of scatters on a GPU: what memory moves, and updates that meet in one word.
#include <algorithm>

#include "schedule/cost_parts.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// Measured on an H200: atomic additions of the shared cache in a microsecond, the time between two
// to the same word, and additions of words of 64 bits in shared memory in a microsecond.
constexpr int kPhasesOfLists = 9;
constexpr double kInCache = 44e3, kSameWordUs = 0.1, kOnChip = 8 * 1755;

}  // namespace

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

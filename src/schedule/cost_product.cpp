// Predicted times of products: what the multiplications of all tiles take, whole ones also at the
// ends of the axes, or what memory moves.
#include <algorithm>

#include "schedule/cost_parts.hpp"
#include "schedule/product.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// Multiplications of a thread in a microsecond.
double multiplications(const TargetFacts& facts, const Product& p, int64_t bytes) {
  return facts.multiplications * 4 / static_cast<double>(p.units ? 4 : bytes) * static_cast<double>(p.terms);
}

}  // namespace

Cost predict_product(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options) {
  if (options.target.gpu) return predict_product_on_gpu(graph, group, schedule, options);
  const Product& p = *schedule.product;
  const Domain& domain = schedule.domain;
  const TargetFacts facts = facts_of(options.target);
  const double bytes = group_bytes(graph, options.sizes, group);
  const double tiles =
      static_cast<double>(estimate_of(domain, p.batch)) *
      ceil_ratio(static_cast<double>(estimate_of(domain, p.rows)), static_cast<double>(p.tile_rows)) *
      ceil_ratio(static_cast<double>(estimate_of(domain, p.columns)), static_cast<double>(p.tile_columns));
  const double of_tile = static_cast<double>(p.tile_rows * p.tile_columns) *
                         static_cast<double>(estimate_of(domain, p.inner)) * static_cast<double>(p.sums.size());
  double written = 0;
  for (const NodeId id : group.outputs) written += array_bytes(graph, options.sizes, id);
  Cost cost;
  cost.memory_us = facts.moving_us(bytes, ratio(written, bytes), facts.processors);
  cost.issue_us = ceil_ratio(tiles, facts.processors) * of_tile / multiplications(facts, p, bytes_of_sums(graph, p));
  cost.launch_us = facts.launch_us;
  cost.workgroups = static_cast<int64_t>(tiles);
  take_longest(cost);
  return cost;
}

}  // namespace smelt::schedule

// Predicted times of products: what the multiplications of all tiles take, whole ones also at the
// ends of the axes, or what memory moves.
#include <algorithm>

#include "schedule/cost_parts.hpp"
#include "schedule/parts.hpp"
#include "schedule/product.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// Multiplications of a thread in a microsecond.
double multiplications(const TargetFacts& facts, const Product& p, int64_t bytes) {
  constexpr double kTilesOverVectors = 8;  // a word's products in a cycle: 16 x 16 instead of two registers
  return facts.multiplications * 4 / static_cast<double>(p.units ? 4 : bytes) * static_cast<double>(p.terms) *
         (p.tiles ? kTilesOverVectors : 1);
}

// Bytes that stores move besides those of the results: where lanes store every so many elements,
// the others of their cache lines are stored by other tiles, for each of which the lines come and
// go.
double bytes_of_strides(const Graph& graph, const Product& p, const Domain& domain, const Options& options) {
  constexpr double kLine = 64;
  double moved = 0;
  for (const Output& output : domain.outputs) {
    const Node& node = graph.at(output.node);
    const int along = contiguous_axis(graph, domain, output.node, output.store_index);
    const bool other_tiles = std::count(p.batch.begin(), p.batch.end(), along) > 0;
    const double bytes = array_bytes(graph, options.sizes, output.node);
    if (!other_tiles || bytes <= static_cast<double>(options.target.l2_bytes)) continue;
    const double phases = static_cast<double>(domain.axes[static_cast<size_t>(along)].estimate);
    moved += 2 * bytes * (std::min(phases, kLine / size_of(node.dtype)) - 1);
  }
  return moved;
}

}  // namespace

Cost predict_product(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options) {
  if (options.target.gpu) return predict_product_on_gpu(graph, group, schedule, options);
  const Product& p = *schedule.product;
  const Domain& domain = schedule.domain;
  const TargetFacts facts = facts_of(options.target);
  const double bytes = group_bytes(graph, options.sizes, group) + bytes_of_strides(graph, p, domain, options);
  const double tiles =
      static_cast<double>(estimate_of(domain, p.batch)) *
      ceil_ratio(static_cast<double>(estimate_of(domain, p.rows)), static_cast<double>(p.tile_rows)) *
      ceil_ratio(static_cast<double>(estimate_of(domain, p.columns)), static_cast<double>(p.tile_columns));
  const double of_tile = static_cast<double>(p.tile_rows * p.tile_columns) *
                         static_cast<double>(estimate_of(domain, p.inner)) * static_cast<double>(p.sums.size());
  // Multiplications that take as long as packing what is far apart, and all that matrix units read.
  const auto [row, column] = cycles_to_pack(domain, p, options.target.l2_bytes);
  const double packed =
      ((p.tiles || p.rows_far_apart ? row : 0) * static_cast<double>(p.tile_rows) +
       (p.tiles || p.columns_far_apart ? column : 0) * static_cast<double>(p.tile_columns)) *
      static_cast<double>(estimate_of(domain, p.inner) * (p.tiles ? kSideOfTile * kSideOfTile : p.block_columns));
  double written = 0;
  for (const NodeId id : group.outputs) written += array_bytes(graph, options.sizes, id);
  Cost cost;
  cost.memory_us = facts.moving_us(bytes, ratio(written, bytes), facts.processors);
  cost.issue_us =
      ceil_ratio(tiles, facts.processors) * (of_tile + packed) / multiplications(facts, p, bytes_of_sums(graph, p));
  cost.launch_us = facts.launch_us;
  cost.workgroups = static_cast<int64_t>(tiles);
  take_longest(cost);
  return cost;
}

}  // namespace smelt::schedule

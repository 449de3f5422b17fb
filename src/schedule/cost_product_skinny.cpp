// What products take whose factors go to matrix units through registers. Fitted to 1221 forms of
// 114 products on an H200, of 1 to 64 rows with weights of 4, 8 and 16 bits, 1000 x 2048 to 128256
// x 2048: the error is 22 % (root mean square), and what is chosen takes 3 % longer than the best
// form.
#include <algorithm>
#include <set>

#include "schedule/cost_parts.hpp"
#include "schedule/product.hpp"
#include "schedule/schedule_gpu.hpp"
#include "schedule/skinny.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

constexpr double kCyclesOfUs = 1755;
constexpr double kOfElement = 4.7,
                 kOfOperation = 0.18;     // instructions for an element of the columns, and an operation on it
constexpr double kIssuedByThreads = 127;  // of threads, in a cycle
constexpr double kReadLatency = 430, kAlongWarp = 5.3;  // cycles; those of an instruction for the warp itself
constexpr double kEndOfSkinny = 1950;
constexpr double kSlowerThanCopy = 1.09;
constexpr double kOfCache = 0.68;        // of what copies within the cache move, half of it written
constexpr double kNotOverlapped = 0.34;  // of what does not limit: reading, reading rows again, computing

}  // namespace

Cost predict_skinny(const Graph& graph, const Group& group, const Schedule& s, const Options& options) {
  const Product& p = *s.product;
  const Skinny& form = *p.skinny;
  const TargetFacts facts = facts_of(options.target);
  const auto estimate = [&](const std::vector<int>& axes) { return static_cast<double>(estimate_of(s.domain, axes)); };
  const double steps = static_cast<double>(p.tile_rows) / kStepOfSkinny,
               blocks = static_cast<double>(p.tile_columns) / 16;
  const double tiles = estimate(p.batch) * ceil_ratio(estimate(p.rows), static_cast<double>(p.tile_rows)) *
                       ceil_ratio(estimate(p.columns), static_cast<double>(p.tile_columns));
  const double parts = ceil_ratio(estimate(p.inner), static_cast<double>(p.tile_inner));
  std::set<NodeId> rows, factors;
  double operations = 0, sums = 0;
  for (const ProductSum& sum : p.sums) {
    ++sums;
    rows.insert(sum.rows);
    if (factors.insert(sum.columns).second)
      operations += kOfElement + kOfOperation * behind_factor(graph, group, sum.columns).operations;
  }
  const double registers = static_cast<double>(registers_of_skinny(p));
  Cost cost;
  cost.resident_workgroups =
      std::max(1, static_cast<int>(std::min(static_cast<double>(facts.registers) / (registers * s.workgroup),
                                            static_cast<double>(facts.threads) / s.workgroup)));
  const double of_processor = std::max(1.0, ceil_ratio(tiles, facts.processors));
  const double together = std::min<double>(cost.resident_workgroups, of_processor);
  // A warp reads so many parts at a time: 16 columns of 64 terms are 32 elements of a thread.
  const double computed = form.parts * blocks * 32 * operations, units = form.parts * sums * blocks * steps * 4;
  const double waiting = (kReadLatency + kAlongWarp * (computed + units)) / together;
  const double issue =
      of_processor *
      (parts * std::max(form.warps * computed * kWarp / kIssuedByThreads, waiting) + kEndOfSkinny / together) /
      kCyclesOfUs;
  const double memory = kSlowerThanCopy * group_bytes(graph, options.sizes, group) / facts.memory_bytes;
  const double of_rows = std::min(estimate(p.rows), static_cast<double>(p.tile_rows)) * estimate(p.inner) *
                         size_of(*p.units) * static_cast<double>(rows.size());
  const double cache = tiles * of_rows / (kOfCache * facts.cache_bytes);
  const double beside = kNotOverlapped * (memory + cache + issue), share = 1 - kNotOverlapped;
  cost.issue_us = share * issue + beside, cost.memory_us = share * memory + beside;
  cost.cache_us = share * cache + beside;
  cost.launch_us = facts.launch_us;
  cost.workgroups = static_cast<int64_t>(tiles);
  take_longest(cost);
  return cost;
}

}  // namespace smelt::schedule

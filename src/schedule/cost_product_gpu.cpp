// Predicted times of products on a GPU: what a multiprocessor takes for its tiles, one part of the
// inner axes after the other.
#include <algorithm>
#include <set>

#include "schedule/cost_parts.hpp"
#include "schedule/product.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// Cycles of a multiprocessor, fitted to bf16 4096^3 on an H100 in tiles of 32 x 32 to 128 x 256.
constexpr double kClock = 1755;  // in a microsecond
constexpr double kUnits = 2048, kUnitsOfGroups = 1,
                 kUnitsOfWarps = 2.3;  // multiplications of matrix units, and what they take of that
constexpr double kThreads = 128, kThreadsOfLarge = 1.2,
                 kThreadsOfSmall = 1 / 0.54,  // the same of threads, by the results of one
    kWaitingOfWarp = 0.6;                     // more, where a multiprocessor has one warp
constexpr double kStaged = 128, kSums = 5;    // bytes of factors, sums that are stored, in a cycle
constexpr double kComputing = 12,
                 kBusyWarps = 16;  // instructions of a computed element, warps that hide each other's waiting
constexpr double kScalar = 0.5;    // of an element that is read and stored alone
constexpr double kBarrier = 80;    // around a part
constexpr double kBoxed = 1.1;     // what units take of the time that they could do with, where parts come as boxes
constexpr double kCopyLatency = 2000, kComputeLatency = 2200, kHeldLatency = 1200, kTileLatency = 3000;

class ProductCost {
 public:
  ProductCost(const Graph& graph, const Group& group, const Schedule& s, const Options& options)
      : graph_(graph), group_(group), s_(s), p_(*s.product), options_(options), facts_(facts_of(options.target)) {}

  Cost run() {
    const double rows = estimate(p_.rows), columns = estimate(p_.columns), batch = estimate(p_.batch);
    const double tiles = batch * ceil_ratio(rows, static_cast<double>(p_.tile_rows)) *
                         ceil_ratio(columns, static_cast<double>(p_.tile_columns)) * p_.split;
    const double parts = ceil_ratio(ceil_ratio(estimate(p_.inner), static_cast<double>(p_.tile_inner)), p_.split);
    const double of_processor = std::max(1.0, ceil_ratio(tiles, facts_.processors));
    Cost cost;
    cost.resident_workgroups = resident();
    const double together = std::min<double>(cost.resident_workgroups, of_processor);
    const double staging = static_cast<double>(bytes_of_part(p_)) / kStaged + kBarrier + by_element(together);
    const double part = std::max(p_.boxed ? multiplying(together) * kBoxed : multiplying(together) + staging,
                                 latency(together) / together);
    const double ending = sums_of_tile() / kSums + kTileLatency / together;
    cost.issue_us = of_processor * (parts * part + ending) / kClock;
    cost.cache_us = tiles * parts * static_cast<double>(bytes_of_part(p_)) / facts_.cache_bytes;
    const double bytes = group_bytes(graph_, options_.sizes, group_);
    const bool near = bytes < static_cast<double>(facts_.cache_bytes_total) / 2;
    cost.memory_us = bytes / (near ? facts_.cache_bytes : facts_.memory_bytes);
    cost.launch_us = facts_.launch_us;
    for (const ProductSum& sum : p_.sums) {
      if (is_packed(sum.rows)) cost.launch_us += packing_us(batch * rows);
      if (is_packed(sum.columns)) cost.launch_us += packing_us(batch * columns);
    }
    if (p_.split > 1) {
      const double partial =
          2 * p_.split * batch * rows * columns * sums() * static_cast<double>(bytes_of_sums(graph_, p_));
      cost.launch_us += facts_.next_launch_us + facts_.latency_us + partial / facts_.cache_bytes;
    }
    cost.workgroups = static_cast<int64_t>(tiles);
    take_longest(cost);
    return cost;
  }

 private:
  double estimate(const std::vector<int>& axes) const { return static_cast<double>(estimate_of(s_.domain, axes)); }
  double sums() const { return static_cast<double>(p_.sums.size()); }
  double sums_of_tile() const { return static_cast<double>(p_.tile_rows * p_.tile_columns) * sums(); }
  bool groups() const {
    return p_.units && p_.block_columns == p_.tile_columns && p_.down * 16 == p_.tile_rows && p_.down % 4 == 0;
  }

  double waiting(double together) const { return 1 + kWaitingOfWarp / (s_.workgroup / 32.0 * together); }
  double multiplying(double together) const {
    const double all = sums_of_tile() * static_cast<double>(p_.tile_inner);
    if (p_.units) return all / kUnits * (groups() ? kUnitsOfGroups : kUnitsOfWarps);
    return all / kThreads * (p_.block_rows * p_.block_columns >= 64 ? kThreadsOfLarge : kThreadsOfSmall) *
           waiting(together) * (bytes_of_sums(graph_, p_) > 4 ? 2 : 1);
  }
  bool is_packed(NodeId factor) const {
    return std::find(p_.packed.begin(), p_.packed.end(), factor) != p_.packed.end();
  }
  double packing_us(double own) const {
    return facts_.next_launch_us + facts_.latency_us + own * estimate(p_.inner) * 2 * 2 / (facts_.memory_bytes / 2);
  }
  // The cost for a part whose factors go through registers one by one: computed ones, or unaligned
  // ones. One array with unaligned rows is enough, since it decides the variant of the kernel.
  double by_element(double together) const {
    if (!p_.units) return 0;
    const auto wide = [&](NodeId f) { return is_packed(f) || is_copied_wide(graph_, group_, options_.sizes, f); };
    const auto computed = [&](NodeId f) { return !is_packed(f) && !is_copied(graph_, group_, f); };
    bool scalar = false;
    double cycles = 0, computing = 0;
    std::set<NodeId> seen;
    const auto for_factors = [&](const auto& visit) {
      seen.clear();
      for (const ProductSum& sum : p_.sums) {
        if (seen.insert(sum.rows).second) visit(sum.rows, static_cast<double>(p_.tile_rows * p_.tile_inner));
        if (seen.insert(sum.columns).second) visit(sum.columns, static_cast<double>(p_.tile_columns * p_.tile_inner));
      }
    };
    for_factors([&](NodeId f, double) { scalar = scalar || (!wide(f) && !computed(f)); });
    for_factors([&](NodeId f, double elements) {
      if (computed(f))
        computing += elements * kComputing / kThreads;
      else if (scalar)
        cycles += elements * kScalar;
    });
    // Few warps wait for each other's operations.
    return cycles + computing * std::max(1.0, kBusyWarps / (s_.workgroup / 32.0 * together));
  }
  // From where a part is asked for to where it is on chip: copies are under way for several parts.
  double latency(double together) const {
    if (!p_.units) return kHeldLatency * waiting(together);
    for (const ProductSum& sum : p_.sums)
      for (const NodeId factor : {sum.rows, sum.columns})
        if (!is_packed(factor) && !is_copied(graph_, group_, factor)) return kComputeLatency;
    return kCopyLatency / std::max(1, p_.stages - (groups() ? 2 : 1));
  }
  int resident() const {
    const double held = static_cast<double>(bytes_of_part(p_)) * std::max(1, p_.stages) + 1024;
    const double registers = std::min(255.0, sums_of_tile() / s_.workgroup + 72);
    return std::max(1, static_cast<int>(std::min({static_cast<double>(facts_.shared_bytes) / held,
                                                  static_cast<double>(facts_.registers) / (registers * s_.workgroup),
                                                  static_cast<double>(facts_.threads) / s_.workgroup})));
  }

  const Graph& graph_;
  const Group& group_;
  const Schedule& s_;
  const Product& p_;
  const Options& options_;
  const TargetFacts facts_;
};

}  // namespace

Cost predict_product_on_gpu(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options) {
  return ProductCost(graph, group, schedule, options).run();
}

}  // namespace smelt::schedule

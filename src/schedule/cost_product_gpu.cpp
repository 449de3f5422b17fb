// Predicted times of products on a GPU with matrix units: what a multiprocessor takes for its
// tiles, one part of the inner axes after the other.
#include <algorithm>
#include <set>
#include <utility>

#include "schedule/cost_parts.hpp"
#include "schedule/operations.hpp"
#include "schedule/product.hpp"
#include "schedule/schedule_gpu.hpp"
#include "schedule/skinny.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// Cycles of a multiprocessor, fitted to bf16 4096^3 on an H100 in tiles of 32 x 32 to 128 x 256.
constexpr double kClock = 1755;  // in a microsecond
constexpr double kUnits = 2048, kUnitsOfGroups = 1,
                 kUnitsOfWarps = 2.3;  // multiplications of matrix units, and what they take of that
// What units of groups take longer: with few columns they wait for what they read of the rows, and
// a group that is alone leaves them nothing to do while it waits, or adds up what they have made.
constexpr double kNarrow = 1.1, kBetween = 1.15, kNarrowParts = 1.18, kAloneGroup = 1.15, kAloneAtBarriers = 1.12,
                 kPromoted = 1.3;
// What nothing hides of the memory that results take beside sums, while multiprocessors have few
// tiles; and the waves in which these keep step.
constexpr double kNotBehind = 0.9, kFewTiles = 2, kFewWaves = 6;
constexpr double kCacheOfParts = 1.3;  // what factors in parts take of the second-level cache, against others
constexpr double kMemoryOfFewRows =
    1.33;  // what memory takes of what copies take, where it limits: 16 products of 2 to 64 rows
constexpr int kBesideCopies = 72;           // registers of a thread
constexpr double kStaged = 128, kSums = 5;  // bytes of factors, sums that are stored, in a cycle
constexpr double kThreads = 128, kComputing = 12,
                 kBusyWarps = 16;  // instructions of a computed element, warps that hide each other's waiting
constexpr double kScalar = 0.5;    // of an element that is read and stored alone
constexpr double kBarrier = 80;    // around a part
constexpr double kBoxed = 1.1;     // what units take of the time that they could do with, where parts come as boxes
constexpr double kCopyLatency = 2000, kComputeLatency = 2200, kTileLatency = 3000;

class ProductCost {
 public:
  ProductCost(const Graph& graph, const Group& group, const Schedule& s, const Options& options)
      : graph_(graph), group_(group), s_(s), p_(*s.product), options_(options), facts_(facts_of(options.target)) {}

  Cost run() {
    const double rows = estimate(p_.rows), columns = estimate(p_.columns), batch = estimate(p_.batch);
    const double tiles = batch * ceil_ratio(rows, static_cast<double>(p_.tile_rows)) *
                         ceil_ratio(columns, static_cast<double>(p_.tile_columns)) * p_.split;
    const double parts = ceil_ratio(ceil_ratio(estimate(p_.inner), static_cast<double>(p_.tile_inner)), p_.split);
    Cost cost;
    cost.resident_workgroups = resident();
    const double of_processor = tiles_of_processor(tiles, cost.resident_workgroups);
    const double together = std::min<double>(cost.resident_workgroups, of_processor);
    const double work = work_of_part(together);
    const double part = std::max(work, latency() / together);
    // kSums of halves includes what follows from the sums.
    const double beyond = p_.sums[0].in_parts() ? cycles_beyond_sums(graph_, group_, s_, options_, together) : 0;
    const double ending = sums_of_tile() / kSums + kTileLatency / together + beyond;
    cost.issue_us = of_processor * (parts * part + ending) / kClock;
    cost.issue_us += kNotBehind * us_behind_sums() * std::min(1.0, kFewTiles * together / of_processor);
    cost.cache_us = tiles * parts * static_cast<double>(bytes_of_part(p_)) / facts_.cache_bytes *
                    (p_.sums[0].in_parts() ? kCacheOfParts : 1);
    const double bytes = group_bytes(graph_, options_.sizes, group_);
    const bool near = bytes < static_cast<double>(facts_.cache_bytes_total) / 2;
    cost.memory_us = bytes / (near ? facts_.cache_bytes : facts_.memory_bytes);
    if (rows <= kMostOfSkinny) cost.memory_us *= kMemoryOfFewRows;
    cost.launch_us = facts_.launch_us;
    for (const ProductSum& sum : p_.sums) {
      cost.launch_us += before_us(sum.rows, batch * rows, sum.parts_of_rows);
      cost.launch_us += before_us(sum.columns, batch * columns, sum.parts_of_columns);
    }
    cost.launch_us += us_of_adding_parts(graph_, s_, options_);
    cost.workgroups = static_cast<int64_t>(tiles);
    take_longest(cost);
    return cost;
  }

 private:
  // Two workgroups that a multiprocessor begins together end together, and the next two take their
  // places while others have none, until they have lost step.
  double tiles_of_processor(double tiles, int resident) const {
    if (resident != 2 || tiles <= facts_.processors || tiles > kFewWaves * 2 * facts_.processors)
      return std::max(1.0, ceil_ratio(tiles, facts_.processors));
    return 2 * ceil_ratio(tiles, 2.0 * facts_.processors);
  }
  // What is read for results beside their sums, and stored of them beyond halves.
  double us_behind_sums() const {
    std::set<NodeId> factors;
    for_factors(p_, [&](NodeId f, double, bool) { factors.merge(behind_factor(graph_, group_, f).inputs); });
    double bytes = 0;
    for (const NodeId id : group_.inputs)
      if (!factors.count(id)) bytes += array_bytes(graph_, options_.sizes, id);
    if (p_.split == 1)
      for (const NodeId id : group_.outputs) {
        const double size = size_of(graph_.at(id).dtype);
        bytes += array_bytes(graph_, options_.sizes, id) * std::max(0.0, size - 2) / size;
      }
    return bytes / facts_.memory_bytes;
  }
  double estimate(const std::vector<int>& axes) const { return static_cast<double>(estimate_of(s_.domain, axes)); }
  double sums() const { return static_cast<double>(p_.sums.size()); }
  double sums_of_tile() const { return static_cast<double>(p_.tile_rows * p_.tile_columns) * sums(); }
  bool groups() const {
    return p_.block_columns == p_.tile_columns && p_.down * 16 == p_.tile_rows && p_.down % 4 == 0;
  }

  double multiplications() const { return sums_of_tile() * static_cast<double>(p_.tile_inner); }
  double work_of_part(double together) const {
    double multiplied = 0;
    for (const ProductSum& sum : p_.sums)
      multiplied += multiplications() / sums() * static_cast<double>(pairs_of_parts(sum).size());
    double multiplying = multiplied / kUnits * (groups() ? kUnitsOfGroups : kUnitsOfWarps);
    if (groups() && p_.tile_columns > 64 && p_.tile_columns < 128) multiplying *= kBetween;
    if (groups() && p_.tile_columns == 64) multiplying *= p_.sums[0].in_parts() ? kNarrowParts : kNarrow;
    if (groups() && s_.workgroup * together <= 4 * kWarp) multiplying *= kAloneGroup;
    if (groups() && !p_.boxed && together < 2) multiplying *= kAloneAtBarriers;
    if (p_.whole && !p_.exact_in_f32) multiplying *= kPromoted;
    if (p_.boxed) return multiplying * kBoxed;
    return multiplying + static_cast<double>(bytes_of_part(p_)) / kStaged + kBarrier + by_element(together);
  }
  bool is_packed(NodeId factor) const {
    return std::find(p_.packed.begin(), p_.packed.end(), factor) != p_.packed.end();
  }
  bool is_apart(NodeId factor) const { return p_.apart.count(factor) > 0; }
  // The time to store a factor, or the array that it shows, for the units.
  double before_us(NodeId factor, double own, int parts) const {
    double elements = own * estimate(p_.inner);
    if (is_apart(factor))
      elements = static_cast<double>(count(graph_.at(p_.apart.at(factor)).shape).evaluate(options_.sizes));
    else if (!is_packed(factor))
      return 0;
    const double bytes = parts > 1 ? 4 + 2 * parts : 2 * (2 + 2);  // halves take as long as twice as many
    return facts_.next_launch_us + facts_.latency_us + elements * bytes / facts_.memory_bytes;
  }
  // The cost for a part whose factors go through registers one by one: computed ones, or unaligned
  // ones. One array with unaligned rows is enough, since it decides the variant of the kernel.
  double by_element(double together) const {
    const auto stored = [&](NodeId f) { return is_packed(f) || is_apart(f); };
    const auto wide = [&](NodeId f) { return stored(f) || is_copied_wide(graph_, group_, options_.sizes, f); };
    const auto computed = [&](NodeId f) { return !stored(f) && !is_copied(graph_, group_, f); };
    bool scalar = false;
    double cycles = 0, computing = 0;
    for_factors(p_, [&](NodeId f, double, bool) { scalar = scalar || (!wide(f) && !computed(f)); });
    for_factors(p_, [&](NodeId f, double elements, bool) {
      if (computed(f))
        computing += elements * kComputing / kThreads;
      else if (scalar)
        cycles += elements * kScalar;
    });
    // Few warps wait for each other's operations.
    return cycles + computing * std::max(1.0, kBusyWarps / (s_.workgroup / 32.0 * together));
  }
  // From where a part is asked for to where it is on chip: copies are under way for several parts.
  double latency() const {
    for (const ProductSum& sum : p_.sums)
      for (const NodeId factor : {sum.rows, sum.columns})
        if (!is_packed(factor) && !is_apart(factor) && !is_copied(graph_, group_, factor)) return kComputeLatency;
    return kCopyLatency / std::max(1, p_.stages - (groups() && !p_.boxed ? 2 : 1));
  }
  int resident() const {
    const double held = static_cast<double>(bytes_of_part(p_)) * std::max(1, p_.stages) + 1024;
    const double of_tile = static_cast<double>(p_.tile_rows * p_.tile_columns * held_sums(p_));
    // A warp beside the others requests boxes, which takes them no registers.
    const double threads = p_.boxed ? s_.workgroup + kWarp : s_.workgroup;
    const double registers = std::min(255.0, of_tile / s_.workgroup + (p_.boxed ? kBesideSums : kBesideCopies));
    return std::max(1, static_cast<int>(std::min({static_cast<double>(facts_.shared_bytes) / held,
                                                  static_cast<double>(facts_.registers) / (registers * threads),
                                                  static_cast<double>(facts_.threads) / threads})));
  }

  const Graph& graph_;
  const Group& group_;
  const Schedule& s_;
  const Product& p_;
  const Options& options_;
  const TargetFacts facts_;
};

}  // namespace

double us_of_adding_parts(const Graph& graph, const Schedule& schedule, const Options& options) {
  const Product& p = *schedule.product;
  if (p.split == 1) return 0;
  const TargetFacts facts = facts_of(options.target);
  const auto results =
      static_cast<double>(estimate_of(schedule.domain, p.batch) * estimate_of(schedule.domain, p.rows) *
                          estimate_of(schedule.domain, p.columns));
  const double partial =
      2 * p.split * results * static_cast<double>(p.sums.size()) * static_cast<double>(bytes_of_sums(graph, p));
  const bool stay = partial < static_cast<double>(facts.cache_bytes_total);
  return facts.next_launch_us + facts.latency_us + partial / (stay ? facts.cache_bytes : facts.memory_bytes);
}

Cost predict_product_on_gpu(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options) {
  if (schedule.product->skinny) return predict_skinny(graph, group, schedule, options);
  return schedule.product->units ? ProductCost(graph, group, schedule, options).run()
                                 : predict_product_of_threads(graph, group, schedule, options);
}

}  // namespace smelt::schedule

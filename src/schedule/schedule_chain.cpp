// How tiles of chains are chosen, and what they take.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "schedule/chain.hpp"
#include "schedule/cost_parts.hpp"
#include "schedule/parts.hpp"
#include "schedule/propose.hpp"
#include "schedule/schedule_gpu.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// A tile of fewer rows is mostly empty, which many keys make up for: they take longer to read than
// to multiply. The sums of more columns do not fit the registers of a warp.
constexpr int64_t kFewestOfChain = 16, kManyKeys = 256, kMostDepth = 256;
// Parts of the keys that are joined at once, and tiles of keys that take as long as a workgroup
// needs to begin, and as joining.
constexpr int64_t kMostPartsOfKeys = 32, kBeginsAs = 2, kJoinsAs = 4;
constexpr int64_t kRowsOfWarp = 16, kNeighbours = 32;  // rows of scratch have at least so many halves
constexpr int kWorkgroupOfTwo = 256;
// Registers of a thread for what follows: with three workgroups, for larger tiles of keys, with
// values of the keys, and of two last products, which take turns with the first ones.
constexpr int64_t kMostOfThree = 100, kMostOfSums = 168, kMostOfAll = 200, kMostOfTwo = 224;

int64_t padded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

int64_t shared_bytes(const Chain& chain) {
  const Product& p = chain.product;
  const int64_t part = p.tile_inner * (chain.depths() + chain.columns_staged());
  const int64_t halves = p.tile_rows * chain.depths() + std::max(2, p.stages) * part;
  return 2 * halves + (chain.weighs() ? 3 * 4 * p.tile_rows : 0);
}

// What a thread of a tile of 16 rows to a warp has in registers: sums of the last product, of the
// first ones, these as halves, and values of the keys.
int64_t registers_of_sums(const Chain& chain) {
  const Product& p = chain.product;
  const auto firsts = static_cast<int64_t>(chain.firsts.size());
  const auto of_keys = static_cast<int64_t>(chain.of_keys.size());
  const auto lasts = static_cast<int64_t>(chain.lasts.size());
  return (lasts * p.tile_columns + firsts * p.tile_inner) / 2 + (lasts + of_keys) * p.tile_inner / 4;
}

// As how many parts of their keys so many tiles of rows are done first. Workgroups of one
// multiprocessor share what it does, and begin at the same time.
int split_of_keys(int64_t tiles, int64_t of_keys, int64_t processors, int64_t resident) {
  const auto takes = [&](int64_t parts) {
    const int64_t of_processor = (tiles * parts + processors - 1) / processors;
    return of_processor * ((of_keys + parts - 1) / parts) + (of_processor + resident - 1) / resident * kBeginsAs +
           (parts > 1 ? kJoinsAs : 0);
  };
  int64_t best = 1;
  for (int64_t parts = 2; parts <= std::min(kMostPartsOfKeys, of_keys / 2); ++parts)
    if (takes(parts) < takes(best)) best = parts;
  return static_cast<int>(best);
}

}  // namespace

std::optional<Schedule> chain_on_gpu(const Graph& graph, const Group& group, const Options& options) {
  if (!options.target.gpu || options.target.plain || options.target.compute < 80) return std::nullopt;
  Schedule s;
  auto found = find_chain(graph, group, options.sizes, s.domain);
  if (!found) return std::nullopt;
  Product& p = found->product;
  const auto columns = count_of(s.domain, p.columns).constant();
  if (!columns || *columns > kMostDepth) return std::nullopt;
  // Rows of memory on chip have 64 neighbours, or 32, of which units take as many as there are, in
  // steps of 16; groups of four warps not less than 48.
  const bool groups = options.target.compute == 90;
  const auto staged = [&](int64_t n) { return !groups && n <= kNeighbours ? kNeighbours : padded(n, 64); };
  const auto of_units = [&](int64_t n) { return std::max<int64_t>(padded(n, 16), groups ? 48 : 16); };
  for (FirstProduct& first : found->firsts) {
    const auto depth = first.depth.extent.constant();
    if (!depth || *depth > kMostDepth) return std::nullopt;
    first.depth_padded = staged(*depth), first.depth_units = of_units(*depth);
  }
  // Rows of other heads are tiles of their own, where a head has enough of them.
  const Axis& last = s.domain.axes[static_cast<size_t>(p.rows.back())];
  if (p.rows.size() > 1 && last.estimate >= 4 * kRowsOfWarp) {
    p.batch.insert(p.batch.end(), p.rows.begin(), p.rows.end() - 1);
    p.rows.erase(p.rows.begin(), p.rows.end() - 1);
  }
  const int64_t rows = estimate_of(s.domain, p.rows), keys = estimate_of(s.domain, p.inner),
                batch = estimate_of(s.domain, p.batch);
  const bool few_rows = rows < kFewestOfChain;
  if (few_rows ? !found->weighs() || keys < kManyKeys : keys < kFewestOfChain) return std::nullopt;
  p.tile_columns = of_units(*columns), found->columns_padded = staged(*columns);
  p.tile_rows = rows > 64 && batch * ((rows + 127) / 128) >= options.target.threads ? 128 : 64;
  p.units = graph.at(graph.at(found->lasts[0].weights).args[0]).dtype;
  const auto comes = [&](NodeId factor) { return comes_in_boxes(graph, group, options.sizes, factor, *p.units); };
  p.boxed = groups &&
            std::all_of(p.sums.begin(), p.sums.end(), [&](const ProductSum& sum) { return comes(sum.columns); }) &&
            std::all_of(found->firsts.begin(), found->firsts.end(),
                        [&](const FirstProduct& first) { return comes(first.keys.node); });
  // What threads copy themselves they do not copy while units multiply: then it is faster to store
  // what is between.
  if (groups && !p.boxed && !found->weighs()) return std::nullopt;
  // A panel of keys is that of columns where both lie in the same way.
  if (p.columns_along_inner)
    for (LastProduct& last : found->lasts) last.of_columns = -1;
  const int64_t widest = std::max(found->deepest(), found->columns_padded);
  // Where registers do for three workgroups of four warps, these weigh at different times by
  // themselves.
  p.tile_inner = 64;
  // Boxes whose lines end within 64 bytes take longer: then more rows share each.
  const bool ragged = std::any_of(found->firsts.begin(), found->firsts.end(), [](const FirstProduct& first) {
    return *first.depth.extent.constant() % kNeighbours != 0;
  });
  const bool few_boxes = p.boxed && widest <= 64 && ragged && found->weighs();
  const bool small = p.boxed && widest <= 64 && !few_boxes && registers_of_sums(*found) <= kMostOfThree;
  if (small) p.tile_rows = 64;
  if (keys > 64 && !small && !few_boxes && (p.boxed ? widest <= 128 : !groups && widest <= 64)) p.tile_inner = 128;
  int resident = small ? 3 : p.boxed && !few_boxes ? 1 : 2;
  if (!found->weighs() && registers_of_sums(*found) > kMostOfSums) p.tile_inner = 64;
  if (found->lasts.size() > 1) p.tile_inner = 64;
  if (registers_of_sums(*found) > (found->weighs() ? kMostOfSums : kMostOfAll)) found->of_keys.clear();
  if (found->lasts.size() > 1 && registers_of_sums(*found) > (p.boxed ? kMostOfTwo : kMostOfSums)) return std::nullopt;
  // With one tile of keys there is nothing to go on with while it is waited for but another
  // workgroup.
  if (p.boxed && !small && !few_boxes && keys <= 128 && widest <= 128)
    p.tile_inner = 64, p.tile_rows = 64, resident = 2;
  // Few rows wait for memory, which several workgroups keep busy.
  if (few_rows) p.tile_rows = 64, p.tile_inner = 64, resident = std::max(2, resident);
  const Tuning& tuning = options.tuning;
  if (tuning.tile >= 64 && tuning.lanes >= 32)
    p.tile_rows = tuning.tile, p.tile_inner = tuning.lanes, resident = tuning.cluster;
  if (shared_bytes(*found) > options.target.shared_bytes) p.tile_inner = 64;
  if (shared_bytes(*found) > options.target.shared_bytes) p.tile_rows = 64;
  if (shared_bytes(*found) > options.target.shared_bytes) return std::nullopt;
  p.down = static_cast<int>(p.tile_rows / kRowsOfWarp);
  s.strategy = Strategy::Chain;
  s.team = s.workgroup = p.down * kWarp;
  s.lanes = 8;
  // With 128 registers a second workgroup runs while the first one waits. The warps that fetch
  // boxes take their share of what two workgroups of two groups have.
  const auto fit = [&](int workgroups) { return workgroups * shared_bytes(*found) <= options.target.shared_bytes; };
  const bool two = widest <= 128 && p.tile_inner == 64 && fit(2);
  if (groups && resident == 2 && s.team == kWorkgroupOfTwo && two && (!p.boxed || widest <= 64))
    s.resident = 2;
  else if (p.boxed)
    s.resident = p.tile_rows == 64 && resident == 3 && fit(3) ? 3 : p.tile_rows == 64 && resident == 2 && two ? 2 : 1;
  // Keys and values of the tile at hand, and of those that are on their way; two workgroups share
  // what there is.
  p.stages = 2;
  while (p.stages < 4) {
    ++p.stages;
    if (shared_bytes(*found) * std::max(1, s.resident) <= options.target.shared_bytes) continue;
    --p.stages;
    break;
  }
  s.tile = p.tile_rows;
  if (found->row_results.empty())
    p.split = tuning.tile > 0 ? static_cast<int>(std::clamp<int64_t>(tuning.unroll, 1, kMostPartsOfKeys))
                              : split_of_keys(batch * padded(rows, p.tile_rows) / p.tile_rows,
                                              padded(keys, p.tile_inner) / p.tile_inner, options.target.threads,
                                              std::max(1, s.resident));
  s.note = fmt::format(
      "{}, in tiles of {} x {}, never stored{}{}{}",
      found->weighs()
          ? fmt::format("weights of {} keys to {} rows", keys, rows)
          : fmt::format("{}{} x {} results of {}, as halves", found->lasts.size() > 1 ? "twice " : "", rows, keys,
                        found->firsts.size() == 1 ? std::string("a product")
                                                  : fmt::format("{} products", found->firsts.size())),
      p.tile_rows, p.tile_inner,
      found->weighs() ? ": relative to the largest score so far, divided by their sum after the second product" : "",
      s.resident > 1 ? fmt::format("; {} workgroups to a multiprocessor", s.resident) : "",
      p.split > 1 ? fmt::format("; in {} parts of the keys that are joined", p.split) : "");
  s.chain = std::move(*found);
  return s;
}

// A tuning's tile and lanes are the rows and keys of a tile here, its cluster the workgroups of a
// multiprocessor, its unroll the parts of the keys: as many as the first one has, or one.
std::vector<Tuning> propose_chain(const Schedule& first) {
  std::vector<Tuning> tunings;
  for (const auto& [rows, keys, resident] :
       {std::tuple{128, 128, 1}, {128, 64, 2}, {128, 64, 1}, {64, 128, 1}, {64, 64, 3}, {64, 64, 1}})
    for (const int parts : std::set<int>{1, first.chain->product.split, 2 * first.chain->product.split}) {
      Tuning tuning;
      tuning.tile = rows, tuning.lanes = keys, tuning.cluster = resident, tuning.unroll = parts;
      tunings.push_back(tuning);
    }
  return tunings;
}

// A third of the peak rate of an H100's matrix units is reached, and more with boxes; a bound on
// the keys leaves about half of them. Nothing is multiplied while a workgroup begins, and while it
// stores. Where fewer multiprocessors read at a time than there are, each gets more of the memory's
// rate, up to a limit.
Cost predict_chain(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options) {
  const Chain& chain = *schedule.chain;
  const Product& p = chain.product;
  const TargetFacts facts = facts_of(options.target);
  const double bytes = group_bytes(graph, options.sizes, group);
  const double tiles =
      static_cast<double>(estimate_of(schedule.domain, p.batch)) *
      ceil_ratio(static_cast<double>(estimate_of(schedule.domain, p.rows)), static_cast<double>(p.tile_rows)) * p.split;
  const double keys = static_cast<double>(estimate_of(schedule.domain, p.inner)) * (chain.seen.empty() ? 1.0 : 0.55) /
                      static_cast<double>(p.split);
  const double of_tile = static_cast<double>(p.tile_rows) * keys * static_cast<double>(chain.units());
  constexpr double kClock = 1755, kMultiplications = 2048;
  const double reached = !p.boxed ? 0.33 : std::max(chain.deepest(), chain.columns_padded) <= 64 ? 0.45 : 0.65;
  constexpr double kBegins = 2;  // us
  double stored = 0;
  for (const NodeId id : group.outputs)
    stored += static_cast<double>(count(graph.at(id).shape).evaluate(options.sizes)) * size_of(graph.at(id).dtype);
  const double turns = ceil_ratio(tiles, facts.processors * std::max(1, schedule.resident));
  Cost cost;
  constexpr double kMostOfProcessor = 3;  // of an even share of the memory's rate
  const double rounds = ceil_ratio(tiles, facts.processors);
  cost.memory_us =
      bytes / facts.memory_bytes *
      (rounds > 1 ? rounds * facts.processors / tiles : std::max(1.0, facts.processors / tiles / kMostOfProcessor));
  cost.issue_us = ceil_ratio(tiles, facts.processors) * of_tile / (reached * kClock * kMultiplications) +
                  turns * kBegins + stored / facts.memory_bytes;
  cost.launch_us = facts.launch_us;
  if (p.split > 1) {
    const double partial = static_cast<double>(estimate_of(schedule.domain, p.batch)) *
                           static_cast<double>(estimate_of(schedule.domain, p.rows)) *
                           static_cast<double>(estimate_of(schedule.domain, p.columns)) * p.split * 4;
    cost.memory_us += 2 * partial / facts.memory_bytes;
    cost.launch_us += facts.next_launch_us + facts.latency_us;
  }
  cost.workgroups = static_cast<int64_t>(tiles);
  take_longest(cost);
  return cost;
}

}  // namespace smelt::schedule

// How tiles of products are chosen on a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>
#include <utility>

#include "schedule/cost.hpp"
#include "schedule/product.hpp"
#include "schedule/propose.hpp"
#include "schedule/schedule_gpu.hpp"

namespace smelt::schedule {
namespace {

constexpr int64_t kPartsOfASplit = 4;  // at least
// Parts that the inner axes are split in wherever they are long, and more of them where a
// multiprocessor then still has no more than so many workgroups.
constexpr int64_t kMostParts = 16, kPartsOfProcessor = 16;

// Results of a thread along a side of a tile.
int64_t side_of_block(int64_t tile) { return tile >= 64 ? 8 : 4; }

// The rows and columns of results that a thread has, where it has so many.
std::pair<int64_t, int64_t> block_of(int64_t results) {
  const int64_t rows = results % 32 == 0 ? 8 : 4;
  return {rows, results / rows};
}

// Tiles for threads that have all of a short side: one of 64 columns for 40 would multiply 24 that
// are not there, behind a condition each. Threads then have many columns each, since what limits
// these products is how often they read what is on chip.
void add_tiles_of_short_sides(std::vector<Tuning>& tunings, int64_t rows, int64_t columns) {
  constexpr int64_t kLongest = 128, kMostColumns = 24, kFewestResults = 32, kMostResults = 96, kMostHeld = 32;
  const auto add = [&](int64_t tile_rows, int64_t tile_columns, int64_t threads, int64_t part) {
    Tuning tuning;
    tuning.tile = tile_rows, tuning.lanes = static_cast<int>(tile_columns), tuning.unroll = static_cast<int>(part);
    tuning.threads = static_cast<int>(threads), tuning.cluster = 1;
    tunings.push_back(tuning);
  };
  const auto in_pieces = [](int64_t side, int64_t pieces) { return (side + pieces - 1) / pieces * pieces; };
  for (const int64_t across : {1, 2, 4, 8, 16}) {
    const int64_t of_thread = in_pieces((columns + across - 1) / across, 4);
    const int64_t beyond = of_thread * across - columns;
    if (columns > kLongest || of_thread > kMostColumns || beyond > std::max<int64_t>(7, columns / 8)) continue;
    for (const int64_t of_rows : {4, 8})
      for (const int64_t threads : {64, 128, 256})
        for (const int64_t part : {16, 8}) {
          const int64_t down = threads / across * of_rows;
          if (of_rows * of_thread < kFewestResults || of_rows * of_thread > kMostResults ||
              block_of(of_rows * of_thread).first != of_rows || down * part > kMostHeld * threads || rows <= down / 2)
            continue;
          add(down, of_thread * across, threads, part);
        }
  }
  const int64_t tile_rows = in_pieces(rows, 16);
  if (rows > kLongest || columns <= 64) return;
  for (const int64_t tile_columns : {64, 128, 256})
    for (const int64_t part : {16, 8}) {
      const int64_t threads = tile_rows * tile_columns / 64;
      if (threads % kWarp == 0 && threads <= 512 && tile_rows * part <= kMostHeld * threads &&
          tile_columns * part <= kMostHeld * threads)
        add(tile_rows, tile_columns, threads, part);
    }
}

// A tuning's tile and lanes are the rows and columns of a tile here, its unroll what is staged at a
// time, its cluster the workgroups that have parts of a tile; its rings are packed factors. Without
// matrix units its threads are those of a tile.
std::vector<Tuning> proposed_tiles(bool units, int64_t all_rows, int64_t all_columns) {
  std::vector<Tuning> tunings;
  const std::vector<int> inner = units ? std::vector<int>{64, 32} : std::vector<int>{16, 8};
  for (const auto& [rows, columns] : {std::pair{128, 256},
                                      {128, 128},
                                      {128, 64},
                                      {64, 256},
                                      {64, 128},
                                      {64, 64},
                                      {64, 32},
                                      {32, 128},
                                      {32, 64},
                                      {32, 32},
                                      {16, 256},
                                      {16, 128},
                                      {16, 64}})
    for (const int part : inner)
      for (const int split : {1, 2, 4, 8, 16, 64, 256, 1024, -1}) {  // -1: all in one, packed
        if ((columns == 256 || rows == 16 || (rows == 32 && columns > 32)) && !units) continue;
        if ((split > 1 || split < 0) && part != inner[0]) continue;
        if (split > kMostParts && rows * columns > 64 * 64) continue;  // for few results
        if (split < 0 && (!units || rows < 64)) continue;
        Tuning tuning;
        tuning.tile = rows, tuning.lanes = columns, tuning.unroll = part, tuning.cluster = std::abs(split);
        if (!units) tuning.threads = static_cast<int>(rows * columns / (side_of_block(rows) * side_of_block(columns)));
        tuning.rings = split < 0;
        tunings.push_back(tuning);
      }
  if (!units) add_tiles_of_short_sides(tunings, all_rows, all_columns);
  return tunings;
}

// Whether groups of four warps multiply, each 64 rows and all columns.
bool has_groups(const Product& p, const Target& target) {
  return target.compute == 90 && p.tile_rows % 64 == 0 && p.tile_columns % 64 == 0;
}

// Parts of the factors that a workgroup has on chip. Where multiprocessors have several workgroups
// and tiles few sums, there is room for a second one; a workgroup that is alone waits for
// memory itself, and requests many parts ahead.
int stages_of(const Product& p, const Target& target, bool several) {
  const int64_t part = bytes_of_part(p), all = target.shared_bytes - 1024;
  const bool beside = several && p.tile_rows * p.tile_columns <= 128 * 128 && all / 2 / part >= 3;
  return static_cast<int>(std::clamp<int64_t>((beside ? all / 2 : all) / part, 0, several ? 4 : 8));
}

// Tiles of rows that the grid goes through before it goes to the next columns: neighbours then have
// both few rows and few columns, and find them in the caches.
int64_t band_of(const Domain& domain, const Product& p) {
  constexpr int64_t kBand = 16;
  const auto rows = count_of(domain, p.rows).constant();
  const int64_t tiles = rows ? (*rows + p.tile_rows - 1) / p.tile_rows : kBand;
  if (tiles % kBand == 0 || tiles < kBand) return std::clamp<int64_t>(tiles, 1, kBand);
  for (const int64_t band : {12, 10, 8})
    if (tiles % band == 0) return band;
  return kBand;
}

// Threads of a workgroup; 0 where the tile does not fit on chip.
int settle_units(Product& p, const Domain& domain, const Target& target, bool several) {
  // Elsewhere a warp has 64 x 32 sums, or as many of them as there are.
  const bool groups = has_groups(p, target);
  p.down = static_cast<int>(groups ? p.tile_rows / 16 : std::max<int64_t>(1, p.tile_rows / 64));
  p.block_rows = p.tile_rows / p.down;
  p.block_columns = groups ? p.tile_columns : std::min<int64_t>(p.tile_columns, p.tile_columns > 128 ? 64 : 32);
  p.stages = stages_of(p, target, several);
  p.band = band_of(domain, p);
  const int threads = static_cast<int>(p.down * (p.tile_columns / p.block_columns) * kWarp);
  // Registers hold 192 sums of a thread, and rows of scratch hold 32 neighbours and more.
  const int64_t sums = p.tile_rows * p.tile_columns * static_cast<int64_t>(p.sums.size()) / threads;
  const bool lies =
      (p.rows_along_inner || p.tile_rows % 32 == 0) && (p.columns_along_inner || p.tile_columns % 32 == 0);
  return p.stages >= (groups ? 3 : 2) && sums <= 192 && lies ? threads : 0;
}

}  // namespace

// With 64 results, reads from scratch are no limit, and the compiler takes more registers for it.
bool shares_columns(const Product& p) {
  return p.block_rows * p.block_columns < 64 && p.tile_columns / p.block_columns % 2 == 0 &&
         p.tile_rows / p.block_rows % 2 == 0;
}

int64_t bytes_of_part(const Product& p) {
  std::set<NodeId> rows, columns;
  for (const ProductSum& sum : p.sums) rows.insert(sum.rows), columns.insert(sum.columns);
  const int64_t own =
      static_cast<int64_t>(rows.size()) * p.tile_rows + static_cast<int64_t>(columns.size()) * p.tile_columns;
  return own * p.tile_inner * (p.units ? 2 : 4);
}

namespace {

// With tiles as the tuning has them.
std::optional<Schedule> in_tiles(const Graph& graph, const Group& group, const LargeProduct& found,
                                 const Domain& domain, const Options& options, const Tuning& tuning) {
  const Target& target = options.target;
  const SizeBinding& sizes = options.sizes;
  Product p = found.product;
  p.tile_rows = tuning.tile, p.tile_columns = tuning.lanes, p.tile_inner = tuning.unroll;
  p.split = std::max(1, tuning.cluster);
  if (tuning.rings) {
    for (const ProductSum& sum : p.sums)
      for (const NodeId factor : {sum.rows, sum.columns})
        if (!is_copied_wide(graph, group, sizes, factor) &&
            std::find(p.packed.begin(), p.packed.end(), factor) == p.packed.end())
          p.packed.push_back(factor);
    if (p.packed.empty() || !p.units) return std::nullopt;
  }
  const int64_t sums = p.tile_rows * p.tile_columns * static_cast<int64_t>(p.sums.size());
  if (p.split > std::max<int64_t>(1, found.inner / p.tile_inner / kPartsOfASplit)) return std::nullopt;
  const int64_t tiles = estimate_of(domain, p.batch) * steps_of(found.rows, p.tile_rows) *
                        steps_of(found.columns, p.tile_columns) * p.split;
  if (p.split > kMostParts && tiles > kPartsOfProcessor * target.threads) return std::nullopt;
  Schedule s;
  s.strategy = Strategy::Product;
  s.domain = domain;
  if (p.units) {
    const auto comes = [&](NodeId factor) {
      return std::find(p.packed.begin(), p.packed.end(), factor) != p.packed.end() ||
             comes_in_boxes(graph, group, sizes, factor, *p.units);
    };
    s.team = s.workgroup = settle_units(p, domain, target, tiles > target.threads);
    if (s.team == 0) return std::nullopt;
    s.lanes = 8;
    p.boxed = has_groups(p, target) && std::all_of(p.sums.begin(), p.sums.end(), [&](const ProductSum& sum) {
                return comes(sum.rows) && comes(sum.columns);
              });
    // The registers of two workgroups hold 64 sums of each thread.
    const bool two = 2 * p.stages * bytes_of_part(p) <= target.shared_bytes - 1024 && sums <= int64_t{64} * s.team;
    if (p.boxed) s.resident = two ? 2 : 1;
  } else {
    if (sums * found.bytes > (target.plain ? 8 << 10 : 64 << 10)) return std::nullopt;
    s.team = s.workgroup = tuning.threads;
    // With two products more than that does not fit the registers beside what is on its way.
    constexpr int64_t kMostSums = 96;
    if (p.sums.size() > 1 && sums > kMostSums * s.team) return std::nullopt;
    std::tie(p.block_rows, p.block_columns) = block_of(p.tile_rows * p.tile_columns / s.team);
    s.lanes = 4;
    // The compiler takes a register or two more than those of two workgroups, and could do with
    // them.
    const bool reads_only = std::all_of(p.sums.begin(), p.sums.end(), [&](const ProductSum& sum) {
      return !is_computed(graph, group, sum.rows) && !is_computed(graph, group, sum.columns);
    });
    if (reads_only && s.team == 256 && sums == 64 * int64_t{s.team} && found.bytes == 4) s.resident = 2;
  }
  s.tile = p.tile_columns;
  s.note = fmt::format("products of {} x {} x {} in tiles of {} x {}, {} at a time{}; {} x {} results to a {}",
                       found.rows, found.columns, found.inner, p.tile_rows, p.tile_columns, p.tile_inner,
                       (p.split > 1 ? fmt::format(", in {} parts that are added up", p.split) : "") +
                           (p.packed.empty() ? ""
                                             : fmt::format(", {} factor{} packed before", p.packed.size(),
                                                           p.packed.size() == 1 ? "" : "s")),
                       p.block_rows, p.block_columns, p.units ? "warp" : "thread");
  s.product = std::move(p);
  return s;
}

}  // namespace

std::optional<Schedule> product_on_gpu(const Graph& graph, const Domain& domain, const Group& group,
                                       const Options& options) {
  auto found = large_product(graph, group, domain);
  if (!found) return std::nullopt;
  const Target& target = options.target;
  if (!target.plain && target.compute >= 80)
    found->product.units = half_of_factors(graph, group, found->product, DType::F16, true);
  const Tuning& tuning = options.tuning;
  if (tuning.tile >= 16 && tuning.lanes >= 4 && tuning.unroll >= 8 &&
      (tuning.threads > 0 || found->product.units))  // as propose_product has it
    return in_tiles(graph, group, *found, domain, options, tuning);
  std::optional<Schedule> best;
  double least = 0;
  for (const Tuning& proposed : proposed_tiles(found->product.units.has_value(), found->rows, found->columns)) {
    auto made = in_tiles(graph, group, *found, domain, options, proposed);
    if (!made) continue;
    // Where memory is the limit of many, the one that leaves most of the rest.
    const Cost cost = predict(graph, group, *made, options);
    const double us = cost.us + cost.issue_us / 16;
    if (!best || us < least) best = std::move(made), least = us;
  }
  return best;
}

std::vector<Tuning> propose_product(const Schedule& first) {
  const Product& p = *first.product;
  return proposed_tiles(p.units.has_value(), estimate_of(first.domain, p.rows), estimate_of(first.domain, p.columns));
}

}  // namespace smelt::schedule

// How tiles of products are chosen on a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <utility>

#include "schedule/cost.hpp"
#include "schedule/product.hpp"
#include "schedule/propose.hpp"
#include "schedule/schedule_gpu.hpp"
#include "schedule/skinny.hpp"

namespace smelt::schedule {
namespace {

struct Extents {
  int64_t batch, rows, columns;
};

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

// Tiles of factors in parts, all of which are on chip together.
void add_tiles_of_parts(std::vector<Tuning>& tunings) {
  constexpr int kPart = 32;
  for (const auto& [rows, columns] : {std::pair{128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}})
    for (const int split : {1, 2, 4, 8, 16}) {
      Tuning tuning;
      tuning.tile = rows, tuning.lanes = columns, tuning.unroll = kPart, tuning.cluster = split;
      tuning.rings = 1;
      tunings.push_back(tuning);
    }
}

// Tiles whose columns are as many as it takes for all multiprocessors to have the same number of
// tiles: of 2048 x 1152 sums, 128 of them have 128 x 144.
void add_tiles_of_whole_waves(std::vector<Tuning>& tunings, const Extents& all, int64_t processors) {
  constexpr int64_t kRows = 128, kStep = 16, kFewest = 80, kMost = 256, kMostWaves = 8;
  constexpr size_t kMostWidths = 2;
  const int64_t down = all.batch * steps_of(all.rows, kRows);
  std::map<int64_t, int64_t> widths;  // by the columns that a multiprocessor multiplies
  for (int64_t waves = 1; waves <= kMostWaves; ++waves) {
    const int64_t across = waves * processors / down;
    if (across == 0) continue;
    const int64_t columns = steps_of(steps_of(all.columns, across), kStep) * kStep;
    if (columns >= kFewest && columns <= kMost && columns % 128 != 0) widths.emplace(waves * columns, columns);
  }
  while (widths.size() > kMostWidths) widths.erase(std::prev(widths.end()));
  for (const auto& [work, columns] : widths)
    for (const bool packed : {false, true}) {
      Tuning tuning;
      tuning.tile = kRows, tuning.lanes = static_cast<int>(columns), tuning.unroll = 64, tuning.cluster = 1;
      tuning.rings = packed;
      tunings.push_back(tuning);
    }
}

// A tuning's tile and lanes are the rows and columns of a tile here, its unroll what is staged at a
// time, its cluster the workgroups that have parts of a tile; its rings are packed factors. Without
// matrix units its threads are those of a tile, or 0 where factors are in parts.
std::vector<Tuning> proposed_tiles(bool units, bool parts, const Extents& all, const Target& target) {
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
  if (units && target.compute == 90) add_tiles_of_whole_waves(tunings, all, target.threads);
  if (!units) add_tiles_of_short_sides(tunings, all.rows, all.columns);
  if (parts) add_tiles_of_parts(tunings);
  if (units)
    for (const Tuning& tuning : proposed_skinny(all.rows)) tunings.push_back(tuning);
  return tunings;
}

// Whether groups of four warps multiply, each 64 rows and all columns.
bool has_groups(const Product& p, const Target& target) {
  return target.compute == 90 && p.tile_rows % 64 == 0 && p.tile_columns >= 64 &&
         p.tile_columns % (p.columns_along_inner ? 16 : 64) == 0;
}

// Whether registers hold the sums of two workgroups: each quarter of a multiprocessor deals its own
// to whole warps in steps of 8.
bool holds_two(const Product& p, int threads) {
  constexpr int64_t kOfQuarter = 16384, kQuarters = 4, kStep = 8;
  const int64_t sums = p.tile_rows * p.tile_columns * held_sums(p) / threads;
  const int64_t warps = 2 * (threads / kWarp + 1);
  return sums + kBesideSums <= kOfQuarter / steps_of(warps, kQuarters) / kWarp / kStep * kStep;
}

// Parts of the factors that a workgroup has on chip. Where multiprocessors have several workgroups
// and tiles few sums, there is room for a second one; a workgroup that is alone waits for
// memory itself, and requests many parts ahead.
int stages_of(const Product& p, const Target& target, int threads, bool several) {
  const int64_t part = bytes_of_part(p), all = target.shared_bytes - 1024;
  const bool beside = several && holds_two(p, threads) && all / 2 / part >= 3;
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
  const int threads = static_cast<int>(p.down * (p.tile_columns / p.block_columns) * kWarp);
  p.stages = stages_of(p, target, threads, several);
  p.band = band_of(domain, p);
  // Registers hold 192 sums of a thread, and rows of scratch hold 32 neighbours and more.
  const int64_t sums = p.tile_rows * p.tile_columns * held_sums(p) / threads;
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
  std::map<NodeId, int64_t> rows, columns;
  for (const ProductSum& sum : p.sums)
    rows[sum.rows] = p.units ? sum.parts_of_rows : 1, columns[sum.columns] = p.units ? sum.parts_of_columns : 1;
  int64_t own = 0;
  for (const auto& [factor, parts] : rows) own += parts * p.tile_rows;
  for (const auto& [factor, parts] : columns) own += parts * p.tile_columns;
  return own * p.tile_inner * (p.units ? 2 : 4);
}

namespace {

// The parts of factors of f32, where all sums are of f32: groups of warps multiply six pairs of
// them faster than threads do the factors, and other matrix units three.
void take_apart(const Graph& graph, const Group& group, const Target& target, Product& product) {
  const auto is_f32 = [&](NodeId id) { return graph.at(id).dtype == DType::F32; };
  for (const ProductSum& sum : product.sums)
    if (!is_f32(sum.node) || !is_f32(sum.rows) || !is_f32(sum.columns)) return;
  const auto is_full = [&](const ProductSum& sum) {
    return graph.at(graph.at(sum.node).args[0]).precision == Precision::Full;
  };
  const bool full = is_full(product.sums[0]);
  if (full && target.compute != 90) return;
  for (ProductSum& sum : product.sums)
    if (is_full(sum) != full) return;
  const int most = full ? 3 : 2;
  for (ProductSum& sum : product.sums) {
    sum.parts_of_rows = std::min(most, parts_of_factor(graph, group, sum.rows));
    sum.parts_of_columns = std::min(most, parts_of_factor(graph, group, sum.columns));
    sum.is_full = full;
  }
}

// Takes halves for integers of 8 bits, where f32 or i32 holds their sums, or they wrap in that.
void take_bytes(const Graph& graph, const Group& group, const Domain& domain, Product& product) {
  const auto bytes = bytes_of_factors(graph, group, product);
  if (!bytes) return;
  if (!sums_fit(graph, domain, product, *bytes)) return;
  product.units = DType::F16, product.whole = true;
  product.exact_in_f32 = terms_fit(domain, product, *bytes, 1 << 24);
}

bool is_in_parts(const Product& product) {
  return std::all_of(product.sums.begin(), product.sums.end(), [](const ProductSum& sum) { return sum.in_parts(); });
}

// With tiles as the tuning has them.
std::optional<Schedule> in_tiles(const Graph& graph, const Group& group, const LargeProduct& found,
                                 const Domain& domain, const Options& options, const Tuning& tuning) {
  if (is_skinny(tuning)) return in_registers(found, domain, options, tuning);
  const Target& target = options.target;
  const SizeBinding& sizes = options.sizes;
  Product p = found.product;
  p.tile_rows = tuning.tile, p.tile_columns = tuning.lanes, p.tile_inner = tuning.unroll;
  p.split = std::max(1, tuning.cluster);
  const bool in_parts = tuning.threads == 0 && is_in_parts(p);
  if (in_parts) p.units = DType::BF16;
  if (tuning.rings) {
    if (!p.units) return std::nullopt;
    const auto pack = [&](NodeId factor, int parts, bool along_inner) {
      const NodeId array = in_parts && along_inner ? array_to_take_apart(graph, group, sizes, factor) : -1;
      if (array >= 0) {
        p.apart.emplace(factor, array);
        return;
      }
      const bool comes = parts == 1 && (in_parts ? comes_in_boxes(graph, group, sizes, factor, *p.units)
                                                 : is_copied_wide(graph, group, sizes, factor));
      if (!comes && std::find(p.packed.begin(), p.packed.end(), factor) == p.packed.end()) p.packed.push_back(factor);
    };
    for (const ProductSum& sum : p.sums) {
      pack(sum.rows, sum.parts_of_rows, p.rows_along_inner);
      pack(sum.columns, sum.parts_of_columns, p.columns_along_inner);
    }
    if (p.packed.empty() && p.apart.empty()) return std::nullopt;
  }
  const int64_t sums = p.tile_rows * p.tile_columns * held_sums(p);
  if (p.split > std::max<int64_t>(1, found.inner / p.tile_inner / kPartsOfASplit)) return std::nullopt;
  const int64_t tiles = estimate_of(domain, p.batch) * steps_of(found.rows, p.tile_rows) *
                        steps_of(found.columns, p.tile_columns) * p.split;
  if (p.split > kMostParts && tiles > kPartsOfProcessor * target.threads) return std::nullopt;
  Schedule s;
  s.strategy = Strategy::Product;
  s.domain = domain;
  const bool usual = std::has_single_bit(static_cast<uint64_t>(p.tile_rows * p.tile_columns));
  if (p.units) {
    if (!usual && !has_groups(p, target)) return std::nullopt;
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
    const bool two = 2 * p.stages * bytes_of_part(p) <= target.shared_bytes - 1024 && holds_two(p, s.team);
    if (p.boxed) s.resident = two ? 2 : 1;
    if (in_parts && p.sums[0].is_full && !has_groups(p, target)) return std::nullopt;
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
                           (in_parts ? fmt::format(", factors as up to {} bf16", p.sums[0].is_full ? 3 : 2) : "") +
                           (p.packed.empty() ? ""
                                             : fmt::format(", {} factor{} packed before", p.packed.size(),
                                                           p.packed.size() == 1 ? "" : "s")),
                       p.block_rows, p.block_columns, p.units ? "warp" : "thread");
  s.product = std::move(p);
  return s;
}

// Whether one row times a matrix is as fast in the loops that add up rows, which have few elements
// of a row each: where the matrix is read as it is, halves always, bytes unless its rows are long.
// Measured on an H200.
bool is_sum_of_rows(const Graph& graph, const Group& group, const LargeProduct& found) {
  constexpr int64_t kFewest = 4 << 20, kLong = 4096;
  if (!found.product.rows.empty()) return false;
  if (found.columns * found.inner < kFewest) return true;
  return std::all_of(found.product.sums.begin(), found.product.sums.end(), [&](const ProductSum& sum) {
    NodeId factor = sum.columns;
    while (is_view(graph.at(factor).kind) || graph.at(factor).kind == NodeKind::Cast) factor = graph.at(factor).args[0];
    return !is_computed(graph, group, sum.columns) && (is_half(graph.at(factor).dtype) || found.inner < kLong);
  });
}

}  // namespace

std::optional<Schedule> product_on_gpu(const Graph& graph, const Domain& domain, const Group& group,
                                       const Options& options) {
  auto found = large_product(graph, group, domain, kFewestOfSkinny, true);
  if (!found) return std::nullopt;
  const Target& target = options.target;
  const bool staged = found->rows >= kFewestOfRows;
  // A part has neighbours of the larger factor, and the smaller one is packed in that order.
  std::vector<int>& inner = found->product.inner;
  if (const auto nearest = std::find(inner.begin(), inner.end(), found->product.nearest_inner); nearest != inner.end())
    std::rotate(nearest, nearest + 1, inner.end());
  if (!target.plain && target.compute >= 80)
    found->product.units = half_of_factors(graph, group, found->product, DType::F16, true);
  if (!target.plain && target.compute >= 80 && !found->product.units) {
    take_apart(graph, group, target, found->product);
    take_bytes(graph, group, domain, found->product);
  }
  const Tuning& tuning = options.tuning;
  if (!staged && !found->product.units) return std::nullopt;
  if (is_sum_of_rows(graph, group, *found)) return std::nullopt;
  if (tuning.tile >= (is_skinny(tuning) ? kStepOfSkinny : 16) && tuning.lanes >= 4 && tuning.unroll >= 8 &&
      (tuning.threads > 0 || found->product.units || is_in_parts(found->product)))  // as propose_product has it
    return in_tiles(graph, group, *found, domain, options, tuning);
  std::optional<Schedule> best;
  double least = 0;
  for (const Tuning& proposed :
       proposed_tiles(found->product.units.has_value(), is_in_parts(found->product),
                      {estimate_of(domain, found->product.batch), found->rows, found->columns}, target)) {
    if (!staged && !is_skinny(proposed)) continue;
    auto made = in_tiles(graph, group, *found, domain, options, proposed);
    if (!made) continue;
    // Where memory is the limit of many, the one that leaves most of the rest.
    const Cost cost = predict(graph, group, *made, options);
    const double us = cost.us + cost.issue_us / 16;
    if (!best || us < least) best = std::move(made), least = us;
  }
  return best;
}

Tuning without_tiles() {
  Tuning tuning;
  tuning.tile = 16, tuning.lanes = 32, tuning.unroll = 64;
  tuning.cluster = std::numeric_limits<int>::max();  // no sum has so many parts
  return tuning;
}

std::vector<Tuning> propose_product(const Schedule& first, const Target& target) {
  const Product& p = *first.product;
  const bool parts = is_in_parts(p);
  const auto all = [&](const std::vector<int>& axes) { return estimate_of(first.domain, axes); };
  if (all(p.rows) < kFewestOfRows) return proposed_skinny(all(p.rows));
  return proposed_tiles(p.units && !parts, parts, {all(p.batch), all(p.rows), all(p.columns)}, target);
}

}  // namespace smelt::schedule

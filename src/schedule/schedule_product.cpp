// How tiles of products are chosen.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "schedule/candidates.hpp"
#include "schedule/parts.hpp"
#include "schedule/product.hpp"
#include "schedule/propose.hpp"
#include "schedule/schedule_gpu.hpp"

namespace smelt::schedule {
namespace {

// Smaller products take longer to stage than to add up in the loops of other families.
constexpr int64_t kFewestOfRows = 4, kFewestOfColumns = 8, kFewestOfInner = 8;
constexpr int64_t kSmallProduct = 1 << 14;  // multiplications

// Of a tile on a CPU: what is staged of the inner axes, and bytes of the second-level cache that its panels and sums may take.
constexpr int64_t kInnerOfTile = 256, kTileRows = 192, kTileColumns = 256;
constexpr int64_t kTilesPerThread = 3;

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

struct LargeProduct {
  Product product;
  int64_t rows, columns, inner, bytes;  // its estimates, and bytes of a sum
};
std::optional<LargeProduct> large_product(const Graph& graph, const Group& group, const Domain& domain) {
  auto found = find_product(graph, group, domain);
  if (!found) return std::nullopt;
  const int64_t rows = estimate_of(domain, found->rows), columns = estimate_of(domain, found->columns),
                inner = estimate_of(domain, found->inner), bytes = bytes_of_sums(graph, *found);
  if (rows < kFewestOfRows || columns < kFewestOfColumns || inner < kFewestOfInner ||
      rows * columns * inner < kSmallProduct)
    return std::nullopt;
  return LargeProduct{std::move(*found), rows, columns, inner, bytes};
}

}  // namespace

std::optional<Schedule> product_on_cpu(const Graph& graph, const Domain& domain, const Group& group,
                                       const Options& options) {
  auto found = large_product(graph, group, domain);
  if (!found) return std::nullopt;
  auto& [p, rows, columns, inner, bytes] = *found;
  // Results of a block: vectors of two registers, in as many rows as leave some for the factors.
  const int64_t lanes = 2 * natural_lanes(options.target) * 4 / bytes;
  const int64_t registers = options.target.vector_bits >= 512 ? 32 : 16;
  const auto sums = static_cast<int64_t>(p.sums.size());
  p.block_columns = lanes;
  p.block_rows = std::max<int64_t>(1, (registers - 4) / 2 / sums);
  if (p.block_rows > 6) p.block_rows = p.block_rows / 6 * 6;
  p.block_rows = std::min(p.block_rows, rows);
  p.tile_inner = std::min<int64_t>(kInnerOfTile, round_up(inner, 16));
  p.tile_rows = std::min(round_up(kTileRows, p.block_rows), round_up(rows, p.block_rows));
  p.tile_columns = std::min(round_up(kTileColumns, lanes), round_up(columns, lanes));
  const int64_t batch = estimate_of(domain, p.batch);
  const auto tiles = [&, &p = p, rows = rows, columns = columns] {
    return batch * ((rows + p.tile_rows - 1) / p.tile_rows) * ((columns + p.tile_columns - 1) / p.tile_columns);
  };
  while (tiles() < kTilesPerThread * kThreadsOfACpu && (p.tile_rows > 4 * p.block_rows || p.tile_columns > 2 * lanes)) {
    if (p.tile_rows / p.block_rows >= 2 * (p.tile_columns / lanes) || p.tile_columns <= 2 * lanes)
      p.tile_rows = round_up(p.tile_rows / 2, p.block_rows);
    else
      p.tile_columns = round_up(p.tile_columns / 2, lanes);
  }
  Schedule s;
  s.strategy = Strategy::Product;
  s.domain = domain;
  s.lanes = static_cast<int>(lanes);
  s.tile = p.tile_columns;
  s.note = fmt::format("products of {} x {} x {} in tiles of {} x {}, {} at a time; {} x {} results in registers", rows,
                       columns, inner, p.tile_rows, p.tile_columns, p.tile_inner, p.block_rows, p.block_columns);
  s.product = std::move(p);
  return s;
}

namespace {

// Parts of the factors that a workgroup has on chip: four, or as many as leave room for a second one beside tiles of few sums.
int stages_of(const Product& p, const Target& target) {
  std::set<NodeId> rows, columns;
  for (const ProductSum& sum : p.sums) rows.insert(sum.rows), columns.insert(sum.columns);
  const int64_t own =
      static_cast<int64_t>(rows.size()) * p.tile_rows + static_cast<int64_t>(columns.size()) * p.tile_columns;
  const int64_t part = own * (p.tile_inner + 8) * 2, all = target.shared_bytes - 1024;
  const int64_t room = p.tile_rows * p.tile_columns <= 128 * 128 && all / 2 / part >= 3 ? all / 2 : all;
  return static_cast<int>(std::clamp<int64_t>(room / part, 0, 4));
}

// The product of tiles as a grid goes through them: where neighbours have both few rows and few columns, they find them in the caches.
int64_t band_of(const Domain& domain, const Product& p) {
  const auto rows = count_of(domain, p.rows).constant();
  if (!rows) return 1;
  const int64_t tiles = (*rows + p.tile_rows - 1) / p.tile_rows;
  for (const int64_t band : {16, 12, 8, 10, 6, 4})
    if (tiles % band == 0) return band;
  return 1;
}

}  // namespace

std::optional<Schedule> product_on_gpu(const Graph& graph, const Domain& domain, const Group& group,
                                       const Options& options) {
  auto found = large_product(graph, group, domain);
  if (!found) return std::nullopt;
  auto& [p, rows, columns, inner, bytes] = *found;
  const auto sums = static_cast<int64_t>(p.sums.size());
  const int64_t batch = estimate_of(domain, p.batch);
  const bool plain = options.target.plain;
  if (!plain && options.target.compute >= 80) p.units = half_of_factors(graph, group, p);
  const bool groups_of_warps = p.units && options.target.compute == 90;
  // The largest tile that leaves no multiprocessor without one, and whose sums fit on chip.
  constexpr std::pair<int64_t, int64_t> kTiles[] = {{128, 256}, {128, 128}, {128, 64}, {64, 64}, {64, 32}, {32, 32}};
  for (const auto& [high, wide] : kTiles) {
    // Matrix units of fewer columns than 64 take longer for the same (512 x 1024 x 1024 on an H100: 38.6 us and 20.7).
    if (p.units && wide < 64 && columns > 32) break;
    if (wide > 128 && !groups_of_warps) continue;
    p.tile_rows = high, p.tile_columns = wide;
    const int64_t tiles = batch * ((rows + high - 1) / high) * ((columns + wide - 1) / wide);
    const bool too_large = high * wide * bytes * sums > (plain ? 8 << 10 : groups_of_warps ? 128 << 10 : 64 << 10);
    if (!too_large && tiles >= options.target.threads) break;
  }
  const Tuning& tuning = options.tuning;
  const bool tuned = tuning.tile >= 32 && tuning.lanes >= 32 && tuning.unroll >= 8;  // as propose_product has it
  if (tuned) p.tile_rows = tuning.tile, p.tile_columns = tuning.lanes;
  p.tile_inner = tuned ? tuning.unroll : p.units ? 64 : 16;
  Schedule s;
  s.strategy = Strategy::Product;
  s.domain = domain;
  if (p.units) {
    // Groups of four warps have 64 rows; elsewhere a warp has 64 x 32 sums, or as many of them as there are.
    const bool groups = groups_of_warps && p.tile_rows % 64 == 0 && p.tile_columns % 64 == 0;
    p.down = static_cast<int>(groups ? p.tile_rows / 16 : std::max<int64_t>(1, p.tile_rows / 64));
    p.block_rows = p.tile_rows / p.down;
    p.block_columns = groups ? p.tile_columns : std::min<int64_t>(p.tile_columns, p.tile_columns > 128 ? 64 : 32);
    s.team = s.workgroup = static_cast<int>(p.down * (p.tile_columns / p.block_columns) * kWarp);
    s.lanes = 8;
    p.stages = stages_of(p, options.target);
    p.band = band_of(domain, p);
    if (p.stages < (groups ? 3 : 2)) return std::nullopt;
  } else {
    p.block_rows = p.tile_rows == 128 ? 8 : 4;
    p.block_columns = p.tile_columns == 128 ? 8 : 4;
    s.team = s.workgroup = static_cast<int>(p.tile_rows * p.tile_columns / (p.block_rows * p.block_columns));
    s.lanes = 4;
  }
  s.tile = p.tile_columns;
  s.note = fmt::format("products of {} x {} x {} in tiles of {} x {}, {} at a time; {} x {} results to a {}", rows,
                       columns, inner, p.tile_rows, p.tile_columns, p.tile_inner, p.block_rows, p.block_columns,
                       p.units ? "warp" : "thread");
  s.product = std::move(p);
  return s;
}

// A tuning's tile and lanes are the rows and columns of a tile here, its unroll what is staged at a time.
std::vector<Tuning> propose_product(const Schedule& first) {
  std::vector<Tuning> tunings;
  const std::vector<int> inner = first.product->units ? std::vector<int>{64, 32} : std::vector<int>{16, 8};
  for (const auto& [rows, columns] :
       {std::pair{128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}, {64, 32}, {32, 32}})
    for (const int part : inner) {
      if (columns == 256 && !first.product->units) continue;
      Tuning tuning;
      tuning.tile = rows, tuning.lanes = columns, tuning.unroll = part;
      tunings.push_back(tuning);
    }
  return tunings;
}

}  // namespace smelt::schedule

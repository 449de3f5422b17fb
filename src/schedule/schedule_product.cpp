// How tiles of products are chosen on a CPU.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/candidates.hpp"
#include "schedule/parts.hpp"
#include "schedule/product.hpp"

namespace smelt::schedule {
namespace {

constexpr int64_t kFewestOfFewRows = 2;

// Of a tile on a CPU: what is staged of the inner axes, and bytes of the second-level cache that its panels and sums may take.
constexpr int64_t kInnerOfTile = 256, kTileRows = 192, kTileColumns = 256;
constexpr int64_t kTilesPerThread = 3;

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

void take_dot_products(const Graph& graph, const Group& group, const Target& target, Product& p) {
  if (target.dot_bf16 && half_of_factors(graph, group, p, false) == DType::BF16) {
    p.units = DType::BF16, p.terms = 2;
    return;
  }
  const auto bytes = target.dot_bytes ? bytes_of_factors(graph, group, p) : std::nullopt;
  if (!bytes) return;
  p.units = DType::I8, p.terms = 4;
  p.unsigned_rows = is_signed_int(bytes->second);
  p.moved_rows = p.unsigned_rows && is_signed_int(bytes->first);
}

// Sums of few rows with columns that are contiguous along the inner axes wait for memory: panels of those would only be another copy.
bool take_few_rows(Product& p, int64_t rows, int64_t columns, int64_t inner, int64_t lanes) {
  constexpr int64_t kFewRows = 64, kFewRowsOfDots = 16, kSteps = 8, kTotals = 24, kTile = 48;
  constexpr int64_t kPart = 2048, kLeastPart = 512, kPanel = 1 << 15;  // elements
  const auto sums = static_cast<int64_t>(p.sums.size());
  if (p.units == DType::I8 || !p.rows_along_inner || !p.columns_along_inner ||
      rows > (p.units ? kFewRowsOfDots : kFewRows) || inner < kSteps * lanes || sums > 2)
    return false;
  p.few_rows = true;
  p.units.reset();
  p.terms = 1, p.moved_rows = false;
  // As many rows as leave the fewest over.
  p.block_rows = rows;
  if (rows > 6)
    for (int64_t r = p.block_rows = 6; r >= 4; --r)
      if (round_up(rows, r) < round_up(rows, p.block_rows)) p.block_rows = r;
  p.block_columns = std::clamp<int64_t>(kTotals / (p.block_rows * sums), 1, 8);
  p.tile_rows = round_up(rows, p.block_rows);
  p.tile_columns = std::min(round_up(kTile, p.block_columns), round_up(columns, p.block_columns));
  p.tile_inner = std::min(std::clamp(kPanel / rows / 16 * 16, kLeastPart, kPart), round_up(inner, 16));
  return true;
}

}  // namespace

std::optional<Schedule> product_on_cpu(const Graph& graph, const Domain& domain, const Group& group,
                                       const Options& options) {
  auto found = large_product(graph, group, domain, kFewestOfFewRows);
  if (!found) return std::nullopt;
  auto& [p, rows, columns, inner, bytes] = *found;
  take_dot_products(graph, group, options.target, p);
  // Results of a block: vectors of two registers, in as many rows as leave some for the factors.
  const int64_t lanes = 2 * natural_lanes(options.target) * 4 / (p.units ? 4 : bytes);
  const int64_t registers = options.target.vector_bits >= 512 ? 32 : 16;
  const auto sums = static_cast<int64_t>(p.sums.size());
  p.block_columns = lanes;
  p.block_rows = std::max<int64_t>(1, (registers - 4) / 2 / sums);
  if (p.block_rows > 6) p.block_rows = p.block_rows / 6 * 6;
  p.block_rows = std::min(p.block_rows, rows);
  p.tile_inner = std::min<int64_t>(kInnerOfTile * p.terms, round_up(inner, 16));
  p.tile_rows = std::min(round_up(kTileRows, p.block_rows), round_up(rows, p.block_rows));
  p.tile_columns = std::min(round_up(kTileColumns, lanes), round_up(columns, lanes));
  const int64_t batch = estimate_of(domain, p.batch);
  const auto tiles = [&, &p = p, rows = rows, columns = columns] {
    return batch * ((rows + p.tile_rows - 1) / p.tile_rows) * ((columns + p.tile_columns - 1) / p.tile_columns);
  };
  while (tiles() < kTilesPerThread * kThreadsOfACpu && (p.tile_rows > 4 * p.block_rows || p.tile_columns > 2 * lanes)) {
    // Columns that have to be turned are packed anew for each tile of rows.
    const bool tall = !p.columns_along_inner && p.tile_rows / p.block_rows >= 2 * (p.tile_columns / lanes);
    if (tall || p.tile_columns <= 2 * lanes)
      p.tile_rows = round_up(p.tile_rows / 2, p.block_rows);
    else
      p.tile_columns = round_up(p.tile_columns / 2, lanes);
  }
  Schedule s;
  s.strategy = Strategy::Product;
  s.domain = domain;
  s.lanes = static_cast<int>(lanes);
  if (take_few_rows(p, rows, columns, inner, natural_lanes(options.target) * 4 / bytes)) {
    s.lanes = static_cast<int>(natural_lanes(options.target) * 4 / bytes);
    s.tile = p.tile_columns;
    s.note = fmt::format("products of {} x {} x {}, {} columns of {} at a time, {} x {} sums along the inner axis",
                         rows, columns, inner, p.tile_columns, p.tile_inner, p.block_rows, p.block_columns);
    s.product = std::move(p);
    return s;
  }
  if (rows < kFewestOfRows) return std::nullopt;
  s.tile = p.tile_columns;
  s.note = fmt::format("products of {} x {} x {} in tiles of {} x {}, {} at a time; {} x {} results in registers{}",
                       rows, columns, inner, p.tile_rows, p.tile_columns, p.tile_inner, p.block_rows, p.block_columns,
                       p.units ? fmt::format(", dot products of {}", name_of(*p.units)) : "");
  s.product = std::move(p);
  return s;
}

}  // namespace smelt::schedule

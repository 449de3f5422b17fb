// How tiles of products are chosen on a CPU.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "schedule/candidates.hpp"
#include "schedule/cost_parts.hpp"
#include "schedule/parts.hpp"
#include "schedule/product.hpp"

namespace smelt::schedule {
namespace {

constexpr int64_t kFewestOfFewRows = 2;

// Limits of a tile on a CPU: staged terms, and bytes of the second-level cache for its panels and
// sums.
constexpr int64_t kInnerOfTile = 256, kTileRows = 256, kTileColumns = 256;
// The same of matrix units: words, the longest first, and rows or columns.
constexpr int64_t kInnerOfTiles[] = {512, 256, 128}, kMostOfTiles = 1024;

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// The least piece of which as few make up `all` as of pieces of `most`, in multiples of `of`.
int64_t even_piece(int64_t all, int64_t most, int64_t of) {
  const int64_t pieces = std::max<int64_t>(1, (all + most - 1) / most);
  return round_up((all + pieces - 1) / pieces, of);
}

void take_dot_products(const Graph& graph, const Group& group, const Domain& domain, const Target& target, Product& p) {
  if ((target.dot_bf16 || target.tiles) && half_of_factors(graph, group, p, DType::BF16, false) == DType::BF16) {
    p.units = DType::BF16, p.terms = 2;
    if (target.tiles) p.tiles = Tiles{};
    return;
  }
  const auto bytes = target.dot_bytes || target.tiles ? bytes_of_factors(graph, group, p) : std::nullopt;
  if (bytes && target.tiles && sums_fit(graph, domain, p, *bytes)) {
    p.units = DType::I8, p.terms = 4, p.whole = true;
    p.tiles = Tiles{.rows = bytes->first, .columns = bytes->second};
    return;
  }
  if (!bytes || !target.dot_bytes || (is_unsigned_int(bytes->first) && is_unsigned_int(bytes->second))) return;
  p.units = DType::I8, p.terms = 4;
  p.unsigned_rows = is_signed_int(bytes->second);
  p.moved_rows = p.unsigned_rows && is_signed_int(bytes->first);
}

// The block of tiles that leaves the fewest results unused; square ones read less.
void take_tiles(const Domain& domain, Product& p) {
  const int64_t rows = estimate_of(domain, p.rows), columns = estimate_of(domain, p.columns);
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const auto& [down, across] : {std::pair{2, 2}, {1, 4}, {4, 1}}) {
    const int64_t all =
        round_up(rows, down * kSideOfTile) * round_up(columns, across * kSideOfTile) * (down == across ? 8 : 9);
    if (all >= fewest) continue;
    fewest = all;
    p.tiles->down = down, p.tiles->across = across;
  }
  p.block_rows = p.tiles->down * kSideOfTile, p.block_columns = p.tiles->across * kSideOfTile;
}

// Columns of several axes that are contiguous along the last one: a tile of at most `most` has
// lines of it.
bool take_lines(const Domain& domain, Product& p, int64_t most, int64_t lanes) {
  if (p.columns.size() < 2 || p.columns_along_inner) return false;
  const int64_t last = domain.axes[static_cast<size_t>(p.columns.back())].estimate,
                all = estimate_of(domain, p.columns) / std::max<int64_t>(1, last);
  const auto wasted = [&](int64_t across) { return round_up(across, lanes) - across; };
  // Pieces of the last axis, as few and as alike as can be; then as many lines as leave the fewest
  // lanes without one.
  const int64_t piece = last <= most ? last : even_piece(last, most, lanes);
  p.lines = 1;
  for (int64_t lines = 2; lines <= std::min(all, most / piece); ++lines)
    if (wasted(lines * piece) * p.lines <= wasted(p.lines * piece) * lines) p.lines = lines;
  p.tile_columns = p.lines * piece;
  return true;
}

// Several inner axes of which the last is known: parts have whole lines of it, along which lanes go
// where factors are contiguous along them.
void take_inner_lines(const Domain& domain, Product& p) {
  constexpr int64_t kShortestLine = 12;
  if (p.inner.size() < 2 || !(p.rows_along_inner || p.columns_along_inner)) return;
  const auto line = domain.axes[static_cast<size_t>(p.inner.back())].extent.constant();
  if (!line || *line < kShortestLine || *line > kInnerOfTile * p.terms || *line % p.terms != 0) return;
  p.inner_lines = std::max<int64_t>(1, p.tile_inner / *line);
  p.tile_inner = p.inner_lines * *line;
}

// Sums of few rows with columns that are contiguous along the one inner axis wait for memory:
// panels of those would only be another copy.
bool take_few_rows(const Graph& graph, const Group& group, Product& p, int64_t rows, int64_t columns, int64_t inner,
                   int64_t lanes) {
  constexpr int64_t kFewRows = 64, kFewRowsOfDots = 16, kFewRowsOfTiles = 6, kSteps = 8, kTotals = 24, kTile = 48,
                    kStagedTile = 24;
  constexpr int64_t kPart = 2048, kLeastPart = 512, kPanel = 1 << 15;  // elements
  const auto sums = static_cast<int64_t>(p.sums.size());
  if (p.units == DType::I8 || p.inner.size() > 1 || !p.rows_along_inner || !p.columns_along_inner ||
      rows > (p.tiles   ? kFewRowsOfTiles
              : p.units ? kFewRowsOfDots
                        : kFewRows) ||
      inner < kSteps * lanes || sums > 2)
    return false;
  p.few_rows = true;
  p.units.reset(), p.tiles.reset();
  p.terms = 1, p.moved_rows = p.whole = false;
  p.rows_in_place = p.columns_in_place = false;
  // As many rows as leave the fewest over.
  p.block_rows = rows;
  if (rows > 6)
    for (int64_t r = p.block_rows = 6; r >= 4; --r)
      if (round_up(rows, r) < round_up(rows, p.block_rows)) p.block_rows = r;
  p.block_columns = std::clamp<int64_t>(kTotals / (p.block_rows * sums), 1, 8);
  p.tile_rows = round_up(rows, p.block_rows);
  p.stages_columns = rows > p.block_rows && std::any_of(p.sums.begin(), p.sums.end(), [&](const ProductSum& sum) {
                       return is_computed(graph, group, sum.columns);
                     });
  p.tile_columns =
      std::min(round_up(p.stages_columns ? kStagedTile : kTile, p.block_columns), round_up(columns, p.block_columns));
  p.tile_inner = std::min(std::clamp(kPanel / rows / 16 * 16, kLeastPart, kPart), round_up(inner, 16));
  return true;
}

// Rows of a block: as many as registers have, where that leaves few over. Blocks of less than four
// rows wait for their sums.
int64_t rows_of_block(const Domain& domain, const Product& p, int64_t most) {
  const int64_t rows = estimate_of(domain, p.rows);
  if (rows >= kTileRows) return most;
  const bool exact = count_of(domain, p.rows).constant().has_value();
  const auto cycles = [](int64_t block) { return block == 0 ? 0 : std::max<int64_t>(block, 4) + 1; };
  int64_t best = most, least = std::numeric_limits<int64_t>::max();
  for (int64_t r = most; r >= std::max<int64_t>(1, 2 * most / 3); --r) {
    const int64_t all = exact ? rows / r * cycles(r) + cycles(rows % r) : round_up(rows, r);
    if (r == most || all * 32 < least * 31) best = r, least = all;
  }
  return best;
}

// Rows that half of the ways of the second-level cache have, 16 as a rule, where their lines begin
// at few of its sets.
int64_t rows_that_stay(int64_t apart, int64_t l2_bytes) {
  const int64_t way = l2_bytes / 16;
  return 8 * (way / std::gcd(apart, way));
}

// Blocks read factors where they lie: rows along the inner axes, if a tile of them stays in the
// second-level cache or few columns need it, and what of others has its lines in different sets of
// the first-level cache, whose ways have 4 KiB. Columns that many rows use are packed all the same,
// next to each other.
void read_in_place(const Graph& graph, const Domain& domain, const Target& target, int64_t lanes, Product& p) {
  constexpr int64_t kWay = 4096, kLine = 64, kMostInSet = 8, kFewRows = 512, kFewColumns = 128;
  const auto known = [&](const std::vector<int>& axes) { return count_of(domain, axes).constant(); };
  const auto rows = known(p.rows), columns = known(p.columns), inner = known(p.inner);
  if (!rows || !columns || !inner || (p.units && !p.tiles)) return;
  const DType multiplied = p.tiles ? p.tiles->rows : compute_type(graph.at(p.sums[0].node).dtype);
  const auto is_read = [&](const std::optional<Lines>& lines) {
    return lines && lines->dtype == multiplied && (p.tiles || !lines->is_cast);
  };
  const auto stay = [&](int64_t lines, int64_t apart, int64_t bytes) {
    return lines * std::max(std::gcd(apart, kWay), bytes) <= kMostInSet * kWay;
  };
  if (is_read(p.lines_of_rows) && p.rows_along_inner)
    p.rows_in_place = *columns <= kFewColumns ||
                      rows_that_stay(p.lines_of_rows->apart, target.l2_bytes) >= std::min(*rows, kTileRows);
  if (p.tiles) {
    const bool whole = *rows % kSideOfTile == 0 && *inner % (kSideOfTile * p.terms) == 0;
    p.rows_in_place = p.rows_in_place && whole && p.lines_of_rows->axis >= 0;
    return;
  }
  if (is_read(p.lines_of_rows) && !p.rows_along_inner) p.rows_in_place = stay(*inner, p.lines_of_rows->apart, kLine);
  p.columns_in_place = is_read(p.lines_of_columns) && !p.columns_along_inner && *rows <= kFewRows &&
                       stay(*inner, p.lines_of_columns->apart, lanes * bytes_of_sums(graph, p));
}

// Bytes that a thread has on chip: words of the panels, and the sums, which are those of a block
// where they are complete at once.
int64_t bytes_of_tile(const Domain& domain, const Product& p) {
  constexpr int64_t kWord = 4;
  const bool at_once = p.lines == 0 && estimate_of(domain, p.inner) <= p.tile_inner;
  const auto sums = static_cast<int64_t>(p.sums.size());
  const int64_t packed = (p.rows_in_place ? 0 : p.tile_rows) + p.tile_columns;
  return sums * kWord * (packed * p.tile_inner / p.terms + (at_once ? 0 : p.tile_rows * p.tile_columns));
}

// The most rows of a tile. Those that are read where they lie stay in the second-level cache. In a
// batch, as of attention, what they are read from fits into half of that cache, and so do their
// results: other kernels make the one and read the other slice by slice.
int64_t most_rows_of_tile(const Graph& graph, const Domain& domain, const Product& p, int64_t l2_bytes) {
  int64_t most = p.tiles ? kMostOfTiles : kTileRows;
  if (p.rows_in_place && p.rows_along_inner)
    most = std::clamp(rows_that_stay(p.lines_of_rows->apart, l2_bytes), 2 * p.block_rows, most);
  if (p.batch.empty()) return most;
  int64_t made = 0;
  for (const Output& o : domain.outputs) made += size_of(graph.at(o.node).dtype) * estimate_of(domain, p.columns);
  const int64_t read = estimate_of(domain, p.inner) * 4 / p.terms;
  while (most > kTileRows && most * std::max(made, read) > l2_bytes / 2) most /= 2;
  return most;
}

// The tile that takes the fewest cycles on the thread that has most of them, and how many. Panels
// are packed again for each tile.
double choose_tile(const Graph& graph, const Domain& domain, Product& p, const Target& target, int64_t lanes,
                   double stored) {
  const double batch = static_cast<double>(estimate_of(domain, p.batch)),
               inner = static_cast<double>(estimate_of(domain, p.inner));
  const int64_t rows = estimate_of(domain, p.rows), columns = estimate_of(domain, p.columns);
  const auto sums = static_cast<double>(p.sums.size());
  // Results that get a word's products in a cycle.
  const auto at_once = static_cast<double>(p.tiles ? kSideOfTile * kSideOfTile : lanes);
  // Sums of matrix units are loaded from the second-level cache and stored there for each part.
  // Large panels are not in the cache any more when they are read.
  constexpr double kAddedUp = 0.17, kLargePanel = 0.15;
  const double parts = ceil_ratio(inner, static_cast<double>(p.tile_inner)),
               each = stored + (p.tiles && parts > 1 ? parts * kAddedUp : 0);
  const int64_t top_rows = most_rows_of_tile(graph, domain, p, target.l2_bytes),
                top_columns = p.tiles ? kMostOfTiles : kTileColumns;
  double least = std::numeric_limits<double>::infinity();
  Product best = p;
  bool best_fits = false;
  for (int64_t most_columns = top_columns; most_columns >= std::min(kTileColumns, 2 * lanes); most_columns /= 2) {
    Product tried = p;
    if (!take_lines(domain, tried, most_columns, lanes)) tried.tile_columns = even_piece(columns, most_columns, lanes);
    const auto [row, of_column] = cycles_to_pack(domain, tried, target.l2_bytes);
    const bool is_large = p.tiles && tried.tile_columns * tried.tile_inner / p.terms * 4 > target.l2_bytes / 8;
    const double column = of_column + (is_large ? kLargePanel : 0);
    for (int64_t most_rows = top_rows; most_rows >= std::min(kTileRows, 2 * p.block_rows); most_rows /= 2) {
      tried.tile_rows = even_piece(rows, most_rows, p.block_rows);
      const bool fits = !p.tiles || bytes_of_tile(domain, tried) <= target.l2_bytes / 2;
      if (!fits && best_fits) continue;
      const double tiles = batch * ceil_ratio(static_cast<double>(rows), static_cast<double>(tried.tile_rows)) *
                           ceil_ratio(static_cast<double>(columns), static_cast<double>(tried.tile_columns));
      const auto high = static_cast<double>(tried.tile_rows),
                 wide = static_cast<double>(round_up(tried.tile_columns, lanes));
      const double of_tile =
          sums * (inner / static_cast<double>(p.terms) * (high * wide / at_once + wide * column + high * row) +
                  high * wide * each);
      const double cycles = ceil_ratio(tiles, target.threads) * of_tile;
      if (cycles < least || !best_fits) least = cycles, best = tried, best_fits = fits;
    }
  }
  p = best;
  return least;
}

// Chooses how long the parts of the inner axes are that matrix units multiply, with the tiles: long
// ones add up sums less often, short ones leave more of the cache to tiles.
double settle_parts(const Graph& graph, const Domain& domain, const Target& target, double stored, Product& p) {
  double least = std::numeric_limits<double>::infinity();
  Product best;
  for (const int64_t words : kInnerOfTiles) {
    Product tried = p;
    tried.tile_inner = even_piece(estimate_of(domain, p.inner), words * p.terms, kSideOfTile * p.terms);
    take_inner_lines(domain, tried);
    read_in_place(graph, domain, target, p.block_columns, tried);
    const double cycles = choose_tile(graph, domain, tried, target, p.block_columns, stored);
    if (cycles < least) least = cycles, best = tried;
  }
  p = best;
  return least;
}

// Chooses blocks and tiles; cycles of the thread that has most of them. `stored`: those of storing
// a result.
double settle(const Graph& graph, const Group& group, const Domain& domain, const Options& options, double stored,
              Product& p) {
  take_dot_products(graph, group, domain, options.target, p);
  if (p.tiles) {
    take_tiles(domain, p);
    return settle_parts(graph, domain, options.target, stored, p);
  }
  // Results of a block: vectors of two registers, in as many rows as leave some for the factors.
  const int64_t lanes = 2 * natural_lanes(options.target) * 4 / (p.units ? 4 : bytes_of_sums(graph, p));
  const int64_t registers = options.target.vector_bits >= 512 ? 32 : 16, rows = estimate_of(domain, p.rows);
  p.block_columns = lanes;
  p.block_rows = std::max<int64_t>(1, (registers - 4) / 2 / static_cast<int64_t>(p.sums.size()));
  if (p.block_rows > 6) p.block_rows = p.block_rows / 6 * 6;
  p.block_rows = rows_of_block(domain, p, std::min(p.block_rows, rows));
  p.tile_inner = even_piece(estimate_of(domain, p.inner), kInnerOfTile * p.terms, 16);
  take_inner_lines(domain, p);
  read_in_place(graph, domain, options.target, lanes, p);
  return choose_tile(graph, domain, p, options.target, lanes, stored);
}

// With rows for columns: results are stored across their lanes, and the other factor is turned.
Product turned(Product p) {
  std::swap(p.rows, p.columns);
  std::swap(p.rows_along_inner, p.columns_along_inner);
  std::swap(p.rows_far_apart, p.columns_far_apart);
  std::swap(p.lines_of_rows, p.lines_of_columns);
  for (ProductSum& sum : p.sums) std::swap(sum.rows, sum.columns);
  return p;
}

}  // namespace

PackingCycles cycles_to_pack(const Domain& domain, const Product& p, int64_t l2_bytes) {
  // AVX-512, words of 4 bytes, packed or read in place: neighbours, blocks that are turned, lines,
  // and lanes that go over several axes; for matrix units also what comes from memory, which
  // nothing hides.
  constexpr double kNeighbours = 0.15, kTurned = 0.6, kInLines = 1.0, kGathered = 1.5, kFromMemory = 1;
  const bool gathered = p.rows_along_inner ? p.inner.size() > 1 && p.inner_lines == 0 : p.rows.size() > 1;
  const auto from_memory = [&](const std::vector<int>& own) {
    const int64_t bytes = estimate_of(domain, own) * estimate_of(domain, p.inner) / p.terms * 4;
    return p.tiles && bytes > l2_bytes ? kFromMemory : 0;
  };
  const double row = p.rows_far_apart                 ? kCyclesOfFar
                     : gathered                       ? kGathered
                     : p.tiles && !p.rows_along_inner ? kTurned
                                                      : kNeighbours;
  const double column = p.columns_far_apart     ? kCyclesOfFar
                        : p.lines > 0           ? kInLines
                        : p.columns_along_inner ? kTurned
                                                : kNeighbours;
  return {row + from_memory(p.rows), column + from_memory(p.columns)};
}

std::optional<Schedule> product_on_cpu(const Graph& graph, const Domain& domain, const Group& group,
                                       const Options& options) {
  auto found = large_product(graph, group, domain, kFewestOfFewRows);
  if (!found) return std::nullopt;
  auto& [p, rows, columns, inner, bytes] = *found;
  constexpr double kAlongLanes = 0.5, kAcrossLanes = 2, kMuchLess = 0.85;
  Product other = turned(p);
  const double cycles = settle(graph, group, domain, options, kAlongLanes, p);
  const bool few_rows = take_few_rows(graph, group, p, rows, columns, inner, natural_lanes(options.target) * 4 / bytes);
  if (!few_rows && std::min(rows, columns) >= kFewestOfRows &&
      settle(graph, group, domain, options, kAcrossLanes, other) < kMuchLess * cycles)
    p = std::move(other), std::swap(rows, columns);
  Schedule s;
  s.strategy = Strategy::Product;
  s.domain = domain;
  s.tile = p.tile_columns;
  s.lanes = static_cast<int>(few_rows ? natural_lanes(options.target) * 4 / bytes : p.block_columns);
  if (few_rows) {
    s.note = fmt::format("products of {} x {} x {}, {} columns of {} at a time, {} x {} sums along the inner axis",
                         rows, columns, inner, p.tile_columns, p.tile_inner, p.block_rows, p.block_columns);
    s.product = std::move(p);
    return s;
  }
  if (rows < kFewestOfRows) return std::nullopt;
  s.note = fmt::format("products of {} x {} x {} in tiles of {} x {}, {} at a time; {} x {} results in registers{}",
                       rows, columns, inner, p.tile_rows, p.tile_columns, p.tile_inner, p.block_rows, p.block_columns,
                       !p.units  ? ""
                       : p.tiles ? fmt::format(", matrix units of {}", name_of(*p.units))
                                 : fmt::format(", dot products of {}", name_of(*p.units)));
  s.product = std::move(p);
  return s;
}

}  // namespace smelt::schedule

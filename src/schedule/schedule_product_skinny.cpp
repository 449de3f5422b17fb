// Products of few rows on a GPU with matrix units. What limits them is how fast the columns'
// factor, as weights of a network, comes from memory, and what it is computed from comes fastest to
// registers: nobody waits for others, and nothing is written on chip.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "schedule/schedule_gpu.hpp"
#include "schedule/skinny.hpp"

namespace smelt::schedule {
namespace {

constexpr int kLanes = 16;       // neighbours along the inner axes that a thread reads of each row and column
constexpr int kLanesOfWarp = 4;  // threads of a warp along the inner axes

}  // namespace

bool is_skinny(const Tuning& tuning) { return tuning.turned && tuning.threads > 0; }

std::vector<Tuning> proposed_skinny(int64_t rows) {
  std::vector<Tuning> tunings;
  if (rows > kMostOfSkinny) return tunings;
  const int64_t tile_rows = steps_of(rows, kStepOfSkinny) * kStepOfSkinny;
  for (const int64_t columns : {16, 32})
    for (const int warps : {4, 8, 16})
      for (const int parts : {2, 1}) {
        Tuning tuning;
        tuning.turned = true;
        tuning.tile = tile_rows, tuning.lanes = static_cast<int>(columns), tuning.threads = kWarp * warps;
        tuning.unroll = kLanes * kLanesOfWarp * warps * parts;
        tuning.cluster = parts;
        tunings.push_back(tuning);
      }
  return tunings;
}

// Fitted to what the assembler takes.
int64_t registers_of_skinny(const Product& p) {
  constexpr int64_t kOthers = 35, kOfParts = 16;  // of three parts
  std::set<NodeId> rows, columns;
  for (const ProductSum& sum : p.sums) rows.insert(sum.rows), columns.insert(sum.columns);
  const int64_t steps = p.tile_rows / kStepOfSkinny * static_cast<int64_t>(rows.size()),
                blocks = p.tile_columns / 16 * static_cast<int64_t>(columns.size());
  const int64_t sums = p.tile_rows * p.tile_columns / kWarp * static_cast<int64_t>(p.sums.size());
  return std::min<int64_t>(255, kOthers + sums + kOfParts * (p.skinny->parts * (steps + blocks) + blocks) / 3);
}

std::optional<Schedule> in_registers(const LargeProduct& found, const Domain& domain, const Options& options,
                                     const Tuning& tuning) {
  Product p = found.product;
  if (!p.units || p.whole || found.rows > kMostOfSkinny || !p.rows_along_inner || !p.columns_along_inner)
    return std::nullopt;
  if (options.target.plain || options.target.compute < 80) return std::nullopt;
  // Rows of memory that begin anywhere are read element by element.
  if (found.inner % kLanes != 0) return std::nullopt;
  p.tile_rows = tuning.tile, p.tile_columns = tuning.lanes, p.tile_inner = tuning.unroll;
  p.skinny = Skinny{tuning.threads / kWarp, tuning.cluster};
  if (tuning.cluster < 1 || tuning.unroll != kLanes * kLanesOfWarp * p.skinny->warps * p.skinny->parts ||
      tuning.tile % kStepOfSkinny != 0 || (tuning.lanes != 16 && tuning.lanes != 32))
    return std::nullopt;
  constexpr int64_t kRegisters = 65536, kMostSums = 64;
  const auto sums = static_cast<int64_t>(p.sums.size());
  const int64_t registers = registers_of_skinny(p);
  if (p.tile_rows * p.tile_columns / kWarp * sums > kMostSums || registers * tuning.threads > kRegisters)
    return std::nullopt;
  p.block_rows = p.tile_rows, p.block_columns = p.tile_columns;
  Schedule s;
  s.strategy = Strategy::Product;
  s.domain = domain;
  s.team = s.workgroup = tuning.threads;
  s.lanes = kLanes;
  s.tile = p.tile_columns;
  s.note = fmt::format("products of {} x {} x {} in registers, tiles of {} x {}, {} terms at a time", found.rows,
                       found.columns, found.inner, p.tile_rows, p.tile_columns, p.tile_inner);
  s.product = std::move(p);
  return s;
}

}  // namespace smelt::schedule

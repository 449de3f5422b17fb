// Products of tiles, by AMX. Intrinsics name the registers, as LLVM's own choice of them may spill
// tiles wrongly (llvm issue 110190): the sums are in the first ones, the factors of a step in the
// others.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"
#include "kernel/walk.hpp"

namespace smelt::emit {

using kernel::TileProduct;

namespace {

constexpr int kRegisters = 8, kRowsOfTile = 16, kBytesOfRow = 64;

std::string_view instruction(const TileProduct& s) {
  if (s.rows_type == DType::BF16) return "tdpbf16ps";
  if (s.rows_type == DType::I8) return s.columns_type == DType::I8 ? "tdpbssd" : "tdpbsud";
  return s.columns_type == DType::I8 ? "tdpbusd" : "tdpbuud";
}

bool has_tiles(const std::vector<kernel::Stmt>& body) {
  bool found = false;
  kernel::for_each_stmt(body, [&](const kernel::Stmt& s) { found = found || s.is<TileProduct>(); });
  return found;
}

}  // namespace

// All registers have whole tiles: a palette, then bytes of a row in 16 bits and rows, of each.
void PhasePrinter::configure_tiles() {
  has_tiles_ = has_tiles(kernel_.phases[static_cast<size_t>(phase_)].body);
  if (!has_tiles_) return;
  constexpr int kWidths = 16, kHeights = 48;
  std::string bytes;
  for (int i = 0; i < 64; ++i) {
    const bool width = i >= kWidths && i < kWidths + 2 * kRegisters && i % 2 == 0,
               height = i >= kHeights && i < kHeights + kRegisters;
    bytes += fmt::format("{}i8 {}", i ? ", " : "", i == 0 ? 1 : width ? kBytesOfRow : height ? kRowsOfTile : 0);
  }
  define_stack("%tiles", "[64 x i8]");
  line(fmt::format("store <64 x i8> <{}>, ptr %tiles, align 64", bytes));
  line("call void @llvm.x86.ldtilecfg(ptr %tiles)");
}

// The address of one of a block's tiles.
std::string PhasePrinter::tile_at(const Block& block, int down, int across) {
  const std::string by = down == 0 ? "0" : name(top(), fmt::format("mul i64 {}, {}", block.stride, down * kRowsOfTile));
  const std::string row = name(top(), fmt::format("getelementptr i8, ptr {}, i64 {}", block.first, by));
  return name(top(), fmt::format("getelementptr i8, ptr {}, i64 {}", row, across * kBytesOfRow));
}

// Adds the products of one tile of words of each row and column. The shorter side stays in its
// registers, tiles of the other take turns in what is left.
void PhasePrinter::multiply_step(const TileProduct& s, const Block& rows, const Block& columns) {
  const int sums = s.down * s.across;
  const auto load = [&](bool of_rows, int t, int into) {
    const Block& from = of_rows ? rows : columns;
    line(fmt::format("call void @llvm.x86.tileloadd64(i8 {}, ptr {}, i64 {})", into,
                     of_rows ? tile_at(rows, t, 0) : tile_at(columns, 0, t), from.stride));
  };
  const bool few_rows = s.down <= s.across;
  const int kept = few_rows ? s.down : s.across, passing = few_rows ? s.across : s.down;
  for (int t = 0; t < kept; ++t) load(few_rows, t, sums + t);
  for (int t = 0; t < passing; ++t) {
    const int in = sums + kept + t % (kRegisters - sums - kept);
    load(!few_rows, t, in);
    for (int k = 0; k < kept; ++k) {
      const int sum = few_rows ? k * s.across + t : t * s.across + k;
      line(fmt::format("call void @llvm.x86.{}(i8 {}, i8 {}, i8 {})", instruction(s), sum, few_rows ? sums + k : in,
                       few_rows ? in : sums + k));
    }
  }
}

// The rows of an array.
PhasePrinter::Block PhasePrinter::rows_of(const TileProduct& s) {
  const Place p = place(s.rows);
  const IntExpr& apart = kernel_.params[static_cast<size_t>(s.rows.array)].strides[static_cast<size_t>(s.rows_axis)];
  return {pointer(p, p.offset).text, integer(apart * size_of(p.dtype)).text};
}

void PhasePrinter::tile_product(const TileProduct& s) {
  SMELT_CHECK(!vector_.loop, "tiles are multiplied inside of a vector loop");
  const int label = ++labels_, sums = s.down * s.across;
  const Block into = block_of(s.into), rows = s.rows_axis < 0 ? block_of(s.rows) : rows_of(s),
              columns = block_of(s.columns);
  const std::string words = integer(s.words).text;
  line(fmt::format("; tiles to scratch{}", s.into.array));
  std::vector<std::string> places;
  for (int t = 0; t < sums; ++t) {
    places.push_back(tile_at(into, t / s.across, t % s.across));
    line(s.first
             ? fmt::format("call void @llvm.x86.tilezero(i8 {})", t)
             : fmt::format("call void @llvm.x86.tileloadd64(i8 {}, ptr {}, i64 {})", t, places.back(), into.stride));
  }
  const std::string before = fmt::format("before.tiles{}", label), at = fmt::format("%tiles{}.w", label);
  line(fmt::format("br label %{}", before));
  scopes_.back().text +=
      fmt::format("{0}:\n  br label %tiles{1}\ntiles{1}:\n  {2} = phi i64 [ 0, %{0} ], [ {2}.next, %tiles{1} ]\n",
                  before, label, at);

  const std::string down = name(top(), fmt::format("mul i64 {}, {}", at, columns.stride));
  multiply_step(s, {name(top(), fmt::format("getelementptr i32, ptr {}, i64 {}", rows.first, at)), rows.stride},
                {name(top(), fmt::format("getelementptr i8, ptr {}, i64 {}", columns.first, down)), columns.stride});
  line(fmt::format("{0}.next = add i64 {0}, {1}", at, kRowsOfTile));
  line(fmt::format("{0}.more = icmp ult i64 {0}.next, {1}", at, words));
  line(fmt::format("br i1 {0}.more, label %tiles{1}, label %tiled{1}", at, label));
  scopes_.back().text += fmt::format("tiled{}:\n", label);
  for (int t = 0; t < sums; ++t)
    line(fmt::format("call void @llvm.x86.tilestored64(i8 {}, ptr {}, i64 {})", t, places[static_cast<size_t>(t)],
                     into.stride));
  Changes changes = no_changes();
  changes[static_cast<size_t>(resource_of(s.into))] = true;
  forget(changes);
}

}  // namespace smelt::emit

// Split, with scans, on a GPU: long rows in parts that follow on each other, one to a workgroup, in
// one reading.
//
//   phase 0: what the parts meet in becomes 0
//   phase 1: grid %g over the rows and their parts, in order:
//     vector %i over the part, one step:  scan over the grid; store
//
// A part waits for what earlier parts add up to, never for a running value: those of its 32, of its
// 32 times 32, of all before, joined in a fixed order (emit/cuda_scan_grid.cpp).
#include "base/check.hpp"
#include "kernel/lower_row.hpp"

namespace smelt::kernel {

void RowLowering::split_scan() {
  const Axis& axis = vector_axis();
  const Symbol s = Symbol::loop("s"), c = Symbol::loop("c");
  const IntExpr tile = schedule_.tile, parts = launch_size(Symbol::launch("parts"), ceildiv(axis.extent, tile));
  Grid grid;
  scan_grid_ = ScanGrid{parts, {}, {}, {}};
  for (const Axis& a : domain().axes)
    if (!a.reduced) {
      grid.add(a.var, a.extent);
      scan_grid_->rows.push_back(a.extent);
    }
  Grid places = grid;  // of phase 0
  grid.add(s, parts);
  Placement placement;
  grid.decode(placement);
  for (const auto& [var, extent] : grid.dims) scan_grid_->at.push_back(placement.value_of.at(var));
  scan_grid_->at.insert(scan_grid_->at.end() - 1, IntExpr(0));
  scan_grid_->at.push_back(0);
  const Piece part = piece_at(placement, s, axis.extent, tile);
  placement.ranges[kLane] = {0, part.length - 1};
  placement.place(axis.var, directed(axis, part.first + IntExpr::symbol(kLane)));
  std::vector<Stmt> element;
  element_pass(0, {}, placement, element);
  std::vector<Stmt> body = take_scan_starts();
  body.push_back(vector(part.length, std::move(element)));

  // The first phase is made last, when it is known what must be 0.
  constexpr int64_t kBlock = 256;
  places.add(Symbol::loop("l"), 3);
  places.add(c, ceildiv(parts, kBlock));
  Placement zeroed;
  places.decode(zeroed);
  const Piece block = piece_at(zeroed, c, parts, kBlock);
  zeroed.ranges[kLane] = {0, block.length - 1};
  Index at;
  for (const auto& [var, extent] : places.dims) at.push_back(zeroed.value_of.at(var));
  at.back() = block.first + IntExpr::symbol(kLane);
  std::vector<Stmt> zeros, clear;
  for (const auto& [param, words] : scan_grid_->meets)
    for (int w = 0; w < words; ++w) {
      Index word = at;
      word.push_back(w);
      zeros.push_back(builder_.store({false, param, word}, builder_.constant(Scalar::of_uint(DType::U64, 0))));
    }
  clear.push_back(loop(LoopKind::Vector, kLane, block.length, std::move(zeros), 1));
  add_phase(places.extent(), std::move(clear), kBlock);
  kernel_.phases.back().team = {static_cast<int>(kBlock), static_cast<int>(kBlock)};
  add_phase(grid.extent(), std::move(body), tile);
  // The last word of the third level, which has a total for every 1024 parts only.
  kernel_.phases.back().counter = scan_grid_->meets[0].first;
  scan_grid_.reset();
}

}  // namespace smelt::kernel

// Rows: lanes are neighbours of a reduced axis, or of all of them. Internal to this folder.
#pragma once

#include <optional>
#include <vector>

#include "kernel/lower_reduction.hpp"

namespace smelt::kernel {

// The loops of one pass over a row: `serial` ones outside, then a vector loop "%i".
struct RowLoops {
  LoopExtents serial;
  IntExpr vector_extent = 1;
  bool blocked = false;  // one serial loop runs over blocks: each has accumulators of its own
  size_t inside = 0;     // serial loops inside of that one
};

// What a serial loop of a pass over a row runs over: `length` points of an axis from `first` on.
struct RowPart {
  const Axis* axis = nullptr;
  std::optional<Symbol> var;
  IntExpr first, length;
  int64_t estimate = 0;
};

class RowLowering : public ReductionLowering {
 public:
  using ReductionLowering::ReductionLowering;

 private:
  void phases() override;
  void row();
  Stmt results_of_rows(const Piece& rows, const std::vector<Accumulator>& done, Placement placement,
                       std::vector<Stmt>& row);
  // `first`, `length` and `estimate` are of the vector axis; `part` is of another axis, where only
  // a part of that is passed over.
  RowLoops row_loops(Placement& placement, const IntExpr& first, const IntExpr& length, int64_t estimate,
                     const RowPart& part = {}) const;
  RowLoops flat_loops(Placement& placement, const RowPart& part = {}) const;
  Loop over_tile(std::vector<Stmt> body) const;
  std::vector<Stmt> column_outputs(int level, Placement placement);
  std::vector<Accumulator> row_accumulators(const RowLoops& loops, const Placement& placement, int level);
  std::vector<Stmt> row_pass(const RowLoops& loops, const std::vector<Accumulator>& accs, std::vector<Stmt> body);
  void split_scan();  // lower_split_scan.cpp
  // lower_split.cpp
  void split_rows();
  IntExpr wanted_rows(const Axis& axis) const;
  IntExpr wanted_tiles() const;
  int64_t points_of_step() const;
  RowLoops part_loops(const SplitAxis& split, const Piece& rows, Placement& placement) const;
  void combine_rows(const Grid& grid, const SplitAxis& split, const std::vector<Accumulator>& accs,
                    const std::vector<Partial>& parts);
  Index partial_at(const Grid& grid, const Placement& placement, const IntExpr& part, const IntExpr& column) const;
};

}  // namespace smelt::kernel

// Columns: lanes are neighbours of a kept axis. Internal to this folder.
#pragma once

#include <vector>

#include "kernel/lower_reduction.hpp"

namespace smelt::kernel {

struct NarrowRows;  // lower_split_narrow.cpp

// The loops of one phase over tiles of columns: `serial` ones run down a column, whose rows may be
// a part of a split axis.
struct ColumnLoops {
  Grid outer;     // the outer kept axes
  IntExpr count;  // iterations of the grid
  Placement placement;
  IntExpr width, part;  // columns of the tile; number of the part
  Piece rows;           // of the part
  LoopExtents serial;
  size_t blocks = 0;  // so many of them go over blocks, each of which has accumulators of its own
  int together = 1;   // steps of the innermost
};

class ColumnLowering : public ReductionLowering {
 public:
  using ReductionLowering::ReductionLowering;

 private:
  void phases() override;
  void column();
  void split_columns();
  SplitAxis rows_in_parts(const IntExpr& most);
  ColumnLoops column_loops(const SplitAxis* split) const;
  void block_rows(ColumnLoops& loops) const;
  PassLoops column_passes(const ColumnLoops& loops);
  std::vector<Stmt> down_columns(const ColumnLoops& loops, const std::vector<Accumulator>& accs,
                                 std::vector<Stmt> body);
  Shape column_partials(const SplitAxis& split) const;
  Index column_partial_at(const Placement& placement, const IntExpr& part) const;
  std::vector<Stmt> joined_parts(Placement placement, const SplitAxis& split, const std::vector<Accumulator>& accs,
                                 const std::vector<Partial>& parts);
  void combine_columns(Grid grid, const SplitAxis& split, const std::vector<Accumulator>& accs,
                       const std::vector<Partial>& parts);
  // lower_column_rows.cpp
  struct Carried {
    std::vector<Stmt> begin, take, put;
  };
  void columns_in_rows();
  void split_columns_in_rows();
  Carried carry(const std::vector<Stmt>& starts);
  std::vector<Stmt> read_by(const std::vector<Stmt>& lanes, const std::vector<Stmt>& takes) const;
  std::vector<Stmt> once_a_column(const ColumnLoops& loops, const std::vector<Stmt>& known, std::vector<Stmt>& lanes);
  std::vector<Stmt> rows_of_tile(const ColumnLoops& loops, const std::vector<Accumulator>& accs, const Carried& carried,
                                 std::vector<Stmt> lanes, std::vector<Stmt>& known);
  // lower_split_scan_down.cpp
  struct PartScan {
    RunningScan scan;
    DType dtype;
    // Params: what each part of a column joins to, whether the scan restarts in it or the product
    // of its factors (-1: neither), and what all up to it join to.
    int totals, second, joined;
  };
  void split_scans();
  std::vector<PartScan> total_parts(const SplitAxis& split, const ColumnLoops& loops);
  void join_totals(const SplitAxis& split, const std::vector<PartScan>& scans);
  // lower_split_narrow.cpp
  void split_narrow();
  struct ScratchPair {
    int value = -1, index = -1;  // buffers
  };
  void narrow_loops(NarrowRows& rows, const SplitAxis& split, const Grid& outer) const;
  void narrow_steps(const NarrowRows& rows, const std::vector<Accumulator>& totals,
                    const std::vector<ScratchPair>& scratch, std::vector<Stmt>& body);
  void narrow_rest(const NarrowRows& rows, const Placement& placement, const std::vector<Accumulator>& totals,
                   const std::vector<ScratchPair>& scratch, std::vector<Stmt>& body);
};

}  // namespace smelt::kernel

// Stencil: down the rows of a strip of columns. Internal to this folder.
#pragma once

#include <functional>
#include <vector>

#include "kernel/lowering.hpp"

namespace smelt::kernel {

class StencilLowering : public Lowering {
 public:
  using Lowering::Lowering;

 private:
  void phases() override;
  void lines();      // on a CPU: rings are lines in scratch
  void registers();  // on a GPU: rings are registers
  // Where a step of a stencil is: the evaluation of one ring (or, at -1, of the outputs).
  struct StencilStep {
    Placement placement;
    int64_t left = 0, right = 0, start = 0;  // of what is evaluated
  };
  // The loops of a row, on a CPU.
  struct StencilRow {
    StencilStep outputs;
    IntExpr first, strip, width,
        t;                     // first column, columns that there is memory for, columns; the number of the row, from 0
    std::vector<int> buffers;  // of the rings
  };
  struct Columns {
    int64_t left = 0, right = 0;  // beyond the strip
  };
  Columns columns_of(const schedule::Ring* ring) const;
  std::vector<int> ring_buffers(const IntExpr& strip);
  std::vector<Stmt> stencil_loop(const StencilRow& row, size_t loop, const std::vector<size_t>& active);
  std::vector<Stmt> stencil_row(const StencilRow& row);
  std::vector<Stmt> stencil_warm_up(const StencilRow& row);
  void read_rings(const StencilStep& step, const std::function<ExprId(size_t, const schedule::RingPlace&)>& read);
  Grid stencil_grid(Placement& placement, Piece& rows, Piece& columns) const;
};

}  // namespace smelt::kernel

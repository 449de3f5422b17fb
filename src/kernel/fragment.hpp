// Which sums of a tile a thread has: what loops over the registers of a fragment evaluate at.
#pragma once

#include "kernel/kernel.hpp"

namespace smelt::kernel {

struct PairAt {
  IntExpr row, column;  // of the first of two neighbours
};

// Whether every warp has whole rows, 16 of them: then loops may go over the registers.
inline bool has_pairs(const Fragment& f) { return f.down * 16 == f.rows && f.columns % 16 == 0; }

// Pair `i` of a Vector loop over Fragment::pairs(), one at a time to each of 32 * down threads:
// pair i / threads of thread i % threads. As mma.m16n8k16 and wgmma have accumulators (PTX ISA):
// lane l of a warp has columns 2 * (l % 4) and the next of each 8, in rows l / 4 and 8 more.
PairAt pair_at(const Fragment& f, const IntExpr& i, const Ranges& ranges);

}  // namespace smelt::kernel

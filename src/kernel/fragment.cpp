#include "kernel/fragment.hpp"

namespace smelt::kernel {

PairAt pair_at(const Fragment& f, const IntExpr& i, const Ranges& ranges) {
  const int64_t threads = int64_t{32} * f.down;
  const IntExpr thread = mod(i, threads, ranges), pair = floordiv(i, threads, ranges);
  const IntExpr lane = mod(thread, 32, ranges);
  return {floordiv(thread, 32, ranges) * 16 + floordiv(lane, 4, ranges) + mod(pair, 2, ranges) * 8,
          floordiv(pair, 2, ranges) * 8 + mod(lane, 4, ranges) * 2};
}

}  // namespace smelt::kernel

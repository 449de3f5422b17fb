#include <algorithm>
#include <exception>

#include "runtime/cpu.hpp"

namespace smelt::runtime {

void parallel_for(int threads, int64_t count, int64_t grain,
                  const std::function<void(int thread, int64_t begin, int64_t end)>& body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t grains = count / grain + (count % grain != 0);
  const int64_t pieces = std::min<int64_t>(std::max(threads, 1), grains);
  if (pieces == 1) return body(0, 0, count);

  // The first pieces get one grain more when the grains do not divide evenly.
  const int64_t each = grains / pieces, more = grains % pieces;
  std::exception_ptr failure;
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(pieces))
  for (int64_t p = 0; p < pieces; ++p) {
    try {
      const int64_t begin = (p * each + std::min(p, more)) * grain;
      const int64_t end = p + 1 == pieces ? count : ((p + 1) * each + std::min(p + 1, more)) * grain;
      body(static_cast<int>(p), begin, end);
    } catch (...) {
#pragma omp critical(smelt_parallel_for_failure)
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace smelt::runtime

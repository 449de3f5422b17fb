// Operations of the module's own code, over the matrices or rows of an array.
#pragma once

#include <algorithm>
#include <cstdint>

#include "binding.hpp"
#include "runtime/cpu.hpp"

namespace smelt::python {

// body(i) for each i below `count`, on the threads of the call; each takes about `work` operations.
template <class Body>
void for_each_of(const CustomCall& call, int64_t count, double work, Body body) {
  constexpr double kPiece = 32768;  // operations that are worth handing to another thread
  const auto grain = static_cast<int64_t>(std::max(1.0, kPiece / std::max(work, 1.0)));
  runtime::parallel_for(call.threads, count, grain, [&](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

inline double cube(int64_t n) { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); }

}  // namespace smelt::python

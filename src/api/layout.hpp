// How an argument lies in memory, and what its specialization makes of it.
#pragma once

#include "base/tensor.hpp"
#include "graph/input_layouts.hpp"

namespace smelt::detail {

// The layout of an array whose axes, put in order, end with one whose elements are neighbours, and
// in which no element is repeated. Row-major for the others, which are copied, for arrays so small
// that kernels of their own are not worth it, and for those with gaps if these are not read
// (`gaps`).
MemoryLayout memory_layout(const TensorView& array, bool gaps);

// The same array with its axes in the order of memory.
TensorView in_order(const MemoryLayout& layout, TensorView view);

}  // namespace smelt::detail

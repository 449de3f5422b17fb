#include "api/layout.hpp"

#include <algorithm>
#include <numeric>

namespace smelt::detail {

MemoryLayout memory_layout(const TensorView& array, bool gaps) {
  constexpr int64_t kLeastBytes = 1 << 16;
  const size_t rank = array.dims.size();
  if (rank < 2 || array.bytes() < kLeastBytes || array.contiguous()) return {};
  MemoryLayout layout;
  layout.order.resize(rank);
  std::iota(layout.order.begin(), layout.order.end(), 0);
  // An axis of one element may have any stride: it stays where it is.
  const auto stride = [&](int axis) {
    for (auto d = static_cast<size_t>(axis); d < rank; ++d)
      if (array.dims[d] != 1) return array.strides[d];
    return int64_t{0};
  };
  std::stable_sort(layout.order.begin(), layout.order.end(), [&](int a, int b) { return stride(a) > stride(b); });
  layout.strides.resize(rank);
  int64_t apart = 1;  // of neighbours along an axis that has no gaps
  bool has_gaps = false;
  for (size_t d = rank; d-- > 0;) {
    const auto axis = static_cast<size_t>(layout.order[d]);
    if (array.dims[axis] != 1) {
      if (array.strides[axis] < apart || (apart == 1 && array.strides[axis] != 1)) return {};
      has_gaps = has_gaps || array.strides[axis] != apart;
      apart = array.strides[axis];
    }
    layout.strides[d] = apart;
    apart *= array.dims[axis];
  }
  if (has_gaps && !gaps) return {};
  if (!has_gaps) layout.strides.clear();
  if (std::is_sorted(layout.order.begin(), layout.order.end())) layout.order.clear();
  return layout;
}

TensorView in_order(const MemoryLayout& layout, TensorView view) {
  if (layout.order.empty()) return view;
  const Dims dims = view.dims, strides = view.strides;
  for (size_t d = 0; d < layout.order.size(); ++d) {
    const auto axis = static_cast<size_t>(layout.order[d]);
    view.dims[d] = dims[axis], view.strides[d] = strides[axis];
  }
  return view;
}

}  // namespace smelt::detail

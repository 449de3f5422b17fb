// Scatters in the reference: one update after the other.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/check.hpp"
#include "graph/interpret_array.hpp"

namespace smelt::reference {

// NaN wins, as in max and min.
template <class T>
static T joined(ScatterKind kind, T there, T update) {
  if constexpr (std::is_floating_point_v<T>)
    if (kind == ScatterKind::Max || kind == ScatterKind::Min)
      if (std::isnan(there) || std::isnan(update)) return std::isnan(there) ? there : update;
  using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  switch (kind) {
    case ScatterKind::Set: return update;
    case ScatterKind::Add: return static_cast<T>(static_cast<Wrapping>(there) + static_cast<Wrapping>(update));
    case ScatterKind::Mul: return static_cast<T>(static_cast<Wrapping>(there) * static_cast<Wrapping>(update));
    case ScatterKind::Max: return std::max(there, update);
    case ScatterKind::Min: return std::min(there, update);
  }
  throw InternalError("a scatter of no kind");
}

Tensor scatter(const Node& node, const Tensor& x, const Tensor& indices, const Tensor& updates) {
  Tensor out = Tensor::empty(x.dtype, x.dims);
  const Tensor before = packed(x), from = packed(updates);
  const int64_t inner = x.dims[0] ? x.count() / x.dims[0] : 0;
  const std::vector<int64_t> rows = resolve_all(node, indices, x.dims[0]);
  with_storage(x.dtype, [&]<class T>(T) {
    T* to = static_cast<T*>(out.data);
    std::copy_n(static_cast<const T*>(before.data), out.count(), to);
    const T* update = static_cast<const T*>(from.data);
    for (const int64_t row : rows)
      for (int64_t c = 0; c < inner; ++c, ++update) {
        if (row < 0) continue;
        T& place = to[row * inner + c];
        place = joined(node.scatter, place, *update);
      }
  });
  return out;
}

}  // namespace smelt::reference

// Windows and extensions in the reference.
#include <algorithm>
#include <cstdlib>

#include "base/check.hpp"
#include "graph/interpret_array.hpp"

namespace smelt::reference {

Tensor window(const Node& node, const Tensor& x, const Dims& dims) {
  Tensor out = x;
  out.dims = dims;
  const size_t rank = x.dims.size();
  for (size_t a = 0; a < node.axes.size(); ++a) {
    const auto d = static_cast<size_t>(node.axes[a]);
    const int64_t size = dims[rank + a];
    SMELT_CHECK(out.count() == 0 || (dims[d] - 1) * node.steps[a] + (size - 1) * node.dilation[a] < x.dims[d],
                "{} windows of {} over {}", dims[d], size, x.dims[d]);
    out.strides[d] = x.strides[d] * node.steps[a];
    out.strides.push_back(x.strides[d] * node.dilation[a]);
  }
  return out;
}

// Where element i of an axis that goes on past its n elements lies among them.
static int64_t continued(ExtendMode mode, int64_t i, int64_t n) {
  switch (mode) {
    case ExtendMode::Edge: return i < 0 ? 0 : i >= n ? n - 1 : i;
    case ExtendMode::Reflect: return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
    case ExtendMode::Symmetric: return i < 0 ? -i - 1 : i >= n ? 2 * n - 1 - i : i;
    case ExtendMode::Wrap: return ((i % n) + n) % n;
  }
  return i;
}

Tensor extend(const Node& node, const Tensor& x, const Dims& dims, const SizeBinding& sizes) {
  Tensor out = Tensor::empty(x.dtype, dims);
  const int64_t n = out.count();
  const Dims low = evaluate(node.starts, sizes);
  const int width = size_of(x.dtype);
  Dims index(dims.size(), 0);
  for (int64_t at = 0; at < n; ++at) {
    int64_t from = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t i = dims[d] == x.dims[d] ? index[d] : continued(node.extend, index[d] - low[d], x.dims[d]);
      SMELT_CHECK(i >= 0 && i < x.dims[d], "index {} of {} elements", i, x.dims[d]);
      from += i * x.strides[d];
    }
    std::copy_n(static_cast<const char*>(x.data) + from * width, width, static_cast<char*>(out.data) + at * width);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace smelt::reference

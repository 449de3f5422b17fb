// Movement in the reference: views where one fits, copies elsewhere.
#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "graph/interpret_array.hpp"
#include "graph/out_of_range.hpp"

namespace smelt::reference {

Tensor iota(const Node& node, const Dims& dims) {
  Tensor out = Tensor::empty(DType::I64, dims);
  int64_t* to = static_cast<int64_t*>(out.data);
  const size_t axis = static_cast<size_t>(node.axes[0]);
  const int64_t inner = contiguous_strides(dims)[axis], n = out.count();
  for (int64_t i = 0; i < n; i += inner) std::fill_n(to + i, inner, i / inner % dims[axis]);
  return out;
}

Tensor random(const Node& node, const std::vector<Tensor>& args, const Dims& dims) {
  Tensor out = Tensor::empty(DType::U32, dims);
  const auto word = [&](size_t i) { return static_cast<uint64_t>(load_scalar(args[i].dtype, args[i].data).as_int()); };
  const uint64_t seed = word(0), offset = word(1), stream = word(2);
  uint32_t* to = static_cast<uint32_t*>(out.data);
  for (int64_t e = 0; e < out.count(); ++e) to[e] = philox::draw(node.draw, e, seed, offset, stream);
  return out;
}

Tensor reshape(const Tensor& x, const Dims& dims) {
  SMELT_CHECK(x.count() == element_count(dims), "reshape of {} to {}", str(x.dims), str(dims));
  Tensor out = packed(x);
  out.dims = dims;
  out.strides = contiguous_strides(dims);
  return out;
}

Tensor permute(const Node& node, const Tensor& x) {
  Tensor out = x;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    out.dims[d] = x.dims[static_cast<size_t>(node.axes[d])];
    out.strides[d] = x.strides[static_cast<size_t>(node.axes[d])];
  }
  return out;
}

Tensor broadcast(const Tensor& x, const Dims& dims) {
  Tensor out = x;
  out.dims = dims;
  for (size_t d = 0; d < dims.size(); ++d)
    if (x.dims[d] != dims[d]) out.strides[d] = 0;
  element_count(dims);
  return out;
}

Tensor slice(const Node& node, const Tensor& x, const Dims& dims, const SizeBinding& sizes) {
  Tensor out = x;
  out.dims = dims;
  if (out.count() == 0) return out;
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t start = node.starts[d].evaluate(sizes), last = start + node.steps[d] * (dims[d] - 1);
    SMELT_CHECK(start >= 0 && start < x.dims[d] && last >= 0 && last < x.dims[d], "slice of {} from {} to {}",
                str(x.dims), start, last);
    offset += start * x.strides[d];
    out.strides[d] = dims[d] == 1 ? x.strides[d] : x.strides[d] * node.steps[d];
  }
  out.data = static_cast<char*>(x.data) + offset * size_of(x.dtype);
  return out;
}

// The part of `whole` that begins at `low` and has these dims.
static TensorView part_of(const TensorView& whole, const Dims& low, const Dims& dims) {
  TensorView part = whole;
  part.dims = dims;
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) offset += low[d] * whole.strides[d];
  part.data = static_cast<char*>(whole.data) + offset * size_of(whole.dtype);
  return part;
}

Tensor pad(const Node& node, const Tensor& x, const Tensor& value, const Dims& dims, const SizeBinding& sizes) {
  Tensor out = Tensor::empty(x.dtype, dims);
  with_storage(x.dtype, [&]<class T>(T) {
    std::fill_n(static_cast<T*>(out.data), out.count(), *static_cast<const T*>(value.data));
  });
  if (x.count() > 0) copy_elements(x, part_of(out, evaluate(node.starts, sizes), x.dims));
  return out;
}

Tensor concat(const Node& node, const std::vector<Tensor>& args, const Dims& dims) {
  Tensor out = Tensor::empty(storage_type(node.dtype), dims);
  Dims low(dims.size(), 0);
  for (const Tensor& arg : args) {
    if (arg.count() > 0) copy_elements(arg, part_of(out, low, arg.dims));
    low[static_cast<size_t>(node.axes[0])] += arg.dims[static_cast<size_t>(node.axes[0])];
  }
  return out;
}

// The index that the mode makes of a wish; -1: none. Negative ones count from the end under Check
// and Wrap, as in numpy.take.
template <class I>
static int64_t resolve(const Node& node, I wish, int64_t size) {
  switch (node.gather) {
    case GatherMode::Check:
      if (std::cmp_less(wish, -size) || std::cmp_greater_equal(wish, size))
        throw OutOfRangeError(
            fmt::format("index {} is out of range for axis {} of size {} in {}", wish, node.axes[0], size,
                        node.label.empty() ? "gather" : node.label),
            node.origin,
            size == 0 ? "this axis has no elements" : fmt::format("indices go from {} to {}", -size, size - 1));
      return std::cmp_less(wish, 0) ? static_cast<int64_t>(wish) + size : static_cast<int64_t>(wish);
    case GatherMode::Drop:
      return std::cmp_less(wish, 0) || std::cmp_greater_equal(wish, size) ? -1 : static_cast<int64_t>(wish);
    case GatherMode::Clamp:
      if (std::cmp_less(wish, 0)) return 0;
      return std::cmp_less(wish, size) ? static_cast<int64_t>(wish) : size - 1;
    case GatherMode::Wrap: {
      if constexpr (std::is_unsigned_v<I>) return static_cast<int64_t>(wish % static_cast<uint64_t>(size));
      const int64_t rest = static_cast<int64_t>(wish) % size;
      return rest < 0 ? rest + size : rest;
    }
  }
  return 0;
}

std::vector<int64_t> resolve_all(const Node& node, const Tensor& indices, int64_t size) {
  SMELT_CHECK(node.gather == GatherMode::Check || node.gather == GatherMode::Drop || size > 0,
              "gather from an axis without elements");
  std::vector<int64_t> resolved(static_cast<size_t>(indices.count()));
  with_storage(indices.dtype, [&]<class I>(I) {
    if constexpr (!std::is_same_v<I, double>) {
      const Tensor wishes = packed(indices);
      const I* wish = static_cast<const I*>(wishes.data);
      for (size_t i = 0; i < resolved.size(); ++i) resolved[i] = resolve(node, wish[i], size);
    }
  });
  return resolved;
}

Tensor gather(const Node& node, const Tensor& x, const Tensor& indices, const Dims& dims) {
  Tensor out = Tensor::empty(x.dtype, dims);
  if (out.count() == 0) return out;
  const size_t axis = static_cast<size_t>(node.axes[0]);
  const std::vector<int64_t> rows = resolve_all(node, indices, x.dims[axis]);
  const Tensor from = packed(x);
  const int64_t inner = contiguous_strides(x.dims)[axis];
  const int64_t outer = x.count() / (inner * x.dims[axis]);
  with_storage(x.dtype, [&]<class T>(T) {
    T* to = static_cast<T*>(out.data);
    for (int64_t o = 0; o < outer; ++o) {
      const T* block = static_cast<const T*>(from.data) + o * inner * x.dims[axis];
      if (node.along) {
        const int64_t picks = dims[axis] * inner;  // of this block
        for (int64_t i = 0; i < picks; ++i) *to++ = block[rows[static_cast<size_t>(o * picks + i)] * inner + i % inner];
      } else {
        for (int64_t row : rows) to = std::copy_n(block + row * inner, inner, to);
      }
    }
  });
  return out;
}

}  // namespace smelt::reference

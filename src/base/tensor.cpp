#include "base/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/memory.hpp"
#include "smelt/error.hpp"

namespace smelt {

std::string str(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

int64_t element_count(const Dims& dims) {
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (int64_t d : dims) {
    if (d < 0) throw UserError(fmt::format("shape {} has the negative size {}", str(dims), d));
    if (d == 0)
      empty = true;
    else
      overflow = overflow || __builtin_mul_overflow(count, d, &count);
  }
  if (empty) return 0;
  // 16 bytes is more than any element takes, so the byte count fits too.
  if (overflow || count > INT64_MAX / 16)
    throw UserError(fmt::format("shape {} has more elements than 64 bits can address", str(dims)));
  return count;
}

Dims contiguous_strides(const Dims& dims) {
  Dims strides(dims.size());
  uint64_t stride = 1;  // may wrap around for an empty array, which no stride leads into
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = static_cast<int64_t>(stride);
    stride *= dims[d] > 0 ? static_cast<uint64_t>(dims[d]) : 1;
  }
  return strides;
}

bool TensorView::contiguous() const {
  for (int64_t d : dims)
    if (d == 0) return true;
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d] != 1 && strides[d] != stride) return false;
    stride *= dims[d];
  }
  return true;
}

Tensor Tensor::empty(DType dtype, Dims dims) {
  Tensor t;
  t.dtype = dtype;
  t.dims = std::move(dims);
  t.strides = contiguous_strides(t.dims);
  const int64_t bytes = t.bytes();
  t.memory = host_memory(bytes);
  if (!t.memory)
    throw UserError(fmt::format("cannot allocate {} bytes for {}{}: use smaller arrays or free memory", bytes,
                                name_of(dtype), str(t.dims)));
  t.data = t.memory.get();
  return t;
}

Tensor Tensor::zeros(DType dtype, Dims dims) {
  Tensor t = empty(dtype, std::move(dims));
  std::memset(t.data, 0, static_cast<size_t>(t.bytes()));
  return t;
}

namespace {

// An axis of a copy, its steps in bytes.
struct Axis {
  int64_t size, from, to;
};

// Without axes of size 1, and with those as one that follow each other in memory.
std::vector<Axis> axes_of(const TensorView& from) {
  const int width = size_of(from.dtype);
  std::vector<Axis> axes;
  int64_t to = width;
  for (size_t d = from.dims.size(); d-- > 0;) {
    const Axis axis{from.dims[d], from.strides[d] * width, to};
    to *= axis.size;
    if (axis.size == 1) continue;
    if (!axes.empty() && axis.from == axes.back().from * axes.back().size)
      axes.back().size *= axis.size;
    else
      axes.push_back(axis);
  }
  return axes;  // the innermost first
}

// Tiles fit in the L1 cache, so that a transposition reads and writes whole cache lines.
template <int kWidth>
void copy_plane(char* to, const char* from, const Axis& inner, const Axis& outer) {
  constexpr int64_t kTile = 32;
  const int64_t columns = outer.size == 1 ? inner.size : kTile;
  for (int64_t r = 0; r < outer.size; r += kTile)
    for (int64_t c = 0; c < inner.size; c += columns)
      for (int64_t i = r; i < std::min(r + kTile, outer.size); ++i) {
        char* const row = to + i * outer.to;
        const char* const source = from + i * outer.from;
        for (int64_t k = c; k < std::min(c + columns, inner.size); ++k)
          std::memcpy(row + k * kWidth, source + k * inner.from, kWidth);
      }
}

void copy_plane(int width, char* to, const char* from, const Axis& inner, const Axis& outer) {
  if (inner.from == width) {
    for (int64_t i = 0; i < outer.size; ++i)
      std::memcpy(to + i * outer.to, from + i * outer.from, static_cast<size_t>(inner.size * width));
    return;
  }
  switch (width) {
    case 1: return copy_plane<1>(to, from, inner, outer);
    case 2: return copy_plane<2>(to, from, inner, outer);
    case 4: return copy_plane<4>(to, from, inner, outer);
    default: return copy_plane<8>(to, from, inner, outer);
  }
}

}  // namespace

void copy_strided(const TensorView& view, const TensorView& out) {
  if (view.count() == 0) return;
  const int width = size_of(view.dtype);
  std::vector<Axis> axes = axes_of(view);
  if (axes.empty()) axes.push_back({1, width, width});
  const Axis inner = axes.front();
  axes.erase(axes.begin());
  Axis outer{1, 0, 0};
  // The one that is densest in the source.
  const auto densest = std::min_element(
      axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return std::abs(a.from) < std::abs(b.from); });
  if (densest != axes.end()) {
    outer = *densest;
    axes.erase(densest);
  }
  const char* from = static_cast<const char*>(view.data);
  char* to = static_cast<char*>(out.data);
  Dims index(axes.size(), 0);
  const auto advance = [&] {
    for (size_t d = 0; d < axes.size(); ++d) {
      from += axes[d].from;
      to += axes[d].to;
      if (++index[d] < axes[d].size) return true;
      from -= axes[d].from * axes[d].size;
      to -= axes[d].to * axes[d].size;
      index[d] = 0;
    }
    return false;
  };
  do copy_plane(width, to, from, inner, outer);
  while (advance());
}

Tensor contiguous_copy(const TensorView& view) {
  Tensor out = Tensor::empty(view.dtype, view.dims);
  copy_strided(view, out);
  return out;
}

}  // namespace smelt

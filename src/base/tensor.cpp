#include "base/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

void copy_strided(const TensorView& view, const TensorView& out) {
  const int64_t n = out.count();
  const int size = size_of(view.dtype);
  const size_t rank = view.dims.size();
  Dims index(rank, 0);
  const char* from = static_cast<const char*>(view.data);
  char* to = static_cast<char*>(out.data);
  for (int64_t i = 0; i < n; ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < rank; ++d) offset += index[d] * view.strides[d];
    std::memcpy(to + i * size, from + offset * size, static_cast<size_t>(size));
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < view.dims[d]) break;
      index[d] = 0;
    }
  }
}

Tensor contiguous_copy(const TensorView& view) {
  Tensor out = Tensor::empty(view.dtype, view.dims);
  copy_strided(view, out);
  return out;
}

}  // namespace smelt

#include "graph/interpret_array.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"

namespace smelt::reference {

Reader::Reader(const TensorView& view) : width_(size_of(view.dtype)), at_(static_cast<const char*>(view.data)) {
  for (size_t d = 0; d < view.dims.size(); ++d) {
    const int64_t stride = view.strides[d] * width_;
    if (view.dims[d] == 1) continue;
    if (!dims_.empty() && strides_.back() == stride * view.dims[d]) {
      dims_.back() *= view.dims[d];
      strides_.back() = stride;
    } else {
      dims_.push_back(view.dims[d]);
      strides_.push_back(stride);
    }
  }
  index_.resize(dims_.size(), 0);
  uniform_ = dims_.empty() || (dims_.size() == 1 && strides_[0] == 0);
  direct_ = dims_.size() == 1 && strides_[0] == width_ &&
            reinterpret_cast<uintptr_t>(at_) % static_cast<uintptr_t>(width_) == 0;
}

const void* Reader::next(int64_t n, void* scratch) {
  if (direct_) {
    const void* here = at_;
    at_ += n * width_;
    return here;
  }
  if (uniform_ && filled_ >= n) return scratch;
  read(scratch, n);
  filled_ = n;
  return scratch;
}

void Reader::read(void* into, int64_t n) {
  char* to = static_cast<char*>(into);
  if (uniform_) return copy_run(to, n);
  while (n > 0) {
    const int64_t run = std::min(n, dims_.back() - index_.back());
    copy_run(to, run);
    to += run * width_;
    n -= run;
    at_ += run * strides_.back();
    index_.back() += run;
    if (index_.back() == dims_.back()) next_row();
  }
}

template <int kWidth>
static void copy_strided(char* into, const char* from, int64_t n, int64_t stride) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(into + i * kWidth, from + i * stride, kWidth);
}

void Reader::copy_run(char* into, int64_t run) const {
  const int64_t stride = uniform_ ? 0 : strides_.back();
  if (stride == width_) {
    std::memcpy(into, at_, static_cast<size_t>(run * width_));
    return;
  }
  switch (width_) {
    case 1: return copy_strided<1>(into, at_, run, stride);
    case 2: return copy_strided<2>(into, at_, run, stride);
    case 4: return copy_strided<4>(into, at_, run, stride);
    default: return copy_strided<8>(into, at_, run, stride);
  }
}

void Reader::next_row() {
  for (size_t d = dims_.size(); d-- > 0;) {
    if (index_[d] < dims_[d]) return;
    at_ -= dims_[d] * strides_[d];
    index_[d] = 0;
    if (d == 0) return;
    at_ += strides_[d - 1];
    ++index_[d - 1];
  }
}

Tensor packed(const Tensor& view) {
  if (view.contiguous()) return view;
  Tensor out = Tensor::empty(view.dtype, view.dims);
  if (const int64_t n = out.count()) Reader(view).read(out.data, n);
  return out;
}

void copy_elements(const TensorView& src, const TensorView& dst) {
  int64_t left = dst.count();
  if (left == 0) return;
  const size_t rank = dst.dims.size();
  const int64_t row = rank ? dst.dims[rank - 1] : 1;
  SMELT_CHECK(row == 1 || dst.strides[rank - 1] == 1, "rows of {} are not contiguous", str(dst.dims));
  const int64_t width = size_of(src.dtype);
  Reader reader(src);
  Dims index(rank, 0);
  char* to = static_cast<char*>(dst.data);
  for (; left > 0; left -= row) {
    reader.read(to, row);
    for (size_t d = rank; d-- > 0;) {
      if (d == rank - 1) continue;
      to += dst.strides[d] * width;
      if (++index[d] < dst.dims[d]) break;
      to -= dst.strides[d] * dst.dims[d] * width;
      index[d] = 0;
    }
  }
}

Tensor scalar_array(const Scalar& value) {
  Tensor out = Tensor::empty(storage_type(value.dtype), {});
  if (is_float(value.dtype))
    *static_cast<double*>(out.data) = value.f;
  else
    store_scalar(value, out.data);
  return out;
}

Tensor load_input(const TensorView& view) {
  Tensor out = Tensor::empty(storage_type(view.dtype), view.dims);
  switch (view.dtype) {
    case DType::Bool: each<uint8_t, uint8_t>(view, out, [](uint8_t b) { return b != 0; }); break;
    case DType::F8E4M3: each<uint8_t, double>(view, out, float_from_f8_e4m3); break;
    case DType::F8E5M2: each<uint8_t, double>(view, out, float_from_f8_e5m2); break;
    case DType::F16: each<uint16_t, double>(view, out, [](uint16_t bits) { return float_from_f16(bits); }); break;
    case DType::BF16: each<uint16_t, double>(view, out, [](uint16_t bits) { return float_from_bf16(bits); }); break;
    case DType::F32: each<float, double>(view, out, [](float f) { return f; }); break;
    default: with_storage(view.dtype, [&]<class T>(T) { each<T, T>(view, out, [](T value) { return value; }); });
  }
  return out;
}

}  // namespace smelt::reference

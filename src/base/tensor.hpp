// Arrays in host memory: a view (someone's memory), and a Tensor that owns or shares it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/dtype.hpp"

namespace smelt {

using Dims = std::vector<int64_t>;

// "[4096, 1024]", "[]" for rank 0.
std::string str(const Dims& dims);
// Product of the sizes. Throws UserError when a size is negative or the product (or its bytes) does
// not fit int64.
int64_t element_count(const Dims& dims);
// Strides in elements of a row-major array.
Dims contiguous_strides(const Dims& dims);

// Memory that somebody else keeps alive. Strides count elements and may be 0 or negative; data
// points at the element of index 0, and may be misaligned.
struct TensorView {
  DType dtype = DType::F32;
  Dims dims;
  Dims strides;
  void* data = nullptr;

  int64_t count() const { return element_count(dims); }
  int64_t bytes() const { return count() * size_of(dtype); }
  bool contiguous() const;  // dimensions of size 1 may have any stride
};

// A view with shared ownership of its memory.
struct Tensor : TensorView {
  std::shared_ptr<void> memory;

  // Row-major, 64-byte aligned, not initialised.
  static Tensor empty(DType dtype, Dims dims);
  static Tensor zeros(DType dtype, Dims dims);
};

// Copies elements; both have the same dtype and dims, `to` is row-major.
void copy_strided(const TensorView& from, const TensorView& to);
// Copies any strided view into a fresh row-major tensor.
Tensor contiguous_copy(const TensorView& view);

}  // namespace smelt

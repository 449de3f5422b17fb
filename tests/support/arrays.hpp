// Small arrays for tests.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/scalar.hpp"
#include "base/tensor.hpp"

namespace smelt {

inline constexpr double kNan = __builtin_nan("");
inline constexpr double kInf = __builtin_inf();

// A row-major array of these values, each stored as the dtype stores it.
inline Tensor array(DType dtype, Dims dims, const std::vector<double>& values) {
  Tensor t = Tensor::empty(dtype, std::move(dims));
  EXPECT_EQ(t.count(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    store_scalar(convert(Scalar::of_float(DType::F64, values[i]), dtype),
                 static_cast<char*>(t.data) + static_cast<int64_t>(i) * size_of(dtype));
  return t;
}

// Numbers between -4 and 4; integers of so many around 0, or from 0 to 99 where the dtype has no
// sign.
inline Tensor noise(DType dtype, const Dims& dims, std::mt19937_64& random, int64_t integers) {
  const bool is_unsigned = is_unsigned_int(dtype);
  Tensor t = Tensor::empty(dtype, dims);
  for (int64_t i = 0, n = t.count(); i < n; ++i) {
    const double v = static_cast<double>(random() >> 11) * 0x1p-50 - 4;
    const auto whole = static_cast<int64_t>(random() % static_cast<uint64_t>(is_unsigned ? 100 : integers));
    store_scalar(is_float(dtype)  ? Scalar::of_float(dtype, v)
                 : is_bool(dtype) ? Scalar::of_bool(v > 0)
                                  : Scalar::of_int(dtype, is_unsigned ? whole : whole - integers / 2),
                 static_cast<char*>(t.data) + i * size_of(dtype));
  }
  return t;
}

}  // namespace smelt

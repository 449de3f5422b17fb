// A look at an array: its type, a short view of its elements, and what they are like on the whole.
#pragma once

#include <cstdint>
#include <string>

#include "base/scalar.hpp"
#include "base/tensor.hpp"

namespace smelt::report {

std::string describe_type(DType dtype, const Dims& dims);  // "f32[4096,1024]", "f32" for rank 0

// Over all elements. NaN makes min, max and mean NaN, as in NumPy, and is counted.
struct ArrayStatistics {
  int64_t count = 0, nans = 0, infinities = 0;
  Scalar min, max;  // of the array's dtype; meaningless when count is 0
  double mean = 0;
};
ArrayStatistics statistics_of(const TensorView& array);

// As NumPy prints it: brackets per dimension, no more than three elements at either end of one.
std::string short_view(const TensorView& array);

}  // namespace smelt::report

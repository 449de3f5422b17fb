// What rounding and uncertain arguments can change: shared by the files of graph/bounds.hpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/scalar.hpp"
#include "graph/graph.hpp"

namespace smelt::bounds {

inline constexpr double kAnything = std::numeric_limits<double>::infinity();
// The error of a 0 that may as well be -0: signs are not compared where an error is allowed.
inline constexpr double kSignOfZero = std::numeric_limits<double>::denorm_min();

// Half a unit in the last place of 1, the smallest step near 0, and the largest number, of a float
// dtype.
struct Format {
  double epsilon, tiny, largest;
};
Format format_of(DType dtype);

// What rounding a result of `ulp` units of error to its dtype may change. An exact result that the
// dtype has is not rounded; from arguments that may be off, the adjacent result may be what is
// rounded.
double rounding(double v, DType dtype, double ulp, bool exact_arguments);

inline bool crosses_zero(double x, double e) { return e > 0 && std::fabs(x) <= e; }

// A row-major array as numbers.
class Elements {
 public:
  explicit Elements(const Tensor& t);
  double f(int64_t i) const { return static_cast<const double*>(tensor_.data)[i]; }
  Scalar at(int64_t i) const {
    return load_scalar(tensor_.dtype, static_cast<const char*>(tensor_.data) + i * size_of(tensor_.dtype));
  }
  double number(int64_t i) const { return tensor_.dtype == DType::F64 ? f(i) : at(i).as_double(); }

 private:
  const Tensor& tensor_;
};

using Errors = std::vector<double>;  // of every element, row-major

// Elements that are joined into one, in any order: what a sum, product, maximum or test of them can
// be off by.
class Joined {
 public:
  void take(double x, double e);
  // The error of the result `v` of `node` over elements of dtype `from`; `additions`: the longest
  // chain of roundings.
  double error(const Node& node, DType from, double v, double additions) const;
  double error_of_scan(const Node& node, DType from, double v) const { return error(node, from, v, 2 * count_); }
  double error_of_reduction(const Node& node, DType from, double v) const;

 private:
  double worst_ = 0, error_sum_ = 0, magnitude_ = 0, logs_ = 0, relative_ = 0, count_ = 0;
  bool whole_ = true, all_finite_ = true, uncertain_zero_ = false;
};

// The errors of a reduction, a scan and a scatter, from the values of their arguments and of the
// result.
Errors of_reduction(const Node& node, const Tensor& x, const Errors& errors, const Tensor& result);
Errors of_scan(const Node& node, const Tensor& x, const Errors& errors, const Tensor* restarts,
               const Errors& restart_errors, const Tensor& result);
Errors of_recurrence(const Node& node, const Tensor& x, const Errors& errors, const Tensor& factors,
                     const Errors& factor_errors, const Tensor& result);
struct Scattered {
  const Tensor &before, &indices, &updates;
  const Errors &before_errors, &index_errors, &update_errors;
};
Errors of_scatter(const Node& node, const Scattered& from, const Tensor& result);

}  // namespace smelt::bounds

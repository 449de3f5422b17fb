// How far results are from the float64 reference, and whether that is near enough.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace smelt::report {

// What counts as near: |result - reference| <= absolute + relative * |reference|.
struct Tolerance {
  double relative = 0, absolute = 0;
};
Tolerance tolerance_of(DType dtype);  // zeros for integers and bool

// Distance between neighbours of dtype around `value` (the smallest subnormal below the normal
// numbers); 1 for integers.
double unit_in_last_place(DType dtype, double value);

struct Percentile {
  double percent = 0;
  double abs = 0, rel = 0, ulp = 0;
};

struct Accuracy {
  double max_abs = 0, max_rel = 0, max_ulp = 0;  // over all elements where both are finite
  std::vector<Percentile> percentiles;  // 50, 90, 99, 99.9 and 100, of at most a million elements evenly spread
  int64_t elements = 0;
  int64_t outside = 0;   // floats past the tolerance
  int64_t patterns = 0;  // elements whose NaN, infinity or sign of zero differs
  int64_t boundary = 0;  // integers computed from floats that fell on the other side of a rounding boundary
  bool correct = true;
  int64_t either = 0;  // elements past all that which bounds allow: the last bit of a float decides them
  std::string note;    // one line: why it is wrong, or what was tolerated; empty when there is nothing to say
};

// What the reference was computed from, for bounds on the errors of every element
// (graph/bounds.hpp). They take about a second for a million elements, so they are computed only of
// an output that the tolerances call wrong.
struct Computed {
  std::vector<TensorView> inputs;
  bool on_gpu = false;
};

// `reference` is what interpret() gave: F64 for floats. `unfused` are the results of the program
// with fusion off: a result past the tolerance still counts as right when its largest error is at
// most twice theirs (long sums) and no more than a thousand tolerances; an integer computed from
// floats may sit on the other side of a rounding boundary in at most one element of ten thousand,
// of counts and sums in one of ten thousand that they count. What these call wrong is right after
// all when every element is as near as its bound (a quotient between two integers is rounded to
// either) and no float that has one is off by more than a thousand tolerances, and at most one in a
// hundred differs where there is no bound: what a comparison of neighbours chooses.
Accuracy compare(const Graph& graph, const std::vector<Tensor>& results, const std::vector<Tensor>& unfused,
                 const std::vector<Tensor>& reference, int threads, const Computed* from = nullptr);

}  // namespace smelt::report

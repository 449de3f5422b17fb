// The reference with an error bound for every element: what a correct program may differ by,
// whatever it fuses. Each step adds its own rounding to what its arguments are uncertain by, so the
// bound is tight where the program is well conditioned, and infinite where a difference in the last
// place decides (a comparison of two nearly equal floats).
#pragma once

#include <cmath>
#include <vector>

#include "base/scalar.hpp"
#include "graph/graph.hpp"

namespace smelt {

struct Bounded {
  Tensor value;               // as interpret() gives it: floats as F64
  std::vector<double> error;  // per element, row-major: 0 exact to the bit, infinity: anything goes

  bool decided(int64_t i) const { return std::isfinite(error[static_cast<size_t>(i)]); }
  // Whether element i of a result may be `got`.
  bool allows(int64_t i, const Scalar& got) const;
  Scalar at(int64_t i) const;
};

// One per output. Throws UserError where interpret() does. On a GPU, halves may be what
// docs/numerics.md allows them to be.
std::vector<Bounded> interpret_bounded(const Graph& graph, const std::vector<TensorView>& inputs, bool on_gpu);

}  // namespace smelt

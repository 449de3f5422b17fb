// Gradients against central differences in f64, by the reference.
#pragma once

#include <functional>

#include "arrays.hpp"
#include "graph/gradient.hpp"

namespace smelt::testing {

// A value of any shape from the inputs.
using Formula = std::function<NodeId(GraphBuilder& b, const std::vector<NodeId>& x)>;

// How near to the difference a gradient must be: |gradient - difference| <= tolerance * (1 +
// |difference|).
inline constexpr double kTolerance = 2e-6;

// The sum of the elements of the formula, each with a weight of its own.
NodeId weighted_sum(GraphBuilder& b, NodeId x);

// The gradients of that sum by all f64 inputs, at these. `shapes`: of the inputs, where they are
// not their dims.
std::vector<Tensor> gradients(const Formula& formula, const std::vector<Tensor>& inputs,
                              const std::vector<Shape>& shapes = {});
::testing::AssertionResult right_gradient(const Formula& formula, const std::vector<Tensor>& inputs,
                                          const std::vector<Shape>& shapes = {});
// The gradients of the gradients too.
::testing::AssertionResult right_gradients(const Formula& formula, const std::vector<Tensor>& inputs,
                                           const std::vector<Shape>& shapes = {});

// Numbers between low and high, none of them near another or near a whole number.
Tensor apart(const Dims& dims, double low = -1.8, double high = 1.9, int seed = 0);

}  // namespace smelt::testing

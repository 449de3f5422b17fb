// Gradients in reverse mode, as nodes that are added to the graph being built. They are nodes like
// any others: what they need of the values is named, not stored, so that planning decides whether
// it is kept or computed again.
#pragma once

#include <functional>
#include <vector>

#include "graph/build.hpp"

namespace smelt {

// For each of `by` the sum over the values of cotangent times the derivative of the value: of the
// dtype and shape of what it is by, and 0 where no value depends on it. Cotangents have the dtypes
// and shapes of the values, and all of these are floats. Throws UserBuildError where there is no
// derivative.
std::vector<NodeId> vector_jacobian_product(GraphBuilder& b, const std::vector<NodeId>& values,
                                            const std::vector<NodeId>& cotangents, const std::vector<NodeId>& by);
// The gradient of one number, a float of rank 0.
std::vector<NodeId> gradient(GraphBuilder& b, NodeId value, const std::vector<NodeId>& by);

namespace detail {

// How the gradient of an operation of the user's is built: a node for each input, or -1 where there
// is none.
struct CustomRule {
  std::function<std::vector<NodeId>(GraphBuilder& b, const std::vector<NodeId>& inputs,
                                    const std::vector<NodeId>& results, const std::vector<NodeId>& cotangents)>
      build;
};

}  // namespace detail

}  // namespace smelt

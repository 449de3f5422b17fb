// Where broadcasts repeat what they are given.
#pragma once

#include "graph/graph.hpp"

namespace smelt {

// Whether all values of a Broadcast along this dimension of its shape are the same one.
inline bool repeats_along(const Graph& graph, const Node& broadcast, size_t dim) {
  const Shape& source = graph.at(broadcast.args[0]).shape;
  const size_t missing = broadcast.shape.size() - source.size();
  return dim < missing || (source[dim - missing].is(1) && !broadcast.shape[dim].is(1));
}

}  // namespace smelt

// What outputs of different shapes have in common: points, of each of which an output has one
// element or a few.
//
//   [N], [N, 3] and [2, N]   ->   loops over [N], 1 + 3 + 2 elements stored in each
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace smelt::schedule {

struct CommonPoints {
  Shape shape;
  // The axis of the points that each dimension of every shape is; -1: one along which a point has
  // several elements, or one.
  std::vector<std::vector<int>> axis_of;
};

// Short axes of what all shapes have in common, by bits: the first one is that of its first axis.
using ShortAxes = uint32_t;

// The most points that they share, less some short axes. Nothing where they share none, where one
// of these axes is no short one, or where a point would have many elements.
std::optional<CommonPoints> common_points(const std::vector<Shape>& shapes, ShortAxes apart);

}  // namespace smelt::schedule

// Transposed convolutions (transposed_sum.hpp) without the zeros between elements, and gradients of
// convolutions without an array of all taps.
//
//   phases    y[stride * i + p] reads the taps k = k0(p) + stride * t alone: for each phase p a dense
//             convolution of x, of 1 / stride of the taps
//   columns   all products of elements and taps, in an array; each result adds up those that are its own
#pragma once

#include <functional>
#include <optional>

#include "plan/plan.hpp"

namespace smelt::plan {

// The same with such sums in the form that is predicted to take least; nothing where all stay as
// they are. `finished`: a simple graph as it will be planned.
std::optional<Graph> with_phases(const Graph& graph, const Options& options,
                                 const std::function<Graph(Graph)>& finished);

}  // namespace smelt::plan

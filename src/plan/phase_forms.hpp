// The forms of transposed convolutions, each as a graph of its own.
#pragma once

#include <optional>
#include <vector>

#include "plan/transposed_sum.hpp"

namespace smelt::plan {

// Forms of node `id` of the graph, which is such a sum: of two inputs, its image and its weights.
std::vector<Graph> forms_of(const Graph& graph, NodeId id, const TransposedSum& sum);

}  // namespace smelt::plan

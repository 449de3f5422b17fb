// Reductions whose few results share what is costly.
#pragma once

#include "graph/graph.hpp"

namespace smelt {

// The same program with reductions that keep a last axis of up to four elements as one for each of
// them, where they reduce what short reductions along it give.
Graph with_short_results_apart(const Graph& graph);

}  // namespace smelt

// Inputs whose axes lie in memory in another order than the program has them.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace smelt {

// The same program for inputs with their axes in the order of memory: axis d of input i is axis
// orders[i][d] of what it was. An empty order changes nothing, and inputs without one stay.
Graph with_input_orders(const Graph& graph, const std::vector<std::vector<int>>& orders);

}  // namespace smelt

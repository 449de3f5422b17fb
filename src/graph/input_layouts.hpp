// Inputs that lie in memory in another way than row by row without gaps.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace smelt {

struct MemoryLayout {
  std::vector<int> order;  // the axes as they lie, the outermost first; empty: as in the shape
  Dims strides;            // in that order, in elements, the last one 1; empty: without gaps
  bool row_major() const { return order.empty() && strides.empty(); }
  bool operator==(const MemoryLayout& o) const { return order == o.order && strides == o.strides; }
  bool operator!=(const MemoryLayout& o) const { return !(*this == o); }
};

// The same program for inputs that lie so: dimension d of input i is axis layouts[i].order[d] of
// what it was. Inputs without a layout stay.
Graph with_input_layouts(const Graph& graph, const std::vector<MemoryLayout>& layouts);

}  // namespace smelt

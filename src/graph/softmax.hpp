// Softmax by its operations.
#pragma once

#include "graph/graph.hpp"

namespace smelt {

// The sum of exponentials by which values of rows divide, or of which they are the reciprocals;
// where it is 0 another number may stand for it. -1 for other values. Of a Graph or of one that is
// being built.
template <class Nodes>
NodeId sum_of_exponentials(const Nodes& nodes, NodeId rows, bool divides) {
  NodeId total = behind_views(nodes, rows);
  if (!divides) {
    if (!is_elementwise(nodes.at(total), Op::Reciprocal)) return -1;
    total = behind_views(nodes, nodes.at(total).args[0]);
  }
  if (is_elementwise(nodes.at(total), Op::Where)) total = behind_views(nodes, nodes.at(total).args[2]);
  const Node& sum = nodes.at(total);
  const bool sums = sum.kind == NodeKind::Reduce && sum.reduce == ReduceKind::Sum;
  return sums && is_elementwise(nodes.at(sum.args[0]), Op::Exp) ? total : -1;
}

}  // namespace smelt

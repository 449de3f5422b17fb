// Transposed convolutions, however a program spells them: sums of products over the taps of a
// window, one factor of which is read at every stride-th place only.
//
//   y[n, o, h] = sum over c, k of  x[n, c, (h + dilation * k - offset) / stride] * w[c, o, k]
//
// where the quotient has no remainder and is an element of x. An array with zeros between its
// elements is read so, and so are the gradients of strided convolutions.
#pragma once

#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace smelt::plan {

struct TransposedSum {
  // A dimension of an array that is read: of one element, of some of the variables, the first one
  // outermost, or of a window, along which either places or taps go.
  struct Dimension {
    std::vector<int> variables;
    int window = -1;         // of `windows`
    bool backwards = false;  // of taps: tap k reads the element k from the end
  };
  struct Factor {
    NodeId array = -1;
    std::vector<Dimension> dimensions;
  };
  struct Window {
    int place = -1;  // the variable h
    int64_t taps = 0, stride = 1, dilation = 1;
    IntExpr offset;
    IntExpr low, high;  // elements of the array from `low` up to `high` are read, zeros beside them
  };

  std::vector<IntExpr> extents;  // of the variables
  std::vector<int> result;       // variables that are axes of the sum, in their order; two may be one axis
  std::vector<int> summed;       // those that are added up; taps are no variables
  std::vector<Window> windows;
  Factor image, weights;
  NodeId product = -1;   // the multiplication
  bool of_sums = false;  // a sum over the taps of sums over the others
};

// All of a graph, with the nodes that they are: the sum, or the range of its elements, perhaps cast
// before, that alone is read.
std::vector<std::pair<NodeId, TransposedSum>> find_transposed_sums(const Graph& graph);

}  // namespace smelt::plan

// Sums of products of what is measured from values of its row: sum((x - mean(x))^2), sum(g * (x -
// mean(x)) * r). Two passes over a row, or one that measures from elements it has met, and corrects
// the sum when the values of the row are known (kernel/moments.cpp).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace smelt::schedule {

struct Moment {
  // value - less, or value where there is no `less`; `less` is one number to a row.
  struct Factor {
    NodeId value = -1, less = -1;
    bool operator==(const Factor&) const = default;
  };
  // The sum is that of the product of both factors, times and divided by these, each one number to
  // a row.
  struct Scale {
    NodeId value = -1;
    bool divides = false;
  };
  std::array<Factor, 2> factors;
  std::vector<Scale> scales;
  bool negative = false;

  std::vector<NodeId> of_rows() const;  // all values that are one to a row
};

// The moment that a Reduce node is, if it is such a sum, with its values of whole rows.
std::optional<Moment> moment(const Graph& graph, NodeId reduce);

}  // namespace smelt::schedule

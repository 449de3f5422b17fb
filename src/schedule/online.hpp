// A maximum and the sum of exponentials below it, sum(exp(x - max(x))): two passes over a row, or
// one that keeps the sum relative to the maximum so far (Milakov and Gimelshein, "Online normalizer
// calculation for softmax", 2018).
#pragma once

#include <optional>

#include "graph/graph.hpp"

namespace smelt::schedule {

struct OnlineSum {
  NodeId maximum = -1;  // the Reduce node that the sum can run along with
  // Where the maximum is infinite, what is subtracted is 0 (logsumexp) instead: the sum is then 0
  // or infinite, and not nan.
  bool finite_shift = false;
};

// The sum that a Reduce node is, if it is such a sum.
std::optional<OnlineSum> online_sum(const Graph& graph, NodeId reduce);

}  // namespace smelt::schedule

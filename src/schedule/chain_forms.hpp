// What sums and factors of chains are made of, by their nodes alone. Internal to this folder.
#pragma once

#include <optional>

#include "graph/graph.hpp"

namespace smelt::schedule {

// Whether it is a factor of halves that is multiplied in f32: the cast.
bool widens_halves(const Graph& graph, NodeId id);
// Whether what it widens was rounded from f32.
bool rounds_sums(const Graph& graph, NodeId cast);
// A sum over the products of two factors of halves, each of which is taken several times, or one of
// them if there may be one row alone: its multiplication; -1 for others.
NodeId multiplication_of_halves(const Graph& graph, NodeId id, bool one_row);

// The exponentials below a maximum in what is rounded to weights, and what else is there.
struct WeightForm {
  NodeId exponentials = -1, other = -1;  // with the views that lead to them
  bool divides = false;
};
std::optional<WeightForm> form_of_weights(const Graph& graph, NodeId cast);

}  // namespace smelt::schedule

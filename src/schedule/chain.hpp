// Chains: a product whose rows are weights exp(x - maximum of x) / (sum of them) of the scores x of
// another product, as attention is.
//
//   s[b, m, k] = sum over d of  f[b, m, d] * g[b, k, d]
//   x[b, m, k] = any operations on s at one index, with whatever depends on b, m and k
//   y[b, m, n] = sum over k of  exp(x - max over k of x) * r[b, m] * v[b, k, n]
//
// The maximum and both sums run along k together: when the maximum grows, sums so far are rescaled
// (schedule/online.hpp). What depends on the row alone is multiplied after the second sum.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/product.hpp"

namespace smelt::schedule {

// A node, and where it is evaluated, in the variables of the domain.
struct ValueAt {
  NodeId node = -1;
  Index index;
};

// A key has weight only where this is at least 0, as the node says.
struct Seen {
  IntExpr least;
  NodeId condition;
};

struct Chain {
  Product product;      // the second one, whose rows' factor is the weights and whose inner axis is the keys
  ValueAt scores;       // x
  NodeId weights = -1;  // cast to f32: the factor of the second product
  NodeId maximum = -1, total = -1;  // over the keys
  NodeId products = -1;             // s
  ValueAt query, key;               // f and g, at the variable of `depth` too
  Axis depth{Symbol::loop("depth"), 1};
  ValueAt below;                       // what the exponential subtracts: the maximum, or a guarded form of it
  std::optional<ValueAt> times, over;  // what multiplies, or divides, the exponentials of a row
  std::vector<Seen> seen;
  int64_t depth_padded = 0;  // what is staged of the depth
};

// The chain that a group is, tiles not chosen yet. Nothing where it is none, or where the values
// between would be stored.
std::optional<Chain> find_chain(const Graph& graph, const Group& group, const SizeBinding& sizes, Domain& domain);

// The nodes of one, by the sum of its second product: that sum, the weights, and what leads to the
// first product's factors from arrays of halves; empty where the sum is none of a chain.
std::vector<NodeId> nodes_of_chain(const Graph& graph, NodeId sum);

}  // namespace smelt::schedule

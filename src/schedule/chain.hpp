// Chains: a product whose rows are computed from the results of other products on the way, which
// are not stored.
//
//   s_i[b, m, k] = sum over d of  f_i[b, m, d] * g_i[b, k, d]        one or several
//   x[b, m, k]   = any operations on all s_i at one index, with whatever depends on b, m and k
//   y[b, m, n]   = sum over k of  x * v[b, k, n]                     one, or two with an x of their own
//
// Rows may also be weighed by exp(x - maximum of x) / (sum of them), as attention does with the
// scores x of one product:
//
//   y[b, m, n]   = sum over k of  exp(x - max over k of x) * r[b, m] * v[b, k, n]
//
// The maximum and both sums run along k together then: when the maximum grows, sums so far are
// rescaled (schedule/online.hpp). What depends on the row alone is multiplied after the second sum.
#pragma once

#include <optional>
#include <set>
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

// A product whose results a chain goes on with.
struct FirstProduct {
  NodeId sum = -1;     // s
  ValueAt rows, keys;  // f and g, at the variable of `depth` too
  Axis depth{Symbol::loop("depth"), 1};
  int64_t depth_padded = 0, depth_units = 0;  // what is staged of the depth, and what units multiply
};

// A product that ends a chain.
struct LastProduct {
  ValueAt value;        // x
  NodeId weights = -1;  // cast to f32: the rows' factor
  // The first product whose keys' factor is the columns' factor of this one too; -1: none.
  int of_columns = -1;
};

struct Chain {
  Product product;                 // the last ones, whose rows' factors are computed, and whose inner axis is the keys
  std::vector<LastProduct> lasts;  // by sum
  std::vector<FirstProduct> firsts;
  NodeId maximum = -1, total = -1;     // over the keys, where rows are weighed
  ValueAt below;                       // what the exponential subtracts: the maximum, or a guarded form of it
  std::optional<ValueAt> times, over;  // what multiplies, or divides, the exponentials of a row
  // Values in f32 of the key alone that x takes, each at one index: known before the first products
  // are.
  std::vector<ValueAt> of_keys;
  std::vector<ValueAt> row_results;  // outputs that depend on the maximum and the total of the row alone
  std::vector<Seen> seen;
  bool weighs() const { return maximum >= 0; }
  const ValueAt& scores() const { return lasts[0].value; }  // where rows are weighed
  int64_t deepest() const, depths() const;  // the largest of the depths as they are staged, and all of them
  int64_t units() const;                    // all depths and columns that units multiply for a key
  int64_t columns_staged() const;           // all columns that are staged, but for those of first products' keys
  int64_t columns_padded = 0;               // what is staged of the columns, of which a tile has as many as units take
};

// The chain that a group is, tiles not chosen yet. Nothing where it is none, or where the values
// between would be stored.
std::optional<Chain> find_chain(const Graph& graph, const Group& group, const SizeBinding& sizes, Domain& domain);

// The nodes of one whose rows are weighed, by the sum of its last product: that sum, the weights,
// and what leads to the first product's factors from arrays of halves; empty where the sum is none
// of such a chain.
std::vector<NodeId> nodes_of_weights(const Graph& graph, NodeId sum);
// The same of one whose rows are any operations: nodes that reductions of rows need are left out.
std::vector<NodeId> nodes_of_chain(const Graph& graph, NodeId sum);
// Those between arrays and what the last one multiplies, with views.
std::set<NodeId> between_products(const Graph& graph, NodeId sum);

}  // namespace smelt::schedule

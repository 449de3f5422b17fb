// The graph as the planner sees it: computing nodes, and the edges between them with views folded
// away.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace smelt::plan {

struct Edges {
  explicit Edges(const Graph& graph, const SizeBinding& sizes);
  std::vector<bool> computing;  // per node
  std::vector<bool> is_output;
  std::vector<std::vector<NodeId>>
      sources;  // of a computing node: the computing nodes and inputs that it reads, each once
  std::vector<std::vector<NodeId>> consumers;          // of a node: the computing nodes that read it, each once
  std::vector<int64_t> elements;                       // per node, for the sizes at hand
  int64_t bytes(const Graph& graph, NodeId id) const;  // of the whole value

  // What a single operation moves when it runs alone.
  int64_t unfused_bytes(const Graph& graph, NodeId id) const;
  // schedule::multiplication_of, where nothing else reads it.
  NodeId multiplication_of(const Graph& graph, NodeId sum) const;
  int64_t read_bytes(const Graph& graph, NodeId id) const;  // by the operation alone
};

// Elementwise, cast and joining nodes can be computed at any index again; reductions cannot.
bool recomputable(const Node& node);

}  // namespace smelt::plan

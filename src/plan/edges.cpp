#include "plan/edges.hpp"

#include <algorithm>

#include "schedule/computing.hpp"
#include "schedule/product.hpp"

namespace smelt::plan {

bool recomputable(const Node& node) {
  return node.kind != NodeKind::Scan && node.kind != NodeKind::Custom && node.kind != NodeKind::Scatter &&
         (node.kind != NodeKind::Reduce || node.local);
}

static void add_once(std::vector<NodeId>& list, NodeId id) {
  if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

Edges::Edges(const Graph& graph, const SizeBinding& sizes) {
  const size_t n = graph.nodes.size();
  computing = schedule::computing_nodes(graph);
  is_output.resize(n);
  sources.resize(n);
  consumers.resize(n);
  elements.resize(n);
  for (NodeId id : graph.outputs) is_output[static_cast<size_t>(id)] = true;
  // reach: what a node stands for when it is an argument. A view stands for what it views.
  std::vector<std::vector<NodeId>> reach(n);
  for (size_t i = 0; i < n; ++i) {
    const NodeId id = static_cast<NodeId>(i);
    const Node& node = graph.nodes[i];
    elements[i] = element_count(evaluate(node.shape, sizes));
    std::vector<NodeId> from;
    for (NodeId arg : node.args)
      for (NodeId source : reach[static_cast<size_t>(arg)]) add_once(from, source);
    if (computing[i]) {
      if (node.kind == NodeKind::Input) add_once(from, id);
      sources[i] = from;
      for (NodeId source : from)
        if (source != id) consumers[static_cast<size_t>(source)].push_back(id);
      // An input that is also an output is copied; its readers read the input itself.
      reach[i] = {id};
    } else {
      reach[i] = node.kind == NodeKind::Input ? std::vector<NodeId>{id} : from;
    }
  }
}

int64_t Edges::bytes(const Graph& graph, NodeId id) const {
  return elements[static_cast<size_t>(id)] * size_of(graph.at(id).dtype);
}

int64_t Edges::unfused_bytes(const Graph& graph, NodeId id) const {
  int64_t total = bytes(graph, id);
  // A product is one operation: what it multiplies is no array.
  const std::vector<NodeId>& readers = consumers[static_cast<size_t>(id)];
  if (readers.size() == 1 && multiplication_of(graph, readers[0]) == id) return 0;
  if (const NodeId product = multiplication_of(graph, id); product >= 0) return total + read_bytes(graph, product);
  if (graph.at(id).kind == NodeKind::Input) return 2 * total;  // it is an output too: a copy
  return total + read_bytes(graph, id);
}

NodeId Edges::multiplication_of(const Graph& graph, NodeId sum) const {
  const NodeId product = schedule::multiplication_of(graph, sum);
  return product >= 0 && consumers[static_cast<size_t>(product)].size() == 1 ? product : -1;
}

int64_t Edges::read_bytes(const Graph& graph, NodeId id) const {
  int64_t total = 0;
  for (NodeId arg : graph.at(id).args) {
    // A view reads no more than it shows, and no more than its array has.
    int64_t least = bytes(graph, arg);
    bool generated = false;
    for (NodeId v = arg;; v = graph.at(v).args[0]) {
      least = std::min(least, bytes(graph, v));
      const Node& node = graph.at(v);
      if (computing[static_cast<size_t>(v)] || node.kind == NodeKind::Input) break;
      if (node.args.empty()) {
        generated = true;  // constants, sizes and indices take no memory
        break;
      }
    }
    if (!generated) total += least;
  }
  return total;
}

}  // namespace smelt::plan

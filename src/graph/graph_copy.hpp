// A copy of a graph, some of whose nodes are written in another way.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace smelt {

// Whether a slice has all of its argument but along an axis.
inline bool is_whole_but_along(const Graph& graph, const Node& slice, size_t axis) {
  const Shape& of = graph.at(slice.args[0]).shape;
  for (size_t d = 0; d < of.size(); ++d)
    if (d != axis && !(slice.steps[d] == 1 && slice.starts[d].is(0) && slice.shape[d] == of[d])) return false;
  return true;
}

class GraphCopy {
 protected:
  explicit GraphCopy(const Graph& from) : from_(from) {}

  // The copy; `write` gives what stands for a node, once what it reads is written. It may take the
  // number of the node too.
  template <class Write>
  Graph copy(const Write& write) {
    for (const Node& node : from_.nodes) {
      if constexpr (std::is_invocable_v<Write, const Node&, NodeId>)
        ids_.push_back(write(node, static_cast<NodeId>(ids_.size())));
      else
        ids_.push_back(write(node));
    }
    Graph made = from_;
    for (NodeId& id : made.inputs) id = written(id);
    for (NodeId& id : made.outputs) id = written(id);
    made.nodes = std::move(nodes_);
    return made;
  }

  NodeId written(NodeId id) const { return ids_[static_cast<size_t>(id)]; }
  const Node& at(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  NodeId add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<NodeId>(nodes_.size()) - 1;
  }
  NodeId add_as_it_is(Node node) {
    for (NodeId& arg : node.args) arg = written(arg);
    return add(std::move(node));
  }
  // With the place in the program that `like` has.
  NodeId add_like(Node node, Shape shape, std::vector<NodeId> args, const Node& like) {
    node.shape = std::move(shape);
    node.args = std::move(args);
    node.origin = like.origin;
    node.label = like.label;
    return add(std::move(node));
  }

  const Graph& from_;

 private:
  std::deque<Node> nodes_;
  std::vector<NodeId> ids_;  // of the nodes of `from_`
};

}  // namespace smelt

#include "report/traffic.hpp"

namespace smelt::report {

int64_t bytes_of(const Graph& graph, NodeId id, const SizeBinding& sizes) {
  const Node& node = graph.at(id);
  return element_count(evaluate(node.shape, sizes)) * size_of(node.dtype);
}

int64_t bytes_of(const Graph& graph, const plan::FusionGroup& group, const SizeBinding& sizes) {
  int64_t bytes = 0;
  for (const NodeId id : group.inputs) bytes += bytes_of(graph, id, sizes);
  for (const NodeId id : group.outputs) bytes += bytes_of(graph, id, sizes);
  return bytes;
}

int64_t kernel_bytes(const Graph& graph, const plan::Plan& plan, const SizeBinding& sizes) {
  int64_t bytes = 0;
  for (const plan::FusionGroup& group : plan.groups) bytes += bytes_of(graph, group, sizes);
  return bytes;
}

}  // namespace smelt::report

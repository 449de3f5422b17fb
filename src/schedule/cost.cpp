#include "schedule/cost.hpp"

#include <algorithm>

#include "schedule/cost_parts.hpp"
#include "schedule/local.hpp"

namespace smelt::schedule {

bool moves_along(const Domain& domain, const Read& read, bool reduced) {
  return std::any_of(domain.axes.begin(), domain.axes.end(),
                     [&](const Axis& axis) { return axis.reduced == reduced && mentions(read.index, axis.var); });
}

double stride_of(const Graph& graph, const SizeBinding& sizes, NodeId node, const Index& index, Symbol var) {
  const auto step = flat_offset(graph.at(node).shape, index).coefficient_of(var);
  return step ? std::abs(static_cast<double>(step->evaluate(sizes))) : 1e9;
}

double array_bytes(const Graph& graph, const SizeBinding& sizes, NodeId node) {
  const Node& array = graph.at(node);
  return static_cast<double>(element_count(evaluate(array.shape, sizes))) * size_of(array.dtype);
}

void take_longest(Cost& cost) {
  const std::pair<double, Resource> terms[] = {{cost.memory_us, Resource::Memory},
                                               {cost.cache_us, Resource::Cache},
                                               {cost.on_chip_us, Resource::OnChip},
                                               {cost.issue_us, Resource::Issue},
                                               {cost.latency_us, Resource::Latency}};
  double most = 0;
  for (const auto& [us, resource] : terms)
    if (us > most) most = us, cost.limit = resource;
  cost.us = cost.launch_us + most;
}

std::string_view name_of(Resource resource) {
  switch (resource) {
    case Resource::Memory: return "memory";
    case Resource::Cache: return "cache";
    case Resource::OnChip: return "on-chip memory";
    case Resource::Issue: return "operations";
    case Resource::Latency: return "latency";
  }
  return "?";
}

Cost predict(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options) {
  return options.target.gpu ? predict_on_gpu(graph, group, schedule, options)
                            : predict_on_cpu(graph, group, schedule, options);
}

}  // namespace smelt::schedule

#include "schedule/cost.hpp"

#include <algorithm>

#include "schedule/cost_parts.hpp"
#include "schedule/local.hpp"

namespace smelt::schedule {

bool moves_along(const Domain& domain, const Read& read, bool reduced) {
  return std::any_of(domain.axes.begin(), domain.axes.end(),
                     [&](const Axis& axis) { return axis.reduced == reduced && mentions(read.index, axis.var); });
}

namespace {

// Elements from one step along `var` to the next, on the average over some steps in the middle of
// all axes: of what is clamped or wrapped at the ends, or found by division.
double stride_in_the_middle(const Domain& domain, const SizeBinding& sizes, const IntExpr& flat, Symbol var) {
  constexpr int64_t kSteps = 16;
  SizeBinding at = sizes;
  for (const Symbol s : flat.symbols()) {
    if (s.is_size() || at.count(s)) continue;
    const auto axis = std::find_if(domain.axes.begin(), domain.axes.end(), [&](const Axis& a) { return a.var == s; });
    at[s] = axis == domain.axes.end() ? 0 : axis->estimate / 2;
  }
  double moved = 0;
  int64_t before = flat.evaluate(at);
  for (int64_t k = 0; k < kSteps; ++k) {
    ++at[var];
    const int64_t now = flat.evaluate(at);
    moved += std::abs(static_cast<double>(now - before));
    before = now;
  }
  return moved / kSteps;
}

// Whether neighbours along `var` pick places far from each other, of an index that each reads
// first. Picks that are no more than the places, as of a picture that is resized, are mostly in
// order.
bool picks_anywhere(const Domain& domain, const SizeBinding& sizes, const IntExpr& flat, Symbol var) {
  for (const Symbol s : flat.symbols()) {
    const auto from = domain.gathers.find(s);
    if (from == domain.gathers.end()) continue;
    if (std::any_of(from->second.begin(), from->second.end(),
                    [&](const IntExpr& i) { return picks_anywhere(domain, sizes, i, var); }))
      return true;
    const auto axis = std::find_if(domain.axes.begin(), domain.axes.end(), [&](const Axis& a) { return a.var == var; });
    const int64_t places = domain.ranges.at(s).high.evaluate(sizes) + 1;
    if (mentions(from->second, var) && (axis == domain.axes.end() || axis->estimate > places)) return true;
  }
  return false;
}

}  // namespace

double stride_of(const Graph& graph, const Domain& domain, const SizeBinding& sizes, NodeId node, const Index& index,
                 Symbol var) {
  const IntExpr flat = flat_offset(graph.at(node), index);
  if (picks_anywhere(domain, sizes, flat, var)) return kAnywhere;
  const auto step = flat.coefficient_of(var);
  if (step) return std::abs(static_cast<double>(step->evaluate(sizes)));
  return reads_gathered(index) ? kAnywhere : stride_in_the_middle(domain, sizes, flat, var);
}

double array_bytes(const Graph& graph, const SizeBinding& sizes, NodeId node) {
  const Node& array = graph.at(node);
  return static_cast<double>(element_count(evaluate(array.shape, sizes))) * size_of(array.dtype);
}

double group_bytes(const Graph& graph, const SizeBinding& sizes, const Group& group) {
  double bytes = 0;
  for (const NodeId id : group.inputs) bytes += array_bytes(graph, sizes, id);
  for (const NodeId id : group.outputs) bytes += array_bytes(graph, sizes, id);
  return bytes;
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
  if (schedule.product) return predict_product(graph, group, schedule, options);
  if (schedule.chain) return predict_chain(graph, group, schedule, options);
  if (schedule.strategy == Strategy::Scatter)
    return options.target.gpu ? predict_scatter_on_gpu(graph, group, schedule, options)
                              : predict_scatter_on_cpu(graph, group, schedule, options);
  return options.target.gpu ? predict_on_gpu(graph, group, schedule, options)
                            : predict_on_cpu(graph, group, schedule, options);
}

}  // namespace smelt::schedule

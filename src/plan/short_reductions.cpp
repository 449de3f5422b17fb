#include "plan/short_reductions.hpp"

#include <utility>

#include "plan/predict.hpp"

namespace smelt::plan {
namespace {

constexpr int64_t kMostWrittenOut = 9;
constexpr int kMostPlans = 2;

bool is_short(const Graph& graph, const Node& reduce) {
  int64_t elements = 1;
  for (const int axis : reduce.axes) {
    const auto size = graph.at(reduce.args[0]).shape[static_cast<size_t>(axis)].constant();
    if (!size || *size < 1 || (elements *= *size) > kMostWrittenOut) return false;
  }
  return elements > 1;
}

// Leaves those as they were that a kernel along rows, or across them, computes: what a core of a
// CPU has in lanes there are not points. Whether there were any.
bool leave_in_other_loops(const Graph& before, const std::vector<FusionGroup>& groups, Graph& local) {
  bool some = false;
  for (const FusionGroup& group : groups) {
    if (!group.parts.empty()) {
      some = leave_in_other_loops(before, group.parts, local) || some;
      continue;
    }
    for (const NodeId id : group.nodes) {
      if (group.strategy() == Strategy::Pointwise || local.at(id).local == before.at(id).local) continue;
      local.nodes[static_cast<size_t>(id)].local = false;
      some = true;
    }
  }
  return some;
}

}  // namespace

std::optional<Graph> with_short_reductions_local(const Graph& graph, const Options& options) {
  if (!compares_forms(graph, options) || (options.target.plain && !options.target.gpu)) return std::nullopt;
  Graph local = graph;
  bool found = false;
  for (Node& node : local.nodes)
    if (node.kind == NodeKind::Reduce && !node.local && is_short(graph, node)) node.local = found = true;
  if (!found) return std::nullopt;
  const Plan plan = make_plan(graph, options);
  if (plan.groups.size() < 2) return std::nullopt;
  Plan other = make_plan(local, options);
  for (int again = 0; !options.target.gpu && leave_in_other_loops(graph, other.groups, local); ++again) {
    if (again == kMostPlans) return std::nullopt;
    other = make_plan(local, options);
  }
  return is_faster(local, other, graph, plan, options) ? std::optional(std::move(local)) : std::nullopt;
}

}  // namespace smelt::plan

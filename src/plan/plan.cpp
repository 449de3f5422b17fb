#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "schedule/computing.hpp"

namespace smelt::plan {

std::string FusionGroup::note() const {
  if (parts.empty()) return schedule->note;
  return fmt::format("{} independent {} kernels in one launch; the first: {}", parts.size(),
                     name_of(parts[0].strategy()), parts[0].note());
}

double Traffic::savings_pct() const {
  return unfused_bytes > 0 ? 100.0 * (1.0 - static_cast<double>(fused_bytes) / static_cast<double>(unfused_bytes)) : 0;
}

double Traffic::speedup_estimate() const {
  return fused_bytes > 0 ? static_cast<double>(unfused_bytes) / static_cast<double>(fused_bytes) : 0;
}

std::string print(const Graph& graph, const Plan& plan) {
  auto list = [](const std::vector<NodeId>& ids) {
    std::string text;
    for (NodeId id : ids) text += fmt::format("{}%{}", text.empty() ? "" : " ", id);
    return text;
  };
  std::string text;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const FusionGroup& group = plan.groups[g];
    text += fmt::format("group {}: {}\n  computes {}\n  reads {}\n  writes {}\n  {}\n", g, name_of(group.strategy()),
                        list(group.nodes), list(group.inputs), list(group.outputs), group.note());
  }
  for (const Decision& d : plan.decisions) {
    text += fmt::format("%{} {} -> %{} {}: {}, {} ({} bytes)", d.producer, graph.at(d.producer).label, d.consumer,
                        graph.at(d.consumer).label, d.fused ? "fused" : "cut", d.reason, d.bytes);
    if (!d.value_policy.empty()) text += fmt::format("; {}", d.value_policy);
    if (!d.remedy.empty()) text += fmt::format("; to fuse: {}", d.remedy);
    text += "\n";
  }
  for (const ReadAgain& r : plan.read_again)
    text += fmt::format("%{} is read for %{} and again for %{}, {} ({} bytes); to fuse: {}\n", r.input, r.first,
                        r.again, r.reason, r.bytes, r.remedy);
  text += fmt::format("traffic: unfused {}, fused {}, ideal {} bytes\n", plan.traffic.unfused_bytes,
                      plan.traffic.fused_bytes, plan.traffic.ideal_bytes);
  return text;
}

void verify(const Graph& graph, const Plan& plan) {
  std::vector<int> stored_by(graph.nodes.size(), -1), computed(graph.nodes.size(), 0);
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const FusionGroup& group = plan.groups[g];
    SMELT_CHECK(!group.outputs.empty(), "group {} stores nothing", g);
    for (NodeId id : group.nodes) computed[static_cast<size_t>(id)] = 1;
    for (NodeId id : group.inputs)
      SMELT_CHECK(graph.at(id).kind == NodeKind::Input || stored_by[static_cast<size_t>(id)] >= 0,
                  "group {} reads %{} before it is stored", g, id);
    for (NodeId id : group.outputs) {
      SMELT_CHECK(std::binary_search(group.nodes.begin(), group.nodes.end(), id), "group {} stores %{} of another", g,
                  id);
      SMELT_CHECK(stored_by[static_cast<size_t>(id)] < 0, "%{} is stored twice", id);
      stored_by[static_cast<size_t>(id)] = static_cast<int>(g);
    }
  }
  const std::vector<bool> computing = schedule::computing_nodes(graph);
  for (size_t i = 0; i < computing.size(); ++i) SMELT_CHECK(computed[i] || !computing[i], "%{} is in no group", i);
  for (NodeId id : graph.outputs) SMELT_CHECK(stored_by[static_cast<size_t>(id)] >= 0, "output %{} is not stored", id);
}

}  // namespace smelt::plan

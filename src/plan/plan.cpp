#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "plan/computing.hpp"

namespace smelt::plan {

std::string_view name_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::Pointwise: return "pointwise";
    case Strategy::Tiled: return "tiled";
    case Strategy::Scatter: return "scatter";
    case Strategy::Stencil: return "stencil";
    case Strategy::Custom: return "custom";
    case Strategy::Row: return "row";
    case Strategy::Column: return "column";
    case Strategy::Split: return "split";
    case Strategy::Batch: return "batch";
  }
  return "?";
}

double Traffic::savings_pct() const {
  return unfused_bytes > 0 ? 100.0 * (1.0 - static_cast<double>(fused_bytes) / static_cast<double>(unfused_bytes)) : 0;
}

double Traffic::speedup_estimate() const {
  return fused_bytes > 0 ? static_cast<double>(unfused_bytes) / static_cast<double>(fused_bytes) : 0;
}

// A number that follows from sizes and constants alone, in a few steps: worked out where it is needed, never stored.
static bool is_size_arithmetic(const Graph& graph, NodeId id, int steps = 4) {
  const Node& node = graph.at(id);
  if (steps == 0) return false;
  switch (node.kind) {
    case NodeKind::Constant:
    case NodeKind::SizeValue: return true;
    case NodeKind::Elementwise:
    case NodeKind::Cast:
    case NodeKind::Reshape:
      return node.shape.empty() && std::all_of(node.args.begin(), node.args.end(),
                                               [&](NodeId arg) { return is_size_arithmetic(graph, arg, steps - 1); });
    default: return false;
  }
}

namespace {

template <class IsOutput>
bool computes_given(const Graph& graph, NodeId id, const IsOutput& is_output) {
  switch (graph.at(id).kind) {
    case NodeKind::Elementwise:
    case NodeKind::Cast: return !is_size_arithmetic(graph, id) || is_output();
    case NodeKind::Reduce:
    case NodeKind::Scan:
    case NodeKind::Pad:
    case NodeKind::Concat:
    case NodeKind::Gather:
    case NodeKind::Scatter:
    case NodeKind::Random:
    case NodeKind::Custom: return true;
    case NodeKind::Input:
    case NodeKind::Constant:
    case NodeKind::SizeValue:
    case NodeKind::Iota:
    case NodeKind::Reshape:
    case NodeKind::Permute:
    case NodeKind::Broadcast:
    case NodeKind::Slice:
    case NodeKind::Window:
    case NodeKind::Extend: return is_output();
  }
  return false;
}

}  // namespace

bool Computing::operator()(NodeId id) const {
  constexpr size_t kFew = 16;
  return computes_given(graph_, id, [&] {
    if (++asked_ <= kFew) return std::count(graph_.outputs.begin(), graph_.outputs.end(), id) > 0;
    if (outputs_.empty()) outputs_.insert(graph_.outputs.begin(), graph_.outputs.end());
    return outputs_.count(id) > 0;
  });
}

std::vector<bool> computing_nodes(const Graph& graph) {
  std::vector<bool> is_output(graph.nodes.size()), result(graph.nodes.size());
  for (NodeId id : graph.outputs) is_output[static_cast<size_t>(id)] = true;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    result[i] = computes_given(graph, static_cast<NodeId>(i), [&] { return is_output[i]; });
  return result;
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
    text += fmt::format("group {}: {}\n  computes {}\n  reads {}\n  writes {}\n  {}\n", g, name_of(group.strategy),
                        list(group.nodes), list(group.inputs), list(group.outputs), group.schedule_note);
  }
  for (const Decision& d : plan.decisions) {
    text += fmt::format("%{} {} -> %{} {}: {}, {} ({} bytes)", d.producer, graph.at(d.producer).label, d.consumer,
                        graph.at(d.consumer).label, d.fused ? "fused" : "cut", d.reason, d.bytes);
    if (!d.value_policy.empty()) text += fmt::format("; {}", d.value_policy);
    if (!d.remedy.empty()) text += fmt::format("; to fuse: {}", d.remedy);
    text += "\n";
  }
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
  const std::vector<bool> computing = computing_nodes(graph);
  for (size_t i = 0; i < computing.size(); ++i) SMELT_CHECK(computed[i] || !computing[i], "%{} is in no group", i);
  for (NodeId id : graph.outputs) SMELT_CHECK(stored_by[static_cast<size_t>(id)] >= 0, "output %{} is not stored", id);
}

}  // namespace smelt::plan

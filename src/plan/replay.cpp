#include "plan/replay.hpp"

#include <algorithm>
#include <map>

#include "plan/partition.hpp"
#include "schedule/cost.hpp"

namespace smelt::plan {
namespace {

// Predictions take a schedule each: programs with more operations than this get none.
constexpr size_t kMostPredicted = 600;

class Replay {
 public:
  Replay(const Graph& graph, const Options& options, bool predicts)
      : graph_(graph), options_(options), predicts_(predicts), parts_(graph, options) {}

  void apply(const Step& step) { parts_.apply(step); }

  ReplayState state(size_t steps) {
    ReplayState s;
    s.steps = steps;
    double us = 0;
    bool complete = predicts_;
    for (const FusionGroup& group : parts_.described_groups()) {
      if (group.outputs.empty()) continue;
      ++s.kernels;
      s.bytes += bytes_of(group);
      if (!complete) continue;
      const std::optional<double> cost = cost_of(group);
      complete = cost.has_value();
      us += cost.value_or(0);
    }
    if (complete) s.us = us;
    return s;
  }

 private:
  // A single operation reads no more of an array than its view shows, as the unfused program does.
  int64_t bytes_of(const FusionGroup& group) const {
    const Edges& edges = parts_.edges();
    if (group.nodes.size() == 1) return edges.unfused_bytes(graph_, group.nodes[0]);
    int64_t bytes = 0;
    for (const NodeId id : group.inputs) bytes += edges.bytes(graph_, id);
    for (const NodeId id : group.outputs) bytes += edges.bytes(graph_, id);
    return bytes;
  }

  std::optional<double> cost_of(const FusionGroup& group) {
    const auto [known, fresh] = costs_.try_emplace({group.nodes, group.outputs});
    if (!fresh) return known->second;
    const auto made = parts_.scheduled(group);
    const auto* schedule = std::get_if<schedule::Schedule>(&made);
    if (schedule && schedule->strategy != Strategy::Custom)
      known->second = schedule::predict(graph_, group, *schedule, options_).us;
    return known->second;
  }

  const Graph& graph_;
  const Options& options_;
  const bool predicts_;
  Partition parts_;
  std::map<std::pair<std::vector<NodeId>, std::vector<NodeId>>, std::optional<double>> costs_;
};

}  // namespace

std::vector<ReplayState> replay(const Graph& graph, const Plan& plan, const Options& options, size_t most) {
  Replay replay(graph, options, plan.steps.size() <= kMostPredicted);
  const size_t n = plan.steps.size(), shown = std::min(n, std::max<size_t>(most, 2) - 1);
  std::vector<ReplayState> states = {replay.state(0)};
  for (size_t i = 0; i < n; ++i) {
    replay.apply(plan.steps[i]);
    // Evenly spread; the last of all is always one.
    if ((i + 1) * shown / n != i * shown / n) states.push_back(replay.state(i + 1));
  }
  return states;
}

}  // namespace smelt::plan

// One kernel moves the fewest bytes, but not always in the order in which memory is fast: a row
// that is normalized and stored as a column writes one element to a cache line. Kernels that are
// predicted to take much longer than their bytes are compared with two kernels, cut where the
// fewest bytes cross.
#include "plan/two_kernels.hpp"

#include <algorithm>
#include <iterator>

#include "schedule/candidates.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::plan {
namespace {

constexpr size_t kMostCuts = 4;
constexpr double kDecisiveOfScatters = 1.2;

class Comparison {
 public:
  Comparison(const Partition& parts, const FusionGroup& group, const Options& options)
      : parts_(parts), group_(group), options_(options) {}

  std::optional<Split> run() const {
    const double floor = bytes_of(group_.inputs) + bytes_of(group_.outputs);
    const double most = kDecisive * (floor / schedule::facts_of(options_.target).memory_bytes);
    const auto one = best(group_);
    // Two kernels start twice, and move no less. They compute no less either, unless what a scatter
    // adds is computed by every thread that has a part of an update, and in several phases.
    const bool scatters = graph().at(group_.outputs[0]).kind == NodeKind::Scatter;
    if (!one || one->us < most + 2 * one->launch_us) return std::nullopt;
    if (one->limit == schedule::Resource::Issue && !scatters) return std::nullopt;
    std::optional<Split> found;
    double least = one->us / (scatters ? kDecisiveOfScatters : kDecisive);
    for (const NodeId last : cheapest_cuts()) {
      const auto first = best(half(last, true)), second = best(half(last, false));
      if (!first || !second || first->us + second->us >= least) continue;
      least = first->us + second->us;
      found = Split{own_nodes(), last, 0, one->us / least};
    }
    return found;
  }

 private:
  const Graph& graph() const { return parts_.graph(); }
  double bytes_of(const std::vector<NodeId>& values) const {
    double sum = 0;
    for (const NodeId id : values) sum += static_cast<double>(parts_.edges().bytes(graph(), id));
    return sum;
  }

  // Without those that it computes again for itself, which belong to another group.
  std::vector<NodeId> own_nodes() const {
    const int own = parts_.group_of(group_.outputs[0]);
    std::vector<NodeId> result;
    std::copy_if(group_.nodes.begin(), group_.nodes.end(), std::back_inserter(result),
                 [&](NodeId id) { return parts_.group_of(id) == own; });
    return result;
  }

  // The cost of the schedule that the plan would take.
  std::optional<schedule::Cost> best(const FusionGroup& group) const {
    if (group.outputs.empty()) return std::nullopt;
    auto made = schedule::make_schedule(graph(), group, options_);
    auto* schedule = std::get_if<schedule::Schedule>(&made);
    if (!schedule || !schedule->unprofitable.empty() || schedule->strategy == Strategy::Custom) return std::nullopt;
    const auto own = std::make_shared<const schedule::Schedule>(std::move(*schedule));
    if (const auto better = schedule::far_better(graph(), group, options_, own)) return better->cost;
    return schedule::predict(graph(), group, *own, options_);
  }

  // The nodes up to `last`, or those after it, as a group.
  FusionGroup half(NodeId last, bool first) const {
    FusionGroup made;
    std::vector<NodeId> inputs;
    for (const NodeId id : group_.nodes) {
      if ((id <= last) != first) continue;
      made.nodes.push_back(id);
      const auto& readers = parts_.consumers(id);
      const bool crosses = first && std::any_of(readers.begin(), readers.end(),
                                                [&](NodeId c) { return c > last && contains(group_.nodes, c); });
      if (crosses || contains(group_.outputs, id)) made.outputs.push_back(id);
      for (const NodeId s : parts_.sources(id))
        if ((s <= last) != first || !contains(group_.nodes, s)) inputs.push_back(s);
    }
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    made.inputs = std::move(inputs);
    return made;
  }

  // Nodes after which few bytes cross, the fewest first.
  std::vector<NodeId> cheapest_cuts() const {
    const std::vector<NodeId>& nodes = group_.nodes;
    std::vector<double> change(nodes.size() + 1, 0);
    for (size_t i = 0; i < nodes.size(); ++i) {
      NodeId last = nodes[i];
      for (const NodeId c : parts_.consumers(nodes[i]))
        if (contains(nodes, c)) last = std::max(last, c);
      const auto until = static_cast<size_t>(std::lower_bound(nodes.begin(), nodes.end(), last) - nodes.begin());
      if (until == i) continue;
      const auto bytes = static_cast<double>(parts_.edges().bytes(graph(), nodes[i]));
      change[i] += bytes, change[until] -= bytes;
    }
    std::vector<std::pair<double, NodeId>> cuts;
    double crossing = 0;
    for (size_t i = 0; i + 1 < nodes.size(); ++i) cuts.emplace_back(crossing += change[i], nodes[i]);
    const auto end = cuts.begin() + static_cast<long>(std::min(kMostCuts, cuts.size()));
    // The last of equal ones: the rest is then little more than the layout of the results.
    std::partial_sort(cuts.begin(), end, cuts.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    std::vector<NodeId> result;
    for (auto cut = cuts.begin(); cut != end; ++cut) result.push_back(cut->second);
    return result;
  }

  const Partition& parts_;
  const FusionGroup& group_;
  const Options& options_;
};

}  // namespace

std::vector<Split> splits_that_pay(const Partition& parts, const std::vector<FusionGroup>& groups) {
  std::vector<Split> splits;
  Options judged = parts.options();
  if (!judged.target.gpu) judged.target.threads = schedule::kThreadsOfACpu;
  for (const FusionGroup& group : groups) {
    if (group.nodes.size() < 2 || !group.parts.empty()) continue;
    if (auto split = Comparison(parts, group, judged).run()) splits.push_back(std::move(*split));
  }
  return splits;
}

}  // namespace smelt::plan

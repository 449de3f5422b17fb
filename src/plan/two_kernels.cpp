// One kernel moves the fewest bytes, but not always in the order in which memory is fast: a row
// that is normalized and stored as a column writes one element to a cache line. Kernels that are
// predicted to take much longer than their bytes are compared with two kernels, cut where the
// fewest bytes cross.
#include "plan/two_kernels.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "schedule/candidates.hpp"
#include "schedule/operations.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::plan {
namespace {

constexpr size_t kMostCuts = 4;
constexpr int64_t kFew = 16;  // of so many elements one is a value of rows
constexpr double kDecisiveOfScatters = 1.2;
// What another place for a cut must gain, at about the same bytes.
constexpr double kDecisiveMove = 1.15;

// Whether the only result of a kernel that reduces is what another one turns, and nothing else
// reads it.
bool is_turned_alone(const Partition& parts, const FusionGroup& group, const FusionGroup& reader) {
  const auto reduces = [&](NodeId id) {
    return parts.graph().at(id).kind == NodeKind::Reduce && !parts.graph().at(id).local;
  };
  const NodeId value = group.outputs[0];
  return group.outputs.size() == 1 && group.parts.empty() && reader.parts.empty() && contains(reader.inputs, value) &&
         group.schedule->domain.levels > 0 && !group.schedule->product && reader.schedule->domain.pointwise() &&
         std::none_of(reader.nodes.begin(), reader.nodes.end(), reduces) &&
         !parts.edges().is_output[static_cast<size_t>(value)];
}

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
      const auto us = us_of_halves(last);
      if (!us || *us >= least) continue;
      least = *us;
      found = Split{own_nodes(), last, 0, one->us / least};
    }
    return found;
  }

  // Another place for the cut between this group, which reduces, and one that alone reads what it
  // stores: the first may leave it to the second to compute what that stores in its own order.
  std::optional<Split> moved(const FusionGroup& reader) const {
    const auto own = best(group_), next = best(reader);
    if (!own || !next) return std::nullopt;
    const FusionGroup both = with(reader);
    Comparison joined(parts_, both, options_);
    joined.find_what_is_cheap();
    std::optional<Split> found;
    double least = (own->us + next->us) / kDecisiveMove;
    for (const NodeId last : joined.cheapest_cuts()) {
      const auto us = joined.us_of_halves(last);
      if (!us || *us >= least) continue;
      least = *us;
      found = Split{both.nodes, last, 0, (own->us + next->us) / least};
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

  // What the second half may compute for itself, of what is read and of values that are few.
  void find_what_is_cheap() {
    const auto elements = [&](NodeId id) { return parts_.edges().elements[static_cast<size_t>(id)]; };
    int64_t most = 1;
    for (const NodeId id : group_.nodes) most = std::max(most, elements(id));
    const auto is_at_hand = [&](NodeId id) {
      return contains(group_.inputs, id) || again_.count(id) > 0 || elements(id) <= most / kFew;
    };
    for (const NodeId id : group_.nodes) {
      const Node& node = graph().at(id);
      const auto& from = parts_.sources(id);
      const bool cheap = (node.kind == NodeKind::Cast && !node.stops) ||
                         (node.kind == NodeKind::Elementwise && schedule::cost_of(node) <= 1);
      if (cheap && elements(id) == most && std::all_of(from.begin(), from.end(), is_at_hand)) again_.insert(id);
    }
  }

  FusionGroup with(const FusionGroup& reader) const {
    const auto joined = [](std::vector<NodeId> a, const std::vector<NodeId>& b) {
      a.insert(a.end(), b.begin(), b.end());
      std::sort(a.begin(), a.end());
      a.erase(std::unique(a.begin(), a.end()), a.end());
      return a;
    };
    FusionGroup both;
    both.nodes = joined(group_.nodes, reader.nodes);
    both.outputs = reader.outputs;
    both.inputs = joined(group_.inputs, reader.inputs);
    std::erase_if(both.inputs, [&](NodeId id) { return contains(group_.outputs, id); });
    return both;
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

  // What these values are computed from in one of both halves, as a group.
  FusionGroup half(NodeId last, bool first, const std::vector<NodeId>& outputs) const {
    FusionGroup made;
    made.outputs = outputs;
    std::set<NodeId> needed(outputs.begin(), outputs.end()), read;
    const auto is_inside = [&](NodeId id) {
      return contains(group_.nodes, id) && ((id <= last) == first || (!first && again_.count(id) > 0));
    };
    for (auto id = group_.nodes.rbegin(); id != group_.nodes.rend(); ++id) {
      if (!needed.count(*id)) continue;
      made.nodes.push_back(*id);
      for (const NodeId s : parts_.sources(*id)) (is_inside(s) ? needed : read).insert(s);
    }
    std::reverse(made.nodes.begin(), made.nodes.end());
    made.inputs.assign(read.begin(), read.end());
    return made;
  }
  // Both as the plan would run them, one after the other.
  std::optional<double> us_of_halves(NodeId last) const {
    std::vector<NodeId> before, after;
    for (const NodeId id : group_.outputs) (id <= last ? before : after).push_back(id);
    const FusionGroup second = half(last, false, after);
    for (const NodeId id : second.inputs)
      if (contains(group_.nodes, id) && !contains(group_.outputs, id)) before.push_back(id);
    std::sort(before.begin(), before.end());
    const auto one = best(half(last, true, before)), other = best(second);
    return one && other ? std::optional(one->us + other->us) : std::nullopt;
  }

  // Nodes after which few bytes cross, the fewest first.
  std::vector<NodeId> cheapest_cuts() const {
    const std::vector<NodeId>& nodes = group_.nodes;
    std::vector<double> change(nodes.size() + 1, 0);
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (again_.count(nodes[i])) continue;
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
  std::set<NodeId> again_;  // find_what_is_cheap
};

// The one group that reads the only result of this one, where it turns it; or nothing.
const FusionGroup* only_reader(const Partition& parts, const std::vector<FusionGroup>& groups,
                               const FusionGroup& group) {
  const FusionGroup* only = nullptr;
  for (const FusionGroup& reader : groups) {
    const auto reads = [&](const FusionGroup& g) {
      return std::any_of(group.outputs.begin(), group.outputs.end(), [&](NodeId id) { return contains(g.inputs, id); });
    };
    const bool in_batch = std::any_of(reader.parts.begin(), reader.parts.end(), reads);
    if (!reads(reader) && !in_batch) continue;
    if (only || in_batch) return nullptr;
    only = &reader;
  }
  return only && is_turned_alone(parts, group, *only) ? only : nullptr;
}

}  // namespace

std::vector<Split> splits_that_pay(const Partition& parts, const std::vector<FusionGroup>& groups) {
  std::vector<Split> splits;
  Options judged = parts.options();
  if (!judged.target.gpu) judged.target.threads = schedule::kThreadsOfACpu;
  for (const FusionGroup& group : groups) {
    if (group.nodes.size() < 2 || !group.parts.empty()) continue;
    if (auto split = Comparison(parts, group, judged).run()) splits.push_back(std::move(*split));
  }
  if (judged.target.gpu && splits.empty())
    for (const FusionGroup& group : groups)
      if (const FusionGroup* reader = only_reader(parts, groups, group))
        if (auto split = Comparison(parts, group, judged).moved(*reader)) splits.push_back(std::move(*split));
  return splits;
}

}  // namespace smelt::plan

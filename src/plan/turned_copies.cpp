#include "plan/turned_copies.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "plan/batch.hpp"
#include "plan/predict.hpp"
#include "plan/two_kernels.hpp"
#include "schedule/candidates.hpp"

namespace smelt::plan {
namespace {

constexpr int kMostCopies = 4;
// Larger programs are not planned several times.
constexpr size_t kMostNodes = 2000;

bool turns_last_axis(const Node& node) {
  return node.kind == NodeKind::Permute && !node.axes.empty() &&
         node.axes.back() != static_cast<int>(node.axes.size()) - 1;
}

class Search {
 public:
  Search(const Graph& graph, const Options& options) : options_(options), made_{graph, options.splits} {
    // What is in a kernel must not follow from the threads at hand.
    options_.target.threads = schedule::kThreadsOfACpu;
  }

  std::optional<StoredCopies> run() {
    if (!may_pay(made_.graph)) return std::nullopt;
    int copies = 0;
    while (copies < kMostCopies && copy_one()) ++copies;
    if (copies == 0) return std::nullopt;
    return std::move(made_);
  }

 private:
  // A transposed array that the caches near a core do not hold.
  bool is_candidate(const Graph& graph, NodeId id) const {
    const Node& node = graph.at(id);
    return turns_last_axis(node) && std::count(graph.outputs.begin(), graph.outputs.end(), id) == 0 &&
           element_count(evaluate(node.shape, options_.sizes)) * size_of(node.dtype) > options_.target.l2_bytes / 2;
  }

  bool may_pay(const Graph& graph) const {
    const auto reduces = [](const Node& n) {
      return (n.kind == NodeKind::Reduce && !n.local) || n.kind == NodeKind::Scan;
    };
    if (graph.nodes.size() > kMostNodes || std::none_of(graph.nodes.begin(), graph.nodes.end(), reduces)) return false;
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      if (is_candidate(graph, static_cast<NodeId>(i))) return true;
    return false;
  }

  bool copy_one() {
    options_.splits = made_.splits;
    const Graph& graph = made_.graph;
    const Plan plan = make_plan(graph, options_);
    const Prediction own = predict(graph, plan, options_);
    std::optional<StoredCopies> best;
    double least = 0;
    for (const FusionGroup* group : one_by_one(plan)) {
      if (!group->schedule || group->strategy() == Strategy::Custom) continue;
      const schedule::Cost cost = schedule::predict(graph, *group, *group->schedule, options_);
      if (!is_slow(graph, *group, cost, own.facts)) continue;
      const double group_us = cost.us;
      for (const NodeId view : turned_views(graph, *group)) {
        StoredCopies with = copied(*group, view);
        Options other = options_;
        other.splits = with.splits;
        const double saved = own.us - predict(with.graph, make_plan(with.graph, other), other).us;
        if (saved <= least || group_us < kDecisive * (group_us - saved)) continue;
        least = saved;
        with.splits.back().times_as_long = group_us / (group_us - saved);
        best = std::move(with);
      }
    }
    if (!best) return false;
    made_ = std::move(*best);
    return true;
  }

  // Rows, columns and scans that take much longer than their bytes.
  bool is_slow(const Graph& graph, const FusionGroup& group, const schedule::Cost& cost,
               const schedule::TargetFacts& facts) const {
    const Strategy strategy = group.schedule->strategy;
    if (strategy != Strategy::Row && strategy != Strategy::Column && strategy != Strategy::Split) return false;
    double bytes = 0;
    for (const std::vector<NodeId>* values : {&group.inputs, &group.outputs})
      for (const NodeId id : *values)
        bytes += static_cast<double>(element_count(evaluate(graph.at(id).shape, options_.sizes)) *
                                     size_of(graph.at(id).dtype));
    return cost.limit == schedule::Resource::Cache && cost.us > kDecisive * (bytes / facts.memory_bytes);
  }

  // Those through which the group reads.
  std::set<NodeId> turned_views(const Graph& graph, const FusionGroup& group) const {
    std::set<NodeId> found;
    for (const NodeId id : group.nodes)
      for (NodeId arg : graph.at(id).args)
        for (; is_view(graph.at(arg).kind); arg = graph.at(arg).args[0]) {
          if (is_candidate(graph, arg)) found.insert(arg);
          if (contains(group.nodes, arg)) break;
        }
    return found;
  }

  // With a copy behind the view.
  StoredCopies copied(const FusionGroup& group, NodeId view) const {
    const Graph& from = made_.graph;
    const NodeId copy = view + 1;
    const auto moved = [&](NodeId id) { return id > view ? id + 1 : id; };
    StoredCopies made{from, made_.splits};
    for (Node& node : made.graph.nodes)
      for (NodeId& arg : node.args) arg = arg == view ? copy : moved(arg);
    for (std::vector<NodeId>* ids : {&made.graph.inputs, &made.graph.outputs})
      for (NodeId& id : *ids) id = moved(id);
    const Node& turned = from.at(view);
    Node cast{.kind = NodeKind::Cast};
    cast.dtype = turned.dtype;
    cast.shape = turned.shape;
    cast.args = {view};
    cast.origin = turned.origin;
    cast.label = "copy";
    made.graph.nodes.insert(made.graph.nodes.begin() + copy, std::move(cast));
    for (Split& split : made.splits) {
      for (NodeId& id : split.nodes) id = moved(id);
      split.last = moved(split.last);
    }
    made.splits.push_back(split_at(made.graph, group, copy, moved));
    return made;
  }

  // What the copy needs of the group, the copy, and what needs it.
  template <class Moved>
  static Split split_at(const Graph& graph, const FusionGroup& group, NodeId copy, const Moved& moved) {
    std::vector<bool> before(graph.nodes.size()), behind(graph.nodes.size());
    before[static_cast<size_t>(copy)] = behind[static_cast<size_t>(copy)] = true;
    for (NodeId id = copy; id >= 0; --id)
      if (before[static_cast<size_t>(id)])
        for (const NodeId arg : graph.at(id).args) before[static_cast<size_t>(arg)] = true;
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      for (const NodeId arg : graph.nodes[i].args)
        if (behind[static_cast<size_t>(arg)]) behind[i] = true;
    Split split;
    split.last = copy;
    for (const NodeId old : group.nodes) {
      const NodeId id = moved(old);
      if (before[static_cast<size_t>(id)] || behind[static_cast<size_t>(id)]) split.nodes.push_back(id);
    }
    split.nodes.insert(std::lower_bound(split.nodes.begin(), split.nodes.end(), copy), copy);
    return split;
  }

  Options options_;
  StoredCopies made_;
};

}  // namespace

std::optional<StoredCopies> with_turned_copies(const Graph& graph, const Options& options) {
  const bool chooses = options.fuse && options.depth == 0 && options.tuning == Tuning{};
  if (!chooses || options.target.gpu || options.target.plain) return std::nullopt;
  return Search(graph, options).run();
}

}  // namespace smelt::plan

// What the planner says of its work: for every edge whether it was fused and why, and the bytes
// that all of it moves.
#include "plan/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "plan/batch.hpp"

namespace smelt::plan {
namespace {

std::pair<std::string, std::string> words_of_split(const Split& split) {
  if (split.spilled_bytes > 0)
    return {fmt::format("built as one kernel they spill {} bytes per thread", split.spilled_bytes),
            "fewer values that are live at the same time"};
  return {fmt::format("one kernel is predicted to take {:.1f} times as long as two", split.times_as_long),
          "nothing: storing the value takes less time"};
}

class Decisions {
 public:
  Decisions(const Partition& partition, const Kept& kept) : parts_(partition), kept_(kept) {}

  std::vector<Decision> all() const {
    std::vector<Decision> result;
    for (size_t i = 0; i < parts_.graph().nodes.size(); ++i) {
      const NodeId producer = static_cast<NodeId>(i);
      if (!parts_.edges().computing[i]) continue;
      for (NodeId consumer : parts_.consumers(producer)) result.push_back(decide(producer, consumer));
    }
    return result;
  }

  std::vector<ReadAgain> read_again() const {
    const std::vector<FusionGroup> groups = parts_.described_groups();
    std::map<NodeId, std::vector<int>> readers;
    for (size_t g = 0; g < groups.size(); ++g)
      if (!groups[g].outputs.empty())
        for (const NodeId id : groups[g].inputs)
          if (parts_.graph().at(id).kind == NodeKind::Input && parts_.edges().elements[static_cast<size_t>(id)] > 1)
            readers[id].push_back(static_cast<int>(g));
    std::vector<ReadAgain> result;
    for (auto& [input, of] : readers) {
      const auto reading = [&, id = input](int g) { return reader_of(groups[static_cast<size_t>(g)], id); };
      std::sort(of.begin(), of.end(), [&](int a, int b) { return reading(a) < reading(b); });
      for (size_t r = 1; r < of.size(); ++r) {
        auto [reason, remedy] = why_two(of[0], of[r], of[r]);
        result.push_back({input, reading(of[0]), reading(of[r]), std::move(reason), 0, std::move(remedy)});
      }
    }
    return result;
  }

 private:
  // The first node of a group that reads the value from memory.
  NodeId reader_of(const FusionGroup& group, NodeId value) const {
    for (const NodeId id : group.nodes) {
      const std::vector<NodeId>& from = parts_.sources(id);
      if (std::find(from.begin(), from.end(), value) != from.end()) return id;
    }
    return group.outputs[0];
  }

  Decision decide(NodeId producer, NodeId consumer) const {
    Decision d{producer, consumer, false, {}, 0, {}, {}};
    const bool several = parts_.consumers(producer).size() > 1, first = parts_.consumers(producer).front() == consumer;
    const int a = parts_.group_of(producer), b = parts_.group_of(consumer);
    if (a == b) {
      d.fused = true;
      // The store is counted once, with the first reader; so the edges add up to what fusion saves.
      d.times = first && !needed_in_memory(producer) ? 2 : 1;
      d.reason = fused_reason(producer, consumer);
      if (kept_.count(producer)) d.value_policy = "kept";
      if (several) d.value_policy = "kept";
    } else if (parts_.copied_into(b, producer)) {
      d.fused = true;
      d.reason = "cheap enough to compute again where it is read";
      d.value_policy = "recomputed";
    } else {
      d.times = first ? 2 : 1;
      if (several) d.value_policy = "stored";
      if (parts_.options().fuse && parts_.repeats_too_much(producer, consumer)) {
        d.reason = fmt::format("{} elements would be computed again for each of {}",
                               parts_.edges().elements[static_cast<size_t>(producer)], parts_.reach(consumer));
        d.remedy = "nothing: storing the small value is cheaper";
      } else {
        std::tie(d.reason, d.remedy) = why_two(a, b, parts_.home(consumer));
      }
    }
    return d;
  }

  // Why two groups are not one kernel, and what would change it. `home`: the group that `b` is
  // scheduled as.
  std::pair<std::string, std::string> why_two(int a, int b, int home) const {
    if (!parts_.options().fuse) return {"fusion is off", "run with fusion"};
    if (const Split* split = parts_.apart(a, b)) return words_of_split(*split);
    if (parts_.too_deep(a, b))
      return {fmt::format("a kernel may have no more than {} operations", parts_.options().depth), "a higher limit"};
    if (parts_.too_long(a, b))
      return {"together they have more operations than one kernel may have",
              "nothing: so long a kernel is bound by arithmetic, not by memory"};
    if (parts_.groups().path_around(a, b) || parts_.groups().path_around(b, a))
      return {"another kernel between them needs the one and feeds the other",
              "fuse or move the operations in between"};
    return why_apart(a, home);
  }

  // What the schedules say of two groups as one, with a remedy. Many edges may lead from one to the
  // other.
  const std::pair<std::string, std::string>& why_apart(int a, int b) const {
    if (const auto* never = parts_.why_never(a, b)) return *never;
    const auto [known, fresh] = why_.try_emplace({a, b});
    if (fresh && parts_.are_slower_as_one_product(a, b))
      known->second = {"products share the registers of a tile: as one kernel they are predicted to take longer",
                       "nothing: two kernels take less time"};
    else if (fresh)
      known->second = words_of(parts_.scheduled(parts_.describe(parts_.united(a, b), parts_.united_copies(a, b))));
    return known->second;
  }

  bool needed_in_memory(NodeId id) const {
    return parts_.edges().is_output[static_cast<size_t>(id)] ||
           std::any_of(parts_.consumers(id).begin(), parts_.consumers(id).end(), [&](NodeId c) {
             return parts_.group_of(c) != parts_.group_of(id) && !parts_.copied_into(parts_.group_of(c), id);
           });
  }

  std::string fused_reason(NodeId producer, NodeId consumer) const {
    if (const auto kept = kept_.find(producer); kept != kept_.end()) return kept->second;
    if (parts_.graph().at(consumer).local) return "computed for every window that it is in";
    const bool from_reduce = parts_.graph().at(producer).kind == NodeKind::Reduce && !parts_.graph().at(producer).local;
    const bool to_reduce = parts_.graph().at(consumer).kind == NodeKind::Reduce;
    const bool from_scan = parts_.graph().at(producer).kind == NodeKind::Scan;
    const bool to_scan = parts_.graph().at(consumer).kind == NodeKind::Scan;
    if (from_scan && to_scan) return "both run along the row together";
    if (to_scan)
      return from_reduce ? "the row is still on chip when its reduction is done" : "computed on the way into the scan";
    if (from_scan)
      return to_reduce ? "reduced as the scan goes along" : "computed of each running value before it is stored";
    if (from_reduce && to_reduce) return "reductions over the same rows";
    if (from_reduce) return "the rest of the row is still on chip when its reduction is done";
    if (to_reduce) return "computed on the way into the reduction";
    return parts_.consumers(producer).size() == 1 ? "elementwise into its only reader"
                                                  : "elementwise, at the same index";
  }

  const Partition& parts_;
  const Kept& kept_;
  mutable std::map<std::pair<int, int>, std::pair<std::string, std::string>> why_;
};

}  // namespace

void explain(const Partition& partition, const Kept& kept, Plan& plan) {
  const Decisions decisions(partition, kept);
  plan.decisions = decisions.all();
  plan.read_again = decisions.read_again();
}

namespace {

int64_t unfused_bytes(const Graph& graph, const Edges& edges) {
  int64_t bytes = 0;
  std::set<const CustomUse*> calls;  // which read their arguments once for all of their results
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    const CustomUse* call = graph.at(id).custom.get();
    if (!edges.computing[i]) continue;
    bytes += call && !calls.insert(call).second ? edges.bytes(graph, id) : edges.unfused_bytes(graph, id);
  }
  return bytes;
}

// Bytes of the unfused program, of the plan, and of every input and output once.
Traffic traffic(const Graph& graph, const Edges& edges, const SizeBinding& sizes, const Plan& plan) {
  Traffic t;
  // Only products have nodes written again for them (plan/chains.hpp).
  bool multiplies = false;
  for (size_t i = 0; i < graph.nodes.size() && !multiplies; ++i)
    multiplies = edges.multiplication_of(graph, static_cast<NodeId>(i)) >= 0;
  if (multiplies) {
    const Graph once = merge_equal_nodes(graph);
    t.unfused_bytes = unfused_bytes(once, Edges(once, sizes));
  } else {
    t.unfused_bytes = unfused_bytes(graph, edges);
  }
  std::set<NodeId> inputs;
  for (const FusionGroup* group : one_by_one(plan)) {
    for (NodeId id : group->inputs) {
      t.fused_bytes += edges.bytes(graph, id);
      if (graph.at(id).kind == NodeKind::Input) inputs.insert(id);
    }
    for (NodeId id : group->outputs) t.fused_bytes += edges.bytes(graph, id);
  }
  for (NodeId id : inputs) t.ideal_bytes += edges.bytes(graph, id);
  for (NodeId id : std::set<NodeId>(graph.outputs.begin(), graph.outputs.end()))
    t.ideal_bytes += edges.bytes(graph, id);
  return t;
}

}  // namespace

void count_bytes(const Graph& graph, const Edges& edges, const SizeBinding& sizes, Plan& plan) {
  for (Decision& d : plan.decisions) d.bytes = d.times * edges.bytes(graph, d.producer);
  for (ReadAgain& again : plan.read_again) again.bytes = edges.bytes(graph, again.input);
  plan.traffic = traffic(graph, edges, sizes, plan);
}

void count_bytes(const Graph& graph, const SizeBinding& sizes, Plan& plan) {
  count_bytes(graph, Edges(graph, sizes), sizes, plan);
}

}  // namespace smelt::plan

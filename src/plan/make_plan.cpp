// The planner: a greedy merge of producers into consumers, then of siblings that read the same
// values, then cheap values are computed again where that avoids a store. What may merge is for the
// schedules to say (schedule::make_schedule).
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/check.hpp"
#include "plan/batch.hpp"
#include "plan/decisions.hpp"
#include "plan/partition.hpp"
#include "plan/repeats.hpp"
#include "plan/two_kernels.hpp"
#include "schedule/candidates.hpp"
#include "schedule/chain.hpp"
#include "schedule/cost_parts.hpp"
#include "schedule/moments.hpp"
#include "schedule/operations.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::plan {
namespace {

class Planner {
 public:
  Planner(const Graph& graph, const Options& options) : parts_(graph, options) {}

  const Partition& parts() const { return parts_; }

  Plan run() {
    if (parts_.options().fuse)
      merge_all();
    else
      merge_products();
    Plan plan;
    plan.groups = ordered_groups();
    find_inputs_alone(plan.groups);
    explain(parts_, kept_, plan);
    count_bytes(parts_.graph(), parts_.edges(), parts_.options().sizes, plan);
    plan.steps = parts_.steps();
    return plan;
  }

 private:
  bool leaves_cache(NodeId id) const {
    const schedule::Options& options = parts_.options();
    return schedule::array_bytes(parts_.graph(), options.sizes, id) >
           2 * static_cast<double>(schedule::facts_of(options.target).cache_bytes_total);
  }

  void find_inputs_alone(std::vector<FusionGroup>& groups) const {
    if (!parts_.options().target.gpu) return;
    std::map<NodeId, int> readers;
    for (const FusionGroup& group : groups)
      for (const NodeId id : group.inputs) ++readers[id];
    for (FusionGroup& group : groups)
      for (const NodeId id : group.inputs)
        if (parts_.graph().at(id).kind == NodeKind::Input && (readers.at(id) == 1 || leaves_cache(id)))
          group.alone.push_back(id);
  }

  // What a product multiplies is never stored.
  void merge_products() {
    for (size_t i = 0; i < parts_.graph().nodes.size(); ++i) {
      const NodeId id = static_cast<NodeId>(i), product = parts_.edges().multiplication_of(parts_.graph(), id);
      if (product >= 0 && parts_.edges().computing[i]) parts_.try_merge(parts_.group_of(product), parts_.group_of(id));
    }
  }

  // Whether something outside reads of these nodes and is read by others of them.
  bool leads_back(const std::vector<NodeId>& nodes) const {
    const std::set<NodeId> inside(nodes.begin(), nodes.end());
    std::set<NodeId> outside;
    std::vector<NodeId> todo(nodes);
    while (!todo.empty()) {
      const NodeId id = todo.back();
      todo.pop_back();
      for (const NodeId c : parts_.consumers(id)) {
        if (inside.count(c) && outside.count(id)) return true;
        if (!inside.count(c) && outside.insert(c).second) todo.push_back(c);
      }
    }
    return false;
  }

  // What a product takes of the results of others is not stored either, where a schedule has all of
  // them, or that and another product that takes the same.
  void merge_chains() {
    std::vector<std::pair<NodeId, std::vector<NodeId>>> left;
    for (size_t i = 0; i < parts_.graph().nodes.size(); ++i) {
      if (!parts_.edges().computing[i]) continue;
      const NodeId sum = static_cast<NodeId>(i);
      if (merge_at_once(schedule::nodes_of_weights(parts_.graph(), sum), sum)) continue;
      std::vector<NodeId> nodes = schedule::nodes_of_chain(parts_.graph(), sum);
      if (nodes.empty() || merge_at_once(nodes, sum)) continue;
      for (const auto& [other, of_other] : left) {
        std::vector<NodeId> both;
        std::set_union(nodes.begin(), nodes.end(), of_other.begin(), of_other.end(), std::back_inserter(both));
        if (both.size() < nodes.size() + of_other.size() && merge_at_once(both, sum)) break;
      }
      left.emplace_back(sum, std::move(nodes));
    }
  }

  // The groups of these nodes with that of `last`, where there are any and a schedule has all of
  // them.
  bool merge_at_once(const std::vector<NodeId>& nodes, NodeId last) {
    const int into = parts_.group_of(last);
    std::set<int> others;
    std::vector<NodeId> united = parts_.members(into);
    bool alone = true;
    for (const NodeId id : nodes) {
      const int g = parts_.group_of(id);
      if (g == into || !others.insert(g).second) continue;
      united.insert(united.end(), parts_.members(g).begin(), parts_.members(g).end());
      alone = alone && !parts_.apart(g, into);
    }
    if (others.empty() || !alone || leads_back(united) || !parts_.takes(parts_.describe(united))) return false;
    for (const int g : others) parts_.merge(g, into);
    return true;
  }

  // What windows are summed from is stored last of all: it has an element for each of theirs. What
  // each result needs once, which program order would merge first, may keep it out.
  void merge_windows() {
    std::set<NodeId> seen;
    for (size_t i = 0; i < parts_.graph().nodes.size(); ++i) {
      const NodeId id = static_cast<NodeId>(i);
      if (is_window_sum(id) && !seen.count(id)) merge_at_once(nodes_of_windows(id, seen), id);
    }
  }
  bool is_window_sum(NodeId id) const {
    constexpr int64_t kFewElements = 25;  // what fewer take is compared with other plans (plan/short_reductions.cpp)
    const Node& node = parts_.graph().at(id);
    return parts_.edges().computing[static_cast<size_t>(id)] && node.kind == NodeKind::Reduce && node.local &&
           local_elements(parts_.graph(), node) >= kFewElements;
  }
  // Such a sum, what has an element for each of its windows', and the other sums of that; nothing
  // where anything else reads it.
  std::vector<NodeId> nodes_of_windows(NodeId sum, std::set<NodeId>& seen) const {
    const auto elements = [&](NodeId id) { return parts_.edges().elements[static_cast<size_t>(id)]; };
    const int64_t all = elements(parts_.graph().at(sum).args[0]);
    std::vector<NodeId> found{sum};
    seen.insert(sum);
    for (size_t next = 0; next < found.size(); ++next) {
      const NodeId id = found[next];
      for (const NodeId source : parts_.sources(id))
        if (source != id && parts_.computing(source) && elements(source) == all && seen.insert(source).second)
          found.push_back(source);
      if (is_window_sum(id)) continue;
      for (const NodeId reader : parts_.consumers(id)) {
        if (elements(reader) != all && !(is_window_sum(reader) && elements(parts_.graph().at(reader).args[0]) == all))
          return {};
        if (seen.insert(reader).second) found.push_back(reader);
      }
    }
    return found;
  }

  // Whether a producer and its consumer are in one group then.
  bool merge_producer(NodeId producer, NodeId consumer) {
    const int a = parts_.group_of(producer), b = parts_.group_of(consumer);
    if (a == b) return true;
    if (a < 0 || parts_.too_long(a, b) || parts_.repeats_too_much(producer, consumer) ||
        parts_.groups().path_around(a, b))
      return false;
    return !parts_.are_slower_as_one_product(a, b) && parts_.try_merge(a, b);
  }

  void merge_all() {
    const auto pass = [&](std::string_view name, void (Planner::*run)()) {
      parts_.begin_pass(name);
      (this->*run)();
    };
    pass("products", &Planner::merge_products);
    if (parts_.options().target.gpu && parts_.options().depth == 0) pass("chains", &Planner::merge_chains);
    if (parts_.options().depth == 0) pass("windows", &Planner::merge_windows);
    pass("producers", &Planner::merge_producers);
    pass("moments", &Planner::merge_moments);
    pass("only readers", &Planner::merge_into_only_readers);
    pass("siblings", &Planner::merge_siblings);
    if (parts_.options().depth == 0) pass("recompute", &Planner::repeat_values);
    pass("moments", &Planner::merge_moments);
    pass("readers", &Planner::merge_readers);
    pass("only readers", &Planner::merge_what_copies_left);
  }

  void repeat_values() { stores_smaller_ = repeat_cheap_values(parts_); }

  void merge_producers() {
    for (size_t i = 0; i < parts_.graph().nodes.size(); ++i) {
      const NodeId consumer = static_cast<NodeId>(i);
      if (!parts_.edges().computing[i]) continue;
      std::vector<NodeId> producers;
      for (NodeId source : parts_.sources(consumer))
        if (source != consumer && parts_.computing(source) && parts_.group_of(source) >= 0) producers.push_back(source);
      std::stable_sort(producers.begin(), producers.end(), [&](NodeId a, NodeId b) {
        return parts_.edges().bytes(parts_.graph(), a) > parts_.edges().bytes(parts_.graph(), b);
      });
      for (const NodeId producer : producers) merge_producer(producer, consumer);
    }
  }

  // Sums of products that are measured from other results of their rows, with those: the
  // values of elements between them make two passes of the two until others compute these again for
  // themselves.
  void merge_moments() {
    for (size_t i = 0; i < parts_.graph().nodes.size(); ++i) {
      const NodeId id = static_cast<NodeId>(i);
      if (!parts_.edges().computing[i]) continue;
      const auto moment = schedule::moment(parts_.graph(), id);
      if (!moment) continue;
      for (NodeId value : moment->of_rows()) {
        value = behind_views(parts_.graph(), value);
        if (!parts_.computing(value)) continue;
        const int a = parts_.group_of(value), b = parts_.group_of(id);
        if (a != b && !parts_.groups().path_around(a, b) && !parts_.groups().path_around(b, a)) merge_with_copies(a, b);
      }
    }
  }

  // Groups whose values only one other group reads: what the first reader of a value could not
  // take, since others needed it, can be taken when all of them have become one. From the front, so
  // that a chain grows as far as a schedule accepts it.
  void merge_into_only_readers() {
    for (bool changed = true; changed;) {
      changed = false;
      std::unordered_map<int, size_t> seen;  // groups that were asked for, and their nodes then
      for (size_t i = 0; i < parts_.graph().nodes.size(); ++i) {
        const NodeId id = static_cast<NodeId>(i);
        if (!parts_.edges().computing[i] || parts_.consumers(id).size() < 2) continue;
        const int a = parts_.group_of(id);
        size_t& before = seen[a];
        if (before == parts_.members(a).size()) continue;
        before = parts_.members(a).size();
        const int b = only_reader(a);
        if (b < 0 || parts_.too_long(a, b) || parts_.groups().path_around(a, b)) continue;
        if (parts_.repeats_too_much(a) ? parts_.try_merge_for_less(a, b) : parts_.try_merge(a, b)) changed = true;
      }
    }
  }

  // The one group that reads what `a` stores; -1: none, or several.
  int only_reader(int a) const {
    int reader = -1;
    for (NodeId id : parts_.members(a))
      for (NodeId c : parts_.consumers(id)) {
        const int b = parts_.group_of(c);
        if (b == a || b == reader) continue;
        if (reader >= 0) return -1;
        reader = b;
      }
    return reader;
  }

  // Independent groups that read the same array: one read serves both.
  void merge_siblings() {
    std::map<NodeId, std::vector<int>> readers;
    for (size_t i = 0; i < parts_.graph().nodes.size(); ++i)
      if (parts_.edges().computing[i])
        for (NodeId source : parts_.sources(static_cast<NodeId>(i)))
          if (parts_.edges().elements[static_cast<size_t>(source)] > 1) readers[source].push_back(static_cast<int>(i));
    for (const auto& [source, nodes] : readers) {
      NodeId first = nodes[0];
      for (size_t x = 1; x < nodes.size(); ++x) {
        const int a = parts_.group_of(first), b = parts_.group_of(nodes[x]);
        if (a == b) continue;
        if (parts_.too_long(a, b)) {
          first = nodes[x];
          continue;
        }
        if (parts_.groups().adjacent(a, b) || parts_.groups().adjacent(b, a) || parts_.groups().path_around(a, b) ||
            parts_.groups().path_around(b, a))
          continue;
        if (!parts_.are_slower_as_one_product(a, b)) parts_.try_merge(a, b);
      }
    }
  }

  static constexpr size_t kManyGroups = 256;  // pairs are tried one by one

  // Groups that store something.
  static std::vector<int> alive_of(const std::vector<FusionGroup>& groups) {
    std::vector<int> alive;
    for (size_t g = 0; g < groups.size(); ++g)
      if (!groups[g].outputs.empty()) alive.push_back(static_cast<int>(g));
    return alive;
  }

  // Copies may have made readers of one array out of groups that had nothing in common before.
  void merge_readers() {
    if (!parts_.has_copies()) return;
    std::set<std::vector<NodeId>> refused;  // the nodes of two groups
    for (bool changed = true; changed;) {
      changed = false;
      const std::vector<FusionGroup> groups = parts_.described_groups();
      const std::vector<int> alive = alive_of(groups);
      if (alive.size() > kManyGroups || refused.size() > kManyGroups) return;
      const std::vector<std::set<int>> after = dependents(groups, alive);
      for (size_t x = 0; x < alive.size() && !changed; ++x)
        for (size_t y = x + 1; y < alive.size() && !changed; ++y) {
          const int a = alive[x], b = alive[y];
          if (!share_array(groups, a, b)) continue;
          std::vector<NodeId> both = groups[static_cast<size_t>(a)].nodes;
          both.insert(both.end(), groups[static_cast<size_t>(b)].nodes.begin(),
                      groups[static_cast<size_t>(b)].nodes.end());
          if (refused.count(both) || after[static_cast<size_t>(a)].count(b) || after[static_cast<size_t>(b)].count(a))
            continue;
          changed = merge_with_copies(a, b);
          if (!changed) refused.insert(std::move(both));
          if (refused.size() > kManyGroups) return;
        }
    }
  }

  // Groups whose results only one other group reads, now that others compute for themselves what
  // they read of them.
  void merge_what_copies_left() {
    if (!parts_.has_copies()) return;
    for (bool changed = true; changed;) {
      changed = false;
      const std::vector<FusionGroup> groups = parts_.described_groups();
      const std::vector<int> alive = alive_of(groups);
      if (alive.size() > kManyGroups) return;
      const std::vector<std::set<int>> after = dependents(groups, alive);
      for (const int a : alive) {
        const int b = reader_of_all(groups, alive, a);
        const bool again = stores_smaller_ && parts_.repeats_too_much(a);
        if (b < 0 || again || passes_between(after, a, b) || !merge_with_copies(a, b)) continue;
        changed = true;
        break;
      }
    }
  }

  // The one group that reads the outputs of `a`, none of which is one of the graph; -1: none, or
  // several.
  int reader_of_all(const std::vector<FusionGroup>& groups, const std::vector<int>& alive, int a) const {
    const std::vector<NodeId>& outputs = groups[static_cast<size_t>(a)].outputs;
    const auto is_output = [&](NodeId id) { return parts_.edges().is_output[static_cast<size_t>(id)]; };
    if (std::any_of(outputs.begin(), outputs.end(), is_output)) return -1;
    int reader = -1;
    for (const int g : alive) {
      const std::vector<NodeId>& inputs = groups[static_cast<size_t>(g)].inputs;
      const auto reads = [&](NodeId id) { return std::binary_search(inputs.begin(), inputs.end(), id); };
      if (g == a || std::none_of(outputs.begin(), outputs.end(), reads)) continue;
      if (reader >= 0) return -1;
      reader = g;
    }
    return reader;
  }

  // Whether another group needs `a` and is needed by `b`.
  static bool passes_between(const std::vector<std::set<int>>& after, int a, int b) {
    const std::set<int>& behind = after[static_cast<size_t>(a)];
    return std::any_of(behind.begin(), behind.end(),
                       [&](int g) { return g != b && after[static_cast<size_t>(g)].count(b) > 0; });
  }

  bool share_array(const std::vector<FusionGroup>& groups, int a, int b) const {
    const auto& x = groups[static_cast<size_t>(a)].inputs;
    const auto& y = groups[static_cast<size_t>(b)].inputs;
    return std::any_of(x.begin(), x.end(), [&](NodeId id) {
      return parts_.edges().elements[static_cast<size_t>(id)] > 1 && std::binary_search(y.begin(), y.end(), id);
    });
  }

  // For each of these groups, those that depend on its outputs, directly or not.
  static std::vector<std::set<int>> dependents(const std::vector<FusionGroup>& groups, const std::vector<int>& alive) {
    std::unordered_map<NodeId, std::vector<int>> readers;
    for (const int g : alive)
      for (const NodeId id : groups[static_cast<size_t>(g)].inputs) readers[id].push_back(g);
    std::vector<std::set<int>> result(groups.size());
    for (const int g : alive) {
      std::set<int>& found = result[static_cast<size_t>(g)];
      std::vector<int> todo{g};
      while (!todo.empty()) {
        const int from = todo.back();
        todo.pop_back();
        for (const NodeId id : groups[static_cast<size_t>(from)].outputs)
          for (const int reader : readers[id])
            if (found.insert(reader).second) todo.push_back(reader);
      }
    }
    return result;
  }

  bool merge_with_copies(int a, int b) {
    if (parts_.too_long(a, b) || parts_.are_slower_as_one_product(a, b)) return false;
    std::set<NodeId> copies = parts_.united_copies(a, b);
    const std::vector<NodeId> both = parts_.united(a, b);
    const FusionGroup apart = parts_.describe(both, copies);
    if (!parts_.takes(apart) || !parts_.stands_as_one(apart, both, copies)) return false;
    parts_.merge(a, b);
    parts_.set_copies(a, {});
    parts_.set_copies(b, std::move(copies));
    return true;
  }

  // A group after those that it reads of, by a stack of our own: chains may be long.
  static void place(const std::vector<FusionGroup>& groups, size_t root, const std::map<NodeId, int>& stored_by,
                    std::vector<bool>& placed, std::vector<FusionGroup>& order) {
    std::vector<std::pair<size_t, size_t>> open;  // a group, and the next of its inputs
    const auto enter = [&](size_t g) {
      if (placed[g]) return;
      placed[g] = true;
      open.emplace_back(g, 0);
    };
    enter(root);
    while (!open.empty()) {
      auto& [g, next] = open.back();
      const FusionGroup& group = groups[g];
      if (next == group.inputs.size()) {
        order.push_back(group);
        open.pop_back();
      } else if (const auto it = stored_by.find(group.inputs[next++]); it != stored_by.end()) {
        enter(static_cast<size_t>(it->second));
      }
    }
  }

  std::vector<FusionGroup> ordered_groups() {
    const std::vector<FusionGroup> groups = parts_.described_groups();
    std::vector<bool> placed(groups.size(), false);
    std::map<NodeId, int> stored_by;
    for (size_t g = 0; g < groups.size(); ++g)
      for (NodeId id : groups[g].outputs) stored_by[id] = static_cast<int>(g);
    std::vector<FusionGroup> order;
    for (size_t g = 0; g < groups.size(); ++g)
      if (!groups[g].outputs.empty()) place(groups, g, stored_by, placed, order);
    std::vector<std::string> words;
    for (FusionGroup& group : order) {
      auto made = parts_.scheduled(group);
      const auto* refusal = std::get_if<schedule::Refusal>(&made);
      SMELT_CHECK(!refusal, "no schedule for the group that writes %{}: {}", group.outputs[0], refusal->reason);
      const auto schedule = std::make_shared<const schedule::Schedule>(std::get<schedule::Schedule>(std::move(made)));
      if (schedule->stencil)
        for (const schedule::Ring& ring : schedule->stencil->rings) kept_[ring.node] = text_of(ring);
      group.schedule = schedule;
      group.tuning = parts_.options().tuning;
      const bool alone = take_far_better(group);
      words.push_back(alone ? "" : schedule::batch_word(parts_.graph(), group, *schedule, parts_.options().target));
    }
    if (parts_.options().fuse) order = batch_groups(parts_.graph(), std::move(order), words, parts_.options());
    return order;
  }

  // Whether a schedule was taken that saves more than the launch that a batch would: the parts of a
  // batch have the first one.
  bool take_far_better(FusionGroup& group) const {
    if (group.strategy() == Strategy::Custom) return false;
    auto better = schedule::far_better(parts_.graph(), group, parts_.options(), group.schedule);
    if (!better) return false;
    const double own = schedule::predict(parts_.graph(), group, *group.schedule, parts_.options()).us;
    group.tuning = better->tuning;
    group.schedule = std::move(better->schedule);
    return own - better->cost.us > better->cost.launch_us;
  }

  Partition parts_;
  Kept kept_;
  bool stores_smaller_ = false;  // values that are stored instead of larger ones, and stay stored
};

}  // namespace

Plan make_plan(const Graph& graph, const Options& options) {
  constexpr int kMostPlans = 4;
  const bool compares = options.fuse && options.depth == 0 && options.tuning == Tuning{};
  Options cut = options;
  for (int plans = 1;; ++plans) {
    Planner planner(graph, cut);
    Plan plan = planner.run();
    if (!compares || plans == kMostPlans) return plan;
    std::vector<Split> splits = splits_that_pay(planner.parts(), plan.groups);
    if (splits.empty()) return plan;
    for (Split& split : splits) {
      // A cut that moves takes the place of the one before.
      std::erase_if(cut.splits, [&](const Split& old) {
        return old.spilled_bytes == 0 &&
               std::all_of(old.nodes.begin(), old.nodes.end(), [&](NodeId id) { return contains(split.nodes, id); });
      });
      cut.splits.push_back(std::move(split));
    }
  }
}

}  // namespace smelt::plan

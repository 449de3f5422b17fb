// The planner: a greedy merge of producers into consumers, then of siblings that read the same values, then cheap values are
// computed again where that avoids a store. What may merge is for the schedules to say (Accepts).
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/check.hpp"
#include "plan/batch.hpp"
#include "plan/edges.hpp"
#include "plan/groups.hpp"
#include "plan/plan.hpp"

namespace smelt::plan {
namespace {

// Operations, weighed by what each costs, past which a kernel takes too long to compile. It is then bound by arithmetic, so that the
// bytes of a cut do not show.
constexpr int kMostWork = 8000;

// A value is computed again in each reader when that takes no more than this many operations an element.
constexpr int kCheapToRepeat = 60;
// What is no more than this is not worth a second look.
constexpr int kNothingToRepeat = 16;
// Operations that a thread of a CPU, or a multiprocessor, does in the time that one more kernel takes to start.
constexpr int64_t kLaunchWork = 1 << 18;

int repeat_cost(const Graph& graph, const Node& node) {
  if (node.local) return static_cast<int>(local_elements(graph, node));
  if (node.kind == NodeKind::Random) return 20;
  if (node.kind != NodeKind::Elementwise) return 1;
  return node.op >= Op::Cbrt && node.op <= Op::Erfc ? 20 : node.op == Op::Pow ? 40 : is_float(node.dtype) ? 2 : 1;
}

class Planner {
 public:
  Planner(const Graph& graph, const Options& options, const Accepts& accepts)
      : graph_(graph), options_(options), accepts_(accepts), edges_(graph, options.sizes), groups_(edges_) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      if (!edges_.computing[i]) continue;
      const Node& node = graph.nodes[i];
      // A view that is an output is stored in the order of what it views.
      const bool asks = node.kind == NodeKind::Reduce || node.kind == NodeKind::Scan || node.kind == NodeKind::Custom ||
                        node.kind == NodeKind::Scatter || is_view(node.kind);
      even_.push_back(asks ? std::nullopt : std::optional(node.shape));
      work_.push_back(node.local ? 1 : repeat_cost(graph, node));
      points_.push_back(recomputable(node) ? std::optional(edges_.elements[i]) : std::nullopt);
    }
    copies_.resize(groups_.count());
    merge_results();
  }

  Plan run() {
    if (options_.fuse) {
      merge_producers();
      merge_into_only_readers();
      merge_siblings();
      if (options_.depth == 0) repeat_cheap_values();
      merge_readers();
    }
    Plan plan;
    plan.groups = ordered_groups();
    plan.decisions = decisions();
    plan.traffic = traffic(plan);
    return plan;
  }

 private:
  int group_of(NodeId id) const { return groups_.of(id); }
  const std::vector<NodeId>& members(int g) const { return groups_.members(g); }
  bool computing(NodeId id) const { return edges_.computing[static_cast<size_t>(id)]; }
  const std::vector<NodeId>& consumers(NodeId id) const { return edges_.consumers[static_cast<size_t>(id)]; }
  const std::vector<NodeId>& sources(NodeId id) const { return edges_.sources[static_cast<size_t>(id)]; }

  // The group that these nodes would be. Copies are computed for its own use only.
  FusionGroup describe(const std::vector<NodeId>& own, const std::set<NodeId>& copies = {}) const {
    FusionGroup group;
    std::set<NodeId> inside(own.begin(), own.end());
    for (NodeId id : inside) {
      const bool read_outside = std::any_of(consumers(id).begin(), consumers(id).end(), [&](NodeId c) {
        return (!inside.count(c) && !copied_into(group_of(c), id)) || read_by_copy(c, id);
      });
      if (edges_.is_output[static_cast<size_t>(id)] || read_outside) group.outputs.push_back(id);
    }
    inside.insert(copies.begin(), copies.end());
    std::set<NodeId> inputs;
    for (NodeId id : inside)
      for (NodeId source : sources(id))
        if (!inside.count(source) || graph_.at(source).kind == NodeKind::Input) inputs.insert(source);
    group.nodes.assign(inside.begin(), inside.end());
    group.inputs.assign(inputs.begin(), inputs.end());
    return group;
  }
  FusionGroup describe_group(int g) const { return describe(members(g), copies_[static_cast<size_t>(g)]); }

  std::vector<NodeId> united(int a, int b) const {
    std::vector<NodeId> nodes = members(a);
    nodes.insert(nodes.end(), members(b).begin(), members(b).end());
    return nodes;
  }

  void merge(int from, int into) {
    if (!surely_accepted(from, into)) even_[static_cast<size_t>(into)].reset();
    work_[static_cast<size_t>(into)] += work_[static_cast<size_t>(from)];
    auto &x = points_[static_cast<size_t>(into)], &y = points_[static_cast<size_t>(from)];
    x = x && y ? std::optional(std::max(*x, *y)) : std::nullopt;
    groups_.merge(from, into);
  }

  // Whether it can be one kernel, and had better be.
  bool takes(const FusionGroup& group) const {
    const Verdict verdict = accepts_(graph_, group, options_);
    return verdict.accepted && verdict.dear.empty();
  }

  // The split that keeps these two groups apart, if there is one.
  const Split* apart(int a, int b) const {
    for (const Split& split : options_.splits) {
      bool first = false, second = false;
      for (const int g : {a, b})
        for (const NodeId id : members(g)) {
          if (!std::binary_search(split.nodes.begin(), split.nodes.end(), id)) continue;
          (id <= split.last ? first : second) = true;
        }
      if (first && second) return &split;
    }
    return nullptr;
  }

  bool too_deep(int a, int b) const {
    return options_.depth > 0 && members(a).size() + members(b).size() > static_cast<size_t>(options_.depth);
  }

  bool too_long(int a, int b) const {
    if (apart(a, b) || too_deep(a, b)) return true;
    return work_[static_cast<size_t>(a)] + work_[static_cast<size_t>(b)] > kMostWork;
  }

  // A small value that costs much is not computed again for every element of a large reader.
  bool repeats_too_much(NodeId producer, NodeId consumer) const {
    if (!is_read_more_often(producer, reach(consumer))) return false;
    int cost = 0;
    for (NodeId id : members(group_of(producer))) {
      if (!recomputable(graph_.at(id))) return false;
      cost += repeat_cost(graph_, graph_.at(id));
    }
    return repeats_too_much(cost, producer, reach(consumer));
  }
  // Of one number, every thread makes its own.
  bool is_read_more_often(NodeId id, int64_t points) const {
    const int64_t n = edges_.elements[static_cast<size_t>(id)];
    return n > 1 && n * 4 <= points;
  }
  // Whether `cost` operations for each of these points take longer than storing the value by a kernel of its own.
  bool repeats_too_much(int cost, NodeId id, int64_t points) const {
    return cost > kNothingToRepeat && is_read_more_often(id, points) &&
           (points - edges_.elements[static_cast<size_t>(id)]) * cost > kLaunchWork * options_.target.threads;
  }
  // Whether what others read of a group would be.
  bool repeats_too_much(int producers) const {
    return std::any_of(members(producers).begin(), members(producers).end(), [&](NodeId id) {
      return std::any_of(consumers(id).begin(), consumers(id).end(),
                         [&](NodeId c) { return group_of(c) != producers && repeats_too_much(id, c); });
    });
  }
  // Points over which a node is evaluated: of a reduction, its argument's; where its group has none, those of the largest beside it.
  int64_t reach(NodeId id) const {
    if (const auto& points = points_[static_cast<size_t>(group_of(id))]) return *points;
    const Node& node = graph_.at(id);
    return edges_.elements[static_cast<size_t>(node.kind == NodeKind::Reduce ? node.args[0] : id)];
  }

  // All results of a call of the user's code are made at once. They have the same arguments, so there is no path between them.
  void merge_results() {
    std::unordered_map<const CustomUse*, NodeId> first;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (graph_.at(id).kind != NodeKind::Custom) continue;
      const auto [known, fresh] = first.try_emplace(graph_.at(id).custom.get(), id);
      if (!fresh) merge(group_of(id), group_of(known->second));
    }
  }

  void merge_producers() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const NodeId consumer = static_cast<NodeId>(i);
      if (!edges_.computing[i]) continue;
      std::vector<NodeId> producers;
      for (NodeId source : sources(consumer))
        if (source != consumer && computing(source) && group_of(source) >= 0) producers.push_back(source);
      std::stable_sort(producers.begin(), producers.end(),
                       [&](NodeId a, NodeId b) { return edges_.bytes(graph_, a) > edges_.bytes(graph_, b); });
      for (NodeId producer : producers) {
        const int a = group_of(producer), b = group_of(consumer);
        if (a == b || too_long(a, b) || repeats_too_much(producer, consumer) || groups_.path_around(a, b)) continue;
        if (surely_accepted(a, b) || takes(describe(united(a, b)))) merge(a, b);
      }
    }
  }

  // Without reductions, and with one shape for every value, the same loops will do: no need to ask the schedules, which go
  // through the whole group each time.
  bool surely_accepted(int a, int b) const {
    const auto &x = even_[static_cast<size_t>(a)], &y = even_[static_cast<size_t>(b)];
    return x && y && *x == *y;
  }

  // Groups whose values only one other group reads: what the first reader of a value could not take, since others needed it, can
  // be taken when all of them have become one. From the front, so that a chain grows as far as a schedule accepts it.
  void merge_into_only_readers() {
    std::map<int, std::pair<int, size_t>> refused;  // group -> the reader that refused it, and its members then
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < graph_.nodes.size(); ++i) {
        const NodeId id = static_cast<NodeId>(i);
        if (!edges_.computing[i] || consumers(id).size() < 2) continue;
        const int a = group_of(id), b = only_reader(a);
        if (b < 0 || too_long(a, b) || groups_.path_around(a, b)) continue;
        const std::pair<int, size_t> now{b, members(a).size() + members(b).size()};
        if (const auto known = refused.find(a); known != refused.end() && known->second == now) continue;
        if (!repeats_too_much(a) && takes(describe(united(a, b)))) {
          merge(a, b);
          changed = true;
        } else {
          refused[a] = now;
        }
      }
    }
  }
  // The one group that reads what `a` stores; -1: none, or several.
  int only_reader(int a) const {
    int reader = -1;
    for (NodeId id : members(a))
      for (NodeId c : consumers(id)) {
        const int b = group_of(c);
        if (b == a || b == reader) continue;
        if (reader >= 0) return -1;
        reader = b;
      }
    return reader;
  }

  // Independent groups that read the same array: one read serves both.
  void merge_siblings() {
    std::map<NodeId, std::vector<int>> readers;
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (edges_.computing[i])
        for (NodeId source : sources(static_cast<NodeId>(i)))
          if (edges_.elements[static_cast<size_t>(source)] > 1) readers[source].push_back(static_cast<int>(i));
    for (const auto& [source, nodes] : readers) {
      NodeId first = nodes[0];
      for (size_t x = 1; x < nodes.size(); ++x) {
        const int a = group_of(first), b = group_of(nodes[x]);
        if (a == b) continue;
        if (too_long(a, b)) {
          first = nodes[x];
          continue;
        }
        if (groups_.adjacent(a, b) || groups_.adjacent(b, a) || groups_.path_around(a, b) || groups_.path_around(b, a))
          continue;
        if (surely_accepted(a, b) || takes(describe(united(a, b)))) merge(a, b);
      }
    }
  }

  // A stored value whose readers could compute it from what they can read as cheaply: they do, and the store goes away.
  void repeat_cheap_values() {
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const NodeId id = static_cast<NodeId>(i);
      if (!edges_.computing[i] || edges_.is_output[i]) continue;
      std::set<int> readers;
      for (NodeId c : consumers(id))
        if (group_of(c) != group_of(id) && !copied_into(group_of(c), id)) readers.insert(group_of(c));
      // Every reader of one number computes it once for all of its elements.
      if (readers.empty() || (readers.size() > 4 && edges_.elements[i] > 1)) continue;
      if (std::any_of(readers.begin(), readers.end(), [&](int g) { return apart(group_of(id), g); })) continue;
      std::vector<NodeId> chain;
      const std::optional<int> cost = repeatable_chain(id, chain);
      if (!cost || std::any_of(consumers(id).begin(), consumers(id).end(),
                               [&](NodeId c) { return repeats_too_much(*cost, id, reach(c)); }))
        continue;
      if (!worth_repeating(id, chain, readers)) continue;
      apply_repeat(chain, readers);
    }
  }

  // The nodes of its own group that must be repeated for `id`, and what they cost, where that is little; stops at reductions
  // and at what is stored anyway.
  std::optional<int> repeatable_chain(NodeId id, std::vector<NodeId>& chain) const {
    int cost = 0;
    std::vector<NodeId> todo{id};
    std::set<NodeId> seen{id};
    while (!todo.empty()) {
      const NodeId n = todo.back();
      todo.pop_back();
      if (!recomputable(graph_.at(n))) {
        if (n == id) return std::nullopt;
        continue;
      }
      chain.push_back(n);
      if ((cost += repeat_cost(graph_, graph_.at(n))) > kCheapToRepeat) return std::nullopt;
      for (NodeId s : sources(n))
        if (computing(s) && group_of(s) == group_of(id) && seen.insert(s).second) todo.push_back(s);
    }
    return cost;
  }

  bool worth_repeating(NodeId id, const std::vector<NodeId>& chain, const std::set<int>& readers) const {
    const std::set<NodeId> inside(chain.begin(), chain.end());
    std::set<NodeId> needed;
    for (NodeId n : chain)
      for (NodeId s : sources(n))
        if (!inside.count(s)) needed.insert(s);
    const int64_t store = edges_.bytes(graph_, id);
    int64_t paid = 0, saved = store;
    for (int g : readers) {
      saved += store;
      const FusionGroup group = describe_group(g);
      for (NodeId s : needed)
        if (!std::count(group.inputs.begin(), group.inputs.end(), s)) paid += edges_.bytes(graph_, s);
    }
    for (NodeId s : needed)  // what only lived on chip so far must be stored now
      if (computing(s) && group_of(s) == group_of(id)) paid += edges_.bytes(graph_, s);
    return paid < saved;
  }

  void apply_repeat(const std::vector<NodeId>& chain, const std::set<int>& readers) {
    std::set<int> touched = readers;
    touched.insert(group_of(chain[0]));
    std::map<int, std::set<NodeId>> before;
    for (int g : readers) {
      before[g] = copies_[static_cast<size_t>(g)];
      std::set<NodeId> more = before[g];
      more.insert(chain.begin(), chain.end());
      set_copies(g, std::move(more));
    }
    for (int g : touched) {
      const FusionGroup group = describe_group(g);
      // A group with nothing left to store was there for the repeated values only.
      if (group.outputs.empty() || takes(group)) continue;
      for (auto& [reader, copies] : before) set_copies(reader, std::move(copies));
      return;
    }
  }

  // Copies may have made readers of one array out of groups that had nothing in common before.
  void merge_readers() {
    constexpr size_t kManyGroups = 256;  // pairs are tried one by one
    if (copiers_.empty()) return;
    for (bool changed = true; changed;) {
      changed = false;
      const std::vector<FusionGroup> groups = described_groups();
      std::vector<int> alive;
      for (size_t g = 0; g < groups.size(); ++g)
        if (!groups[g].outputs.empty()) alive.push_back(static_cast<int>(g));
      if (alive.size() > kManyGroups) return;
      for (size_t x = 0; x < alive.size() && !changed; ++x)
        for (size_t y = x + 1; y < alive.size() && !changed; ++y)
          changed = share_array(groups, alive[x], alive[y]) && !depends(groups, alive[x], alive[y]) &&
                    !depends(groups, alive[y], alive[x]) && merge_with_copies(alive[x], alive[y]);
    }
  }

  bool share_array(const std::vector<FusionGroup>& groups, int a, int b) const {
    const auto& x = groups[static_cast<size_t>(a)].inputs;
    const auto& y = groups[static_cast<size_t>(b)].inputs;
    return std::any_of(x.begin(), x.end(), [&](NodeId id) {
      return edges_.elements[static_cast<size_t>(id)] > 1 && std::binary_search(y.begin(), y.end(), id);
    });
  }

  // Whether group b needs, directly or not, what group a stores.
  static bool depends(const std::vector<FusionGroup>& groups, int a, int b) {
    std::set<NodeId> stored(groups[static_cast<size_t>(a)].outputs.begin(),
                            groups[static_cast<size_t>(a)].outputs.end());
    for (bool grown = true; grown;) {
      grown = false;
      for (const FusionGroup& g : groups) {
        const bool reads = std::any_of(g.inputs.begin(), g.inputs.end(), [&](NodeId id) { return stored.count(id); });
        if (!reads) continue;
        if (&g == &groups[static_cast<size_t>(b)]) return true;
        for (NodeId id : g.outputs) grown = stored.insert(id).second || grown;
      }
    }
    return false;
  }

  std::set<NodeId> united_copies(int a, int b) const {
    std::set<NodeId> copies = copies_[static_cast<size_t>(a)];
    copies.insert(copies_[static_cast<size_t>(b)].begin(), copies_[static_cast<size_t>(b)].end());
    for (NodeId id : united(a, b)) copies.erase(id);
    return copies;
  }

  bool merge_with_copies(int a, int b) {
    if (too_long(a, b)) return false;
    std::set<NodeId> copies = united_copies(a, b);
    if (!takes(describe(united(a, b), copies))) return false;
    merge(a, b);
    set_copies(a, {});
    set_copies(b, std::move(copies));
    return true;
  }

  void set_copies(int g, std::set<NodeId> copies) {
    for (const NodeId id : copies_[static_cast<size_t>(g)]) copiers_[id].erase(g);
    for (const NodeId id : copies) copiers_[id].insert(g);
    copies_[static_cast<size_t>(g)] = std::move(copies);
  }
  // The groups that compute a node of another group again.
  const std::set<int>& copiers(NodeId id) const {
    const auto found = copiers_.find(id);
    return found == copiers_.end() ? nobody_ : found->second;
  }

  std::vector<FusionGroup> described_groups() const {
    std::vector<FusionGroup> groups(groups_.count());
    for (int g = 0; g < static_cast<int>(groups_.count()); ++g)
      if (!members(g).empty()) groups[static_cast<size_t>(g)] = describe_group(g);
    return groups;
  }

  std::vector<FusionGroup> ordered_groups() {
    const std::vector<FusionGroup> groups = described_groups();
    std::vector<bool> placed(groups.size(), false);
    std::map<NodeId, int> stored_by;
    for (size_t g = 0; g < groups.size(); ++g)
      for (NodeId id : groups[g].outputs) stored_by[id] = static_cast<int>(g);
    std::vector<FusionGroup> order;
    std::function<void(size_t)> place = [&](size_t g) {
      if (placed[g]) return;
      placed[g] = true;
      for (NodeId in : groups[g].inputs)
        if (auto it = stored_by.find(in); it != stored_by.end() && it->second != static_cast<int>(g))
          place(static_cast<size_t>(it->second));
      order.push_back(groups[g]);
    };
    for (size_t g = 0; g < groups.size(); ++g)
      if (!groups[g].outputs.empty()) place(g);
    std::vector<std::string> words;
    for (FusionGroup& group : order) {
      const Verdict verdict = accepts_(graph_, group, options_);
      SMELT_CHECK(verdict.accepted, "no schedule for the group that writes %{}: {}", group.outputs[0], verdict.reason);
      group.strategy = verdict.strategy;
      group.schedule_note = verdict.note;
      words.push_back(verdict.batch);
      for (const auto& [id, how] : verdict.kept) kept_[id] = how;
    }
    return options_.fuse ? batch_groups(graph_, std::move(order), words, options_) : order;
  }

  std::vector<Decision> decisions() const {
    std::vector<Decision> result;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const NodeId producer = static_cast<NodeId>(i);
      if (!edges_.computing[i]) continue;
      for (NodeId consumer : consumers(producer)) result.push_back(decide(producer, consumer));
    }
    return result;
  }

  Decision decide(NodeId producer, NodeId consumer) const {
    Decision d{producer, consumer, false, {}, 0, {}, {}};
    const int64_t bytes = edges_.bytes(graph_, producer);
    const bool several = consumers(producer).size() > 1, first = consumers(producer).front() == consumer;
    const int a = group_of(producer), b = group_of(consumer);
    if (a == b) {
      d.fused = true;
      // The store is counted once, with the first reader; so the edges add up to what fusion saves.
      d.bytes = bytes + (first && !needed_in_memory(producer) ? bytes : 0);
      d.reason = fused_reason(producer, consumer);
      if (kept_.count(producer)) d.value_policy = "kept";
      if (several) d.value_policy = "kept";
    } else if (copied_into(b, producer)) {
      d.fused = true;
      d.bytes = bytes;
      d.reason = "cheap enough to compute again where it is read";
      d.value_policy = "recomputed";
    } else {
      d.bytes = bytes + (first ? bytes : 0);
      if (several) d.value_policy = "stored";
      if (!options_.fuse) {
        d.reason = "fusion is off";
        d.remedy = "run with fusion";
      } else if (repeats_too_much(producer, consumer)) {
        d.reason = fmt::format("{} elements would be computed again for each of {}",
                               edges_.elements[static_cast<size_t>(producer)], reach(consumer));
        d.remedy = "nothing: storing the small value is cheaper";
      } else if (const Split* split = apart(a, b)) {
        d.reason = fmt::format("built as one kernel they spill {} bytes per thread", split->spilled_bytes);
        d.remedy = "fewer values that are needed at the same time";
      } else if (too_deep(a, b)) {
        d.reason = fmt::format("a kernel may have no more than {} operations", options_.depth);
        d.remedy = "a higher limit";
      } else if (too_long(a, b)) {
        d.reason = "together they are more operations than one kernel is compiled for";
        d.remedy = "nothing: so long a kernel is bound by arithmetic, not by memory";
      } else if (groups_.path_around(a, b)) {
        d.reason = "another kernel between them needs the one and feeds the other";
        d.remedy = "fuse or move what stands between";
      } else {
        const int reader = home(consumer);
        const Verdict verdict = accepts_(graph_, describe(united(a, reader), united_copies(a, reader)), options_);
        d.reason = !verdict.accepted       ? verdict.reason
                   : !verdict.dear.empty() ? verdict.dear
                                           : "each alone may join others that the two together may not";
        d.remedy =
            verdict.accepted && !verdict.dear.empty() ? "nothing: storing the value takes less time" : verdict.remedy;
      }
    }
    return d;
  }

  // Whether a copy of `c` in some other group finds `id` in memory.
  bool read_by_copy(NodeId c, NodeId id) const {
    const std::set<int>& all = copiers(c);
    return std::any_of(all.begin(), all.end(), [&](int g) { return !copied_into(g, id) && group_of(id) != g; });
  }
  // The group that computes a node for good: its own, or the first with a copy when its own stores nothing any more.
  int home(NodeId id) const {
    if (!describe_group(group_of(id)).outputs.empty()) return group_of(id);
    const std::set<int>& all = copiers(id);
    return all.empty() ? group_of(id) : *all.begin();
  }
  bool copied_into(int g, NodeId id) const { return copies_[static_cast<size_t>(g)].count(id) > 0; }
  bool needed_in_memory(NodeId id) const {
    return edges_.is_output[static_cast<size_t>(id)] ||
           std::any_of(consumers(id).begin(), consumers(id).end(),
                       [&](NodeId c) { return group_of(c) != group_of(id) && !copied_into(group_of(c), id); });
  }

  std::string fused_reason(NodeId producer, NodeId consumer) const {
    if (const auto kept = kept_.find(producer); kept != kept_.end()) return kept->second;
    if (graph_.at(consumer).local) return "computed for every window that it is in";
    const bool from_reduce = graph_.at(producer).kind == NodeKind::Reduce && !graph_.at(producer).local;
    const bool to_reduce = graph_.at(consumer).kind == NodeKind::Reduce;
    const bool from_scan = graph_.at(producer).kind == NodeKind::Scan;
    const bool to_scan = graph_.at(consumer).kind == NodeKind::Scan;
    if (from_scan && to_scan) return "both run along the row together";
    if (to_scan)
      return from_reduce ? "the row is still on chip when its reduction is done" : "computed on the way into the scan";
    if (from_scan)
      return to_reduce ? "reduced as the scan goes along" : "computed of each running value before it is stored";
    if (from_reduce && to_reduce) return "reductions over the same rows";
    if (from_reduce) return "the rest of the row is still on chip when its reduction is done";
    if (to_reduce) return "computed on the way into the reduction";
    return consumers(producer).size() == 1 ? "elementwise into its only reader" : "elementwise, at the same index";
  }

  Traffic traffic(const Plan& plan) const {
    Traffic t;
    std::set<const CustomUse*> calls;  // which read their arguments once for all of their results
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      const CustomUse* call = graph_.at(id).custom.get();
      if (!edges_.computing[i]) continue;
      t.unfused_bytes +=
          call && !calls.insert(call).second ? edges_.bytes(graph_, id) : edges_.unfused_bytes(graph_, id);
    }
    std::set<NodeId> inputs;
    std::vector<const FusionGroup*> groups;
    for (const FusionGroup& group : plan.groups) {
      if (group.parts.empty()) groups.push_back(&group);
      for (const FusionGroup& part : group.parts) groups.push_back(&part);
    }
    for (const FusionGroup* part : groups) {
      const FusionGroup& group = *part;
      for (NodeId id : group.inputs) {
        t.fused_bytes += edges_.bytes(graph_, id);
        if (graph_.at(id).kind == NodeKind::Input) inputs.insert(id);
      }
      for (NodeId id : group.outputs) t.fused_bytes += edges_.bytes(graph_, id);
    }
    for (NodeId id : inputs) t.ideal_bytes += edges_.bytes(graph_, id);
    for (NodeId id : std::set<NodeId>(graph_.outputs.begin(), graph_.outputs.end()))
      t.ideal_bytes += edges_.bytes(graph_, id);
    return t;
  }

  const Graph& graph_;
  const Options& options_;
  const Accepts& accepts_;
  Edges edges_;
  Groups groups_;
  std::vector<int> work_;  // per group
  std::vector<std::optional<int64_t>>
      points_;                              // per group without reductions, scans and the like: of its largest value
  std::vector<std::optional<Shape>> even_;  // per group: the shape of every value, if equal and none is reduced
  std::vector<std::set<NodeId>> copies_;    // per group: nodes of other groups that it computes again
  std::unordered_map<NodeId, std::set<int>> copiers_;  // the other way round
  const std::set<int> nobody_;
  std::map<NodeId, std::string> kept_;  // values that a schedule keeps for several readers, and how
};

}  // namespace

Plan make_plan(const Graph& graph, const Options& options, const Accepts& accepts) {
  return Planner(graph, options, accepts).run();
}

}  // namespace smelt::plan

#include "plan/partition.hpp"

#include <algorithm>

#include "schedule/candidates.hpp"
#include "schedule/cut.hpp"
#include "schedule/operations.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::plan {

using schedule::repeat_cost;

// Instructions past which a kernel takes too long to compile. It is then bound by arithmetic, so
// that the bytes of a cut do not show.
static constexpr int kMostInstructions = 4000;
// What is no more than this is not worth a second look.
static constexpr int kNothingToRepeat = 16;
// Operations that a thread of a CPU, or a multiprocessor, does in the time that one more kernel
// takes to start. A CPU of our own threads is taken for one: what is in a kernel decides its lanes,
// and those the order of sums, which must not follow from the threads at hand.
static constexpr int64_t kLaunchWork = 1 << 18;

constexpr size_t kForGood = SIZE_MAX;

static uint64_t pair_of(int a, int b) {
  return static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32 | static_cast<uint32_t>(b);
}

// Whether it reads what other nodes compute at its own index only: no view is between.
static bool reads_directly(const Graph& graph, const Edges& edges, NodeId id) {
  const Node& node = graph.at(id);
  if (node.kind != NodeKind::Elementwise && node.kind != NodeKind::Cast) return false;
  const auto computing = [&](NodeId arg) { return edges.computing[static_cast<size_t>(arg)]; };
  return std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) {
    if (computing(arg)) return true;
    while (is_view(graph.at(arg).kind) && !computing(arg)) arg = graph.at(arg).args[0];
    return !computing(arg);
  });
}

// How often what an element of it is made of is needed: single elements that are joined are
// computed together.
int64_t Partition::evaluations(NodeId id, int64_t elements) const {
  while (graph_.at(id).kind == NodeKind::Reshape) id = graph_.at(id).args[0];
  const Node& node = graph_.at(id);
  if (node.kind != NodeKind::Concat) return elements;
  const auto axis = static_cast<size_t>(node.axes[0]);
  const auto parts = static_cast<int64_t>(node.args.size());
  const bool together = options_.target.gpu || !options_.target.plain;
  return together && node.shape[axis].is(parts) && parts <= schedule::kMostJoined ? elements / parts : elements;
}

Partition::Partition(const Graph& graph, const Options& options)
    : graph_(graph), options_(options), edges_(graph, options.sizes), groups_(edges_) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!edges_.computing[i]) continue;
    const Node& node = graph.nodes[i];
    // A view that is an output is stored in the order of what it views.
    const bool asks = node.kind == NodeKind::Reduce || node.kind == NodeKind::Scan || node.kind == NodeKind::Custom ||
                      node.kind == NodeKind::Scatter || is_view(node.kind);
    first_.push_back(static_cast<NodeId>(i));
    even_.push_back(asks ? std::nullopt : std::optional(node.shape));
    instructions_.push_back(schedule::instructions_of(node));
    repeat_.push_back(repeat_cost(graph, node));
    repeatable_.push_back(recomputable(node));
    points_.push_back(recomputable(node) ? std::optional(evaluations(static_cast<NodeId>(i), edges_.elements[i]))
                                         : std::nullopt);
  }
  copies_.resize(groups_.count());
  still_.assign(groups_.count(), true);
  here_.resize(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const int g = groups_.of(static_cast<NodeId>(i));
    direct_.push_back(g >= 0 && reads_directly(graph, edges_, static_cast<NodeId>(i)));
    here_[i] = g >= 0 && even_[static_cast<size_t>(g)];  // of others the schedules say it
  }
  merge_results();
  steps_.clear();  // these results were never apart
}

FusionGroup Partition::describe(const std::vector<NodeId>& own, const std::set<NodeId>& copies, bool as_one) const {
  FusionGroup group;
  std::set<NodeId> inside(own.begin(), own.end());
  for (NodeId id : inside) {
    const bool read_outside = std::any_of(consumers(id).begin(), consumers(id).end(), [&](NodeId c) {
      return (!inside.count(c) && !copied_into(group_of(c), id)) ||
             read_by_copy(c, id, as_one ? inside : std::set<NodeId>{});
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

bool Partition::stands_as_one(const FusionGroup& apart, const std::vector<NodeId>& own,
                              const std::set<NodeId>& copies) const {
  const FusionGroup one = describe(own, copies, true);
  return one.outputs == apart.outputs || std::holds_alternative<schedule::Schedule>(scheduled(one));
}

std::vector<NodeId> Partition::united(int a, int b) const {
  std::vector<NodeId> nodes = members(a);
  nodes.insert(nodes.end(), members(b).begin(), members(b).end());
  return nodes;
}

bool Partition::has_product(int g) const {
  return std::any_of(members(g).begin(), members(g).end(),
                     [&](NodeId id) { return edges_.multiplication_of(graph_, id) >= 0; });
}

void Partition::merge(int from, int into) {
  const auto f = static_cast<size_t>(from), i = static_cast<size_t>(into);
  if (!(even_[f] && even_[i] && *even_[f] == *even_[i])) even_[i].reset();
  instructions_[i] += instructions_[f];
  repeat_[i] += repeat_[f];
  repeatable_[i] = repeatable_[i] && repeatable_[f];
  points_[i] = points_[i] && points_[f] ? std::optional(std::max(*points_[i], *points_[f])) : std::nullopt;
  still_[i] = still_[i] && still_[f];
  groups_.merge(from, into);
  steps_.push_back({Step::Kind::Merge, pass_, first_[f], first_[i], {}});
}

void Partition::apply(const Step& step) {
  const auto group = [&](NodeId first) {
    return static_cast<int>(std::lower_bound(first_.begin(), first_.end(), first) - first_.begin());
  };
  if (step.kind == Step::Kind::Merge)
    merge(group(step.from), group(step.into));
  else
    set_copies(group(step.into), {step.copies.begin(), step.copies.end()});
}

bool Partition::try_merge(int from, int into) {
  if (surely_accepted(from, into)) {
    merge(from, into);
    return true;
  }
  if (known_refusal(from, into)) return false;
  const std::vector<NodeId> both = united(from, into);
  const FusionGroup apart = describe(both);
  const auto found = scheduled(apart);
  const auto* schedule = std::get_if<schedule::Schedule>(&found);
  const bool pays = schedule && (schedule->unprofitable.empty() ||
                                 (schedule->repeats && is_less_as_one(from, into, apart, *schedule)));
  if (!pays || !stands_as_one(apart, both)) {
    // What is computed too often stays so in larger groups.
    const bool for_good = schedule ? !schedule->unprofitable.empty() : std::get<schedule::Refusal>(found).too_long;
    refused_[pair_of(groups_.core(from), groups_.core(into))] =
        for_good ? kForGood : members(from).size() + members(into).size();
    if (for_good) reasons_[pair_of(groups_.core(from), groups_.core(into))] = words_of(found);
    return false;
  }
  merge_as(*schedule, from, into);
  return true;
}

bool Partition::is_rare(int g) const {
  constexpr int64_t kTimesAsMany = 64;
  return std::any_of(members(g).begin(), members(g).end(), [&](NodeId id) {
    return std::any_of(consumers(id).begin(), consumers(id).end(), [&](NodeId c) {
      return group_of(c) != g && edges_.elements[static_cast<size_t>(id)] * kTimesAsMany < reach(c);
    });
  });
}

bool Partition::try_merge_for_less(int from, int into) {
  if (is_rare(from)) return false;  // the model does not know all that this costs
  const std::vector<NodeId> both = united(from, into);
  const FusionGroup apart = describe(both);
  const auto made = scheduled(apart);
  const auto* schedule = std::get_if<schedule::Schedule>(&made);
  if (!schedule || !is_less_as_one(from, into, apart, *schedule) || !stands_as_one(apart, both)) return false;
  merge_as(*schedule, from, into);
  return true;
}

void Partition::merge_as(const schedule::Schedule& schedule, int from, int into) {
  merge(from, into);
  still_[static_cast<size_t>(into)] = false;
  for (const NodeId id : members(into)) here_[static_cast<size_t>(id)] = false;
  for (const NodeId id : schedule.domain.here) here_[static_cast<size_t>(id)] = true;
}

bool Partition::is_less_as_one(int a, int b, const FusionGroup& both, const schedule::Schedule& schedule) const {
  // Models of much that is computed again err, and what is stored between two kernels must count.
  constexpr double kLess = 0.8, kOfStoring = 0.1;  // of the time of two
  if (!options_.target.gpu || options_.target.plain) return false;
  double apart = 0, between = 0;
  for (const NodeId id : describe_group(a).outputs) between += 2 * static_cast<double>(edges_.bytes(graph_, id));
  for (const int g : {a, b}) {
    const FusionGroup group = describe_group(g);
    const auto made = scheduled(group);
    const auto* own = std::get_if<schedule::Schedule>(&made);
    if (!own) return false;
    apart += schedule::predict(graph_, group, *own, options_).us;
  }
  if (between / schedule::facts_of(options_.target).memory_bytes < kOfStoring * apart) return false;
  return schedule::predict(graph_, both, schedule, options_).us <= kLess * apart;
}

std::pair<std::string, std::string> words_of(const std::variant<schedule::Schedule, schedule::Refusal>& made) {
  if (const auto* refusal = std::get_if<schedule::Refusal>(&made)) return {refusal->reason, refusal->remedy};
  const std::string& unprofitable = std::get<schedule::Schedule>(made).unprofitable;
  if (unprofitable.empty()) return {"each alone may join others that the two together may not", ""};
  return {unprofitable, "nothing: storing the value takes less time"};
}

const std::pair<std::string, std::string>* Partition::why_never(int a, int b) const {
  const auto known = reasons_.find(pair_of(groups_.core(a), groups_.core(b)));
  return known == reasons_.end() ? nullptr : &known->second;
}

bool Partition::never_one(int a, int b) const {
  const auto known = refused_.find(pair_of(groups_.core(a), groups_.core(b)));
  return known != refused_.end() && known->second == kForGood && repeatable_[static_cast<size_t>(a)];
}

bool Partition::known_refusal(int a, int b) const {
  const auto known = refused_.find(pair_of(groups_.core(a), groups_.core(b)));
  return known != refused_.end() &&
         (known->second == kForGood || known->second == members(a).size() + members(b).size());
}

bool Partition::takes(const FusionGroup& group) const {
  const auto found = scheduled(group);
  const auto* schedule = std::get_if<schedule::Schedule>(&found);
  return schedule && schedule->unprofitable.empty();
}

const Split* Partition::apart(int a, int b) const {
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

bool Partition::too_deep(int a, int b) const {
  return options_.depth > 0 && members(a).size() + members(b).size() > static_cast<size_t>(options_.depth);
}

bool Partition::too_long(int a, int b) const {
  if (apart(a, b) || too_deep(a, b)) return true;
  return instructions_[static_cast<size_t>(a)] + instructions_[static_cast<size_t>(b)] > kMostInstructions;
}

bool Partition::are_slower_as_one_product(int a, int b) const {
  constexpr double kClearly = 1.1;
  if (!has_product(a) || !has_product(b)) return false;
  const auto first = us_of_product(describe_group(a)), second = us_of_product(describe_group(b));
  if (!first || !second) return false;
  const auto both = us_of_product(describe(united(a, b), united_copies(a, b)));
  return both && *both > kClearly * (*first + *second);
}

std::optional<double> Partition::us_of_product(const FusionGroup& group) const {
  const auto made = scheduled(group);
  const auto* s = std::get_if<schedule::Schedule>(&made);
  if (!s || !s->product) return std::nullopt;
  Options options = options_;
  if (!options.target.gpu) options.target.threads = schedule::kThreadsOfACpu;
  return schedule::predict(graph_, group, *s, options).us;
}

bool Partition::repeats_too_much(NodeId producer, NodeId consumer) const {
  const auto g = static_cast<size_t>(group_of(producer));
  return repeatable_[g] && repeats_too_much(repeat_[g], producer, reach(consumer));
}

bool Partition::repeats_too_much(int64_t cost, NodeId id, int64_t points) const {
  const int processors = options_.target.gpu || options_.target.plain ? options_.target.threads : 1;
  return cost > kNothingToRepeat && is_read_more_often(id, points) &&
         (points - edges_.elements[static_cast<size_t>(id)]) * cost > kLaunchWork * processors;
}

bool Partition::repeats_too_much(int producers) const {
  return std::any_of(members(producers).begin(), members(producers).end(), [&](NodeId id) {
    return std::any_of(consumers(id).begin(), consumers(id).end(),
                       [&](NodeId c) { return group_of(c) != producers && repeats_too_much(id, c); });
  });
}

bool Partition::is_read_more_often(NodeId id, int64_t points) const {
  const int64_t n = edges_.elements[static_cast<size_t>(id)];
  return n > 1 && n * 4 <= points;
}

int64_t Partition::reach(NodeId id) const {
  if (const auto& points = points_[static_cast<size_t>(group_of(id))]) return *points;
  const Node& node = graph_.at(id);
  return edges_.elements[static_cast<size_t>(node.kind == NodeKind::Reduce ? node.args[0] : id)];
}

bool Partition::surely_accepted(int from, int into) const {
  const auto f = static_cast<size_t>(from), i = static_cast<size_t>(into);
  if (!still_[i] || !even_[i]) return false;
  // After reductions; where outputs have several shapes, one more may be too many of a point.
  const bool one_more = !options_.target.gpu && members(into).size() == 1 && !repeatable_[f];
  if (even_[f] ? !(*even_[f] == *even_[i]) : !one_more || !reads_only(members(into)[0], from)) return false;
  return reads_here(from, into);
}

bool Partition::reads_here(int from, int into) const {
  const auto here = [&](NodeId source, NodeId reader) {
    return direct_[static_cast<size_t>(reader)] && here_[static_cast<size_t>(source)];
  };
  if (members(from).size() < members(into).size())
    return std::all_of(members(from).begin(), members(from).end(), [&](NodeId id) {
      return std::all_of(consumers(id).begin(), consumers(id).end(),
                         [&](NodeId c) { return group_of(c) != into || here(id, c); });
    });
  return std::all_of(members(into).begin(), members(into).end(), [&](NodeId id) {
    return std::all_of(sources(id).begin(), sources(id).end(),
                       [&](NodeId s) { return group_of(s) != from || here(s, id); });
  });
}

// Nothing but elements of that group, and constants.
bool Partition::reads_only(NodeId reader, int group) const {
  return std::all_of(sources(reader).begin(), sources(reader).end(),
                     [&](NodeId s) { return group_of(s) == group && graph_.at(s).kind != NodeKind::Input; });
}

bool Partition::reads(int g, NodeId id) const {
  const auto inside = [&](NodeId n) { return group_of(n) == g || copied_into(g, n); };
  if (inside(id) && graph_.at(id).kind != NodeKind::Input) return false;
  if (consumers(id).size() <= members(g).size()) return std::any_of(consumers(id).begin(), consumers(id).end(), inside);
  const auto from = [&](NodeId n) { return std::count(sources(n).begin(), sources(n).end(), id) > 0; };
  return std::any_of(members(g).begin(), members(g).end(), from) ||
         std::any_of(copies(g).begin(), copies(g).end(), from);
}

std::set<NodeId> Partition::united_copies(int a, int b) const {
  std::set<NodeId> copies = copies_[static_cast<size_t>(a)];
  copies.insert(copies_[static_cast<size_t>(b)].begin(), copies_[static_cast<size_t>(b)].end());
  for (NodeId id : united(a, b)) copies.erase(id);
  return copies;
}

void Partition::set_copies(int g, std::set<NodeId> copies) {
  for (const NodeId id : copies_[static_cast<size_t>(g)]) copiers_[id].erase(g);
  for (const NodeId id : copies) copiers_[id].insert(g);
  if (copies != copies_[static_cast<size_t>(g)])
    steps_.push_back(
        {Step::Kind::Recompute, pass_, -1, first_[static_cast<size_t>(g)], {copies.begin(), copies.end()}});
  copies_[static_cast<size_t>(g)] = std::move(copies);
}

const std::set<int>& Partition::copiers(NodeId id) const {
  const auto found = copiers_.find(id);
  return found == copiers_.end() ? nobody_ : found->second;
}

std::vector<FusionGroup> Partition::described_groups() const {
  std::vector<FusionGroup> groups(groups_.count());
  for (int g = 0; g < static_cast<int>(groups_.count()); ++g)
    if (!members(g).empty()) groups[static_cast<size_t>(g)] = describe_group(g);
  return groups;
}

bool Partition::read_by_copy(NodeId c, NodeId id, const std::set<NodeId>& inside) const {
  const std::set<int>& all = copiers(c);
  return std::any_of(all.begin(), all.end(), [&](int g) {
    return !copied_into(g, id) && group_of(id) != g && (members(g).empty() || !inside.count(members(g).front()));
  });
}

int Partition::home(NodeId id) const {
  if (!describe_group(group_of(id)).outputs.empty()) return group_of(id);
  const std::set<int>& all = copiers(id);
  return all.empty() ? group_of(id) : *all.begin();
}

void Partition::merge_results() {
  std::unordered_map<const CustomUse*, NodeId> first;
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (graph_.at(id).kind != NodeKind::Custom) continue;
    const auto [known, fresh] = first.try_emplace(graph_.at(id).custom.get(), id);
    if (!fresh) merge(group_of(id), group_of(known->second));
  }
}

}  // namespace smelt::plan

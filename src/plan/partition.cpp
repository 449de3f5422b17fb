#include "plan/partition.hpp"

#include <algorithm>

#include "schedule/operations.hpp"

namespace smelt::plan {

using schedule::repeat_cost;

// Operations, weighed by what each costs, past which a kernel takes too long to compile. It is then bound by arithmetic, so that the
// bytes of a cut do not show.
static constexpr int kMostWork = 8000;
// What is no more than this is not worth a second look.
static constexpr int kNothingToRepeat = 16;
// Operations that a thread of a CPU, or a multiprocessor, does in the time that one more kernel takes to start.
static constexpr int64_t kLaunchWork = 1 << 18;

Partition::Partition(const Graph& graph, const Options& options)
    : graph_(graph), options_(options), edges_(graph, options.sizes), groups_(edges_) {
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

FusionGroup Partition::describe(const std::vector<NodeId>& own, const std::set<NodeId>& copies) const {
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

std::vector<NodeId> Partition::united(int a, int b) const {
  std::vector<NodeId> nodes = members(a);
  nodes.insert(nodes.end(), members(b).begin(), members(b).end());
  return nodes;
}

void Partition::merge(int from, int into) {
  if (!surely_accepted(from, into)) even_[static_cast<size_t>(into)].reset();
  work_[static_cast<size_t>(into)] += work_[static_cast<size_t>(from)];
  auto &x = points_[static_cast<size_t>(into)], &y = points_[static_cast<size_t>(from)];
  x = x && y ? std::optional(std::max(*x, *y)) : std::nullopt;
  groups_.merge(from, into);
}

bool Partition::takes(const FusionGroup& group) const {
  const auto found = scheduled(group);
  const auto* schedule = std::get_if<schedule::Schedule>(&found);
  return schedule && schedule->dear.empty();
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
  return work_[static_cast<size_t>(a)] + work_[static_cast<size_t>(b)] > kMostWork;
}

bool Partition::repeats_too_much(NodeId producer, NodeId consumer) const {
  if (!is_read_more_often(producer, reach(consumer))) return false;
  int cost = 0;
  for (NodeId id : members(group_of(producer))) {
    if (!recomputable(graph_.at(id))) return false;
    cost += repeat_cost(graph_, graph_.at(id));
  }
  return repeats_too_much(cost, producer, reach(consumer));
}

bool Partition::repeats_too_much(int cost, NodeId id, int64_t points) const {
  return cost > kNothingToRepeat && is_read_more_often(id, points) &&
         (points - edges_.elements[static_cast<size_t>(id)]) * cost > kLaunchWork * options_.target.threads;
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

bool Partition::surely_accepted(int a, int b) const {
  const auto &x = even_[static_cast<size_t>(a)], &y = even_[static_cast<size_t>(b)];
  return x && y && *x == *y;
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

bool Partition::read_by_copy(NodeId c, NodeId id) const {
  const std::set<int>& all = copiers(c);
  return std::any_of(all.begin(), all.end(), [&](int g) { return !copied_into(g, id) && group_of(id) != g; });
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

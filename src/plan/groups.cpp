#include "plan/groups.hpp"

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace smelt::plan {

static constexpr NodeId kAny = std::numeric_limits<NodeId>::max();

Groups::Groups(const Edges& edges) : bag_of_(edges.computing.size(), -1) {
  for (size_t i = 0; i < edges.computing.size(); ++i) {
    if (!edges.computing[i]) continue;
    const int g = static_cast<int>(bags_.size());
    const auto id = static_cast<NodeId>(i);
    bag_of_[i] = g;
    bag_in_.push_back(g);
    bags_.push_back({g, {id}, id, id, {edges.consumers[i].begin(), edges.consumers[i].end()}});
  }
}

int Groups::of(NodeId id) const {
  const int b = bag_of_[static_cast<size_t>(id)];
  return b < 0 ? -1 : bags_[static_cast<size_t>(b)].group;
}

void Groups::merge(int from, int into) {
  int &small = bag_in_[static_cast<size_t>(from)], &large = bag_in_[static_cast<size_t>(into)];
  if (bag(from).nodes.size() > bag(into).nodes.size()) std::swap(small, large);
  Bag &source = bag(from), &target = bag(into);
  source.group = from;
  target.group = into;
  for (NodeId id : source.nodes) bag_of_[static_cast<size_t>(id)] = large;
  target.nodes.insert(target.nodes.end(), source.nodes.begin(), source.nodes.end());
  target.first = std::min(target.first, source.first);
  target.last = std::max(target.last, source.last);
  if (source.consumers.size() > target.consumers.size()) std::swap(source.consumers, target.consumers);
  target.consumers.insert(source.consumers.begin(), source.consumers.end());
  source.nodes.clear();
  source.consumers.clear();
}

// Calls f for the groups that read group g through a node up to `last`, until it says true.
template <class F>
bool Groups::any_consumer(int g, NodeId last, const F& f) const {
  std::set<NodeId>& all = bag(g).consumers;
  for (auto it = all.begin(); it != all.end() && *it <= last;) {
    const int next = of(*it);
    if (next == g) {
      it = all.erase(it);
      continue;
    }
    if (f(next)) return true;
    ++it;
  }
  return false;
}

bool Groups::adjacent(int a, int b) const {
  return any_consumer(a, bag(b).last, [&](int next) { return next == b; });
}

bool Groups::path_around(int a, int b) const {
  std::vector<int> todo;
  std::unordered_set<int> seen{a, b};
  // A group leads to b if some node of it is before the last of b, whichever of its nodes it
  // was entered by.
  const NodeId last = bag(b).last;
  const auto reach = [&](int next) {
    if (bag(next).first <= last && seen.insert(next).second) todo.push_back(next);
    return false;
  };
  any_consumer(a, kAny, reach);
  while (!todo.empty()) {
    const int g = todo.back();
    todo.pop_back();
    if (any_consumer(g, kAny, [&](int next) { return next == b || reach(next); })) return true;
  }
  return false;
}

}  // namespace smelt::plan

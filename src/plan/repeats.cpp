#include "plan/repeats.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "schedule/candidates.hpp"
#include "schedule/operations.hpp"

namespace smelt::plan {
namespace {

// A value is computed again in each reader when that takes no more than this many operations an
// element.
constexpr int kCheapToRepeat = 60, kLittleToRepeat = 12;

class Repeats {
 public:
  explicit Repeats(Partition& parts) : parts_(parts) {}

  // Whether values are stored in place of larger ones.
  bool run() {
    for (size_t i = parts_.graph().nodes.size(); i-- > 0;) {
      const NodeId id = static_cast<NodeId>(i);
      if (!parts_.edges().computing[i] || parts_.edges().is_output[i]) continue;
      std::set<int> readers;  // those that compute a reader of it again are some, too
      for (NodeId c : parts_.consumers(id)) {
        std::set<int> of = parts_.copiers(c);
        of.insert(parts_.group_of(c));
        for (const int g : of)
          if (g != parts_.group_of(id) && !parts_.copied_into(g, id)) readers.insert(g);
      }
      if (readers.empty()) continue;
      // Products have schedules of their own for what they compute on the way to their factors.
      const bool multiplies = std::any_of(readers.begin(), readers.end(), [&](int g) { return parts_.has_product(g); });
      const Chain whole = chain_of(id, Stops::AtReductions);
      if (!multiplies && had_better_be_stored(id, whole)) continue;
      if (const Chain rare = multiplies ? Chain{} : chain_of(id, Stops::AtRare);
          stores_rare(id, rare, whole) && repeat(id, rare, readers, Stops::AtRare))
        continue;
      if (repeat(id, whole, readers, Stops::AtReductions) ||
          repeat(id, chain_of(id, Stops::AtStored), readers, Stops::AtStored) ||
          repeat(id, chain_of(id, Stops::AtSmaller), readers, Stops::AtSmaller))
        continue;
      // A cast of what is read takes nothing, however often.
      if (widens(id) && worth_repeating(id, {id}, readers, Stops::AtReductions))
        apply_repeat({id}, readers, std::nullopt);
    }
    return stores_smaller_;
  }

 private:
  // Where what is repeated stops: at what its group stores for others in any case, or at what has
  // fewer elements, or far fewer, and is stored instead.
  enum class Stops : uint8_t { AtReductions, AtStored, AtSmaller, AtRare };

  // What must be repeated for a value, and the operations that it takes of an element; nothing
  // where they are too many, and then the nodes are not all.
  struct Chain {
    std::vector<NodeId> nodes;
    std::optional<int> cost;
  };

  // A value that all readers need for more elements than it has, of a group that computes in any
  // case: repeated it would be computed for each of those.
  bool had_better_be_stored(NodeId id, const Chain& whole) const {
    const auto& consumers = parts_.consumers(id);
    return whole.cost && reads_own(id, whole) > 0 && std::all_of(consumers.begin(), consumers.end(), [&](NodeId c) {
             return lives_with(c, id) || parts_.is_read_more_often(id, parts_.reach(c));
           });
  }

  // What a chain needs of its own group, which must be stored for it.
  size_t reads_own(NodeId id, const Chain& chain) const {
    const std::set<NodeId> needed = needed_by(chain.nodes);
    return static_cast<size_t>(
        std::count_if(needed.begin(), needed.end(), [&](NodeId s) { return lives_with(s, id); }));
  }

  // Whether values of far fewer elements are stored rather than computed for every element: they
  // are no more of them than what they are computed from, or each saves operations.
  bool stores_rare(NodeId id, const Chain& rare, const Chain& whole) const {
    constexpr int kOfARead = 8;
    if (!rare.cost || whole.nodes.size() == rare.nodes.size()) return false;
    const size_t stored = reads_own(id, rare), before = reads_own(id, whole);
    if (before == 0) return false;
    return stored <= before || !whole.cost || *whole.cost - *rare.cost > kOfARead * static_cast<int>(stored - before);
  }

  bool repeat(NodeId id, const Chain& made, const std::set<int>& readers, Stops stops) {
    const auto& [chain, cost] = made;
    if (!cost) return false;
    // What reads nothing costs no more for many readers, nor do these read it elsewhere. Every
    // reader of one number computes it once for all of its elements.
    const bool from_nothing = needed_by(chain).empty();
    if (!from_nothing && readers.size() > 4 && parts_.edges().elements[static_cast<size_t>(id)] > 1) return false;
    // Groups that are two because of what would be repeated do not repeat it in parts; a few
    // operations were not the reason.
    const bool are_two = std::any_of(readers.begin(), readers.end(), [&](int g) {
      return parts_.apart(parts_.group_of(id), g) || (!from_nothing && parts_.never_one(parts_.group_of(id), g));
    });
    if (stops == Stops::AtSmaller && (*cost > kLittleToRepeat || !has_windows(parts_.group_of(id)))) return false;
    if (are_two && (stops == Stops::AtReductions || *cost > kLittleToRepeat)) return false;
    if (std::any_of(parts_.consumers(id).begin(), parts_.consumers(id).end(),
                    [&](NodeId c) { return parts_.repeats_too_much(*cost, id, parts_.reach(c)); }))
      return false;
    const bool repeats = worth_repeating(id, chain, readers, stops) && apply_repeat(chain, readers, limit_of(stops));
    stores_smaller_ = stores_smaller_ || (repeats && (stops == Stops::AtSmaller || stops == Stops::AtRare));
    return repeats;
  }

  // What the kernels of groups are predicted to take; nothing where one has no schedule.
  std::optional<double> time_of(const std::set<int>& groups) const {
    plan::Options options = parts_.options();
    if (!options.target.gpu) options.target.threads = schedule::kThreadsOfACpu;
    double us = 0;
    for (const int g : groups) {
      const FusionGroup group = parts_.describe_group(g);
      if (group.outputs.empty()) continue;
      auto made = parts_.scheduled(group);
      if (!std::holds_alternative<schedule::Schedule>(made)) return std::nullopt;
      auto own = std::make_shared<const schedule::Schedule>(std::get<schedule::Schedule>(std::move(made)));
      const auto better = schedule::far_better(parts_.graph(), group, parts_.options(), own);
      us += schedule::predict(parts_.graph(), group, better ? *better->schedule : *own, options).us;
    }
    return us;
  }

  // Whether it has the elements of what is read or of a value of its own group, in a wider type:
  // stored as they are they take less.
  bool widens(NodeId id) const {
    const Node& node = parts_.graph().at(id);
    if (node.kind != NodeKind::Cast || node.stops) return false;
    const NodeId from = behind_views(parts_.graph(), node.args[0]);
    return size_of(node.dtype) > size_of(parts_.graph().at(from).dtype) &&
           (parts_.graph().at(from).kind == NodeKind::Input || lives_with(from, id));
  }

  // What is repeated lives in the group of `id`.
  Chain chain_of(NodeId id, Stops stops) {
    std::vector<NodeId> chain;
    int cost = 0;
    std::vector<NodeId> todo{id};
    std::set<NodeId> seen{id};
    while (!todo.empty()) {
      const NodeId n = todo.back();
      todo.pop_back();
      if (!recomputable(parts_.graph().at(n))) {
        if (n == id) return {};
        continue;
      }
      chain.push_back(n);
      if ((cost += schedule::repeat_cost(parts_.graph(), parts_.graph().at(n))) > kCheapToRepeat)
        return {std::move(chain), std::nullopt};
      for (NodeId s : parts_.sources(n))
        if (lives_with(s, id) && seen.insert(s).second && !stops_at(stops, s, id)) todo.push_back(s);
    }
    return {std::move(chain), cost};
  }

  // Whether a group computes results of windows: those are read again for elements of windows.
  bool has_windows(int g) const {
    return std::any_of(parts_.members(g).begin(), parts_.members(g).end(),
                       [&](NodeId id) { return parts_.graph().at(id).local; });
  }

  bool stops_at(Stops stops, NodeId s, NodeId id) {
    const auto elements = [&](NodeId n) { return parts_.edges().elements[static_cast<size_t>(n)]; };
    return (stops == Stops::AtStored && is_stored(s)) ||
           (stops == Stops::AtSmaller && 2 * elements(s) <= elements(id)) ||
           (stops == Stops::AtRare && parts_.is_read_more_often(s, elements(id)));
  }

  // Whether the group of `id` computes `s`.
  bool lives_with(NodeId s, NodeId id) const {
    return parts_.computing(s) && parts_.group_of(s) == parts_.group_of(id);
  }

  // Whether its group stores it, as long as no copies are made.
  bool is_stored(NodeId id) {
    const auto [known, fresh] = stored_.try_emplace(parts_.group_of(id));
    if (fresh) known->second = parts_.describe_group(parts_.group_of(id)).outputs;
    return std::binary_search(known->second.begin(), known->second.end(), id);
  }

  // What the nodes of a chain read of others.
  std::set<NodeId> needed_by(const std::vector<NodeId>& chain) const {
    const std::set<NodeId> inside(chain.begin(), chain.end());
    std::set<NodeId> needed;
    for (NodeId n : chain)
      for (NodeId s : parts_.sources(n))
        if (!inside.count(s)) needed.insert(s);
    return needed;
  }

  bool worth_repeating(NodeId id, const std::vector<NodeId>& chain, const std::set<int>& readers, Stops stops) {
    const std::set<NodeId> needed = needed_by(chain);
    const int64_t store = parts_.edges().bytes(parts_.graph(), id);
    int64_t paid = 0, saved = store;
    for (int g : readers) {
      saved += store;
      for (NodeId s : needed)
        if (!parts_.reads(g, s)) paid += parts_.edges().bytes(parts_.graph(), s);
    }
    for (NodeId s : needed)  // what only lived on chip so far must be stored now
      if (lives_with(s, id) && !(stops == Stops::AtStored && is_stored(s)))
        paid += parts_.edges().bytes(parts_.graph(), s);
    return paid < saved;
  }

  // Only where it is predicted to take less than this share of the time; nothing: in any case.
  static std::optional<double> limit_of(Stops stops) {
    switch (stops) {
      case Stops::AtReductions: return std::nullopt;
      case Stops::AtStored: return 1;
      case Stops::AtSmaller: return 0.9;
      case Stops::AtRare: return std::nullopt;
    }
    return std::nullopt;
  }

  bool apply_repeat(const std::vector<NodeId>& chain, const std::set<int>& readers, std::optional<double> limit) {
    std::set<int> touched = readers;
    touched.insert(parts_.group_of(chain[0]));
    const auto time_before = limit ? time_of(touched) : std::nullopt;
    std::map<int, std::set<NodeId>> before;
    for (int g : readers) {
      before[g] = parts_.copies(g);
      std::set<NodeId> more = before[g];
      more.insert(chain.begin(), chain.end());
      parts_.set_copies(g, std::move(more));
    }
    stored_.clear();
    const bool are_taken = std::all_of(touched.begin(), touched.end(), [&](int g) {
      const FusionGroup group = parts_.describe_group(g);
      // A group with nothing left to store was there for the repeated values only.
      return group.outputs.empty() || parts_.takes(group);
    });
    const auto time_after = limit && are_taken ? time_of(touched) : std::nullopt;
    if (are_taken && (!limit || (time_before && time_after && *time_after < *limit * *time_before))) return true;
    for (auto& [reader, copies] : before) parts_.set_copies(reader, std::move(copies));
    return false;
  }

  Partition& parts_;
  bool stores_smaller_ = false;
  std::unordered_map<int, std::vector<NodeId>> stored_;  // by groups, while nothing changes them
};

}  // namespace

bool repeat_cheap_values(Partition& parts) { return Repeats(parts).run(); }

}  // namespace smelt::plan

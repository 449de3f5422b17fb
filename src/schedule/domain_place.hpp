// The first half of find_domain (domain.hpp). Internal to this folder.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>

#include "schedule/domain.hpp"

namespace smelt::schedule {

// Keeps why a group has no domain. Both ways to say so return false, for steps that return whether
// to go on.
class Refusing {
 protected:
  bool refuse(std::string reason, std::string remedy) {
    refusal_ = Refusal{std::move(reason), std::move(remedy)};
    return false;
  }
  // For groups that would be refused with more nodes, too.
  bool too_long(std::string reason, std::string remedy) {
    refusal_ = Refusal{std::move(reason), std::move(remedy), true};
    return false;
  }
  const Refusal& why() const { return *refusal_; }

 private:
  std::optional<Refusal> refusal_;
};

struct Placed {
  Domain domain;                               // its axes, reductions, scans and outputs; nothing is read yet
  std::map<NodeId, Index> result_index;        // of the results of reductions and scans
  std::unordered_set<NodeId> members, inputs;  // the nodes of the group, and its inputs
};

// The loops of a group, and where its reductions, scans and outputs lie in them; or why they have
// no loops in common. Where `finer` is true, axes that a reshape splits may be split; it says then
// whether some are.
std::variant<Placed, Refusal> place_domain(const Graph& graph, const Group& group, const SizeBinding& sizes,
                                           Online online, ShortAxes apart, bool& finer);

}  // namespace smelt::schedule

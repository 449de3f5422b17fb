// What a walk through a group has proved of indices: in a chain of pads and rolls the same few are
// asked for thousands of times.
#pragma once

#include <string>
#include <unordered_map>

#include "schedule/views.hpp"

namespace smelt::schedule {

// Cached proofs, for ranges that change by new symbols only.
class Proofs {
 public:
  bool holds_when_empty(const IntExpr& e, const Ranges& ranges) {
    const auto [known, fresh] = known_.try_emplace(e.str(), false);
    if (fresh) known->second = schedule::holds_when_empty(e, ranges);
    return known->second;
  }

 private:
  std::unordered_map<std::string, bool> known_;
};

std::vector<Piece> pieces(const Graph& graph, const Node& joined, const Index& index, const Ranges& ranges,
                          Proofs& proofs);

}  // namespace smelt::schedule

#include "kernel/lane_facts.hpp"

namespace smelt::kernel {

// Locals that only one of body and interior gives a value for each lane count as such in both.
void LaneWalk::add(const std::vector<Stmt>& body, LaneFacts& facts) const {
  const Lanes lanes(facts.steps.var, facts.in_lanes);
  for_each_stmt(body, [&](const Stmt& s) {
    if (const auto* let = s.get_if<Let>())
      facts.in_lanes[static_cast<size_t>(let->local)] = facts.in_lanes[static_cast<size_t>(let->local)] ||
                                                        differs_in_lanes(kernel_, let->value, lanes, facts.in_lanes);
    if (const auto* loop = s.get_if<Loop>()) widen(facts.ranges, loop->var, loop->extent);
  });
}

LaneFacts LaneWalk::facts_of(const Loop& loop) {
  LaneFacts facts{steps_of(loop), around_.ranges(), in_lanes_};
  widen(facts.ranges, loop.var, loop.extent);
  for (const IndexLocal& l : kernel_.index_locals) widen(facts.ranges, Symbol::local(l.local), l.extent);
  note_assigned(loop, facts.in_lanes);
  add(loop.body, facts);
  if (loop.interior) add(loop.interior->body, facts);
  return facts;
}

LaneFacts LaneWalk::facts_of(const Each& each) {
  LaneFacts facts{{each.var, each.lanes, false, false}, around_.ranges(), in_lanes_};
  widen(facts.ranges, each.var, each.extent);
  return facts;
}

}  // namespace smelt::kernel

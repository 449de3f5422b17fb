// What holds everywhere in a Vector loop on a CPU, in its body and in its interior, so that what is
// decided from it holds everywhere too.
#pragma once

#include <vector>

#include "kernel/conditions.hpp"
#include "kernel/lane_faults.hpp"
#include "kernel/lanes.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {

struct LaneFacts {
  LaneSteps steps;
  Ranges ranges;               // of the symbols around and inside, over all loops that have them
  std::vector<bool> in_lanes;  // locals that have a value for each lane somewhere inside
};

// Goes through a kernel and calls visit(facts, statement) for the Vector loops and the conditions
// whose lanes have forms.
class LaneWalk {
 public:
  explicit LaneWalk(const Kernel& kernel) : kernel_(kernel), around_(kernel), in_lanes_(locals_in_lanes(kernel)) {}

  template <class Body, class Visit>
  void block(Body& body, const Visit& visit) {
    const SymbolsAround::Scope scope(around_);
    for (auto& s : body) {
      if (const auto* let = s.template get_if<Let>()) around_.enter(*let);
      const auto* each = s.template get_if<Each>();
      if (each && each->forms) visit(facts_of(*each), s);
      const Loop* loop = loop_of(s, LoopKind::Vector);
      if (loop && loop->forms) {
        visit(facts_of(*loop), s);
        continue;
      }
      const SymbolsAround::Scope own(around_);
      around_.enter_body_of(s);
      if (auto* below = body_of(s)) block(*below, visit);
    }
  }

 private:
  LaneFacts facts_of(const Loop& loop);
  LaneFacts facts_of(const Each& each);
  void add(const std::vector<Stmt>& body, LaneFacts& facts) const;

  const Kernel& kernel_;
  SymbolsAround around_;
  const std::vector<bool> in_lanes_;  // locals, outside of Vector loops
};

}  // namespace smelt::kernel

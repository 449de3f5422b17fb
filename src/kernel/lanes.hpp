// How indices differ between the lanes of a Vector loop on a CPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/lane_forms.hpp"

namespace smelt::kernel {

// By local: whether it has a value of its own for each lane of a Vector loop, and is combined
// nowhere.
std::vector<bool> locals_in_lanes(const Kernel& kernel);

// The variable of a Vector loop in lane 0 of whole steps that begin at multiples of the lanes.
IntExpr first_lane(int lanes, bool once);

// Sets those that a Vector loop assigns: inside of it they have a value for each lane, whether they
// are combined later or not.
void note_assigned(const Loop& loop, std::vector<bool>& locals);

class Lanes {
 public:
  // `locals`: those of locals_in_lanes(), which must outlive this.
  Lanes(Symbol var, const std::vector<bool>& locals) : var_(var), locals_(locals) {}

  bool vary(const IntExpr& e) const;
  // The distance of neighbouring lanes, where `e` is linear in the variable with a constant of at
  // most kMostLaneStep.
  std::optional<int64_t> step(const IntExpr& e) const;
  // `e` where every minimum and maximum that varies is the side of it that goes up with the lanes,
  // as in the middle of an array whose ends are clamped or mirrored. Each of `holds` is at least 0
  // where that is so.
  IntExpr without_clamps(const IntExpr& e, std::vector<IntExpr>& holds) const;
  // For each lane how far `e` is beyond its value in lane 0, in whole steps that begin at multiples
  // of the lanes (`once`: at 0 alone); nothing where that is not the same in every such step.
  std::optional<std::vector<IntExpr>> beyond_first(const IntExpr& e, int lanes, bool once, const Ranges& ranges) const;

 private:
  Symbol var_;
  const std::vector<bool>& locals_;
};

// Whether an expression has a value of its own for each lane. `locals`: those that have, at the
// place.
bool differs_in_lanes(const Kernel& kernel, ExprId value, const Lanes& lanes, const std::vector<bool>& locals);

// Whether a Vector loop draws random words, which come in blocks of four.
bool draws(const Kernel& kernel, const Loop& loop);
// Whether a Vector loop reads at quotients or remainders by a number that divides its lanes: in
// steps that begin at multiples of the lanes, each lane then has the same place in that axis.
bool reads_tables(const Kernel& kernel, const Loop& loop);

}  // namespace smelt::kernel

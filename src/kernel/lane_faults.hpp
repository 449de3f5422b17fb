// What is wrong with the form of an access (kernel.hpp: LaneAccess).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/lane_forms.hpp"

namespace smelt::kernel {

// The whole steps of a Vector loop on a CPU.
struct LaneSteps {
  Symbol var;
  int lanes = 1;
  bool even = false;  // they begin at multiples of the lanes
  bool once = false;  // there is one, and it is whole
};

LaneSteps steps_of(const Loop& loop);

// The row of scratch in which the lanes are neighbours, without its number, and how far beyond its
// multiples of a line of the cache lane 0 is in steps that begin at one. Nothing where the lanes do
// not fill lines.
struct LineRow {
  std::pair<int, std::string> row;
  int64_t column = 0;
};
std::optional<LineRow> line_row(const Kernel& kernel, const Access& access, const LaneSteps& steps);

// An index in one lane of a step.
IntExpr in_lane(const LaneSteps& steps, const IntExpr& e, int lane);

// The same with a quotient of a quotient as one: what lanes share of x // 56 // 56 may wrap around
// once in 3136 of them, not in 56.
IntExpr merged_quotients(const IntExpr& e);

// The first lane that does not lie at `offset` as the form says, as a text; "" where all are
// proved. `active`: the lanes that a mask lets read.
std::string lane_fault(const LaneSteps& steps, const LaneAccess& access, const IntExpr& offset,
                       const std::vector<bool>* active);

}  // namespace smelt::kernel

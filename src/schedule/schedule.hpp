// How a group runs on a target: the one source of what may be fused. A group is legal exactly when it has a Schedule.
#pragma once

#include <string>
#include <variant>

#include "plan/cost.hpp"
#include "schedule/domain.hpp"
#include "schedule/stencil.hpp"

namespace smelt::schedule {

struct Schedule {
  plan::Strategy strategy{};
  Domain domain;             // axes merged
  int vector_axis = -1;      // the axis whose points are lanes; -1: the domain has one point
  bool flattened = false;    // Pointwise: all axes as one vector axis, indices by division
  int across_axis = -1;      // Tiled: the axis along which the reads of `staged` are contiguous
  std::vector<Read> staged;  // Tiled: what is read across the vector axis, and goes through scratch tile by tile
  int lanes = 1;             // elements of one vector step
  int64_t tile = 0;          // points of the vector axis in one grid iteration; 0: all
  int64_t keep_bytes = 0;    // Row, Column: on-chip memory for values that several stages need
  // GPU: the threads that run one iteration together, of a workgroup, and steps of a Vector loop taken at once.
  int team = 0, workgroup = 0;
  int unroll = 1;
  int resident = 0;                // workgroups of a multiprocessor that registers must do for; 0: any number
  bool held = false;               // one step covers a row: what its passes read stays in registers
  std::optional<Stencil> stencil;  // Stencil: what is kept in rings of rows
  std::string dear;                // why several kernels would be faster; empty when they would not
  std::string note;                // one line for people
};

std::variant<Schedule, Refusal> make_schedule(const Graph& graph, const plan::FusionGroup& group,
                                              const plan::Options& options);

// The same as a verdict for the planner.
plan::Verdict accepts(const Graph& graph, const plan::FusionGroup& group, const plan::Options& options);

using plan::cost_of;

}  // namespace smelt::schedule

// What operations cost, roughly: enough to compare plans, no more.
#pragma once

#include "schedule/group.hpp"
#include "schedule/operation_costs.hpp"

namespace smelt::schedule {

// Machine operations of one element of a node (of a reduction: of its argument), a multiply-add
// being one.
int cost_of(const Node& node);

// Values of nodes with such a cost are kept between passes (kernel/keep.cpp).
inline constexpr int kWorthKeeping = 8;

// Instructions of kernel IR that an element of a node becomes, about: functions are expanded
// (smelt/static/expand).
int instructions_of(const Node& node);

// cost_of a vector on a CPU, where gathers and divisions of 64 bits go element by element.
int evaluation_cost(const Node& node);

// What an element of a node takes that is computed again where it is read, as against reading it.
int repeat_cost(const Graph& graph, const Node& node);

// Machine operations of all these nodes together.
int64_t operations_of(const Graph& graph, const std::vector<NodeId>& nodes, const SizeBinding& sizes);

// The same with what operations take, in simple operations on 32 bits.
double operations_of(const Graph& graph, const std::vector<NodeId>& nodes, const SizeBinding& sizes,
                     const OperationCosts& costs);

// An element of a node, in the same unit.
double operations_of_element(const Graph& graph, const Node& node, const OperationCosts& costs);

// Evaluations of every operation of the group, by what each costs: windows evaluate what they see
// once for each of their elements, and views are evaluated where their readers are.
double operations_behind(const Graph& graph, const Group& group, const SizeBinding& sizes, const OperationCosts& costs);

// The same in units of evaluation_cost.
double evaluations_behind(const Graph& graph, const Group& group, const SizeBinding& sizes);

// The same by what a CPU does with them, in simple operations.
struct Work {
  double divider = 0;    // of divisions and square roots, which a core does beside others
  double expensive = 0;  // of what is kept rather than computed again, a division counting as one
  double cheap = 0;      // of all others
};
Work work_behind(const Graph& graph, const Group& group, const SizeBinding& sizes, const OperationCosts& costs);

}  // namespace smelt::schedule

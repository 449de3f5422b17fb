// What the params of a kernel stand for in a program.
#pragma once

#include <unordered_map>
#include <vector>

#include "compile/state.hpp"

namespace smelt {

// Gives every value between kernels, and every array between phases, a slot of the arena.
class Binder {
 public:
  Binder(const Graph& graph, std::vector<Slot>& slots);
  Launch bind(const kernel::Kernel& kernel, int order);  // the arrays and sizes of its launch

 private:
  Launch bind(const kernel::Kernel& kernel, const kernel::Part* part, int order);
  Binding bind(const kernel::Kernel& kernel, size_t param, const kernel::Part* part, int order);

  std::unordered_map<NodeId, int> input_of_, output_of_;  // the first
  std::vector<Slot>& slots_;
  std::unordered_map<NodeId, int> slot_of_;
};

}  // namespace smelt

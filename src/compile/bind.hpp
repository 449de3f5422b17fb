// What the params of a kernel stand for in a program.
#pragma once

#include <map>
#include <vector>

#include "compile/state.hpp"

namespace smelt {

// Gives every value between kernels, and every array between phases, a slot of the arena.
class Binder {
 public:
  Binder(const Graph& graph, std::vector<Slot>& slots) : graph_(graph), slots_(slots) {}
  Launch bind(const kernel::Kernel& kernel, int order);  // the arrays and sizes of its launch

 private:
  Binding bind(const kernel::Kernel& kernel, const kernel::Param& p, int order);

  const Graph& graph_;
  std::vector<Slot>& slots_;
  std::map<NodeId, int> slot_of_;
};

}  // namespace smelt

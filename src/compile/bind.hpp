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
  // Outputs of all bound kernels that may reuse the memory of an input.
  std::vector<InPlaceArrays> in_place() const;

 private:
  Launch bind(const kernel::Kernel& kernel, const kernel::Part* part, int order);
  Binding bind(const kernel::Kernel& kernel, size_t param, const kernel::Part* part, int order);

  void note_in_place(const kernel::Kernel& kernel, const Launch& launch);

  std::unordered_map<NodeId, int> input_of_, output_of_;  // the first
  std::vector<Slot>& slots_;
  std::unordered_map<NodeId, int> slot_of_;
  int step_ = 0;
  std::vector<std::pair<InPlaceArrays, int>> in_place_;   // and the step that writes the output
  std::unordered_map<int, std::pair<int, int>> last_of_;  // of an input: the last step that reads it, and how often
};

}  // namespace smelt

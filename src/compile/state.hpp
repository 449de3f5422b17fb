// What an Executable holds. Internal to this folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compile/compile.hpp"

namespace smelt {

// An array that a plan needs beyond its inputs and outputs, at an offset in the arena.
struct Slot {
  DType dtype;
  Shape dims;
  int first_use, last_use;  // kernels, in order of execution
};

// Where a launch finds what a param names.
struct Binding {
  enum Kind : uint8_t { Input, Output, Slot, Error } kind;
  int index = 0;  // input of the graph, output of the graph, or slot
};

struct Launch {
  std::vector<Binding> arrays;     // per param that is not a Size
  std::vector<std::string> sizes;  // per Size param
  IntExpr scratch_bytes;
  std::vector<runtime::Module::PhaseFunction> phases;
  std::shared_ptr<runtime::Module> module;
};

struct Executable::State {
  Graph graph;
  plan::Plan plan;
  std::vector<kernel::Kernel> kernels;
  std::vector<std::string> sources;
  std::vector<Launch> launches;
  std::vector<Slot> slots;
  std::vector<StageTime> times;
  Device device;
  int threads = 1;
};

// Runs all launches in order. `inputs` and `outputs` are row-major, with the dims of this call.
void execute(const Executable::State& state, const SizeBinding& sizes, const std::vector<TensorView>& inputs,
             const std::vector<TensorView>& outputs);

}  // namespace smelt

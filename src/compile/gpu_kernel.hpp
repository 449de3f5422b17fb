// A kernel for a GPU on its way: scheduled, printed, compiled and loaded, but not yet bound to
// arrays.
#pragma once

#include <string>
#include <vector>

#include "compile/tune.hpp"

namespace smelt {

struct GpuKernel {
  kernel::Kernel kernel;
  std::string source;
  std::vector<GpuPhase> phases;
  emit::BatchTable table = {};  // of a batch
};

GpuKernel print_for_gpu(const Executable::State& state, kernel::Kernel kernel);
GpuKernel make_kernel(const Executable::State& state, size_t group, const schedule::Schedule& schedule);
// What calls with the sizes at hand and well-aligned arrays run; without a GPU, everything.
std::vector<GpuFunction*> needed_functions(const Executable::State& state, const GpuKernel& kernel);
// Compiles these kernels' needed functions side by side, and loads them where there is a GPU. Tells
// which kernels had to be compiled. `groups`: whose kernels they are.
std::vector<bool> compile_kernels(const Executable::State& state, const std::vector<const GpuKernel*>& kernels,
                                  const std::vector<size_t>& groups);
void load_kernel(const Executable::State& state, const GpuKernel& kernel, size_t group);

// Kernels of one group by other schedules, compiled and loaded; nothing for one that the compiler
// or the driver refuses. Throws UserError where the machine is at fault: out of memory, say.
std::vector<std::optional<GpuKernel>> try_kernels(const Executable::State& state, size_t group,
                                                  const std::vector<schedule::Candidate>& others);

// What the built functions of a kernel lack.
struct Pressure {
  int64_t spilled_bytes = 0;  // of a thread, the worst function
  double occupancy = 1;       // the worst function's
  bool spills() const { return spilled_bytes > 0; }
  bool starves() const;
};
Pressure pressure_of(const Executable::State& state, const GpuKernel& kernel);

// The candidates of a group whose workgroups are predicted to need fewer registers, the smallest
// change first; they go over rows as often as the schedule at hand does. A stencil that spills is
// given more registers instead.
std::vector<schedule::Candidate> lighter_schedules(const Executable::State& state, size_t group, bool spills);

// Kernels that spill or starve are made again with lighter schedules; what spills all the same and
// costs less in two kernels is asked to be split: it is in state.splits.
void relieve(Executable::State& state, std::vector<GpuKernel>& kernels);

// Takes the schedules that were found best on this GPU before.
void take_tuned(Executable::State& state, std::vector<GpuKernel>& kernels);
// Times other schedules on the GPU, takes the fastest, and keeps that on disk.
void tune(Executable::State& state, std::vector<GpuKernel>& kernels);
// Builds and times every candidate, in milliseconds. Of a state that is bound.
std::vector<std::vector<double>> times_on_gpu(Executable::State& state,
                                              const std::vector<std::vector<schedule::Candidate>>& candidates);

// Groups that are like an earlier one take its kernel, as it now is.
void share_kernels(Executable::State& state, std::vector<GpuKernel>& kernels);

// Gives the kernels the arrays that they read and write.
void bind_kernels(Executable::State& state, const std::vector<const GpuKernel*>& kernels);

}  // namespace smelt

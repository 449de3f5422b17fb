// A kernel for a GPU on its way: scheduled, printed, compiled and loaded, but not yet bound to arrays.
#pragma once

#include <string>
#include <vector>

#include "compile/state.hpp"
#include "schedule/candidates.hpp"

namespace smelt {

struct GpuKernel {
  kernel::Kernel kernel;
  std::string source;
  std::vector<GpuPhase> phases;
  emit::BatchTable table = {};  // of a batch
};

// What it takes to make kernels of groups: the sizes at hand, and what schedules know.
struct GpuBuild {
  Executable::State& state;
  const SizeBinding& sizes;
  const plan::Options& options;
};

// Neither a batch, whose parts have theirs, nor a group with the kernel of an earlier one.
inline bool has_own_schedule(const Executable::State& state, size_t group) {
  return state.alike[group] == group && state.plan.groups[group].parts.empty() &&
         state.plan.groups[group].strategy() != plan::Strategy::Custom;
}
GpuKernel print_for_gpu(const GpuBuild& build, kernel::Kernel kernel);
GpuKernel make_kernel(const GpuBuild& build, size_t group, const schedule::Schedule& schedule);
// What calls with the sizes at hand and well-aligned arrays run; without a GPU, everything.
std::vector<GpuFunction*> needed_functions(const GpuBuild& build, const GpuKernel& kernel);
// Compiles these kernels' needed functions side by side, and loads them where there is a GPU. Tells which kernels had to be compiled.
std::vector<bool> compile_kernels(const GpuBuild& build, const std::vector<const GpuKernel*>& kernels);
void load_kernel(const GpuBuild& build, const GpuKernel& kernel);

// The schedules that a group could have; its family's own choice first.
std::vector<schedule::Candidate> candidates_of(const GpuBuild& build, size_t group);
// With this tuning; nothing when the group refuses it.
std::optional<schedule::Candidate> candidate_with(const GpuBuild& build, size_t group, const plan::Tuning& tuning);
// The group runs by another schedule from here on, for this reason.
void take(const GpuBuild& build, size_t group, const schedule::Candidate& other, std::string why);
// Kernels of one group by other schedules, compiled and loaded; where one cannot be made, nothing: there is the first one.
std::vector<std::optional<GpuKernel>> try_kernels(const GpuBuild& build, size_t group,
                                                  const std::vector<schedule::Candidate>& others);

// What the built functions of a kernel lack.
struct Pressure {
  int64_t spilled_bytes = 0;  // of a thread, the worst function
  double occupancy = 1;       // the worst function's
  bool spills() const { return spilled_bytes > 0; }
  bool starves() const;
};
Pressure pressure_of(const GpuBuild& build, const GpuKernel& kernel);

// Of a group's candidates: those whose workgroups are predicted to need fewer registers, the
// smallest change first; they go over rows as often as the schedule at hand does.
std::vector<schedule::Candidate> lighter_schedules(const GpuBuild& build, size_t group);
// The best of the others, by prediction: those that are worth to be measured.
std::vector<schedule::Candidate> other_schedules(const GpuBuild& build, size_t group);

// Kernels that spill or starve are made again with lighter schedules; what spills all the same and costs less in two kernels is asked to be
// split: it stands in state.splits.
void relieve(const GpuBuild& build, std::vector<GpuKernel>& kernels);

// Takes the schedules that were found best on this GPU before.
void take_tuned(const GpuBuild& build, std::vector<GpuKernel>& kernels);
// Times other schedules on the GPU, takes the fastest, and keeps that on disk.
void tune(const GpuBuild& build, std::vector<GpuKernel>& kernels);
// Builds and times every candidate. Of a state that is bound.
void measure_candidates(const GpuBuild& build, std::vector<std::vector<Considered>>& considered);

// Groups that are like an earlier one take its kernel, as it now is.
void share_kernels(const GpuBuild& build, std::vector<GpuKernel>& kernels);

// Gives the kernels the arrays that they read and write.
void bind_kernels(Executable::State& state, const std::vector<const GpuKernel*>& kernels);

}  // namespace smelt

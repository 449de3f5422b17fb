// Which schedules are fastest on the machine at hand, by measurement: what CPUs and GPUs have in
// common. Internal to this folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/state.hpp"
#include "schedule/candidates.hpp"
#include "smelt/error.hpp"

namespace smelt {

// Neither a batch, whose parts have theirs, nor a group with the kernel of an earlier one.
inline bool has_own_schedule(const Executable::State& state, size_t group) {
  return state.alike[group] == group && state.plan.groups[group].parts.empty() &&
         state.plan.groups[group].strategy() != plan::Strategy::Custom;
}

// The schedules that a group could have; its family's own choice first.
std::vector<schedule::Candidate> candidates_of(const Executable::State& state, size_t group);
// The best of the others, by prediction: those that are worth measuring.
std::vector<schedule::Candidate> other_schedules(const Executable::State& state, size_t group);
// The group runs by another schedule from here on, for this reason, which follows any that it has.
void take(Executable::State& state, size_t group, const schedule::Candidate& other, const std::string& why);
// Groups that are like an earlier one have its schedule, as it now is.
void share_schedules(Executable::State& state);

// The same program, without its kernels: other ones are tried in it.
std::shared_ptr<Executable::State> without_kernels(const Executable::State& state);

// Milliseconds of the kernels as they are, and of the others; -1 for those that could not be built.
struct Times {
  std::vector<double> first;
  std::vector<std::vector<double>> others;
};
// Gives every group its fastest schedule, and remembers it by the group's key. Tells which groups
// have another one now, by the number among their others.
std::vector<std::optional<size_t>> take_fastest(Executable::State& state,
                                                const std::vector<std::vector<schedule::Candidate>>& others,
                                                const Times& times, const std::vector<std::string>& keys);

// Nothing was measured: the groups keep the first line of the reason. Computed indices may be
// outside for made-up data, or there is no memory for it.
void say_not_tuned(Executable::State& state, const UserError& why);

// What a winner is remembered by: the machine, the sizes, halves and doubles apart, and the kernel
// as its first schedule prints it.
std::string tuned_key(const Executable::State& state, const kernel::Kernel& first, const std::string& source);
// The schedule that was found fastest before, if it is not the one that the group has.
std::optional<schedule::Candidate> tuned_before(const Executable::State& state, size_t group, const std::string& key);

// Arrays of the program at the sizes at hand, on its device: floats near one, other things zero,
// which no gather minds.
struct Arrays {
  std::vector<Tensor> inputs, outputs;
  std::vector<TensorView> input_views, output_views;
};
Arrays arrays_of(const Executable::State& state);

}  // namespace smelt

// The schedules that kernels could have had, for those who want to see them.
#include "compile/cpu_build.hpp"
#include "compile/gpu_kernel.hpp"
#include "smelt/error.hpp"

namespace smelt {

std::vector<std::vector<Considered>> Executable::considered(const SizeBinding& sizes, bool measure) const {
  std::vector<std::vector<Considered>> all(state_->plan.groups.size());
  for (size_t k = 0; k < all.size(); ++k) {
    const plan::FusionGroup& group = state_->plan.groups[k];
    const bool alike = k < state_->alike.size() && state_->alike[k] != k;
    if (alike || !group.parts.empty() || group.strategy() == plan::Strategy::Custom) continue;
    auto found = schedule::candidates(state_->graph, group, state_->target);
    auto* candidates = std::get_if<std::vector<schedule::Candidate>>(&found);
    if (!candidates) continue;
    for (schedule::Candidate& c : *candidates) {
      const bool chosen = schedule::same_form(*c.schedule, *group.schedule);
      all[k].push_back({std::move(c), chosen, -1});
    }
  }
  const bool here = state_->device.is_gpu ? state_->device.gpu != nullptr : state_->device.llvm != nullptr;
  if (!measure || !here) return all;
  const std::shared_ptr<Executable::State> copy = without_kernels(*state_);
  copy->kernels = state_->kernels;
  copy->launches = state_->launches;
  copy->target.sizes = sizes;
  std::vector<std::vector<schedule::Candidate>> candidates;
  for (const std::vector<Considered>& of_kernel : all) {
    candidates.emplace_back();
    for (const Considered& c : of_kernel) candidates.back().push_back(c.candidate);
  }
  std::vector<std::vector<double>> times;
  try {
    times = state_->device.is_gpu ? times_on_gpu(*copy, candidates) : times_on_cpu(*copy, candidates).others;
  } catch (const UserError&) {  // indices that are computed may be outside for data that is made up
    return all;
  }
  for (size_t k = 0; k < all.size(); ++k)
    for (size_t c = 0; c < all[k].size(); ++c) all[k][c].measured_ms = times[k][c];
  return all;
}

}  // namespace smelt

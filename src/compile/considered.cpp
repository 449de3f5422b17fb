// The schedules that kernels could have had, for those who want to see them.
#include "compile/gpu_kernel.hpp"

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
  if (measure && state_->device.gpu) {
    Executable::State copy;
    copy.graph = state_->graph;
    copy.plan = state_->plan;
    copy.device = state_->device;
    copy.nvrtc = state_->nvrtc;
    copy.threads = state_->threads;
    copy.alike = state_->alike;
    copy.kernels = state_->kernels;
    copy.launches = state_->launches;
    measure_candidates({copy, sizes, state_->target}, all);
  }
  return all;
}

}  // namespace smelt

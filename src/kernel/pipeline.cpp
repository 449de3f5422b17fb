#include "kernel/pipeline.hpp"

#include <algorithm>

namespace smelt::kernel {

bool all_in_groups(const Kernel& kernel) {
  return std::all_of(kernel.fragments.begin(), kernel.fragments.end(), [](const Fragment& f) { return f.in_groups(); });
}

size_t uses_of_pipeline(const Loop& pipeline) {
  const auto first =
      std::find_if(pipeline.body.begin(), pipeline.body.end(), [](const Stmt& s) { return s.is<Matrix>(); });
  return static_cast<size_t>(first - pipeline.body.begin());
}

bool goes_on_alone(const Kernel& kernel, const Loop& pipeline) {
  return std::all_of(pipeline.body.begin() + static_cast<std::ptrdiff_t>(uses_of_pipeline(pipeline)),
                     pipeline.body.end(), [&](const Stmt& s) {
                       const auto* matrix = s.get_if<Matrix>();
                       return matrix && matrix->step == Matrix::Step::Multiply && matrix->by < 0 &&
                              kernel.fragments[static_cast<size_t>(matrix->fragment)].in_groups();
                     });
}

bool weighs_meanwhile(const Kernel& kernel, const Loop& pipeline) {
  constexpr int kStages = 3;
  if (pipeline.stages < kStages || pipeline.body.size() < 2) return false;
  const auto* weigh = pipeline.body[pipeline.body.size() - 2].get_if<Matrix>();
  const auto* multiply = pipeline.body.back().get_if<Matrix>();
  return weigh && weigh->step == Matrix::Step::Weigh && multiply && multiply->step == Matrix::Step::Multiply &&
         multiply->fragment == weigh->fragment && multiply->by == weigh->by && all_in_groups(kernel);
}

int parts_ahead(const Kernel& kernel, const Loop& pipeline) {
  return pipeline.stages - (goes_on_alone(kernel, pipeline) || weighs_meanwhile(kernel, pipeline) ? 2 : 1);
}

}  // namespace smelt::kernel

#include "kernel/pipeline.hpp"

#include <algorithm>

namespace smelt::kernel {

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

int parts_ahead(const Kernel& kernel, const Loop& pipeline) {
  return pipeline.stages - (goes_on_alone(kernel, pipeline) ? 2 : 1);
}

}  // namespace smelt::kernel

#include "kernel/lower.hpp"

#include <memory>

#include "base/check.hpp"
#include "kernel/facts.hpp"
#include "kernel/lower_chain.hpp"
#include "kernel/lower_column.hpp"
#include "kernel/lower_pointwise.hpp"
#include "kernel/lower_product.hpp"
#include "kernel/lower_row.hpp"
#include "kernel/lower_scatter.hpp"
#include "kernel/lower_stencil.hpp"

namespace smelt::kernel {

static std::unique_ptr<Lowering> lowering_of(const Graph& graph, const schedule::Group& group, const Schedule& schedule,
                                             const std::string& name) {
  const auto with = [&]<class Family>() { return std::make_unique<Family>(graph, group, schedule, name); };
  const Domain& domain = schedule.domain;
  switch (schedule.strategy) {
    case schedule::Strategy::Pointwise:
    case schedule::Strategy::Tiled: return with.operator()<PointwiseLowering>();
    case schedule::Strategy::Scatter: return with.operator()<ScatterLowering>();
    case schedule::Strategy::Stencil: return with.operator()<StencilLowering>();
    case schedule::Strategy::Row: return with.operator()<RowLowering>();
    case schedule::Strategy::Column: return with.operator()<ColumnLowering>();
    case schedule::Strategy::Split:
      if (domain.axes[static_cast<size_t>(schedule.vector_axis)].reduced || schedule.columns)
        return with.operator()<RowLowering>();
      return with.operator()<ColumnLowering>();
    case schedule::Strategy::Product: return with.operator()<ProductLowering>();
    case schedule::Strategy::Chain: return with.operator()<ChainLowering>();
    case schedule::Strategy::Custom: throw InternalError("the user's own code is not lowered");
    case schedule::Strategy::Batch: throw InternalError("a batch is lowered part by part");
  }
  throw InternalError("unknown strategy");
}

static Kernel lowered(const Graph& graph, const schedule::Group& group, const Schedule& schedule,
                      const std::string& name, Proved& proved) {
  try {
    Kernel kernel = lowering_of(graph, group, schedule, name)->run(false);
    verify(kernel, proved);
    return kernel;
  } catch (const InternalError&) {
    Kernel kernel = lowering_of(graph, group, schedule, name)->run(true);
    verify(kernel, proved);
    return kernel;
  }
}

Kernel lower(const Graph& graph, const schedule::Group& group, const Schedule& schedule, const std::string& name,
             const PassObserver& observer) {
  Proved proved;
  Kernel kernel = lowered(graph, group, schedule, name, proved);
  if (observer) observer(kLowering, kernel, true);
  run_passes(kernel, proved, observer);
  return kernel;
}

}  // namespace smelt::kernel

#include "compile/bind.hpp"

#include <algorithm>

namespace smelt {

Launch Binder::bind(const kernel::Kernel& kernel, int order) {
  Launch launch;
  for (const kernel::Param& p : kernel.params) {
    if (p.kind == kernel::ParamKind::Size)
      launch.sizes.push_back(p.symbol);
    else
      launch.arrays.push_back(bind(kernel, p, order));
  }
  return launch;
}

Binding Binder::bind(const kernel::Kernel& kernel, const kernel::Param& p, int order) {
  const auto is = [&](int param) { return param >= 0 && &p == &kernel.params[static_cast<size_t>(param)]; };
  if (is(kernel.error_param)) return {Binding::Error, 0};
  if (is(kernel.counter_param)) return {Binding::Counter, 0};
  if (p.value >= 0) {
    const bool writes = p.kind == kernel::ParamKind::Output;
    const auto& inputs = graph_.inputs;
    const auto in = std::find(inputs.begin(), inputs.end(), p.value);
    if (!writes && in != inputs.end()) return {Binding::Input, static_cast<int>(in - inputs.begin())};
    const auto out = std::find(graph_.outputs.begin(), graph_.outputs.end(), p.value);
    if (out != graph_.outputs.end()) return {Binding::Output, static_cast<int>(out - graph_.outputs.begin())};
    auto [it, fresh] = slot_of_.try_emplace(p.value, static_cast<int>(slots_.size()));
    if (fresh) slots_.push_back({p.dtype, p.dims, order, order});
    slots_[static_cast<size_t>(it->second)].last_use = order;
    return {Binding::Slot, it->second};
  }
  Shape dims = p.dims;
  // The arena is laid out before a launch is prepared, so sizes that the launch computes are put in.
  for (size_t l = kernel.launch_sizes.size(); l-- > 0;)
    for (IntExpr& d : dims) d = d.substitute({{kernel.launch_sizes[l].symbol, kernel.launch_sizes[l].value}}, {});
  slots_.push_back({p.dtype, dims, order, order});
  return {Binding::Slot, static_cast<int>(slots_.size()) - 1};
}

}  // namespace smelt

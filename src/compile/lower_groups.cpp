#include "compile/lower_groups.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "compile/custom.hpp"
#include "kernel/lower.hpp"
#include "plan/batch.hpp"
#include "plan/isolate.hpp"

namespace smelt {
namespace {

kernel::Kernel lower_batch(const plan::Batch& planned, const std::string& name) {
  kernel::Kernel batch;
  batch.name = name;
  for (size_t f = 0; f < planned.forms.size(); ++f) {
    const plan::Batch::Form& form = planned.forms[f];
    batch.bodies.push_back(kernel::lower(form.graph, form.group, *form.schedule, fmt::format("b{}", f)));
  }
  for (const plan::Batch::Part& part : planned.parts) {
    kernel::Part made{part.form, {}, part.sizes};
    for (const kernel::Param& p : batch.bodies[static_cast<size_t>(made.body)].params)
      made.values.push_back(p.value < 0 ? -1 : part.original[static_cast<size_t>(p.value)]);
    batch.parts.push_back(std::move(made));
  }
  return batch;
}

}  // namespace

kernel::Kernel for_group(const Executable::State& state, const kernel::Kernel& first, size_t k) {
  const std::vector<NodeId>&from = state.original[state.alike[k]], &to = state.original[k];
  std::unordered_map<NodeId, NodeId> renamed;
  for (size_t i = 0; i < from.size(); ++i) renamed[from[i]] = to[i];
  kernel::Kernel made = first;
  for (kernel::Param& p : made.params)
    if (p.value >= 0) p.value = renamed.at(p.value);
  for (NodeId& gather : made.checks) gather = renamed.at(gather);
  return made;
}

kernel::Kernel lower_with(const Executable::State& state, size_t group, const schedule::Schedule& schedule) {
  return kernel::lower(state.graph, state.plan.groups[group], schedule, fmt::format("k{}", group));
}

void set_kernel(Executable::State& state, size_t group, kernel::Kernel kernel) {
  state.kernels[group] = std::move(kernel);
  for (size_t k = 0; k < state.alike.size(); ++k)
    if (k != group && state.alike[k] == group) state.kernels[k] = for_group(state, state.kernels[group], k);
}

void lower_groups(Executable::State& state) {
  std::unordered_map<std::string, size_t> first;
  const std::vector<plan::FusionGroup>& groups = state.plan.groups;
  state.original.resize(groups.size());
  for (size_t k = 0; k < groups.size(); ++k) {
    state.alike.push_back(k);
    const std::string name = fmt::format("k{}", k);
    if (!groups[k].parts.empty()) {
      state.kernels.push_back(lower_batch(*groups[k].batch, name));
      continue;
    }
    if (is_custom(state, k)) {
      state.kernels.push_back(custom_kernel(state.graph, groups[k], name));
      continue;
    }
    plan::Isolated alone = plan::isolate(state.graph, groups[k], false);
    state.original[k] = std::move(alone.original);
    const size_t like = first.try_emplace(std::move(alone.key), k).first->second;
    if (like != k) {
      state.alike[k] = like;
      state.kernels.push_back(for_group(state, state.kernels[like], k));
    } else {
      state.kernels.push_back(kernel::lower(state.graph, groups[k], *groups[k].schedule, name));
    }
  }
}

}  // namespace smelt

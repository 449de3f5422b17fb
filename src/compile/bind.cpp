#include "compile/bind.hpp"

#include <algorithm>

namespace smelt {

Binder::Binder(const Graph& graph, std::vector<Slot>& slots) : slots_(slots) {
  for (size_t i = 0; i < graph.inputs.size(); ++i) input_of_.try_emplace(graph.inputs[i], static_cast<int>(i));
  for (size_t o = 0; o < graph.outputs.size(); ++o) output_of_.try_emplace(graph.outputs[o], static_cast<int>(o));
}

Launch Binder::bind(const kernel::Kernel& kernel, int order) {
  ++step_;
  if (!kernel.is_batch()) {
    Launch launch = bind(kernel, nullptr, order);
    note_in_place(kernel, launch);
    return launch;
  }
  Launch launch;
  for (const kernel::Part& part : kernel.parts) {
    const kernel::Kernel& body = kernel.bodies[static_cast<size_t>(part.body)];
    launch.parts.push_back(bind(body, &part, order));
    note_in_place(body, launch.parts.back());
  }
  return launch;
}

void Binder::note_in_place(const kernel::Kernel& kernel, const Launch& launch) {
  std::vector<Binding> of_param;  // in place of sizes: any
  size_t array = 0;
  for (const kernel::Param& p : kernel.params)
    of_param.push_back(p.kind == kernel::ParamKind::Size ? Binding{Binding::Slot, 0} : launch.arrays[array++]);
  for (const Binding& b : of_param) {
    if (b.kind != Binding::Input) continue;
    auto& [step, times] = last_of_[b.index];
    times = step == step_ ? times + 1 : 1;
    step = step_;
  }
  for (const kernel::InPlace& p : kernel.in_place) {
    const Binding &from = of_param[static_cast<size_t>(p.input)], &to = of_param[static_cast<size_t>(p.output)];
    if (from.kind == Binding::Input && to.kind == Binding::Output)
      in_place_.push_back({{static_cast<size_t>(from.index), static_cast<size_t>(to.index)}, step_});
  }
}

std::vector<InPlaceArrays> Binder::in_place() const {
  std::vector<InPlaceArrays> result;
  for (const auto& [arrays, step] : in_place_)
    if (last_of_.at(static_cast<int>(arrays.input)) == std::pair(step, 1)) result.push_back(arrays);
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return a.output != b.output ? a.output < b.output : a.input < b.input;
  });
  return result;
}

Launch Binder::bind(const kernel::Kernel& kernel, const kernel::Part* part, int order) {
  Launch launch;
  std::vector<size_t> array_of;  // per param
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    array_of.push_back(launch.arrays.size());
    if (kernel.params[i].kind == kernel::ParamKind::Size)
      launch.sizes.push_back(*kernel.params[i].symbol);
    else
      launch.arrays.push_back(bind(kernel, i, part, order));
  }
  for (const kernel::Phase& phase : kernel.phases) {
    launch.copies.emplace_back();
    if (const auto& c = phase.copies)
      launch.copies.back() = {array_of[static_cast<size_t>(c->input)], array_of[static_cast<size_t>(c->output)]};
  }
  return launch;
}

Binding Binder::bind(const kernel::Kernel& kernel, size_t param, const kernel::Part* part, int order) {
  const kernel::Param& p = kernel.params[param];
  if (kernel.error_param == static_cast<int>(param)) return {Binding::Error, 0};
  if (kernel.counter_param == static_cast<int>(param)) return {Binding::Counter, 0};
  // Sizes that only a part or a launch knows: the arena is laid out before a launch is prepared, so
  // they are put in.
  Shape dims = p.dims;
  for (size_t l = kernel.launch_sizes.size(); l-- > 0;)
    for (IntExpr& d : dims) d = d.substitute({{kernel.launch_sizes[l].symbol, kernel.launch_sizes[l].value}}, {});
  if (part)
    for (const auto& [symbol, size] : part->sizes)
      for (IntExpr& d : dims) d = d.substitute({{symbol, size}}, {});
  if (const NodeId value = part ? part->values[param] : p.value; value >= 0) {
    const bool writes = p.kind == kernel::ParamKind::Output;
    if (const auto in = input_of_.find(value); !writes && in != input_of_.end()) return {Binding::Input, in->second};
    if (const auto out = output_of_.find(value); out != output_of_.end()) return {Binding::Output, out->second};
    auto [it, fresh] = slot_of_.try_emplace(value, static_cast<int>(slots_.size()));
    if (fresh) slots_.push_back({p.dtype, dims, order, order});
    slots_[static_cast<size_t>(it->second)].last_use = order;
    return {Binding::Slot, it->second};
  }
  slots_.push_back({p.dtype, dims, order, order});
  return {Binding::Slot, static_cast<int>(slots_.size()) - 1};
}

}  // namespace smelt

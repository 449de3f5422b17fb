// Running an executable on the arrays of a call.
#include <fmt/format.h>

#include "api/layout.hpp"
#include "api/specialize.hpp"
#include "base/check.hpp"

namespace smelt::detail {

std::vector<TensorView> views_of(const Special& special, const Arguments& arguments) {
  std::vector<TensorView> views;
  views.reserve(arguments.arrays.size() + special.captured.size());
  const Machine& machine = machine_of(special.device);
  const auto add = [&](const Data& data) {
    views.push_back(data.tensor);
    if (machine.gpu && data.device.is_gpu()) note_use(data.tensor, runtime::current_stream(*machine.gpu));
  };
  for (size_t i = 0; i < arguments.arrays.size(); ++i) {
    add(*arguments.arrays[i]);
    if (!special.types[i].layout.order.empty()) views.back() = in_order(special.types[i].layout, views.back());
  }
  for (const Array& array : special.captured) add(*array.node()->data());
  return views;
}

namespace {

// Arrays on a GPU stay there; those of the host come and go with the call.
bool stays_on_gpu(const Special& special, const Arguments& arguments) {
  if (!special.device.is_gpu()) return false;
  for (const Data* data : arguments.arrays)
    if (data->device.is_gpu()) return true;
  return false;
}

// The captured arrays of a special for a GPU are there already; with arguments of the host they are
// needed in the host.
std::vector<TensorView> host_views(const Special& special, const Arguments& arguments, std::vector<Array>& copies) {
  std::vector<TensorView> views = views_of(special, arguments);
  for (size_t c = 0; c < special.captured.size(); ++c) {
    if (!special.captured[c].device().is_gpu()) continue;
    copies.push_back(special.captured[c].to(Device::cpu()));
    views[arguments.arrays.size() + c] = copies.back().node()->data()->tensor;
  }
  return views;
}

}  // namespace

std::vector<Array> run(const Special& special, const Arguments& arguments) {
  std::vector<Array> results;
  if (stays_on_gpu(special, arguments)) {
    const std::vector<TensorView> inputs = views_of(special, arguments);
    const std::vector<Dims> dims = special.executable.output_dims(inputs);
    const Machine& machine = machine_of(special.device);
    std::vector<TensorView> outputs;
    for (size_t o = 0; o < dims.size(); ++o) {
      Tensor tensor =
          device_empty(machine, special.executable.graph().at(special.executable.graph().outputs[o]).dtype, dims[o]);
      outputs.push_back(tensor);
      results.emplace_back(make_node(Data{std::move(tensor), special.device}));
    }
    special.executable.run_device(inputs, outputs, runtime::current_stream(*machine.gpu));
    return results;
  }
  std::vector<Array> copies;
  for (Tensor& tensor : special.executable.run(host_views(special, arguments, copies)))
    results.emplace_back(make_node(Data{std::move(tensor), Device::cpu()}));
  return results;
}

std::vector<TensorView> output_views(const Special& special, const std::vector<Array>& outputs) {
  std::vector<TensorView> views;
  views.reserve(outputs.size());
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Data* data =
        outputs[o].defined() ? outputs[o].node()->data() : node_of(outputs[o], fmt::format("output {}", o))->data();
    if (!data)
      throw UserError(
          fmt::format("output {} is not evaluated, so it has no memory to write to\nhelp: Array::empty or "
                      "Array::borrow make one that has",
                      o));
    if (data->read_only)
      throw UserError(fmt::format("output {} is memory that must not be written\nhelp: borrow it without const", o));
    views.push_back(data->tensor);
    if (data->device.is_gpu()) note_use(data->tensor, runtime::current_stream(*machine_of(data->device).gpu));
  }
  const size_t count = special.executable.graph().outputs.size();
  if (count != outputs.size())
    throw UserError(fmt::format("the function returns {} array{}, but memory for {} was given", count,
                                count == 1 ? "" : "s", outputs.size()));
  return views;
}

void run_into(const Special& special, const Arguments& arguments, const std::vector<Array>& outputs) {
  const std::vector<TensorView> targets = output_views(special, outputs);
  const bool on_gpu = stays_on_gpu(special, arguments);
  for (size_t o = 0; o < outputs.size(); ++o)
    if (outputs[o].device().is_gpu() != on_gpu)
      throw UserError(
          fmt::format("output {} is on {}, but the function runs on arrays on {}\nhelp: move one with to(Device)", o,
                      outputs[o].device().name(), on_gpu ? special.device.name() : "cpu"));
  if (on_gpu)
    return special.executable.run_device(views_of(special, arguments), targets,
                                         runtime::current_stream(*machine_of(special.device).gpu));
  std::vector<Array> copies;
  special.executable.run_into(host_views(special, arguments, copies), targets);
}

}  // namespace smelt::detail

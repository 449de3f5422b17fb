#include "compile/gpu_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "compile/custom.hpp"
#include "compile/gpu_batch.hpp"
#include "compile/gpu_copy.hpp"

namespace smelt {
namespace {

uint64_t address_of(const TensorView& view) { return reinterpret_cast<uint64_t>(view.data); }

TensorView row_major(const TensorView& like, uint64_t address) {
  return {like.dtype, like.dims, contiguous_strides(like.dims), reinterpret_cast<void*>(address)};
}

// The same error, with the place where it happened.
[[noreturn]] void rethrow_with(const std::string& place) {
  try {
    throw;
  } catch (const UserError& e) {
    throw UserError(place + ": " + e.what());
  } catch (const InternalError& e) {
    // Its message ends with how to report it, which is printed once.
    std::string text = e.what();
    const std::string before = "internal error in smelt: ";
    if (text.rfind(before, 0) == 0) text = text.substr(before.size());
    throw InternalError(place + ": " + text.substr(0, text.find("\nThis is a bug in smelt")));
  }
}

}  // namespace

GpuCall::GpuCall(StatePtr state, std::shared_ptr<const Prepared> prepared, const std::vector<TensorView>& inputs,
                 const std::vector<TensorView>& outputs, runtime::StreamHandle stream)
    : state_(std::move(state)), prepared_(std::move(prepared)), gpu_(*state_->device.gpu), stream_(stream) {
  check_addresses(inputs, outputs);
  const Machine& device = state_->device;
  // Kernels write row-major memory that no input shares with an output, but where that may reuse
  // it, and read what lies as expected; what is not like that is copied.
  std::vector<size_t> copied_in, copied_out;
  int64_t bytes = prepared_->arena.bytes;
  std::vector<int64_t> offsets;
  const auto reserve = [&](int64_t more) {
    offsets.push_back(bytes);
    bytes += aligned(more, kGpuAlignment);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dims.empty() || lies_as_expected(*state_, i, inputs[i])) continue;
    copied_in.push_back(i);
    reserve(bytes_across(expected_view(*state_, i, inputs[i], nullptr)));
  }
  std::vector<TensorView> arrays = inputs;
  for (TensorView& array : arrays)
    if (array.dims.empty()) array.dims = {0}, array.strides = {1};  // numbers are arguments
  const std::vector<bool> shared = shared_outputs(arrays, outputs, state_->in_place);
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o].contiguous() && !shared[o]) continue;
    copied_out.push_back(o);
    reserve(outputs[o].bytes());
  }
  const int64_t counters = bytes,
                counter_bytes = needs_counters() ? static_cast<int64_t>(state_->kernels.size() * sizeof(int32_t)) : 0;
  memory_ = std::make_unique<runtime::PooledBlock>(device.pool, bytes + counter_bytes, stream);
  if (reports_errors()) {
    error_ = gpu_.allocate_mapped(error_bytes());
    std::memset(error_.host, 0, static_cast<size_t>(error_bytes()));
  }

  Addresses at;
  at.arena = memory_->address();
  at.counters = at.arena + static_cast<uint64_t>(counters);
  // Kernels leave their counters at 0, for the next run of this call.
  if (counter_bytes > 0) gpu_.fill(at.counters, 0, counter_bytes, stream);
  for (const TensorView& input : inputs) at.inputs.push_back(address_of(input));
  for (const TensorView& output : outputs) at.outputs.push_back(address_of(output));
  for (size_t c = 0; c < copied_in.size(); ++c) {
    const TensorView& input = inputs[copied_in[c]];
    at.inputs[copied_in[c]] = at.arena + static_cast<uint64_t>(offsets[c]);
    if (input.count() > 0)
      steps_.push_back(device.copier->step(
          device, input,
          expected_view(*state_, copied_in[c], input, reinterpret_cast<void*>(at.inputs[copied_in[c]]))));
  }
  for (size_t c = 0; c < copied_out.size(); ++c)
    at.outputs[copied_out[c]] = at.arena + static_cast<uint64_t>(offsets[copied_in.size() + c]);
  for (size_t k = 0; k < state_->launches.size(); ++k) add_kernel(k, inputs, at);
  // A node that is returned twice was computed into its first output.
  const std::vector<size_t> computed = first_outputs(state_->graph);
  for (size_t o = 0; o < outputs.size(); ++o) {
    const size_t first = computed[o];
    if (first == o || outputs[o].bytes() == 0) continue;
    GpuStep copy;
    copy.to = at.outputs[o];
    copy.from = at.outputs[first];
    copy.bytes = outputs[o].bytes();
    steps_.push_back(copy);
  }
  for (const size_t o : copied_out)
    if (outputs[o].count() > 0)
      steps_.push_back(device.copier->step(device, row_major(outputs[o], at.outputs[o]), outputs[o]));
  if (nvtx_) name_ranges();
}

GpuCall::~GpuCall() {
  if (graph_) gpu_.destroy_graph(graph_);
  if (!error_.host) return;
  // A kernel that still runs may write to it.
  try {
    gpu_.synchronize(stream_);
  } catch (const Error&) {
  }
  gpu_.release_mapped(error_.host);
}

void GpuCall::check_addresses(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs) const {
  const auto check = [](const TensorView& view, const std::string& what) {
    const int size = size_of(view.dtype);
    if (view.count() > 0 && !view.data) throw UserError(fmt::format("{} has no memory: its address is null", what));
    if (address_of(view) % static_cast<uint64_t>(size) != 0)
      throw UserError(
          fmt::format("{} stands at {:#x}, which is no multiple of {}, the size of its elements\nhelp: copy it into "
                      "memory of its own",
                      what, address_of(view), size));
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].dims.empty()) check(inputs[i], "input " + state_->graph.at(state_->graph.inputs[i]).name);
  for (size_t o = 0; o < outputs.size(); ++o) check(outputs[o], fmt::format("output {}", o));
}

bool GpuCall::needs_counters() const {
  return std::any_of(state_->kernels.begin(), state_->kernels.end(),
                     [](const kernel::Kernel& k) { return k.counter_param >= 0; });
}

int64_t GpuCall::error_bytes() const { return static_cast<int64_t>(state_->kernels.size() * sizeof(int32_t)); }

bool GpuCall::reports_errors() const {
  const auto reports = [](const kernel::Kernel& k) { return k.error_param >= 0; };
  return std::any_of(state_->kernels.begin(), state_->kernels.end(), [&](const kernel::Kernel& k) {
    return reports(k) || std::any_of(k.bodies.begin(), k.bodies.end(), reports);
  });
}

uint64_t GpuCall::value_of(size_t kernel, const kernel::Param& param, const Binding& binding,
                           const std::vector<TensorView>& inputs, const Addresses& at) const {
  const auto index = static_cast<size_t>(binding.index);
  switch (binding.kind) {
    case Binding::Input:
      if (param.kind == kernel::ParamKind::Scalar) {
        uint64_t value = 0;
        const TensorView& input = inputs[index];
        const auto bytes = static_cast<size_t>(size_of(input.dtype));
        if (gpu_.is_device_memory(input.data))
          gpu_.download(&value, address_of(input), static_cast<int64_t>(bytes), stream_);
        else
          std::memcpy(&value, input.data, bytes);
        return value;
      }
      return at.inputs[index];
    case Binding::Output: return at.outputs[index];
    case Binding::Slot: return at.arena + static_cast<uint64_t>(prepared_->arena.offsets[index]);
    case Binding::Error: return error_.device + kernel * sizeof(int32_t);
    case Binding::Counter: return at.counters + kernel * sizeof(int32_t);
  }
  return 0;
}

std::vector<uint64_t> GpuCall::values_of(size_t number, const kernel::Kernel& kernel, const Launch& launch,
                                         const Prepared::Launch& prepared, const std::vector<TensorView>& inputs,
                                         const Addresses& at) const {
  std::vector<uint64_t> values;
  size_t array = 0, size = 0;
  for (const kernel::Param& param : kernel.params)
    values.push_back(param.kind == kernel::ParamKind::Size
                         ? static_cast<uint64_t>(prepared.arguments[size++])
                         : value_of(number, param, launch.arrays[array++], inputs, at));
  return values;
}

void GpuCall::add_batch(size_t kernel, const std::vector<TensorView>& inputs, const Addresses& at) {
  const Launch& launch = state_->launches[kernel];
  const kernel::Kernel& batch = state_->kernels[kernel];
  std::vector<std::vector<uint64_t>> values;
  for (size_t i = 0; i < batch.parts.size(); ++i)
    values.push_back(values_of(kernel, batch.bodies[static_cast<size_t>(batch.parts[i].body)], launch.parts[i],
                               prepared_->launches[kernel].parts[i], inputs, at));
  for (size_t p = 0; p < launch.gpu_phases.size(); ++p) {
    const auto chosen = parts_by_variant(*state_, *prepared_, kernel, p, values);
    for (size_t v = 0; v < chosen.size(); ++v) {
      const auto workgroups = [&](size_t part) {
        return prepared_->launches[kernel].parts[part].gpu_phases[p].variants[v]->workgroups;
      };
      for (size_t first = 0, next = 0; first < chosen[v].size(); first = next) {
        for (int64_t sum = 0; next < chosen[v].size() && next - first < static_cast<size_t>(launch.table.capacity);
             ++next)
          if ((sum += workgroups(chosen[v][next])) > runtime::kMostWorkgroups) break;
        const auto begin = chosen[v].begin();
        steps_.push_back(table_step(
            *state_, *prepared_, kernel, p, v,
            {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(next)}, values));
        steps_.back().function = launch.gpu_phases[p].variants[v]->code(*state_, kernel).handle;
      }
    }
  }
}

void GpuCall::add_kernel(size_t kernel, const std::vector<TensorView>& inputs, const Addresses& at) {
  if (state_->kernels[kernel].is_batch()) return add_batch(kernel, inputs, at);
  const Launch& launch = state_->launches[kernel];
  const Prepared::Launch& prepared = prepared_->launches[kernel];
  const kernel::Kernel& kernel_of = state_->kernels[kernel];
  const std::vector<uint64_t> values = values_of(kernel, kernel_of, launch, prepared, inputs, at);
  if (launch.custom) {
    if (auto step = custom_step(state_->device, *launch.custom, prepared.dims, values)) {
      step->kernel = static_cast<int>(kernel);
      steps_.push_back(std::move(*step));
    }
    return;
  }
  for (size_t p = 0; p < launch.gpu_phases.size(); ++p) {
    const Prepared::GpuPhase& shapes = prepared.gpu_phases[p];
    if (!shapes.runs) continue;
    if (const auto& copied = kernel_of.phases[p].copies;
        copied && values[static_cast<size_t>(copied->input)] == values[static_cast<size_t>(copied->output)])
      continue;
    const auto takes = [&](size_t v) {
      const std::vector<int>& alignment = launch.gpu_phases[p].variants[v]->alignment();
      bool aligned = shapes.variants[v].has_value();
      for (size_t i = 0; i < alignment.size(); ++i)
        aligned = aligned && (alignment[i] <= 1 || values[i] % static_cast<uint64_t>(alignment[i]) == 0);
      return aligned;
    };
    size_t v = 0;
    while (v + 1 < shapes.variants.size() && !takes(v)) ++v;
    GpuStep step;
    step.kernel = static_cast<int>(kernel);
    step.function = launch.gpu_phases[p].variants[v]->code(*state_, kernel).handle;
    step.shape = *shapes.variants[v];
    step.values = values;
    for (uint64_t& value : step.values) step.arguments.push_back(&value);
    const emit::DeviceFunction& function = launch.gpu_phases[p].variants[v]->emitted();
    for (size_t b = 0; b < function.boxes.size(); ++b)
      step.boxes.push_back(gpu_.map_boxes(values[static_cast<size_t>(function.boxes[b].param)], shapes.boxes[v][b]));
    for (runtime::BoxMap& map : step.boxes) step.arguments.push_back(&map);
    steps_.push_back(std::move(step));
  }
}

void GpuCall::issue(const GpuStep& step, runtime::StreamHandle stream) {
  if (step.on_host) return step.on_host(stream);  // what it throws reaches the caller unchanged
  try {
    if (step.function)
      gpu_.launch(step.function, step.shape, const_cast<void**>(step.arguments.data()), stream);
    else
      gpu_.copy(step.to, step.from, step.bytes, stream);
  } catch (const Error&) {
    rethrow_with(step.kernel < 0 ? "a copy of an array" : describe_kernel(*state_, static_cast<size_t>(step.kernel)));
  }
}

// What other threads do with the GPU meanwhile can end a recording. A call whose recording fails
// again launches its steps one by one, which says what is wrong with them if something is.
void GpuCall::record_graph() {
  constexpr int kTries = 2;
  const auto on_host = [](const GpuStep& step) { return step.on_host != nullptr; };
  if (steps_.size() < 2 || !gpu_.has_graphs() || std::any_of(steps_.begin(), steps_.end(), on_host)) return;
  for (int tries = 0; tries < kTries && !graph_; ++tries) {
    // A stream of its own: the caller's may be in use by others.
    const std::shared_ptr<void> stream(gpu_.create_stream(), [this](void* s) { gpu_.destroy_stream(s); });
    try {
      gpu_.begin_capture(stream.get());
      for (const GpuStep& step : steps_) issue(step, stream.get());
      graph_ = gpu_.end_capture(stream.get());
    } catch (const Error&) {
    }
  }
}

void GpuCall::name_ranges() {
  std::string all;
  for (const GpuStep& step : steps_) {
    const bool again = !ranges_.empty() && step.kernel >= 0 && &step != &steps_[0] && (&step)[-1].kernel == step.kernel;
    ranges_.push_back(step.kernel < 0 ? "copy of an array"
                                      : describe_kernel(*state_, static_cast<size_t>(step.kernel)));
    if (!again) all += (all.empty() ? "" : ", ") + ranges_.back();
  }
  ranges_.push_back(all);
}

// A graph is one launch, and so one range.
void GpuCall::run_in_ranges() {
  const auto range = [this](const std::string& name, const auto& launch) {
    nvtx_->push(name.c_str());
    const std::shared_ptr<void> end(nullptr, [this](void*) { nvtx_->pop(); });
    launch();
  };
  if (graph_) return range(ranges_.back(), [this] { gpu_.launch_graph(graph_, stream_); });
  for (size_t s = 0; s < steps_.size(); ++s) range(ranges_[s], [&] { issue(steps_[s], stream_); });
}

void GpuCall::run() {
  if (nvtx_) return run_in_ranges();
  if (graph_) return gpu_.launch_graph(graph_, stream_);
  for (const GpuStep& step : steps_) issue(step, stream_);
}

void GpuCall::run_each(const Executable::EachKernel& each) {
  for (size_t first = 0, next = 0; first < steps_.size(); first = next) {
    const int kernel = steps_[first].kernel;
    while (next < steps_.size() && steps_[next].kernel == kernel) ++next;
    const auto run = [&] {
      for (size_t s = first; s < next; ++s) issue(steps_[s], stream_);
    };
    kernel < 0 ? run() : each(static_cast<size_t>(kernel), run);
  }
}

void GpuCall::synchronize() {
  try {
    gpu_.synchronize(stream_);
  } catch (const Error&) {
    std::string kernels;
    for (size_t k = 0; k < state_->launches.size() && k < 4; ++k)
      kernels += (k ? ", " : "") + describe_kernel(*state_, k);
    rethrow_with("after " + kernels + (state_->launches.size() > 4 ? ", ..." : ""));
  }
  if (!error_.host) return;
  for (size_t k = 0; k < state_->kernels.size(); ++k) {
    int32_t code = 0;
    std::memcpy(&code, static_cast<const char*>(error_.host) + k * sizeof code, sizeof code);
    if (code == 0) continue;
    std::memset(error_.host, 0, static_cast<size_t>(error_bytes()));
    throw_out_of_range(*state_, k, code);
  }
}

}  // namespace smelt

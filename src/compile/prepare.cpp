// What a call needs to know before it launches: sizes, extents, the arena.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "compile/slices.hpp"

namespace smelt {
namespace {

void check_dtypes(const Graph& graph, const std::vector<TensorView>& inputs) {
  if (inputs.size() != graph.inputs.size())
    throw UserError(fmt::format("the program has {} inputs, but {} were given", graph.inputs.size(), inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Node& node = graph.at(graph.inputs[i]);
    if (inputs[i].dtype != node.dtype)
      throw UserError(
          fmt::format("input {} is {}{}, but the program declares {}\nhelp: convert it, or declare it as {}", node.name,
                      name_of(inputs[i].dtype), str(inputs[i].dims), name_of(node.dtype), name_of(inputs[i].dtype)));
  }
}

// What a kernel, or the body of a part, needs of the sizes, but its shapes on a GPU.
Prepared::Launch prepare_kernel(const kernel::Kernel& kernel, const Launch& launch, SizeBinding& sizes, bool gpu) {
  add_launch_sizes(kernel, sizes);
  Prepared::Launch prepared;
  for (Symbol symbol : launch.sizes) {
    const auto size = sizes.find(symbol);
    SMELT_CHECK(size != sizes.end(), "kernel {} needs {}, which no input has", kernel.name, symbol);
    prepared.arguments.push_back(size->second);
  }
  if (launch.custom)
    for (const kernel::Param& p : kernel.params) prepared.dims.push_back(evaluate(p.dims, sizes));
  if (gpu) return prepared;
  prepared.scratch_bytes = aligned(launch.scratch_bytes.evaluate(sizes), kCpuAlignment);
  for (const kernel::Phase& phase : kernel.phases) prepared.phases.push_back(cpu_phase(phase, sizes));
  return prepared;
}

// Whether what a launch writes bypasses the caches; returns whether that is news.
bool set_streaming(const Launch& launch, Prepared::Launch& prepared, int64_t streams) {
  bool changed = false;
  for (size_t s = 0; s < launch.sizes.size(); ++s)
    if (launch.sizes[s] == kernel::kLaunchStream)
      changed = std::exchange(prepared.arguments[s], streams) != streams || changed;
  for (size_t i = 0; i < launch.parts.size(); ++i)
    changed = set_streaming(launch.parts[i], prepared.parts[i], streams) || changed;
  return changed;
}

Prepared::Launch prepare_batch(const Executable::State& state, size_t k, const SizeBinding& sizes) {
  const kernel::Kernel& kernel = state.kernels[k];
  Prepared::Launch prepared;
  int64_t written = 0;
  for (size_t i = 0; i < kernel.parts.size(); ++i) {
    const kernel::Part& part = kernel.parts[i];
    SizeBinding own = sizes;
    for (const auto& [symbol, size] : part.sizes) own[symbol] = size.evaluate(sizes);
    const auto body = static_cast<size_t>(part.body);
    prepared.parts.push_back(prepare_kernel(kernel.bodies[body], state.launches[k].parts[i], own, state.device.is_gpu));
    prepared.scratch_bytes = std::max(prepared.scratch_bytes, prepared.parts.back().scratch_bytes);
    if (state.device.is_gpu) prepared.parts.back().gpu_phases = gpu_part_shapes(state, k, body, own);
    for (const kernel::Param& p : kernel.bodies[body].params)
      if (p.kind == kernel::ParamKind::Output) written += element_count(evaluate(p.dims, own)) * size_of(p.dtype);
  }
  // Many small outputs do not stay in the caches either.
  if (written >= kernel::kStreamBytes) set_streaming(state.launches[k], prepared, 1);
  return prepared;
}

Prepared::Launch prepare_launch(const Executable::State& state, size_t k, SizeBinding sizes) {
  if (state.kernels[k].is_batch()) return prepare_batch(state, k, sizes);
  Prepared::Launch prepared = prepare_kernel(state.kernels[k], state.launches[k], sizes, state.device.is_gpu);
  if (state.device.is_gpu) prepared.gpu_phases = gpu_shapes(state, k, sizes);
  return prepared;
}

bool same_dims(const Prepared& prepared, const std::vector<TensorView>& inputs) {
  return std::equal(prepared.input_dims.begin(), prepared.input_dims.end(), inputs.begin(), inputs.end(),
                    [](const Dims& dims, const TensorView& input) { return dims == input.dims; });
}

}  // namespace

void add_launch_sizes(const kernel::Kernel& kernel, SizeBinding& sizes) {
  for (const kernel::LaunchSize& s : kernel.launch_sizes) sizes[s.symbol] = s.value.evaluate(sizes);
}

Prepared::Phase cpu_phase(const kernel::Phase& phase, const SizeBinding& sizes) {
  constexpr int64_t kWorkPerPiece = 32768;  // a smaller one is not worth handing to another thread
  const int64_t work = std::max<int64_t>(phase.work.evaluate(sizes), 1);
  return {phase.body.back().get<kernel::Loop>().extent.evaluate(sizes), std::max<int64_t>(1, kWorkPerPiece / work)};
}

Arena lay_out(const std::vector<Slot>& slots, const std::vector<int64_t>& bytes, int64_t alignment) {
  Arena arena;
  std::vector<int64_t> lengths;
  for (size_t s = 0; s < slots.size(); ++s) {
    const int64_t length = aligned(bytes[s], alignment);
    // First fit: the lowest place that no slot alive at the same time occupies.
    int64_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t o = 0; o < s; ++o) {
        const bool together = slots[o].first_use <= slots[s].last_use && slots[s].first_use <= slots[o].last_use;
        if (together && at < arena.offsets[o] + lengths[o] && arena.offsets[o] < at + length) {
          at = arena.offsets[o] + lengths[o];
          moved = true;
        }
      }
    }
    arena.offsets.push_back(at);
    lengths.push_back(length);
    arena.bytes = std::max(arena.bytes, at + length);
  }
  return arena;
}

int64_t scratch_bytes(const Executable::State& state, const SizeBinding& sizes) {
  int64_t most = 0;
  for (size_t k = 0; k < state.launches.size(); ++k)
    most = std::max(most, prepare_launch(state, k, sizes).scratch_bytes * state.threads);
  return most;
}

std::shared_ptr<const Prepared> prepared_for(const Executable::State& state, std::shared_ptr<const Prepared> prepared,
                                             const std::vector<TensorView>& inputs,
                                             const std::vector<TensorView>& outputs) {
  const auto in_place = [&](const InPlaceArrays& p) { return inputs[p.input].data == outputs[p.output].data; };
  if (std::none_of(state.in_place.begin(), state.in_place.end(), in_place)) return prepared;
  auto cached = std::make_shared<Prepared>(*prepared);
  bool changed = false;
  for (size_t k = 0; k < state.launches.size(); ++k)
    changed = set_streaming(state.launches[k], cached->launches[k], 0) || changed;
  return changed ? cached : prepared;
}

// What kernels hand to each other in slices stays in the caches.
static void keep_slices(const Executable::State& state, Prepared& prepared) {
  for (const Prepared::Run& run : prepared.runs)
    for (size_t k = run.first; run.slices > 1 && k < run.end; ++k) {
      const std::vector<Binding>& arrays = state.launches[k].arrays;
      if (std::none_of(arrays.begin(), arrays.end(), [](const Binding& b) { return b.kind == Binding::Output; }))
        set_streaming(state.launches[k], prepared.launches[k], 0);
    }
}

static SizeBinding sizes_of_call(const Executable::State& state, const std::vector<Dims>& input_dims) {
  SizeBinding sizes = bind_sizes(state.graph, input_dims);
  sizes[kernel::kLaunchThreads] = state.threads;
  return sizes;
}

std::shared_ptr<const Prepared> prepared_apart(const Executable::State& state, const Prepared& prepared) {
  auto apart = std::make_shared<Prepared>(prepared);
  const SizeBinding sizes = sizes_of_call(state, prepared.input_dims);
  Layout layout = lay_out_apart(state, sizes);
  apart->arena = std::move(layout.arena);
  apart->runs = std::move(layout.runs);
  for (size_t k = 0; k < state.launches.size(); ++k) apart->launches[k] = prepare_launch(state, k, sizes);
  return apart;
}

std::shared_ptr<const Prepared> prepare(const Executable::State& state, const std::vector<TensorView>& inputs) {
  check_dtypes(state.graph, inputs);
  if (auto last = state.last.load(); last && same_dims(*last, inputs)) return last;
  auto prepared = std::make_shared<Prepared>();
  for (const TensorView& input : inputs) prepared->input_dims.push_back(input.dims);
  const SizeBinding sizes = sizes_of_call(state, prepared->input_dims);
  for (NodeId id : state.graph.outputs) prepared->output_dims.push_back(evaluate(state.graph.at(id).shape, sizes));
  Layout layout = lay_out_call(state, sizes);
  prepared->arena = std::move(layout.arena);
  prepared->runs = std::move(layout.runs);
  for (size_t k = 0; k < state.launches.size(); ++k) prepared->launches.push_back(prepare_launch(state, k, sizes));
  for (const Prepared::Launch& launch : prepared->launches)
    prepared->scratch_bytes = std::max(prepared->scratch_bytes, launch.scratch_bytes * state.threads);
  keep_slices(state, *prepared);
  state.last.store(prepared);
  return prepared;
}

}  // namespace smelt

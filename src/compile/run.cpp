// Running an executable: sizes, memory, launches.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/check.hpp"
#include "compile/slices.hpp"
#include "graph/build_detail.hpp"
#include "graph/out_of_range.hpp"

namespace smelt {
namespace {

std::string shape_text(const TensorView& view) { return fmt::format("{}{}", name_of(view.dtype), str(view.dims)); }

// The bytes that a view may touch, as addresses.
std::pair<const char*, const char*> extent_of(const TensorView& view) {
  int64_t low = 0, high = 0;
  for (size_t d = 0; d < view.dims.size(); ++d) {
    const int64_t step = (view.dims[d] - 1) * view.strides[d];
    (step < 0 ? low : high) += step;
  }
  const char* base = static_cast<const char*>(view.data);
  const int size = size_of(view.dtype);
  return {base + low * size, base + (high + 1) * size};
}

bool share_memory(const TensorView& a, const TensorView& b) {
  if (a.count() == 0 || b.count() == 0) return false;
  const auto [begin, end] = extent_of(a);
  const auto [from, to] = extent_of(b);
  return from < end && begin < to;
}

// ": index 9 of 3 elements", when all indices are an input in the memory of the host.
std::string index_text(const Graph& graph, const Node& node, const std::vector<TensorView>& inputs,
                       const std::vector<TensorView>& outputs) {
  NodeId id = node.args[1];
  const auto same_values = [&](const Node& n) {
    return n.kind == NodeKind::Reshape || n.kind == NodeKind::Permute || n.kind == NodeKind::Broadcast ||
           (n.kind == NodeKind::Cast && !n.wrap && is_int(graph.at(n.args[0]).dtype));
  };
  while (same_values(graph.at(id))) id = graph.at(id).args[0];
  const auto input = std::find(graph.inputs.begin(), graph.inputs.end(), id);
  if (input == graph.inputs.end() || inputs.empty()) return "";
  const TensorView& indices = inputs[static_cast<size_t>(input - graph.inputs.begin())];
  // A kernel may have written there since.
  for (const TensorView& output : outputs)
    if (share_memory(indices, output)) return "";
  std::vector<Dims> dims;
  for (const TensorView& view : inputs) dims.push_back(view.dims);
  const int64_t size =
      graph.at(node.args[0]).shape[static_cast<size_t>(node.axes[0])].evaluate(bind_sizes(graph, dims));
  const Tensor row_major = contiguous_copy(indices);
  for (int64_t i = 0; i < row_major.count(); ++i) {
    const Scalar index =
        load_scalar(indices.dtype, static_cast<const char*>(row_major.data) + i * size_of(indices.dtype));
    const bool large = indices.dtype == DType::U64 && index.u > static_cast<uint64_t>(INT64_MAX);
    if (large || index.as_int() >= size || index.as_int() < -size)
      return fmt::format(": index {} of {} elements", index.str(), size);
  }
  return "";
}

}  // namespace

void throw_out_of_range(const Executable::State& state, size_t k, int32_t code, const std::vector<TensorView>& inputs,
                        const std::vector<TensorView>& outputs) {
  SMELT_CHECK(code != kernel::kOutsideOfArray, "an index that was not proved inside its array left it");
  const Graph& graph = state.graph;
  const Node& node = graph.at(state.kernels[k].checks.at(static_cast<size_t>(code) - 1));
  throw OutOfRangeError(
      fmt::format("{} met an index out of range: axis {} of {} has no such element{}",
                  node.label.empty()   ? "take"
                  : node.label == "[]" ? "x[...]"
                                       : node.label,
                  node.axes[0], describe(graph.at(node.args[0])), index_text(graph, node, inputs, outputs)),
      node.origin, "check the indices, or clamp them by the mode 'clip'");
}

void execute(const Executable::State& state, const Prepared& prepared, const std::vector<TensorView>& inputs,
             const std::vector<TensorView>& outputs, const Executable::EachKernel& each) {
  const Arena& arena = prepared.arena;
  MemoryPool::Block block = state.pool.take(arena.bytes + prepared.scratch_bytes);
  char* const memory = block.first.get();
  int32_t error = 0;
  std::vector<Addresses> addresses;
  for (const Launch& launch : state.launches)
    addresses.push_back(find_addresses(launch, arena, memory, &error, inputs, outputs));
  for (const Prepared::Run& kernels : prepared.runs) {
    const auto run = [&] { launch_run(state, prepared, kernels, addresses, memory + arena.bytes); };
    each ? each(kernels.first, run) : run();
    if (!error) continue;
    state.pool.give_back(std::move(block));
    throw_out_of_range(state, kernels.first, error, inputs, outputs);
  }
  state.pool.give_back(std::move(block));
}

bool lies_as_expected(const Executable::State& state, size_t input, const TensorView& view) {
  const std::vector<int64_t>& strides = state.graph.at(state.graph.inputs[input]).steps;
  if (strides.empty()) return view.contiguous();
  for (size_t d = 0; d < strides.size(); ++d)
    if (view.dims[d] != 1 && view.strides[d] != strides[d]) return false;
  return true;
}

TensorView expected_view(const Executable::State& state, size_t input, const TensorView& like, void* data) {
  const std::vector<int64_t>& strides = state.graph.at(state.graph.inputs[input]).steps;
  return {like.dtype, like.dims, strides.empty() ? contiguous_strides(like.dims) : strides, data};
}

int64_t bytes_across(const TensorView& view) {
  if (view.count() == 0) return 0;
  int64_t last = 0;
  for (size_t d = 0; d < view.dims.size(); ++d) last += (view.dims[d] - 1) * view.strides[d];
  return (last + 1) * size_of(view.dtype);
}

void copy_as_expected(const TensorView& from, const TensorView& to) {
  to.contiguous() ? copy_strided(from, to) : copy_into(contiguous_copy(from), to);
}

// A bool of the caller may hold any byte; in kernels it is 0 or 1 only where it was stored so,
// which the printer's loads do not rely on.
std::vector<TensorView> expected_inputs(const Executable::State& state, const std::vector<TensorView>& inputs,
                                        std::vector<Tensor>& copies) {
  int64_t bytes = 0;
  std::vector<TensorView> result;
  for (size_t i = 0; i < inputs.size(); ++i) {
    result.push_back(inputs[i]);
    if (lies_as_expected(state, i, inputs[i])) continue;
    result.back() = expected_view(state, i, inputs[i], nullptr);
    bytes += bytes_across(result.back());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (lies_as_expected(state, i, inputs[i])) continue;
    TensorView& copy = result[i];
    copies.push_back(state.copy_pool->take(copy.dtype, {bytes_across(copy) / size_of(copy.dtype)}, bytes));
    copy.data = copies.back().data;
    copy_as_expected(inputs[i], copy);
  }
  return result;
}

std::vector<bool> shared_outputs(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
                                 const std::vector<InPlaceArrays>& in_place) {
  struct Extent {
    const char *begin, *end;
    bool is_output;
    size_t number;  // of the input or the output
  };
  std::vector<Extent> extents;
  const auto add = [&](const std::vector<TensorView>& views, bool is_output) {
    for (size_t v = 0; v < views.size(); ++v) {
      if (views[v].count() == 0) continue;
      const auto [begin, end] = extent_of(views[v]);
      extents.push_back({begin, end, is_output, v});
    }
  };
  add(inputs, false);
  add(outputs, true);
  const auto stands_in_place = [&](const Extent& output, const Extent& input) {
    return output.begin == input.begin && output.end == input.end && inputs[input.number].contiguous() &&
           outputs[output.number].contiguous() && std::any_of(in_place.begin(), in_place.end(), [&](const auto& p) {
             return p.input == input.number && p.output == output.number;
           });
  };
  std::stable_sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  std::vector<bool> shared(outputs.size(), false);
  // Extents that hang together, one overlapping the next, are compared with each other.
  for (size_t first = 0, next = 0; first < extents.size(); first = next) {
    const char* end = extents[first].end;
    for (next = first + 1; next < extents.size() && extents[next].begin < end; ++next)
      end = std::max(end, extents[next].end);
    for (size_t a = first; a < next; ++a) {
      const Extent& x = extents[a];
      for (size_t b = first; b < next && x.is_output && !shared[x.number]; ++b) {
        const Extent& y = extents[b];
        if (a == b || x.begin >= y.end || y.begin >= x.end) continue;
        shared[x.number] = y.is_output ? y.number < x.number : !stands_in_place(x, y);
      }
    }
  }
  return shared;
}

void copy_into(const TensorView& from, const TensorView& to) {
  const int size = size_of(from.dtype);
  if (to.contiguous()) {
    if (from.count()) std::memcpy(to.data, from.data, static_cast<size_t>(from.bytes()));
    return;
  }
  Dims index(to.dims.size(), 0);
  for (int64_t i = 0, n = from.count(); i < n; ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * to.strides[d];
    std::memcpy(static_cast<char*>(to.data) + offset * size, static_cast<const char*>(from.data) + i * size,
                static_cast<size_t>(size));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < to.dims[d]) break;
      index[d] = 0;
    }
  }
}

std::vector<Dims> Executable::output_dims(const std::vector<TensorView>& inputs) const {
  return prepare(*state_, inputs)->output_dims;
}

int64_t Executable::temporary_bytes(const SizeBinding& sizes) const {
  SizeBinding all = sizes;
  all[kernel::kLaunchThreads] = state_->threads;
  const int64_t arena = lay_out_call(*state_, all).arena.bytes;
  return state_->device.is_gpu ? arena : arena + scratch_bytes(*state_, all);
}

std::vector<Executable::Slices> Executable::slices(const SizeBinding& sizes) const {
  SizeBinding all = sizes;
  all[kernel::kLaunchThreads] = state_->threads;
  std::vector<Slices> result;
  for (const Prepared::Run& run : lay_out_call(*state_, all).runs) {
    if (run.slices == 1) continue;
    result.push_back({run.first, run.end, run.slices, 0});
    for (const auto& part : run.parts) result.back().bytes += part.second;
  }
  return result;
}

std::vector<InPlaceArrays> Executable::in_place() const { return state_->in_place; }

std::vector<Tensor> Executable::run(const std::vector<TensorView>& inputs) const {
  const std::vector<Dims> dims = output_dims(inputs);
  const auto dtype = [&](size_t o) { return state_->graph.at(state_->graph.outputs[o]).dtype; };
  int64_t bytes = 0;
  for (size_t o = 0; o < dims.size(); ++o) bytes += element_count(dims[o]) * size_of(dtype(o));
  std::vector<Tensor> outputs;
  for (size_t o = 0; o < dims.size(); ++o) outputs.push_back(state_->output_pool->take(dtype(o), dims[o], bytes));
  run_into(inputs, {outputs.begin(), outputs.end()});
  return outputs;
}

void interpret_into(const Graph& graph, const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs) {
  const std::vector<Tensor> results = interpret(graph, inputs);
  for (size_t o = 0; o < outputs.size(); ++o) {
    Tensor narrowed = Tensor::empty(outputs[o].dtype, outputs[o].dims);
    for (int64_t i = 0, n = narrowed.count(); i < n; ++i) {
      const char* from = static_cast<const char*>(results[o].data) + i * size_of(results[o].dtype);
      store_scalar(convert(load_scalar(results[o].dtype, from), narrowed.dtype),
                   static_cast<char*>(narrowed.data) + i * size_of(narrowed.dtype));
    }
    copy_into(narrowed, outputs[o]);
  }
}

void check_outputs(const Executable::State& state, const Prepared& prepared, const std::vector<TensorView>& outputs) {
  if (outputs.size() != state.graph.outputs.size())
    throw UserError(fmt::format("the program has {} outputs, but memory for {} was given", state.graph.outputs.size(),
                                outputs.size()));
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Node& node = state.graph.at(state.graph.outputs[o]);
    const Dims& dims = prepared.output_dims[o];
    if (outputs[o].dtype != node.dtype || outputs[o].dims != dims)
      throw UserError(
          fmt::format("output {} is {}{}, but the memory given for it is {}\n"
                      "help: give memory of that dtype and shape",
                      o, name_of(node.dtype), str(dims), shape_text(outputs[o])));
    for (size_t d = 0; d < dims.size() && element_count(dims) > 0; ++d)
      if (dims[d] > 1 && outputs[o].strides[d] == 0)
        throw UserError(fmt::format(
            "output {} has stride 0 along axis {}: its elements would share memory\nhelp: give memory for each element",
            o, d));
  }
}

std::vector<TensorView> direct_outputs(const Executable::State& state, const std::vector<TensorView>& inputs,
                                       const std::vector<TensorView>& outputs, std::vector<Tensor>& copies,
                                       std::vector<size_t>& aside) {
  std::vector<TensorView> targets = outputs;
  const std::vector<bool> shared = shared_outputs(inputs, outputs, state.in_place);
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o].contiguous() && !shared[o]) continue;
    copies.push_back(Tensor::empty(outputs[o].dtype, outputs[o].dims));
    targets[o] = copies.back();
    aside.push_back(o);
  }
  return targets;
}

// Whether one output is row-major and shares no memory with an input: what most calls are, found
// without an allocation.
static bool stand_alone(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs) {
  if (outputs.size() != 1 || !outputs[0].contiguous() || outputs[0].count() == 0) return false;
  return std::none_of(inputs.begin(), inputs.end(),
                      [&](const TensorView& input) { return share_memory(input, outputs[0]); });
}

std::vector<size_t> first_outputs(const Graph& graph) {
  std::unordered_map<NodeId, size_t> first;
  std::vector<size_t> result;
  for (size_t o = 0; o < graph.outputs.size(); ++o)
    result.push_back(first.try_emplace(graph.outputs[o], o).first->second);
  return result;
}

void Executable::run_into(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs) const {
  const State& state = *state_;
  const std::shared_ptr<const Prepared> prepared = prepare(state, inputs);
  check_outputs(state, *prepared, outputs);
  if (interpreted()) return interpret_into(state.graph, inputs, outputs);
  if (state.device.is_gpu) return run_on_gpu(state_, prepared, inputs, outputs);

  std::vector<Tensor> copies;
  std::vector<TensorView> laid, direct;
  bool expected = true;
  for (size_t i = 0; i < inputs.size(); ++i) expected = expected && lies_as_expected(state, i, inputs[i]);
  if (!expected) laid = expected_inputs(state, inputs, copies);
  const std::vector<TensorView>& sources = expected ? inputs : laid;
  std::vector<size_t> aside;
  const bool as_they_are = stand_alone(sources, outputs);
  if (!as_they_are) direct = direct_outputs(state, sources, outputs, copies, aside);
  const std::vector<TensorView>& targets = as_they_are ? outputs : direct;
  execute(state, *prepared_for(state, prepared, sources, targets), sources, targets);
  if (as_they_are) return;
  const std::vector<size_t> computed = first_outputs(state.graph);
  for (size_t o = 0; o < targets.size(); ++o)
    if (const size_t first = computed[o]; first != o) copy_into(targets[first], targets[o]);
  for (size_t o : aside) copy_into(targets[o], outputs[o]);
}

void Executable::run_each(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs,
                          const EachKernel& each) const {
  const std::shared_ptr<const Prepared> prepared = prepare(*state_, inputs);
  check_outputs(*state_, *prepared, outputs);
  SMELT_CHECK(!interpreted(), "kernels of a program that is interpreted");
  if (state_->device.is_gpu) return run_each_on_gpu(state_, prepared, inputs, outputs, each);
  std::vector<Tensor> copies;
  execute(*state_, *prepared_apart(*state_, *prepared), expected_inputs(*state_, inputs, copies), outputs, each);
}

}  // namespace smelt

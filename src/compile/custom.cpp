#include "compile/custom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "runtime/disk_cache.hpp"

namespace smelt {
namespace {

const Node& node_of(const Executable::State& state, size_t group) {
  return state.graph.at(state.plan.groups[group].nodes[0]);
}

CustomCall call_of(const CustomLaunch& launch, const std::vector<Dims>& dims, const auto& data, int threads) {
  CustomCall call;
  call.threads = threads;
  for (size_t i = 0; i < dims.size(); ++i)
    if (i < launch.inputs)
      call.inputs.push_back({launch.dtypes[i], dims[i], data(i)});
    else
      call.outputs.push_back({launch.dtypes[i], dims[i], data(i)});
  return call;
}

bool writes_nothing(const CustomCall& call) {
  return std::all_of(call.outputs.begin(), call.outputs.end(), [](const CustomOutput& o) { return o.count() == 0; });
}

// On a GPU: whether the function for the CPU serves it.
bool runs_on_host(const CustomCode& code, const Machine& device) {
  return code.on_host && (device.opencl || !code.cuda);
}

}  // namespace

void check_custom(const Graph& graph, const Machine& device) {
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::Custom) continue;
    const CustomCode& code = *node.custom->code;
    if (device.is_gpu && runs_on_host(code, device)) continue;
    if (device.opencl)
      throw UserError(
          fmt::format("the operation {} is your own code, which cannot run on an OpenCL device\n"
                      "help: set on_host in its CustomOperation: its cpu function then runs on copies of its arrays",
                      code.name));
    if (device.is_gpu && !code.cuda)
      throw UserError(
          fmt::format("the operation {} is a C++ function, which cannot run on a GPU\nhelp: give its CustomOperation a "
                      "cuda kernel too, or set on_host: the function then runs on copies of its arrays",
                      code.name));
    if (!device.is_gpu && !code.cpu)
      throw UserError(fmt::format(
          "the operation {} is a CUDA kernel, and this runs on the CPU\nhelp: take its inputs to a GPU with "
          "to(Device::cuda()), or give its CustomOperation a cpu function too",
          code.name));
  }
}

bool is_custom(const Executable::State& state, size_t group) {
  return state.plan.groups[group].strategy() == plan::Strategy::Custom;
}

std::string custom_source(const Executable::State& state, size_t group) {
  const std::optional<CudaKernel>& cuda = node_of(state, group).custom->code->cuda;
  return cuda ? cuda->source : "";
}

kernel::Kernel custom_kernel(const Graph& graph, const plan::FusionGroup& group, const std::string& name) {
  kernel::Kernel kernel;
  kernel.name = name;
  const Node& node = graph.at(group.nodes[0]);
  const auto add = [&](kernel::ParamKind kind, DType dtype, const Shape& dims, NodeId value) {
    kernel::Param param{kind};
    param.dtype = dtype;
    param.dims = dims;
    param.value = value;
    kernel.params.push_back(std::move(param));
  };
  for (const NodeId id : node.args) add(kernel::ParamKind::Input, graph.at(id).dtype, graph.at(id).shape, id);
  // A result that nobody reads is written all the same, to memory of its own.
  std::vector<NodeId> stored(node.custom->results.size(), -1);
  for (const NodeId id : group.outputs) stored[static_cast<size_t>(graph.at(id).result)] = id;
  for (size_t r = 0; r < stored.size(); ++r)
    add(kernel::ParamKind::Output, node.custom->results[r].dtype, node.custom->results[r].shape, stored[r]);
  return kernel;
}

std::shared_ptr<const CustomLaunch> load_custom(const Executable::State& state, size_t group) {
  const Node& node = node_of(state, group);
  auto made = std::make_shared<CustomLaunch>();
  made->code = node.custom->code;
  made->inputs = node.args.size();
  for (const NodeId id : node.args) made->dtypes.push_back(state.graph.at(id).dtype);
  for (const CustomUse::Result& result : node.custom->results) made->dtypes.push_back(result.dtype);
  if (!state.device.is_gpu || runs_on_host(*made->code, state.device)) return made;
  for (const Launch& launch : state.launches)
    if (launch.custom && launch.custom->code == made->code) {
      made->gpu = launch.custom->gpu;
      return made;
    }
  const Machine& device = state.device;
  const auto named = [&](const std::string& what, std::string text) {
    // The user's source is no business of those who keep smelt.
    const std::string before = "internal error in smelt: ";
    if (text.rfind(before, 0) == 0) text = text.substr(before.size());
    return UserError(fmt::format("the operation {}: {}\n{}", made->code->name, what,
                                 text.substr(0, text.find("\nThis is a bug in smelt"))));
  };
  const CudaKernel& cuda = *made->code->cuda;
  const auto compile = [&] { return device.nvrtc->compile(cuda.source, device.gpu_facts.compute, state.nvrtc); };
  std::string cubin;
  try {
    cubin = device.cache ? device.cache->get(gpu_cache_key(device, state.nvrtc, cuda.source), compile) : compile();
  } catch (const InternalError& e) {
    throw named("its CUDA source does not compile", e.what());
  }
  if (!device.gpu) return made;
  try {
    made->gpu.module = device.gpu->load(cubin);
    made->gpu.handle = made->gpu.module->function(cuda.function);
    made->gpu.facts = made->gpu.module->facts(made->gpu.handle);
  } catch (const InternalError& e) {
    throw named(fmt::format("its CUDA source has no function '{}' that can be loaded; is it extern \"C\" __global__?",
                            cuda.function),
                e.what());
  }
  return made;
}

// Kernels read and write arrays at any address; the user's code may rely on what its types ask.
class AlignedCall {
 public:
  explicit AlignedCall(CustomCall& call) : call_(call) {
    for (CustomInput& input : call.inputs)
      if (const void* from = input.data; is_misaligned(input)) std::memcpy(move(input), from, bytes(input));
    for (CustomOutput& output : call.outputs) {
      targets_.push_back(output.data);
      if (is_misaligned(output)) move(output);
    }
  }
  void finish() const {
    for (size_t o = 0; o < targets_.size(); ++o)
      if (call_.outputs[o].data != targets_[o])
        std::memcpy(targets_[o], call_.outputs[o].data, bytes(call_.outputs[o]));
  }

 private:
  static bool is_misaligned(const auto& array) {
    return reinterpret_cast<uintptr_t>(array.data) % static_cast<uintptr_t>(size_of(array.dtype)) != 0;
  }
  static size_t bytes(const auto& array) { return static_cast<size_t>(array.count() * size_of(array.dtype)); }
  void* move(auto& array) {
    memory_.push_back(Tensor::empty(array.dtype, array.dims));
    array.data = memory_.back().data;
    return memory_.back().data;
  }

  CustomCall& call_;
  std::vector<Tensor> memory_;
  std::vector<void*> targets_;
};

void run_custom(int threads, const CustomLaunch& launch, const std::vector<Dims>& dims, void* const* arrays) {
  CustomCall call = call_of(
      launch, dims, [&](size_t i) { return arrays[i]; }, threads);
  if (writes_nothing(call)) return;
  const AlignedCall aligned(call);
  launch.code->cpu(call);
  aligned.finish();
}

// Reads what was computed before it in the stream, and returns when its results are on their way.
static void run_on_copies(const Machine& device, const CustomLaunch& launch, const std::vector<Dims>& dims,
                          const std::vector<uint64_t>& addresses, runtime::StreamHandle stream) {
  std::vector<Tensor> copies;
  std::vector<void*> arrays;
  for (size_t i = 0; i < dims.size(); ++i) {
    arrays.push_back(copies.emplace_back(Tensor::empty(launch.dtypes[i], dims[i])).data);
    if (i < launch.inputs && copies[i].count() > 0)
      device.gpu->download(arrays[i], addresses[i], copies[i].bytes(), stream);
  }
  run_custom(device.facts.threads, launch, dims, arrays.data());
  for (size_t i = launch.inputs; i < dims.size(); ++i)
    if (copies[i].count() > 0) device.gpu->upload(addresses[i], arrays[i], copies[i].bytes(), stream);
}

// How a CUDA launch would fail, in words.
static void check_launch(const CustomLaunch& launch, const CudaLaunch& asked) {
  const auto refuse = [&](const std::string& what) {
    throw UserError(fmt::format("the operation {}: its launch {}\nhelp: see what its launch function returns",
                                launch.code->name, what));
  };
  constexpr int64_t kMostAcross = 65535;
  const auto& [x, y, z] = asked.block;
  const int64_t threads = int64_t{x} * y * z;
  if (std::min({x, y, z}) < 1 || threads > launch.gpu.facts.max_threads)
    refuse(fmt::format("has blocks of {} x {} x {} threads, and the kernel can have 1 to {} in all", x, y, z,
                       launch.gpu.facts.max_threads));
  const auto& grid = asked.grid;
  if (std::min({grid[0], grid[1], grid[2]}) < 0 || grid[0] > runtime::kMostWorkgroups || grid[1] > kMostAcross ||
      grid[2] > kMostAcross)
    refuse(fmt::format("has a grid of {} x {} x {} blocks, and a GPU takes up to {} x {} x {}", grid[0], grid[1],
                       grid[2], runtime::kMostWorkgroups, kMostAcross, kMostAcross));
  if (asked.shared_bytes < 0) refuse(fmt::format("requests {} bytes of shared memory", asked.shared_bytes));
}

std::optional<GpuStep> custom_step(const Machine& device, const CustomLaunch& launch, const std::vector<Dims>& dims,
                                   const std::vector<uint64_t>& addresses) {
  const CustomCall call = call_of(
      launch, dims, [&](size_t i) { return reinterpret_cast<void*>(addresses[i]); }, device.facts.threads);
  if (writes_nothing(call)) return std::nullopt;
  GpuStep step;
  if (runs_on_host(*launch.code, device)) {
    step.on_host = [&device, &launch, dims, addresses](runtime::StreamHandle stream) {
      run_on_copies(device, launch, dims, addresses, stream);
    };
    return step;
  }
  const CudaLaunch asked = launch.code->cuda->launch(call);
  check_launch(launch, asked);
  if (asked.grid[0] == 0 || asked.grid[1] == 0 || asked.grid[2] == 0) return std::nullopt;
  constexpr int64_t kWithoutAsking = 48 << 10;
  const int64_t room = device.gpu_facts.shared_bytes_per_workgroup - launch.gpu.facts.shared_bytes;
  if (asked.shared_bytes > room)
    throw UserError(
        fmt::format("the operation {}: its launch requests {} bytes of shared memory, and {} has {} for it\n"
                    "help: smaller tiles",
                    launch.code->name, asked.shared_bytes, device.gpu_facts.name, room));
  // The limit for all launches of the function: the maximum, so that concurrent calls agree.
  if (asked.shared_bytes + launch.gpu.facts.shared_bytes > kWithoutAsking)
    launch.gpu.module->allow_shared_bytes(launch.gpu.handle, room);
  step.function = launch.gpu.handle;
  step.shape.workgroups = asked.grid[0];
  step.shape.workgroups_y = static_cast<int>(asked.grid[1]);
  step.shape.workgroups_z = static_cast<int>(asked.grid[2]);
  step.shape.threads = asked.block[0];
  step.shape.threads_y = asked.block[1];
  step.shape.threads_z = asked.block[2];
  step.shape.shared_bytes = asked.shared_bytes;
  for (const CudaArgument& argument : asked.arguments) step.values.push_back(argument.bits());
  for (uint64_t& value : step.values) step.arguments.push_back(&value);
  return step;
}

}  // namespace smelt

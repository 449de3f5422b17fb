// The host side of a standalone CUDA file: which function of a phase, how many workgroups, in what
// order.
#include <fmt/format.h>

#include "base/check.hpp"
#include "compile/standalone_text.hpp"
#include "compile/state.hpp"
#include "emit/cuda.hpp"

namespace smelt {
namespace {

std::string comment(const StandaloneText& file, int compute) {
  return file.comment(
             "CUDA C++",
             fmt::format("//   workspace: {}_workspace_bytes(sizes) bytes of the GPU's memory, aligned to 256\n"
                         "//   stream: where the kernels are queued\n"
                         "// Arrays are in the GPU's memory, numbers are given by value; bool is one byte, f16 and "
                         "bf16 their bits in an unsigned short.\n"
                         "// Outputs overlap nothing. Returns 0 when all is queued; 1 when the sizes do not fit the "
                         "program; else 1000 + the cudaError_t.\n"
                         "// When the stream is done, the first four bytes of the workspace are not 0 if an index was "
                         "out of range.\n",
                         file.name())) +
         fmt::format("//\n// nvcc -std=c++17 -O3 -fmad=false -arch=sm_{}{} -c FILE\n", compute,
                     compute == 90 ? "a" : "") +
         "// Without -fmad=false results differ in their last bits, of some functions in more.\n\n";
}

const char* kHelpers = R"smelt(#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace {

template <class T>
T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T larger(T a, T b) {
  return a > b ? a : b;
}
[[maybe_unused]] long long floor_div(long long a, long long b) {
  const long long q = a / b;
  return a % b < 0 ? q - 1 : q;
}
[[maybe_unused]] long long floor_mod(long long a, long long b) {
  const long long r = a % b;
  return r < 0 ? r + b : r;
}

struct Gpu {
  int64_t threads = 1, shared = 0;  // multiprocessors, and bytes of shared memory that a workgroup may have
};
int find_gpu(Gpu& gpu) {
  int device = 0, processors = 0, shared = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  gpu.threads = processors;
  gpu.shared = shared;
  return status == cudaSuccess ? 0 : 1000 + static_cast<int>(status);
}

template <class T>
bool is_aligned(T* address, int bytes) {
  return reinterpret_cast<uintptr_t>(address) % static_cast<uintptr_t>(bytes) == 0;
}

int launch(const void* function, int64_t groups, int threads, int cluster, int64_t shared, cudaStream_t stream, void** arguments) {
  if (shared > 48 << 10) {
    const cudaError_t status = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
    if (status != cudaSuccess) return 1000 + static_cast<int>(status);
  }
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  config.gridDim = dim3(static_cast<unsigned>(groups));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<size_t>(shared);
  config.stream = stream;
  if (cluster > 1) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(cluster);
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  const cudaError_t status = cudaLaunchKernelExC(&config, function, arguments);
  return status == cudaSuccess ? 0 : 1000 + static_cast<int>(status);
}

}  // namespace

)smelt";

std::string slots_text(const StandaloneText& file, bool pointers) {
  std::string text;
  for (size_t s = 0; s < file.slots().size(); ++s) {
    const Slot& slot = file.slots()[s];
    const std::string type = emit::c_like::memory_type(emit::cuda_spellings(), slot.dtype);
    if (pointers) text += fmt::format("  {0}* t{1} = reinterpret_cast<{0}*>(memory + bytes);\n", type, s);
    text +=
        fmt::format("  bytes += ({} * {}LL + 255) / 256 * 256;\n", file.integer(count(slot.dims)), size_of(slot.dtype));
  }
  return text;
}

// One phase of a kernel: the first function that takes these sizes and addresses.
std::string phase_text(const StandaloneText& file, const kernel::Kernel& kernel, size_t p,
                       const emit::DevicePhase& phase, const std::vector<std::string>& names) {
  const auto extent_of = [&](size_t at) {
    return file.integer(kernel.phases[at].body.back().get<kernel::Loop>().extent);
  };
  std::string extent = extent_of(p);
  // The launch before does it along, unless there is none.
  if (kernel.phases[p].last) extent = fmt::format("({} > 0 ? 0 : {})", extent_of(p - 1), extent);
  std::string text = fmt::format("    if (const int64_t extent = {}; extent > 0) {{\n", extent);
  for (size_t v = 0; v < phase.variants.size(); ++v) {
    const emit::DeviceVariant& variant = phase.variants[v];
    const emit::DeviceFunction& f = variant.function;
    const bool is_last = v + 1 == phase.variants.size();
    text += fmt::format("      {}", v ? "} else " : "");
    std::string conditions =
        fmt::format("(extent + {}) / {} * {} <= 2147483647", f.iterations - 1, f.iterations, f.cluster);
    if (!is_last) {
      for (const IntExpr& e : variant.when) conditions += fmt::format(" && {} >= 0", file.integer(e));
      for (size_t i = 0; i < variant.alignment.size(); ++i)
        if (variant.alignment[i] > 1)
          conditions += fmt::format(" && is_aligned({}, {})", names[i], variant.alignment[i]);
      if (!f.shared_bytes.is(0))
        conditions += fmt::format(" && {} + {} <= gpu.shared", file.integer(f.shared_bytes), kStaticShared);
    }
    text += fmt::format("if ({}) {{\n", conditions);
    text += fmt::format(
        "        status = launch(reinterpret_cast<const void*>(&{}_code::{}), (extent + {}) / {} * {}, {}, {}, {}, "
        "stream, arguments);\n",
        kernel.name, f.name, f.iterations - 1, f.iterations, f.cluster, f.threads, f.cluster,
        file.integer(f.shared_bytes));
  }
  return text +
         "      } else {\n        return 1;  // more workgroups than a launch has\n      }\n      if (status != 0) "
         "return status;\n    }\n";
}

std::string run_text(const StandaloneText& file, size_t number, const emit::DeviceSource& source) {
  const StandaloneRun& run = file.runs()[number];
  const kernel::Kernel& kernel = file.kernels()[run.code];
  std::string text = "  {\n" + file.launch_sizes(run);
  if (kernel.counter_param >= 0)
    text += fmt::format("    int* counter = reinterpret_cast<int*>(memory) + {};\n", number + 1);
  std::vector<std::string> names;
  size_t arrays = 0;
  // Copies, for arguments are given by their addresses.
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const kernel::Param& p = kernel.params[i];
    const bool is_size = p.kind == kernel::ParamKind::Size;
    const std::string from = is_size ? file.symbol_name(*p.symbol) : file.array(run.launch.arrays[arrays++]);
    names.push_back(fmt::format("a{}", i));
    text += fmt::format("    {} a{} = {};\n", is_size ? "long long" : "auto", i, from);
  }
  text += "    void* arguments[] = {";
  for (size_t i = 0; i < names.size(); ++i) text += fmt::format("{}&{}", i ? ", " : "", names[i]);
  text += "};\n";
  for (size_t p = 0; p < source.phases.size(); ++p) text += phase_text(file, kernel, p, source.phases[p], names);
  return text + "  }\n";
}

bool is_number(const StandaloneText& file, NodeId id) { return file.graph().at(id).shape.empty(); }

std::string function(const StandaloneText& file, const std::vector<emit::DeviceSource>& sources) {
  const Graph& graph = file.graph();
  // In front of the temporaries: the error, then a counter for each kernel.
  const int64_t header = (static_cast<int64_t>(file.runs().size() + 1) * 4 + 255) / 256 * 256;
  std::string text = fmt::format(
      "extern \"C\" int64_t {}_workspace_bytes({}) {{\n  Gpu gpu;\n  if (find_gpu(gpu) != 0) return -1;\n"
      "  [[maybe_unused]] const int64_t threads = gpu.threads;\n  int64_t bytes = {};\n{}  return bytes;\n}}\n\n",
      file.name(), file.size_parameters(), header, slots_text(file, false));
  std::string parameters;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    parameters += fmt::format("[[maybe_unused]] {}{} x{}, ", is_number(file, graph.inputs[i]) ? "" : "const ",
                              file.pointer_to(graph.inputs[i]) + (is_number(file, graph.inputs[i]) ? "" : "*"), i);
  if (!file.symbols().empty()) parameters += file.size_parameters() + ", ";
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    parameters += fmt::format("{}* y{}, ", file.pointer_to(graph.outputs[i]), i);
  text += fmt::format("extern \"C\" int {}({}void* workspace, cudaStream_t stream) {{\n", file.name(), parameters) +
          file.checks();
  text +=
      "  Gpu gpu;\n  int status = find_gpu(gpu);\n  if (status != 0) return status;\n"
      "  [[maybe_unused]] const int64_t threads = gpu.threads;\n  char* const memory = "
      "static_cast<char*>(workspace);\n";
  text += fmt::format("  [[maybe_unused]] int64_t bytes = {};\n", header) + slots_text(file, true);
  text += "  [[maybe_unused]] int* error = reinterpret_cast<int*>(memory);\n";
  text += fmt::format(
      "  if (const cudaError_t cleared = cudaMemsetAsync(memory, 0, {}, stream); cleared != cudaSuccess)\n"
      "    return 1000 + static_cast<int>(cleared);\n",
      header);
  for (size_t r = 0; r < file.runs().size(); ++r) text += run_text(file, r, sources[file.runs()[r].code]);
  text += file.last_copies(
      "  if (const cudaError_t copied = cudaMemcpyAsync(y{}, y{}, static_cast<size_t>({}), cudaMemcpyDeviceToDevice, "
      "stream);\n"
      "      copied != cudaSuccess)\n    return 1000 + static_cast<int>(copied);\n");
  return text + "  return 0;\n}\n";
}

}  // namespace

std::string standalone_cuda(const Executable& executable, const StandaloneOptions& options) {
  const Machine& device = executable.device();
  if (!device.is_gpu || executable.interpreted())
    throw UserError(fmt::format(
        "smelt emit --as cuda needs an architecture to plan kernels for\nhelp: --device sm_90; {}", device.missing));
  const StandaloneText file(executable, options);
  const int compute = device.gpu_facts.compute;
  std::string text = comment(file, compute) + kHelpers;
  std::vector<emit::DeviceSource> sources;
  for (const kernel::Kernel& kernel : file.kernels()) {
    sources.push_back(emit::emit_cuda(kernel, {compute, device.nvrtc->version(), false}));
    // Each has the same small functions in front.
    text += fmt::format("namespace {}_code {{\n\n{}\n}}  // namespace {}_code\n\n", kernel.name, sources.back().text,
                        kernel.name);
  }
  return text + function(file, sources);
}

}  // namespace smelt

// The functions of the CUDA driver that smelt calls, declared by hand and looked up in a library
// opened at run time. One line is one function: its type, its name here, and the name that the
// library exports (the versioned one where there are several).
#pragma once

#include <cstddef>

#include "runtime/shared_library.hpp"

namespace smelt::runtime::cuda {

struct ContextOpaque;
struct ModuleOpaque;
struct GraphOpaque;
struct GraphExecOpaque;

using Status = int;  // CUresult
using DeviceNumber = int;
using Address = unsigned long long;  // CUdeviceptr
using Context = ContextOpaque*;
using Module = ModuleOpaque*;
using Graph = GraphOpaque*;
using GraphExec = GraphExecOpaque*;
using Function = void*;
using Stream = void*;
using Event = void*;

inline constexpr Status kSuccess = 0, kOutOfMemory = 2, kDeviceUnavailable = 46, kNoDevice = 100, kEccError = 214,
                        kNvlinkError = 220, kNotReady = 600, kLaunchTimeout = 702, kSystemNotReady = 802,
                        kDriverMismatch = 803;

// CUdevice_attribute
inline constexpr int kProcessors = 16, kMemoryKilohertz = 36, kMemoryBits = 37, kL2Bytes = 38,
                     kThreadsPerProcessor = 39, kComputeMajor = 75, kComputeMinor = 76, kSharedPerProcessor = 81,
                     kRegistersPerProcessor = 82, kSharedPerWorkgroup = 97, kClusterLaunch = 120;
// CUfunction_attribute
inline constexpr int kFunctionMaxThreads = 0, kFunctionShared = 1, kFunctionLocal = 3, kFunctionRegisters = 4,
                     kFunctionMaxDynamicShared = 8, kFunctionNonPortableCluster = 14;
// CUpointer_attribute and CUmemorytype
inline constexpr int kPointerMemoryType = 2, kMemoryHost = 1, kMemoryDevice = 2;

inline constexpr unsigned kStreamNonBlocking = 1, kEventNoTiming = 2, kHostPortable = 1, kHostMapped = 2;
inline constexpr int kCaptureRelaxed = 2;
inline constexpr unsigned kAttributeCluster = 4;  // CUlaunchAttributeID
// CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
inline constexpr int kElementsOf2Bytes = 1, kSwizzle64 = 2, kSwizzle128 = 3, kPromote128 = 2;

struct LaunchAttribute {
  unsigned id;
  char pad[4];
  union {
    char bytes[64];
    unsigned cluster[3];
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56);

struct Driver {
  explicit Driver(SharedLibrary opened) : library(opened) {}
  SharedLibrary library;

  Call<Status(unsigned)> init{library, "cuInit"};
  Call<Status(int*)> version{library, "cuDriverGetVersion"};
  Call<Status(Status, const char**)> error_name{library, "cuGetErrorName"};
  Call<Status(Status, const char**)> error_text{library, "cuGetErrorString"};

  Call<Status(int*)> device_count{library, "cuDeviceGetCount"};
  Call<Status(DeviceNumber*, int)> device{library, "cuDeviceGet"};
  Call<Status(char*, int, DeviceNumber)> device_name{library, "cuDeviceGetName"};
  Call<Status(int*, int, DeviceNumber)> device_attribute{library, "cuDeviceGetAttribute"};
  Call<Status(size_t*, DeviceNumber)> device_memory{library, "cuDeviceTotalMem_v2"};

  Call<Status(Context*, DeviceNumber)> retain_context{library, "cuDevicePrimaryCtxRetain"};
  Call<Status(DeviceNumber)> release_context{library, "cuDevicePrimaryCtxRelease_v2"};
  Call<Status(Context*)> current_context{library, "cuCtxGetCurrent"};
  Call<Status(Context)> set_context{library, "cuCtxSetCurrent"};
  Call<Status()> synchronize_context{library, "cuCtxSynchronize"};
  Call<Status(Context)> push_context{library, "cuCtxPushCurrent_v2"};
  Call<Status(Context*)> pop_context{library, "cuCtxPopCurrent_v2"};

  Call<Status(Module*, const void*, unsigned, int*, void**)> load_module{library, "cuModuleLoadDataEx"};
  Call<Status(Module)> unload_module{library, "cuModuleUnload"};
  Call<Status(Function*, Module, const char*)> module_function{library, "cuModuleGetFunction"};
  Call<Status(int*, int, Function)> function_attribute{library, "cuFuncGetAttribute"};
  Call<Status(Function, int, int)> set_function_attribute{library, "cuFuncSetAttribute"};
  Call<Status(int*, Function, int, size_t)> occupancy{library, "cuOccupancyMaxActiveBlocksPerMultiprocessor"};

  Call<Status(size_t*, size_t*)> memory_info{library, "cuMemGetInfo_v2"};
  Call<Status(Address*, size_t)> allocate{library, "cuMemAlloc_v2"};
  Call<Status(Address)> release{library, "cuMemFree_v2"};
  Call<Status(void**, size_t, unsigned)> allocate_host{library, "cuMemHostAlloc"};
  Call<Status(void*)> release_host{library, "cuMemFreeHost"};
  Call<Status(Address*, void*, unsigned)> host_address{library, "cuMemHostGetDevicePointer_v2"};
  Call<Status(unsigned, int*, void**, Address)> pointer_attributes{library, "cuPointerGetAttributes"};
  Call<Status(Address, const void*, size_t, Stream)> upload{library, "cuMemcpyHtoDAsync_v2"};
  Call<Status(void*, Address, size_t, Stream)> download{library, "cuMemcpyDtoHAsync_v2"};
  Call<Status(Address, Address, size_t, Stream)> copy{library, "cuMemcpyDtoDAsync_v2"};
  Call<Status(Address, unsigned char, size_t, Stream)> fill{library, "cuMemsetD8Async"};

  Call<Status(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**)>
      launch{library, "cuLaunchKernel"};
  // Since CUDA 11.8: only clusters need it.
  Call<Status(const LaunchConfig*, Function, void**, void**)> launch_extended{library, "cuLaunchKernelEx", false};

  // Since CUDA 12.0, as the kernels that need it. Data type, rank; address, extents, strides in
  // bytes from the second side on; box, steps; interleaving, swizzling, promotion in the
  // second-level cache, what is outside.
  Call<Status(void*, int, unsigned, void*, const unsigned long long*, const unsigned long long*, const unsigned*,
              const unsigned*, int, int, int, int)>
      encode_tiled{library, "cuTensorMapEncodeTiled", false};

  Call<Status(Stream*, unsigned)> create_stream{library, "cuStreamCreate"};
  Call<Status(Stream)> destroy_stream{library, "cuStreamDestroy_v2"};
  Call<Status(Stream)> synchronize_stream{library, "cuStreamSynchronize"};
  Call<Status(Stream, Event, unsigned)> wait_event{library, "cuStreamWaitEvent"};
  Call<Status(Event*, unsigned)> create_event{library, "cuEventCreate"};
  Call<Status(Event)> destroy_event{library, "cuEventDestroy_v2"};
  Call<Status(Event, Stream)> record_event{library, "cuEventRecord"};
  Call<Status(Event)> query_event{library, "cuEventQuery"};
  Call<Status(Event)> synchronize_event{library, "cuEventSynchronize"};
  Call<Status(float*, Event, Event)> elapsed_ms{library, "cuEventElapsedTime"};

  Call<Status(Stream, int)> begin_capture{library, "cuStreamBeginCapture_v2"};
  Call<Status(Stream, Graph*)> end_capture{library, "cuStreamEndCapture"};
  // Since CUDA 11.4; its name before was cuGraphInstantiate, with other arguments.
  Call<Status(GraphExec*, Graph, unsigned long long)> instantiate{library, "cuGraphInstantiateWithFlags"};
  Call<Status(GraphExec, Stream)> launch_graph{library, "cuGraphLaunch"};
  Call<Status(Graph)> destroy_graph{library, "cuGraphDestroy"};
  Call<Status(GraphExec)> destroy_graph_exec{library, "cuGraphExecDestroy"};
};

}  // namespace smelt::runtime::cuda

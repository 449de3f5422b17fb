// The functions of OpenCL 1.2 that smelt calls, declared by hand and looked up in a library opened
// at run time: its type, its name here, and the name that the library exports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/shared_library.hpp"

namespace smelt::runtime::opencl {

struct PlatformOpaque;
struct DeviceOpaque;
struct ContextOpaque;
struct QueueOpaque;
struct MemoryOpaque;
struct ProgramOpaque;
struct KernelOpaque;
struct EventOpaque;

using Status = int32_t;  // cl_int
using Flags = uint64_t;  // cl_bitfield
using Number = uint32_t;
using Platform = PlatformOpaque*;
using Device = DeviceOpaque*;
using Context = ContextOpaque*;
using Queue = QueueOpaque*;
using Memory = MemoryOpaque*;
using Program = ProgramOpaque*;
using Kernel = KernelOpaque*;
using Event = EventOpaque*;
using Notify = void (*)(const char*, const void*, size_t, void*);
using Built = void (*)(Program, void*);

inline constexpr Status kSuccess = 0, kDeviceUnavailable = -2, kTooLarge = -4, kNoResources = -5, kNoHostMemory = -6,
                        kBuildFailed = -11, kBadBufferSize = -61, kNoPlatform = -1001;
inline constexpr Flags kAnyDevice = 0xffffffff, kCpuDevice = 2, kReadWrite = 1, kProfiling = 2;
// cl_device_info
inline constexpr Number kDeviceType = 0x1000, kUnits = 0x1002, kMostThreads = 0x1004, kMostAllocated = 0x1010,
                        kSingleConfig = 0x101b, kCacheBytes = 0x101e, kMemoryBytes = 0x101f, kLocalBytes = 0x1023,
                        kLittleEndian = 0x1026, kAvailable = 0x1027, kCompiler = 0x1028, kDeviceName = 0x102b,
                        kDriverVersion = 0x102d, kDeviceVersion = 0x102f, kExtensions = 0x1030;
inline constexpr Flags kCorrectlyRounded = 1 << 7;  // of divisions and square roots, in cl_device_fp_config
inline constexpr Number kPlatformName = 0x0902, kBuildLog = 0x1183, kBinarySizes = 0x1165, kBinaries = 0x1166,
                        kKernelThreads = 0x11b0, kKernelRequiredThreads = 0x11b1, kKernelLocalBytes = 0x11b2,
                        kKernelPrivateBytes = 0x11b4, kCommandEnd = 0x1283;

struct Library {
  explicit Library(SharedLibrary opened) : library(opened) {}
  SharedLibrary library;

  Call<Status(Number, Platform*, Number*)> platforms{library, "clGetPlatformIDs"};
  Call<Status(Platform, Number, size_t, void*, size_t*)> platform_info{library, "clGetPlatformInfo"};
  Call<Status(Platform, Flags, Number, Device*, Number*)> devices{library, "clGetDeviceIDs"};
  Call<Status(Device, Number, size_t, void*, size_t*)> device_info{library, "clGetDeviceInfo"};
  Call<Context(const intptr_t*, Number, const Device*, Notify, void*, Status*)> create_context{library,
                                                                                               "clCreateContext"};
  Call<Status(Context)> release_context{library, "clReleaseContext"};
  Call<Queue(Context, Device, Flags, Status*)> create_queue{library, "clCreateCommandQueue"};
  Call<Status(Queue)> release_queue{library, "clReleaseCommandQueue"};
  Call<Status(Queue)> finish{library, "clFinish"};
  Call<Status(Queue)> flush{library, "clFlush"};

  Call<Memory(Context, Flags, size_t, void*, Status*)> create_buffer{library, "clCreateBuffer"};
  Call<Status(Memory)> release_memory{library, "clReleaseMemObject"};
  Call<Status(Queue, Memory, Number, size_t, size_t, const void*, Number, const Event*, Event*)> write{
      library, "clEnqueueWriteBuffer"};
  Call<Status(Queue, Memory, Number, size_t, size_t, void*, Number, const Event*, Event*)> read{library,
                                                                                                "clEnqueueReadBuffer"};
  Call<Status(Queue, Memory, Memory, size_t, size_t, size_t, Number, const Event*, Event*)> copy{library,
                                                                                                 "clEnqueueCopyBuffer"};
  Call<Status(Queue, Memory, const void*, size_t, size_t, size_t, Number, const Event*, Event*)> fill{
      library, "clEnqueueFillBuffer"};

  Call<Program(Context, Number, const char**, const size_t*, Status*)> program_of_source{library,
                                                                                         "clCreateProgramWithSource"};
  Call<Program(Context, Number, const Device*, const size_t*, const unsigned char**, Status*, Status*)>
      program_of_binary{library, "clCreateProgramWithBinary"};
  Call<Status(Program, Number, const Device*, const char*, Built, void*)> build{library, "clBuildProgram"};
  Call<Status(Program, Device, Number, size_t, void*, size_t*)> build_info{library, "clGetProgramBuildInfo"};
  Call<Status(Program, Number, size_t, void*, size_t*)> program_info{library, "clGetProgramInfo"};
  Call<Status(Program)> release_program{library, "clReleaseProgram"};
  Call<Kernel(Program, const char*, Status*)> create_kernel{library, "clCreateKernel"};
  Call<Status(Kernel)> release_kernel{library, "clReleaseKernel"};
  Call<Status(Kernel, Number, size_t, const void*)> set_argument{library, "clSetKernelArg"};
  Call<Status(Kernel, Device, Number, size_t, void*, size_t*)> kernel_info{library, "clGetKernelWorkGroupInfo"};
  Call<Status(Queue, Kernel, Number, const size_t*, const size_t*, const size_t*, Number, const Event*, Event*)> launch{
      library, "clEnqueueNDRangeKernel"};

  Call<Status(Queue, Number, const Event*, Event*)> marker{library, "clEnqueueMarkerWithWaitList"};
  Call<Status(Queue, Number, const Event*, Event*)> wait_in_queue{library, "clEnqueueBarrierWithWaitList"};
  Call<Status(Number, const Event*)> wait{library, "clWaitForEvents"};
  Call<Status(Event)> release_event{library, "clReleaseEvent"};
  Call<Status(Event, Number, size_t, void*, size_t*)> event_time{library, "clGetEventProfilingInfo"};
};

// Looked for: $SMELT_OPENCL (nothing else is tried when it is set), then the system's names.
std::shared_ptr<const Library> open_opencl(std::string& why);

}  // namespace smelt::runtime::opencl

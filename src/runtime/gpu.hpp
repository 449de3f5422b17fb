// A GPU as a device: one of NVIDIA, here, or what OpenCL has (opencl.hpp). libcuda and libnvrtc are
// opened at run time; without them, or without a GPU, everything else works.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace smelt {
class MemoryAccount;
}

namespace smelt::runtime {

struct GpuFacts {
  std::string name;  // "NVIDIA H200"
  int ordinal = 0;
  int driver = 0;      // newest CUDA version that the driver supports: 13000
  int compute = 0;     // compute capability, times ten: 90
  int processors = 0;  // multiprocessors
  int threads_per_processor = 0;
  int registers_per_processor = 0;
  int64_t shared_bytes_per_processor = 0;
  int64_t shared_bytes_per_workgroup = 0;  // with the opt-in
  int64_t l2_bytes = 0, memory_bytes = 0;
  double memory_gbs = 0;  // that its memory could deliver at most, by its clock and width; 0: unknown
  bool clusters = false;
  // OpenCL
  int threads_per_workgroup = 1024;
  bool is_processor = false;  // the device is the CPU
  bool f64 = true, atomics64 = true;
  bool ptx = false;  // an OpenCL device whose compiler takes PTX within functions
};

// Registers are given to a warp in units of 256, so that a thread gets a multiple of 8.
inline int allocated_registers(int registers) { return (registers + 7) / 8 * 8; }

// What the built code of a function needs.
struct FunctionFacts {
  int registers = 0;         // per thread
  int64_t local_bytes = 0;   // per thread: spills and stack
  int64_t shared_bytes = 0;  // per workgroup, static
  int max_threads = 0;       // per workgroup
};

struct NvrtcOptions {
  bool contract = false;  // a*b+c may become one fused operation where the source does not write it so
  bool for_device =
      false;  // functions that do not say for whom they are, lambdas of templates among them, are for the device
  bool lines = false;  // PTX says which line of the source its instructions come from
};

// libnvrtc alone: compiles without a GPU. Safe to use from many threads.
// Looked for: $SMELT_NVRTC (nothing else is tried when it is set), Python wheel places, the CUDA
// toolkit, the system's names.
class Nvrtc {
 public:
  // `newest_major` passes over versions that a driver is too old for: 12, say; 0 takes any.
  static std::shared_ptr<Nvrtc> open(std::string& why, int newest_major = 0);
  // The NVRTC of code that was compiled elsewhere: it compiles nothing.
  static std::shared_ptr<Nvrtc> absent(int version);
  virtual ~Nvrtc() = default;
  virtual int version() const = 0;               // 13000, as the driver counts
  virtual std::string version_text() const = 0;  // "13.0"
  virtual std::string path() const = 0;
  virtual std::vector<int> architectures() const = 0;  // that it compiles for: 75, 80, ...
  // Whether it compiles for this architecture; if not, why and what to do.
  virtual bool supports(int compute, std::string& why) const = 0;
  // What the compiler is told besides the source: part of what a cubin depends on.
  virtual std::vector<std::string> arguments(int compute, const NvrtcOptions& options) const = 0;
  // To a cubin for this architecture. Throws InternalError with NVRTC's log and the lines of the
  // source that it names.
  virtual std::string compile(const std::string& source, int compute, const NvrtcOptions& options = {}) const = 0;
  virtual std::string ptx(const std::string& source, int compute, const NvrtcOptions& options = {}) const = 0;
};

using StreamHandle = void*;    // CUstream; nullptr is the driver's default stream
using EventHandle = void*;     // CUevent
using GraphHandle = void*;     // CUgraphExec
using FunctionHandle = void*;  // CUfunction

// Loaded code; unloaded when the last owner lets go.
class GpuModule {
 public:
  virtual ~GpuModule() = default;
  // Throws InternalError when absent. `arguments`, of OpenCL: the bytes of each; 0 for an array.
  virtual FunctionHandle function(const std::string& name, const std::vector<int>& arguments = {}) const = 0;
  virtual FunctionFacts facts(FunctionHandle function) const = 0;
  virtual int workgroups_per_processor(FunctionHandle function, int threads, int64_t shared_bytes) const = 0;
  // Lets launches request this much dynamic shared memory. Once per function, not per launch.
  virtual void allow_shared_bytes(FunctionHandle function, int64_t bytes) const = 0;
  // Lets launches request clusters of more than 8 workgroups.
  virtual void allow_large_clusters(FunctionHandle function) const = 0;
};

struct LaunchShape {
  int64_t workgroups = 1;  // up to 2^31 - 1
  int threads = 1;
  int cluster = 1;  // divides workgroups
  int64_t shared_bytes = 0;
  // Beyond one dimension; without a cluster.
  int workgroups_y = 1, workgroups_z = 1, threads_y = 1, threads_z = 1;
};
inline constexpr int64_t kMostWorkgroups = (int64_t{1} << 31) - 1;

// How the copy engine of a GPU goes over an array of elements of 2 bytes, and what a kernel is told
// of it (CUtensorMap). The first side is contiguous and the box's part of it 64 or 128 bytes, whose
// pieces of 16 are swizzled on chip.
struct BoxShape {
  std::vector<int64_t> extents, strides;  // in elements
  std::vector<int> box;
};
struct alignas(64) BoxMap {
  uint64_t words[16];
};

// Memory that the GPU writes for the host: over the bus, or, with OpenCL, brought by synchronize().
struct MappedMemory {
  void* host = nullptr;
  uint64_t device = 0;
};

// A GPU with its primary context retained: the context that other libraries in the process use too.
// Every function may be called from any thread; a context of its own that the thread had stays its
// current one. What the driver refuses becomes an Error: a UserError where the machine is at fault
// (memory, hardware), else an InternalError.
class Gpu {
 public:
  // The GPU with this number. Nothing when there is none; then `why` says what was tried, and what
  // to install. Looked for: $SMELT_CUDA (a path to libcuda), then the system's names.
  static std::shared_ptr<Gpu> open(int ordinal, std::string& why);
  virtual ~Gpu() = default;
  virtual const GpuFacts& facts() const = 0;
  virtual std::string driver_path() const = 0;
  virtual std::shared_ptr<GpuModule> load(const std::string& cubin) = 0;

  virtual uint64_t allocate(int64_t bytes) = 0;  // 256-byte aligned; throws UserError when there is not enough
  virtual void release(uint64_t address) noexcept = 0;
  virtual MappedMemory allocate_mapped(int64_t bytes) = 0;
  virtual void release_mapped(void* host) noexcept = 0;
  virtual int64_t free_bytes() const = 0;
  virtual bool is_device_memory(const void* pointer) const = 0;

  virtual void upload(uint64_t to, const void* from, int64_t bytes,
                      StreamHandle stream) = 0;  // returns when `from` may change
  virtual void download(void* to, uint64_t from, int64_t bytes, StreamHandle stream) = 0;  // returns when it is there
  virtual void copy(uint64_t to, uint64_t from, int64_t bytes, StreamHandle stream) = 0;
  virtual void fill(uint64_t at, int byte, int64_t bytes, StreamHandle stream) = 0;
  virtual BoxMap map_boxes(uint64_t address, const BoxShape& shape) const;
  // `arguments` points to each argument's value, which is read before this returns.
  virtual void launch(FunctionHandle function, const LaunchShape& shape, void** arguments, StreamHandle stream) = 0;

  // smelt's own stream: does not wait for the default stream, nor the other way round.
  virtual StreamHandle stream() const = 0;
  virtual StreamHandle create_stream() = 0;
  virtual void destroy_stream(StreamHandle stream) noexcept = 0;
  virtual void synchronize(StreamHandle stream) = 0;
  virtual void synchronize_all() = 0;  // every stream

  virtual EventHandle create_event(bool timing) = 0;
  virtual void destroy_event(EventHandle event) noexcept = 0;
  virtual void record(EventHandle event, StreamHandle stream) = 0;
  virtual void wait(StreamHandle stream, EventHandle event) = 0;  // the stream waits, not the caller
  virtual void synchronize_event(EventHandle event) = 0;
  virtual double elapsed_ms(EventHandle from, EventHandle to) = 0;

  virtual bool has_graphs() const { return true; }
  // What is launched on `stream` between the two is noted instead of run, and becomes a graph that
  // is launched as one.
  virtual void begin_capture(StreamHandle stream) = 0;
  virtual GraphHandle end_capture(StreamHandle stream) = 0;
  virtual void launch_graph(GraphHandle graph, StreamHandle stream) = 0;
  virtual void destroy_graph(GraphHandle graph) noexcept = 0;
};

// The memory that smelt holds on an NVIDIA GPU.
MemoryAccount& gpu_account(int ordinal);

// The stream that calls of this thread use: the one that was set, else smelt's own.
StreamHandle current_stream(const Gpu& gpu);
// Sets it for this GPU; returns what resets it.
struct StreamSetting {
  const Gpu* gpu = nullptr;
  bool set = false;
  StreamHandle stream = nullptr;
};
StreamSetting set_current_stream(const StreamSetting& setting);

// Seconds that a copy of `bytes` within the GPU's memory takes: median over runs.
double measure_copy_seconds(Gpu& gpu, int64_t bytes, int runs);

}  // namespace smelt::runtime

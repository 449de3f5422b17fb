// An NVIDIA GPU as a device. libcuda and libnvrtc are opened at run time; without them, or without a GPU, everything else works.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace smelt::runtime {

struct GpuFacts {
  std::string name;  // "NVIDIA H200"
  int ordinal = 0;
  int driver = 0;      // CUDA version of the driver: 13000
  int compute = 0;     // compute capability, times ten: 90
  int processors = 0;  // multiprocessors
  int threads_per_processor = 0;
  int registers_per_processor = 0;
  int64_t shared_bytes_per_processor = 0;
  int64_t shared_bytes_per_workgroup = 0;  // with the opt-in
  int64_t l2_bytes = 0, memory_bytes = 0;
  bool clusters = false;
};

// What the built code of a function needs.
struct FunctionFacts {
  int registers = 0;         // per thread
  int64_t local_bytes = 0;   // per thread: spills and stack
  int64_t shared_bytes = 0;  // per workgroup, static
  int max_threads = 0;       // per workgroup
};

// libnvrtc alone: compiles without a GPU.
// Looked for: $SMELT_NVRTC (nothing else is tried when it is set), Python wheel places, the CUDA toolkit, the system's names.
class Nvrtc {
 public:
  static std::shared_ptr<Nvrtc> open(std::string& why);
  virtual ~Nvrtc() = default;
  virtual std::string version_text() const = 0;  // "13.0"
  virtual std::string path() const = 0;
  virtual std::vector<int> architectures() const = 0;  // that it compiles for: 75, 80, ...
  // To a cubin for this architecture. Throws InternalError with NVRTC's log and the lines of the source that it names.
  virtual std::string compile(const std::string& source, int compute) = 0;
  virtual std::string ptx(const std::string& source, int compute) = 0;
};

using StreamHandle = void*;  // CUstream

class GpuModule {
 public:
  virtual ~GpuModule() = default;
  virtual void* function(const std::string& name) const = 0;  // CUfunction; throws InternalError when absent
  virtual FunctionFacts facts(void* function) const = 0;
  virtual int workgroups_per_processor(void* function, int threads, int64_t shared_bytes) const = 0;
};

struct LaunchShape {
  int64_t workgroups = 1;  // up to 2^31 - 1
  int threads = 1;
  int cluster = 1;
  int64_t shared_bytes = 0;
};

class Gpu {
 public:
  // The GPU with this number, its primary context retained. Nothing when there is none; then `why` says what was tried, and what to
  // install. Looked for: $SMELT_CUDA (a path to libcuda), then the system's names.
  static std::shared_ptr<Gpu> open(int ordinal, std::string& why);
  virtual ~Gpu() = default;
  virtual const GpuFacts& facts() const = 0;
  virtual std::shared_ptr<GpuModule> load(const std::string& cubin) = 0;

  virtual uint64_t allocate(int64_t bytes) = 0;  // 256-byte aligned; throws UserError when there is not enough
  virtual void release(uint64_t address) = 0;
  virtual void upload(uint64_t to, const void* from, int64_t bytes,
                      StreamHandle stream) = 0;  // returns when `from` may change
  virtual void download(void* to, uint64_t from, int64_t bytes, StreamHandle stream) = 0;  // returns when it is there
  virtual void copy(uint64_t to, uint64_t from, int64_t bytes, StreamHandle stream) = 0;
  virtual void fill(uint64_t at, int byte, int64_t bytes, StreamHandle stream) = 0;
  virtual void launch(void* function, const LaunchShape& shape, void** arguments, StreamHandle stream) = 0;
  virtual void synchronize(StreamHandle stream) = 0;
};

}  // namespace smelt::runtime

/// \file
/// Settings of the process: threads, memory, the cache on disk, and what debuggers and profilers
/// see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "smelt/callable.hpp"
#include "smelt/device.hpp"
#include "smelt/events.hpp"
#include "smelt/export.hpp"

namespace smelt {

// ---- threads

/// The threads of the CPU that one call may use, in the whole process; 0, the default: all of the
/// process. The smallest of this, ThreadLimit and Options::threads applies. Concurrent calls share
/// the threads evenly. Results do not depend on any of it.
SMELT_API void set_threads(int threads);

/// While it lives, calls of this thread use at most this number of threads of the CPU; 1: only the
/// thread itself. Limits nest; the inner one applies.
class SMELT_API ThreadLimit {
 public:
  /// Throws UserError for less than 1.
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int before_;
};

/// Runs task(0) to task(count - 1), in any order, on any threads, and returns when all are done.
/// Tasks do not throw.
using ThreadPool = Callable<void(int count, const Callable<void(int index)>& task)>;
/// Loops of kernels run on these threads, not on smelt's own; an empty pool restores those. `count`
/// is the number of threads that a call may use; each task runs until no work is left, so the pool
/// may have fewer threads than tasks. Running calls finish with the pool that they started with.
SMELT_API void set_thread_pool(ThreadPool pool);

// ---- memory

/// Where the memory of arrays and temporaries comes from.
struct Allocator {
  /// Memory of this many bytes, more than 0, with this alignment; null when there is none.
  Callable<void*(size_t bytes, size_t alignment)> allocate;
  /// Frees memory from allocate(), with the same number of bytes. Does not throw.
  Callable<void(void* memory, size_t bytes)> deallocate;
};
/// Memory of this device from these functions: host memory for Device::cpu(), device memory for a
/// CUDA GPU. An empty one restores the system's. Memory in use is returned to where it came from.
/// They are called from any thread. Throws UserError for an OpenCL device, and when one of the
/// functions is missing.
SMELT_API void set_allocator(const Device& device, Allocator allocator);

/// The most bytes of arrays and temporaries that smelt holds on this device, in host memory for
/// Device::cpu(); 0, the default: no limit. Memory kept for later calls is released before an
/// allocation that would exceed the limit throws UserError.
SMELT_API void set_memory_limit(const Device& device, int64_t bytes);

/// Bytes that smelt holds on a device.
struct MemoryUse {
  int64_t bytes = 0;        ///< now, including memory kept for later calls
  int64_t peak_bytes = 0;   ///< at most so far
  int64_t limit_bytes = 0;  ///< what set_memory_limit() said; 0: none
};
/// How much memory smelt holds there.
SMELT_API MemoryUse memory_use(const Device& device);

// ---- the cache on disk

/// Where compiled kernels are kept between processes. Members without a value follow the
/// environment (docs/cli.md).
struct CacheOptions {
  std::optional<std::string> folder;   ///< "off": nowhere
  std::optional<int64_t> limit_bytes;  ///< of all files; the least recently used are removed first
};
/// For all devices, from now on. Throws UserError for a negative limit.
SMELT_API void set_cache(const CacheOptions& options);

// ---- the compiler

/// Another compiler of LLVM IR for the CPU, used where no libLLVM is found. Each call of a
/// function compiles in its own thread, without others.
struct LlvmCompiler {
  /// What it compiles with and for.
  struct Target {
    int major = 0;       ///< of LLVM, 16 to 22
    int minor = 0;       ///< of LLVM
    int patch = 0;       ///< of LLVM
    std::string triple;  ///< "x86_64-unknown-linux-gnu"
    std::string cpu;     ///< this processor, as LLVM calls it
    std::string passes;  ///< its optimisation passes; part of the keys of the cache on disk
  };
  std::string name;     ///< "llvmlite": SMELT_LLVM=llvmlite selects it even if libLLVM is installed
  std::string install;  ///< "pip install llvmlite": for the message when neither is there
  /// The file it is in, without opening it; empty when it is not installed.
  Callable<std::string()> path;
  /// Opens it.
  Callable<Target()> target;
  /// The text of a module as the bytes of an object file with position-independent code, or as
  /// assembly; for this processor, or where `cpu` is not empty for the one of this name
  /// ("x86-64-v3"). Throws when the text is wrong.
  Callable<std::string(const std::string& ir_text, const std::string& cpu, bool assembly)> compile;
};
/// For devices that are opened from now on. Throws UserError when a function is missing; one
/// without a name removes it.
SMELT_API void set_llvm_compiler(LlvmCompiler compiler);

// ---- profilers and debuggers

/// Which tools are told of the code of kernels for the CPU.
struct CodeListing {
  bool perf_map = false;      ///< /tmp/perf-PID.map, which `perf report` reads: names for the samples
  bool perf_jitdump = false;  ///< ./jit-PID.dump, for `perf inject --jit`: names and instructions
  bool gdb = false;           ///< GDB and LLDB, by __jit_debug_register_code
};
/// For code that is loaded from now on. The default follows SMELT_PERF=map,jitdump and SMELT_GDB=1.
/// Throws UserError when a file cannot be written.
SMELT_API void set_code_listing(const CodeListing& listing);

}  // namespace smelt

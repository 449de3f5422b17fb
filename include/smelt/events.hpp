/// \file
/// Events of the runtime (compilation, caching, loading), and the policy without a compiler.
#pragma once

#include <cstdint>
#include <string>

#include "smelt/callable.hpp"
#include "smelt/export.hpp"

namespace smelt {

/// Something that took time or memory, or that a service should know.
struct Event {
  /// What happened.
  enum class Kind : uint8_t {
    Compiled,     ///< LLVM, NVRTC or OpenCL made the code of a kernel
    CacheHit,     ///< code of a kernel came from the cache on disk
    CacheStored,  ///< code of a kernel was written to the cache on disk
    Loaded,       ///< code of a kernel was loaded into the process, or onto the GPU
    FellBack,     ///< there is no compiler, and the reference interpreter will run the program
  };
  Kind kind = Kind::Compiled;  ///< what happened
  std::string program;         ///< Options::name, or the program of the command line
  std::string kernel;          ///< "kernel 1 (relu, layernorm)"; empty for FellBack
  std::string device;          ///< "cpu", "cuda", "sm_90"
  double ms = 0;               ///< milliseconds that it took
  int64_t bytes = 0;           ///< of the code
  std::string message;         ///< of FellBack: why, and what to install
};

/// "compiled", "cache hit", "cache stored", "loaded", "fell back".
SMELT_API const char* name_of(Event::Kind kind);

/// Takes events.
using OnEvent = Callable<void(const Event&)>;

/// Passes every event of this process to `callback` from now on; an empty one stops that. Returns
/// the previous callback. Kernels are compiled in parallel, so several threads may call it
/// concurrently. Its exceptions are ignored.
SMELT_API OnEvent on_event(OnEvent callback);

/// The policy for a program that cannot be compiled because there is no libLLVM. The reference
/// interpreter gives the same results to within rounding, but takes a hundred times as long and
/// more. A GPU without NVRTC is always an error.
enum class Fallback : uint8_t {
  Error,  ///< UserError, which says what to install
  Warn,   ///< the interpreter runs it; on_event() gets Event::Kind::FellBack
  Allow,  ///< the interpreter runs it
};

/// For every program without Options::fallback. The default is Fallback::Error.
SMELT_API void set_fallback(Fallback fallback);
/// The policy that set_fallback() set.
SMELT_API Fallback fallback();

}  // namespace smelt

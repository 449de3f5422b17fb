// Ranges on the time line of a profiler, by NVTX. NVIDIA's own NVTX is headers only, and what they
// do is this: a profiler names its library in an environment variable, and fills in a table of
// functions. Without a profiler there is nothing.
#pragma once

namespace smelt::runtime {

class Nvtx {
 public:
  virtual ~Nvtx() = default;
  // A range of the calling thread; ranges nest.
  virtual void push(const char* name) const = 0;
  virtual void pop() const = 0;
};

// Nothing when no profiler is attached, that is when NVTX_INJECTION64_PATH names none. Looked for
// once in a process.
const Nvtx* nvtx();

}  // namespace smelt::runtime

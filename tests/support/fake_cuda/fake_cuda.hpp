// A driver of GPUs over host memory, and an NVRTC that passes its source on: the functions of both
// that smelt calls, for tests on machines without a GPU. Work is queued per stream and runs as late
// as it may: when something waits for it. So what forgets to wait reads stale memory here every
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fake_cuda {

struct Launch {
  std::string function;
  unsigned grid = 0, block = 0, shared_bytes = 0, cluster = 1;
  unsigned grid_y = 1, grid_z = 1, block_y = 1, block_z = 1;
  void* stream = nullptr;
  bool from_graph = false;
  std::vector<std::vector<char>> arguments;  // as the kernel's sizes say

  template <class T>
  T argument(size_t i) const {
    return *reinterpret_cast<const T*>(arguments.at(i).data());
  }
  template <class T>
  T* pointer(size_t i) const {
    return reinterpret_cast<T*>(argument<uint64_t>(i));
  }
};

// What stands for the code of a function; a function without one does nothing, and takes no
// arguments.
struct Kernel {
  std::vector<size_t> sizes;  // bytes of each parameter
  std::function<void(const Launch&)> run;
};

struct State {
  // What the GPU is.
  int devices = 1, major = 9, minor = 0, processors = 4, driver = 13000;
  size_t memory_bytes = size_t{64} << 20;
  std::map<std::string, Kernel> kernels;                 // by function name
  std::function<Kernel(const std::string&)> kernel_for;  // of functions that have none there
  // The same by the text of the image that the function is in, too.
  std::function<Kernel(const std::string&, const std::string&)> kernel_of_image;
  std::map<std::string, int> failures;    // "cuLaunchKernel": the status that it returns from now on
  std::map<std::string, int> attributes;  // of every function: "registers", "local", "shared", "threads"
  // The same by function: of its attribute, in an image whose text is this; -1: as `attributes`
  // say.
  std::function<int(const std::string&, const std::string&)> attribute_of;
  std::function<double(const Launch&)> ms_of;  // how long a launch takes; without it any two events are 0.25 ms apart
  // What happened.
  double clock_ms = 0;
  std::vector<Launch> launches;  // that ran
  std::map<std::string, int> calls;
  std::map<uint64_t, size_t> blocks;  // live allocations
  size_t allocated = 0;
  std::map<void*, size_t> mapped;
  int contexts = 0, modules = 0, streams = 0, events = 0, graphs = 0;  // alive
  std::vector<std::string> images;                                     // that were loaded
  std::map<std::string, int> allowed_shared;                           // by function name
  int compiled = 0;                                                    // by the NVRTC that is in the same library
  std::string fault;                                                   // a use that the real driver leaves undefined
};

}  // namespace fake_cuda

// The library exports this besides the driver's functions.
extern "C" fake_cuda::State* fake_cuda_state();

#include "fake_cuda.hpp"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <set>

namespace {

using namespace fake_cuda;
using Status = int;
using Address = unsigned long long;

constexpr Status kFine = 0, kInvalid = 1, kOutOfMemory = 2, kNoDevice = 100, kInvalidContext = 201, kNotFound = 500;

struct StreamQueue;
struct Task {
  std::function<void()> run;
  std::shared_ptr<bool> mark;  // of an event: set when it is reached
};
struct RecordedGraph {
  std::vector<Task> tasks;
};
struct StreamQueue {
  std::deque<Task> tasks;
  RecordedGraph* capture = nullptr;
};
struct EventState {
  StreamQueue* stream = nullptr;
  std::shared_ptr<bool> reached;
  std::shared_ptr<double> at = std::make_shared<double>(0);
};
struct LoadedFunction {
  std::string name, image;
};
struct LoadedImage {
  std::string text;
  std::map<std::string, std::unique_ptr<LoadedFunction>> functions;
};

State state;
std::recursive_mutex mutex;
StreamQueue default_stream;
std::set<StreamQueue*> streams;
std::vector<std::unique_ptr<StreamQueue>> ended;
thread_local std::vector<void*> contexts;
int primary = 0;  // its address is the context

StreamQueue* queue_of(void* stream) { return stream ? static_cast<StreamQueue*>(stream) : &default_stream; }

void run_until(StreamQueue& queue, const std::shared_ptr<bool>& mark) {
  while (!queue.tasks.empty() && !(mark && *mark)) {
    const Task task = queue.tasks.front();
    queue.tasks.pop_front();
    if (task.run) task.run();
    if (task.mark) *task.mark = true;
  }
}
void run_all() {
  run_until(default_stream, nullptr);
  for (StreamQueue* stream : streams) run_until(*stream, nullptr);
}

void add(void* stream, Task task) {
  StreamQueue* queue = queue_of(stream);
  if (queue->capture)
    queue->capture->tasks.push_back(std::move(task));
  else
    queue->tasks.push_back(std::move(task));
}

// Counts the call, and says how it ends when that is not up to the caller.
Status enter(const char* name, bool needs_context = true) {
  ++state.calls[name];
  if (const auto it = state.failures.find(name); it != state.failures.end()) return it->second;
  return needs_context && contexts.empty() ? kInvalidContext : kFine;
}

bool inside(Address address, size_t bytes) {
  auto it = state.blocks.upper_bound(address);
  if (it == state.blocks.begin()) return false;
  --it;
  if (address + bytes <= it->first + it->second) return true;
  state.fault = "memory outside of every block";
  return false;
}

}  // namespace

#define ENTER(name)                  \
  const std::lock_guard lock(mutex); \
  if (const Status refused = enter(name); refused != kFine) return refused
#define ENTER_WITHOUT_CONTEXT(name)  \
  const std::lock_guard lock(mutex); \
  if (const Status refused = enter(name, false); refused != kFine) return refused

extern "C" {

// A new test: no thread of the one before has a context.
State* fake_cuda_state() {
  contexts.clear();
  return &state;
}

Status cuInit(unsigned) {
  ENTER_WITHOUT_CONTEXT("cuInit");
  return state.devices > 0 ? kFine : kNoDevice;
}
Status cuDriverGetVersion(int* version) {
  *version = state.driver;
  return kFine;
}
Status cuGetErrorName(Status status, const char** text) {
  *text = status == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
          : status == 700        ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : status == 214        ? "CUDA_ERROR_ECC_UNCORRECTABLE"
                                 : "CUDA_ERROR_OF_THE_TEST";
  return kFine;
}
Status cuGetErrorString(Status status, const char** text) {
  *text = status == 700 ? "an illegal memory access was encountered" : "as the test wants";
  return kFine;
}

Status cuDeviceGetCount(int* count) {
  *count = state.devices;
  return kFine;
}
Status cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < state.devices ? kFine : kInvalid;
}
Status cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, "GPU of the tests", static_cast<size_t>(length));
  return kFine;
}
Status cuDeviceGetAttribute(int* value, int which, int) {
  switch (which) {
    case 16: *value = state.processors; break;
    case 36: *value = 3201000; break;
    case 37: *value = 6144; break;
    case 38: *value = 1 << 20; break;
    case 39: *value = 2048; break;
    case 75: *value = state.major; break;
    case 76: *value = state.minor; break;
    case 81: *value = 228 << 10; break;
    case 82: *value = 65536; break;
    case 97: *value = 227 << 10; break;
    case 120: *value = state.major >= 9; break;
    default: return kInvalid;
  }
  return kFine;
}
Status cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = state.memory_bytes;
  return kFine;
}

Status cuDevicePrimaryCtxRetain(void** context, int) {
  ENTER_WITHOUT_CONTEXT("cuDevicePrimaryCtxRetain");
  ++state.contexts;
  *context = &primary;
  return kFine;
}
Status cuDevicePrimaryCtxRelease_v2(int) {
  --state.contexts;
  return kFine;
}
Status cuCtxGetCurrent(void** context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return kFine;
}
Status cuCtxSetCurrent(void* context) {
  ENTER_WITHOUT_CONTEXT("cuCtxSetCurrent");
  contexts = {context};
  return kFine;
}
Status cuCtxSynchronize() {
  ENTER("cuCtxSynchronize");
  run_all();
  return kFine;
}
Status cuCtxPushCurrent_v2(void* context) {
  ENTER_WITHOUT_CONTEXT("cuCtxPushCurrent");
  contexts.push_back(context);
  return kFine;
}
Status cuCtxPopCurrent_v2(void** context) {
  *context = contexts.back();
  contexts.pop_back();
  return kFine;
}

Status cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  ENTER("cuModuleLoadDataEx");
  state.images.emplace_back(static_cast<const char*>(image), 4);
  ++state.modules;
  *module = new LoadedImage{static_cast<const char*>(image), {}};
  return kFine;
}
Status cuModuleUnload(void* module) {
  ENTER("cuModuleUnload");
  for (StreamQueue* stream : streams)
    if (!stream->tasks.empty()) state.fault = "unloaded code that was queued";
  --state.modules;
  delete static_cast<LoadedImage*>(module);
  return kFine;
}
Status cuModuleGetFunction(void** function, void* module, const char* name) {
  ENTER("cuModuleGetFunction");
  if (std::string(name).rfind("absent", 0) == 0) return kNotFound;
  auto& slot = static_cast<LoadedImage*>(module)->functions[name];
  if (!slot) slot = std::make_unique<LoadedFunction>(LoadedFunction{name, static_cast<LoadedImage*>(module)->text});
  *function = slot.get();
  return kFine;
}
Status cuFuncGetAttribute(int* value, int which, void* function) {
  ENTER("cuFuncGetAttribute");
  const auto known = [&](const char* name, int otherwise) {
    if (state.attribute_of)
      if (const int asked = state.attribute_of(name, static_cast<LoadedFunction*>(function)->image); asked >= 0)
        return asked;
    const auto it = state.attributes.find(name);
    return it == state.attributes.end() ? otherwise : it->second;
  };
  switch (which) {
    case 0: *value = known("threads", 1024); break;
    case 1: *value = known("shared", 0); break;
    case 3: *value = known("local", 0); break;
    case 4: *value = known("registers", 32); break;
    default: return kInvalid;
  }
  return kFine;
}
Status cuFuncSetAttribute(void* function, int which, int value) {
  ENTER("cuFuncSetAttribute");
  if (which == 8) state.allowed_shared[static_cast<LoadedFunction*>(function)->name] = value;
  return kFine;
}
Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* count, void*, int threads, size_t) {
  ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *count = 2048 / threads;
  return kFine;
}

Status cuMemGetInfo_v2(size_t* free, size_t* total) {
  ENTER("cuMemGetInfo");
  *free = state.memory_bytes - state.allocated;
  *total = state.memory_bytes;
  return kFine;
}
Status cuMemAlloc_v2(Address* address, size_t bytes) {
  ENTER("cuMemAlloc");
  if (state.allocated + bytes > state.memory_bytes) return kOutOfMemory;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(memory, 0xAB, bytes);
  *address = reinterpret_cast<uintptr_t>(memory);
  state.blocks[*address] = bytes;
  state.allocated += bytes;
  return kFine;
}
Status cuMemFree_v2(Address address) {
  ENTER("cuMemFree");
  run_all();
  const auto it = state.blocks.find(address);
  if (it == state.blocks.end()) {
    state.fault = "freed what was not allocated";
    return kInvalid;
  }
  state.allocated -= it->second;
  state.blocks.erase(it);
  std::free(reinterpret_cast<void*>(address));
  return kFine;
}
Status cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  ENTER("cuMemHostAlloc");
  *memory = std::calloc(1, bytes);
  state.mapped[*memory] = bytes;
  return kFine;
}
Status cuMemFreeHost(void* memory) {
  ENTER("cuMemFreeHost");
  run_all();
  state.mapped.erase(memory);
  std::free(memory);
  return kFine;
}
Status cuMemHostGetDevicePointer_v2(Address* address, void* memory, unsigned) {
  ENTER("cuMemHostGetDevicePointer");
  *address = reinterpret_cast<uintptr_t>(memory);
  return kFine;
}
Status cuPointerGetAttributes(unsigned, int*, void** values, Address address) {
  ENTER("cuPointerGetAttributes");
  const std::string fault = state.fault;
  const bool known = inside(address, 1);
  state.fault = fault;
  *static_cast<unsigned*>(*values) = known ? 2 : 0;
  return kFine;
}
Status cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, void* stream) {
  ENTER("cuMemcpyHtoDAsync");
  if (!inside(to, bytes)) return kInvalid;
  run_until(*queue_of(stream), nullptr);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kFine;
}
Status cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, void* stream) {
  ENTER("cuMemcpyDtoHAsync");
  if (!inside(from, bytes)) return kInvalid;
  add(stream, {[=] { std::memcpy(to, reinterpret_cast<void*>(from), bytes); }, nullptr});
  return kFine;
}
Status cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void* stream) {
  ENTER("cuMemcpyDtoDAsync");
  if (!inside(from, bytes) || !inside(to, bytes)) return kInvalid;
  add(stream, {[=] { std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes); }, nullptr});
  return kFine;
}
Status cuMemsetD8Async(Address to, unsigned char byte, size_t bytes, void* stream) {
  ENTER("cuMemsetD8Async");
  if (!inside(to, bytes)) return kInvalid;
  add(stream, {[=] { std::memset(reinterpret_cast<void*>(to), byte, bytes); }, nullptr});
  return kFine;
}

static Status launch(Launch launch, void* function, void** arguments) {
  launch.function = static_cast<LoadedFunction*>(function)->name;
  Kernel kernel;
  if (const auto it = state.kernels.find(launch.function); it != state.kernels.end())
    kernel = it->second;
  else if (state.kernel_for)
    kernel = state.kernel_for(launch.function);
  else if (state.kernel_of_image)
    kernel = state.kernel_of_image(launch.function, static_cast<LoadedFunction*>(function)->image);
  for (size_t i = 0; i < kernel.sizes.size(); ++i) {
    const char* value = static_cast<const char*>(arguments[i]);
    launch.arguments.emplace_back(value, value + kernel.sizes[i]);
  }
  launch.from_graph = queue_of(launch.stream)->capture != nullptr;
  add(launch.stream, {[launch, kernel] {
                        if (kernel.run) kernel.run(launch);
                        if (state.ms_of) state.clock_ms += state.ms_of(launch);
                        state.launches.push_back(launch);
                      },
                      nullptr});
  return kFine;
}
Status cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void* stream, void** arguments, void**) {
  ENTER("cuLaunchKernel");
  if (x == 0 || y == 0 || z == 0 || bx == 0 || by == 0 || bz == 0 || bx * by * bz > 1024) return kInvalid;
  Launch what;
  what.grid = x, what.block = bx, what.shared_bytes = shared, what.stream = stream;
  what.grid_y = y, what.grid_z = z, what.block_y = by, what.block_z = bz;
  return launch(what, function, arguments);
}
// As cuda_on_host.hpp reads it.
Status cuTensorMapEncodeTiled(void* map, int type, unsigned sides, void* address, const unsigned long long* extents,
                              const unsigned long long* strides, const unsigned* box, const unsigned* steps,
                              int interleave, int swizzle, int, int outside) {
  ENTER("cuTensorMapEncodeTiled");
  struct {
    unsigned long long address;
    unsigned sides, swizzle, extents[5], strides[5], box[5];
  } made{reinterpret_cast<unsigned long long>(address), sides, swizzle == 3 ? 128u : 64u, {}, {}, {}};
  if (type != 1 || interleave != 0 || outside != 0 || sides < 1 || sides > 5) return kInvalid;
  if (reinterpret_cast<uintptr_t>(map) % 64 || made.address % 16 || box[0] * 2 != made.swizzle) return kInvalid;
  for (unsigned s = 0; s < sides; ++s) {
    const unsigned long long stride = s == 0 ? 2 : strides[s - 1];
    if (extents[s] == 0 || extents[s] >> 32 || box[s] == 0 || box[s] > 256 || steps[s] != 1) return kInvalid;
    if (s > 0 && (stride % 16 || stride >> 40)) return kInvalid;
    made.extents[s] = static_cast<unsigned>(extents[s]), made.strides[s] = static_cast<unsigned>(stride);
    made.box[s] = box[s];
  }
  std::memcpy(map, &made, sizeof made);
  return kFine;
}
struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  struct {
    unsigned id, pad, cluster[3];
  } * attributes;
  unsigned attribute_count;
};
Status cuLaunchKernelEx(const LaunchConfig* config, void* function, void** arguments, void**) {
  ENTER("cuLaunchKernelEx");
  Launch what;
  what.grid = config->grid[0], what.block = config->block[0], what.shared_bytes = config->shared_bytes;
  what.stream = config->stream;
  if (config->attribute_count != 1 || config->attributes->id != 4) return kInvalid;
  what.cluster = config->attributes->cluster[0];
  if (what.cluster == 0 || what.grid % what.cluster != 0) return 912;
  return launch(what, function, arguments);
}

Status cuStreamCreate(void** stream, unsigned) {
  ENTER("cuStreamCreate");
  ++state.streams;
  auto* queue = new StreamQueue;
  streams.insert(queue);
  *stream = queue;
  return kFine;
}
Status cuStreamDestroy_v2(void* stream) {
  ENTER("cuStreamDestroy");
  auto* queue = queue_of(stream);
  run_until(*queue, nullptr);
  streams.erase(queue);
  ended.emplace_back(queue);  // events still point to it
  --state.streams;
  return kFine;
}
Status cuStreamSynchronize(void* stream) {
  ENTER("cuStreamSynchronize");
  run_until(*queue_of(stream), nullptr);
  return kFine;
}
Status cuStreamWaitEvent(void* stream, void* event, unsigned) {
  ENTER("cuStreamWaitEvent");
  const EventState seen = *static_cast<EventState*>(event);
  if (seen.stream) add(stream, {[seen] { run_until(*seen.stream, seen.reached); }, nullptr});
  return kFine;
}
Status cuEventCreate(void** event, unsigned) {
  ENTER("cuEventCreate");
  ++state.events;
  *event = new EventState;
  return kFine;
}
Status cuEventDestroy_v2(void* event) {
  ENTER("cuEventDestroy");
  --state.events;
  delete static_cast<EventState*>(event);
  return kFine;
}
Status cuEventRecord(void* event, void* stream) {
  ENTER("cuEventRecord");
  auto* mark = static_cast<EventState*>(event);
  mark->stream = queue_of(stream);
  mark->reached = std::make_shared<bool>(false);
  add(stream, {[at = mark->at] { *at = state.clock_ms; }, mark->reached});
  return kFine;
}
Status cuEventQuery(void* event) {
  const auto* mark = static_cast<EventState*>(event);
  return !mark->stream || *mark->reached ? kFine : 600;
}
Status cuEventSynchronize(void* event) {
  ENTER("cuEventSynchronize");
  const auto* mark = static_cast<EventState*>(event);
  if (mark->stream) run_until(*mark->stream, mark->reached);
  return kFine;
}
Status cuEventElapsedTime(float* ms, void* from, void* to) {
  *ms = 0.25F;
  if (state.ms_of) *ms = static_cast<float>(*static_cast<EventState*>(to)->at - *static_cast<EventState*>(from)->at);
  return kFine;
}

Status cuStreamBeginCapture_v2(void* stream, int) {
  ENTER("cuStreamBeginCapture");
  queue_of(stream)->capture = new RecordedGraph;
  return kFine;
}
Status cuStreamEndCapture(void* stream, void** graph) {
  ENTER("cuStreamEndCapture");
  *graph = queue_of(stream)->capture;
  queue_of(stream)->capture = nullptr;
  return kFine;
}
Status cuGraphInstantiateWithFlags(void** runnable, void* graph, unsigned long long) {
  ENTER("cuGraphInstantiateWithFlags");
  ++state.graphs;
  *runnable = new RecordedGraph(*static_cast<RecordedGraph*>(graph));
  return kFine;
}
Status cuGraphLaunch(void* graph, void* stream) {
  ENTER("cuGraphLaunch");
  for (const Task& task : static_cast<RecordedGraph*>(graph)->tasks) add(stream, task);
  return kFine;
}
Status cuGraphDestroy(void* graph) {
  delete static_cast<RecordedGraph*>(graph);
  return kFine;
}
Status cuGraphExecDestroy(void* graph) {
  ENTER("cuGraphExecDestroy");
  run_all();
  --state.graphs;
  delete static_cast<RecordedGraph*>(graph);
  return kFine;
}

struct Source {
  std::string text;
};
const char* nvrtcGetErrorString(Status) { return "as the test wants"; }
Status nvrtcVersion(int* major, int* minor) {
  *major = 13, *minor = 0;
  return kFine;
}
Status nvrtcGetNumSupportedArchs(int* count) {
  *count = 2;
  return kFine;
}
Status nvrtcGetSupportedArchs(int* all) {
  all[0] = 80, all[1] = 90;
  return kFine;
}
Status nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*,
                          const char* const*) {
  *program = new Source{
      "\x7f"
      "ELF" +
      std::string(source)};
  return kFine;
}
Status nvrtcDestroyProgram(void** program) {
  delete static_cast<Source*>(*program);
  return kFine;
}
Status nvrtcCompileProgram(void*, int, const char* const*) {
  const std::lock_guard lock(mutex);
  ++state.compiled;
  return kFine;
}
Status nvrtcGetCUBINSize(void* program, size_t* size) {
  *size = static_cast<Source*>(program)->text.size();
  return kFine;
}
Status nvrtcGetCUBIN(void* program, char* to) {
  const std::string& text = static_cast<Source*>(program)->text;
  std::memcpy(to, text.data(), text.size());
  return kFine;
}
Status nvrtcGetPTXSize(void* program, size_t* size) { return nvrtcGetCUBINSize(program, size); }
Status nvrtcGetPTX(void* program, char* to) { return nvrtcGetCUBIN(program, to); }
Status nvrtcGetProgramLogSize(void*, size_t* size) {
  *size = 1;
  return kFine;
}
Status nvrtcGetProgramLog(void*, char* to) {
  *to = 0;
  return kFine;
}

}  // extern "C"

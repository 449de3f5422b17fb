// One NVIDIA GPU through the driver.
#include "runtime/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/check.hpp"
#include "base/median.hpp"
#include "base/memory.hpp"
#include "runtime/gpu_driver.hpp"

namespace smelt::runtime {
namespace {

using namespace cuda;

// The primary context of a device, kept until the last module and buffer owner is gone.
class DeviceContext {
 public:
  DeviceContext(std::shared_ptr<const Driver> opened, DeviceNumber number)
      : driver_(std::move(opened)), number_(number) {
    check("create a context", driver_->retain_context(&context_, number));
  }
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;
  ~DeviceContext() { driver_->release_context(number_); }

  const Driver& driver() const { return *driver_; }
  Current enter() const { return Current(*driver_, context_); }
  void check(const char* what, Status status) const { cuda::check(*driver_, status, what); }
  int attribute(int which) const {
    int value = 0;
    check("report its attributes", driver_->device_attribute(&value, which, number_));
    return value;
  }
  DeviceNumber number() const { return number_; }

 private:
  std::shared_ptr<const Driver> driver_;
  DeviceNumber number_;
  Context context_ = nullptr;
};
using ContextPtr = std::shared_ptr<const DeviceContext>;

class LoadedModule final : public GpuModule {
 public:
  LoadedModule(ContextPtr context, const std::string& cubin) : context_(std::move(context)) {
    const Current current = context_->enter();
    const Driver& driver = context_->driver();
    context_->check("load a kernel", driver.load_module(&module_, cubin.data(), 0, nullptr, nullptr));
  }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  ~LoadedModule() override {
    try {
      const Current current = context_->enter();
      context_->driver().synchronize_context();  // its kernels may be queued
      context_->driver().unload_module(module_);
    } catch (const Error&) {
      // A context that died of a kernel's fault has no modules any more.
    }
  }

  FunctionHandle function(const std::string& name, const std::vector<int>&) const override {
    const Current current = context_->enter();
    Function found = nullptr;
    const Status status = context_->driver().module_function(&found, module_, name.c_str());
    SMELT_CHECK(status == kSuccess, "the module has no function {}: {}", name, describe(context_->driver(), status));
    return found;
  }

  FunctionFacts facts(FunctionHandle function) const override {
    FunctionFacts facts;
    facts.registers = attribute(function, kFunctionRegisters);
    facts.local_bytes = attribute(function, kFunctionLocal);
    facts.shared_bytes = attribute(function, kFunctionShared);
    facts.max_threads = attribute(function, kFunctionMaxThreads);
    return facts;
  }

  int workgroups_per_processor(FunctionHandle function, int threads, int64_t shared_bytes) const override {
    const Current current = context_->enter();
    int count = 0;
    context_->check("report how many workgroups fit a multiprocessor",
                    context_->driver().occupancy(&count, function, threads, static_cast<size_t>(shared_bytes)));
    return count;
  }

  void allow_shared_bytes(FunctionHandle function, int64_t bytes) const override {
    set_attribute(function, kFunctionMaxDynamicShared, static_cast<int>(bytes), "give a kernel its shared memory");
  }
  void allow_large_clusters(FunctionHandle function) const override {
    set_attribute(function, kFunctionNonPortableCluster, 1, "run clusters of more than 8 workgroups");
  }

 private:
  int attribute(FunctionHandle function, int which) const {
    const Current current = context_->enter();
    int value = 0;
    context_->check("describe a kernel", context_->driver().function_attribute(&value, which, function));
    return value;
  }
  void set_attribute(FunctionHandle function, int which, int value, const char* what) const {
    const Current current = context_->enter();
    context_->check(what, context_->driver().set_function_attribute(function, which, value));
  }

  ContextPtr context_;
  cuda::Module module_ = nullptr;
};

GpuFacts read_facts(const DeviceContext& context, int ordinal) {
  const Driver& driver = context.driver();
  GpuFacts facts;
  facts.ordinal = ordinal;
  char name[256] = "";
  driver.device_name(name, sizeof name - 1, context.number());
  facts.name = name;
  driver.version(&facts.driver);
  facts.compute = 10 * context.attribute(kComputeMajor) + context.attribute(kComputeMinor);
  facts.processors = context.attribute(kProcessors);
  facts.threads_per_processor = context.attribute(kThreadsPerProcessor);
  facts.registers_per_processor = context.attribute(kRegistersPerProcessor);
  facts.shared_bytes_per_processor = context.attribute(kSharedPerProcessor);
  facts.shared_bytes_per_workgroup = context.attribute(kSharedPerWorkgroup);
  facts.l2_bytes = context.attribute(kL2Bytes);
  // What a driver does not report is no reason to do without it. Data moves at both edges of the
  // clock.
  int kilohertz = 0, bits = 0;
  driver.device_attribute(&kilohertz, kMemoryKilohertz, context.number());
  driver.device_attribute(&bits, kMemoryBits, context.number());
  facts.memory_gbs = 2e-6 * kilohertz * bits / 8;
  size_t bytes = 0;
  driver.device_memory(&bytes, context.number());
  facts.memory_bytes = static_cast<int64_t>(bytes);
  // A driver older than clusters does not know the question.
  int clusters = 0;
  const bool known = driver.device_attribute(&clusters, kClusterLaunch, context.number()) == kSuccess;
  facts.clusters = known && clusters != 0 && driver.launch_extended;
  return facts;
}

class OpenedGpu final : public Gpu {
 public:
  OpenedGpu(ContextPtr context, int ordinal, std::string path)
      : context_(std::move(context)),
        driver_(context_->driver()),
        facts_(read_facts(*context_, ordinal)),
        path_(std::move(path)),
        account_(gpu_account(ordinal)),
        stream_(create_stream()),
        system_(std::make_shared<const Allocator>(
            Allocator{[this](size_t bytes, size_t) { return allocate_of_driver(bytes); },
                      [this](void* memory, size_t) { driver_.release(reinterpret_cast<Address>(memory)); }})) {}
  OpenedGpu(const OpenedGpu&) = delete;
  OpenedGpu& operator=(const OpenedGpu&) = delete;
  ~OpenedGpu() override { destroy_stream(stream_); }

  const GpuFacts& facts() const override { return facts_; }
  std::string driver_path() const override { return path_; }
  std::shared_ptr<GpuModule> load(const std::string& cubin) override {
    return std::make_shared<LoadedModule>(context_, cubin);
  }

  uint64_t allocate(int64_t bytes) override {
    bytes = std::max<int64_t>(bytes, 1);
    const Current current = context_->enter();
    const MemoryAccount::Held held = account_.take(bytes, kAlignment, system_);
    if (!held.memory) fail_for_memory(bytes);
    const auto address = reinterpret_cast<uint64_t>(held.memory);
    const std::lock_guard lock(mutex_);
    held_[address] = {held, bytes};
    return address;
  }
  void release(uint64_t address) noexcept override {
    std::pair<MemoryAccount::Held, int64_t> block;
    {
      const std::lock_guard lock(mutex_);
      const auto found = held_.find(address);
      if (found == held_.end()) return;
      block = found->second;
      held_.erase(found);
    }
    quietly([&] { account_.give_back(block.first, block.second); });
  }
  MappedMemory allocate_mapped(int64_t bytes) override {
    const Current current = context_->enter();
    MappedMemory memory;
    context_->check("allocate pinned host memory",
                    driver_.allocate_host(&memory.host, static_cast<size_t>(std::max<int64_t>(bytes, 1)),
                                          kHostPortable | kHostMapped));
    Address address = 0;
    const Status status = driver_.host_address(&address, memory.host, 0);
    if (status != kSuccess) driver_.release_host(memory.host);
    context_->check("map host memory", status);
    memory.device = address;
    return memory;
  }
  void release_mapped(void* host) noexcept override {
    quietly([&] { driver_.release_host(host); });
  }
  int64_t free_bytes() const override {
    const Current current = context_->enter();
    size_t free = 0, total = 0;
    context_->check("report its free memory", driver_.memory_info(&free, &total));
    return static_cast<int64_t>(free);
  }
  bool is_device_memory(const void* pointer) const override {
    const Current current = context_->enter();
    // The driver leaves 0 for memory that it has never seen: plain host memory.
    unsigned type = 0;
    int attribute = kPointerMemoryType;
    void* found = &type;
    const auto address = static_cast<Address>(reinterpret_cast<uintptr_t>(pointer));
    return driver_.pointer_attributes(1, &attribute, &found, address) == kSuccess && type == kMemoryDevice;
  }

  void upload(uint64_t to, const void* from, int64_t bytes, StreamHandle stream) override {
    if (bytes == 0) return;
    const Current current = context_->enter();
    context_->check("copy data to its memory", driver_.upload(to, from, static_cast<size_t>(bytes), stream));
    context_->check("copy data to its memory", driver_.synchronize_stream(stream));
  }
  void download(void* to, uint64_t from, int64_t bytes, StreamHandle stream) override {
    const Current current = context_->enter();
    if (bytes > 0)
      context_->check("copy data from its memory", driver_.download(to, from, static_cast<size_t>(bytes), stream));
    context_->check("copy data from its memory", driver_.synchronize_stream(stream));
  }
  void copy(uint64_t to, uint64_t from, int64_t bytes, StreamHandle stream) override {
    if (bytes == 0) return;
    const Current current = context_->enter();
    context_->check("copy data", driver_.copy(to, from, static_cast<size_t>(bytes), stream));
  }
  void fill(uint64_t at, int byte, int64_t bytes, StreamHandle stream) override {
    if (bytes == 0) return;
    const Current current = context_->enter();
    context_->check("fill memory",
                    driver_.fill(at, static_cast<unsigned char>(byte), static_cast<size_t>(bytes), stream));
  }
  BoxMap map_boxes(uint64_t address, const BoxShape& shape) const override {
    SMELT_CHECK(driver_.encode_tiled, "boxes of arrays for a driver that copies none");
    std::vector<unsigned long long> extents, strides;
    for (size_t s = 0; s < shape.extents.size(); ++s) {
      extents.push_back(static_cast<unsigned long long>(std::max<int64_t>(shape.extents[s], 1)));
      // Nothing is at another place of a side of one element.
      if (s > 0) strides.push_back(extents[s] == 1 ? 16 : static_cast<unsigned long long>(shape.strides[s]) * 2);
    }
    const std::vector<unsigned> box(shape.box.begin(), shape.box.end()), steps(shape.box.size(), 1);
    BoxMap map{};
    const Current current = context_->enter();
    context_->check(
        "describe boxes of an array",
        driver_.encode_tiled(&map, kElementsOf2Bytes, static_cast<unsigned>(box.size()),
                             reinterpret_cast<void*>(address), extents.data(), strides.data(), box.data(), steps.data(),
                             0, shape.box[0] == 64 ? kSwizzle128 : kSwizzle64, kPromote128, 0));
    return map;
  }
  void launch(FunctionHandle function, const LaunchShape& shape, void** arguments, StreamHandle stream) override {
    SMELT_CHECK(shape.workgroups > 0 && shape.workgroups <= kMostWorkgroups, "a launch of {} workgroups",
                shape.workgroups);
    const Current current = context_->enter();
    const auto grid = static_cast<unsigned>(shape.workgroups), block = static_cast<unsigned>(shape.threads);
    const auto shared = static_cast<unsigned>(shape.shared_bytes);
    if (shape.cluster == 1)
      return context_->check(
          "launch a kernel",
          driver_.launch(function, grid, static_cast<unsigned>(shape.workgroups_y),
                         static_cast<unsigned>(shape.workgroups_z), block, static_cast<unsigned>(shape.threads_y),
                         static_cast<unsigned>(shape.threads_z), shared, stream, arguments, nullptr));
    SMELT_CHECK(driver_.launch_extended, "a cluster for a driver that has none");
    LaunchAttribute attribute{};
    attribute.id = kAttributeCluster;
    attribute.value.cluster[0] = static_cast<unsigned>(shape.cluster);
    attribute.value.cluster[1] = attribute.value.cluster[2] = 1;
    const LaunchConfig config{{grid, 1, 1}, {block, 1, 1}, shared, stream, &attribute, 1};
    context_->check("launch a kernel", driver_.launch_extended(&config, function, arguments, nullptr));
  }

  StreamHandle stream() const override { return stream_; }
  StreamHandle create_stream() override {
    const Current current = context_->enter();
    Stream stream = nullptr;
    context_->check("create a stream", driver_.create_stream(&stream, kStreamNonBlocking));
    return stream;
  }
  void destroy_stream(StreamHandle stream) noexcept override {
    quietly([&] { driver_.destroy_stream(stream); });
  }
  void synchronize(StreamHandle stream) override {
    const Current current = context_->enter();
    context_->check("finish queued work", driver_.synchronize_stream(stream));
  }
  void synchronize_all() override {
    const Current current = context_->enter();
    context_->check("finish queued work", driver_.synchronize_context());
  }

  EventHandle create_event(bool timing) override {
    const Current current = context_->enter();
    Event event = nullptr;
    context_->check("create an event", driver_.create_event(&event, timing ? 0 : kEventNoTiming));
    return event;
  }
  void destroy_event(EventHandle event) noexcept override {
    quietly([&] { driver_.destroy_event(event); });
  }
  void record(EventHandle event, StreamHandle stream) override {
    const Current current = context_->enter();
    context_->check("record an event", driver_.record_event(event, stream));
  }
  void wait(StreamHandle stream, EventHandle event) override {
    const Current current = context_->enter();
    context_->check("wait for an event", driver_.wait_event(stream, event, 0));
  }
  void synchronize_event(EventHandle event) override {
    const Current current = context_->enter();
    context_->check("finish queued work", driver_.synchronize_event(event));
  }
  double elapsed_ms(EventHandle from, EventHandle to) override {
    const Current current = context_->enter();
    float ms = 0;
    context_->check("report the time between events", driver_.elapsed_ms(&ms, from, to));
    return ms;
  }

  void begin_capture(StreamHandle stream) override {
    const Current current = context_->enter();
    context_->check("record a graph", driver_.begin_capture(stream, kCaptureRelaxed));
  }
  GraphHandle end_capture(StreamHandle stream) override {
    const Current current = context_->enter();
    Graph graph = nullptr;
    context_->check("record a graph", driver_.end_capture(stream, &graph));
    GraphExec runnable = nullptr;
    const Status status = driver_.instantiate(&runnable, graph, 0);
    driver_.destroy_graph(graph);
    context_->check("create a graph", status);
    return runnable;
  }
  void launch_graph(GraphHandle graph, StreamHandle stream) override {
    const Current current = context_->enter();
    context_->check("launch a graph", driver_.launch_graph(static_cast<GraphExec>(graph), stream));
  }
  void destroy_graph(GraphHandle graph) noexcept override {
    quietly([&] { driver_.destroy_graph_exec(static_cast<GraphExec>(graph)); });
  }

 private:
  void* allocate_of_driver(size_t bytes) const {
    Address address = 0;
    const Status status = driver_.allocate(&address, bytes);
    if (status == kOutOfMemory) return nullptr;
    context_->check("allocate memory", status);
    return reinterpret_cast<void*>(address);
  }
  [[noreturn]] void fail_for_memory(int64_t bytes) const {
    size_t free = 0, total = 0;
    driver_.memory_info(&free, &total);
    throw UserError(fmt::format(
        "{} has no {} bytes of memory for arrays: {} of {} bytes are free\nhelp: use smaller arrays, or free "
        "memory of the GPU (nvidia-smi shows who has it)",
        facts_.name, bytes, free, total));
  }
  // What frees something: its failure helps nobody, and follows from an error that was reported.
  template <class F>
  void quietly(F&& f) noexcept {
    try {
      const Current current = context_->enter();
      f();
    } catch (const Error&) {
    }
  }

  static constexpr size_t kAlignment = 256;
  ContextPtr context_;
  const Driver& driver_;
  GpuFacts facts_;
  std::string path_;
  MemoryAccount& account_;
  Stream stream_;
  MemoryAccount::Source system_;
  std::mutex mutex_;
  std::map<uint64_t, std::pair<MemoryAccount::Held, int64_t>> held_;  // by address
};

}  // namespace

BoxMap Gpu::map_boxes(uint64_t, const BoxShape&) const {
  throw InternalError("boxes of arrays for a GPU that copies none");
}

std::shared_ptr<Gpu> Gpu::open(int ordinal, std::string& why) {
  const std::shared_ptr<const Driver> driver = open_driver(why);
  if (!driver) return nullptr;
  int count = 0;
  driver->device_count(&count);
  DeviceNumber number = 0;
  if (ordinal < 0 || ordinal >= count || driver->device(&number, ordinal) != kSuccess) {
    why = fmt::format("there is no GPU {}: this machine has {}, numbered from 0", ordinal, count);
    return nullptr;
  }
  try {
    auto context = std::make_shared<const DeviceContext>(driver, number);
    return std::make_shared<OpenedGpu>(context, ordinal, path_of(driver->init.address(), "libcuda"));
  } catch (const Error& e) {
    why = fmt::format("GPU {} cannot be used: {}", ordinal, e.what());
    return nullptr;
  }
}

MemoryAccount& gpu_account(int ordinal) {
  static auto* mutex = new std::mutex;
  static auto* accounts = new std::map<int, std::unique_ptr<MemoryAccount>>;
  const std::lock_guard lock(*mutex);
  std::unique_ptr<MemoryAccount>& account = (*accounts)[ordinal];
  if (!account) account = std::make_unique<MemoryAccount>(fmt::format("GPU {}", ordinal));
  return *account;
}

double measure_copy_seconds(Gpu& gpu, int64_t bytes, int runs) {
  if (bytes <= 0) return 0;
  runs = std::max(runs, 1);
  const std::shared_ptr<void> memory(reinterpret_cast<void*>(gpu.allocate(2 * bytes)),
                                     [&](void* p) { gpu.release(reinterpret_cast<uint64_t>(p)); });
  const auto at = reinterpret_cast<uint64_t>(memory.get());
  const StreamHandle stream = gpu.stream();
  gpu.fill(at, 1, 2 * bytes, stream);
  const auto event = [&] {
    return std::shared_ptr<void>(gpu.create_event(true), [&](void* e) { gpu.destroy_event(e); });
  };
  const auto before = event(), after = event();
  std::vector<double> seconds;
  for (int run = -1; run < runs; ++run) {
    gpu.record(before.get(), stream);
    gpu.copy(at + static_cast<uint64_t>(bytes), at, bytes, stream);
    gpu.record(after.get(), stream);
    gpu.synchronize_event(after.get());
    if (run >= 0) seconds.push_back(gpu.elapsed_ms(before.get(), after.get()) * 1e-3);  // the first one warms up
  }
  return median(std::move(seconds));
}

}  // namespace smelt::runtime

#include "runtime/opencl.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "base/check.hpp"
#include "runtime/opencl_api.hpp"

namespace smelt::runtime {
namespace {

using namespace opencl;
using Libraries = std::shared_ptr<const Library>;

constexpr uint64_t kFirstAddress = uint64_t{1} << 56, kPage = 1 << 16;

void check(Status status, const char* what) {
  if (status == kSuccess) return;
  const std::string message = fmt::format("the OpenCL device cannot {} (OpenCL error {})", what, status);
  if (status == kTooLarge || status == kNoResources || status == kNoHostMemory || status == kBadBufferSize)
    throw UserError(message + ": there is not enough memory\nhelp: use smaller arrays, or free memory of the device");
  if (status == kDeviceUnavailable) throw UserError(message + "\nhelp: clinfo says more about the machine");
  throw InternalError(message);
}

std::string text_of(const Library& cl, Device device, Number what) {
  size_t bytes = 0;
  if (cl.device_info(device, what, 0, nullptr, &bytes) != kSuccess || bytes == 0) return "";
  std::string text(bytes, '\0');
  cl.device_info(device, what, bytes, text.data(), nullptr);
  text.resize(std::min(text.find('\0'), bytes));
  return text;
}

template <class T>
T number_of(const Library& cl, Device device, Number what) {
  T value = 0;
  cl.device_info(device, what, sizeof value, &value, nullptr);
  return value;
}

std::vector<Device> all_devices(const Library& cl) {
  Number count = 0;
  if (cl.platforms(0, nullptr, &count) != kSuccess) return {};
  std::vector<Platform> platforms(count);
  cl.platforms(count, platforms.data(), nullptr);
  std::vector<Device> all;
  for (const Platform platform : platforms) {
    Number here = 0;
    if (cl.devices(platform, kAnyDevice, 0, nullptr, &here) != kSuccess) continue;
    std::vector<Device> devices(here);
    cl.devices(platform, kAnyDevice, here, devices.data(), nullptr);
    all.insert(all.end(), devices.begin(), devices.end());
  }
  return all;
}

GpuFacts facts_of(const Library& cl, Device device, int ordinal) {
  GpuFacts f;
  f.ordinal = ordinal;
  f.name = text_of(cl, device, kDeviceName);
  f.processors = static_cast<int>(number_of<Number>(cl, device, kUnits));
  f.threads_per_workgroup = static_cast<int>(number_of<size_t>(cl, device, kMostThreads));
  f.threads_per_processor = f.threads_per_workgroup;
  f.shared_bytes_per_workgroup = static_cast<int64_t>(number_of<uint64_t>(cl, device, kLocalBytes));
  f.shared_bytes_per_processor = f.shared_bytes_per_workgroup;
  f.l2_bytes = static_cast<int64_t>(number_of<uint64_t>(cl, device, kCacheBytes));
  f.memory_bytes = static_cast<int64_t>(number_of<uint64_t>(cl, device, kMemoryBytes));
  f.is_processor = (number_of<Flags>(cl, device, kDeviceType) & kCpuDevice) != 0;
  const std::string extensions = " " + text_of(cl, device, kExtensions) + " ";
  const auto has = [&](const char* name) { return extensions.find(fmt::format(" {} ", name)) != std::string::npos; };
  f.f64 = has("cl_khr_fp64");
  f.atomics64 = has("cl_khr_int64_base_atomics") && has("cl_khr_int64_extended_atomics");
  f.ptx = has("cl_nv_compiler_options");
  return f;
}

// A context with one device, kept until the last module and buffer is gone.
struct Opened {
  Opened(Libraries library, Device here) : cl(std::move(library)), device(here) {
    Status status = kSuccess;
    context = cl->create_context(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "create a context");
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { cl->release_context(context); }

  Libraries cl;
  Device device;
  Context context = nullptr;
};

// A kernel, and what its arguments are: of an array a buffer and a place, of anything else so many
// bytes.
struct Function {
  Kernel kernel = nullptr;
  std::vector<int> arguments;
  std::mutex mutex;  // from its arguments to its launch
};

class LoadedProgram final : public GpuModule {
 public:
  LoadedProgram(std::shared_ptr<const Opened> opened, Program program)
      : opened_(std::move(opened)), program_(program) {}
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;
  ~LoadedProgram() override {
    for (const auto& [name, function] : functions_) opened_->cl->release_kernel(function->kernel);
    opened_->cl->release_program(program_);
  }

  FunctionHandle function(const std::string& name, const std::vector<int>& arguments) const override {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Function>& made = functions_[name];
    if (made) return made.get();
    Status status = kSuccess;
    auto fresh = std::make_unique<Function>();
    fresh->kernel = opened_->cl->create_kernel(program_, name.c_str(), &status);
    SMELT_CHECK(status == kSuccess, "the program has no kernel {}: OpenCL error {}", name, status);
    fresh->arguments = arguments;
    made = std::move(fresh);
    return made.get();
  }
  FunctionFacts facts(FunctionHandle function) const override {
    FunctionFacts facts;
    facts.shared_bytes = static_cast<int64_t>(info<uint64_t>(function, kKernelLocalBytes));
    // The driver of NVIDIA answers 256 to the first question also where the kernel itself names
    // more.
    const auto required = info<std::array<size_t, 3>>(function, kKernelRequiredThreads);
    facts.max_threads = static_cast<int>(std::max(required[0], info<size_t>(function, kKernelThreads)));
    return facts;
  }
  int workgroups_per_processor(FunctionHandle, int, int64_t) const override { return 1; }
  void allow_shared_bytes(FunctionHandle, int64_t) const override {}
  void allow_large_clusters(FunctionHandle) const override {}

 private:
  template <class T>
  T info(FunctionHandle function, Number what) const {
    T value{};
    opened_->cl->kernel_info(static_cast<Function*>(function)->kernel, opened_->device, what, sizeof value, &value,
                             nullptr);
    return value;
  }

  std::shared_ptr<const Opened> opened_;
  Program program_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<Function>> functions_;
};

struct Moment {
  Event event = nullptr;
};

class OpenedDevice final : public OpenCl {
 public:
  OpenedDevice(const Libraries& cl, Device device, int ordinal)
      : opened_(std::make_shared<const Opened>(cl, device)),
        facts_(facts_of(*cl, device, ordinal)),
        queue_(make_queue()) {
    if (number_of<Flags>(*cl, device, kSingleConfig) & kCorrectlyRounded)
      options_ += " -cl-fp32-correctly-rounded-divide-sqrt";
  }
  OpenedDevice(const OpenedDevice&) = delete;
  OpenedDevice& operator=(const OpenedDevice&) = delete;
  ~OpenedDevice() override {
    cl().finish(queue_);
    cl().release_queue(queue_);
    for (const auto& [address, buffer] : buffers_) cl().release_memory(buffer.memory);
  }

  const GpuFacts& facts() const override { return facts_; }
  std::string driver_path() const override { return path_of(cl().platforms.address(), "libOpenCL"); }
  std::string identity() const override {
    return fmt::format("{}\n{}\n{}\n{}", facts_.name, text_of(cl(), opened_->device, kDeviceVersion),
                       text_of(cl(), opened_->device, kDriverVersion), options_);
  }

  std::string build(const std::string& source) override {
    Status status = kSuccess;
    const char* text = source.data();
    const size_t length = source.size();
    const std::shared_ptr<ProgramOpaque> program(cl().program_of_source(opened_->context, 1, &text, &length, &status),
                                                 [this](Program p) { cl().release_program(p); });
    check(status, "make a program");
    build(program.get());
    size_t bytes = 0;
    check(cl().program_info(program.get(), kBinarySizes, sizeof bytes, &bytes, nullptr), "report the size of its code");
    std::string code(bytes, '\0');
    char* at = code.data();
    check(cl().program_info(program.get(), kBinaries, sizeof at, &at, nullptr), "return its code");
    return code;
  }

  std::shared_ptr<GpuModule> load(const std::string& code) override {
    Status status = kSuccess, there = kSuccess;
    const auto* bytes = reinterpret_cast<const unsigned char*>(code.data());
    const size_t length = code.size();
    const Program program =
        cl().program_of_binary(opened_->context, 1, &opened_->device, &length, &bytes, &there, &status);
    check(status, "load a kernel");
    auto module = std::make_shared<LoadedProgram>(opened_, program);
    build(program);
    return module;
  }

  uint64_t allocate(int64_t bytes) override {
    Status status = kSuccess;
    const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
    const Memory memory = cl().create_buffer(opened_->context, kReadWrite, size, nullptr, &status);
    if (status != kSuccess) check(status, fmt::format("find {} bytes of memory", bytes).c_str());
    const std::lock_guard lock(mutex_);
    const uint64_t address = next_;
    next_ += (size + 2 * kPage - 1) / kPage * kPage;
    buffers_[address] = {memory, size};
    allocated_ += static_cast<int64_t>(size);
    return address;
  }
  void release(uint64_t address) noexcept override {
    const std::lock_guard lock(mutex_);
    const auto found = buffers_.find(address);
    if (found == buffers_.end()) return;
    cl().release_memory(found->second.memory);
    allocated_ -= static_cast<int64_t>(found->second.bytes);
    buffers_.erase(found);
  }

  // The device has its own copy, which synchronize() brings.
  MappedMemory allocate_mapped(int64_t bytes) override {
    auto host = std::make_unique<char[]>(static_cast<size_t>(bytes));
    const uint64_t device = allocate(bytes);
    fill(device, 0, bytes, queue_);
    cl().finish(queue_);
    const std::lock_guard lock(mapped_mutex_);
    const MappedMemory made{host.get(), device};
    mapped_[made.host] = {std::move(host), device, bytes};
    return made;
  }
  void release_mapped(void* host) noexcept override {
    const std::lock_guard lock(mapped_mutex_);
    const auto found = mapped_.find(host);
    if (found == mapped_.end()) return;
    release(found->second.device);
    mapped_.erase(found);
  }
  int64_t free_bytes() const override {
    const std::lock_guard lock(mutex_);
    const auto most = static_cast<int64_t>(number_of<uint64_t>(cl(), opened_->device, kMostAllocated));
    return std::max<int64_t>(0, std::min(most, facts_.memory_bytes - allocated_));
  }
  bool is_device_memory(const void* pointer) const override {
    return reinterpret_cast<uint64_t>(pointer) >= kFirstAddress;
  }

  void upload(uint64_t to, const void* from, int64_t bytes, StreamHandle stream) override {
    if (bytes <= 0) return;
    const Place at = place(to);
    check(cl().write(queue(stream), at.memory, 1, at.offset, static_cast<size_t>(bytes), from, 0, nullptr, nullptr),
          "take an array");
  }
  void download(void* to, uint64_t from, int64_t bytes, StreamHandle stream) override {
    if (bytes <= 0) return;
    const Place at = place(from);
    check(cl().read(queue(stream), at.memory, 1, at.offset, static_cast<size_t>(bytes), to, 0, nullptr, nullptr),
          "give an array");
  }
  void copy(uint64_t to, uint64_t from, int64_t bytes, StreamHandle stream) override {
    if (bytes <= 0) return;
    const Place source = place(from), target = place(to);
    check(cl().copy(queue(stream), source.memory, target.memory, source.offset, target.offset,
                    static_cast<size_t>(bytes), 0, nullptr, nullptr),
          "copy an array");
  }
  void fill(uint64_t at, int byte, int64_t bytes, StreamHandle stream) override {
    if (bytes <= 0) return;
    const Place target = place(at);
    // NVIDIA's driver never ends a fill of 2^31 bytes by a pattern of one; by 16, on an H200, it
    // takes a sixth of the time.
    constexpr size_t kWide = 16;
    std::array<unsigned char, kWide> pattern;
    pattern.fill(static_cast<unsigned char>(byte));
    const auto all = static_cast<size_t>(bytes), wide = target.offset % kWide == 0 ? all / kWide * kWide : 0;
    const auto part = [&](size_t size, size_t begin, size_t end) {
      constexpr size_t kMost = size_t{1} << 30;
      for (size_t from = begin; from < end; from += kMost)
        check(cl().fill(queue(stream), target.memory, pattern.data(), size, target.offset + from,
                        std::min(kMost, end - from), 0, nullptr, nullptr),
              "fill an array");
    };
    part(kWide, 0, wide);
    part(1, wide, all);
  }

  void launch(FunctionHandle handle, const LaunchShape& shape, void** arguments, StreamHandle stream) override {
    Function& function = *static_cast<Function*>(handle);
    const std::lock_guard lock(function.mutex);
    Number number = 0;
    const auto set = [&](size_t bytes, const void* value) {
      check(cl().set_argument(function.kernel, number++, bytes, value), "set the arguments of a kernel");
    };
    for (size_t a = 0; a < function.arguments.size(); ++a) {
      if (function.arguments[a] > 0) {
        set(static_cast<size_t>(function.arguments[a]), arguments[a]);
        continue;
      }
      // An array of no elements may have no address.
      const uint64_t address = *static_cast<const uint64_t*>(arguments[a]);
      const Place at = address == 0 ? Place{} : place(address);
      const auto offset = static_cast<int64_t>(at.offset);
      set(sizeof at.memory, &at.memory);
      set(sizeof offset, &offset);
    }
    set(static_cast<size_t>(std::max<int64_t>(16, shape.shared_bytes)), nullptr);
    const auto threads = static_cast<size_t>(shape.threads), all = threads * static_cast<size_t>(shape.workgroups);
    check(cl().launch(queue(stream), function.kernel, 1, nullptr, &all, &threads, 0, nullptr, nullptr), "run a kernel");
  }

  StreamHandle stream() const override { return queue_; }
  StreamHandle create_stream() override { return make_queue(); }
  void destroy_stream(StreamHandle stream) noexcept override { cl().release_queue(queue(stream)); }
  void synchronize_all() override { synchronize(stream()); }
  void synchronize(StreamHandle stream) override {
    check(cl().finish(queue(stream)), "finish queued work");
    const std::lock_guard lock(mapped_mutex_);
    for (const auto& [host, mapped] : mapped_) {
      std::vector<char> there(static_cast<size_t>(mapped.bytes));
      download(there.data(), mapped.device, mapped.bytes, queue(stream));
      if (std::all_of(there.begin(), there.end(), [](char c) { return c == 0; })) continue;
      std::memcpy(host, there.data(), there.size());
      fill(mapped.device, 0, mapped.bytes, queue(stream));
      check(cl().finish(queue(stream)), "finish queued work");
    }
  }

  EventHandle create_event(bool) override { return new Moment; }
  void destroy_event(EventHandle event) noexcept override {
    auto* moment = static_cast<Moment*>(event);
    if (moment->event) cl().release_event(moment->event);
    delete moment;
  }
  void record(EventHandle event, StreamHandle stream) override {
    auto* moment = static_cast<Moment*>(event);
    if (moment->event) cl().release_event(moment->event);
    moment->event = nullptr;
    check(cl().marker(queue(stream), 0, nullptr, &moment->event), "record an event");
    cl().flush(queue(stream));
  }
  void wait(StreamHandle stream, EventHandle event) override {
    const Event e = static_cast<Moment*>(event)->event;
    if (e) check(cl().wait_in_queue(queue(stream), 1, &e, nullptr), "wait");
  }
  void synchronize_event(EventHandle event) override {
    const Event e = static_cast<Moment*>(event)->event;
    if (e) check(cl().wait(1, &e), "wait");
  }
  double elapsed_ms(EventHandle from, EventHandle to) override {
    uint64_t ns[2] = {0, 0};
    const EventHandle both[2] = {from, to};
    for (int i = 0; i < 2; ++i)
      check(cl().event_time(static_cast<Moment*>(both[i])->event, kCommandEnd, sizeof ns[i], &ns[i], nullptr),
            "report the time of an event");
    return static_cast<double>(ns[1] - ns[0]) * 1e-6;
  }

  bool has_graphs() const override { return false; }
  void begin_capture(StreamHandle) override { throw InternalError("OpenCL has no graphs"); }
  GraphHandle end_capture(StreamHandle) override { throw InternalError("OpenCL has no graphs"); }
  void launch_graph(GraphHandle, StreamHandle) override { throw InternalError("OpenCL has no graphs"); }
  void destroy_graph(GraphHandle) noexcept override {}

 private:
  struct Buffer {
    Memory memory = nullptr;
    size_t bytes = 0;
  };
  struct Place {
    Memory memory = nullptr;
    size_t offset = 0;
  };
  struct Mapped {
    std::unique_ptr<char[]> host;
    uint64_t device;
    int64_t bytes;
  };

  const Library& cl() const { return *opened_->cl; }
  Queue queue(StreamHandle stream) const { return stream ? static_cast<Queue>(stream) : queue_; }
  Queue make_queue() const {
    Status status = kSuccess;
    const Queue made = cl().create_queue(opened_->context, opened_->device, kProfiling, &status);
    check(status, "make a queue");
    return made;
  }
  Place place(uint64_t address) const {
    const std::lock_guard lock(mutex_);
    auto found = buffers_.upper_bound(address);
    SMELT_CHECK(found != buffers_.begin(), "no buffer stands at {:#x}", address);
    --found;
    const size_t offset = address - found->first;
    SMELT_CHECK(offset <= found->second.bytes, "no buffer stands at {:#x}", address);
    return {found->second.memory, offset};
  }
  void build(Program program) const {
    const Status status = cl().build(program, 1, &opened_->device, options_.c_str(), nullptr, nullptr);
    if (status == kSuccess) return;
    size_t bytes = 0;
    cl().build_info(program, opened_->device, kBuildLog, 0, nullptr, &bytes);
    std::string log(bytes, '\0');
    cl().build_info(program, opened_->device, kBuildLog, bytes, log.data(), nullptr);
    throw InternalError(fmt::format("OpenCL cannot build a kernel (error {}):\n{}", status, log.c_str()));
  }

  std::shared_ptr<const Opened> opened_;
  GpuFacts facts_;
  std::string options_ = "-w";
  Queue queue_;
  mutable std::mutex mutex_;  // of the buffers
  std::map<uint64_t, Buffer> buffers_;
  uint64_t next_ = kFirstAddress;
  int64_t allocated_ = 0;
  std::mutex mapped_mutex_;
  std::map<void*, Mapped> mapped_;
};

}  // namespace

Libraries opencl::open_opencl(std::string& why) {
  const std::vector<std::string> names{"libOpenCL.so.1", "libOpenCL.so"};
  const auto open = [](const std::string& name, std::string& reason) {
    return open_functions<Library>(open_library(name, reason), name, "it is older than OpenCL 1.2", reason);
  };
  return search_library({"libOpenCL", "SMELT_OPENCL", names, tried(names),
                         "To install it: apt-get install ocl-icd-libopencl1; pocl-opencl-icd adds the CPU as a device"},
                        open, why);
}

std::shared_ptr<OpenCl> OpenCl::open(int ordinal, std::string& why) {
  const Libraries cl = open_opencl(why);
  if (!cl) return nullptr;
  const std::vector<Device> devices = all_devices(*cl);
  if (devices.empty()) {
    why = "libOpenCL was found, but no device. apt-get install pocl-opencl-icd adds the CPU as one";
    return nullptr;
  }
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= devices.size()) {
    why = fmt::format("there is no OpenCL device {}: {} {} here", ordinal, devices.size(),
                      devices.size() == 1 ? "is" : "are");
    return nullptr;
  }
  const Device device = devices[static_cast<size_t>(ordinal)];
  for (const Number needed : {kAvailable, kCompiler, kLittleEndian})
    if (!number_of<Number>(*cl, device, needed)) {
      why = fmt::format("the OpenCL device {} {}", text_of(*cl, device, kDeviceName),
                        needed == kAvailable  ? "is not available"
                        : needed == kCompiler ? "has no compiler"
                                              : "is big-endian, which smelt does not support");
      return nullptr;
    }
  try {
    return std::make_shared<OpenedDevice>(cl, device, ordinal);
  } catch (const UserError& e) {
    why = e.what();
    return nullptr;
  }
}

}  // namespace smelt::runtime

// Threads, memory, the cache and what debuggers see, as a service sets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <smelt/smelt.hpp>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "runtime/child_program.hpp"
#include "support/message_of.hpp"

namespace smelt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

const std::vector<float>& many() {
  static const std::vector<float> values(1 << 20, 1.5f);
  return values;
}
Array large() { return Array::from(many()); }

class Service : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Device::cpu().usable()) GTEST_SKIP() << Device::cpu().missing();
  }
  void TearDown() override {
    set_threads(0);
    set_thread_pool({});
    set_allocator(Device::cpu(), {});
    set_memory_limit(Device::cpu(), 0);
    set_cache({});
    set_code_listing({});
  }
  const Function<Array(Array)> f_ = compile([](Array x) { return exp(x) * 2; });
};

TEST_F(Service, LoopsRunOnAnOutsidePool) {
  Options options;
  options.threads = 5;
  const auto f = compile([](Array x) { return exp(x) * 2; }, options);
  const Array expected = f(large());
  std::atomic<int> tasks{0}, most{0};
  set_thread_pool([&](int count, const std::function<void(int)>& task) {
    most = std::max(most.load(), count);
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back([&, i] { ++tasks, task(i); });
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(f(large()).to_vector<float>(), expected.to_vector<float>());
  EXPECT_EQ(most, 5);
  EXPECT_GE(tasks, 5);
  // One after another is fine too.
  set_thread_pool([](int count, const std::function<void(int)>& task) {
    for (int i = count; i-- > 0;) task(i);
  });
  EXPECT_EQ(f(large()).to_vector<float>(), expected.to_vector<float>());
  set_thread_pool([](int, const std::function<void(int)>&) {});
  EXPECT_NE(message_of([&] { f(large()); }).find("returned before its tasks had run"), std::string::npos);
}

TEST_F(Service, ThreadsAreLimitedByProcessAndByCall) {
  Options options;
  options.threads = 4;
  const auto f = compile([](Array x) { return exp(x) * 2; }, options);
  f(large());
  std::vector<int> counts;
  set_thread_pool([&](int count, const std::function<void(int)>& task) {
    counts.push_back(count);
    for (int i = 0; i < count; ++i) task(i);
  });
  f(large());
  set_threads(3);
  f(large());
  {
    const ThreadLimit two(2);
    f(large());
    {
      const ThreadLimit many(100);
      f(large());
    }
    const ThreadLimit one(1);
    f(large());  // the caller alone: no pool
  }
  f(large());
  EXPECT_EQ(counts, (std::vector<int>{4, 3, 2, 3, 3}));
  EXPECT_THAT(message_of([&] { set_threads(-1); }), HasSubstr("set_threads(-1): a number of threads is 1 or more"));
  EXPECT_THAT(message_of([&] { (void)ThreadLimit(0); }), HasSubstr("ThreadLimit(0): a number of threads is 1 or more"));
}

// Pages fresh from the system take longer than the copy.
TEST_F(Service, StridedInputsAreCopiedToMemoryOfTheLatestCall) {
  std::vector<float> values = many();
  const auto half = static_cast<int64_t>(values.size() / 2);
  const Array every_second = Array::borrow(values.data(), {half}, {2});
  const Array out = Array::empty({half}, DType::F32);
  f_.into(out)(every_second);
  int large_ones = 0;
  set_allocator(Device::cpu(), {[&](size_t bytes, size_t alignment) {
                                  large_ones += bytes >= size_t(half) * sizeof(float);
                                  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
                                },
                                [](void* memory, size_t) { std::free(memory); }});
  for (int call = 0; call < 3; ++call) f_.into(out)(every_second);
  EXPECT_LE(large_ones, 1);  // set_allocator() gave up what was kept
  EXPECT_EQ(out.span<float>()[5], f_(Array::scalar(values[10])).item<float>());
}

TEST_F(Service, MemoryComesFromTheUsersFunctions) {
  std::mutex mutex;
  std::map<void*, size_t> live;
  size_t most_alignment = 0;
  set_allocator(Device::cpu(), {[&](size_t bytes, size_t alignment) {
                                  const std::lock_guard lock(mutex);
                                  most_alignment = std::max(most_alignment, alignment);
                                  void* memory =
                                      std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
                                  live[memory] = bytes;
                                  return memory;
                                },
                                [&](void* memory, size_t bytes) {
                                  const std::lock_guard lock(mutex);
                                  EXPECT_EQ(live.at(memory), bytes);
                                  live.erase(memory);
                                  std::free(memory);
                                }});
  Array kept;
  {
    const auto f = compile([](Array x) { return sum(exp(x)) * x, x * 2; });
    const Array x = large();
    EXPECT_FALSE(live.empty());
    kept = f(x);
  }
  set_allocator(Device::cpu(), {});
  EXPECT_EQ(live.size(), 1u) << "the result alone is left";
  EXPECT_EQ(kept.span<float>()[7], 3.f);
  kept = Array();
  EXPECT_TRUE(live.empty()) << "it went back to where it came from";
  EXPECT_EQ(most_alignment, 64u);
  EXPECT_THAT(message_of([&] {
                set_allocator(Device::cpu(), {[](size_t, size_t) -> void* { return nullptr; }, {}});
              }),
              HasSubstr("set_allocator(): an allocator has both functions, allocate and deallocate"));
  set_allocator(Device::cpu(), {[](size_t, size_t) -> void* { return nullptr; }, [](void*, size_t) {}});
  EXPECT_NE(message_of([] { large(); }).find("cannot allocate 4194304 bytes for f32[1048576]"), std::string::npos);
}

TEST_F(Service, MemoryHasALimit) {
  const Array x = large();
  set_memory_limit(Device::cpu(), 1);
  EXPECT_THAT(message_of([&] { large(); }),
              HasSubstr("4194304 more bytes would pass the limit of 1 bytes for memory of the host, of which 4194304 "
                        "are in use"));  // what earlier calls have left is given up
  set_memory_limit(Device::cpu(), 0);
  const MemoryUse before = memory_use(Device::cpu());
  EXPECT_GE(before.bytes, 4 << 20);
  EXPECT_GE(before.peak_bytes, before.bytes);
  { f_(x); }  // 4 MiB, which are kept for the next call
  EXPECT_GE(memory_use(Device::cpu()).bytes, before.bytes + (4 << 20));
  set_memory_limit(Device::cpu(), before.bytes + (6 << 20));
  EXPECT_EQ(memory_use(Device::cpu()).limit_bytes, before.bytes + (6 << 20));
  // What is kept is given up for other arrays.
  { const Array other = Array::empty({5 << 20}, DType::U8); }
  EXPECT_EQ(memory_use(Device::cpu()).bytes, before.bytes);
  const std::string message = message_of([] { Array::empty({7 << 20}, DType::U8); });
  EXPECT_NE(message.find("7340032 more bytes would pass the limit of"), std::string::npos) << message;
  EXPECT_NE(message.find("set_memory_limit()"), std::string::npos) << message;
  EXPECT_EQ(memory_use(Device::cpu()).bytes, before.bytes);
  EXPECT_EQ(f_(x).span<float>()[3], std::exp(1.5f) * 2) << "goes on after that";
  EXPECT_THAT(message_of([&] { set_memory_limit(Device::cpu(), -1); }),
              HasSubstr("set_memory_limit(): -1 bytes are less than none"));
  EXPECT_THAT(message_of([&] { set_memory_limit(Device::opencl(), 1 << 20); }),
              HasSubstr("set_memory_limit(): smelt does not count the memory of opencl"));
}

TEST_F(Service, TheCacheMoves) {
  const runtime::TemporaryFolder folder;
  const std::string place = folder.path() + "/kernels";
  set_cache({place, std::nullopt});
  compile([](Array x) { return x * 1.125f + 3; })(Array::from({1.f}));
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(place)) files += entry.path().extension() == ".entry";
  EXPECT_EQ(files, 1u);
  set_cache({place, 0});  // nothing fits
  compile([](Array x) { return x * 1.375f + 4; })(Array::from({1.f}));
  files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(place)) files += entry.path().extension() == ".entry";
  EXPECT_LE(files, 1u);
  EXPECT_THAT(message_of([&] {
                set_cache({std::nullopt, -1});
              }),
              HasSubstr("set_cache(): a limit of -1 bytes is negative"));
}

TEST_F(Service, VersionsAgree) {
  EXPECT_EQ(version_number(), SMELT_VERSION_NUMBER);
  EXPECT_EQ(version(), std::to_string(SMELT_VERSION_MAJOR) + "." + std::to_string(SMELT_VERSION_MINOR) + "." +
                           std::to_string(SMELT_VERSION_PATCH));
}

// ---- perf and GDB

struct jit_code_entry {
  jit_code_entry *next, *previous;
  const char* file;
  uint64_t bytes;
};
struct jit_descriptor {
  uint32_t version, action;
  jit_code_entry *relevant, *first;
};

}  // namespace
}  // namespace smelt
extern "C" smelt::jit_descriptor __jit_debug_descriptor;
namespace smelt {
namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_F(Service, PerfFindsTheNamesOfKernels) {
  CodeListing listing;
  listing.perf_map = true;
  set_code_listing(listing);
  Options options;
  options.name = "mapped";
  compile([](Array x) { return relu(x) * 5.5f; }, options)(Array::from({1.f}));
  const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  std::istringstream map(text_of(path));
  uint64_t address = 0, bytes = 0;
  std::string name;
  map >> std::hex >> address >> bytes;
  std::getline(map, name);
  EXPECT_NE(address, 0u);
  EXPECT_GT(bytes, 16u);
  EXPECT_EQ(name.substr(0, 38), " smelt::mapped.kernel 1 (relu, *) k0_p");
  set_code_listing({});
  ::unlink(path.c_str());
}

TEST_F(Service, PerfTakesDumpsToo) {
  const runtime::TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  CodeListing listing;
  listing.perf_jitdump = true;
  set_code_listing(listing);
  compile([](Array x) { return relu(x) * 6.5f; })(Array::from({1.f}));
  set_code_listing({});
  const std::string dump = text_of("jit-" + std::to_string(::getpid()) + ".dump");
  std::filesystem::current_path(before);
  ASSERT_GT(dump.size(), 100u);
  EXPECT_EQ(dump.substr(0, 4), "DTiJ");
  EXPECT_NE(dump.find("kernel 1 (relu, *)"), std::string::npos);
  size_t at = 40;
  while (at + 8 <= dump.size()) {
    uint32_t kind = 1, record = 0;
    std::memcpy(&kind, dump.data() + at, sizeof kind);
    std::memcpy(&record, dump.data() + at + 4, sizeof record);
    EXPECT_EQ(kind, 0u);
    ASSERT_GT(record, 56u);
    at += record;
  }
  EXPECT_EQ(at, dump.size()) << "records are as long as they say";
}

TEST_F(Service, DebuggersFindTheObjects) {
  CodeListing listing;
  listing.gdb = true;
  set_code_listing(listing);
  {
    Options options;
    options.name = "debugged";
    const auto f = compile([](Array x) { return relu(x) * 7.5f; }, options);
    f(Array::from({1.f}));
    ASSERT_NE(__jit_debug_descriptor.first, nullptr);
    EXPECT_EQ(__jit_debug_descriptor.action, 1u);
    const jit_code_entry& entry = *__jit_debug_descriptor.first;
    EXPECT_EQ(std::string(entry.file, 4), "\177ELF");
    EXPECT_NE(std::string(entry.file, entry.bytes).find("k0_p0"), std::string::npos);
  }
  EXPECT_EQ(__jit_debug_descriptor.first, nullptr);
  EXPECT_EQ(__jit_debug_descriptor.action, 2u);
}

TEST_F(Service, GdbStopsInAKernelByItsName) {
  if (!std::filesystem::exists("/usr/bin/gdb")) GTEST_SKIP() << "there is no GDB here";
  const runtime::ChildResult r = runtime::run_child(
      "/usr/bin/gdb",
      {"-batch", "-nx", "-ex", "set breakpoint pending on", "-ex", "break k0_p0", "-ex", "run", "-ex", "backtrace 1",
       "--args", std::filesystem::read_symlink("/proc/self/exe").string(), "--gtest_filter=ServiceInChild.RunsAKernel"},
      {{"SMELT_GDB", "1"}, {"SMELT_IN_CHILD", "1"}, {"DEBUGINFOD_URLS", ""}});
  if (r.output.find("ptrace") != std::string::npos || r.output.find("Couldn't get registers") != std::string::npos)
    GTEST_SKIP() << "processes may not be traced here";
  EXPECT_NE(r.output.find("in k0_p0 ()"), std::string::npos) << r.output;
}

// What a debugger runs.
TEST(ServiceInChild, RunsAKernel) {
  if (!std::getenv("SMELT_IN_CHILD")) GTEST_SKIP() << "runs in a child of another test";
  compile([](Array x) { return relu(x) * 8.5f; })(Array::from({1.f}));
}

}  // namespace
}  // namespace smelt

// The sectors that the page counts, against those that the printed CUDA C++ touches: it runs on the
// emulated GPU, compiled so that every access of its threads is seen, and what the threads of a
// warp access at one place of the code at a time is one access.
#include "report/page_accesses.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "frontends/language.hpp"
#include "kernel/text.hpp"
#include "support/arrays.hpp"
#include "support/fake_cuda/emulate.hpp"

namespace smelt::testing {
namespace {

// What a compiler calls before each access that it instruments for races.
constexpr const char* kTracing = R"(
extern "C" void (*trace_to)(const void*, unsigned, bool, const void*, const void*, unsigned, unsigned) = nullptr;
#define UNTRACED __attribute__((no_sanitize("thread"), visibility("hidden")))
UNTRACED void traced(const void* at, unsigned long bytes, bool stored, const void* place, const void* caller) {
  if (trace_to) trace_to(at, (unsigned)bytes, stored, place, caller, blockIdx.x, on_host::current);
}
#define TRACED(at, bytes, stored) traced(at, bytes, stored, __builtin_return_address(0), __builtin_return_address(1))
#define OF_SIZE(n)                                                              \
  extern "C" UNTRACED void __tsan_read##n(void* at) { TRACED(at, n, false); }   \
  extern "C" UNTRACED void __tsan_write##n(void* at) { TRACED(at, n, true); }
OF_SIZE(1) OF_SIZE(2) OF_SIZE(4) OF_SIZE(8) OF_SIZE(16)
#define UNALIGNED(n)                                                                      \
  extern "C" UNTRACED void __tsan_unaligned_read##n(void* at) { TRACED(at, n, false); }   \
  extern "C" UNTRACED void __tsan_unaligned_write##n(void* at) { TRACED(at, n, true); }
UNALIGNED(2) UNALIGNED(4) UNALIGNED(8) UNALIGNED(16)
extern "C" {
UNTRACED void __tsan_read_range(void* at, unsigned long n) { TRACED(at, n, false); }
UNTRACED void __tsan_write_range(void* at, unsigned long n) { TRACED(at, n, true); }
UNTRACED void __tsan_func_entry(void*) {}
UNTRACED void __tsan_func_exit() {}
UNTRACED void __tsan_init() {}
UNTRACED void __tsan_vptr_update(void**, void*) {}
UNTRACED void __tsan_vptr_read(void**) {}
UNTRACED void* copy_traced(void* to, const void* from, unsigned long n, const void* place, const void* caller) {
  traced(from, n, false, place, caller);
  traced(to, n, true, place, caller);
  for (unsigned long i = 0; i < n; ++i) ((volatile char*)to)[i] = ((const char*)from)[i];
  return to;
}
UNTRACED void* memcpy(void* to, const void* from, unsigned long n) {
  return copy_traced(to, from, n, __builtin_return_address(0), __builtin_return_address(1));
}
UNTRACED void* __tsan_memcpy(void* to, const void* from, unsigned long n) {
  return copy_traced(to, from, n, __builtin_return_address(0), __builtin_return_address(1));
}
UNTRACED void* __tsan_memset(void* to, int c, unsigned long n) {
  for (unsigned long i = 0; i < n; ++i) ((volatile char*)to)[i] = (char)c;
  return to;
}
}
)";

// Sectors per array and direction of one launch.
class Trace {
 public:
  using Range = std::pair<uint64_t, uint64_t>;  // of addresses
  void begin(std::vector<Range> arrays) {
    arrays_ = std::move(arrays);
    next_.clear(), touched_.clear();
  }
  void add(uint64_t at, unsigned bytes, bool stored, const void* place, const void* caller, unsigned workgroup,
           unsigned thread) {
    for (size_t a = 0; a < arrays_.size(); ++a) {
      if (at < arrays_[a].first || at >= arrays_[a].second) continue;
      const int time = next_[{place, caller, stored, workgroup, thread}]++;
      std::set<uint64_t>& sectors = touched_[{a, stored, place, caller, workgroup, thread / 32, time}];
      for (uint64_t s = at / 32; s <= (at + bytes - 1) / 32; ++s) sectors.insert(s);
    }
  }
  double sectors(size_t array, bool stored) const {
    double sum = 0;
    for (const auto& [key, sectors] : touched_)
      if (std::get<0>(key) == array && std::get<1>(key) == stored) sum += static_cast<double>(sectors.size());
    return sum;
  }

 private:
  std::vector<Range> arrays_;
  std::map<std::tuple<const void*, const void*, bool, unsigned, unsigned>, int> next_;
  std::map<std::tuple<size_t, bool, const void*, const void*, unsigned, unsigned, int>, std::set<uint64_t>> touched_;
};
Trace trace;

class PageAccesses : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "threads of the emulated GPU have stacks that the sanitizer does not know";
#endif
    if (!can_emulate()) GTEST_SKIP() << "no " << SMELT_TEST_CXX << " here";
    gpu_ = emulated_gpu({kTracing, "-fsanitize=thread -fno-omit-frame-pointer", [](const HostLibrary& library) {
                           using Sink = void(const void*, unsigned, bool, const void*, const void*, unsigned, unsigned);
                           *reinterpret_cast<Sink**>(library.find(
                               "trace_to")) = [](const void* at, unsigned bytes, bool stored, const void* place,
                                                 const void* caller, unsigned workgroup, unsigned thread) {
                             trace.add(reinterpret_cast<uint64_t>(at), bytes, stored, place, caller, workgroup, thread);
                           };
                         }});
    ASSERT_TRUE(gpu_.machine.compiles()) << gpu_.machine.missing;
    emulated_ = gpu_.driver->kernel_of_image;
  }
  void TearDown() override {
    emulated_ = nullptr;
    gpu_.machine = {};
  }

  // Runs a program; every launch must touch the sectors that the page counts, of each array.
  void check(const std::string& program, const std::vector<Tensor>& inputs, double tolerance = 0) {
    SCOPED_TRACE(program);
    std::function<void(const fake_cuda::Launch&)> before, after;
    gpu_.driver->kernel_of_image = [inner = emulated_, &before, &after](const std::string& name,
                                                                        const std::string& image) {
      fake_cuda::Kernel kernel = inner(name, image);
      kernel.run = [run = kernel.run, &before, &after](const fake_cuda::Launch& l) { before(l), run(l), after(l); };
      return kernel;
    };
    const Graph graph = lang::parse_program(program, "traced.smelt");
    const Executable executable = compile(graph, gpu_.machine, {});
    const std::vector<KernelLaunch> launches = executable.launches({});
    ASSERT_FALSE(launches.empty());
    size_t ran = 0;
    before = [&](const fake_cuda::Launch& l) {
      ASSERT_LT(ran, launches.size());
      ASSERT_EQ(launches[ran].function, l.function);
      ASSERT_EQ(launches[ran].workgroups, l.grid);
      trace.begin(arrays_of(executable.kernels()[launches[ran].kernel], launches[ran], l));
    };
    after = [&](const fake_cuda::Launch&) {
      const KernelLaunch& launch = launches[ran++];
      compare(executable.kernels()[launch.kernel], launch, executable.graph(), inputs, tolerance);
    };
    executable.run({inputs.begin(), inputs.end()});
    EXPECT_EQ(gpu_.driver->fault, "");
    EXPECT_EQ(ran, launches.size());
  }

  static std::vector<Trace::Range> arrays_of(const kernel::Kernel& kernel, const KernelLaunch& launch,
                                             const fake_cuda::Launch& l) {
    std::vector<Trace::Range> ranges;
    for (size_t p = 0; p < kernel.params.size(); ++p) {
      const kernel::Param& param = kernel.params[p];
      ranges.emplace_back();
      if (param.kind == kernel::ParamKind::Scalar || param.kind == kernel::ParamKind::Size) continue;
      int64_t bytes = size_of(param.dtype);
      for (const IntExpr& d : param.dims) bytes *= d.evaluate(launch.sizes);
      const auto at = l.argument<uint64_t>(p);
      ranges.back() = {at, at + static_cast<uint64_t>(bytes)};
    }
    return ranges;
  }

  static void compare(const kernel::Kernel& kernel, const KernelLaunch& launch, const Graph& graph,
                      const std::vector<Tensor>& inputs, double tolerance) {
    const report::ElementOf element = [&](NodeId value, const Dims& index) -> std::optional<Scalar> {
      const auto input = std::find(graph.inputs.begin(), graph.inputs.end(), value);
      if (input == graph.inputs.end()) return std::nullopt;
      const Tensor& array = inputs[static_cast<size_t>(input - graph.inputs.begin())];
      int64_t offset = 0;
      for (size_t d = 0; d < index.size(); ++d) offset += index[d] * array.strides[d];
      return load_scalar(array.dtype, static_cast<const char*>(array.data) + offset * size_of(array.dtype));
    };
    std::map<std::pair<std::string, bool>, double> counted;
    for (const report::AccessRow& row : report::accesses_of(kernel, launch, true, element)) {
      EXPECT_NE(row.pattern, report::AccessPattern::Unknown) << row.index;
      counted[{row.array, row.stored}] += row.total_sectors;
    }
    for (size_t p = 0; p < kernel.params.size(); ++p)
      for (const bool stored : {false, true}) {
        const int number = static_cast<int>(p);
        if (number == kernel.error_param || number == kernel.counter_param) continue;
        const double touched = trace.sectors(p, stored);
        const double ours = counted[{kernel::param_name(kernel, number), stored}];
        EXPECT_LE(std::abs(ours - touched), tolerance * touched)
            << launch.function << ": " << (stored ? "stores to " : "loads of ") << kernel::param_name(kernel, number)
            << ": counted " << ours << ", touched " << touched;
      }
  }

  EmulatedMachine gpu_;
  std::function<fake_cuda::Kernel(const std::string&, const std::string&)> emulated_;
};

Tensor noise_of(DType t, const Dims& dims) {
  std::mt19937_64 random(7);
  return noise(t, dims, random, 50);
}

TEST_F(PageAccesses, ChainsOfOperations) {
  check("input x: f32[10000]\nreturn x * 2 + 1\n", {noise_of(DType::F32, {10000})});
  check("input x: f16[4099]\nreturn x * 2 + 1\n", {noise_of(DType::F16, {4099})});
  check("input x: f32[6000]\nreturn i8(x)\n", {noise_of(DType::F32, {6000})});
}

TEST_F(PageAccesses, ViewsThatAreStrided) {
  check("input x: f32[16384]\nreturn x[::4] + 1\n", {noise_of(DType::F32, {16384})});
  check("input x: f32[5000]\nreturn x[::-1] * 2\n", {noise_of(DType::F32, {5000})});
}

// Rows that begin anywhere in a sector.
TEST_F(PageAccesses, RowsThatAreNotAligned) {
  // Rows end between the elements of a thread: a few sectors are counted for two of its loads.
  check("input x: f32[64, 256]\nreturn x[:, :-1] + x[:, 1:]\n", {noise_of(DType::F32, {64, 256})}, 0.01);
  check("input x: f32[40, 1001]\nreturn softmax(x)\n", {noise_of(DType::F32, {40, 1001})});
  check("input x: f16[40, 333]\nreturn layernorm(relu(x))\n", {noise_of(DType::F16, {40, 333})});
}

TEST_F(PageAccesses, RowsThatAreReduced) {
  check("input x: f32[32, 1024]\nreturn softmax(x)\n", {noise_of(DType::F32, {32, 1024})});
  check("input x: f32[100, 20]\nreturn softmax(x)\n", {noise_of(DType::F32, {100, 20})});
  check("input x: f32[3, 20000]\nreturn layernorm(x)\n", {noise_of(DType::F32, {3, 20000})});
  check("input x: f32[32, 128]\ninput s: f32[128]\nreturn x * s\n",
        {noise_of(DType::F32, {32, 128}), noise_of(DType::F32, {128})});
}

TEST_F(PageAccesses, SumsOfColumnsAndOfAll) {
  check("input x: f32[500, 128]\nreturn sum(x, axis=0)\n", {noise_of(DType::F32, {500, 128})});
  check("input x: f32[40, 33]\nreturn sum(x, axis=0)\n", {noise_of(DType::F32, {40, 33})});
  check("input x: f32[50000]\nreturn sum(x * x)\n", {noise_of(DType::F32, {50000})});
}

// What a scan gives is stored after it, by groups.
TEST_F(PageAccesses, Scans) {
  check("input x: f32[8, 4096]\nreturn cumsum(x, axis=1)\n", {noise_of(DType::F32, {8, 4096})});
  check("input x: f32[8, 1000]\nreturn cumsum(x, axis=1, reverse=True)\n", {noise_of(DType::F32, {8, 1000})});
}

TEST_F(PageAccesses, Gathers) {
  std::vector<double> indices;
  for (int64_t i = 0; i < 5000; ++i) indices.push_back(static_cast<double>(i * 7919 % 3000));
  check("input t: f32[3000]\ninput i: i32[5000]\nreturn t[i]\n",
        {noise_of(DType::F32, {3000}), array(DType::I32, {5000}, indices)});
  check("input t: f32[3000]\ninput i: i32[5000]\nreturn t[(i * 17) % 3000]\n",
        {noise_of(DType::F32, {3000}), array(DType::I32, {5000}, indices)});
}

// Which of the tiles at the edges are full is a condition of the kernel.
TEST_F(PageAccesses, TilesThatAreTransposed) {
  // The trace takes what a thread stores next for the same step as its neighbours', also where it
  // has left one out.
  check("input x: f32[130, 70]\nreturn x.T * 2\n", {noise_of(DType::F32, {130, 70})}, 0.2);
  check("input x: f32[128, 64]\nreturn x.T * 2\n", {noise_of(DType::F32, {128, 64})}, 0.1);  // not all are looked at
  check("input x: f16[256, 128]\nreturn exp(x.T)\n", {noise_of(DType::F16, {256, 128})});
}

// Rows of which a thread has several, each read as one word before the others are computed.
TEST_F(PageAccesses, WordsOfShortRows) {
  gpu_.machine.gpu_facts.processors = 4;  // of more, a thread has several only of a million rows
  check("input x: u8[40003, 2]\nreturn max(x, axis=1)\n", {noise_of(DType::U8, {40003, 2})}, 0.01);
}

// Values that all elements of a row share, and rows that a warp has several of.
TEST_F(PageAccesses, ValuesOfRows) {
  check("input x: f32[300, 24]\ninput r: f32[300]\nreturn x * reshape(r, [300, 1])\n",
        {noise_of(DType::F32, {300, 24}), noise_of(DType::F32, {300})});
  check("input x: f32[50, 8]\nreturn x - max(x, axis=1, keepdims=True), sum(x, axis=1)\n",
        {noise_of(DType::F32, {50, 8})});
}

TEST_F(PageAccesses, Windows) {
  check("input x: f32[2, 3, 20, 21]\nreturn max_pool(x, 2)\n", {noise_of(DType::F32, {2, 3, 20, 21})});
  check("input x: f32[40, 40]\nreturn pad(x, 1) * 2\n", {noise_of(DType::F32, {40, 40})});
}

// What the compiler takes out of loops, which the emulated GPU does not: a row of q once for three
// passes over all of k.
TEST_F(PageAccesses, WhatLoopsDoNotChange) {
  const Graph graph = lang::parse_program(
      "input q: f32[32, 32]\ninput k: f32[32, 32]\nreturn softmax(sum(abs(q[:, None] - k[None]), axis=2)) + 1\n",
      "rows.smelt");
  const Executable executable = compile(graph, gpu_.machine, {});
  const std::vector<KernelLaunch> launches = executable.launches({});
  ASSERT_EQ(launches.size(), 1u);
  double of_q = 0, of_k = 0;
  for (const report::AccessRow& row : report::accesses_of(executable.kernels()[0], launches[0], true, nullptr)) {
    if (row.array == "in0") of_q += row.total_sectors;
    if (row.array == "in1") of_k += row.total_sectors;
  }
  // Rows of 128 bytes, whose sectors are loaded in two halves of 16 bytes or by elements: of q
  // once, of k by every row and pass.
  EXPECT_LE(of_q, 32 * 32);
  EXPECT_GE(of_k, 3 * of_q);
}

TEST_F(PageAccesses, SeveralKernels) {
  check("input x: f32[64, 512]\nreturn cumsum(x, axis=1) - mean(x, axis=0)\n", {noise_of(DType::F32, {64, 512})});
}

TEST_F(PageAccesses, Stencils) {
  check("input x: f32[66, 130]\nreturn x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]\n",
        {noise_of(DType::F32, {66, 130})});
}

}  // namespace
}  // namespace smelt::testing

// What a call adds to the memory of the process at its peak: its outputs and the temporaries that
// it states, nothing else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "compile/compile.hpp"
#include "frontends/language.hpp"

namespace smelt::testing {
namespace {

// "VmRSS" or "VmHWM", its peak, in bytes.
int64_t status_bytes(const std::string& what) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(what + ":", 0) == 0) return std::atoll(line.c_str() + what.size() + 1) * 1024;
  return 0;
}

// From here on the peak is that of what follows.
bool forget_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5\n";
  file.close();
  return !file.fail() && status_bytes("VmHWM") <= status_bytes("VmRSS") + (1 << 20);
}

struct Peak {
  int64_t grown, outputs, temporaries;
};

class Memory : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = Machine::cpu();
    if (!device_.llvm) GTEST_SKIP() << device_.missing;
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the address sanitizer keeps memory of its own";
#endif
    if (!forget_peak()) GTEST_SKIP() << "this system does not reset the peak of a process";
  }

  Peak peak_of(const std::string& program, const std::vector<Dims>& shapes, bool fuse) {
    CompileOptions options;
    options.fuse = fuse;
    options.threads = 2;
    const Graph graph = lang::parse_program(program, "test");
    const Executable e = compile(graph, device_, options);
    std::vector<Tensor> inputs;
    std::vector<Tensor> small;
    for (const Dims& dims : shapes) {
      inputs.push_back(Tensor::zeros(DType::F32, dims));
      small.push_back(Tensor::zeros(DType::F32, Dims(dims.size(), 64)));
    }
    e.run({small.begin(), small.end()});  // threads, code
    Peak peak{};
    EXPECT_TRUE(forget_peak());
    const int64_t before = status_bytes("VmRSS");
    {
      const std::vector<Tensor> outputs = e.run({inputs.begin(), inputs.end()});
      for (const Tensor& t : outputs) peak.outputs += t.bytes();
    }
    peak.grown = status_bytes("VmHWM") - before;
    peak.temporaries = e.temporary_bytes(bind_sizes(graph, shapes));
    return peak;
  }
  // Large pages, page tables, stacks.
  static constexpr int64_t kSlack = 8 << 20;

  Machine device_;
};

constexpr int64_t kRows = 4096, kColumns = 4096, kBytes = kRows * kColumns * 4;

TEST_F(Memory, AFusedProgramTakesItsOutputsAndNoMore) {
  const Peak p = peak_of("input x: f32[M, N]\nh = relu(x)\nreturn layernorm(h * 2 + 1)\n", {{kRows, kColumns}}, true);
  EXPECT_EQ(p.outputs, kBytes);
  EXPECT_LT(p.temporaries, 1 << 20);
  EXPECT_LE(p.grown, p.outputs + p.temporaries + kSlack);
  EXPECT_GE(p.grown, kBytes / 2) << "nothing was measured";
}

TEST_F(Memory, ValuesBetweenKernelsShareOneBlock) {
  // Six kernels in a row, of whose values two live at a time.
  const Peak p = peak_of("input x: f32[M, N]\na = x + 1\nb = a * 2\nc = abs(b)\nd = c - 3\ne = d * d\nreturn sqrt(e)\n",
                         {{kRows, kColumns}}, false);
  EXPECT_EQ(p.temporaries, 2 * kBytes);
  EXPECT_LE(p.grown, p.outputs + p.temporaries + kSlack);
  EXPECT_GE(p.grown, 2 * kBytes) << "nothing was measured";
}

TEST_F(Memory, ReductionsOverTheGridAndTiles) {
  for (const char* program :
       {"input x: f32[M, N]\nreturn sum(x), x.T * 2\n", "input x: f32[M, N]\nreturn softmax(x, axis=0)\n",
        "input x: f32[M, N]\nreturn x - mean(x, axis=0), max(x, axis=1)\n"}) {
    const Peak p = peak_of(program, {{kRows, kColumns}}, true);
    EXPECT_LT(p.temporaries, kBytes / 4) << program;
    EXPECT_LE(p.grown, p.outputs + p.temporaries + kSlack) << program;
  }
}

}  // namespace
}  // namespace smelt::testing

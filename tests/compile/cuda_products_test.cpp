// What is printed for products and attention compiles for every architecture that smelt supports,
// and the assembler reports no lost performance; no GPU is needed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "emit/cuda.hpp"
#include "frontends/language.hpp"
#include "runtime/shared_library.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

namespace fs = std::filesystem;

struct Row {
  std::string name, text;
  SizeBinding sizes = {};
};

std::string product(const std::string& a, const std::string& b, const std::string& result) {
  return fmt::format("input a: {}\ninput b: {}\nreturn {}\n", a, b, result);
}

std::string attention(const char* t, int depth, const char* more) {
  std::string text;
  for (const char* name : {"q", "k", "v"}) text += fmt::format("input {}: {}[2, 16, 4096, {}]\n", name, t, depth);
  return text + fmt::format("return scaled_dot_product_attention(q, k, v{})\n", more);
}

std::string gradients_of_attention(int depth, const char* more) {
  std::string text;
  for (const char* name : {"q", "k", "v", "g"}) text += fmt::format("input {}: bf16[2, 4, 1024, {}]\n", name, depth);
  return text + fmt::format("o = scaled_dot_product_attention(q, k, v{})\nreturn vjp(o, (q, k, v), g)\n", more);
}

std::vector<Row> rows() {
  std::vector<Row> rows = {
      {"bf16", product("bf16[4096, 4096]", "bf16[4096, 4096]", "a @ b")},
      {"f16_turned", product("f16[4096, 4096]", "f16[4096, 4096]", "relu(a.T @ b.T)")},
      {"f32", product("f32[2048, 2048]", "f32[2048, 2048]", "a @ b")},
      {"linear",
       product("bf16[B, T, 1024]", "bf16[4096, 1024]", "gelu(linear(a, b))"),
       {{"B"_size, 8}, {"T"_size, 512}}},
      {"open",
       product("f16[B, M, K]", "f16[B, K, N]", "a @ b"),
       {{"B"_size, 48}, {"M"_size, 53}, {"K"_size, 256}, {"N"_size, 2392}}},
      {"odd", product("bf16[1000, 333]", "bf16[333, 777]", "a @ b")},
      {"few_rows", product("bf16[16, 4096]", "bf16[4096, 14336]", "a @ b")},
      {"small", product("bf16[256, 256, 64]", "bf16[256, 64, 256]", "relu(a @ b)")},
      {"int8_weights", product("bf16[64, 4096]", "i8[4096, 4096]", "linear(a, bf16(b))")},
      {"two",
       "input x: bf16[4096, 4096]\ninput w: bf16[4096, 11008]\ninput v: bf16[4096, 11008]\n"
       "return silu(x @ w) * (x @ v)\n"},
  };
  for (const int depth : {32, 64, 128, 256})
    for (const char* more : {"", ", causal=True"})
      rows.push_back({fmt::format("attention_{}{}", depth, *more ? "_causal" : ""),
                      attention(depth == 32 ? "f16" : "bf16", depth, more)});
  for (const int depth : {64, 128, 256})
    for (const char* more : {"", ", causal=True"})
      rows.push_back({fmt::format("gradients_of_attention_{}{}", depth, *more ? "_causal" : ""),
                      gradients_of_attention(depth, more)});
  for (const int depth : {40, 80, 128, 256})
    rows.push_back({fmt::format("attention_{}_of_77_keys", depth),
                    fmt::format("input q: f16[24, 8, 4096, {0}]\ninput k: f16[24, 8, 77, {0}]\n"
                                "input v: f16[24, 8, 77, {0}]\nreturn scaled_dot_product_attention(q, k, v)\n",
                                depth)});
  for (const int count : {2, 64})
    rows.push_back(
        {fmt::format("int8_groups_{}_rows", count),
         fmt::format("input x: bf16[{}, 4096]\ninput w: i8[14336, 4096]\ninput s: bf16[14336, 64]\n"
                     "return linear(x, (bf16(w).reshape(14336, 64, 64) * s[..., None]).reshape(14336, 4096))\n",
                     count)});
  rows.push_back({"attention_slopes", "input m: f32[16]\n" + attention("bf16", 128,
                                                                       ", causal=True, mask=-m[:, None, None] * "
                                                                       "f32(arange(4096)[:, None] - arange(4096))")});
  return rows;
}

// The log of NVRTC, with what the assembler reports.
std::string log_of(const runtime::Nvrtc& nvrtc, const std::string& source, int compute) {
  using Status = int;
  std::string why;
  const runtime::SharedLibrary library = runtime::open_library(nvrtc.path(), why);
  const runtime::Call<Status(void**, const char*, const char*, int, const char* const*, const char* const*)> create{
      library, "nvrtcCreateProgram"};
  const runtime::Call<Status(void*, int, const char* const*)> compile{library, "nvrtcCompileProgram"};
  const runtime::Call<Status(void*, size_t*)> size_of{library, "nvrtcGetProgramLogSize"};
  const runtime::Call<Status(void*, char*)> log{library, "nvrtcGetProgramLog"};
  const runtime::Call<Status(void**)> destroy{library, "nvrtcDestroyProgram"};
  std::vector<std::string> words = nvrtc.arguments(compute, {});
  words.push_back("--ptxas-options=-v");
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  void* program = nullptr;
  if (create(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0) return "no program";
  const Status status = compile(program, static_cast<int>(arguments.size()), arguments.data());
  size_t size = 0;
  size_of(program, &size);
  std::string text(size, '\0');
  log(program, text.data());
  destroy(&program);
  return status == 0 ? text : "refused: " + text;
}

class ProductsForGpu : public ::testing::Test {
 protected:
  virtual int compute() const { return 90; }
  void SetUp() override {
    std::string why;
    nvrtc_ = open_nvrtc(why);
    if (!nvrtc_) GTEST_SKIP() << "no NVRTC here: " << why;
    path_.emplace("SMELT_NVRTC", nvrtc_->path());
    cache_.emplace("SMELT_CACHE_DIR", (fs::path(SMELT_BINARY_DIR) / "test-kernels").string());
    device_ = Machine::cuda_architecture(compute());
    if (!device_.compiles()) GTEST_SKIP() << device_.missing;
  }
  Executable compiled(const Row& row) const {
    CompileOptions options;
    options.sizes = row.sizes;
    return compile(lang::parse_program(row.text, "<test>"), device_, options);
  }
  std::shared_ptr<runtime::Nvrtc> nvrtc_;
  std::optional<Variable> path_, cache_;
  Machine device_;
};

class ProductsCompileForGpu : public ProductsForGpu, public ::testing::WithParamInterface<int> {
  int compute() const override { return GetParam(); }
};

TEST_P(ProductsCompileForGpu, WhatIsPrinted) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    try {
      EXPECT_GT(compiled(row).kernels().size(), 0u);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

// "Potential Performance Loss: wgmma.mma_async instructions are serialized due to ..."
TEST_F(ProductsForGpu, LoseNoPerformance) {
  int boxes = 0;
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    const Executable executable = compiled(row);
    for (const kernel::Kernel& kernel : executable.kernels()) {
      if (kernel.fragments.empty()) continue;
      const std::string source = emit::emit_cuda(kernel, {90, nvrtc_->version()}).text;
      const std::string log = log_of(*nvrtc_, source, 90);
      EXPECT_EQ(log.find("Performance Loss"), std::string::npos) << log;
      EXPECT_NE(log.find("registers"), std::string::npos) << log;
      boxes += source.find("copy_box(") != std::string::npos;
    }
  }
  EXPECT_GT(boxes, 12);
}

// LoseNoPerformance compiles them for sm_90.
INSTANTIATE_TEST_SUITE_P(All, ProductsCompileForGpu, ::testing::Values(75, 80, 100),
                         [](const ::testing::TestParamInfo<int>& info) { return "sm_" + std::to_string(info.param); });

}  // namespace
}  // namespace smelt::testing

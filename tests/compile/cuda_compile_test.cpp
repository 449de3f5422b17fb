// What is printed for GPUs compiles, for every architecture that smelt supports; no GPU is needed.
// The programs are those of the golden files, and some that reach what those do not.
// SMELT_ROW=name: those alone of which that is a part of the name.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "frontends/language.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/programs.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

namespace fs = std::filesystem;

struct Row {
  const char* name;
  std::string text;
  SizeBinding sizes;
};

std::vector<Row> rows() {
  return {
      {"relu_layernorm", shared_program("relu_layernorm", {"f32[B, C]"}), {{"B"_size, 4096}, {"C"_size, 1024}}},
      {"long_rows", shared_program("relu_layernorm", {"f32[B, C]"}), {{"B"_size, 256}, {"C"_size, 131072}}},
      {"short_rows", shared_program("relu_layernorm", {"f32[B, C]"}), {{"B"_size, 1048576}, {"C"_size, 128}}},
      {"quantize_int8", shared_program("quantize_int8", {"f32[N]"}), {{"N"_size, 1000000}}},
      {"add_mul_exp", shared_program("add_mul_exp", {"f32[N]", "f32[N]"}), {{"N"_size, 1000000}}},
      {"softmax", shared_program("softmax_f32", {"bf16[B, C]"}), {{"B"_size, 512}, {"C"_size, 50257}}},
      {"column_sum", shared_program("colsum", {"f32[65536, 2048]"}), {}},
      {"total", shared_program("l2norm", {"f32[N]"}), {{"N"_size, 10000000}}},
      {"variance", shared_program("variance"), {}},
      {"argmax", shared_program("argmax", {"f16[B, 1000]"}), {{"B"_size, 64}}},
      {"transpose_add",
       shared_program("transpose_add", {"f32[M, N]", "f32[N, M]"}),
       {{"M"_size, 512}, {"N"_size, 768}}},
      {"concat", shared_program("concat"), {{"A"_size, 10}, {"B"_size, 20}}},
      {"concat_rows", shared_program("concat_rows"), {{"R"_size, 10000}}},
      {"take", shared_program("take"), {{"V"_size, 1000}, {"N"_size, 50}}},
      {"two_outputs", shared_program("two_outputs"), {{"N"_size, 100000}}},
      {"rmsnorm", shared_program("rmsnorm", {"bf16[B, 4096]", "bf16[4096]"}), {{"B"_size, 16}}},
      {"standardise", shared_program("standardise"), {}},
      {"gelu", shared_program("gelu"), {{"M"_size, 1024}, {"N"_size, 1024}}},
      {"cumsum", shared_program("cumsum_and_cummax"), {{"B"_size, 300}}},
      {"cumsum_any", shared_program("cumsum_any"), {{"B"_size, 300}, {"N"_size, 3001}}},
      {"top_p", shared_program("top_p"), {{"B"_size, 3000}}},
      {"scans_down", shared_program("scans_down"), {{"B"_size, 300}, {"N"_size, 3001}}},
      {"long_scan", shared_program("long_scan"), {{"N"_size, 1 << 25}}},
      {"chain", shared_program("chain"), {{"N"_size, 100000}}},
      {"doubles", shared_program("doubles"), {{"N"_size, 100000}}},
      {"integers", shared_program("integers"), {{"N"_size, 1000}}},
      {"conv", shared_program("conv"), {{"B"_size, 8}, {"H"_size, 128}, {"W"_size, 128}}},
      {"max_pool", shared_program("max_pool"), {{"B"_size, 8}, {"C"_size, 64}, {"H"_size, 128}, {"W"_size, 130}}},
      {"filter", shared_program("filter"), {{"H"_size, 1024}, {"W"_size, 1000}}},
      {"pool_rows", shared_program("pool_rows"), {{"H"_size, 512}, {"W"_size, 1000}}},
      {"list", shared_program("sigmoid_of_a_list"), {}},
      {"mixed_list", shared_program("mixed_list"), {{"A"_size, 777}, {"B"_size, 1024}}},
      {"rows_of_a_list", shared_program("rows_of_a_list"), {}},
      {"dropout", shared_program("dropout"), {{"N"_size, 100000000}}},
      {"draws", shared_program("draws"), {}},
      {"dropout_softmax", shared_program("dropout_softmax"), {{"B"_size, 512}, {"C"_size, 50257}}},
      {"embedding_gradient", shared_program("embedding_gradient"), {{"N"_size, 32768}}},
      {"histogram", shared_program("histograms"), {{"N"_size, 1 << 24}}},
      {"scatters", shared_program("scatters"), {{"R"_size, 1000}, {"C"_size, 7}, {"N"_size, 100000}}},
      {"scatters_of_others", shared_program("scatters_of_others"), {{"N"_size, 100000}}},
      {"blur_sobel", shared_program("blur_and_sobel"), {}},
      {"blur_sobel_any_size", shared_program("blur_and_sobel", {"bf16[H, W]"}), {{"H"_size, 1000}, {"W"_size, 1000}}},
      {"blur_sobel_doubles", shared_program("blur_and_sobel", {"f64[500, 333]"}), {}},
      {"bools", shared_program("bools"), {{"N"_size, 1000}}},
      {"bytes_in_clusters",
       "input x: i8[129, B]\nreturn x * 3, x - min(x, axis=(0, 1), keepdims=True)\n",
       {{"B"_size, 1025}}},
  };
}

class CompilesForGpu : public ::testing::TestWithParam<int> {};

TEST_P(CompilesForGpu, WhatIsPrinted) {
  std::string why;
  const auto nvrtc = open_nvrtc(why);
  if (!nvrtc) GTEST_SKIP() << "no NVRTC here: " << why;
  const Variable chosen("SMELT_NVRTC", nvrtc->path());
  // A cache in the build folder, so that unchanged programs are not compiled again.
  const fs::path folder = fs::path(SMELT_BINARY_DIR) / "test-kernels";
  const Variable cache("SMELT_CACHE_DIR", folder.string());
  const Machine device = Machine::cuda_architecture(GetParam());
  if (!device.compiles()) GTEST_SKIP() << device.missing;
  int compiled = 0;
  const char* only = std::getenv("SMELT_ROW");
  for (const Row& row : rows()) {
    if (only && std::string(row.name).find(only) == std::string::npos) continue;
    SCOPED_TRACE(row.name);
    // Unfused kernels for sm_80 are the text of those for sm_75, for sm_100 that of those for
    // sm_90.
    const bool own = GetParam() == 75 || GetParam() == 90;
    const std::vector<bool> forms = own ? std::vector<bool>{true, false} : std::vector<bool>{true};
    for (const bool fuse : forms) {
      CompileOptions options;
      options.sizes = row.sizes;
      options.fuse = fuse;
      try {
        const Executable executable = compile(lang::parse_program(row.text, "<test>"), device, options);
        compiled += static_cast<int>(executable.kernels().size());
      } catch (const std::exception& e) {
        ADD_FAILURE() << (fuse ? "fused: " : "unfused: ") << e.what();
      }
    }
  }
  EXPECT_GT(compiled, only ? 0 : 40);
}

INSTANTIATE_TEST_SUITE_P(All, CompilesForGpu, ::testing::Values(75, 80, 90, 100),
                         [](const ::testing::TestParamInfo<int>& info) { return "sm_" + std::to_string(info.param); });

}  // namespace
}  // namespace smelt::testing

// What is printed for GPUs compiles, for every architecture that smelt serves; no GPU is needed. The programs are those of the golden
// files, and some that reach what those do not. SMELT_ROW=name: those alone of which that is a part of the name.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "frontends/language.hpp"
#include "support/fake_cuda/open.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

namespace fs = std::filesystem;

struct Row {
  const char* name;
  const char* text;
  SizeBinding sizes;
};

const char* kBlurSobel = R"(
p = pad(x, 1)
rows = p[:, :-2] + p[:, 1:-1] + p[:, 2:]
blur = (rows[:-2] + rows[1:-1] + rows[2:]) / 9
b = pad(blur, 1)
across = b[:, 2:] - b[:, :-2]
gx = across[:-2] + 2 * across[1:-1] + across[2:]
along = b[:, :-2] + 2 * b[:, 1:-1] + b[:, 2:]
gy = along[2:] - along[:-2]
return blur, relu(sqrt(gx * gx + gy * gy) - 0.05)
)";
const std::string kBlurred = std::string("input x: f32[2048, 4096]") + kBlurSobel;
const std::string kBlurredAnySize = std::string("input x: bf16[H, W]") + kBlurSobel;
const std::string kBlurredDoubles = std::string("input x: f64[500, 333]") + kBlurSobel;

std::vector<Row> rows() {
  return {
      {"relu_layernorm", "input x: f32[B, C]\nreturn layernorm(relu(x))", {{"B"_size, 4096}, {"C"_size, 1024}}},
      {"long_rows", "input x: f32[B, C]\nreturn layernorm(relu(x))", {{"B"_size, 256}, {"C"_size, 131072}}},
      {"short_rows", "input x: f32[B, C]\nreturn layernorm(relu(x))", {{"B"_size, 1048576}, {"C"_size, 128}}},
      {"quantize_int8", "input x: f32[N]\nreturn int8(clamp(round(x / 4.2 + 1.2), -128, 127))", {{"N"_size, 1000000}}},
      {"add_mul_exp", "input x: f32[N]\ninput y: f32[N]\nreturn exp((x + y) * 2)", {{"N"_size, 1000000}}},
      {"softmax", "input x: bf16[B, C]\nreturn softmax(x)", {{"B"_size, 512}, {"C"_size, 50257}}},
      {"column_sum", "input x: f32[65536, 2048]\nreturn sum(relu(x), axis=0)", {}},
      {"total", "input x: f32[N]\nreturn sqrt(sum(x * x))", {{"N"_size, 10000000}}},
      {"variance", "input x: f32[100, 3]\nreturn var(x, axis=1)", {}},
      {"argmax", "input x: f16[B, 1000]\nreturn argmax(x, axis=-1)", {{"B"_size, 64}}},
      {"transpose_add", "input x: f32[M, N]\ninput y: f32[N, M]\nreturn x.T + y", {{"M"_size, 512}, {"N"_size, 768}}},
      {"concat",
       "input x: f32[A, 8]\ninput y: f32[B, 8]\nreturn concat([x, y], axis=0) * 2",
       {{"A"_size, 10}, {"B"_size, 20}}},
      {"concat_rows",
       "input x: f32[R, 500]\ninput y: bf16[R, 301]\nreturn concat([tanh(x), relu(f32(y)), x[:, ::-1]], axis=1)",
       {{"R"_size, 10000}}},
      {"take", "input x: f32[V, 64]\ninput i: i64[N]\nreturn take(x, i, axis=0)", {{"V"_size, 1000}, {"N"_size, 50}}},
      {"two_outputs", "input b: f32[N]\ninput c: f32[N]\na = b + c\nreturn a, a * b", {{"N"_size, 100000}}},
      {"rmsnorm", "input x: bf16[B, 4096]\ninput w: bf16[4096]\nreturn rmsnorm(x, w)", {{"B"_size, 16}}},
      {"standardise", "input x: f32[65536, 64]\nreturn (x - mean(x, axis=0)) / std(x, axis=0)", {}},
      {"gelu", "input x: bf16[M, N]\ninput b: bf16[N]\nreturn gelu(x + b)", {{"M"_size, 1024}, {"N"_size, 1024}}},
      {"cumsum", "input x: f32[B, 4096]\nreturn cumsum(x), cummax(x, reverse=True)", {{"B"_size, 300}}},
      {"cumsum_any",
       "input x: f16[B, N]\nreturn cumsum(relu(x), exclusive=True, restart=x > 1)",
       {{"B"_size, 300}, {"N"_size, 3001}}},
      {"top_p", "input x: f32[B, 1000]\nreturn cumsum(softmax(x)) < 0.9", {{"B"_size, 3000}}},
      {"scans_down",
       "input x: i8[B, N]\nreturn cumsum(x, axis=0), cumprod(x, axis=0, restart=x == 0)",
       {{"B"_size, 300}, {"N"_size, 3001}}},
      {"long_scan", "input x: f64[N]\nreturn cumsum(x), max(cummax(x))", {{"N"_size, 1 << 25}}},
      {"chain", "input x: f32[N]\nreturn tanh(tanh(x * 1.01 + 0.1) * 1.01 + 0.1)", {{"N"_size, 100000}}},
      {"doubles", "input x: f64[N]\nreturn sum(log(x) + sin(x) * erf(x))", {{"N"_size, 100000}}},
      {"integers", "input x: i32[N]\ninput y: i32[N]\nreturn x // y + x % y, i8(x), (x << 3) ^ y", {{"N"_size, 1000}}},
      {"conv",
       "input x: f32[B, 16, H, W]\ninput w: f32[16, 16, 3, 3]\ninput b: f32[16]\nreturn relu(conv(x, w, b, padding=1))",
       {{"B"_size, 8}, {"H"_size, 128}, {"W"_size, 128}}},
      {"max_pool",
       "input x: f16[B, C, H, W]\nreturn max_pool(relu(x), (2, 2))",
       {{"B"_size, 8}, {"C"_size, 64}, {"H"_size, 128}, {"W"_size, 130}}},
      {"filter",
       "input x: f32[H, W]\ninput k: f32[3, 3]\nreturn filter(x, k, mode='reflect')",
       {{"H"_size, 1024}, {"W"_size, 1000}}},
      {"pool_rows",
       "input x: f32[H, W]\nreturn softmax(avg_pool(x, (3, 3), stride=1, padding=1)), argmax(window(x, 50), axis=-1)",
       {{"H"_size, 512}, {"W"_size, 1000}}},
      {"list", "input xs: list[f32[65536], 64]\nreturn [sigmoid(2*x + 1) for x in xs]", {}},
      {"mixed_list",
       "input a: list[bf16[A], 2]; input b: list[f32[B, 3], 2]\nreturn [exp(x) for x in a], [x.T for x in b]",
       {{"A"_size, 777}, {"B"_size, 1024}}},
      {"rows_of_a_list",
       "input a: f32[4096, 256]; input b: f32[64, 256]; input c: f32[512, 256]\nreturn softmax(a), softmax(b), sum(c, "
       "axis=1)",
       {}},
      {"dropout", "input x: f32[N]\ninput seed: u64\nreturn dropout(relu(x), 0.1, seed)", {{"N"_size, 100000000}}},
      {"draws",
       "input seed: u64\nreturn uniform((5000, 1001), seed), normal((1000, 1024), seed), normal((5000001), seed, "
       "dtype=f64), "
       "random_bits((4, 6), seed).T, uniform((1000, 999), seed, dtype=f16)",
       {}},
      {"dropout_softmax",
       "input x: bf16[B, C]\ninput seed: u64\nreturn dropout(softmax(x), 0.1, seed)",
       {{"B"_size, 512}, {"C"_size, 50257}}},
      {"embedding_gradient",
       "input i: i32[N]\ninput g: f32[N, 1024]\nreturn segment_sum(g, i, 50257), segment_sum(f64(g), i, 50257)",
       {{"N"_size, 32768}}},
      {"histogram",
       "input x: f32[N]\ninput w: f32[N]\nreturn histogram(x, 256, 0, 1), bincount(i32(x), 60000, w)",
       {{"N"_size, 1 << 24}}},
      {"scatters",
       "input x: f32[R, C]\ninput i: i64[N]\ninput u: f32[N, C]\n"
       "return scatter_add(x, i, u), scatter(x, i, u, mode='drop'), scatter_max(x, i, u, mode='wrap'), scatter_mul(x, "
       "i, u)",
       {{"R"_size, 1000}, {"C"_size, 7}, {"N"_size, 100000}}},
      {"scatters_of_others",
       "input x: u8[500, 7]\ninput i: i64[N]\ninput u: f64[N]\ninput b: bf16[N]\n"
       "return scatter_add(x, i, 1), scatter_min(zeros(9, f64), i, u), scatter_max(zeros(9, bf16), i, b), "
       "scatter_add(zeros(99999), i, f32(u), deterministic=False), scatter_add(zeros(9, f64), i, u, "
       "deterministic=False)",
       {{"N"_size, 100000}}},
      {"blur_sobel", kBlurred.c_str(), {}},
      {"blur_sobel_any_size", kBlurredAnySize.c_str(), {{"H"_size, 1000}, {"W"_size, 1000}}},
      {"blur_sobel_doubles", kBlurredDoubles.c_str(), {}},
      {"bools", "input x: f32[N]\nreturn x > 0, where(x > 1, x, -x), max(x) > 2", {{"N"_size, 1000}}},
  };
}

class CompilesForGpu : public ::testing::TestWithParam<int> {};

TEST_P(CompilesForGpu, WhatIsPrinted) {
  std::string why;
  const auto nvrtc = open_nvrtc(why);
  if (!nvrtc) GTEST_SKIP() << "no NVRTC here: " << why;
  const Variable chosen("SMELT_NVRTC", nvrtc->path());
  // Of the build folder, so that what did not change is not compiled again.
  const fs::path folder = fs::path(SMELT_BINARY_DIR) / "test-kernels";
  const Variable cache("SMELT_CACHE_DIR", folder.string());
  const Machine device = Machine::cuda_architecture(GetParam());
  if (!device.compiles()) GTEST_SKIP() << device.missing;
  int compiled = 0;
  const char* only = std::getenv("SMELT_ROW");
  for (const Row& row : rows()) {
    if (only && std::string(row.name).find(only) == std::string::npos) continue;
    SCOPED_TRACE(row.name);
    for (const bool fuse : {true, false}) {
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

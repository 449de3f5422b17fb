// Products on matrix units whose factors are less than f32: parts in bf16, and floats of 8 bits.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "emulated_gpu.hpp"

namespace smelt::testing {
namespace {

class EmulatedPrecision : public EmulatedGpu {};

// Products of f32 that may be less exact: parts in bf16 on matrix units, made for sizes where those
// pay.
TEST_F(EmulatedPrecision, PartsInBf16) {
  for (const char* last :
       {"matmul(a, b, precision='bf16x3')", "relu(linear(at.T, bt, c, precision='tf32'))",
        "einsum('km,nk->nm', at, bt, precision='bf16x3')", "matmul(a, f8_e4m3(b), precision='tf32')"}) {
    const std::string program = fmt::format(
        "input a: f32[M, K]\ninput b: f32[K, N]\ninput at: f32[K, M]\ninput bt: f32[N, K]\ninput c: f32[N]\nreturn "
        "{}\n",
        last);
    std::vector<std::vector<Tensor>> keep;
    std::vector<std::vector<TensorView>> calls;
    for (const auto& [m, k, n] : {std::tuple<int64_t, int64_t, int64_t>{33, 40, 66}, {130, 35, 8}})
      keep.push_back({noise(DType::F32, {m, k}, 1), noise(DType::F32, {k, n}, 2), noise(DType::F32, {k, m}, 3),
                      noise(DType::F32, {n, k}, 4), noise(DType::F32, {n}, 5)});
    for (const auto& k : keep) calls.push_back({k[0], k[1], k[2], k[3], k[4]});
    check_calls(program, calls, {{"M"_size, 5000}, {"K"_size, 512}, {"N"_size, 5000}});
  }
}

class EmulatedHopperPrecision : public EmulatedGpu {
 protected:
  int major() const override { return 9; }
  // Whether a product has factors of f32 that become several bf16.
  static bool has_parts(const Executable& executable) {
    const auto& groups = executable.plan().groups;
    return std::any_of(groups.begin(), groups.end(), [](const auto& group) {
      if (!group.schedule || !group.schedule->product) return false;
      const schedule::Product& product = *group.schedule->product;
      return product.units && product.sums[0].in_parts();
    });
  }
  Tensor run_in_parts(const std::string& program, const std::vector<TensorView>& inputs) {
    const Executable executable = compile(lang::parse_program(program, "parts.smelt"), gpu_.machine, {});
    EXPECT_TRUE(has_parts(executable));
    return executable.run(inputs)[0];
  }
};

// Factors of f32 as bf16 that add up to them: in every order of their axes, computed ones, ones
// that fewer parts hold, two products together, numbers of every size and what is none.
TEST_F(EmulatedHopperPrecision, FactorsOfF32) {
  for (const char* last : {"a @ b", "relu(linear(at.T, bt, c))", "einsum('km,nk->nm', at, bt)",
                           "exp(-abs(a)) @ f32(h).T", "f32(a16) @ b", "silu(a @ b) * linear(a, bt)"}) {
    const std::string program = fmt::format(
        "input a: f32[M, K]\ninput b: f32[K, N]\ninput at: f32[K, M]\ninput bt: f32[N, K]\ninput c: f32[N]\n"
        "input h: bf16[N, K]\ninput a16: f16[M, K]\nreturn {}\n",
        last);
    std::vector<std::vector<Tensor>> keep;
    std::vector<std::vector<TensorView>> calls;
    for (const auto& [m, k, n] :
         {std::tuple<int64_t, int64_t, int64_t>{33, 40, 66}, {130, 35, 8}, {64, 256, 128}, {1, 1, 1}, {5, 0, 7}})
      for (const bool special : {false, true}) {
        const auto make = [&](DType t, const Dims& dims, uint64_t seed) {
          return special ? special_noise(t, dims, 1 + static_cast<double>(seed)) : noise(t, dims, seed);
        };
        keep.push_back({make(DType::F32, {m, k}, 1), make(DType::F32, {k, n}, 2), make(DType::F32, {k, m}, 3),
                        make(DType::F32, {n, k}, 4), make(DType::F32, {n}, 5), make(DType::BF16, {n, k}, 6),
                        make(DType::F16, {m, k}, 7)});
      }
    for (const auto& k : keep) calls.push_back({k[0], k[1], k[2], k[3], k[4], k[5], k[6]});
    const SizeBinding sizes{{"M"_size, 5000}, {"K"_size, 1024}, {"N"_size, 5000}};
    check_calls(program, calls, sizes);
    CompileOptions options;
    options.sizes = sizes;
    EXPECT_TRUE(has_parts(compile(lang::parse_program(program, "parts.smelt"), gpu_.machine, options))) << program;
  }
}

class EmulatedLargeHopper : public EmulatedHopperPrecision {
 protected:
  int processors() const override { return 132; }
};

// Images of f32 are taken apart as they lie, and windows show their parts.
TEST_F(EmulatedLargeHopper, ConvolutionsOfF32) {
  struct Convolution {
    const char* how;
    Dims image, weights;
  };
  for (const auto& [how, image, weights] :
       {Convolution{"conv(x, w, padding=1)", {2, 32, 13, 11}, {64, 32, 3, 3}},
        {"relu(conv(relu(x), w, padding=2, stride=2) + 1)", {2, 16, 21, 16}, {48, 16, 5, 5}},
        {"conv(permute(x, (0, 3, 1, 2)), w, padding=1)", {2, 15, 14, 24}, {56, 24, 3, 3}},
        {"conv(x, w, dilation=2), max(x)", {2, 24, 17, 19}, {96, 24, 3, 3}},
        {"conv(x, w, padding=2)", {3, 64, 50}, {128, 64, 5}}}) {
    CompileOptions options;
    options.sizes = {{"B"_size, 8000}};
    const std::string program =
        fmt::format("input x: f32[B, {}]\ninput w: f32[{}]\nreturn {}\n",
                    fmt::join(image.begin() + 1, image.end(), ", "), fmt::join(weights, ", "), how);
    check_calls(program,
                {{noise(DType::F32, image, 1), noise(DType::F32, weights, 2)},
                 {special_noise(DType::F32, image, 3), special_noise(DType::F32, weights)}},
                options.sizes);
    const Executable made = compile(lang::parse_program(program, "conv.smelt"), gpu_.machine, options);
    EXPECT_TRUE(has_parts(made)) << program;
    const auto& groups = made.plan().groups;
    EXPECT_TRUE(std::any_of(groups.begin(), groups.end(), [](const auto& group) {
      return group.schedule && group.schedule->product && !group.schedule->product->apart.empty();
    })) << program;
  }
}

// The phases of a transposed convolution are rows of a tile whose results are next to each other.
TEST_F(EmulatedLargeHopper, PhasesNextToEachOther) {
  const std::string program =
      "input x: f32[B, 128, 18]\ninput w: f32[128, 64, 16]\nn, c, h = x.shape\n"
      "z = pad(x[:, :, :, None], ((0, 0), (0, 0), (0, 0), (0, 7))).reshape(n, c, 8 * h)[:, :, :-7]\n"
      "return relu(conv1d(pad(z, ((0, 0), (0, 0), (11, 11))), flip(swapaxes(w, 0, 1), axis=2)))\n";
  const SizeBinding sizes{{"B"_size, 1000}};
  const Tensor w = noise(DType::F32, {128, 64, 16}, 2);
  check_calls(program, {{noise(DType::F32, {1, 128, 18}, 1), w}}, sizes);
  CompileOptions options;
  options.sizes = sizes;
  const Executable made = compile(lang::parse_program(program, "phases.smelt"), gpu_.machine, options);
  const auto& groups = made.plan().groups;
  EXPECT_TRUE(std::any_of(groups.begin(), groups.end(), [](const auto& group) {
    return group.schedule && group.schedule->product && group.schedule->product->run == 8;
  }));
}

// Numbers next to the largest one stay finite, as 0 times them is.
TEST_F(EmulatedHopperPrecision, LargestFactors) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  Tensor a = noise(DType::F32, {256, 256}, 1), b = noise(DType::F32, {256, 256}, 2);
  for (int64_t k = 0; k < 256; ++k) {
    static_cast<float*>(a.data)[3 * 256 + k] = k % 2 ? kLargest : -kLargest;
    static_cast<float*>(b.data)[k * 256 + 5] = 0;
  }
  const std::string program = "input a: f32[256, 256]\ninput b: f32[256, 256]\nreturn a @ b\n";
  const Tensor got = run_in_parts(program, {a, b});
  EXPECT_EQ(static_cast<const float*>(got.data)[3 * 256 + 5], 0);
}

// Whole numbers of 24 bits have exact sums.
TEST_F(EmulatedHopperPrecision, WholeNumbers) {
  std::vector<double> of_a, of_b;
  for (int64_t i = 0; i < 256 * 256; ++i) {
    of_a.push_back(static_cast<double>(i * 7919 % 2001 - 1000));
    of_b.push_back(static_cast<double>(i * 104729 % 101 - 50));
  }
  const Tensor a = array(DType::F32, {256, 256}, of_a), b = array(DType::F32, {256, 256}, of_b);
  const std::string program = "input a: f32[256, 256]\ninput b: f32[256, 256]\nreturn a @ b\n";
  const Tensor got = run_in_parts(program, {a, b});
  for (size_t i = 0; i < 256; ++i)
    for (size_t j = 0; j < 256; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 256; ++k) sum += of_a[i * 256 + k] * of_b[k * 256 + j];
      ASSERT_EQ(static_cast<const float*>(got.data)[i * 256 + j], sum) << i << ", " << j;
    }
}

// Floats of 8 bits become halves where they are staged.
TEST_F(EmulatedPrecision, FloatsOf8Bits) {
  for (const char* last : {"f32(a) @ f32(b)", "f32(at).T @ f32(h).T", "a @ b", "f32(relu(a)) @ f32(b)"})
    for (const DType t : {DType::F8E4M3, DType::F8E5M2}) {
      const std::string program =
          fmt::format("input a: {0}[M, K]\ninput b: {0}[K, N]\ninput at: {0}[K, M]\ninput h: bf16[N, K]\nreturn {1}\n",
                      name_of(t), last);
      std::vector<std::vector<Tensor>> keep;
      std::vector<std::vector<TensorView>> calls;
      for (const auto& [m, k, n] : {std::tuple<int64_t, int64_t, int64_t>{33, 40, 66}, {130, 35, 8}})
        keep.push_back({noise(t, {m, k}, 1), noise(t, {k, n}, 2), noise(t, {k, m}, 3), noise(DType::BF16, {n, k}, 4)});
      for (const auto& k : keep) calls.push_back({k[0], k[1], k[2], k[3]});
      const int64_t estimate = t == DType::F8E4M3 ? 5000 : 40;
      check_calls(program, calls, {{"M"_size, estimate}, {"K"_size, 64}, {"N"_size, estimate}});
    }
}

}  // namespace
}  // namespace smelt::testing

// Products of few rows on an emulated GPU, whose factors go to matrix units through registers.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "compile/state.hpp"
#include "emulated_gpu.hpp"

namespace smelt::testing {
namespace {

// As many multiprocessors as a large GPU has: what is chosen is what it would run.
class EmulatedSkinny : public EmulatedGpu {
 protected:
  int major() const override { return 9; }
  int processors() const override { return 132; }

  // The program is made for weights of `columns` x `inner`, as networks have them, and called with
  // small ones.
  void check_skinny(const std::string& program, int64_t rows, const std::vector<std::vector<TensorView>>& calls,
                    int64_t inner = 4096) {
    CompileOptions options;
    options.sizes = {{"M"_size, rows}, {"N"_size, 14336}, {"K"_size, inner}};
    const Graph graph = lang::parse_program(program, "skinny.smelt");
    const Executable made = compile(graph, gpu_.machine, options);
    const auto is_skinny = [](const plan::FusionGroup& group) {
      return group.schedule && group.schedule->product && group.schedule->product->skinny;
    };
    EXPECT_EQ(made.plan().groups.size(), 1u) << program;
    EXPECT_TRUE(std::all_of(made.plan().groups.begin(), made.plan().groups.end(), is_skinny)) << program << rows;
    check_calls(graph, calls, options.sizes);
  }
};

struct Sizes {
  int64_t rows, inner, columns;
};

// Weights of bytes with a scale for each column: whole tiles and their ends, parts of the inner
// axis and fewer terms than one, rows that begin anywhere.
TEST_F(EmulatedSkinny, WeightsOfBytes) {
  for (const int64_t rows : {5, 16, 40, 64}) {
    std::vector<std::vector<Tensor>> keep;
    for (const auto& [m, k, n] : {Sizes{rows, 1024, 128}, {rows, 528, 70}, {rows + 3, 77, 33}, {1, 16, 1}})
      keep.push_back({noise(DType::BF16, {m, k}, 1), noise(DType::I8, {n, k}, 2), noise(DType::BF16, {n}, 3)});
    std::vector<std::vector<TensorView>> calls;
    for (const auto& t : keep) calls.push_back({t[0], t[1], t[2]});
    check_skinny("input x: bf16[M, K]\ninput w: i8[N, K]\ninput s: bf16[N]\nreturn linear(x, bf16(w)) * s\n", rows,
                 calls);
  }
}

// A vector times a matrix that is computed, or of long rows, is one row of a tile.
TEST_F(EmulatedSkinny, OneRow) {
  std::vector<std::vector<Tensor>> keep;
  for (const auto& [m, k, n] : {Sizes{1, 1024, 128}, {1, 528, 70}, {1, 77, 33}})
    keep.push_back({noise(DType::F16, {m, k}, 1), noise(DType::I8, {n, k}, 2), noise(DType::F16, {n}, 3)});
  std::vector<std::vector<TensorView>> calls;
  for (const auto& t : keep) calls.push_back({t[0], t[1], t[2]});
  check_skinny("input x: f16[1, K]\ninput w: i8[N, K]\ninput s: f16[N]\nreturn linear(x, f16(w)) * s\n", 1, calls);
  check_skinny("input x: f16[1, K]\ninput w: i8[N, K]\ninput s: f16[N]\nreturn linear(x, f16(w) * s[:, None])\n", 1,
               calls, 1024);
}

// Two numbers of 4 bits in a byte, with a scale and a zero for each group of terms, which may be
// fewer than a warp reads at a time; parts of the inner axis that end early, where what is beyond
// is not read.
TEST_F(EmulatedSkinny, WeightsOfFourBits) {
  for (const auto& [m, groups, n, size] :
       {std::array<int64_t, 4>{4, 32, 64, 128}, {9, 17, 40, 128}, {3, 69, 48, 16}, {17, 35, 40, 32}, {1, 45, 40, 64}}) {
    const int64_t k = size * groups;
    const Tensor x = noise(DType::F16, {m, k}, 1), packed = noise(DType::U8, {n, k / 2}, 2),
                 scale = noise(DType::F16, {n, groups}, 3), zero = noise(DType::F16, {n, groups}, 4);
    const std::string program = fmt::format(
        "input x: f16[M, {0}]\ninput packed: u8[N, {1}]\ninput scale: f16[N, {2}]\ninput zero: f16[N, {2}]\n"
        "w = f16(stack((packed & 15, packed >> 4), axis=-1).reshape(-1, {2}, {3}))\n"
        "w = ((w - zero[..., None]) * scale[..., None]).reshape(-1, {0})\nreturn x @ w.T\n",
        k, k / 2, groups, size);
    check_skinny(program, m, {{x, packed, scale, zero}});
  }
}

// Factors of halves, computed ones on both sides, two products of the same rows, several outputs.
TEST_F(EmulatedSkinny, ComputedFactors) {
  for (const DType t : {DType::BF16, DType::F16}) {
    std::vector<std::vector<Tensor>> keep;
    for (const auto& [m, k, n] : {Sizes{16, 512, 64}, {7, 200, 50}})
      keep.push_back({noise(t, {m, k}, 1), noise(DType::I8, {n, k}, 2), noise(DType::I8, {n, k}, 3), noise(t, {k}, 4)});
    std::vector<std::vector<TensorView>> calls;
    for (const auto& one : keep) calls.push_back({one[0], one[1], one[2], one[3]});
    const std::string inputs =
        fmt::format("input x: {0}[M, K]\ninput v: i8[N, K]\ninput w: i8[N, K]\ninput g: {0}[K]\n", name_of(t));
    for (const std::string last : {"silu(linear(x * g, {0}(w))) * linear(x * g, {0}(v))",
                                   "relu(linear(x, {0}(v) * g)), f32(linear(x, {0}(v) * g)) + 1"})
      check_skinny(inputs + "return " + fmt::format(fmt::runtime(last), name_of(t)) + "\n", 16, calls);
  }
}

// What is beyond the terms is read as 0, whose quotient is infinite.
TEST_F(EmulatedSkinny, WeightsThatAreInfiniteOfNothing) {
  std::vector<std::vector<Tensor>> keep;
  for (const auto& [m, k, n] : {Sizes{16, 512, 64}, {7, 208, 50}}) {
    std::vector<double> values;
    for (int64_t e = 0; e < n * k; ++e) values.push_back(static_cast<double>(e * 37 % 255 + 1));
    keep.push_back({noise(DType::BF16, {m, k}, 1), array(DType::U8, {n, k}, values)});
  }
  std::vector<std::vector<TensorView>> calls;
  for (const auto& one : keep) calls.push_back({one[0], one[1]});
  check_skinny("input x: bf16[M, K]\ninput w: u8[N, K]\nreturn linear(x, bf16(1 / f32(w)))\n", 16, calls);
}

}  // namespace
}  // namespace smelt::testing

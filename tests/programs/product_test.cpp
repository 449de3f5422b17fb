// Products of matrices and what surrounds them.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "frontends/language.hpp"
#include "graph/bounds.hpp"
#include "run.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

// Both tiles and loops of other families, ends of tiles, and axes of one element.
TEST(Product, EveryEndOfATile) {
  NEEDS_LLVM();
  std::vector<std::vector<Tensor>> tensors;
  for (const int64_t m : {97, 1, 4, 11, 12, 13})
    for (const int64_t n : {129, 1, 8, 31, 33})
      for (const int64_t k : {257, 1, 8, 16, 17})
        tensors.push_back({noise(DType::F32, {m, k}, 1), noise(DType::F32, {k, n}, 2)});
  std::vector<std::vector<TensorView>> calls;
  for (const auto& t : tensors) calls.push_back({t[0], t[1]});
  EXPECT_TRUE(right("input a: f32[M, K]\ninput b: f32[K, N]\nreturn a @ b\n", calls));
}

// Blocks of known sizes read factors where they lie, and end with as many rows and columns as there
// are. Inner axes of two parts, several tiles, lines that are one set of a cache.
TEST(Product, FactorsWhereTheyLie) {
  NEEDS_LLVM();
  const std::tuple<int64_t, int64_t, int64_t> sizes[] = {{32, 32, 32},  {13, 31, 16},  {25, 40, 64},  {12, 33, 257},
                                                         {300, 24, 40}, {26, 300, 20}, {600, 70, 12}, {16, 1024, 9},
                                                         {4, 8, 1024},  {17, 49, 530}};
  for (const auto& [m, n, k] : sizes)
    for (const DType t : {DType::F32, DType::F64}) {
      const Tensor a = noise(t, {m, k}, 1), b = noise(t, {k, n}, 2), at = noise(t, {k, m}, 3), bt = noise(t, {n, k}, 4),
                   wide = noise(t, {m, k + 3}, 5);
      for (const char* last : {"a @ b", "at.T @ b", "a @ bt.T", "wide[:, 1:-2] @ b", "a[::-1] @ b, a @ (b + b)"})
        EXPECT_TRUE(right(fmt::format("input a: {0}[{1}, {3}]\ninput b: {0}[{3}, {2}]\ninput at: {0}[{3}, {1}]\n"
                                      "input bt: {0}[{2}, {3}]\ninput wide: {0}[{1}, {4}]\nreturn {5}\n",
                                      name_of(t), m, n, k, k + 3, last),
                          {a, b, at, bt, wide}))
            << name_of(t) << " " << m << " x " << n << " x " << k << ": " << last;
    }
}

TEST(Product, EveryOrderOfTheAxes) {
  NEEDS_LLVM();
  const Tensor a = noise(DType::F32, {37, 45}, 1), b = noise(DType::F32, {45, 70}, 2),
               at = noise(DType::F32, {45, 37}, 3), bt = noise(DType::F32, {70, 45}, 4);
  const std::string inputs = "input a: f32[M, K]\ninput b: f32[K, N]\ninput at: f32[K, M]\ninput bt: f32[N, K]\n";
  for (const char* last : {"a @ b", "at.T @ b", "a @ bt.T", "at.T @ bt.T", "(a @ b).T", "linear(a, bt)", "b.T @ a.T",
                           "a[::-1] @ b[:, ::2]", "einsum('ij,jk->ki', a, b)", "tensordot(at, bt, axes=((0,), (1,)))"})
    EXPECT_TRUE(right(inputs + "return " + last + "\n", {a, b, at, bt})) << last;
}

TEST(Product, EveryDtype) {
  NEEDS_LLVM();
  for (const DType t : {DType::F32, DType::F64, DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2, DType::I8,
                        DType::U8, DType::I32, DType::U32, DType::I64, DType::Bool}) {
    const Tensor a = noise(t, {21, 40}, 1), b = noise(t, {40, 50}, 2);
    EXPECT_TRUE(right(fmt::format("input a: {0}[M, K]\ninput b: {0}[K, N]\nreturn a @ b\n", name_of(t)), {a, b}))
        << name_of(t);
  }
}

TEST(Product, Batches) {
  NEEDS_LLVM();
  const Tensor a = noise(DType::F32, {3, 2, 20, 33}, 1), b = noise(DType::F32, {2, 33, 40}, 2),
               c = noise(DType::F32, {33, 40}, 3), d = noise(DType::F32, {3, 1, 33, 40}, 4),
               v = noise(DType::F32, {33}, 5);
  const std::string inputs =
      "input a: f32[3, 2, M, K]\ninput b: f32[2, K, N]\ninput c: f32[K, N]\ninput d: f32[3, 1, K, N]\ninput v: "
      "f32[K]\n";
  for (const char* last : {"a @ b", "a @ c", "a @ d", "a @ v", "v @ c", "v @ b", "einsum('...ij,jk->...ik', a, c)",
                           "einsum('abij,bjk->abik', a, b)", "einsum('abij,bjk->ik', a, b)", "a @ d + a @ b"})
    EXPECT_TRUE(right(inputs + "return " + last + "\n", {a, b, c, d, v})) << last;
}

// Two inner axes of which the last is the line of a tile.
TEST(Product, OneLineOfTheInnerAxes) {
  NEEDS_LLVM();
  for (const int64_t line : {256, 128, 64, 16})
    EXPECT_TRUE(right(fmt::format("input x: f32[2, 8, {0}]\ninput g: f32[2, 32, {0}]\n"
                                  "return einsum('ncp,nop->oc', x, g)\n",
                                  line),
                      {noise(DType::F32, {2, 8, line}, 1), noise(DType::F32, {2, 32, line}, 2)}))
        << line;
}

TEST(Product, WhatStandsAround) {
  NEEDS_LLVM();
  const Tensor a = noise(DType::F32, {50, 64}, 1), b = noise(DType::F32, {64, 48}, 2), c = noise(DType::F32, {48}, 3),
               r = noise(DType::F32, {50, 48}, 4), q = noise(DType::I8, {64, 48}, 5), s = noise(DType::F32, {48}, 6),
               ids = noise(DType::I64, {30}, 7), g = noise(DType::F32, {64}, 8), w = noise(DType::F32, {64, 48}, 9);
  const std::string inputs =
      "input a: f32[M, K]\ninput b: f32[K, N]\ninput c: f32[N]\ninput r: f32[M, N]\ninput q: i8[K, N]\ninput s: "
      "f32[N]\n"
      "input ids: i64[L]\ninput g: f32[K]\ninput w: f32[K, N]\n";
  for (const char* last : {"gelu(a @ b + c)",
                           "r + relu(a @ b) * 0.5",
                           "a @ (f32(q) * s)",
                           "take(a, ids % 50, axis=0) @ b",
                           "layernorm(a, g) @ b",
                           "rmsnorm(a, g) @ b + c",
                           "softmax(a @ b)",
                           "max(abs(a @ b), axis=-1)",
                           "silu(a @ b) * (a @ w)",
                           "a @ b, a @ b * 2, r",
                           "sum(a @ b, axis=0)",
                           "relu(a) @ pad(b, ((0, 0), (1, 1)))",
                           "concat((a, a)) @ b",
                           "(a @ b) @ (a @ b).T",
                           "int8(clamp(round(a @ b), -128, 127))",
                           "cumsum(a @ b, axis=1)",
                           "sum(a[:, :, None] * b[None], axis=1)",
                           "tril(a[:48, :48]) @ b[:48]",
                           "where(r > 0, a @ b, 0)",
                           "roll(a @ b, 1, axis=0)",
                           "(a @ b)[3:, ::2]"})
    EXPECT_TRUE(right(inputs + "return " + last + "\n", {a, b, c, r, q, s, ids, g, w})) << last;
}

TEST(Product, NothingToAddUp) {
  NEEDS_LLVM();
  const std::string program = "input a: f32[M, K]\ninput b: f32[K, N]\nreturn a @ b + 1\n";
  EXPECT_TRUE(right(program, {noise(DType::F32, {30, 0}), noise(DType::F32, {0, 40})}));
  EXPECT_TRUE(right(program, {noise(DType::F32, {0, 30}), noise(DType::F32, {30, 40})}));
  EXPECT_TRUE(right(program, {noise(DType::F32, {30, 40}), noise(DType::F32, {40, 0})}));
}

// One nan makes nan of its row, an infinity of both signs too; what lies beyond the rows of a tile
// makes nothing.
TEST(Product, NanAndInfinity) {
  NEEDS_LLVM();
  const Tensor a = noise(DType::F32, {29, 40}, 1), b = noise(DType::F32, {40, 35}, 2);
  auto* data = static_cast<float*>(a.data);
  data[0] = std::numeric_limits<float>::quiet_NaN();
  data[45] = std::numeric_limits<float>::infinity();
  data[40 * 28 + 39] = -std::numeric_limits<float>::infinity();
  EXPECT_TRUE(right("input a: f32[M, K]\ninput b: f32[K, N]\nreturn a @ b\n", {a, b}));
}

TEST(Product, OneExecutableForAllSizes) {
  NEEDS_LLVM();
  std::vector<std::vector<Tensor>> tensors;
  std::vector<std::vector<TensorView>> calls;
  for (const auto& [m, k, n] :
       {std::tuple<int64_t, int64_t, int64_t>{100, 50, 60}, {2, 300, 3}, {1, 1, 1}, {300, 20, 7}, {64, 512, 64}})
    tensors.push_back({noise(DType::F32, {m, k}, 1), noise(DType::F32, {k, n}, 2), noise(DType::F32, {n}, 3)});
  for (const auto& t : tensors) calls.push_back({t[0], t[1], t[2]});
  EXPECT_TRUE(right("input a: f32[M, K]\ninput b: f32[K, N]\ninput c: f32[N]\nreturn relu(a @ b + c)\n", calls));
}

TEST(Product, Attention) {
  NEEDS_LLVM();
  const Tensor q = noise(DType::F32, {2, 4, 19, 16}, 1), k = noise(DType::F32, {2, 4, 35, 16}, 2),
               v = noise(DType::F32, {2, 4, 35, 24}, 3), k2 = noise(DType::F32, {2, 2, 35, 16}, 4),
               v2 = noise(DType::F32, {2, 2, 35, 24}, 5), m = noise(DType::F32, {19, 35}, 6);
  const std::string inputs =
      "input q: f32[2, 4, L, 16]\ninput k: f32[2, 4, S, 16]\ninput v: f32[2, 4, S, 24]\ninput k2: f32[2, 2, S, 16]\n"
      "input v2: f32[2, 2, S, 24]\ninput m: f32[L, S]\n";
  for (const char* last : {"attention(q, k, v)", "attention(q, k, v, causal=True)", "attention(q, k, v, mask=m)",
                           "attention(q, k, v, mask=m > 3.5, scale=0.5)", "attention(q, k2, v2, causal=True)"})
    EXPECT_TRUE(right(inputs + "return " + last + "\n", {q, k, v, k2, v2, m})) << last;
}

TEST(Product, RowsThatSeeNothingAreZero) {
  NEEDS_LLVM();
  const Tensor q = noise(DType::F32, {5, 16}, 1), k = noise(DType::F32, {7, 16}, 2), v = noise(DType::F32, {7, 8}, 3),
               m = filled(DType::Bool, {5, 7}, 0);
  static_cast<bool*>(m.data)[7] = true;
  const Tensor got =
      run("input q: f32[L, 16]\ninput k: f32[S, 16]\ninput v: f32[S, 8]\ninput m: bool[L, S]\n"
          "return attention(q, k, v, mask=m)\n",
          {q, k, v, m});
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(number(got, i), 0);
    EXPECT_EQ(number(got, 8 + i), number(v, i));
  }
}

// Gradients are products of other axes of the same arrays.
TEST(Product, Gradients) {
  NEEDS_LLVM();
  const Tensor a = noise(DType::F32, {40, 33}, 1), b = noise(DType::F32, {33, 50}, 2), c = noise(DType::F32, {50}, 3);
  const std::string inputs = "input a: f32[M, K]\ninput b: f32[K, N]\ninput c: f32[N]\n";
  for (const char* last :
       {"gradient(sum(tanh(a @ b * 0.01 + c)), (a, b, c))", "gradient(mean(softmax(a @ b * 0.01)[:, 0]), (a, b))"})
    EXPECT_TRUE(right(inputs + "g = " + last + "\nreturn g\n", {a, b, c})) << last;
}

// Whether the first kernel of a program has this operation.
bool has_operation(const std::string& program, const std::string& name) {
  return kernel::print(compiled(program).kernels()[0]).find(name) != std::string::npos;
}

// Runs tests on the device, and on it without matrix units, if it is a CPU that has some.
class WithAndWithoutTiles : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam() && !machine_.facts.tiles) GTEST_SKIP() << "it has no matrix units";
    machine_.facts.tiles = GetParam() && machine_.facts.tiles;
    on_.emplace(machine_);
  }
  static bool has_tiles() { return !device().is_gpu && device().facts.tiles; }

 private:
  Machine machine_ = device();
  std::optional<RunOn> on_;
};
INSTANTIATE_TEST_SUITE_P(Product, WithAndWithoutTiles, ::testing::Bool());

// Pairs of bf16: ends of words and of parts, factors of every order, sizes that are known only when
// it is called.
TEST_P(WithAndWithoutTiles, DotProductsOfBf16) {
  NEEDS_LLVM();
  const DType t = DType::BF16;
  const std::string inputs =
      "input a: bf16[M, K]\ninput b: bf16[K, N]\ninput at: bf16[K, M]\ninput bt: bf16[N, K]\ninput c: bf16[N]\n";
  for (const char* last :
       {"a @ b", "at.T @ bt.T", "relu(linear(a, bt, c))", "f32(-a) @ f32(b)", "sigmoid(a @ b) * (a @ bt.T)"}) {
    const std::string program = inputs + "return " + last + "\n";
    if ((device().facts.dot_bf16 || has_tiles()) && !device().is_gpu) {
      EXPECT_TRUE(has_operation(program, has_tiles() ? "tiles from" : "dot_bf16")) << last;
    }
    for (const int64_t k : {1, 17, 40, 513, 1025}) {
      const Tensor a = noise(t, {13, k}, 1), b = noise(t, {k, 35}, 2), at = noise(t, {k, 13}, 3),
                   bt = noise(t, {35, k}, 4), c = noise(t, {35}, 5);
      EXPECT_TRUE(right(program, std::vector<TensorView>{a, b, at, bt, c})) << last << " " << k;
    }
  }
}

// Lanes along the inner axes: blocks of rows and columns, what is left of both, and ends of lanes
// and parts.
TEST(Product, FewRows) {
  NEEDS_LLVM();
  for (const int64_t rows : {2, 5, 7, 16}) {
    for (const DType t : {DType::F32, DType::F64, DType::BF16, DType::F16, DType::I32})
      for (const int64_t k : {300, 2051}) {
        if (rows != 7 && (k > 300 || t != DType::F32)) continue;
        const Tensor a = noise(t, {rows, k}, 1), w = noise(t, {37, k}, 2), v = noise(t, {37, k}, 3),
                     q = noise(DType::I8, {37, k}, 4);
        const std::string inputs =
            fmt::format("input a: {0}[{1}, {2}]\ninput w: {0}[37, {2}]\ninput v: {0}[37, {2}]\ninput q: i8[37, {2}]\n",
                        name_of(t), rows, k);
        for (const std::string& last : {std::string("linear(a, w)"), std::string("linear(a, w) * 2, linear(a + a, v)"),
                                        fmt::format("linear(a, {}(q))", name_of(t))})
          EXPECT_TRUE(right(inputs + "return " + last + "\n", {a, w, v, q})) << last << rows << name_of(t);
      }
  }
}

// Weights of 4 bits, two to a byte, with scales of groups: read along the inner axis, in few rows,
// in several blocks of rows that share what is staged, and in rows that fill tiles.
TEST(Product, WeightsThatAreUnpacked) {
  NEEDS_LLVM();
  for (const int64_t rows : {1, 4, 7, 16, 70})
    for (const int64_t groups : {1, 9, 40}) {
      const Tensor a = noise(DType::F16, {rows, 64 * groups}, 1), p = noise(DType::U8, {37, 32 * groups}, 2),
                   s = noise(DType::F16, {37, groups}, 3), z = noise(DType::F16, {37, groups}, 4);
      if (rows == 7) static_cast<uint16_t*>(s.data)[0] = 0x7e00;  // nan
      const std::string text = fmt::format(
          "input a: f16[{0}, {2}]\ninput p: u8[37, {3}]\ninput s: f16[37, {1}]\ninput z: f16[37, {1}]\n"
          "w = f16(stack((p & 15, p >> 4), axis=-1).reshape(37, {1}, 64))\n"
          "w = ((w - z[..., None]) * s[..., None]).reshape(37, {2})\n"
          "return a @ w.T, relu(linear(a * 2, w))\n",
          rows, groups, 64 * groups, 32 * groups);
      EXPECT_TRUE(right(text, {a, p, s, z})) << rows << " " << groups;
    }
}

// Sizes that are known only at a call: more rows than were expected, one, none, and fewer terms
// than lanes.
TEST(Product, FewRowsOfAnySize) {
  NEEDS_LLVM();
  const Graph graph = lang::parse_program(
      "input a: f32[M, K]\ninput w: f32[N, K]\ninput b: f32[N]\nreturn relu(linear(a, w, b))\n", "rows.smelt");
  CompileOptions options;
  options.sizes = {{"M"_size, 5}, {"N"_size, 100}, {"K"_size, 1000}};
  const Executable executable = compile(graph, device(), options);
  for (const auto& [m, k, n] : {std::tuple<int64_t, int64_t, int64_t>{5, 1000, 100},
                                {70, 130, 50},
                                {1, 2049, 3},
                                {0, 10, 10},
                                {6, 0, 7},
                                {4, 5, 0},
                                {13, 7, 97}}) {
    const Tensor a = noise(DType::F32, {m, k}, 1), w = noise(DType::F32, {n, k}, 2), b = noise(DType::F32, {n}, 3);
    const std::vector<Bounded> expected = interpret_bounded(graph, {a, w, b}, device().is_gpu);
    EXPECT_EQ(differences(executable.run({a, w, b})[0], expected[0]), "") << m << " " << k << " " << n;
  }
  for (const kernel::Kernel& k : executable.kernels()) EXPECT_FALSE(k.clamped);
}

// Factors that operations of bf16 make are f32 until they are stored: words of bf16 would round
// them.
TEST(Product, FactorsThatAreNotRounded) {
  NEEDS_LLVM();
  const Tensor a = noise(DType::BF16, {24, 64}, 1), b = noise(DType::BF16, {64, 40}, 2);
  const std::string inputs = "input a: bf16[M, K]\ninput b: bf16[K, N]\n";
  for (const char* last : {"a @ (b + 1)", "(a * 1.0078125) @ b", "sigmoid(a) @ b", "a @ where(b > 0, b * 3, b)"}) {
    const std::string program = inputs + "return f32(" + last + ")\n";
    EXPECT_TRUE(right(program, {a, b})) << last;
  }
  for (const char* last : {"a @ relu(b)", "a @ -b", "rmsnorm(a) @ b", "a[::-1] @ pad(b, ((0, 0), (1, 2)))"}) {
    const std::string program = inputs + "return " + last + "\n";
    EXPECT_TRUE(right(program, {a, b})) << last;
  }
}

// Bytes by bytes: all signs, the ends of their ranges, and sums beyond 16 bits.
TEST_P(WithAndWithoutTiles, DotProductsOfBytes) {
  NEEDS_LLVM();
  const auto ends = [](DType t, const Dims& dims) {
    Tensor x = Tensor::empty(t, dims);
    for (int64_t i = 0; i < x.count(); ++i)
      static_cast<uint8_t*>(x.data)[i] = static_cast<uint8_t>(i % 7 == 0 ? i : i % 3 == 0 ? 127 : 128);
    return x;
  };
  for (const auto& [rows, columns] :
       {std::pair{DType::I8, DType::I8}, {DType::U8, DType::I8}, {DType::I8, DType::U8}, {DType::U8, DType::U8}})
    for (const std::string last : {"i32(a) @ i32(b)", "linear(i32(a), i32(b.T.reshape(N, K)))", "i64(a) @ i64(b)"}) {
      const std::string program =
          fmt::format("input a: {}[M, K]\ninput b: {}[K, N]\nreturn {}\n", name_of(rows), name_of(columns), last);
      const bool dots = device().facts.dot_bytes && !device().is_gpu && is_signed_int(std::min(rows, columns));
      const bool tiles = has_tiles() && !last.starts_with("i64");  // which hold sums in 32 bits
      if (dots || tiles) {
        EXPECT_TRUE(has_operation(program, tiles ? "tiles from" : "dot_bytes")) << program;
      }
      for (const int64_t k : {3, 40, 1026})
        EXPECT_TRUE(right(program, {ends(rows, {13, k}), ends(columns, {k, 35})})) << program << k;
    }
}

// Rows of arrays that are multiplied where they lie: blocks of two tiles and of one, several parts
// and tiles, heads that lie between the rows, and what reads the rows again.
TEST_P(WithAndWithoutTiles, RowsWhereTheyLie) {
  NEEDS_LLVM();
  const std::tuple<int64_t, int64_t, int64_t> sizes[] = {{48, 35, 64}, {16, 70, 1088}, {1040, 33, 128}, {80, 90, 96}};
  for (const auto& [m, n, k] : sizes)
    for (const std::string last :
         {"a @ b", "a @ b[:, ::-1] + a @ b", "linear(a, bt) + sum(a, axis=1, keepdims=True)"}) {
      const std::string program = fmt::format(
          "input a: bf16[{0}, {2}]\ninput b: bf16[{2}, {1}]\ninput bt: bf16[{1}, {2}]\nreturn {3}\n", m, n, k, last);
      if (has_tiles() && last.starts_with("a")) {
        EXPECT_TRUE(has_operation(program, "bf16 from in")) << program;
      }
      EXPECT_TRUE(
          right(program, {noise(DType::BF16, {m, k}, 1), noise(DType::BF16, {k, n}, 2), noise(DType::BF16, {n, k}, 3)}))
          << program;
    }
  EXPECT_TRUE(
      right("input q: bf16[2, 48, 3, 64]\ninput k: bf16[2, 40, 3, 64]\n"
            "return q.transpose(0, 2, 1, 3) @ k.transpose(0, 2, 3, 1)\n",
            {noise(DType::BF16, {2, 48, 3, 64}, 1), noise(DType::BF16, {2, 40, 3, 64}, 2)}));
  EXPECT_TRUE(right("input a: u8[32, 128]\ninput b: i8[128, 40]\nreturn i32(a) @ i32(b)\n",
                    {noise(DType::U8, {32, 128}, 1), noise(DType::I8, {128, 40}, 2)}));
}

// Blocks of tiles that stand upright, lie, or are square; what goes over; several parts; lines of
// pixels; sums that share a factor; nan and infinity beside zeros that fill tiles.
TEST_P(WithAndWithoutTiles, BlocksOfTiles) {
  NEEDS_LLVM();
  const DType t = DType::BF16;
  for (const auto& [m, k, n] :
       {std::tuple<int64_t, int64_t, int64_t>{70, 31, 16}, {16, 31, 70}, {33, 33, 33}, {64, 64, 64}, {300, 1100, 40}}) {
    Tensor a = noise(t, {m, k}, 1);
    const Tensor b = noise(t, {k, n}, 2), c = noise(t, {k, n}, 3);
    static_cast<uint16_t*>(a.data)[k - 1] = 0x7fc0;      // nan
    static_cast<uint16_t*>(a.data)[2 * k - 1] = 0xff80;  // -inf
    static_cast<uint16_t*>(a.data)[2 * k] = 0x0001;      // subnormal
    for (const char* last : {"f32(a @ b)", "sigmoid(a @ b) * (a @ c)", "(a @ b).T"})
      EXPECT_TRUE(right(fmt::format("input a: bf16[{0}, {1}]\ninput b: bf16[{1}, {2}]\ninput c: bf16[{1}, {2}]\n"
                                    "return {3}\n",
                                    m, k, n, last),
                        {a, b, c}))
          << last << m << " " << k << " " << n;
  }
  const Tensor x = noise(t, {2, 5, 13, 19}, 1), w = noise(t, {40, 5, 3, 3}, 2);
  for (const char* last : {"conv(x, w)", "conv(x, w, padding=1, stride=2)", "relu(conv(transpose(x, 0, 1, 3, 2), w))"})
    EXPECT_TRUE(
        right(std::string("input x: bf16[2, 5, 13, 19]\ninput w: bf16[40, 5, 3, 3]\nreturn ") + last + "\n", {x, w}))
        << last;
}

std::string example(const std::string& name) {
  std::ifstream in(std::string(SMELT_SOURCE_DIR) + "/examples/" + name + ".smelt");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Product, ExamplesOfLayers) {
  NEEDS_LLVM();
  const DType f = DType::F32, b = DType::BF16;
  EXPECT_TRUE(right(example("linear_gelu"), {noise(b, {21, 40}, 1), noise(b, {50, 40}, 2), noise(b, {50}, 3)}));
  EXPECT_TRUE(right(example("int8_linear"),
                    {noise(f, {21, 40}, 1), noise(DType::I8, {50, 40}, 2), noise(f, {50}, 3), noise(f, {50}, 4)}));
  Tensor slots = Tensor::empty(DType::I32, {3, 8});
  for (int i = 0; i < 24; ++i) static_cast<int32_t*>(slots.data)[i] = i * 7 % 20;
  EXPECT_TRUE(right(example("moe"), {noise(f, {20, 16}, 1), slots, noise(f, {3, 8}, 2), noise(f, {3, 16, 40}, 3),
                                     noise(f, {3, 40, 16}, 4)}));
  std::vector<Tensor> residual{noise(f, {2, 64, 7, 9}, 1)};
  for (uint64_t layer = 2; layer < 4; ++layer)
    for (const Tensor& t : {noise(f, {64, 64, 3, 3}, layer), noise(f, {64}, layer), filled(f, {64}, 1.5),
                            noise(f, {64}, layer + 2), noise(f, {64}, layer + 4)})
      residual.push_back(t);
  EXPECT_TRUE(right(example("resnet_block"), std::vector<TensorView>(residual.begin(), residual.end())));
}

TEST(Product, ExamplesOfAttention) {
  NEEDS_LLVM();
  const DType f = DType::F32;
  EXPECT_TRUE(right(example("attention_masks"),
                    {noise(f, {1, 2, 70, 64}, 1), noise(f, {1, 2, 70, 64}, 2), noise(f, {1, 2, 70, 64}, 3)}));
  std::vector<Tensor> arrays{noise(f, {1, 9, 64}, 1), noise(f, {64}, 2)};
  for (uint64_t i = 0; i < 4; ++i) arrays.push_back(noise(f, {64, 64}, 3 + i));
  arrays.push_back(noise(f, {64}, 7));
  arrays.push_back(noise(f, {70, 64}, 8));
  arrays.push_back(noise(f, {70, 64}, 9));
  arrays.push_back(noise(f, {64, 70}, 10));
  EXPECT_TRUE(right(example("transformer_block"), std::vector<TensorView>(arrays.begin(), arrays.end())));
}

}  // namespace
}  // namespace smelt::testing

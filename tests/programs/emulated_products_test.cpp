// Products on an emulated GPU, as matrix units of compute capability 8.0 and 9.0 have them:
// instructions are emulated, and those of 9.0 are the ones of 8.0, but what is on its way while
// others are multiplied is as on each.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <tuple>

#include "compile/state.hpp"
#include "emulated_gpu.hpp"
#include "graph/input_layouts.hpp"

namespace smelt::testing {
namespace {

class EmulatedProducts : public EmulatedGpu {};

class EmulatedHopper : public EmulatedGpu {
 protected:
  int major() const override { return 9; }
};

// The largest bytes of both signs, and all others.
Tensor extremes(DType t, const Dims& dims) {
  std::vector<double> values;
  for (int64_t k = 0; k < element_count(dims); ++k) {
    const auto byte = static_cast<double>(k % 5 < 3 ? 255 * (k / 7 % 2) : k * 37 % 256);
    values.push_back(t == DType::U8 ? byte : byte - 128);
  }
  return array(t, dims, values);
}

// Tiles of every size, whole ones and their ends.
TEST_F(EmulatedProducts, ProductsInTiles) {
  const std::string program =
      "input a: f32[M, K]\ninput b: f32[K, N]\ninput c: f32[N]\nreturn relu(a @ b + c), (a @ b) * 2\n";
  for (const int64_t estimate : {40, 1000, 5000}) {
    std::vector<std::vector<Tensor>> keep;
    std::vector<std::vector<TensorView>> calls;
    for (const auto& [m, k, n] :
         {std::tuple<int64_t, int64_t, int64_t>{33, 35, 66}, {128, 32, 128}, {130, 17, 7}, {1, 1, 1}})
      keep.push_back({noise(DType::F32, {m, k}, 1), noise(DType::F32, {k, n}, 2), noise(DType::F32, {n}, 3)});
    for (const auto& t : keep) calls.push_back({t[0], t[1], t[2]});
    check_calls(program, calls, {{"M"_size, estimate}, {"K"_size, 64}, {"N"_size, estimate}});
  }
}

// Tiles that have all of a few columns, or rows: whole ones and their ends, of factors that are
// read along their rows and across them, begin anywhere, or are computed.
TEST_F(EmulatedProducts, ProductsOfShortSides) {
  struct Sizes {
    int64_t rows, inner, columns;
  };
  for (const auto& [m, k, n] : {Sizes{300, 50, 20},
                                {1030, 33, 13},
                                {520, 40, 40},
                                {700, 20, 100},
                                {80, 33, 300},
                                {13, 65, 520},
                                {640, 16, 5},
                                {257, 4, 17}}) {
    const Tensor a = noise(DType::F32, {m, k}, 1), b = noise(DType::F32, {k, n}, 2), c = noise(DType::F32, {n, k}, 3);
    const std::string inputs =
        fmt::format("input a: f32[{0}, {1}]\ninput b: f32[{1}, {2}]\ninput c: f32[{2}, {1}]\n", m, k, n);
    check(inputs + "return relu(a @ b) + 1\n", {a, b, c});
    check(inputs + "return (a * a + abs(a)) @ (c.T / 3)\n", {a, b, c});
  }
  const Tensor x = noise(DType::F64, {3, 150, 21}, 4), y = noise(DType::F64, {3, 21, 12}, 5);
  check("input x: f64[3, 150, 21]\ninput y: f64[3, 21, 12]\nreturn x @ y, y.mT @ x.mT\n", {x, y});
}

TEST_F(EmulatedProducts, ProductsOfTurnedArrays) {
  const Tensor a = noise(DType::F32, {70, 45}, 1), b = noise(DType::F32, {70, 45}, 2),
               c = noise(DType::F64, {3, 40, 50}, 3);
  for (const char* last : {"a @ b.T", "a.T @ b", "gelu(linear(a, b, b[:, 0])), max(a)"})
    check(fmt::format("input a: f32[70, 45]\ninput b: f32[70, 45]\nreturn {}\n", last), {a, b});
  check("input c: f64[3, 40, 50]\nreturn c @ c.mT\n", {c});
}

// Matrix units: every order of the factors' axes, whole tiles and their ends.
TEST_F(EmulatedProducts, ProductsOfHalves) {
  for (const char* last : {"a @ b", "relu(at.T @ bt.T + c)", "silu(a @ b) * (at.T @ b)"})
    for (const DType t : {DType::BF16, DType::F16}) {
      const std::string program = fmt::format(
          "input a: {0}[M, K]\ninput b: {0}[K, N]\ninput at: {0}[K, M]\ninput bt: {0}[N, K]\ninput c: {0}[N]\nreturn "
          "{1}\n",
          name_of(t), last);
      std::vector<std::vector<Tensor>> keep;
      std::vector<std::vector<TensorView>> calls;
      for (const auto& [m, k, n] :
           {std::tuple<int64_t, int64_t, int64_t>{33, 72, 66}, {128, 128, 128}, {130, 64, 8}, {1, 1, 1}})
        keep.push_back(
            {noise(t, {m, k}, 1), noise(t, {k, n}, 2), noise(t, {k, m}, 3), noise(t, {n, k}, 4), noise(t, {n}, 5)});
      for (const auto& k : keep) calls.push_back({k[0], k[1], k[2], k[3], k[4]});
      for (const int64_t estimate : {40, 5000})
        check_calls(program, calls, {{"M"_size, estimate}, {"K"_size, 64}, {"N"_size, estimate}});
    }
}

// Few results of long inner axes: the grid goes over parts of these, which a second phase adds up.
TEST_F(EmulatedProducts, ProductsInParts) {
  for (const auto& [m, k, n] :
       {std::tuple<int64_t, int64_t, int64_t>{17, 4096, 24}, {8, 1000, 70}, {33, 520, 40}, {64, 2048, 64}})
    for (const DType t : {DType::BF16, DType::F32})
      check(fmt::format("input a: {0}[{1}, {2}]\ninput b: {0}[{2}, {3}]\ninput c: {0}[{3}]\n"
                        "return relu(a @ b + c), (a @ b).T * 2\n",
                        name_of(t), m, k, n),
            {noise(t, {m, k}, 1), noise(t, {k, n}, 2), noise(t, {n}, 3)});
  for (const char* t : {"bf16", "f32"}) {
    const DType dtype = std::string(t) == "f32" ? DType::F32 : DType::BF16;
    const Tensor a = noise(dtype, {4, 700}, 1), b = noise(dtype, {40, 700}, 2), c = noise(dtype, {4, 33}, 3),
                 d = noise(dtype, {40, 33}, 4);
    check_calls(fmt::format("input a: {0}[M, K]\ninput b: {0}[N, K]\nreturn a @ b.T\n", t), {{a, b}, {c, d}},
                {{"M"_size, 8}, {"K"_size, 9000}, {"N"_size, 64}});
  }
}

// Factors that are computed, or whose rows begin anywhere: made for large sizes, where packing them
// pays.
TEST_F(EmulatedProducts, ProductsOfPackedFactors) {
  std::vector<std::vector<Tensor>> keep;
  std::vector<std::vector<TensorView>> calls;
  for (const auto& [m, k, n] : {std::tuple<int64_t, int64_t, int64_t>{33, 67, 66}, {1, 1, 1}, {130, 128, 9}})
    keep.push_back({noise(DType::BF16, {3, m, k}, 1), noise(DType::BF16, {3, k, n}, 2), noise(DType::BF16, {n, k}, 3)});
  for (const auto& k : keep) calls.push_back({k[0], k[1], k[2]});
  for (const char* last : {"a @ b", "relu(a) @ b", "a @ exp(w).T", "tanh(a @ (b * 2))"})
    check_calls(fmt::format("input a: bf16[3, M, K]\ninput b: bf16[3, K, N]\ninput w: bf16[N, K]\nreturn {}\n", last),
                calls, {{"M"_size, 4000}, {"K"_size, 1001}, {"N"_size, 4001}});
}

TEST_F(EmulatedHopper, ProductsOfHalves) {
  const Tensor a = noise(DType::BF16, {130, 520}, 1), b = noise(DType::BF16, {520, 264}, 2);
  check("input a: bf16[130, 520]\ninput b: bf16[520, 264]\nreturn relu(a @ b), a.T\n", {a, b});
}

class EmulatedWaves : public EmulatedHopper {
 protected:
  int processors() const override { return 132; }
};

// Tiles of as many columns as it takes for all multiprocessors to have the same number of tiles:
// whole ones and their ends, stored by 16 bytes and one by one.
TEST_F(EmulatedWaves, ProductsOfHalves) {
  struct Case {
    int64_t rows, columns, tile_columns;
  };
  for (const auto& [rows, columns, tile] :
       {Case{2048, 1152, 144}, {4096, 768, 192}, {8192, 192, 96}, {16000, 176, 176}})
    for (const char* last : {"a @ b.T", "f32(a @ b.T) + c", "relu(a @ bf16(f).T)"}) {
      const std::string program = fmt::format(
          "input a: bf16[M, K]\ninput b: bf16[N, K]\ninput c: f32[M, N]\ninput f: f32[N, K]\nreturn {}\n", last);
      CompileOptions options;
      options.sizes = {{"M"_size, rows}, {"N"_size, columns}, {"K"_size, 4096}};
      const Executable made = compile(lang::parse_program(program, "waves.smelt"), gpu_.machine, options);
      EXPECT_TRUE(std::any_of(made.plan().groups.begin(), made.plan().groups.end(),
                              [&](const auto& group) {
                                return group.schedule && group.schedule->product &&
                                       group.schedule->product->tile_columns == tile;
                              }))
          << program << columns;
      std::vector<std::vector<Tensor>> keep;
      std::vector<std::vector<TensorView>> calls;
      for (const auto& [m, k, n] :
           {std::tuple<int64_t, int64_t, int64_t>{130, 72, 300}, {256, 64, 288}, {65, 67, 97}, {1, 1, 1}})
        keep.push_back({noise(DType::BF16, {m, k}, 1), noise(DType::BF16, {n, k}, 2), noise(DType::F32, {m, n}, 3),
                        noise(DType::F32, {n, k}, 4)});
      for (const auto& k : keep) calls.push_back({k[0], k[1], k[2], k[3]});
      check_calls(program, calls, options.sizes);
    }
}

// Kernels of one text are compiled once, and each is predicted as what it is.
TEST_F(EmulatedWaves, LayersThatShareCode) {
  const Graph graph = lang::parse_program(
      "input x: bf16[2048, 1152]\ninput a: bf16[1152, 4608]\ninput b: bf16[4608, 1152]\ninput c: bf16[1152, 4608]\n"
      "input d: bf16[4608, 1152]\n"
      "y = bf16(f32(bf16(gelu(f32(x @ a))) @ b) + f32(x))\n"
      "return bf16(f32(bf16(gelu(f32(y @ c))) @ d) + f32(y))\n",
      "layers.smelt");
  const Executable made = compile(graph, gpu_.machine, {});
  const auto predicted = made.predicted({});
  ASSERT_EQ(predicted.kernels.size(), 4u);
  std::set<std::string> functions;
  for (const KernelLaunch& launch : made.launches({})) functions.insert(launch.function);
  EXPECT_LT(functions.size(), made.launches({}).size());
  EXPECT_NEAR(predicted.kernels[1]->us, predicted.kernels[3]->us, 0.01 * predicted.kernels[1]->us);
}

// A size that is open along the axis in which an array lies: groups are copied at once where it is
// a multiple of them.
TEST_F(EmulatedProducts, CopiesOfOpenSizes) {
  const std::string program = "input a: bf16[K, M]\ninput b: bf16[K, N]\nreturn a.T @ b\n";
  std::vector<std::vector<Tensor>> keep;
  std::vector<std::vector<TensorView>> calls;
  for (const auto& [k, m, n] : {std::tuple<int64_t, int64_t, int64_t>{72, 136, 40}, {65, 129, 33}, {40, 8, 300}})
    keep.push_back({noise(DType::BF16, {k, m}, 1), noise(DType::BF16, {k, n}, 2)});
  for (const auto& k : keep) calls.push_back({k[0], k[1]});
  check_calls(program, calls, {{"K"_size, 72}, {"M"_size, 136}, {"N"_size, 40}});
}
// The fast form of a kernel fits in addition to what it declares itself.
TEST_F(EmulatedHopper, StagesFitIntoSharedMemory) {
  for (const auto& [m, k, n] :
       {std::tuple<int64_t, int64_t, int64_t>{1760, 2600, 912}, {3064, 4096, 256}, {64, 64, 64}})
    for (const char* t : {"bf16", "f32"}) {
      const std::string program =
          fmt::format("input a: {0}[{1}, {2}]\ninput b: {0}[{2}, {3}]\nreturn a @ b\n", t, m, k, n);
      const Executable executable = compile(lang::parse_program(program, "emulated.smelt"), gpu_.machine, {});
      for (const KernelLaunch& launch : executable.launches({})) EXPECT_EQ(launch.variant, 0u) << program;
    }
}

// Parts that the copy engine brings: rows over several axes, ragged at all ends, turned, of a part
// of an array, and shared by two products.
TEST_F(EmulatedHopper, PartsAsBoxes) {
  const DType t = DType::BF16;
  check("input x: bf16[B, T, K]\ninput w: bf16[N, K]\ninput c: bf16[N]\nreturn gelu(linear(x, w, c))\n",
        {noise(t, {3, 37, 40}, 1), noise(t, {72, 40}, 2), noise(t, {72}, 3)});
  EXPECT_TRUE(took_boxes());
  gpu_.driver->launches.clear();
  check(
      "input x: bf16[90, 72]\ninput w: bf16[72, 80]\ninput v: bf16[72, 80]\nreturn silu(x[5:80] @ w) * (x[5:80] @ v)\n",
      {noise(t, {90, 72}, 1), noise(t, {72, 80}, 2), noise(t, {72, 80}, 3)});
  EXPECT_TRUE(took_boxes());
  gpu_.driver->launches.clear();
  check("input a: f16[2, 72, 64]\ninput b: f16[2, 72, 136]\nreturn a.mT @ b, max(a)\n",
        {noise(DType::F16, {2, 72, 64}, 1), noise(DType::F16, {2, 72, 136}, 2)});
  EXPECT_TRUE(took_boxes());
}

// Tiles go through bands of rows, of which the last may be lower: each tile once, whatever the
// sizes of a call.
TEST_F(EmulatedHopper, BandsOfTiles) {
  const std::string program = "input a: bf16[M, 16]\ninput b: bf16[16, N]\nreturn a @ b\n";
  std::vector<std::vector<Tensor>> keep;
  std::vector<std::vector<TensorView>> calls;
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1100, 200}, {2050, 72}, {64, 136}, {1, 8}, {1024, 8}})
    keep.push_back({noise(DType::BF16, {m, 16}, 1), noise(DType::BF16, {16, n}, 2)});
  for (const auto& k : keep) calls.push_back({k[0], k[1]});
  check_calls(program, calls, {{"M"_size, 1100}, {"N"_size, 200}});
  EXPECT_TRUE(took_boxes());
}

// Factors that are computed: what they are computed from is read a part ahead.
TEST_F(EmulatedHopper, ComputedFactorsInParts) {
  for (const auto& [m, k, n] :
       {std::tuple<int64_t, int64_t, int64_t>{64, 256, 128}, {17, 200, 72}, {1, 64, 8}, {130, 65, 9}}) {
    const Tensor x = noise(DType::BF16, {m, k}, 1), w = noise(DType::I8, {n, k}, 2), s = noise(DType::BF16, {n}, 3),
                 g = noise(DType::BF16, {k}, 4), u = noise(DType::U8, {n, k}, 5);
    check(fmt::format("input x: bf16[{}, {}]\ninput w: i8[{}, {}]\ninput s: bf16[{}]\nreturn linear(x, bf16(w)) * s\n",
                      m, k, n, k, n),
          {x, w, s});
    check(fmt::format("input x: bf16[{}, {}]\ninput u: u8[{}, {}]\ninput g: bf16[{}]\nreturn linear(rmsnorm(x, g), "
                      "bf16(u) - 128)\n",
                      m, k, n, k, k),
          {x, u, g});
  }
}

// Sums of bytes that f32 does not hold: units multiply a part at a time, and i32 has the sums.
TEST_F(EmulatedProducts, SumsOfBytes) {
  const SizeBinding sizes{{"M"_size, 4000}, {"K"_size, 4096}, {"N"_size, 4000}};
  for (const char* last : {"i32(a) @ i32(b)", "relu(f32(i32(a) @ i32(c).T) * 0.25), (i32(a) @ i32(c).T) * 3"})
    for (const auto& [first, second] :
         {std::pair{DType::I8, DType::I8}, {DType::U8, DType::I8}, {DType::U8, DType::U8}}) {
      const std::string program =
          fmt::format("input a: {0}[M, K]\ninput b: {1}[K, N]\ninput c: {1}[N, K]\nreturn {2}\n", name_of(first),
                      name_of(second), last);
      std::vector<std::vector<Tensor>> keep;
      std::vector<std::vector<TensorView>> calls;
      for (const auto& [m, k, n] :
           {std::tuple<int64_t, int64_t, int64_t>{33, 2100, 66}, {130, 64, 8}, {1, 1, 1}, {5, 0, 7}})
        keep.push_back({extremes(first, {m, k}), extremes(second, {k, n}), extremes(second, {n, k})});
      for (const auto& k : keep) calls.push_back({k[0], k[1], k[2]});
      check_calls(program, calls, sizes);
      CompileOptions options;
      options.sizes = sizes;
      const Executable made = compile(lang::parse_program(program, "bytes.smelt"), gpu_.machine, options);
      EXPECT_TRUE(std::all_of(made.plan().groups.begin(), made.plan().groups.end(), [](const auto& group) {
        return group.schedule->product && group.schedule->product->whole;
      })) << program;
    }
  // All in f32, and in i32.
  for (const int64_t k : {260, 1024, 3000}) {
    const Tensor a = extremes(DType::I8, {64, k}), b = extremes(DType::I8, {40, k});
    const Graph graph = lang::parse_program(
        fmt::format("input a: i8[64, {0}]\ninput b: i8[40, {0}]\nreturn i64(a) @ i64(b).T\n", k), "bytes.smelt");
    check_calls(graph, {{a, b}});
    const schedule::Product& product = *compile(graph, gpu_.machine, {}).plan().groups[0].schedule->product;
    EXPECT_TRUE(product.whole);
    EXPECT_EQ(product.exact_in_f32, k <= 1024);
  }
}

// Few results of many terms: more parts than multiprocessors.
TEST_F(EmulatedProducts, FewResultsOfManyTerms) {
  const Tensor x = noise(DType::F32, {70000, 5}, 1), y = noise(DType::F32, {70000, 6}, 2);
  check("input x: f32[70000, 5]\ninput y: f32[70000, 6]\nreturn x.T @ y\n", {x, y});
}

// Images with their channels first and last, few and many of them, windows of every kind, and what
// follows.
TEST_F(EmulatedProducts, ConvolutionsOfHalves) {
  const SizeBinding many{{"B"_size, 500}};
  CompileOptions options;
  options.sizes = many;
  struct Convolution {
    const char* how;
    Dims image, weights;
  };
  for (const auto& [how, image, weights] :
       {Convolution{"conv(x, w, padding=1)", {3, 32, 13, 11}, {40, 32, 3, 3}},
        {"relu(conv(x, w, padding=2, stride=2) + 1)", {2, 16, 21, 16}, {24, 16, 5, 5}},
        {"conv(x, w, dilation=2)", {2, 24, 17, 19}, {16, 24, 3, 3}},
        {"sum(x), conv(x, w, padding=1)", {2, 16, 20, 18}, {32, 16, 3, 3}},
        {"conv(x, w, padding=1)", {4, 64, 50}, {64, 64, 3}},
        {"conv(permute(x, (0, 3, 1, 2)), w, padding=1)", {2, 15, 14, 16}, {16, 16, 3, 3}}}) {
    std::string program;
    for (const DType t : {DType::BF16, DType::F16}) {
      program = fmt::format("input x: {0}[B, {1}]\ninput w: {0}[{2}]\nreturn {3}\n", name_of(t),
                            fmt::join(image.begin() + 1, image.end(), ", "), fmt::join(weights, ", "), how);
      const Tensor x = noise(t, image, 1), w = noise(t, weights, 2);
      check(program, {x, w}, many);
    }
    const Executable made = compile(lang::parse_program(program, "conv.smelt"), gpu_.machine, options);
    EXPECT_EQ(made.plan().groups.back().strategy(), schedule::Strategy::Product) << program;
  }
}

// Rows that begin at words or not, whole tiles and their ends.
TEST_F(EmulatedHopper, RowsWithGaps) {
  for (const auto& [m, k, n, more] :
       {std::tuple<int64_t, int64_t, int64_t, int64_t>{256, 136, 128, 64}, {200, 100, 72, 4}, {130, 64, 40, 3}}) {
    const std::string program =
        fmt::format("input a: bf16[{}, {}]\ninput b: bf16[{}, {}]\nreturn gelu(a @ b)\n", m, k, k, n);
    const Dims left{k + more, 1}, right{n + 2 * more, 1};
    const Graph graph = with_input_layouts(lang::parse_program(program, "gaps.smelt"), {{{}, left}, {{}, right}});
    const Tensor a = with_gaps(noise(DType::BF16, {m, k}, 1), left),
                 b = with_gaps(noise(DType::BF16, {k, n}, 2), right);
    check_calls(graph, {{a, b}});
    EXPECT_EQ(took_boxes(), k % 8 == 0 && more % 8 == 0) << more;
    gpu_.driver->launches.clear();
  }
}

// As many multiprocessors as large GPUs have, for which other schedules are chosen.
class EmulatedLargeGpu : public EmulatedGpu {
 protected:
  int major() const override { return 9; }
  int processors() const override { return 132; }
};

TEST_F(EmulatedLargeGpu, GradientsOfSmallLayers) {
  check(
      "input g: f32[129, 66]\ninput x: f32[129, 257]\ninput w: f32[66, 257]\ninput b: f32[66]\n"
      "return vjp(sum(linear(x, w, b) * g), (x, w, b), 1.0)\n",
      {noise(DType::F32, {129, 66}, 4), noise(DType::F32, {129, 257}), noise(DType::F32, {66, 257}, 2),
       noise(DType::F32, {66}, 3)});
  check(
      "input x: f64[66, 65]\ninput v: f64[130, 65]\ninput w: f64[130, 33]\n"
      "return vjp(sum(square(gelu(linear(x, v)) @ w)), (x, v, w), 1.0)\n",
      {noise(DType::F64, {66, 65}), noise(DType::F64, {130, 65}, 2), noise(DType::F64, {130, 33}, 3)});
}

}  // namespace
}  // namespace smelt::testing

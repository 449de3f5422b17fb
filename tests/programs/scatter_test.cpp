// Scatters: duplicates, indices of every kind, sizes of every kind, and that no run differs from
// another.
#include <fmt/format.h>

#include <gmock/gmock.h>
#include <cstring>

#include "frontends/language.hpp"
#include "run.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

using ::testing::HasSubstr;

TEST(Scatters, EveryUpdateCounts) {
  NEEDS_LLVM();
  const Tensor i = vector(DType::I64, {2, 0, 2, -1, 2, 0});
  const auto got = run_all(
      "input i: i64[N]\ninput u: f32[N]\nreturn scatter_add(zeros(5), i, u), scatter(zeros(5), i, u), "
      "scatter_add(ones(5, i32), i, 1), scatter_max(zeros(5), i, u), scatter_min(ones(5), i, u), scatter_mul(ones(5), "
      "i, u)\n",
      {i, vector(DType::F32, {1, 2, 4, 8, 16, 32})});
  EXPECT_EQ(numbers(got[0]), (std::vector<double>{34, 0, 21, 0, 8}));
  EXPECT_EQ(numbers(got[1]), (std::vector<double>{32, 0, 16, 0, 8}));
  EXPECT_EQ(numbers(got[2]), (std::vector<double>{3, 1, 4, 1, 2}));
  EXPECT_EQ(numbers(got[3]), (std::vector<double>{32, 0, 16, 0, 8}));
  EXPECT_EQ(numbers(got[4]), (std::vector<double>{1, 1, 1, 1, 1}));
  EXPECT_EQ(numbers(got[5]), (std::vector<double>{64, 1, 64, 1, 8}));
}

TEST(Scatters, RowsAndAxes) {
  NEEDS_LLVM();
  for (const char* dtype : {"f32", "f64", "i32", "u8", "i64", "bf16", "f8_e4m3", "f8_e5m2"}) {
    const DType t = dtype_from_name(dtype).value();
    std::vector<Tensor> kept;
    std::vector<std::vector<TensorView>> calls;
    for (const Dims& dims : std::vector<Dims>{{7, 5}, {300, 64}, {3, 5000}, {1, 1}, {1000, 1}}) {
      const int64_t n = 40;
      std::vector<double> rows;
      for (int64_t k = 0; k < n; ++k)
        rows.push_back(static_cast<double>(k * k * 7 % dims[0]) - (k % 3 == 0 ? static_cast<double>(dims[0]) : 0));
      kept.insert(kept.end(), {noise(t, dims), vector(DType::I32, rows), noise(t, {n, dims[1]}, 2)});
      calls.emplace_back(kept.end() - 3, kept.end());
    }
    const std::string inputs = fmt::format("input x: {0}[R, C]\ninput i: i32[N]\ninput u: {0}[N, C]\n", dtype);
    EXPECT_TRUE(right(inputs + "return scatter_add(x, i, u), scatter(x, i, u), scatter_max(x, i, u)\n", calls))
        << dtype;
  }
  const Tensor x = noise(DType::F32, {4, 6, 3}), i = array(DType::I64, {2, 5}, {0, 5, 1, 1, 2, 2, 2, 0, 4, 3});
  const std::string inputs = "input x: f32[4, 6, 3]\ninput i: i64[2, 5]\n";
  EXPECT_TRUE(right(inputs + "input u: f32[4, 2, 5, 3]\nreturn scatter_add(x, i, u, axis=1)\n",
                    {x, i, noise(DType::F32, {4, 2, 5, 3}, 3)}));
  EXPECT_TRUE(right(inputs + "input u: f32[2, 5]\nreturn scatter_add(x, i % 3, u, axis=-1)\n",
                    {x, i, noise(DType::F32, {2, 5}, 3)}));
}

// The array that is updated may be the memory of the result, and is not copied then.
TEST(Scatters, FewUpdatesOfManyRows) {
  NEEDS_LLVM();
  std::vector<double> rows;
  for (int64_t k = 0; k < 50; ++k) rows.push_back(static_cast<double>(k % 3 == 0 ? 7 : k * k * 31 % 1000 - 500));
  for (const char* name : {"scatter", "scatter_add", "scatter_mul", "scatter_max"})
    for (const auto& [t, columns] :
         {std::pair{DType::F32, 17}, {DType::F64, 1}, {DType::I32, 3000}, {DType::F32, 200}, {DType::F32, 300}}) {
      const Tensor x = noise(t, {500, columns}), i = vector(DType::I32, rows), u = noise(t, {50, columns}, 2);
      const std::string program = fmt::format(
          "input x: {0}[R, C]\ninput i: i32[N]\ninput u: {0}[N, C]\nreturn {1}(x, i, u)\n", name_of(t), name);
      EXPECT_TRUE(right(program, {x, i, u})) << program;
      CompileOptions options;
      options.sizes = {{"R"_size, 500}, {"C"_size, columns}, {"N"_size, 50}};
      const Executable e = compile(lang::parse_program(program, "scatter.smelt"), device(), options);
      EXPECT_TRUE(e.in_place().size() == 1 || device().is_gpu) << program;
    }
}

TEST(Scatters, Modes) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {4, 3}), u = noise(DType::F32, {6, 3}, 2);
  const Tensor i = vector(DType::I64, {0, 4, -1, -5, 9007199254740992, -9007199254740992});
  const std::string inputs = "input x: f32[R, C]\ninput i: i64[N]\ninput u: f32[N, C]\n";
  for (const char* name : {"scatter", "scatter_add", "scatter_mul", "scatter_max", "scatter_min"})
    for (const char* mode : {"clip", "wrap", "drop"})
      EXPECT_TRUE(right(fmt::format("{}return {}(x, i, u, mode='{}')\n", inputs, name, mode), {x, i, u}))
          << name << mode;
  const Tensor large = array(DType::U64, {1}, {18446744073709549568.0});
  EXPECT_TRUE(right(
      "input x: f32[4]\ninput i: u64[N]\nreturn scatter_add(x, i, 1, mode='drop'), scatter(x, i, 1, mode='clip')\n",
      {noise(DType::F32, {4}), large}));
}

// What it reads is computed on the way; what reads it is another kernel.
TEST(Scatters, PrologueAndEpilogue) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {50, 33}), i = noise(DType::I32, {70}), u = noise(DType::F32, {70, 33}, 4);
  const std::string inputs = "input x: f32[R, C]\ninput i: i32[N]\ninput u: f32[N, C]\n";
  EXPECT_TRUE(
      right(inputs + "return softmax(scatter_add(relu(x), i * 3 + 1, tanh(u) * 2, mode='wrap') + 1)\n", {x, i, u}));
  EXPECT_TRUE(right(
      inputs + "y = scatter_add(x, i, u, mode='clip')\nreturn y, scatter(y, i, u - 1, mode='clip'), sum(u, axis=0)\n",
      {x, i, u}));
  EXPECT_TRUE(right(inputs + "return scatter_add(x, argmax(u, axis=1), softmax(u), mode='clip')\n", {x, i, u}));
  EXPECT_TRUE(right(inputs + "return scatter_add(x, take(abs(i), abs(i), mode='wrap'), u, mode='wrap')\n", {x, i, u}));
  EXPECT_TRUE(right(inputs + "return scatter_add(x, i, take(u, i, axis=0, mode='wrap'), mode='wrap')\n", {x, i, u}));
  const std::string fixed = "input x: f32[9, 8]\ninput i: i32[N]\ninput u: f32[N, 8]\n";
  EXPECT_EQ(compiled(fixed + "return scatter_add(x * 2, i, u + 1)\n").kernels().size(), 1u);
  EXPECT_EQ(compiled(fixed + "return scatter_add(zeros((9, 8)), i % 9, relu(u)) + 1\n").kernels().size(), 2u);
}

TEST(Scatters, NothingAndOutside) {
  NEEDS_LLVM();
  const std::string inputs = "input x: f32[R, C]\ninput i: i32[N]\ninput u: f32[N, C]\n";
  const Tensor x = noise(DType::F32, {4, 3}), none = Tensor::empty(DType::I32, {0});
  for (const char* name : {"scatter", "scatter_add", "scatter_max"}) {
    const std::string program = fmt::format("{}return {}(x, i, u)\n", inputs, name);
    EXPECT_TRUE(right(program, {x, none, Tensor::empty(DType::F32, {0, 3})}));
    EXPECT_TRUE(
        right(program, {noise(DType::F32, {4, 0}), vector(DType::I32, {1, 2}), Tensor::empty(DType::F32, {2, 0})}));
    for (const double outside : {4.0, -5.0, 1e9})
      EXPECT_THAT(message_of([&] {
                    run(program, {x, vector(DType::I32, {0, outside}), noise(DType::F32, {2, 3})});
                  }),
                  HasSubstr("met an index out of range: axis 0 of f32[R, C] has no such element"))
          << name;
    EXPECT_EQ(message_of([&] {
                run(program, {Tensor::empty(DType::F32, {0, 3}), vector(DType::I32, {0}), noise(DType::F32, {1, 3})});
              }),
              "cannot scatter into f32[R, C]: it has no elements; here R is 0 (axis 0 of input x)");
  }
  EXPECT_TRUE(right("input x: f32[R]\ninput i: i32[N]\nreturn scatter_add(x, i, 1, mode='drop')\n",
                    {Tensor::empty(DType::F32, {0}), vector(DType::I32, {0, 3})}));
}

TEST(Scatters, NanAndInfinities) {
  NEEDS_LLVM();
  const Tensor u = vector(DType::F32, {kNan, 1, kInf, -kInf, kInf, -0.0, 3e38, 3e38, 1e-45, -1e-45, 1e-45});
  const Tensor i = vector(DType::I32, {0, 0, 1, 2, 2, 3, 4, 4, 5, 5, 5});
  const std::string inputs = "input i: i32[N]\ninput u: f32[N]\n";
  EXPECT_TRUE(right(
      inputs + "return scatter_max(zeros(8), i, u), scatter_min(zeros(8), i, u), scatter(zeros(8), i, u)\n", {i, u}));
  const auto got = numbers(run(inputs + "return scatter_add(zeros(8), i, u)\n", {i, u}));
  EXPECT_TRUE(same_numbers({got[0], got[1], got[2], got[5], got[6]}, {kNan, kInf, kNan, 1.401298464324817e-45, 0}));
  EXPECT_TRUE(
      right(inputs + "return scatter_add(full((8,), inf), i, u), scatter_add(full((8,), nan), i, u)\n", {i, u}));
}

// Thousands of updates of a few places, of very different sizes: the same bits in every run, and
// for every number of threads.
TEST(Scatters, EveryRunIsTheSame) {
  NEEDS_LLVM();
  const int64_t n = 100000;
  const Tensor i = noise(DType::I32, {n}, 3), u = noise(DType::F32, {n}, 5), few = noise(DType::I32, {500}, 3),
               wide = noise(DType::F32, {500, 300}, 6);
  const std::string one =
      "input i: i32[N]\ninput u: f32[N]\nreturn scatter_add(zeros(37), i, exp(u * 5), mode='wrap')\n";
  const std::string many =
      "input i: i32[M]\ninput u: f32[M, 300]\nreturn scatter_add(zeros((37, 300)), i, exp(u * 5), mode='wrap')\n";
  const auto same = [](const Tensor& a, const Tensor& b) {
    return std::memcmp(a.data, b.data, static_cast<size_t>(a.count() * size_of(a.dtype))) == 0;
  };
  for (const bool rows : {false, true}) {
    const std::string& program = rows ? many : one;
    const std::vector<TensorView> inputs = rows ? std::vector<TensorView>{few, wide} : std::vector<TensorView>{i, u};
    const Tensor first = compiled(program, true, 1).run(inputs)[0];
    for (const int threads : {1, 2, 3}) {
      Executable executable = compiled(program, true, threads);
      for (int times = 0; times < 3; ++times) EXPECT_TRUE(same(first, executable.run(inputs)[0])) << threads;
    }
  }
}

TEST(Scatters, CountsAndSums) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {20000}, 9);
  EXPECT_TRUE(
      right("input x: f32[N]\nreturn scatter_add(zeros(64, i64), i32(floor((x + 4) * 8)), 1, mode='clip')\n", {x}));
  EXPECT_TRUE(right("input x: f32[N]\nreturn scatter_add(zeros(64), i32(floor((x + 4) * 8)), x, mode='clip')\n", {x}));
  EXPECT_TRUE(
      right("input x: f32[N]\nreturn histogram(x, 50, -3, 3), bincount(i32(x), 4), bincount(i32(x), 4, x)\n", {x}));
  const Tensor edges = vector(DType::F32, {0, 0.25, 1, 1.0000001, -1e-9, kNan, kInf, -kInf, 0.5, 0.999});
  EXPECT_EQ(numbers(run("input x: f32[N]\nreturn histogram(x, 4, 0, 1)\n", {edges})),
            (std::vector<double>{1, 1, 1, 2}));
  const Tensor rows = noise(DType::F32, {300, 17}, 2), segments = noise(DType::I64, {300}, 4);
  EXPECT_TRUE(right("input x: f32[N, C]\ninput s: i64[N]\nreturn segment_sum(x, s, 4), segment_sum(x, s - 100, 3)\n",
                    {rows, segments}));
  EXPECT_EQ(compiled("input x: f32[N]\nreturn histogram(x, 50, -3, 3)\n").kernels().size(), 1u);
}

// Updates are looked at in blocks and in vectors: numbers of them around both, into places that
// parts of the rows have.
TEST(Scatters, BlocksOfUpdates) {
  NEEDS_LLVM();
  std::vector<Tensor> kept;
  std::vector<std::vector<TensorView>> calls;
  for (const int64_t n : {1, 15, 16, 17, 511, 512, 513, 527, 1024, 1025, 3000})
    for (const int64_t rows : {n * 100, n / 2 + 1}) {
      std::vector<double> places;
      for (int64_t k = 0; k < n; ++k) places.push_back(static_cast<double>(k * 7919 % rows - (k % 2 ? rows : 0)));
      kept.insert(kept.end(), {noise(DType::F32, {rows}), vector(DType::I64, places), noise(DType::F32, {n}, 2)});
      calls.emplace_back(kept.end() - 3, kept.end());
    }
  const std::string inputs = "input x: f32[R]\ninput i: i64[N]\ninput u: f32[N]\n";
  EXPECT_TRUE(right(inputs + "return scatter_add(x, i, u), scatter(x, i, u), scatter_min(x, i, u)\n", calls));
  EXPECT_TRUE(right(inputs + "return scatter_add(x, i - 3, u, mode='drop'), bincount(i, x.shape[0])\n", calls));
  // The last update of a place stays, whoever finds it.
  std::vector<double> places, numbers_of;
  for (int k = 0; k < 3000; ++k) places.push_back(k * 31 % 997), numbers_of.push_back(k);
  const Tensor i = vector(DType::I32, places), u = vector(DType::F32, numbers_of);
  for (const int threads : {1, 2, 3, 8}) {
    Executable executable =
        compiled("input i: i32[N]\ninput u: f32[N]\nreturn scatter(zeros(100000), i, u)\n", true, threads);
    const std::vector<Tensor> got = executable.run({i, u});
    const std::vector<double> values = numbers(got[0]);
    for (int64_t k = 0; k < 3000; ++k) {
      const auto place = static_cast<size_t>(places[static_cast<size_t>(k)]);
      EXPECT_GE(values[place], static_cast<double>(k)) << threads;
      EXPECT_EQ(static_cast<int64_t>(values[place]) * 31 % 997, static_cast<int64_t>(place)) << threads;
    }
  }
}

// In any order: what is added exactly is the same.
TEST(Scatters, InAnyOrder) {
  NEEDS_LLVM();
  const Tensor i = noise(DType::I32, {5000}, 3), u = noise(DType::I64, {5000, 8});
  const std::string inputs = "input i: i32[N]\ninput u: i64[N, C]\n", how = ", mode='wrap', deterministic=False)";
  EXPECT_TRUE(right(inputs + "return scatter_add(zeros((10, u.shape[1]), i64), i, u" + how + "\n", {i, u}));
  EXPECT_TRUE(right(inputs + "return scatter_add(zeros((10, u.shape[1]), f64), i, f64(u)" + how +
                        ", scatter_add(zeros((10, u.shape[1])), i, f32(u)" + how +
                        ", scatter_add(zeros((10, u.shape[1]), bf16), i, bf16(u)" + how + "\n",
                    {i, u}));
  EXPECT_TRUE(right("input i: i32[N]\ninput u: f32[N]\nreturn scatter_add(zeros(50000), i * 5000, u" + how + "\n",
                    {i, noise(DType::F32, {5000})}));
}

}  // namespace
}  // namespace smelt::testing

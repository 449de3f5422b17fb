// Scatters on an emulated GPU: any order of the threads gives the same bits.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <tuple>

#include "emulated_gpu.hpp"

namespace smelt::testing {
namespace {

using EmulatedScatters = EmulatedGpu;

// Numbers below `rows`, some of them many times.
Tensor chosen_below(int64_t rows, int64_t n) {
  Tensor index = Tensor::empty(DType::I32, {n});
  for (int64_t k = 0; k < n; ++k)
    static_cast<int32_t*>(index.data)[k] = static_cast<int32_t>(k % 4 == 0 ? rows / 3 : k * k % rows);
  return index;
}

TEST_F(EmulatedScatters, PlacesThatTheDataNames) {
  Tensor index = Tensor::empty(DType::I64, {500});
  for (int64_t i = 0; i < 500; ++i) static_cast<int64_t*>(index.data)[i] = i * i % 37;
  check("input x: i32[37, 6]\ninput i: i64[N]\ninput u: i32[N, 6]\nreturn scatter_add(x, i, u), take(x, i, axis=0)\n",
        {noise(DType::I32, {37, 6}), index, noise(DType::I32, {500, 6})});
  check("input i: i64[N]\nreturn bincount(i, 40)\n", {index});
}

// Rows of several elements, each with its updates of a list: none, a few, and more than one team
// joins by itself. In any order there are the same bits, so what is not finite is where it was.
TEST_F(EmulatedScatters, RowsTakeTheirListedUpdates) {
  const auto chosen = [](int64_t n, int64_t rows) {
    Tensor index = Tensor::empty(DType::I64, {n});
    for (int64_t k = 0; k < n; ++k)
      static_cast<int64_t*>(index.data)[k] = k % 3 == 0 ? k * k % rows : k % 7 == 0 ? rows + k % 2 : rows / 2;
    return index;
  };
  for (const auto& [dtype, name] : std::vector<std::pair<const char*, const char*>>{{"f32", "scatter_add"},
                                                                                    {"f64", "scatter_add"},
                                                                                    {"u8", "scatter_add"},
                                                                                    {"bf16", "scatter_max"},
                                                                                    {"i64", "scatter_min"}}) {
    const DType t = dtype_from_name(dtype).value();
    std::vector<Tensor> keep;
    std::vector<std::vector<TensorView>> calls;
    for (const auto& [rows, columns, updates] :
         {std::tuple(37, 24, 2000), std::tuple(3000, 8, 500), std::tuple(1, 33, 300), std::tuple(2, 1100, 300),
          std::tuple(20, 300, 200), std::tuple(9, 8, 0)}) {
      keep.insert(keep.end(), {noise(t, {rows, columns}), chosen(updates, rows), special_noise(t, {updates, columns})});
      calls.emplace_back(keep.end() - 3, keep.end());
    }
    // Many updates are put in order by their rows, few one by one.
    for (const int64_t updates : {1000000, 1000})
      check_calls(fmt::format("input x: {0}[R, C]\ninput i: i64[N]\ninput u: {0}[N, C]\n"
                              "return {1}(x, i, u * 2, mode='drop')\n",
                              dtype, name),
                  calls, {{"R"_size, 100000}, {"C"_size, 64}, {"N"_size, updates}});
  }
}

// Few updates, of which some go to one row and some nowhere: each finds out by itself whether it is
// the one that stores. The result may be the array that is updated: then it is not copied.
TEST_F(EmulatedScatters, FewUpdates) {
  const auto places = [](int64_t n, int64_t rows) {
    Tensor index = Tensor::empty(DType::I32, {n});
    for (int64_t k = 0; k < n; ++k)
      static_cast<int32_t*>(index.data)[k] = static_cast<int32_t>(k % 3 == 0   ? k * k % rows
                                                                  : k % 7 == 0 ? rows + k % 2
                                                                               : rows / 2 - rows * (k % 2));
    return index;
  };
  for (const auto& [dtype, name] : std::vector<std::pair<const char*, const char*>>{{"f32", "scatter_add"},
                                                                                    {"bf16", "scatter"},
                                                                                    {"u8", "scatter"},
                                                                                    {"f64", "scatter"},
                                                                                    {"f16", "scatter_max"},
                                                                                    {"i64", "scatter_min"},
                                                                                    {"i8", "scatter_mul"}}) {
    const DType t = dtype_from_name(dtype).value();
    for (const auto& [rows, columns, updates] :
         {std::tuple(500, 24, 70), std::tuple(37, 1, 333), std::tuple(1, 5, 9), std::tuple(9, 1100, 20),
          std::tuple(9, 8, 0), std::tuple(40, 33, 1), std::tuple(20, 200, 50), std::tuple(90, 300, 47)}) {
      const Tensor x = noise(t, {rows, columns}), index = places(updates, rows),
                   u = special_noise(t, {updates, columns});
      const std::string program = fmt::format(
          "input x: {0}[R, {3}]\ninput i: i32[{2}]\ninput u: {0}[{2}, {3}]\nreturn {1}(x, i, u * 2, mode='drop')\n",
          dtype, name, updates, columns);
      check(program, {x, index, u}, {{"R"_size, 10000}});
      CompileOptions options;
      options.sizes = {{"R"_size, 10000}};
      const Executable executable = compile(lang::parse_program(program, "emulated.smelt"), gpu_.machine, options);
      ASSERT_EQ(executable.in_place().size(), 1U) << program;
      if (updates == 0) continue;
      const Tensor there = to_device(gpu_.machine, x);
      const BoundCall call =
          executable.bind({there, to_device(gpu_.machine, index), to_device(gpu_.machine, u)}, {there});
      gpu_.driver->launches.clear();
      call.run();
      call.synchronize();
      const bool sets = std::string(name) == "scatter";
      EXPECT_EQ(gpu_.driver->launches.size(), sets ? 1U : 2U) << "a copy";
      const Bounded expected = interpret_bounded(executable.graph(), {x, index, u}, true)[0];
      EXPECT_EQ(differences(to_host(gpu_.machine, there), expected), "") << program;
    }
  }
}

// Sums of f64 in rows of one element.
TEST_F(EmulatedScatters, ExactSumsOfDoubles) {
  Tensor index = Tensor::empty(DType::I64, {5000});
  for (int64_t i = 0; i < 5000; ++i) static_cast<int64_t*>(index.data)[i] = i * i % 37;
  const std::string program =
      "input i: i64[N]\ninput u: f64[N]\nreturn bincount(i, 37, u), bincount(i, 37, u * 1e290)\n";
  check(program, {index, noise(DType::F64, {5000})});
  check(program, {index, special_noise(DType::F64, {5000})});
  check(program, {index, special_noise(DType::F64, {5000}, 1e-310)});
}

// Sums of f32 in rows of one element, too many for shared memory: terms of every exponent, rows
// that have only small ones, infinities and NaN beside them, zeros of both signs, subnormal
// numbers.
TEST_F(EmulatedScatters, TermsOfEveryExponent) {
  constexpr int64_t kRows = 9001, kUpdates = 30000;
  Tensor index = Tensor::empty(DType::I32, {kUpdates}), wide = Tensor::empty(DType::F32, {kUpdates}),
         near = Tensor::empty(DType::F32, {kUpdates}), none = Tensor::empty(DType::F32, {kUpdates});
  for (int64_t k = 0; k < kUpdates; ++k) {
    const int64_t row = k % 5 == 0 ? k * k % kRows : k % 11 == 0 ? kRows + k % 3 : k % 300;
    static_cast<int32_t*>(index.data)[k] = static_cast<int32_t>(row);
    const auto fraction = static_cast<float>(1 + static_cast<double>(k * 7919 % 8191) / 8192);
    const auto exponent = static_cast<int>((row * 31 + k % 40) % 277) - 149;
    const float sign = k % 3 == 0 ? -1.0F : 1.0F;
    static_cast<float*>(wide.data)[k] = std::ldexp(sign * fraction, std::min(exponent, 120));
    static_cast<float*>(near.data)[k] = sign * fraction;
    static_cast<float*>(none.data)[k] = k % 2 == 0 ? -0.0F : 0.0F;
  }
  const std::string sums =
      "input x: f32[9001]\ninput i: i32[N]\ninput u: f32[N]\nreturn scatter_add(x, i, u, mode='drop')\n";
  const Tensor x = noise(DType::F32, {kRows}), nothing = Tensor::zeros(DType::F32, {kRows});
  check_calls(sums, {{x, index, wide},
                     {nothing, index, wide},
                     {nothing, index, near},
                     {x, index, none},
                     {x, index, special_noise(DType::F32, {kUpdates})},
                     {nothing, index, special_noise(DType::F32, {kUpdates}, 1e-38)},
                     {x, noise(DType::I32, {0}), noise(DType::F32, {0})}});
  check(
      "input i: i32[N]\ninput u: f32[M]\nj = abs(i) * 7 % M\nreturn scatter_add(zeros(9001), i, exp(u[j]) / u[j], "
      "mode='drop')\n",
      {index, near});
  check("input i: i32[N]\ninput u: bf16[N]\nreturn scatter_add(zeros(9001, bf16), i, u, mode='drop')\n",
        {index, special_noise(DType::BF16, {kUpdates})});
  check("input i: i32[N]\ninput u: f32[N, 3]\nreturn scatter_add(zeros((9001, 3)), i, u, mode='drop')\n",
        {index, noise(DType::F32, {kUpdates, 3})});
}

// Deposits at the corners of a cell are one scatter.
TEST_F(EmulatedScatters, ScattersIntoEachOther) {
  check(
      "input p: f32[N, 2]\ninput q: f32[N]\ni = floor(p * 20); f = p * 20 - i\n"
      "ix = i32(i[:, 0]) % 97; iy = i32(i[:, 1]) % 101\nfx = f[:, 0]; fy = f[:, 1]\n"
      "out = scatter_add(ones(98 * 102), ix * 102 + iy, q * (1 - fx) * (1 - fy))\n"
      "out = scatter_add(out, ix * 102 + iy + 1, q * (1 - fx) * fy)\n"
      "out = scatter_add(out, (ix + 1) * 102 + iy, q * fx * (1 - fy))\n"
      "return scatter_add(out, (ix + 1) * 102 + iy + 1, q * fx * fy)\n",
      {noise(DType::F32, {7003, 2}), noise(DType::F32, {7003}, 2)});
  check(
      "input a: i32[N]\ninput b: i32[N]\ninput f: f32[N, 3]\n"
      "return scatter_add(scatter_add(zeros((500, 3)), a, f), b, -f), scatter_max(scatter_max(zeros((500, 3)), a, f), "
      "b, -f)\n",
      {chosen_below(500, 3001), chosen_below(499, 3001), noise(DType::F32, {3001, 3})});
}

}  // namespace
}  // namespace smelt::testing

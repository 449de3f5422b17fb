// Cases 18 to 30: what floats do.
#include <fmt/format.h>

#include <cmath>

#include "ops/op.hpp"
#include "run.hpp"

namespace smelt::testing {
namespace {

constexpr DType kFloats[] = {DType::F32, DType::F64, DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2};

// One elementwise expression of x (and y), with numbers for them.
std::vector<double> of(DType t, const std::string& expression, const std::vector<double>& x,
                       const std::vector<double>& y = {}) {
  std::string program = fmt::format("input x: {}[N]\n", name_of(t));
  const Tensor a = vector(t, x), b = vector(t, y);
  if (!y.empty()) program += fmt::format("input y: {}[N]\n", name_of(t));
  return numbers(run(program + "return " + expression + "\n",
                     y.empty() ? std::vector<TensorView>{a} : std::vector<TensorView>{a, b}));
}

TEST(Cases, C18_NanThroughMaxMinClampRelu) {
  NEEDS_LLVM();
  for (const DType t : kFloats) {
    const std::vector<double> x{kNan, 1, kNan, kInf, kNan}, y{1, kNan, kNan, kNan, -kInf};
    const std::vector<double> nans(5, kNan);
    for (const char* e : {"maximum(x, y)", "minimum(x, y)", "maximum(y, x)", "minimum(y, x)"})
      EXPECT_TRUE(same_numbers(of(t, e, x, y), nans)) << name_of(t) << e;
    for (const char* e : {"relu(x)", "clamp(x, -1, 1)", "maximum(x, 0)", "minimum(0, x)", "clamp(x, 0)"})
      EXPECT_TRUE(same_numbers(of(t, e, {kNan}), {kNan})) << name_of(t) << e;
    for (const char* e : {"max(x)", "min(x)", "sum(x)", "mean(x)", "prod(x)"})
      EXPECT_TRUE(same_numbers(of(t, e, {1, 2, kNan, 4, 5}), {kNan})) << name_of(t) << e;
    EXPECT_TRUE(same_numbers(of(t, "argmax(x)", {1, 2, kNan, 4, kNan}), {2})) << name_of(t);
    EXPECT_TRUE(same_numbers(of(t, "argmin(x)", {1, 2, kNan, 4, kNan}), {2})) << name_of(t);
  }
}

TEST(Cases, C19_SignOfZero) {
  NEEDS_LLVM();
  for (const DType t : kFloats) {
    const auto check = [&](const char* e, std::vector<double> x, std::vector<double> expected,
                           std::vector<double> y = {}) {
      EXPECT_TRUE(same_numbers(of(t, e, x, y), expected)) << name_of(t) << " " << e;
    };
    check("x + 0.0", {-0.0, 0.0}, {0.0, 0.0});
    check("x + (-0.0)", {-0.0, 0.0}, {-0.0, 0.0});
    check("x - 0.0", {-0.0, 0.0}, {-0.0, 0.0});
    check("x * 1", {-0.0, 0.0}, {-0.0, 0.0});
    check("x * 0", {-1, 1}, {-0.0, 0.0});
    check("-x", {-0.0, 0.0}, {0.0, -0.0});
    const double infinity = t == DType::F8E4M3 ? kNan : kInf;  // which it does not have
    check("1 / x", {-0.0, 0.0}, {-infinity, infinity});
    check("reciprocal(x)", {-0.0, 0.0}, {-infinity, infinity});
    check("maximum(x, y)", {-0.0, 0.0}, {0.0, 0.0}, {0.0, -0.0});
    check("minimum(x, y)", {-0.0, 0.0}, {-0.0, -0.0}, {0.0, -0.0});
    check("round(x)", {-0.0, 0.0, -0.25, 0.25}, {-0.0, 0.0, -0.0, 0.0});
    check("floor(x)", {-0.0, 0.25}, {-0.0, 0.0});
    check("ceil(x)", {-0.25, -0.0}, {-0.0, -0.0});
    check("trunc(x)", {-0.5, -0.0}, {-0.0, -0.0});
    check("sqrt(x)", {-0.0, 0.0}, {-0.0, 0.0});
    check("abs(x)", {-0.0, 0.0}, {0.0, 0.0});
    check("copysign(x, y)", {0.0, 3}, {-0.0, -3}, {-0.0, -1});
    check("x - x", {2, -2}, {0.0, 0.0});
    check("x ** 2", {-0.0, 0.0}, {0.0, 0.0});
    check("sign(x)", {-0.0, 0.0}, {-0.0, 0.0});
  }
}

TEST(Cases, C20_SoftmaxOfInfinities) {
  NEEDS_LLVM();
  const Tensor x = array(DType::F32, {2, 4}, {-kInf, -kInf, -kInf, -kInf, -kInf, 0, -kInf, 0});
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[M, N]\nreturn softmax(x)\n", {x})),
                           {kNan, kNan, kNan, kNan, 0, 0.5, 0, 0.5}));
  EXPECT_TRUE(right("input x: f32[M, N]\nreturn softmax(x), log_softmax(x), logsumexp(x, axis=1)\n", {x}));
}

TEST(Cases, C21_SoftmaxOfLargeNumbers) {
  NEEDS_LLVM();
  for (const DType t : {DType::F32, DType::BF16, DType::F64}) {
    const Tensor x = array(t, {1, 4}, {1e4, -1e4, 1e4, 0});
    const std::string in = fmt::format("input x: {}[M, N]\nreturn ", name_of(t));
    EXPECT_TRUE(same_numbers(numbers(run(in + "softmax(x)\n", {x})), {0.5, 0, 0.5, 0}));
    EXPECT_TRUE(right(in + "log_softmax(x), logsumexp(x, axis=1)\n", {x}));
  }
}

TEST(Cases, C22_VarianceAtALargeMean) {
  NEEDS_LLVM();
  const int64_t n = 10000;
  const Tensor x = noise(DType::F32, {3, n});
  auto* data = static_cast<float*>(x.data);
  for (int64_t i = 0; i < 3 * n; ++i) data[i] = static_cast<float>(1e4 + 1e-2 * static_cast<double>(data[i]));
  const auto got = numbers(run("input x: f32[M, N]\nreturn var(x, axis=1)\n", {x}));
  for (int64_t r = 0; r < 3; ++r) {
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; ++i) mean += static_cast<double>(data[r * n + i]) / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) square += std::pow(static_cast<double>(data[r * n + i]) - mean, 2);
    const double expected = square / static_cast<double>(n);
    EXPECT_NEAR(got[static_cast<size_t>(r)], expected, 0.01 * expected);
    EXPECT_GE(got[static_cast<size_t>(r)], 0);
  }
  const Tensor same = filled(DType::F32, {70, 777}, 1e4 + 0.1);
  for (const char* axis : {"0", "1"})
    for (const double v : numbers(run(fmt::format("input x: f32[M, N]\nreturn var(x, axis={})\n", axis), {same})))
      EXPECT_GE(v, 0);
}

TEST(Cases, C23_MeanOfManyHalves) {
  NEEDS_LLVM();
  for (const DType t : {DType::F16, DType::BF16}) {
    const Tensor ones = filled(t, {100000}, 1);
    EXPECT_EQ(number(run(fmt::format("input x: {}[N]\nreturn mean(x)\n", name_of(t)), {ones})), 1);
    const Tensor rows = filled(t, {2, 100000}, 1), columns = filled(t, {100000, 2}, 1);
    EXPECT_TRUE(same_numbers(
        numbers(run(fmt::format("input x: {}[M, N]\nreturn mean(x, axis=1)\n", name_of(t)), {rows})), {1, 1}));
    EXPECT_TRUE(same_numbers(
        numbers(run(fmt::format("input x: {}[M, N]\nreturn mean(x, axis=0)\n", name_of(t)), {columns})), {1, 1}));
  }
}

TEST(Cases, C24_RoundHalfToEven) {
  NEEDS_LLVM();
  for (const DType t : kFloats)
    EXPECT_TRUE(same_numbers(of(t, "round(x)", {0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.5}), {0, -0.0, 2, -2, 2, -2, 4}));
}

TEST(Cases, C25_SubnormalsAreKept) {
  NEEDS_LLVM();
  for (const auto& [t, least] : std::vector<std::pair<DType, double>>{{DType::F32, 0x1p-149},
                                                                      {DType::F64, 0x1p-1074},
                                                                      {DType::F16, 0x1p-24},
                                                                      {DType::BF16, 0x1p-133},
                                                                      {DType::F8E4M3, 0x1p-9},
                                                                      {DType::F8E5M2, 0x1p-16}}) {
    EXPECT_TRUE(same_numbers(of(t, "x + x", {least, -least}), {2 * least, -2 * least})) << name_of(t);
    EXPECT_TRUE(same_numbers(of(t, "x * 0.5", {4 * least, 6 * least}), {2 * least, 3 * least})) << name_of(t);
    EXPECT_TRUE(same_numbers(of(t, "sum(x)", {least, least, least}), {3 * least})) << name_of(t);
    EXPECT_TRUE(same_numbers(of(t, "maximum(x, 0)", {least, -least}), {least, 0.0})) << name_of(t);
    EXPECT_TRUE(same_numbers(of(t, "f32(bool(x))", {least, 0}), {1, 0})) << name_of(t);
  }
  const Tensor x = vector(DType::F32, {0x1p-24, 0x1p-25, 0x1.8p-25});
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[N]\nreturn f16(x)\n", {x})), {0x1p-24, 0, 0x1p-24}));
}

TEST(Cases, C26_NoAlgebraThatChangesMeaning) {
  NEEDS_LLVM();
  EXPECT_TRUE(same_numbers(of(DType::F32, "log(exp(x))", {89, 1000}), {kInf, kInf}));
  EXPECT_TRUE(same_numbers(of(DType::F32, "sqrt(x * x)", {1e30, -2}), {kInf, 2}));
  EXPECT_TRUE(same_numbers(of(DType::F32, "(x + 1e8) - 1e8", {1}), {0}));
  EXPECT_TRUE(same_numbers(of(DType::F32, "x / x", {0, kInf, kNan, 3}), {kNan, kNan, kNan, 1}));
  EXPECT_TRUE(same_numbers(of(DType::F32, "x * 0", {kInf, kNan, 2}), {kNan, kNan, 0}));
  EXPECT_TRUE(same_numbers(of(DType::F32, "x - x", {kInf, kNan, 2}), {kNan, kNan, 0}));
}

// The one exception: a sum takes a product up with one rounding.
TEST(Cases, C26_SumsOfProductsRoundOnce) {
  NEEDS_LLVM();
  const double e = 0x1p-12, exact = -(1 + 2 * e);  // (1 + e)^2 is -exact and 2^-24 beyond what f32 holds
  const Tensor x = array(DType::F32, {2, 3}, {exact, exact, exact, 1 + e, 1 + e, 1 + e}),
               y = array(DType::F32, {2, 3}, {1, 1, 1, 1 + e, 1 + e, 1 + e});
  // Both rows go to one sum where it is known that there are but two.
  const std::string in = "input x: f32[2, 3]\ninput y: f32[2, 3]\nreturn ";
  EXPECT_TRUE(same_numbers(numbers(run(in + "sum(x * y, axis=0)\n", {x, y})), {e * e, e * e, e * e}));
  EXPECT_TRUE(same_numbers(numbers(run(in + "x[0] * y[0] + x[1] * y[1]\n", {x, y})), {0, 0, 0}));
}

TEST(Cases, C27_FloorDivisionOfFloats) {
  NEEDS_LLVM();
  EXPECT_TRUE(same_numbers(of(DType::F64, "x // y", {1.0, -1.0, 7, -7, 1, 0}, {0.1, 0.1, 2, 2, -kInf, 5}),
                           {9, -10, 3, -4, -1, 0}));
  EXPECT_TRUE(same_numbers(of(DType::F64, "x % y", {-7, 7, 5.5, -0.0}, {2, -2, kInf, 3}), {1, -1, 5.5, 0.0}));
}

TEST(Cases, C28_HalvesRoundWhereTheyAreStored) {
  NEEDS_LLVM();
  const Tensor x = vector(DType::F16, {1, 2048, 0.1, 60000});
  // In f32 from the input to the output: 2048 + 1 - 2048 is 1, and 60000 * 2 / 2 does not overflow.
  EXPECT_TRUE(same_numbers(numbers(run("input x: f16[N]\nreturn (x + 2048) - 2048\n", {x}))[0] == 1
                               ? std::vector<double>{1}
                               : std::vector<double>{0},
                           {1}));
  EXPECT_EQ(numbers(run("input x: f16[N]\nreturn (x * 2) / 2\n", {x}))[3], 60000);
  // A cast that is written rounds, fused or not.
  EXPECT_EQ(numbers(run("input x: f16[N]\nreturn f32(f16(f32(x) * 2)) / 2\n", {x}))[3], kInf);
  EXPECT_EQ(numbers(run("input x: f16[N]\nreturn f16(f32(x) + 2048) - 2048\n", {x}))[0], 0);
  const Tensor y = vector(DType::F32, {1.00390625, 3.3e38, 0x1.01p0, 0x1.03p0});
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[N]\nreturn f32(bf16(x))\n", {y})),
                           {1, 0x1.fp127 > 3.3e38 ? 0x1.fp127 : 0x1.fp127, 1, 0x1.04p0}));
}

// Just off the middle between two halves: rounding to f32 first would make a tie of it.
TEST(Cases, C28_WideNumbersRoundToHalvesOnce) {
  NEEDS_LLVM();
  const Tensor x =
      vector(DType::F64, {1 + 0x1p-11 + 0x1p-40, -1 - 0x1p-11 - 0x1p-40, 1 + 0x1.8p-10 - 0x1p-40, 65520 - 0x1p-30});
  EXPECT_TRUE(same_numbers(numbers(run("input x: f64[N]\nreturn f16(x)\n", {x})),
                           {1 + 0x1p-10, -1 - 0x1p-10, 1 + 0x1p-10, 65504}));
  const Tensor y = vector(DType::F64, {1 + 0x1p-8 + 0x1p-40, kNan, kInf, -0.0, 1e-320, 1e300});
  EXPECT_TRUE(
      same_numbers(numbers(run("input x: f64[N]\nreturn bf16(x)\n", {y})), {1 + 0x1p-7, kNan, kInf, -0.0, 0, kInf}));
  const Tensor n = vector(DType::I32, {(1 << 30) + (1 << 22) + 1, 16777217});
  EXPECT_TRUE(right("input x: i32[N]\nreturn bf16(x), f16(x)\n", {n}));
  EXPECT_EQ(number(run("input x: i32[N]\nreturn bf16(x)\n", {n})), (1 << 30) + (1 << 23));
}

// Every f16 and bf16 number through every function of one float.
TEST(Cases, C29_EveryFunctionOfEveryHalf) {
  NEEDS_LLVM();
  for (const DType t : {DType::F16, DType::BF16}) {
    const Tensor x = Tensor::empty(t, {65536});
    for (int i = 0; i < 65536; ++i) static_cast<uint16_t*>(x.data)[i] = static_cast<uint16_t>(i);
    for (int o = 0; o < kOpCount; ++o) {
      const OpInfo& op = info(static_cast<Op>(o));
      if (op.arity != 1 || !op.on_float) continue;
      EXPECT_TRUE(right(fmt::format("input x: {}[N]\nreturn {}(x)\n", name_of(t), op.name), {x})) << op.name;
    }
    for (const char* name :
         {"relu", "gelu", "sigmoid", "silu", "softplus", "hardswish", "i8", "u16", "i64", "bool", "f64"})
      EXPECT_TRUE(right(fmt::format("input x: {}[N]\nreturn {}(x)\n", name_of(t), name), {x})) << name;
  }
}

TEST(Cases, C30_SumOfManyOnes) {
  NEEDS_LLVM();
  const Tensor one = scalar(DType::F32, 1);
  EXPECT_EQ(number(run("input x: f32\nreturn sum(broadcast_to(x, (100000000,)))\n", {one})), 1e8);
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32\nreturn sum(broadcast_to(x, (2, 50000000)), axis=1)\n", {one})),
                           {5e7, 5e7}));
  const Tensor row = filled(DType::F32, {4}, 1);
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[4]\nreturn sum(broadcast_to(x, (20000000, 4)), axis=0)\n", {row})),
                           {2e7, 2e7, 2e7, 2e7}));
}

}  // namespace
}  // namespace smelt::testing

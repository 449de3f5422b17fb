// Cases 31 to 36: what integers and bools do.
#include <fmt/format.h>

#include "run.hpp"

namespace smelt::testing {
namespace {

constexpr DType kInts[] = {DType::I8, DType::I16, DType::I32, DType::I64,
                           DType::U8, DType::U16, DType::U32, DType::U64};

// All pairs of the smallest, the largest and some small numbers of a type: x against y.
std::pair<Tensor, Tensor> pairs(DType t) {
  std::vector<Scalar> some;
  for (const int64_t v : {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 127})
    some.push_back(Scalar::of_int(t, v));
  for (const int64_t v : {-1, -2, -3, -7, -8, -63, -64}) some.push_back(Scalar::of_int(t, v));
  some.push_back(Scalar::of_int(t, min_int(t)));
  some.push_back(Scalar::of_uint(t, max_int(t)));
  const auto n = static_cast<int64_t>(some.size());
  Tensor x = Tensor::empty(t, {n * n}), y = Tensor::empty(t, {n * n});
  for (int64_t i = 0; i < n * n; ++i) {
    store_scalar(some[static_cast<size_t>(i / n)], static_cast<char*>(x.data) + i * size_of(t));
    store_scalar(some[static_cast<size_t>(i % n)], static_cast<char*>(y.data) + i * size_of(t));
  }
  return {x, y};
}

std::vector<double> of(DType t, const std::string& expression, const std::vector<double>& x,
                       const std::vector<double>& y) {
  const Tensor a = vector(t, x), b = vector(t, y);
  return numbers(run(fmt::format("input x: {0}[N]\ninput y: {0}[N]\nreturn {1}\n", name_of(t), expression), {a, b}));
}

TEST(Cases, C31_DivisionByZeroAndOverflow) {
  NEEDS_LLVM();
  for (const DType t : kInts) {
    const auto [x, y] = pairs(t);
    for (const char* e :
         {"x // y", "x % y", "fmod(x, y)", "x * y", "x - y", "x + y", "pow(x, y)", "abs(x)", "-x", "sign(x)"})
      EXPECT_TRUE(right(fmt::format("input x: {0}[N]\ninput y: {0}[N]\nreturn {1}\n", name_of(t), e), {x, y}))
          << name_of(t) << " " << e;
  }
  EXPECT_TRUE(
      same_numbers(of(DType::I32, "x // y", {-2147483648.0, 5, -5, 0}, {-1, 0, 0, 0}), {-2147483648.0, 0, 0, 0}));
  EXPECT_TRUE(same_numbers(of(DType::I32, "x % y", {-2147483648.0, 5, -5}, {-1, 0, 0}), {0, 0, 0}));
}

TEST(Cases, C32_DivisionOfNegativeNumbers) {
  NEEDS_LLVM();
  EXPECT_TRUE(same_numbers(of(DType::I32, "x // y", {7, -7, 7, -7}, {2, 2, -2, -2}), {3, -4, -4, 3}));
  EXPECT_TRUE(same_numbers(of(DType::I32, "x % y", {7, -7, 7, -7}, {2, 2, -2, -2}), {1, 1, -1, -1}));
  EXPECT_TRUE(same_numbers(of(DType::I32, "fmod(x, y)", {7, -7, 7, -7}, {2, 2, -2, -2}), {1, -1, 1, -1}));
}

TEST(Cases, C33_FloatToIntegerSaturates) {
  NEEDS_LLVM();
  const std::vector<double> values{kNan,       kInf,         -kInf,         1e30,         -1e30,  0.99,    -0.99,
                                   -1.5,       127.5,        128,           -128.9,       255.9,  256,     65536,
                                   2147483647, 2147483648.0, -2147483649.0, 4294967296.0, 9.3e18, -9.3e18, 1.9e19};
  for (const DType from : {DType::F32, DType::F64, DType::F16, DType::BF16})
    for (const DType to : kInts)
      EXPECT_TRUE(
          right(fmt::format("input x: {}[N]\nreturn {}(x)\n", name_of(from), name_of(to)), {vector(from, values)}))
          << name_of(from) << name_of(to);
  EXPECT_TRUE(same_numbers(
      numbers(run("input x: f32[N]\nreturn i32(x)\n", {vector(DType::F32, {kNan, kInf, -kInf, 3e9, -2.9})})),
      {0, 2147483647, -2147483648.0, 2147483647, -2}));
  EXPECT_TRUE(same_numbers(
      numbers(run("input x: f32[N]\nreturn u8(x)\n", {vector(DType::F32, {kNan, -1, 300, 254.9})})), {0, 0, 255, 254}));
}

TEST(Cases, C34_TruthOfNumbers) {
  NEEDS_LLVM();
  const Tensor f = vector(DType::F32, {2, -1, kNan, 0, -0.0, 0.25, 1e-45});
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[N]\nreturn bool(x)\n", {f})), {1, 1, 1, 0, 0, 1, 1}));
  for (const DType t : kInts) {
    const Tensor bools = run(fmt::format("input x: {}[N]\nreturn bool(x)\n", name_of(t)), {vector(t, {2, 0, 100, 64})});
    const auto* bytes = static_cast<const uint8_t*>(bools.data);
    EXPECT_EQ(std::vector<uint8_t>(bytes, bytes + 4), (std::vector<uint8_t>{1, 0, 1, 1})) << name_of(t);
  }
  // A caller's bool may be any byte; what comes out is 0 or 1.
  uint8_t any[40];
  for (int i = 0; i < 40; ++i) any[i] = static_cast<uint8_t>(i % 3 == 0 ? 0 : i * 6 + 2);
  const TensorView x{DType::Bool, {40}, {1}, any};
  const auto outputs =
      run_all("input x: bool[N]\nreturn x, ~x, x & x, sum(x), i32(x), where(x, 1, 2), x == True, x[::-1]\n", {x});
  for (int i = 0; i < 40; ++i) {
    const uint8_t truth = i % 3 != 0;
    const auto byte = [&](size_t o, int at) { return static_cast<const uint8_t*>(outputs[o].data)[at]; };
    EXPECT_EQ(byte(0, i), truth);
    EXPECT_EQ(byte(1, i), 1 - truth);
    EXPECT_EQ(byte(2, i), truth);
    EXPECT_EQ(number(outputs[4], i), truth);
    EXPECT_EQ(number(outputs[5], i), truth ? 1 : 2);
    EXPECT_EQ(byte(6, i), truth);
    EXPECT_EQ(byte(7, 39 - i), truth);
  }
  EXPECT_EQ(number(outputs[3]), 26);
}

TEST(Cases, C35_ShiftsByTheWidthAndMore) {
  NEEDS_LLVM();
  for (const DType t : kInts) {
    const auto [x, y] = pairs(t);
    for (const char* e : {"x << y", "x >> y", "x & y", "x | y", "x ^ y", "~x"})
      EXPECT_TRUE(right(fmt::format("input x: {0}[N]\ninput y: {0}[N]\nreturn {1}\n", name_of(t), e), {x, y}))
          << name_of(t) << " " << e;
  }
  EXPECT_TRUE(
      same_numbers(of(DType::I32, "x << y", {1, 1, 1, -1, 5}, {31, 32, 33, 100, -1}), {-2147483648.0, 0, 0, 0, 0}));
  EXPECT_TRUE(same_numbers(of(DType::I32, "x >> y", {-8, -8, 8, 8, -1}, {1, 32, 32, -1, 100}), {-4, -1, 0, 0, -1}));
}

TEST(Cases, C36_SmallIntegersWrap) {
  NEEDS_LLVM();
  EXPECT_TRUE(same_numbers(of(DType::U8, "x - y", {0, 5, 255}, {1, 10, 0}), {255, 251, 255}));
  EXPECT_TRUE(same_numbers(of(DType::I8, "x * y", {100, -128, 16}, {2, -1, 16}), {-56, -128, 0}));
  // Values between fused operations wrap as stored ones do.
  EXPECT_TRUE(same_numbers(of(DType::U8, "(x + y) // 2", {255, 200}, {3, 100}), {1, 22}));
  EXPECT_TRUE(same_numbers(of(DType::U8, "f32(x - y)", {0, 1}, {1, 0}), {255, 1}));
  const Tensor bytes = filled(DType::U8, {1000}, 255);
  EXPECT_EQ(number(run("input x: u8[N]\nreturn sum(x)\n", {bytes})), 255000);
}

}  // namespace
}  // namespace smelt::testing

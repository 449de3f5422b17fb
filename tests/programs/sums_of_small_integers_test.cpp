// Sums of bools and of integers of few bits, which lanes hold in as few bits as the sum may take:
// the largest and smallest elements everywhere, and lengths around those at which a type ends.
#include <fmt/format.h>

#include <limits>

#include "run.hpp"

namespace smelt::testing {
namespace {

const std::vector<std::pair<DType, double>> kExtremes = {{DType::Bool, 1}, {DType::U8, 255},    {DType::I8, -128},
                                                         {DType::I8, 127}, {DType::U16, 65535}, {DType::I16, -32768}};

TEST(SumsOfSmallIntegers, RowsOfEveryLength) {
  NEEDS_LLVM();
  for (const auto& [type, extreme] : kExtremes)
    for (const int64_t length :
         {0, 1, 31, 32, 33, 127, 128, 129, 255, 256, 257, 258, 16383, 16384, 16385, 65535, 65537}) {
      const std::string text =
          fmt::format("input x: {}[3, {}]\nreturn sum(x, axis=1), sum(x)\n", name_of(type), length);
      EXPECT_TRUE(right(text, {filled(type, {3, length}, extreme)})) << text;
    }
}

TEST(SumsOfSmallIntegers, LengthsThatTheCallSays) {
  NEEDS_LLVM();
  for (const auto& [type, extreme] : kExtremes) {
    const std::string text =
        fmt::format("input x: {}[N, M]\nreturn sum(x, axis=1), sum(x, axis=0), sum(x)\n", name_of(type));
    std::vector<Tensor> held;
    std::vector<std::vector<TensorView>> calls;
    for (const auto& [n, m] : {std::pair{0, 5}, {5, 0}, {1, 1}, {3, 257}, {2, 40000}, {1025, 33}, {70001, 3}}) {
      held.push_back(filled(type, {n, m}, extreme));
      calls.push_back({held.back()});
    }
    EXPECT_TRUE(right(text, calls)) << text;
  }
}

TEST(SumsOfSmallIntegers, DownColumns) {
  NEEDS_LLVM();
  for (const auto& [type, extreme] : kExtremes)
    for (const auto& [rows, columns] :
         {std::pair{255, 65}, {256, 1000}, {257, 63}, {1021, 2100}, {5003, 7}, {70000, 3}}) {
      const std::string text =
          fmt::format("input x: {}[{}, {}]\nreturn sum(x, axis=0)\n", name_of(type), rows, columns);
      EXPECT_TRUE(right(text, {filled(type, {rows, columns}, extreme)})) << text;
    }
}

// What is added has bounds of its own: of products, differences, choices and extremes.
TEST(SumsOfSmallIntegers, ExpressionsOfThem) {
  NEEDS_LLVM();
  const char* text =
      "input x: i8[7, 300]\ninput y: u8[7, 300]\ninput z: f32[7, 300]\n"
      "a = i64(x) * i64(y)\nb = i64(y) - 2 * i64(x)\nc = where(z > 0, i64(x), -3)\n"
      "d = minimum(maximum(i64(y), 9), 11)\ne = i64(x) * i64(x) * i64(x) * i64(y) * i64(y)\n"
      "f = i64(u8(i64(y) + 200))\ng = i64(i8(z * 100)) + i64(isnan(z))\n"
      "return sum(a, axis=1), sum(b, axis=1), sum(c, axis=1), sum(d, axis=1), sum(e, axis=1), sum(f, axis=1), "
      "sum(g, axis=1), sum(a), sum(c, axis=0), sum(x[:, :150] < x[:, 150:], axis=1)\n";
  const Tensor nasty = noise(DType::F32, {7, 300}, 5);
  auto* z = static_cast<float*>(nasty.data);
  z[0] = std::numeric_limits<float>::quiet_NaN(), z[1] = -0.0F, z[299] = std::numeric_limits<float>::infinity();
  for (const double low : {-128., 127.})
    EXPECT_TRUE(right(text, {filled(DType::I8, {7, 300}, low), filled(DType::U8, {7, 300}, 255), nasty}));
  EXPECT_TRUE(right(text, {noise(DType::I8, {7, 300}, 1), noise(DType::U8, {7, 300}, 2), nasty}));
}

// A sum that is used before it is a result, in other sums too.
TEST(SumsOfSmallIntegers, UsedOnTheWay) {
  NEEDS_LLVM();
  const char* text =
      "input x: u8[40, 333]\n"
      "n = sum(x > 3, axis=1, keepdims=True)\nm = sum(where(i64(x) * 2 < n, 1, 0), axis=1, keepdims=True)\n"
      "return f32(n) / f32(m), sum(n * i64(x), axis=1), sum(x[:, None, :] < x[:, :, None], axis=-1), i64(x) - n\n";
  EXPECT_TRUE(right(text, {noise(DType::U8, {40, 333}, 3)}));
  EXPECT_TRUE(right(text, {filled(DType::U8, {40, 333}, 255)}));
}

}  // namespace
}  // namespace smelt::testing

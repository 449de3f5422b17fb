// Transposes of arrays so large that tiles are large too, and whose sides no tile divides.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>

#include "compile/compile.hpp"
#include "frontends/language.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

template <class T>
void transposes(const std::string& dtype, DType type, int64_t rows, int64_t columns) {
  const Machine machine = Machine::cpu();
  const Graph graph =
      lang::parse_program("input x: " + dtype + "[M, N]\ninput y: " + dtype + "[N, M]\nreturn x.T + y\n", "test");
  CompileOptions options;
  options.sizes = {{"M"_size, rows}, {"N"_size, columns}};
  const Executable executable = compile(graph, machine, options);
  const Tensor x = Tensor::empty(type, {rows, columns}), y = Tensor::empty(type, {columns, rows});
  auto* xs = static_cast<T*>(x.data);
  auto* ys = static_cast<T*>(y.data);
  for (int64_t i = 0; i < rows * columns; ++i) xs[i] = static_cast<T>(i % 8191), ys[i] = static_cast<T>(i % 127);
  const std::vector<Tensor> out = executable.run({x, y});
  const auto* got = static_cast<const T*>(out[0].data);
  int64_t wrong = 0;
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r)
      wrong += got[c * rows + r] != static_cast<T>(xs[r * columns + c] + ys[c * rows + r]);
  EXPECT_EQ(wrong, 0) << dtype << " " << rows << " x " << columns;
}

TEST(Transpose, LargeTiles) {
  transposes<float>("f32", DType::F32, 2049, 2100);
  transposes<float>("f32", DType::F32, 5, 1'000'003);
  transposes<double>("f64", DType::F64, 2051, 2047);
  transposes<int16_t>("i16", DType::I16, 2049, 2051);
  transposes<int64_t>("i64", DType::I64, 100'003, 43);
}

TEST(Transpose, RowsOfTilesAreFetchedAhead) {
  const Machine machine = Machine::cpu();
  const Executable executable = compile(
      lang::parse_program("input x: f32[4000, 3000]\ninput y: f32[3000, 4000]\nreturn x.T + y\n", "test"), machine, {});
  const std::string text = kernel::print(executable.kernels().at(0));
  EXPECT_NE(text.find("prefetch in0["), std::string::npos) << text;
  EXPECT_NE(text.find("prefetch in1["), std::string::npos) << text;
}

// With a copy of the transposed array, which changes no bit of its elements.
TEST(Transpose, OfRowsThatAreScanned) {
  for (const bool bf16 : {false, true}) {
    const std::string input = "input x: " + std::string(bf16 ? "bf16" : "f32") + "[1027, 2048]\nreturn ";
    const Machine machine = Machine::cpu();
    const auto compiled = [&](const std::string& program) {
      return compile(lang::parse_program(input + program, "test"), machine, {});
    };
    const Executable turned = compiled("cummax(x.T, axis=1)"), straight = compiled("cummax(x, axis=0)");
    if (!bf16) {
      EXPECT_EQ(turned.plan().groups.size(), 2U);
    }
    const DType type = bf16 ? DType::BF16 : DType::F32;
    const Tensor x = Tensor::empty(type, {1027, 2048});
    for (int64_t i = 0; i < 1027 * 2048; ++i) {
      const float v = i % 50'021 == 7 ? std::numeric_limits<float>::quiet_NaN()
                                      : static_cast<float>(i * 7919 % 1013 + i / 2048) - 500.5F;
      if (bf16)
        static_cast<uint16_t*>(x.data)[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(v) >> 16);
      else
        static_cast<float*>(x.data)[i] = v;
    }
    const Tensor a = turned.run({x})[0], b = straight.run({x})[0];
    const auto size = static_cast<size_t>(size_of(type));
    int64_t wrong = 0;
    for (size_t r = 0; r < 1027; ++r)
      for (size_t c = 0; c < 2048; ++c)
        wrong += std::memcmp(static_cast<char*>(a.data) + (c * 1027 + r) * size,
                             static_cast<char*>(b.data) + (r * 2048 + c) * size, size) != 0;
    EXPECT_EQ(wrong, 0) << input;
  }
}

}  // namespace
}  // namespace smelt

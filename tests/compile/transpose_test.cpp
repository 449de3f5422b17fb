// Transposes of arrays so large that tiles are large too, and whose sides no tile divides.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace smelt

// Arguments whose axes lie in memory in another order than they have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <cmath>
#include <numeric>
#include <vector>

#include "graph/input_layouts.hpp"
#include "runtime/child_program.hpp"

namespace smelt {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// 0, 1, 2, ... in memory.
std::vector<float> counted(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.f);
  return values;
}

TEST(Order, OfTheAxesOfAnArrayIsRead) {
  const auto f = compile([](Array x, Array y) { return x - 2 * y; });
  const std::vector<float> memory = counted(200 * 150);
  const Array rows = Array::borrow(memory, {200, 150}), across = Array::borrow(memory, {200, 150}, {1, 200});
  const Array z = f(rows, across);
  for (const auto& [r, c] : std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {1, 0}, {0, 1}, {199, 149}, {73, 20}})
    EXPECT_EQ(z(r, c), memory[static_cast<size_t>(r * 150 + c)] - 2 * memory[static_cast<size_t>(c * 200 + r)]);
  EXPECT_EQ(f.specializations().at(0).types, "f32[B, 150], f32[B, 150] that lies as [150, B]");
  f.expect_kernels(1);
  f(rows, rows);
  EXPECT_EQ(f.specializations().at(1).reason,
            "argument 1 is f32[B, 150] row by row, not f32[B, 150] that lies as [150, B]");
  f(rows, across);
  f(across, across);
  EXPECT_EQ(f.compile_count(), 3);
}

TEST(Order, OfImagesWithChannelsLast) {
  const auto f = compile([](Array x) { return sum(x, {2, 3}); });
  std::vector<float> memory = counted(size_t{2} * 30 * 40 * 16);
  for (float& m : memory) m = std::fmod(m, 1000);  // sums that are exact in any order
  for (const Dims& dims : {Dims{2, 16, 30, 40}, Dims{1, 16, 60, 40}}) {
    const Array last = Array::borrow(memory, dims, {dims[1] * dims[2] * dims[3], 1, dims[1] * dims[3], dims[1]});
    const Array sums = f(last);
    EXPECT_THAT(sums.to_vector<float>(), ElementsAreArray(f(last.copy()).to_vector<float>()));
  }
  EXPECT_THAT(f.specializations().at(0).types, HasSubstr("that lies as"));
}

// Small arrays, gaps within rows, rows that go backwards and elements that are repeated have no
// order: they are copied.
TEST(Order, OtherArraysAreCopied) {
  const auto f = compile([](Array x) { return x + 1; });
  const std::vector<float> memory = counted(size_t{300} * 300);
  for (const auto& [dims, strides, offset] : std::vector<std::tuple<Dims, Dims, int64_t>>{
           {{20, 30}, {1, 20}, 0}, {{150, 150}, {2, 300}, 0}, {{200, 150}, {150, -1}, 149}, {{200, 150}, {0, 1}, 0}}) {
    const Array x = Array::borrow(memory, dims, strides, offset);
    EXPECT_THAT(f(x).to_vector<float>(), ElementsAreArray(f(x.copy()).to_vector<float>()));
  }
  for (const Specialization& made : f.specializations()) EXPECT_EQ(made.types.find("lies"), std::string::npos);
}

TEST(Order, IsKeptInAFile) {
  const runtime::TemporaryFolder folder;
  const std::string path = folder.path() + "/f.smelt";
  const std::vector<float> memory = counted(200 * 150);
  const Array rows = Array::borrow(memory, {200, 150}), across = Array::borrow(memory, {200, 150}, {1, 200});
  const auto f = compile([](Array x) { return x * 3; });
  for (const Array& first : {rows, across}) {
    const auto g = compile([](Array x) { return x * 3; });
    g(first);
    g.save(path);
    const auto loaded = load_function<Array(Array)>(path);
    for (const Array& x : {across, rows})
      EXPECT_THAT(loaded(x).to_vector<float>(), ElementsAreArray(f(x).to_vector<float>()));
  }
}

TEST(Order, OfAnInputIsAPermutationBehindIt) {
  Graph graph;
  smelt::Node input{.kind = NodeKind::Input}, cast{.kind = NodeKind::Cast};
  input.dtype = DType::F32, input.shape = {2, 3, 4}, input.name = "x";
  cast.dtype = DType::F64, cast.shape = input.shape, cast.args = {0};
  graph.nodes = {input, cast};
  graph.inputs = {0};
  graph.outputs = {1, 0};
  const Graph made = with_input_layouts(graph, {{{2, 0, 1}, {}}});
  verify(made);
  EXPECT_EQ(print(made),
            "%0 = input f32[4, 2, 3] x\n%1 = permute f32[2, 3, 4] %0 order=[1, 2, 0]\n%2 = cast f64[2, 3, 4] %1\n"
            "return %2 %1\n");
  EXPECT_EQ(print(with_input_layouts(graph, {{}})), print(graph));
}

}  // namespace
}  // namespace smelt

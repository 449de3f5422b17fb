// Arguments with gaps between their rows, as a slice of the columns of a larger array has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "api/layout.hpp"
#include "graph/input_layouts.hpp"
#include "runtime/child_program.hpp"
#include "support/message_of.hpp"

namespace smelt {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using testing::message_of;

struct Lies {
  Dims dims, strides;
  // Elements from the first to the last, none behind it.
  size_t across() const {
    int64_t last = 0;
    for (size_t d = 0; d < dims.size(); ++d) last += (dims[d] - 1) * strides[d];
    return static_cast<size_t>(last) + 1;
  }
};

const std::vector<Lies> kWithGaps{
    {{200, 150}, {300, 1}},         {{200, 150}, {151, 1}},         {{129, 256}, {260, 1}},
    {{150, 200}, {1, 300}},         {{20, 30, 64}, {3000, 100, 1}}, {{20, 30, 64}, {1920, 64, 1}},
    {{20, 64, 30}, {3000, 1, 100}}, {{30000, 3}, {4, 1}},           {{1, 200, 150}, {7, 300, 1}}};

// What is read although it is no element shows as NaN.
std::vector<float> values_of(const Lies& lies) {
  std::vector<float> memory(lies.across(), std::numeric_limits<float>::quiet_NaN());
  const Array shape = Array::borrow(memory, lies.dims, lies.strides);
  int64_t count = 0;
  const auto fill = [&](const auto& self, size_t axis, size_t at) -> void {
    if (axis == lies.dims.size()) {
      memory[at] = static_cast<float>(count++ * 7919 % 1009) / 64 - 5;
      return;
    }
    for (int64_t i = 0; i < lies.dims[axis]; ++i)
      self(self, axis + 1, at + static_cast<size_t>(i * lies.strides[axis]));
  };
  fill(fill, 0, 0);
  return memory;
}

void expect_near(const Array& found, const Array& expected) {
  const std::vector<float> f = found.to_vector<float>(), e = expected.to_vector<float>();
  ASSERT_EQ(f.size(), e.size());
  for (size_t i = 0; i < f.size(); ++i) ASSERT_NEAR(f[i], e[i], 1e-4 * (1 + std::abs(e[i]))) << i;
}

TEST(Gaps, AreSkippedByEveryKindOfKernel) {
  const std::vector<std::pair<const char*, std::function<Array(Array)>>> programs{
      {"itself", [](const Array& x) { return x; }},
      {"pointwise", [](const Array& x) { return exp(x) * 2 + x; }},
      {"rows", [](const Array& x) { return softmax(x, -1); }},
      {"columns", [](const Array& x) { return sum(x, 0); }},
      {"everything", [](const Array& x) { return sum(x * x); }},
      {"turned", [](const Array& x) { return x.T() + 1; }},
      {"scan", [](const Array& x) { return cumsum(x, -1); }},
      {"neighbours", [](const Array& x) { return roll(x, 1, -1) - x; }},
      {"reshaped", [](const Array& x) { return reshape(x, {-1}) * 3; }},
  };
  for (const auto& [name, program] : programs) {
    const auto f = compile(program);
    for (const Lies& lies : kWithGaps) {
      SCOPED_TRACE(std::string(name) + " of " + str(lies.dims) + " with strides " + str(lies.strides));
      const std::vector<float> memory = values_of(lies);
      const Array x = Array::borrow(memory, lies.dims, lies.strides);
      expect_near(compile(program)(x), f(x.copy()));
      expect_near(f(x), f(x.copy()));
    }
  }
}

TEST(Gaps, AreSkippedByProducts) {
  const Lies left{{150, 200}, {333, 1}}, right{{200, 170}, {1, 208}};
  const std::vector<float> a = values_of(left), b = values_of(right);
  const Array x = Array::borrow(a, left.dims, left.strides), y = Array::borrow(b, right.dims, right.strides);
  const auto f = compile([](const Array& x, const Array& y) { return matmul(x, y); });
  const Array found = f(x, y);
  EXPECT_EQ(f.specializations().at(0).types,
            "f32[150, 200] with strides [333, 1], f32[200, 170] with strides [1, 208]");
  expect_near(found, compile([](const Array& x, const Array& y) { return matmul(x, y); })(x.copy(), y.copy()));
}

// Independent kernels of one launch, some of them copies of what is returned as it is.
TEST(Gaps, AreSkippedByBatches) {
  const Lies lies{{100, 64}, {150, 1}}, other{{30, 20}, {33, 1}}, one{{1, 1}, {9, 1}};
  const std::vector<float> a = values_of(lies), b = values_of(other), c = values_of(one);
  const auto f = compile([](const std::vector<Array>& xs) {
    std::vector<Array> made = xs;
    for (const Array& x : xs) made.push_back(x * 2);
    return made;
  });
  const std::vector<Array> xs{Array::borrow(a, lies.dims, lies.strides), Array::borrow(b, other.dims, other.strides),
                              Array::borrow(a, {99, 64}, {150, 1}, 150), Array::borrow(c, one.dims, one.strides)};
  std::vector<Array> copies;
  for (const Array& x : xs) copies.push_back(x.copy());
  const std::vector<Array> found = f(xs), expected = f(copies);
  ASSERT_EQ(found.size(), 8u);
  for (size_t i = 0; i < found.size(); ++i) expect_near(found[i], expected[i]);
}

TEST(Gaps, OfFewDistancesAreReadAndOthersCopied) {
  const auto f = compile([](Array x) { return x + 1; }), rows = compile([](Array x) { return x + 1; });
  for (int64_t apart = 201; apart < 210; ++apart) {
    const Lies lies{{100, 200}, {apart, 1}};
    const std::vector<float> memory = values_of(lies);
    const Array x = Array::borrow(memory, lies.dims, lies.strides);
    EXPECT_THAT(f(x).to_vector<float>(), ElementsAreArray(rows(x.copy()).to_vector<float>()));
  }
  EXPECT_EQ(f.compile_count(), 5);
  EXPECT_THAT(f.specializations().at(1).reason,
              HasSubstr("is f32[B, 200] with strides [202, 1], not f32[B, 200] with strides [201, 1]"));
  EXPECT_EQ(f.specializations().at(4).types, "f32[B, 200]");
}

TEST(Gaps, MayLieBesideTheOutput) {
  std::vector<float> memory(size_t{100} * 400, 3);
  const Array x = Array::borrow(memory, {100, 200}, {400, 1}, 0);
  compile([](Array x) { return x * 2; }).into(Array::borrow(memory, {100, 200}, {400, 1}, 200))(x);
  for (size_t i = 0; i < memory.size(); ++i) ASSERT_EQ(memory[i], i % 400 < 200 ? 3 : 6) << i;
  compile([](Array x) { return x * 2; }).into(x)(x);
  for (size_t i = 0; i < memory.size(); ++i) ASSERT_EQ(memory[i], 6) << i;
}

TEST(Gaps, AreKeptInAFile) {
  const runtime::TemporaryFolder folder;
  const std::string path = folder.path() + "/f.smelt";
  const Lies lies{{200, 150}, {300, 1}};
  const std::vector<float> memory = values_of(lies);
  const Array x = Array::borrow(memory, lies.dims, lies.strides), rows = x.copy();
  for (const Array& first : {x, rows}) {
    const auto f = compile([](Array x) { return x * 3; });
    f(first);
    f.save(path);
    const auto loaded = load_function<Array(Array)>(path);
    for (const Array& argument : {x, rows})
      EXPECT_THAT(loaded(argument).to_vector<float>(), ElementsAreArray(f(rows).to_vector<float>()));
  }
}

TEST(Gaps, AreStridesOfAnInput) {
  Graph graph;
  smelt::Node input{.kind = NodeKind::Input}, cast{.kind = NodeKind::Cast};
  input.dtype = DType::F32, input.shape = {2, 3, 4}, input.name = "x";
  cast.dtype = DType::F64, cast.shape = input.shape, cast.args = {0};
  graph.nodes = {input, cast};
  graph.inputs = {0};
  graph.outputs = {1};
  const Graph rows = with_input_layouts(graph, {{{}, {20, 5, 1}}}),
              turned = with_input_layouts(graph, {{{0, 2, 1}, {20, 3, 1}}});
  verify(rows), verify(turned);
  EXPECT_EQ(print(rows), "%0 = input f32[2, 3, 4] x strides=[20, 5, 1]\n%1 = cast f64[2, 3, 4] %0\nreturn %1\n");
  EXPECT_EQ(print(turned),
            "%0 = input f32[2, 4, 3] x strides=[20, 3, 1]\n%1 = permute f32[2, 3, 4] %0 order=[0, 2, 1]\n"
            "%2 = cast f64[2, 3, 4] %1\nreturn %2\n");
  EXPECT_EQ(message_of<InternalError>([&] {
              verify(with_input_layouts(graph, {{{}, {11, 4, 1}}}));
            }),
            "internal error in smelt: graph: %0 (input): strides [11, 4, 1] of [2, 3, 4]")
      << "elements share a place";
  EXPECT_EQ(message_of<InternalError>([&] {
              verify(with_input_layouts(graph, {{{}, {24, 8, 2}}}));
            }),
            "internal error in smelt: graph: %0 (input): strides [24, 8, 2]")
      << "gaps within rows";
}

TEST(Gaps, OfMemoryAreFound) {
  const auto layout = [](const Dims& dims, const Dims& strides, bool gaps = true) {
    return detail::memory_layout({DType::F32, dims, strides, nullptr}, gaps);
  };
  EXPECT_EQ(layout({200, 150}, {300, 1}), (MemoryLayout{{}, {300, 1}}));
  EXPECT_EQ(layout({200, 150}, {1, 300}), (MemoryLayout{{1, 0}, {300, 1}}));
  EXPECT_EQ(layout({200, 150}, {1, 200}), (MemoryLayout{{1, 0}, {}}));
  EXPECT_EQ(layout({200, 1, 150}, {300, 5, 1}), (MemoryLayout{{}, {300, 150, 1}}));
  const MemoryLayout rows;
  EXPECT_EQ(layout({200, 150}, {300, 1}, false), rows) << "gaps are not read";
  EXPECT_EQ(layout({20, 30}, {40, 1}), rows) << "a small array";
  EXPECT_EQ(layout({200, 150}, {300, 2}), rows) << "gaps within rows";
  EXPECT_EQ(layout({200, 150}, {100, 1}), rows) << "rows that overlap";
  EXPECT_EQ(layout({200, 150}, {0, 1}), rows) << "rows that repeat";
  EXPECT_EQ(layout({200, 150}, {-300, 1}), rows) << "rows from the last to the first";
}

}  // namespace
}  // namespace smelt

// Sums and extrema over long windows as those over shorter ones: which are written out, in how many
// operations, and that they are the same values.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <functional>
#include <random>

#include "graph/build.hpp"
#include "graph/functions.hpp"
#include "support/arrays.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

namespace f = functions;
using Build = std::function<NodeId(GraphBuilder&, NodeId x)>;

struct Count {
  size_t reductions = 0, operations = 0;
  bool operator==(const Count&) const = default;
};
void PrintTo(const Count& c, std::ostream* out) {
  *out << c.reductions << " reductions, " << c.operations << " operations";
}

Count count_in(const Graph& graph) {
  Count count;
  for (const Node& n : graph.nodes) {
    count.reductions += n.kind == NodeKind::Reduce;
    count.operations += n.kind == NodeKind::Elementwise && (n.op == Op::Add || n.op == Op::Max || n.op == Op::Min);
  }
  return count;
}

double element(const Tensor& array, int64_t i) {
  return load_scalar(array.dtype, static_cast<const char*>(array.data) + i * size_of(array.dtype)).as_double();
}

Graph graph_of(DType dtype, const Shape& shape, const Build& build) {
  GraphBuilder b;
  const NodeId x = b.input("x", dtype, shape);
  return simplify(b.finish({build(b, x)}));
}

Build max_of(std::vector<int64_t> size, std::vector<int64_t> stride = {1}, std::vector<int64_t> dilation = {}) {
  return [=](GraphBuilder& b, NodeId x) { return f::max_pool(b, x, {size, stride, {}, dilation}); };
}
Build min_of(std::vector<int64_t> size) {
  return [=](GraphBuilder& b, NodeId x) { return f::min_pool(b, x, {size, {1}, {}, {}}); };
}
Build mean_of(std::vector<int64_t> size) {
  return [=](GraphBuilder& b, NodeId x) { return f::avg_pool(b, x, {size, {1}, {}, {}}, true); };
}
Build sum_of(const Shape& size) {
  return [=](GraphBuilder& b, NodeId x) {
    return b.reduce(ReduceKind::Sum, b.window(x, {-2, -1}, size, {1, 1}, {1, 1}), {-2, -1}, false);
  };
}

Count written(const Shape& shape, const Build& build) {
  const Graph graph = simplify(with_windows_in_steps(graph_of(DType::F32, shape, build)));
  verify(graph);
  return count_in(graph);
}

const Shape kImages{sym("N"_size), sym("H"_size), sym("W"_size)}, kNarrow{sym("N"_size), sym("H"_size), 20};

TEST(WindowsInSteps, TakeAsManyOperationsAsTheLogarithm) {
  EXPECT_EQ(written(kImages, mean_of({11, 11})), (Count{0, 10}));
  EXPECT_EQ(written(kImages, max_of({11, 11})), (Count{0, 8}));
  EXPECT_EQ(written(kImages, mean_of({64})), (Count{0, 6}));
  EXPECT_EQ(written(kImages, min_of({5, 5, 5})), (Count{0, 9}));
  EXPECT_EQ(written(kImages, max_of({3, 3})), (Count{0, 4}));
  EXPECT_EQ(written(kNarrow, max_of({5, 5})), (Count{0, 6}));
}

TEST(WindowsInSteps, NotWhereThatSavesLittle) {
  const Count whole{1, 0};
  EXPECT_EQ(written(kImages, max_of({2, 2})), whole);
  EXPECT_EQ(written(kImages, sum_of({3, 3})), whole);
  EXPECT_EQ(written(kImages, max_of({8, 8}, {8})), whole);
  EXPECT_EQ(written(kImages, max_of({5, 5}, {1}, {2})), whole);
  EXPECT_EQ(written(kNarrow, max_of({3, 3})), whole);
  EXPECT_EQ(written(kImages, mean_of({3, 3, 3})), whole);
}

struct Case {
  DType dtype;
  Build build;
  double relative;  // error
};

TEST(WindowsInSteps, AreTheSameValues) {
  std::mt19937_64 random(3);
  for (const Case& c :
       {Case{DType::F32, max_of({7, 5}), 0}, Case{DType::U8, min_of({6, 11}), 0}, Case{DType::I32, sum_of({7, 13}), 0},
        Case{DType::BF16, sum_of({7, 13}), 1e-2}, Case{DType::F32, mean_of({23}), 1e-9}}) {
    const Graph graph = graph_of(c.dtype, {2, 19, 90}, c.build), steps = with_windows_in_steps(graph);
    EXPECT_EQ(count_in(steps).reductions, 0U);
    const Tensor array = noise(c.dtype, {2, 19, 90}, random, 100);
    const Tensor a = interpret(graph, {array})[0], b = interpret(steps, {array})[0];
    ASSERT_EQ(a.dims, b.dims);
    for (int64_t i = 0; i < a.count(); ++i)
      ASSERT_NEAR(element(a, i), element(b, i), c.relative * (1 + std::abs(element(a, i))))
          << name_of(c.dtype) << " at " << i;
  }
}

}  // namespace
}  // namespace smelt

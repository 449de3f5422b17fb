// Size symbols from the arrays of a call.
#include <gtest/gtest.h>

#include "graph/build.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

const IntExpr A = sym("A"_size), B = sym("B"_size), C = sym("C"_size);

Graph with_inputs(const std::vector<Shape>& shapes) {
  GraphBuilder g;
  NodeId last = -1;
  for (size_t i = 0; i < shapes.size(); ++i)
    last = g.input(std::string(1, static_cast<char>('x' + i)), DType::F32, shapes[i]);
  return g.finish({last});
}

std::string error_of(const Graph& graph, const std::vector<Dims>& dims) {
  try {
    bind_sizes(graph, dims);
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

TEST(Bind, FindsSymbols) {
  const Graph graph = with_inputs({{B, 8}, {C, B}, {B * 2 + 1}});
  EXPECT_EQ(bind_sizes(graph, {{4, 8}, {3, 4}, {9}}), (SizeBinding{{"B"_size, 4}, {"C"_size, 3}}));
  EXPECT_EQ(bind_sizes(graph, {{0, 8}, {1, 0}, {1}}), (SizeBinding{{"B"_size, 0}, {"C"_size, 1}}));
}

TEST(Bind, SolvesWhatIsLinear) {
  EXPECT_EQ(bind_sizes(with_inputs({{B * 2}}), {{8}}), (SizeBinding{{"B"_size, 4}}));
  EXPECT_EQ(bind_sizes(with_inputs({{B - 1}}), {{8}}), (SizeBinding{{"B"_size, 9}}));
  EXPECT_EQ(bind_sizes(with_inputs({{B * C, C}}), {{12, 3}}), (SizeBinding{{"B"_size, 4}, {"C"_size, 3}}));
  // Each symbol found makes the next one linear, whatever the order of the inputs.
  EXPECT_EQ(bind_sizes(with_inputs({{A * B}, {B * C}, {C}}), {{30}, {6}, {2}}),
            (SizeBinding{{"A"_size, 10}, {"B"_size, 3}, {"C"_size, 2}}));
}

TEST(Bind, Messages) {
  const Graph graph = with_inputs({{B, 8}, {C, B}, {B * 2}});
  EXPECT_EQ(error_of(graph, {{4, 8}, {3, 4}}), "the program has 3 inputs, and 2 arrays are given");
  EXPECT_EQ(error_of(graph, {{4}, {3, 4}, {8}}),
            "input x is f32[B, 8], of rank 2, but the array has shape [4], of rank 1");
  EXPECT_EQ(error_of(graph, {{4, 7}, {3, 4}, {8}}), "input x is f32[B, 8], but axis 1 of the array has size 7, not 8");
  EXPECT_EQ(error_of(graph, {{4, 8}, {3, 5}, {8}}),
            "input y is f32[C, B], but axis 1 of the array has size 5, not 4: B is 4 (axis 0 of input x)");
  EXPECT_EQ(error_of(graph, {{4, 8}, {3, 4}, {9}}),
            "input z is f32[2*B], but axis 0 of the array has size 9, not 8: B is 4 (axis 0 of input x)");
  EXPECT_EQ(error_of(with_inputs({{B * 2}}), {{7}}),
            "input x is f32[2*B], but axis 0 of the array has size 7: no B of 0 or more makes 2*B that");
  EXPECT_EQ(
      error_of(with_inputs({{B * C}}), {{12}}),
      "input x is f32[B*C], but axis 0 of the array has size 12: B cannot be found from it: declare an input with "
      "a size B alone");
  EXPECT_EQ(error_of(with_inputs({{B}}), {{-1}}), "shape [-1] has the negative size -1");
}

TEST(Bind, Constraints) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {B, 3});
  const NodeId y = g.reshape(x, {-1, 4}), z = g.slice(x, {2, 0}, {1, 1}, {B - 2, 3});
  const NodeId m = g.reduce(ReduceKind::Max, z, {}, false);
  const Graph graph = g.finish({y, m});
  EXPECT_EQ(error_of(graph, {{4, 3}}), "");
  EXPECT_EQ(
      error_of(graph, {{5, 3}}),
      "cannot reshape f32[B, 3] (3*B elements) to [-1, 4]: 4 must divide the number of elements; here B is 5 (axis "
      "0 of input x)");
  EXPECT_EQ(error_of(graph, {{0, 3}}),
            "a slice of axis 0 of f32[B, 3] cannot have the negative size B - 2; here B is 0 (axis 0 of input x)");
}

TEST(Bind, ProgramsWithoutInputs) { EXPECT_EQ(bind_sizes(with_inputs({{}}), {{}}), SizeBinding{}); }

}  // namespace
}  // namespace smelt

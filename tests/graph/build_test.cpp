// GraphBuilder: dtypes, shapes, and the nodes that it inserts.
#include "graph/build.hpp"
#include "support/symbols.hpp"

#include <gtest/gtest.h>

#include <map>

namespace smelt {
namespace {

const IntExpr B = sym("B"_size), C = sym("C"_size);
using L = Literal;

L lit(int value) { return int64_t{value}; }

// The dtype that the Array API standard gives to a pair; "" where it leaves the pair undefined. u64
// with signed integers and every mix of kinds is undefined; f16 with bf16 is this project's own
// rule.
std::string promoted(DType a, DType b) {
  GraphBuilder g;
  const NodeId x = g.input("x", a, {4}), y = g.input("y", b, {4});
  try {
    const NodeId z = g.elementwise(Op::Where, {L{true}, x, y});
    verify(g.finish({z}));
    return std::string(name_of(a == b ? a : *promote(a, b)));
  } catch (const UserBuildError&) {
    return "";
  }
}

TEST(Promotion, TableOfTheArrayApi) {
  const char* names[] = {"bool", "i8",      "i16",     "i32", "i64",  "u8",  "u16", "u32",
                         "u64",  "f8_e4m3", "f8_e5m2", "f16", "bf16", "f32", "f64"};
  const char* table[15][15] = {
      {"bool", "", "", "", "", "", "", "", "", "", "", "", "", "", ""},
      {"", "i8", "i16", "i32", "i64", "i16", "i32", "i64", "", "", "", "", "", "", ""},
      {"", "i16", "i16", "i32", "i64", "i16", "i32", "i64", "", "", "", "", "", "", ""},
      {"", "i32", "i32", "i32", "i64", "i32", "i32", "i64", "", "", "", "", "", "", ""},
      {"", "i64", "i64", "i64", "i64", "i64", "i64", "i64", "", "", "", "", "", "", ""},
      {"", "i16", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "", "", "", "", "", ""},
      {"", "i32", "i32", "i32", "i64", "u16", "u16", "u32", "u64", "", "", "", "", "", ""},
      {"", "i64", "i64", "i64", "i64", "u32", "u32", "u32", "u64", "", "", "", "", "", ""},
      {"", "", "", "", "", "u64", "u64", "u64", "u64", "", "", "", "", "", ""},
      {"", "", "", "", "", "", "", "", "", "f8_e4m3", "f32", "f16", "bf16", "f32", "f64"},
      {"", "", "", "", "", "", "", "", "", "f32", "f8_e5m2", "f16", "bf16", "f32", "f64"},
      {"", "", "", "", "", "", "", "", "", "f16", "f16", "f16", "f32", "f32", "f64"},
      {"", "", "", "", "", "", "", "", "", "bf16", "bf16", "f32", "bf16", "f32", "f64"},
      {"", "", "", "", "", "", "", "", "", "f32", "f32", "f32", "f32", "f32", "f64"},
      {"", "", "", "", "", "", "", "", "", "f64", "f64", "f64", "f64", "f64", "f64"},
  };
  for (int a = 0; a < kDTypeCount; ++a)
    for (int b = 0; b < kDTypeCount; ++b)
      EXPECT_EQ(promoted(kAllDTypes[a], kAllDTypes[b]), table[a][b]) << names[a] << " with " << names[b];
}

TEST(Promotion, LiteralsTakeTheDtypeOfTheArray) {
  for (DType t : kAllDTypes) {
    GraphBuilder g;
    const NodeId x = g.input("x", t, {B});
    if (is_bool(t)) {
      EXPECT_EQ(g.dtype(g.elementwise(Op::And, {x, L{true}})), t);
      continue;
    }
    const NodeId y = g.elementwise(Op::Mul, {x, lit(2)});
    EXPECT_EQ(g.dtype(y), t);
    EXPECT_EQ(g.dtype(g.elementwise(Op::Sub, {lit(100), x})), t);
    if (is_float(t)) {
      EXPECT_EQ(g.dtype(g.elementwise(Op::Add, {x, L{0.5}})), t);
    }
    EXPECT_EQ(g.dtype(g.elementwise(Op::Lt, {x, lit(2)})), DType::Bool);
    verify(g.finish({y}));
  }
}

TEST(Promotion, LiteralsAlone) {
  GraphBuilder g;
  EXPECT_EQ(g.dtype(g.elementwise(Op::Add, {lit(1), lit(2)})), DType::I64);
  EXPECT_EQ(g.dtype(g.elementwise(Op::Add, {lit(1), L{2.5}})), DType::F32);
  EXPECT_EQ(g.dtype(g.elementwise(Op::Or, {L{true}, L{false}})), DType::Bool);
  EXPECT_EQ(g.dtype(g.elementwise(Op::Div, {lit(1), lit(3)})), DType::F32);  // as Python divides
  EXPECT_EQ(g.dtype(g.elementwise(Op::Sqrt, {lit(2)})), DType::F32);
}

TEST(Promotion, ThreeArguments) {
  GraphBuilder g;
  const NodeId c = g.input("c", DType::Bool, {B, 1}), x = g.input("x", DType::I8, {4}),
               y = g.input("y", DType::U8, {B, 4});
  const NodeId z = g.elementwise(Op::Where, {c, x, y});
  EXPECT_EQ(g.dtype(z), DType::I16);
  EXPECT_EQ(str(g.shape(z)), "[B, 4]");
  EXPECT_EQ(g.dtype(g.elementwise(Op::Where, {c, L{1.5}, lit(0)})), DType::F32);
  verify(g.finish({z}));
}

TEST(Broadcast, FollowsNumPy) {
  GraphBuilder g;
  const std::vector<std::pair<std::vector<Shape>, std::string>> cases = {
      {{{}, {}}, "[]"},
      {{{}, {4}}, "[4]"},
      {{{8, 1, 6, 1}, {7, 1, 5}}, "[8, 7, 6, 5]"},
      {{{B, C}, {C}}, "[B, C]"},
      {{{B, 1}, {1, C}}, "[B, C]"},
      {{{B * 2}, {B + B}}, "[2*B]"},
      {{{0}, {1}}, "[0]"},
      {{{0, 3}, {3}}, "[0, 3]"},
      {{{1}, {B}, {1, 1}}, "[1, B]"},
      {{}, "[]"},
  };
  for (const auto& [shapes, expected] : cases) EXPECT_EQ(str(g.broadcast_shapes(shapes)), expected);
}

TEST(Broadcast, EveryArgumentHasTheShapeOfTheNode) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {B, C}), y = g.input("y", DType::F32, {C});
  const NodeId z = g.elementwise(Op::Add, {g.elementwise(Op::Mul, {x, y}), lit(1)});
  const Graph graph = g.finish({z});
  verify(graph);
  EXPECT_EQ(print(graph),
            "%0 = input f32[B, C] x\n"
            "%1 = input f32[C] y\n"
            "%2 = reshape f32[1, C] %1\n"
            "%3 = broadcast f32[B, C] %2\n"
            "%4 = multiply f32[B, C] %0 %3\n"
            "%5 = constant f32 1\n"
            "%6 = reshape f32[1, 1] %5\n"
            "%7 = broadcast f32[B, C] %6\n"
            "%8 = add f32[B, C] %4 %7\n"
            "return %8\n");
}

TEST(Reduce, Dtypes) {
  const std::map<DType, DType> sums = {
      {DType::Bool, DType::I64},      {DType::I8, DType::I64},        {DType::I16, DType::I64},
      {DType::I32, DType::I64},       {DType::I64, DType::I64},       {DType::U8, DType::U64},
      {DType::U16, DType::U64},       {DType::U32, DType::U64},       {DType::U64, DType::U64},
      {DType::F8E4M3, DType::F8E4M3}, {DType::F8E5M2, DType::F8E5M2}, {DType::F16, DType::F16},
      {DType::BF16, DType::BF16},     {DType::F32, DType::F32},       {DType::F64, DType::F64}};
  for (DType t : kAllDTypes) {
    GraphBuilder g;
    const NodeId x = g.input("x", t, {4, 4});
    std::vector<NodeId> outputs;
    for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max, ReduceKind::Min, ReduceKind::Any,
                            ReduceKind::All, ReduceKind::ArgMax, ReduceKind::ArgMin}) {
      const NodeId r = g.reduce(kind, x, {}, false);
      outputs.push_back(r);
      EXPECT_TRUE(g.shape(r).empty());
      switch (kind) {
        case ReduceKind::Sum:
        case ReduceKind::Prod: EXPECT_EQ(g.dtype(r), sums.at(t)); break;
        case ReduceKind::Max:
        case ReduceKind::Min: EXPECT_EQ(g.dtype(r), t); break;
        case ReduceKind::Any:
        case ReduceKind::All: EXPECT_EQ(g.dtype(r), DType::Bool); break;
        case ReduceKind::ArgMax:
        case ReduceKind::ArgMin: EXPECT_EQ(g.dtype(r), DType::I64); break;
      }
    }
    verify(g.finish(outputs));
  }
}

TEST(Reduce, AxesAndKeepdims) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {2, B, 4});
  EXPECT_EQ(str(g.shape(g.reduce(ReduceKind::Sum, x, {-1, 0}, false))), "[B]");
  EXPECT_EQ(str(g.shape(g.reduce(ReduceKind::Sum, x, {-1, 0}, true))), "[1, B, 1]");
  EXPECT_EQ(str(g.shape(g.reduce(ReduceKind::Max, x, {1}, false))), "[2, 4]");
  EXPECT_EQ(str(g.shape(g.reduce(ReduceKind::ArgMax, x, {}, true))), "[1, 1, 1]");
  const NodeId last = g.reduce(ReduceKind::Sum, x, {}, false);
  const Graph graph = g.finish({last});
  verify(graph);
  // max over B, and argmax over 8*B elements, need at least one.
  ASSERT_EQ(graph.constraints.size(), 1u);
  EXPECT_EQ(graph.constraints[0].left.str(), "B");
}

TEST(Reduce, OfAScalar) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::I8, {});
  EXPECT_EQ(g.dtype(g.reduce(ReduceKind::Sum, x, {}, true)), DType::I64);
  EXPECT_EQ(g.reduce(ReduceKind::Max, x, {}, false), x);
  EXPECT_EQ(g.at(g.reduce(ReduceKind::ArgMax, x, {}, false)).kind, NodeKind::Constant);
}

TEST(Reshape, ProvesCounts) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {B, 8});
  EXPECT_EQ(str(g.shape(g.reshape(x, {B * 2, 4}))), "[2*B, 4]");
  EXPECT_EQ(str(g.shape(g.reshape(x, {-1}))), "[8*B]");
  EXPECT_EQ(str(g.shape(g.reshape(x, {B, -1, 2}))), "[B, 4, 2]");
  EXPECT_EQ(str(g.shape(g.reshape(x, {4, -1}))), "[4, 2*B]");
  EXPECT_EQ(g.reshape(x, {B, -1}), x);
  const NodeId odd = g.reshape(x, {-1, 3});
  EXPECT_EQ(str(g.shape(odd)), "[((8*B) // 3), 3]");
  const Graph graph = g.finish({odd});
  verify(graph);
  ASSERT_EQ(graph.constraints.size(), 1u);
  EXPECT_EQ(graph.constraints[0].kind, Constraint::Divisible);
}

TEST(Reshape, DifferentSymbolsMustAgreeInTheCall) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {B}), y = g.input("y", DType::F32, {C, 4});
  const NodeId z = g.elementwise(Op::Add, {g.reshape(x, {C, 4}), y});
  const Graph graph = g.finish({z});
  verify(graph);
  ASSERT_EQ(graph.constraints.size(), 1u);
  EXPECT_EQ(graph.constraints[0].kind, Constraint::Equal);
}

TEST(Reshape, EmptyArrays) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {0, 4});
  EXPECT_EQ(str(g.shape(g.reshape(x, {-1}))), "[0]");
  EXPECT_EQ(str(g.shape(g.reshape(x, {7, 0}))), "[7, 0]");
  EXPECT_EQ(str(g.shape(g.reshape(x, {2, -1}))), "[2, 0]");
}

TEST(Slice, ProvedOrRequired) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {B, 8});
  EXPECT_EQ(g.slice(x, {0, 0}, {1, 1}, {B, 8}), x);
  g.slice(x, {B - 1, 7}, {-1, -2}, {B, 4});  // x[::-1, ::-2]
  g.slice(x, {0, 1}, {2, 3}, {floordiv(B + 1, 2), 3});
  EXPECT_EQ(g.finish({}).constraints.size(), 0u);

  GraphBuilder h;
  const NodeId y = h.input("y", DType::F32, {B});
  h.slice(y, {1}, {1}, {B - 1});
  h.slice(y, {4}, {1}, {1});
  h.slice(y, {4}, {1}, {1});
  const Graph graph = h.finish({});
  ASSERT_EQ(graph.constraints.size(), 2u);
  EXPECT_EQ(graph.constraints[0].left.str(), "B - 1");
  EXPECT_EQ(graph.constraints[1].message, "a slice of axis 0 of f32[B] reaches index 4, past the array");
}

TEST(Movement, Shapes) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {B, 8, 2}), i = g.input("i", DType::I32, {C, 3});
  EXPECT_EQ(str(g.shape(g.permute(x, {2, 0, -2}))), "[2, B, 8]");
  EXPECT_EQ(g.permute(x, {0, 1, 2}), x);
  EXPECT_EQ(str(g.shape(g.pad(x, {1, 0, C}, {2, 0, 0}, lit(0)))), "[B + 3, 8, C + 2]");
  EXPECT_EQ(g.pad(x, {0, 0, 0}, {0, 0, 0}, lit(0)), x);
  EXPECT_EQ(str(g.shape(g.concat({x, x, x}, -2))), "[B, 24, 2]");
  EXPECT_EQ(g.concat({x}, 0), x);
  EXPECT_EQ(str(g.shape(g.gather(x, i, 1, GatherMode::Check))), "[B, C, 3, 2]");
  EXPECT_EQ(str(g.shape(g.iota({B, 4}, -1))), "[B, 4]");
  EXPECT_EQ(g.at(g.size_value(7)).kind, NodeKind::Constant);
  const NodeId size = g.size_value(B * 8);
  verify(g.finish({size}));
}

TEST(Movement, ConcatPromotes) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::I8, {2}), y = g.input("y", DType::U16, {B});
  const NodeId z = g.concat({x, y}, 0);
  EXPECT_EQ(g.dtype(z), DType::I32);
  verify(g.finish({z}));
}

TEST(Builder, ReferencesToNodesHoldWhileNodesAreAdded) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {4});
  const Node& node = g.at(x);
  for (int i = 0; i < 1000; ++i) g.constant(Scalar::of_int(DType::I32, i));
  EXPECT_EQ(&node, &g.at(x));
  EXPECT_EQ(node.name, "x");
}

TEST(Builder, KeepsOriginAndLabel) {
  GraphBuilder g;
  g.set_origin({3, 7, 4}, "relu");
  const NodeId x = g.input("x", DType::F32, {4});
  g.elementwise(Op::Max, {x, lit(0)});
  for (const Node& node : g.finish({x}).nodes) {
    EXPECT_EQ(node.label, "relu");
    EXPECT_EQ(node.origin.column, 7);
  }
}

}  // namespace
}  // namespace smelt

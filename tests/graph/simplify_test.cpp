// Every rule of simplify(): what it makes, and that no value changes by it, whatever the input.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "arrays.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using namespace testing;
using L = Literal;
using Build = std::function<NodeId(GraphBuilder&, NodeId x, NodeId y)>;

const IntExpr B = sym("B"_size);

const std::vector<double> kFloats = {kNan, kInf, -kInf, 0.0, -0.0, 1, -1, 0.5, -2.5, 3, 1e-30, -1e-30, 6.1e4, 7};
const std::vector<double> kInts = {0, 1, 2, -1, -2, 3, 7, -7, 8, -8, 127, -128, 100, -100};

struct Pair {
  Graph before, after;
};

Pair simplified(DType dtype, const Build& build) {
  GraphBuilder g;
  const NodeId x = g.input("x", dtype, {B}), y = g.input("y", dtype, {B});
  Pair p;
  p.before = g.finish({build(g, x, y)});
  p.after = simplify(p.before);
  verify(p.before);
  verify(p.after);
  return p;
}

// The nodes after the two inputs but for constants and their broadcasts: "negative f32; abs f32; ".
std::string brief(const Graph& graph) {
  std::string text;
  std::vector<bool> constant(graph.nodes.size());
  for (size_t id = 2; id < graph.nodes.size(); ++id) {
    const Node& n = graph.nodes[id];
    const bool view = n.kind == NodeKind::Reshape || n.kind == NodeKind::Broadcast;
    constant[id] = n.kind == NodeKind::Constant || (view && constant[static_cast<size_t>(n.args[0])]);
    if (constant[id]) continue;
    text += n.kind == NodeKind::Elementwise ? name_of(n.op) : name_of(n.kind);
    text += fmt::format(" {}; ", name_of(n.dtype));
  }
  return text;
}

// Every pair of special values through both graphs: the same to the bit, except the sign of a nan.
void expect_same_values(DType dtype, const Pair& p) {
  const std::vector<double>& special = is_float(dtype) ? kFloats : kInts;
  std::vector<double> a, b;
  for (double x : special)
    for (double y : special) a.push_back(x), b.push_back(y);
  const Dims dims = {static_cast<int64_t>(a.size())};
  const std::vector<Tensor> keep = {array(dtype, dims, a), array(dtype, dims, b)};
  const Tensor before = run(p.before, {keep[0], keep[1]}), after = run(p.after, {keep[0], keep[1]});
  EXPECT_TRUE(same(before, after)) << name_of(dtype) << "\n" << print(p.before) << "became\n" << print(p.after);
}

void expect_simplified(const std::vector<DType>& dtypes, const std::string& expected, const Build& build) {
  for (DType dtype : dtypes) {
    const Pair p = simplified(dtype, build);
    std::string wanted = expected;
    for (size_t at; (at = wanted.find("$T")) != std::string::npos;) wanted.replace(at, 2, name_of(dtype));
    EXPECT_EQ(brief(p.after), wanted) << print(p.before) << "became\n" << print(p.after);
    expect_same_values(dtype, p);
  }
}

const std::vector<DType> kEveryFloat = {DType::F8E4M3, DType::F8E5M2, DType::F16, DType::BF16, DType::F32, DType::F64};
const std::vector<DType> kEveryInt = {DType::I8, DType::I16, DType::I32, DType::I64,
                                      DType::U8, DType::U16, DType::U32, DType::U64};
const std::vector<DType> kNumbers = {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I8,  DType::I16,
                                     DType::I32, DType::I64,  DType::U8,  DType::U16, DType::U32, DType::U64};
const std::vector<DType> kBool = {DType::Bool};

Build op(Op op, L right) {
  return [=](GraphBuilder& g, NodeId x, NodeId) { return g.elementwise(op, {x, right}); };
}
Build op(L left, Op op) {
  return [=](GraphBuilder& g, NodeId x, NodeId) { return g.elementwise(op, {left, x}); };
}
Build twice(Op outer, Op inner) {
  return [=](GraphBuilder& g, NodeId x, NodeId) { return g.elementwise(outer, {g.elementwise(inner, {x})}); };
}

TEST(Simplify, Identities) {
  expect_simplified(kNumbers, "", op(Op::Mul, lit(1)));
  expect_simplified(kNumbers, "", op(lit(1), Op::Mul));
  expect_simplified(kEveryFloat, "", op(Op::Div, lit(1)));
  expect_simplified(kNumbers, "", op(Op::Sub, lit(0)));
  expect_simplified(kNumbers, "", op(Op::Pow, lit(1)));
  expect_simplified(kEveryFloat, "", op(Op::Add, L{-0.0}));
  expect_simplified(kEveryInt, "", op(Op::Add, lit(0)));
  expect_simplified(kEveryInt, "", op(lit(0), Op::Add));
  expect_simplified(kEveryInt, "", op(Op::FloorDiv, lit(1)));
  expect_simplified(kEveryInt, "", op(Op::Or, lit(0)));
  expect_simplified(kEveryInt, "", op(Op::Xor, lit(0)));
  expect_simplified(kEveryInt, "", op(Op::ShiftLeft, lit(0)));
  expect_simplified(kEveryInt, "", op(Op::ShiftRight, lit(0)));
  expect_simplified({DType::I8, DType::I64}, "", op(lit(-1), Op::And));
  expect_simplified({DType::U8}, "", op(Op::And, lit(255)));
  expect_simplified(kBool, "", op(Op::And, L{true}));
  expect_simplified(kBool, "", op(Op::Or, L{false}));
  expect_simplified(kBool, "", op(L{false}, Op::Xor));
}

TEST(Simplify, WhatOnlyLooksLikeAnIdentity) {
  expect_simplified(kEveryFloat, "add $T; ", op(Op::Add, lit(0)));        // -0 becomes 0
  expect_simplified(kEveryFloat, "subtract $T; ", op(Op::Sub, L{-0.0}));  // -0 becomes 0
  expect_simplified(kEveryFloat, "subtract $T; ", op(lit(0), Op::Sub));   // 0 - 0 is no -0
  expect_simplified(kEveryFloat, "multiply $T; ", op(Op::Mul, lit(0)));   // inf * 0
  expect_simplified(kEveryFloat, "floor_divide $T; ", op(Op::FloorDiv, lit(1)));
  expect_simplified(kEveryFloat, "add $T; sqrt $T; equal bool; where $T; ", op(Op::Pow, L{0.5}));  // sqrt(-0) is -0
  expect_simplified(kEveryFloat, "subtract $T; ", [](auto& g, NodeId x, NodeId) {
    return g.elementwise(Op::Sub, {x, x});
  });
  expect_simplified(kEveryFloat, "divide $T; ", [](auto& g, NodeId x, NodeId) {
    return g.elementwise(Op::Div, {x, x});
  });
  expect_simplified({DType::I8}, "subtract i8; ", op(lit(1), Op::Sub));
  expect_simplified({DType::I8}, "floor_divide i8; ", op(lit(1), Op::FloorDiv));
  expect_simplified({DType::I8}, "left_shift i8; ", op(lit(0), Op::ShiftLeft));
}

TEST(Simplify, Zeros) {
  expect_simplified(kEveryInt, "", op(Op::Mul, lit(0)));
  expect_simplified(kEveryInt, "", op(Op::And, lit(0)));
  expect_simplified(kEveryInt, "", op(Op::Mod, lit(1)));
  expect_simplified(kEveryInt, "", op(Op::Fmod, lit(1)));
  expect_simplified(kNumbers, "", op(Op::Pow, lit(0)));  // nan ** 0 is 1
  expect_simplified({DType::I32}, "", op(Op::Or, lit(-1)));
  expect_simplified(kBool, "", op(Op::Or, L{true}));
  expect_simplified(kBool, "", op(L{false}, Op::And));
}

TEST(Simplify, WithItself) {
  for (Op o : {Op::Max, Op::Min})
    expect_simplified(kNumbers, "", [=](auto& g, NodeId x, NodeId) { return g.elementwise(o, {x, x}); });
  for (Op o : {Op::And, Op::Or, Op::Xor, Op::Sub})
    expect_simplified(kEveryInt, "", [=](auto& g, NodeId x, NodeId) { return g.elementwise(o, {x, x}); });
}

TEST(Simplify, Pairs) {
  expect_simplified(kNumbers, "", twice(Op::Neg, Op::Neg));
  const std::vector<DType> is_signed = {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I8, DType::I64};
  expect_simplified(is_signed, "abs $T; ", twice(Op::Abs, Op::Abs));
  expect_simplified(is_signed, "abs $T; ", twice(Op::Abs, Op::Neg));
  expect_simplified({DType::U8, DType::U64}, "", twice(Op::Abs, Op::Abs));
  expect_simplified({DType::U8, DType::U64}, "negative $T; ", twice(Op::Abs, Op::Neg));  // 256 - x
  expect_simplified(kEveryFloat, "square $T; ", twice(Op::Abs, Op::Square));
  expect_simplified({DType::I8}, "square i8; abs i8; ", twice(Op::Abs, Op::Square));  // a square can wrap below zero
  expect_simplified(kEveryInt, "", twice(Op::Not, Op::Not));
  expect_simplified(kBool, "", twice(Op::Not, Op::Not));
  for (Op o : {Op::Max, Op::Min})
    expect_simplified(kNumbers, std::string(name_of(o)) + " $T; ", [=](auto& g, NodeId x, NodeId) {
      return g.elementwise(o, {g.elementwise(o, {x, lit(0)}), lit(0)});
    });
}

TEST(Simplify, Negations) {
  const auto with = [](Op op, bool left, bool right) {
    return [=](GraphBuilder& g, NodeId x, NodeId y) {
      const NodeId a = left ? g.elementwise(Op::Neg, {x}) : x, b = right ? g.elementwise(Op::Neg, {y}) : y;
      return g.elementwise(op, {a, b});
    };
  };
  expect_simplified(kNumbers, "subtract $T; ", with(Op::Add, false, true));
  expect_simplified(kNumbers, "subtract $T; ", with(Op::Add, true, false));
  expect_simplified(kNumbers, "add $T; ", with(Op::Sub, false, true));
  expect_simplified(kNumbers, "multiply $T; ", with(Op::Mul, true, true));
  expect_simplified(kEveryFloat, "divide $T; ", with(Op::Div, true, true));
  expect_simplified(kNumbers, "negative $T; multiply $T; ", with(Op::Mul, true, false));
}

TEST(Simplify, Comparisons) {
  const auto negated = [](Op op) {
    return [=](GraphBuilder& g, NodeId x, NodeId y) { return g.elementwise(Op::Not, {g.elementwise(op, {x, y})}); };
  };
  expect_simplified(kNumbers, "not_equal bool; ", negated(Op::Eq));
  expect_simplified(kNumbers, "equal bool; ", negated(Op::Ne));
  expect_simplified(kEveryInt, "greater_equal bool; ", negated(Op::Lt));
  expect_simplified(kEveryInt, "greater bool; ", negated(Op::Le));
  expect_simplified(kEveryInt, "less_equal bool; ", negated(Op::Gt));
  expect_simplified(kEveryInt, "less bool; ", negated(Op::Ge));
  expect_simplified(kEveryFloat, "less bool; bitwise_not bool; ", negated(Op::Lt));  // nan
  expect_simplified(kBool, "bitwise_and bool; bitwise_not bool; ", negated(Op::And));
}

TEST(Simplify, Powers) {
  expect_simplified(kNumbers, "square $T; ", op(Op::Pow, lit(2)));
  expect_simplified(kEveryInt, "square $T; multiply $T; ", op(Op::Pow, lit(3)));
  expect_simplified(kEveryInt, "square $T; square $T; ", op(Op::Pow, lit(4)));
  expect_simplified(kEveryFloat, "reciprocal $T; ", op(Op::Pow, lit(-1)));
  // These round more than once: close, and the same for special values.
  const std::pair<double, std::string> forms[] = {{3, "square f64; multiply f64; "},
                                                  {4, "square f64; square f64; "},
                                                  {0.5, "add f64; sqrt f64; equal bool; where f64; "},
                                                  {-0.5, "add f64; rsqrt f64; equal bool; where f64; "}};
  for (const auto& [exponent, form] : forms) {
    const Pair p = simplified(DType::F64, op(Op::Pow, L{exponent}));
    EXPECT_EQ(brief(p.after), form);
    for (double v : {kNan, kInf, -kInf, 0.0, -0.0, -1.3, 1e-110, 1e102, -1e103, 1e-81, -7.1, 1e77, 1e78}) {
      const Tensor x = array(DType::F64, {1}, {v});
      const double got = values(run(p.after, {x, x}))[0], exact = std::pow(v, exponent);
      if (!std::isfinite(exact) || exact == 0)
        EXPECT_TRUE(same(run(p.after, {x, x}), run(p.before, {x, x}))) << v;
      else
        EXPECT_LE(std::fabs(got - exact), 2 * std::fabs(std::nextafter(exact, kInf) - exact)) << v;
    }
  }
}

TEST(Simplify, PowersOfTwo) {
  expect_simplified(kEveryFloat, "multiply $T; ", op(Op::Div, lit(8)));
  expect_simplified(kEveryFloat, "multiply $T; ", op(Op::Div, L{-0.25}));
  expect_simplified(kEveryFloat, "divide $T; ", op(Op::Div, lit(3)));
  expect_simplified(kEveryFloat, "divide $T; ", op(Op::Div, lit(0)));
  expect_simplified({DType::F32}, "divide f32; ", op(Op::Div, L{std::ldexp(1, 127)}));  // its inverse is subnormal
  expect_simplified(kEveryInt, "right_shift $T; ", op(Op::FloorDiv, lit(8)));
  expect_simplified(kEveryInt, "bitwise_and $T; ", op(Op::Mod, lit(64)));
  expect_simplified({DType::I8}, "floor_divide i8; ", op(Op::FloorDiv, lit(-128)));
  expect_simplified({DType::I8}, "remainder i8; ", op(Op::Mod, lit(-8)));
  expect_simplified(kEveryInt, "fmod $T; ", op(Op::Fmod, lit(8)));
  expect_simplified(kEveryInt, "floor_divide $T; ", op(Op::FloorDiv, lit(0)));
  expect_simplified({DType::U64}, "right_shift u64; ", op(Op::FloorDiv, lit(int64_t{1} << 62)));
}

TEST(Simplify, Choices) {
  const auto where = [](auto condition) {
    return [=](GraphBuilder& g, NodeId x, NodeId y) { return condition(g, x, y); };
  };
  for (bool c : {true, false})
    expect_simplified(kNumbers, "", where([=](auto& g, NodeId x, NodeId y) {
                        return g.elementwise(Op::Where, {L{c}, x, y});
                      }));
  expect_simplified(kNumbers, "", where([](auto& g, NodeId x, NodeId y) {
                      return g.elementwise(Op::Where, {g.elementwise(Op::Lt, {x, y}), x, x});
                    }));
  expect_simplified(kEveryFloat, "less bool; where $T; ", where([](auto& g, NodeId x, NodeId y) {
                      const NodeId c = g.elementwise(Op::Not, {g.elementwise(Op::Lt, {x, y})});
                      return g.elementwise(Op::Where, {c, x, y});
                    }));
  expect_simplified(kNumbers, "less bool; ", where([](auto& g, NodeId x, NodeId y) {
                      return g.elementwise(Op::Where, {g.elementwise(Op::Lt, {x, y}), L{true}, L{false}});
                    }));
  expect_simplified(kEveryFloat, "less bool; bitwise_not bool; ", where([](auto& g, NodeId x, NodeId y) {
                      return g.elementwise(Op::Where, {g.elementwise(Op::Lt, {x, y}), L{false}, L{true}});
                    }));
}

TEST(Simplify, Casts) {
  const auto through = [](std::vector<DType> types, bool wrap = false) {
    return [=](GraphBuilder& g, NodeId x, NodeId) {
      for (DType t : types) x = g.cast(x, t, wrap);
      return x;
    };
  };
  expect_simplified({DType::I8, DType::U8, DType::Bool}, "cast i64; ", through({DType::I32, DType::F64, DType::I64}));
  expect_simplified({DType::I8}, "", through({DType::I32, DType::I8}));
  expect_simplified({DType::I8}, "", through({DType::F16, DType::I8}));
  expect_simplified({DType::Bool}, "", through({DType::U8, DType::Bool}));
  expect_simplified({DType::F32}, "", through({DType::F64, DType::F32}));
  expect_simplified({DType::F16}, "", through({DType::F32, DType::F16}));
  expect_simplified({DType::F16}, "cast bf16; ", through({DType::BF16, DType::F32, DType::BF16}));
  expect_simplified({DType::I16}, "cast u8; ", through({DType::I32, DType::U8}, true));
  expect_simplified({DType::I16}, "cast u8; ", through({DType::I32, DType::U8}));
  expect_simplified({DType::F16, DType::BF16}, "cast i8; ", through({DType::F32, DType::I8}));
  // These steps lose something, or round.
  expect_simplified({DType::I8}, "cast u8; cast i8; ", through({DType::U8, DType::I8}));
  expect_simplified({DType::I16}, "cast f16; cast i16; ", through({DType::F16, DType::I16}));
  expect_simplified({DType::F32}, "cast i32; cast f32; ", through({DType::I32, DType::F32}));
  expect_simplified({DType::F16}, "sqrt f16; cast f32; cast f16; ", [&](GraphBuilder& g, NodeId x, NodeId y) {
    return through({DType::F32, DType::F16})(g, g.elementwise(Op::Sqrt, {x}), y);
  });
  expect_simplified({DType::F16}, "cast bf16; cast f16; ", through({DType::BF16, DType::F16}));
  expect_simplified({DType::I32}, "cast bool; cast i32; ", through({DType::Bool, DType::I32}));
}

TEST(Simplify, Constants) {
  const auto value = [](auto build) {
    GraphBuilder g;
    const Graph graph = simplify(g.finish({build(g)}));
    EXPECT_EQ(graph.nodes.size(), 1u) << print(graph);
    return graph.nodes[0].constant;
  };
  EXPECT_EQ(value([](auto& g) { return g.elementwise(Op::Exp, {L{0.0}}); }), Scalar::of_float(DType::F32, 1));
  EXPECT_EQ(value([](auto& g) {
              return g.elementwise(Op::Div, {L{1.0}, L{-0.0}});
            }),
            Scalar::of_float(DType::F32, -kInf));
  EXPECT_EQ(value([](auto& g) {
              return g.elementwise(Op::Sub, {L{kInf}, L{kInf}});
            }),
            Scalar::of_float(DType::F32, kNan));
  EXPECT_EQ(value([](auto& g) {
              return g.elementwise(Op::FloorDiv, {lit(-7), lit(2)});
            }),
            Scalar::of_int(DType::I64, -4));
  EXPECT_EQ(value([](auto& g) {
              return g.elementwise(Op::FloorDiv, {lit(-7), lit(0)});
            }),
            Scalar::of_int(DType::I64, 0));
  EXPECT_EQ(value([](auto& g) { return g.cast(g.materialize(L{300.7}), DType::U8); }), Scalar::of_int(DType::U8, 255));
  EXPECT_EQ(value([](auto& g) { return g.cast(g.materialize(lit(300)), DType::U8, true); }),
            Scalar::of_int(DType::U8, 44));
  EXPECT_EQ(value([](auto& g) {
              return g.elementwise(Op::Where, {L{true}, lit(1), lit(2)});
            }),
            Scalar::of_int(DType::I64, 1));
  EXPECT_EQ(value([](auto& g) {
              return g.elementwise(Op::Add, {g.size_value(3), lit(2)});
            }),
            Scalar::of_int(DType::I64, 5));
}

// f16 computes in f32: folding 2048 + 0.5 would round to 2048 what stays 2048.5 until it is stored.
TEST(Simplify, SmallFloatsAreFoldedOnlyWhenExact) {
  GraphBuilder g;
  const auto f16 = [&](double v) { return g.constant(Scalar::of_float(DType::F16, v)); };
  const NodeId rounds = g.elementwise(Op::Add, {f16(2048), f16(0.5)}),
               exact = g.elementwise(Op::Add, {f16(1), f16(0.5)});
  const Graph before = g.finish({rounds, exact}), after = simplify(before);
  EXPECT_EQ(after.at(after.outputs[0]).kind, NodeKind::Elementwise);
  EXPECT_EQ(after.at(after.outputs[1]).kind, NodeKind::Constant);
  EXPECT_EQ(values(interpret(after, {})[0])[0], 2048.5);
}

TEST(Simplify, UniformArraysFoldToo) {
  const Pair p = simplified(DType::F32, [](GraphBuilder& g, NodeId x, NodeId) {
    const NodeId two = g.broadcast_to(g.materialize(L{2.0}), {B, 4});
    const NodeId four = g.elementwise(Op::Mul, {g.permute(two, {1, 0}), lit(2)});
    return g.elementwise(Op::Add, {x, g.reshape(g.slice(four, {1, 0}, {1, 1}, {1, B}), {B})});
  });
  EXPECT_EQ(brief(p.after), "add f32; ");
  EXPECT_EQ(p.after.nodes.size(), 6u);  // two inputs, 4, its reshape, its broadcast, the sum
  expect_same_values(DType::F32, p);
}

TEST(Simplify, Movement) {
  const auto one = [](const char* expected, auto build) {
    expect_simplified({DType::F32, DType::I8}, expected, build);
  };
  one("", [](GraphBuilder& g, NodeId x, NodeId) { return g.reshape(g.reshape(x, {1, B}), {B}); });
  one("", [](GraphBuilder& g, NodeId x, NodeId) {
    return g.reshape(g.permute(g.permute(g.reshape(x, {B, 1, 1}), {2, 0, 1}), {1, 2, 0}), {B});
  });
  one("reshape $T; broadcast $T; permute $T; ", [](GraphBuilder& g, NodeId x, NodeId) {
    return g.permute(g.permute(g.broadcast_to(x, {3, 2, B}), {2, 0, 1}), {2, 0, 1});
  });
  one("",
      [](GraphBuilder& g, NodeId x, NodeId) { return g.slice(g.slice(x, {B - 1}, {-1}, {B}), {B - 1}, {-1}, {B}); });
  one("slice $T; ",
      [](GraphBuilder& g, NodeId x, NodeId) { return g.slice(g.slice(x, {1}, {2}, {20}), {18}, {-3}, {4}); });
  one("slice $T; ", [](GraphBuilder& g, NodeId x, NodeId) {
    return g.slice(g.slice(x, {B - 1}, {-3}, {floordiv(B + 2, 3)}), {0}, {2}, {3});
  });
  one("reshape $T; broadcast $T; ", [](GraphBuilder& g, NodeId x, NodeId) {
    return g.broadcast_to(g.broadcast_to(g.reshape(x, {B, 1, 1}), {B, 1, 3}), {B, 2, 3});
  });
}

TEST(Simplify, ComposedSlicesReachTheSameElements) {
  const Pair p = simplified(DType::I32, [](GraphBuilder& g, NodeId x, NodeId) {
    return g.slice(g.slice(x, {1}, {2}, {20}), {18}, {-3}, {4});
  });
  const Node& slice = p.after.at(p.after.outputs[0]);
  EXPECT_EQ(slice.starts[0], IntExpr(37));
  EXPECT_EQ(slice.steps[0], -6);
}

TEST(Simplify, EqualNodesBecomeOne) {
  const Pair p = simplified(DType::F32, [](GraphBuilder& g, NodeId x, NodeId y) {
    const auto term = [&] { return g.elementwise(Op::Exp, {g.elementwise(Op::Add, {x, lit(1)})}); };
    return g.elementwise(Op::Mul, {g.elementwise(Op::Add, {term(), y}), g.elementwise(Op::Add, {term(), y})});
  });
  EXPECT_EQ(brief(p.after), "add f32; exp f32; add f32; multiply f32; ");
  expect_same_values(DType::F32, p);
}

TEST(Simplify, NodesThatDifferStayApart) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::I16, {2, 2}), i = g.input("i", DType::I32, {2});
  std::vector<NodeId> outputs = {
      g.cast(x, DType::I8),
      g.cast(x, DType::I8, true),
      g.reduce(ReduceKind::Max, x, {0}, false),
      g.reduce(ReduceKind::Max, x, {1}, false),
      g.reduce(ReduceKind::Min, x, {1}, false),
      g.gather(x, i, 0, GatherMode::Clamp),
      g.gather(x, i, 0, GatherMode::Wrap),
      g.gather(x, i, 1, GatherMode::Wrap),
      g.iota({2, 2}, 0),
      g.iota({2, 2}, 1),
      g.slice(x, {0, 0}, {1, 1}, {1, 1}),
      g.slice(x, {0, 1}, {1, 1}, {1, 1}),
      g.constant(Scalar::of_float(DType::F32, 0)),
      g.constant(Scalar::of_float(DType::F32, -0.0)),
      g.constant(Scalar::of_float(DType::F64, 0)),
      g.constant(Scalar::of_int(DType::I64, 0)),
      g.pad(x, {1, 0}, {0, 0}, lit(0)),
      g.pad(x, {0, 0}, {1, 0}, lit(0)),
      g.input("y", DType::I16, {2, 2}),
  };
  const Graph after = simplify(g.finish(outputs));
  verify(after);
  std::vector<NodeId> sorted = after.outputs;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end()) << print(after);
}

TEST(Simplify, DropsWhatIsNotUsedButNoInput) {
  GraphBuilder g;
  g.input("unused", DType::F32, {B});
  const NodeId x = g.input("x", DType::F32, {B});
  g.elementwise(Op::Exp, {x});
  g.require({Constraint::AtLeast, B, 4, "too small", {}});
  const Graph after = simplify(g.finish({x, x}, "text"));
  verify(after);
  EXPECT_EQ(print(after),
            "%0 = input f32[B] unused\n"
            "%1 = input f32[B] x\n"
            "require B >= 4\n"
            "return %1 %1\n");
  EXPECT_EQ(after.source, "text");
}

TEST(Simplify, KeepsOriginsAndLabels) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {B});
  g.set_origin({4, 2, 3}, "**");
  const Graph after = simplify(g.finish({g.elementwise(Op::Pow, {x, lit(2)})}));
  EXPECT_EQ(after.nodes.back().label, "**");
  EXPECT_EQ(after.nodes.back().origin.line, 4);
}

// What is padded is the half; 0.1 is none.
TEST(Simplify, CastsOfPaddedHalves) {
  const auto padded = [](double with) {
    GraphBuilder g;
    const NodeId x = g.input("x", DType::F16, {4});
    const Graph after = simplify(g.finish({g.pad(g.cast(x, DType::F32), {1}, {2}, L{with})}));
    return after.at(after.outputs[0]).kind;
  };
  EXPECT_EQ(padded(0), NodeKind::Cast);
  EXPECT_EQ(padded(-0.0), NodeKind::Cast);
  EXPECT_EQ(padded(-INFINITY), NodeKind::Cast);
  EXPECT_EQ(padded(0.1), NodeKind::Pad);
}

TEST(Simplify, IsAFixedPoint) {
  const Pair p = simplified(DType::F32, [](GraphBuilder& g, NodeId x, NodeId y) {
    NodeId z = g.elementwise(Op::Div, {g.elementwise(Op::Pow, {x, lit(4)}), lit(16)});
    z = g.elementwise(Op::Add, {z, g.elementwise(Op::Neg, {g.elementwise(Op::Mul, {y, lit(1)})})});
    return g.elementwise(Op::Where, {g.elementwise(Op::Not, {g.elementwise(Op::Eq, {z, x})}), z, y});
  });
  EXPECT_EQ(print(simplify(p.after)), print(p.after));
  expect_same_values(DType::F32, p);
}

TEST(Simplify, LongProgramsInLinearTime) {
  const auto seconds = [](int steps) {
    GraphBuilder g;
    NodeId y = g.input("x", DType::F32, {B, 1024});
    for (int i = 0; i < steps; ++i) y = g.elementwise(Op::Add, {g.elementwise(Op::Mul, {y, L{1.5 + i}}), L{0.25 + i}});
    const Graph graph = g.finish({y});
    const auto start = std::chrono::steady_clock::now();
    const Graph after = simplify(graph);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(after.nodes.size(), graph.nodes.size());
    return time.count();
  };
  // 10,001 nodes; the bound is loose because machines are busy, but a quadratic scan would break
  // it.
  EXPECT_LT(seconds(1250), 2.0);
}

}  // namespace
}  // namespace smelt

// The reference interpreter against values worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "arrays.hpp"
#include "support/message_of.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using namespace testing;
using V = std::vector<double>;

const IntExpr B = sym("B"_size), C = sym("C"_size);

Tensor unary(Op op, const Tensor& x) {
  GraphBuilder g;
  const NodeId y = g.elementwise(op, {g.input("x", x.dtype, Shape(x.dims.begin(), x.dims.end()))});
  return run(g.finish({y}), {x});
}

Tensor binary(Op op, const Tensor& x, const Tensor& y) {
  GraphBuilder g;
  const NodeId a = g.input("x", x.dtype, Shape(x.dims.begin(), x.dims.end()));
  const NodeId b = g.input("y", y.dtype, Shape(y.dims.begin(), y.dims.end()));
  const NodeId z = g.elementwise(op, {a, b});
  return run(g.finish({z}), {x, y});
}

Tensor reduced(ReduceKind kind, const Tensor& x, std::vector<int> axes, bool keepdims = false) {
  GraphBuilder g;
  Shape shape(x.dims.size());
  for (size_t d = 0; d < shape.size(); ++d) shape[d] = sym(Symbol::size(std::string(1, static_cast<char>('A' + d))));
  const NodeId y = g.reduce(kind, g.input("x", x.dtype, shape), std::move(axes), keepdims);
  return run(g.finish({y}), {x});
}

Tensor casted(const Tensor& x, DType to, bool wrap = false) {
  GraphBuilder g;
  const NodeId y = g.cast(g.input("x", x.dtype, {B}), to, wrap);
  return run(g.finish({y}), {x});
}

void expect_values(const Tensor& t, const V& expected) { EXPECT_TRUE(same(t, array(t.dtype, t.dims, expected))); }

TEST(Interpret, EveryOperationIsItsHostMeaning) {
  const V floats = {kNan, kInf, -kInf, 0.0, -0.0, 1, -1, 0.5, -2.5, 3, 1e-310, 1e300, 7, -7};
  const V ints = {0, 1, -1, 2, -2, 3, 7, -7, 127, -128, 31, 64};
  for (int o = 0; o < kOpCount; ++o) {
    const Op op = static_cast<Op>(o);
    for (DType t : {DType::F64, DType::Bool, DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32,
                    DType::I64, DType::U64}) {
      if (!accepts(op, t)) continue;
      V a, b, c;
      const V& from = is_float(t) ? floats : ints;
      for (double x : from)
        for (double y : from) a.push_back(x), b.push_back(y), c.push_back(x + y);
      const Dims dims = {static_cast<int64_t>(a.size())};
      std::vector<Tensor> arrays = {array(t, dims, a), array(t, dims, b), array(t, dims, c)};
      if (info(op).rule == TypeRule::Select) arrays[0] = array(DType::Bool, dims, a);
      arrays.resize(static_cast<size_t>(info(op).arity));
      GraphBuilder g;
      std::vector<Operand> operands;
      for (const Tensor& x : arrays) operands.push_back(g.input("", x.dtype, {B}));
      const NodeId y = g.elementwise(op, operands);
      const std::vector<Scalar> got = scalars(run(g.finish({y}), {arrays.begin(), arrays.end()}));
      for (size_t i = 0; i < a.size(); ++i) {
        std::vector<Scalar> args;
        for (const Tensor& x : arrays) args.push_back(scalars(x)[i]);
        ASSERT_EQ(got[i], evaluate(op, args)) << name_of(op) << " " << name_of(t) << " " << a[i] << " " << b[i];
      }
    }
  }
}

TEST(Interpret, IntegerDivision) {
  const Tensor a = array(DType::I32, {8}, {7, -7, 7, -7, 5, -2147483648.0, 0, -2147483648.0});
  const Tensor b = array(DType::I32, {8}, {2, 2, -2, -2, 0, -1, 0, 0});
  expect_values(binary(Op::FloorDiv, a, b), {3, -4, -4, 3, 0, -2147483648.0, 0, 0});
  expect_values(binary(Op::Mod, a, b), {1, 1, -1, -1, 0, 0, 0, 0});
  expect_values(binary(Op::Fmod, a, b), {1, -1, 1, -1, 0, 0, 0, 0});
}

TEST(Interpret, IntegersWrap) {
  const Tensor a = array(DType::U8, {3}, {0, 200, 255}), b = array(DType::U8, {3}, {1, 100, 255});
  expect_values(binary(Op::Sub, a, b), {255, 100, 0});
  expect_values(binary(Op::Mul, a, b), {0, 32, 1});
  const Tensor c = array(DType::I8, {2}, {100, -128});
  expect_values(binary(Op::Mul, c, c), {16, 0});
  expect_values(unary(Op::Neg, c), {-100, -128});
}

TEST(Interpret, FloatsKeepSignsAndNan) {
  const Tensor x = array(DType::F32, {6}, {kNan, -0.0, 0.0, -1.5, 2.5, -kInf});
  const Tensor zero = array(DType::F32, {6}, {0, 0, -0.0, 0, 0, 0});
  expect_values(binary(Op::Max, x, zero), {kNan, 0.0, 0.0, 0, 2.5, 0});
  expect_values(binary(Op::Min, x, zero), {kNan, -0.0, -0.0, -1.5, 0, -kInf});
  expect_values(unary(Op::Neg, x), {kNan, 0.0, -0.0, 1.5, -2.5, kInf});
  expect_values(unary(Op::Round, x), {kNan, -0.0, 0.0, -2, 2, -kInf});
  expect_values(unary(Op::Reciprocal, x), {kNan, -kInf, kInf, 1 / -1.5, 1 / 2.5, -0.0});
}

TEST(Interpret, FloatsAreNotRoundedInBetween) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F16, {1});
  const NodeId sum = g.elementwise(Op::Sub, {g.elementwise(Op::Add, {x, lit(2048)}), lit(2048)});
  const NodeId rounded = g.cast(g.cast(g.elementwise(Op::Add, {x, lit(2048)}), DType::F64), DType::F16);
  const auto out = interpret(g.finish({sum, rounded}), {array(DType::F16, {1}, {0.5})});
  expect_values(out[0], {0.5});
  expect_values(out[1], {2048});
}

TEST(Interpret, CastsAreConvert) {
  const V special = {kNan,    kInf,      -kInf,         0.0,          -0.0,         0.5,           -0.5,  1.5,
                     -1.5,    2.5,       127,           128,          -129,         255,           256,   32767.5,
                     65504,   65519,     65520,         -65536,       2147483648,   -2147483649.0, 1e10,  -1e10,
                     9.3e18,  2e19,      -2e19,         1e38,         3.5e38,       1e-7,          6e-8,  2.9e-8,
                     3e-8,    1e-40,     1e-45,         1e-46,        -6e-5,        6.1e-5,        1e300, 1e-300,
                     3.39e38, 3.3961e38, 1.00048828125, 1.0009765625, 1.00146484375};
  const std::vector<int64_t> large = {INT64_MIN, INT64_MAX, -1, (int64_t{1} << 53) + 1, 16777217, 65519, 300, -129, 0};
  for (DType from : kAllDTypes)
    for (DType to : kAllDTypes)
      for (bool wrap : {false, true}) {
        if (from == to || (wrap && !(is_int(from) && is_int(to)))) continue;
        const Tensor x =
            is_int(from) ? int_array(from, large) : array(from, {static_cast<int64_t>(special.size())}, special);
        const auto got = scalars(casted(x, to, wrap));
        const auto args = scalars(x);
        for (size_t i = 0; i < got.size(); ++i) {
          Scalar expected = convert(args[i], to, wrap);
          if (is_float(to)) expected = Scalar::of_float(DType::F64, expected.f);
          ASSERT_EQ(got[i], expected) << name_of(from) << " to " << name_of(to) << ": " << args[i].str() << " gives "
                                      << got[i].str() << ", not " << expected.str();
        }
      }
}

// The interpreter rounds to f16 and bf16 in its own fast way.
TEST(Interpret, RoundsToSmallFloatsAsTheScalarsDo) {
  Tensor x = Tensor::empty(DType::F64, {1 << 16});
  uint64_t state = 1;
  for (int64_t i = 0; i < x.count(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // Random bits around the exponents that the small formats have, every fourth just at a half-way
    // point.
    const double f = std::ldexp(1 + static_cast<double>(state >> 12) * 0x1p-52, static_cast<int>(i % 300) - 150);
    const int digits = i % 8 ? 11 : 4;
    const double half = std::ldexp(std::floor(std::ldexp(f, digits - std::ilogb(f))), std::ilogb(f) - digits);
    static_cast<double*>(x.data)[i] = (i & 1 ? -1 : 1) * (i % 4 ? f : half);
  }
  for (DType t : {DType::F8E4M3, DType::F8E5M2, DType::F16, DType::BF16}) {
    const auto got = values(casted(x, t));
    for (size_t i = 0; i < got.size(); ++i) {
      const double from = static_cast<double*>(x.data)[i], expected = round_to(t, from);
      ASSERT_TRUE(got[i] == expected || (std::isnan(got[i]) && std::isnan(expected))) << name_of(t) << " of " << from;
    }
  }
}

TEST(Interpret, BoolsOfTheCallerMayBeAnyByte) {
  Tensor x = Tensor::empty(DType::Bool, {3});
  const uint8_t bytes[] = {0, 2, 255};
  std::copy_n(bytes, 3, static_cast<uint8_t*>(x.data));
  expect_values(casted(x, DType::I32), {0, 1, 1});
  expect_values(unary(Op::Not, x), {1, 0, 0});
}

TEST(Interpret, EmptyReductions) {
  const Tensor x = Tensor::empty(DType::F32, {3, 0});
  expect_values(reduced(ReduceKind::Sum, x, {1}), {0, 0, 0});
  expect_values(reduced(ReduceKind::Prod, x, {1}), {1, 1, 1});
  EXPECT_EQ(reduced(ReduceKind::Sum, x, {0}).dims, Dims{0});
  const Tensor b = Tensor::empty(DType::Bool, {0});
  expect_values(reduced(ReduceKind::Any, b, {}), {0});
  expect_values(reduced(ReduceKind::All, b, {}), {1});
  EXPECT_EQ(message_of([&] { reduced(ReduceKind::Max, x, {1}); }),
            "max over axis 1 of f32[A, B] needs at least one element; here B is 0 (axis 1 of input x)");
  EXPECT_EQ(message_of([&] { reduced(ReduceKind::ArgMin, b, {}); }),
            "argmin over axis 0 of bool[A] needs at least one element; here A is 0 (axis 0 of input x)");
  // The mean of nothing: 0 / 0.
  GraphBuilder g;
  const NodeId y = g.input("x", DType::F32, {B});
  const NodeId mean =
      g.elementwise(Op::Div, {g.reduce(ReduceKind::Sum, y, {}, false), g.cast(g.size_value(B), DType::F32)});
  expect_values(run(g.finish({mean}), {Tensor::empty(DType::F32, {0})}), {kNan});
}

TEST(Interpret, Reductions) {
  const Tensor x = array(DType::F32, {2, 3}, {1, -2, 3, 4, 5, -6});
  expect_values(reduced(ReduceKind::Sum, x, {}), {5});
  expect_values(reduced(ReduceKind::Sum, x, {0}), {5, 3, -3});
  expect_values(reduced(ReduceKind::Sum, x, {1}), {2, 3});
  expect_values(reduced(ReduceKind::Prod, x, {-1}), {-6, -120});
  expect_values(reduced(ReduceKind::Max, x, {0}), {4, 5, 3});
  expect_values(reduced(ReduceKind::Min, x, {1}), {-2, -6});
  expect_values(reduced(ReduceKind::Any, x, {}), {1});
  EXPECT_EQ(reduced(ReduceKind::Max, x, {0, 1}, true).dims, (Dims{1, 1}));
  const Tensor y = array(DType::F32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_values(reduced(ReduceKind::Sum, y, {0, 2}), {14, 22});
  expect_values(reduced(ReduceKind::Sum, y, {1}), {4, 6, 12, 14});
}

TEST(Interpret, ReductionsOfNastyFloats) {
  const auto max = [](const V& v) {
    return values(reduced(ReduceKind::Max, array(DType::F64, {int64_t(v.size())}, v), {}))[0];
  };
  const auto sum = [](const V& v) {
    return values(reduced(ReduceKind::Sum, array(DType::F64, {int64_t(v.size())}, v), {}))[0];
  };
  EXPECT_TRUE(std::isnan(max({1, kNan, kInf})));
  EXPECT_TRUE(std::isnan(max({kNan, 1})));
  EXPECT_FALSE(std::signbit(max({-0.0, 0.0})));
  EXPECT_EQ(max({-3, -1, -2}), -1);
  EXPECT_EQ(max({-kInf, -kInf}), -kInf);
  EXPECT_EQ(sum({kInf, 1, 2}), kInf);
  EXPECT_TRUE(std::isnan(sum({kInf, -kInf})));
  EXPECT_TRUE(std::isnan(sum({1, kNan})));
  EXPECT_FALSE(std::signbit(sum({-0.0, -0.0})));
}

TEST(Interpret, SumsAreAccurate) {
  const int64_t n = 1000003;
  Tensor x = Tensor::empty(DType::F32, {n});
  for (int64_t i = 0; i < n; ++i) static_cast<float*>(x.data)[i] = i % 2 ? 1e8f : -1e8f;
  static_cast<float*>(x.data)[n - 1] = 0.125f;
  EXPECT_EQ(values(reduced(ReduceKind::Sum, x, {}))[0], 0.125);
  for (int64_t i = 0; i < n; ++i) static_cast<float*>(x.data)[i] = 0.1f;
  EXPECT_EQ(values(reduced(ReduceKind::Sum, x, {}))[0], static_cast<double>(0.1f) * static_cast<double>(n));
}

TEST(Interpret, IntegerSumsAreWideAndWrap) {
  const Tensor bytes = array(DType::I8, {3}, {127, 127, 127});
  expect_values(reduced(ReduceKind::Sum, bytes, {}), {381});
  EXPECT_EQ(reduced(ReduceKind::Sum, bytes, {}).dtype, DType::I64);
  expect_values(reduced(ReduceKind::Prod, array(DType::U8, {3}, {255, 255, 2}), {}), {130050});
  const Tensor wide = reduced(ReduceKind::Sum, int_array(DType::I64, {INT64_MAX, 1}), {});
  EXPECT_EQ(scalars(wide)[0].i, INT64_MIN);
  expect_values(reduced(ReduceKind::Sum, array(DType::Bool, {4}, {1, 0, 1, 1}), {}), {3});
  expect_values(reduced(ReduceKind::Max, array(DType::U64, {2}, {1, 18446744073709549568.0}), {}),
                {18446744073709549568.0});
  expect_values(reduced(ReduceKind::Max, array(DType::Bool, {2}, {0, 1}), {}), {1});
  expect_values(reduced(ReduceKind::Min, array(DType::Bool, {2}, {0, 1}), {}), {0});
}

TEST(Interpret, ArgumentReductions) {
  const auto argmax = [](DType t, const V& v) {
    return values(reduced(ReduceKind::ArgMax, array(t, {int64_t(v.size())}, v), {}))[0];
  };
  const auto argmin = [](DType t, const V& v) {
    return values(reduced(ReduceKind::ArgMin, array(t, {int64_t(v.size())}, v), {}))[0];
  };
  EXPECT_EQ(argmax(DType::F32, {1, 3, 3, 2}), 1);
  EXPECT_EQ(argmin(DType::F32, {1, 0, 3, 0}), 1);
  EXPECT_EQ(argmax(DType::F32, {1, kNan, kInf, kNan}), 1);
  EXPECT_EQ(argmin(DType::F32, {-kInf, 5, kNan}), 2);
  EXPECT_EQ(argmax(DType::F32, {-kInf, -kInf}), 0);
  EXPECT_EQ(argmax(DType::F32, {-0.0, 0.0}), 0);  // equal as numbers
  EXPECT_EQ(argmax(DType::Bool, {0, 1, 1}), 1);
  EXPECT_EQ(argmin(DType::I8, {5, -128, -128}), 1);
  EXPECT_EQ(argmax(DType::U64, {1, 1.8e19}), 1);
  V many(5000, 0.0);
  many[4321] = 1;
  EXPECT_EQ(argmax(DType::F32, many), 4321);
  expect_values(reduced(ReduceKind::ArgMax, array(DType::F32, {2, 2}, {1, 2, 4, 3}), {1}), {1, 0});
  expect_values(reduced(ReduceKind::ArgMax, array(DType::F32, {2, 2}, {1, 2, 4, 3}), {}), {2});
}

TEST(Interpret, StridedInputs) {
  // A transposed, reversed and offset view of 0..11 in [3, 4]: x[::-1, 1:].T
  Tensor base = array(DType::F32, {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  TensorView view = base;
  view.dims = {3, 3};
  view.strides = {1, -4};
  view.data = static_cast<float*>(base.data) + 9;
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {3, 3});
  const NodeId y = g.elementwise(Op::Add, {x, lit(0)});
  const Graph graph = g.finish({y});
  expect_values(run(graph, {view}), {9, 5, 1, 10, 6, 2, 11, 7, 3});

  view.strides = {0, 4};  // one row for all
  view.data = base.data;
  expect_values(run(graph, {view}), {0, 4, 8, 0, 4, 8, 0, 4, 8});

  std::vector<char> bytes(9 * 4 + 1);  // misaligned
  for (int i = 0; i < 9; ++i) store_scalar(Scalar::of_float(DType::F32, i), bytes.data() + 1 + 4 * i);
  view.strides = {3, 1};
  view.data = bytes.data() + 1;
  expect_values(run(graph, {view}), {0, 1, 2, 3, 4, 5, 6, 7, 8});
}

TEST(Interpret, OddStridesOfSizeOne) {
  Tensor x = array(DType::I32, {1, 3, 1}, {4, 5, 6});
  x.strides = {12345, 1, -99};
  GraphBuilder g;
  const NodeId y = g.elementwise(Op::Neg, {g.input("x", DType::I32, {1, 3, 1})});
  expect_values(run(g.finish({y}), {x}), {-4, -5, -6});
}

TEST(Interpret, Movement) {
  const Tensor x = array(DType::I16, {2, 3}, {0, 1, 2, 3, 4, 5});
  const auto with = [&](auto build) {
    GraphBuilder g;
    const NodeId y = build(g, g.input("x", DType::I16, {B, 3}));
    return run(g.finish({y}), {x});
  };
  expect_values(with([](auto& g, NodeId x) { return g.permute(x, {1, 0}); }), {0, 3, 1, 4, 2, 5});
  expect_values(with([](auto& g, NodeId x) { return g.reshape(g.permute(x, {1, 0}), {-1}); }), {0, 3, 1, 4, 2, 5});
  expect_values(with([](auto& g, NodeId x) { return g.slice(x, {B - 1, 2}, {-1, -2}, {B, 2}); }), {5, 3, 2, 0});
  expect_values(with([](auto& g, NodeId x) { return g.slice(x, {0, 1}, {1, 1}, {B, 0}); }), {});
  expect_values(with([](auto& g, NodeId x) { return g.slice(x, {0, 1}, {1, 7}, {B, 1}); }), {1, 4});
  expect_values(with([](auto& g, NodeId x) {
                  return g.pad(x, {1, 0}, {0, 2}, lit(9));
                }),
                {9, 9, 9, 9, 9, 0, 1, 2, 9, 9, 3, 4, 5, 9, 9});
  expect_values(with([](auto& g, NodeId x) {
                  return g.concat({x, g.slice(x, {0, 2}, {1, -1}, {B, 3})}, 1);
                }),
                {0, 1, 2, 2, 1, 0, 3, 4, 5, 5, 4, 3});
  expect_values(with([](auto& g, NodeId x) { return g.concat({x, x}, 0); }), {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  expect_values(with([](auto& g, NodeId x) {
                  return g.broadcast_to(g.slice(x, {0, 0}, {1, 1}, {1, 3}), {2, 2, 3});
                }),
                {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2});
  expect_values(with([](auto& g, NodeId) { return g.iota({2, B, 2}, 1); }), {0, 0, 1, 1, 0, 0, 1, 1});
  expect_values(with([](auto& g, NodeId) { return g.size_value(B * 5); }), {10});
}

TEST(Interpret, PadOfAnEmptyArray) {
  GraphBuilder g;
  const NodeId y = g.pad(g.input("x", DType::F32, {B}), {2}, {1}, Literal{kInf});
  expect_values(run(g.finish({y}), {Tensor::empty(DType::F32, {0})}), {kInf, kInf, kInf});
}

TEST(Interpret, Gather) {
  const Tensor x = array(DType::F32, {3, 2}, {0, 1, 10, 11, 20, 21});
  const auto take = [&](const Tensor& i, int axis, GatherMode mode) {
    GraphBuilder g;
    const NodeId a = g.input("x", DType::F32, {B, 2}), b = g.input("i", i.dtype, {C});
    const NodeId y = g.gather(a, b, axis, mode);
    return run(g.finish({y}), {x, i});
  };
  const Tensor wild = array(DType::I8, {4}, {-1, 3, -4, 1});
  expect_values(take(array(DType::I32, {3}, {2, 0, -1}), 0, GatherMode::Check), {20, 21, 0, 1, 20, 21});
  expect_values(take(array(DType::U8, {3}, {1, 1, 0}), 1, GatherMode::Check), {1, 1, 0, 11, 11, 10, 21, 21, 20});
  expect_values(take(wild, 0, GatherMode::Clamp), {0, 1, 20, 21, 0, 1, 10, 11});
  expect_values(take(wild, 0, GatherMode::Wrap), {20, 21, 0, 1, 20, 21, 10, 11});
  expect_values(take(int_array(DType::U64, {-1}), 0, GatherMode::Clamp), {20, 21});
  expect_values(take(int_array(DType::U64, {-1}), 0, GatherMode::Wrap), {0, 1});
  EXPECT_EQ(take(Tensor::empty(DType::I64, {0}), 0, GatherMode::Check).dims, (Dims{0, 2}));
  EXPECT_EQ(message_of([&] { take(int_array(DType::U64, {-1}), 0, GatherMode::Check); }),
            "index 18446744073709551615 is out of range for axis 0 of size 3 in gather\nhelp: indices go from -3 to 2");
  EXPECT_EQ(message_of([&] { take(int_array(DType::I64, {INT64_MIN}), 0, GatherMode::Check); }),
            "index -9223372036854775808 is out of range for axis 0 of size 3 in gather\nhelp: indices go from -3 to 2");
  try {
    take(wild, 0, GatherMode::Check);
    ADD_FAILURE();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "index 3 is out of range for axis 0 of size 3 in gather\nhelp: indices go from -3 to 2");
  }
}

TEST(Interpret, RankZeroAndRankEight) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {});
  const NodeId y = g.elementwise(Op::Mul, {x, x});
  expect_values(run(g.finish({y}), {array(DType::F32, {}, {3})}), {9});

  V ramp(256);
  std::iota(ramp.begin(), ramp.end(), 0);
  GraphBuilder h;
  const NodeId a = h.input("a", DType::I32, Shape(8, 2));
  const NodeId turned = h.permute(a, {7, 6, 5, 4, 3, 2, 1, 0});
  const NodeId back = h.elementwise(Op::Sub, {h.permute(turned, {7, 6, 5, 4, 3, 2, 1, 0}), a});
  const auto out = interpret(h.finish({turned, back}), {array(DType::I32, Dims(8, 2), ramp)});
  const V got = values(out[0]);
  for (int i = 0; i < 256; ++i) {
    int mirrored = 0;
    for (int bit = 0; bit < 8; ++bit) mirrored |= (i >> bit & 1) << (7 - bit);
    EXPECT_EQ(got[static_cast<size_t>(i)], mirrored);
  }
  expect_values(out[1], V(256, 0));
}

TEST(Interpret, InputAndSeveralOutputs) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {2}), unused = g.input("y", DType::I8, {B});
  const NodeId y = g.elementwise(Op::Neg, {x}), z = g.elementwise(Op::Abs, {y});
  const auto out = interpret(g.finish({y, x, y, z}), {array(DType::F32, {2}, {1, -2}), Tensor::empty(DType::I8, {7})});
  (void)unused;
  ASSERT_EQ(out.size(), 4u);
  expect_values(out[0], {-1, 2});
  expect_values(out[1], {1, -2});
  expect_values(out[2], {-1, 2});
  expect_values(out[3], {1, 2});
  EXPECT_EQ(out[1].dtype, DType::F64);
}

TEST(Interpret, LongArraysMeetTheChunkBorder) {
  for (int64_t n : {0, 1, 1023, 1024, 1025, 4100}) {
    V ramp(static_cast<size_t>(n)), doubled;
    std::iota(ramp.begin(), ramp.end(), 0);
    for (double v : ramp) doubled.push_back(2 * v + 1);
    GraphBuilder g;
    const NodeId x = g.input("x", DType::I32, {B}), s = g.input("s", DType::I32, {});
    const NodeId y = g.elementwise(Op::Add, {g.elementwise(Op::Mul, {x, s}), lit(1)});
    expect_values(run(g.finish({y}), {array(DType::I32, {n}, ramp), array(DType::I32, {}, {2})}), doubled);
  }
}

TEST(Interpret, RejectsArraysOfAnotherDtype) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {2});
  const Graph graph = g.finish({x});
  try {
    interpret(graph, {array(DType::F64, {2}, {1, 2})});
    ADD_FAILURE();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "input x is f32, but the array is f64");
  }
}

}  // namespace
}  // namespace smelt

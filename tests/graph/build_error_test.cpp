// What GraphBuilder says of what does not fit.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "graph/build.hpp"
#include "support/message_of.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using testing::message_of;

const IntExpr B = sym("B"_size), C = sym("C"_size);
using L = Literal;

L lit(int64_t value) { return value; }

struct Case {
  std::string message, help;
  std::function<void(GraphBuilder&)> build;
};

void expect_errors(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    GraphBuilder g;
    try {
      c.build(g);
      ADD_FAILURE() << "no error, instead of: " << c.message;
    } catch (const UserBuildError& e) {
      EXPECT_EQ(e.error.message, c.message);
      EXPECT_EQ(e.error.help, c.help);
    }
  }
}

// An operation on an array x and a literal.
std::function<void(GraphBuilder&)> with(Op op, DType dtype, L literal) {
  return [=](GraphBuilder& g) { g.elementwise(op, {g.input("x", dtype, {B}), literal}); };
}
std::function<void(GraphBuilder&)> of(Op op, DType dtype) {
  return [=](GraphBuilder& g) { g.elementwise(op, {g.input("x", dtype, {B})}); };
}
std::function<void(GraphBuilder&)> mix(DType a, DType b) {
  return [=](GraphBuilder& g) { g.elementwise(Op::Add, {g.input("x", a, {B}), g.input("y", b, {})}); };
}

TEST(BuildError, MixedDtypes) {
  expect_errors({
      {"cannot mix i32[B] with f32", "write f32(x)", mix(DType::I32, DType::F32)},
      {"cannot mix f16[B] with u8", "write f16(y)", mix(DType::F16, DType::U8)},
      {"cannot mix bool[B] with i8", "write i8(x)", mix(DType::Bool, DType::I8)},
      {"cannot mix f64[B] with bool", "write f64(y)", mix(DType::F64, DType::Bool)},
      {"cannot mix u64[B] with i32", "no integer type holds both: write i64(x) or u64(y)", mix(DType::U64, DType::I32)},
      {"cannot mix i8[B] with u64", "no integer type holds both: write i64(y) or u64(x)", mix(DType::I8, DType::U64)},
      {"cannot mix f32[B] with i32", "write f32(...)",
       [](GraphBuilder& g) {
         const NodeId x = g.input("x", DType::F32, {B}), i = g.input("i", DType::I32, {});
         g.elementwise(Op::Add, {x, g.elementwise(Op::Neg, {i})});
       }},
  });
}

TEST(BuildError, Literals) {
  const auto add = Op::Add;
  expect_errors({
      {"cannot mix i32[B] with the float 0.5", "write f32(x)", with(add, DType::I32, L{0.5})},
      {"cannot mix u64[B] with the float nan", "write f32(x)", with(add, DType::U64, L{std::nan("")})},
      {"cannot mix bool[B] with the float 0.5", "write f32(x)", with(add, DType::Bool, L{0.5})},
      {"cannot mix bool[B] with the integer 2", "write i32(x)", with(add, DType::Bool, lit(2))},
      {"cannot mix f32[B] with true", "write 1 for true and 0 for false", with(add, DType::F32, L{true})},
      {"300 does not fit i8, which holds -128 to 127", "write i16(x), or a number in that range",
       with(add, DType::I8, lit(300))},
      {"-1 does not fit u8, which holds 0 to 255", "write i16(x), or a number in that range",
       with(add, DType::U8, lit(-1))},
      {"-1 does not fit u32, which holds 0 to 4294967295", "write i64(x), or a number in that range",
       with(add, DType::U32, lit(-1))},
      {"-1 does not fit u64, which holds 0 to 18446744073709551615", "write a number in that range",
       with(add, DType::U64, lit(-1))},
      {"-129 does not fit i8, which holds -128 to 127", "write i16(x), or a number in that range",
       with(add, DType::I8, lit(-129))},
      {"70000 does not fit f16", "write f32(x)", with(add, DType::F16, lit(70000))},
      {"100000 does not fit f16", "write f32(x), or inf", with(add, DType::F16, L{1e5})},
      {"1e+39 does not fit f32", "write f64(x), or inf", with(add, DType::F32, L{1e39})},
      {"add cannot mix true with 2", "write 1 for true and 0 for false",
       [](GraphBuilder& g) {
         g.elementwise(Op::Add, {L{true}, lit(2)});
       }},
      {"300 does not fit i8, which holds -128 to 127", "write i16(...), or a number in that range",
       [](GraphBuilder& g) { g.materialize(lit(300), DType::I8); }},
  });
  GraphBuilder g;  // what does fit
  const NodeId x = g.input("x", DType::I8, {}), h = g.input("h", DType::F16, {});
  for (int64_t value : {-128, 127}) g.elementwise(Op::Add, {x, lit(value)});
  for (double value : {65504.0, 65519.0, double(INFINITY), std::nan("")}) g.elementwise(Op::Add, {h, L{value}});
}

TEST(BuildError, DtypesThatAnOperationDoesNotTake) {
  expect_errors({
      {"divide divides floats, not i32[B] by 2", "write x // 2 for the quotient rounded down, or f32(x)",
       with(Op::Div, DType::I32, lit(2))},
      {"/ divides floats, not i32[B] by i32", "write x // y for the quotient rounded down, or f32(x)",
       [](GraphBuilder& g) {
         const NodeId x = g.input("x", DType::I32, {B}), y = g.input("y", DType::I32, {});
         g.set_origin({}, "/");
         g.elementwise(Op::Div, {x, y});
       }},
      {"divide divides floats, not 1 by i32[B]", "write 1 // x for the quotient rounded down, or f32(x)",
       [](GraphBuilder& g) {
         g.elementwise(Op::Div, {lit(1), g.input("x", DType::I32, {B})});
       }},
      {"sqrt takes floats, not i64[B]", "write f32(x)", of(Op::Sqrt, DType::I64)},
      {"exp takes floats, not bool[B]", "write f32(x)", of(Op::Exp, DType::Bool)},
      {"negative takes numbers, not bool[B]", "write i32(x)", of(Op::Neg, DType::Bool)},
      {"isnan takes numbers, not bool[B]", "write i32(x)", of(Op::IsNan, DType::Bool)},
      {"left_shift takes integers, not f32[B]", "write i32(x)", with(Op::ShiftLeft, DType::F32, lit(2))},
      {"bitwise_and takes integers or bool, not f32[B]", "write i32(x)", with(Op::And, DType::F32, lit(2))},
      {"bitwise_not takes integers or bool, not f32[B]", "write i32(x)", of(Op::Not, DType::F32)},
      {"bitwise_and takes integers or bool, not f32[B]", "write i32(x)",
       [](GraphBuilder& g) {
         const NodeId m = g.input("m", DType::Bool, {B}), x = g.input("x", DType::F32, {B});
         g.elementwise(Op::And, {m, x});
       }},
      {"the condition of where is f32[B], not a bool", "write bool(c)",
       [](GraphBuilder& g) {
         g.elementwise(Op::Where, {g.input("c", DType::F32, {B}), lit(1), lit(2)});
       }},
      {"the condition of where is 1, not a bool", "write true or false",
       [](GraphBuilder& g) {
         g.elementwise(Op::Where, {lit(1), lit(1), lit(2)});
       }},
      {"a wrapping cast takes integers, not f32[B]", "write i64(x) first, which saturates",
       [](GraphBuilder& g) { g.cast(g.input("x", DType::F32, {B}), DType::U8, true); }},
  });
}

TEST(BuildError, Broadcast) {
  const auto add = [](Shape a, Shape b) {
    return [=](GraphBuilder& g) { g.elementwise(Op::Add, {g.input("x", DType::F32, a), g.input("y", DType::F32, b)}); };
  };
  const auto to = [](Shape a, Shape b) {
    return [=](GraphBuilder& g) { g.broadcast_to(g.input("x", DType::F32, a), b); };
  };
  const std::string rule =
      "aligned at the last axis, each size must be equal, or 1 in the array; a symbolic size broadcasts only with "
      "itself and with 1";
  expect_errors({
      {"cannot broadcast f32[B, 8] with f32[B, 4]", "sizes 8 and 4 of axis -1 must be equal, or one of them 1",
       add({B, 8}, {B, 4})},
      {"cannot broadcast f32[B, 8] with f32[C, 8]",
       "a symbolic size broadcasts only with itself and with 1: write B and C of axis -2 with one name, if they are "
       "equal",
       add({B, 8}, {C, 8})},
      {"cannot broadcast f32[B] with f32[4]",
       "a symbolic size broadcasts only with itself and with 1: write B and 4 of axis -1 with one name, if they are "
       "equal",
       add({B}, {4})},
      {"cannot broadcast f32[0] with f32[2]", "sizes 0 and 2 of axis -1 must be equal, or one of them 1",
       add({0}, {2})},
      {"cannot broadcast [2] with [3]", "sizes 2 and 3 of axis -1 must be equal, or one of them 1",
       [](GraphBuilder& g) {
         g.broadcast_shapes(std::vector<Shape>{{1}, {2}, {B, 1}, {3}});
       }},
      {"cannot broadcast f32[4] to [2]", rule, to({4}, {2})},
      {"cannot broadcast f32[2, 2] to [2]", rule, to({2, 2}, {2})},
      {"cannot broadcast f32[B] to [1]", rule, to({B}, {1})},
      {"cannot broadcast f32[B] to [C]", rule, to({B}, {C})},
  });
}

TEST(BuildError, Axes) {
  const auto sum = [](ReduceKind kind, Shape shape, std::vector<int> axes) {
    return [=](GraphBuilder& g) { g.reduce(kind, g.input("x", DType::F32, shape), axes, false); };
  };
  expect_errors({
      {"axis 2 is out of range for an array of rank 2", "use an axis from -2 to 1", sum(ReduceKind::Sum, {B, 4}, {2})},
      {"axis -3 is out of range for an array of rank 2", "use an axis from -2 to 1",
       sum(ReduceKind::Sum, {B, 4}, {-3})},
      {"axis 0 is out of range for an array of rank 0", "a scalar has no axes", sum(ReduceKind::Sum, {}, {0})},
      {"sum names axis 1 twice", "name each axis once", sum(ReduceKind::Sum, {B, 4}, {-1, 1})},
      {"argmax takes one axis, or none for the whole array", "reshape the axes into one, or name one axis",
       sum(ReduceKind::ArgMax, {B, 4, 2}, {0, 1})},
      {"max over axis 1 of f32[B, 0] needs at least one element", "", sum(ReduceKind::Max, {B, 0}, {1})},
      {"argmin over axis 0 of f32[0] needs at least one element", "", sum(ReduceKind::ArgMin, {0}, {})},
      {"the order of f32[B, 4] names axis 0 twice", "name each axis once",
       [](GraphBuilder& g) {
         g.permute(g.input("x", DType::F32, {B, 4}), {0, -2});
       }},
      {"cannot permute f32[B, 4] by 1 axes", "name all 2 axes",
       [](GraphBuilder& g) {
         g.permute(g.input("x", DType::F32, {B, 4}), {0});
       }},
      {"axis 1 is out of range for an array of rank 1", "use an axis from -1 to 0",
       [](GraphBuilder& g) { g.iota({4}, 1); }},
  });
}

TEST(BuildError, Reshape) {
  const auto reshape = [](Shape a, Shape b) {
    return [=](GraphBuilder& g) { g.reshape(g.input("x", DType::F32, a), b); };
  };
  const std::string same = "the number of elements must stay the same; one size may be -1";
  expect_errors({
      {"cannot reshape f32[3, 4] (12 elements) to [5, 2] (10 elements)", same, reshape({3, 4}, {5, 2})},
      {"cannot reshape f32[B, 8] (8*B elements) to [B, 4] (4*B elements)", same, reshape({B, 8}, {B, 4})},
      {"cannot reshape f32[B, 8] (8*B elements) to [16] (16 elements)", same, reshape({B, 8}, {16})},
      {"cannot reshape f32 (1 element) to [2] (2 elements)", same, reshape({}, {2})},
      {"cannot reshape to [-1, -1]: only one size may be -1", "write the other sizes", reshape({4}, {-1, -1})},
      {"cannot reshape f32[0] to [0, -1]: with a size 0, -1 could be anything", "write the size instead of -1",
       reshape({0}, {0, -1})},
      {"cannot reshape f32[10] (10 elements) to [3, -1]: 3 must divide the number of elements", "",
       reshape({10}, {3, -1})},
      {"shape [-2, 5] has the negative size -2", "sizes are 0 or more", reshape({10}, {-2, 5})},
  });
}

TEST(BuildError, SizesThatDoNotFit) {
  const int64_t huge = 1000000000000000000;
  expect_errors({
      {"shape [1000000000000000000, 1000000000000000000] has more elements than 64 bits can address",
       "use smaller sizes",
       [=](GraphBuilder& g) {
         g.input("x", DType::F32, {huge, huge});
       }},
      {"shape [B, 1000000000000000000] has more elements than 64 bits can address", "use smaller sizes",
       [=](GraphBuilder& g) {
         g.input("x", DType::F32, {B, huge});
       }},
      {"shape [65536, 65536, 65536, 65536] has more elements than 64 bits can address", "use smaller sizes",
       [=](GraphBuilder& g) { g.broadcast_to(g.input("x", DType::F32, {}), Shape(4, 65536)); }},
      {"shape [-1] has the negative size -1", "sizes are 0 or more",
       [=](GraphBuilder& g) { g.input("x", DType::F32, {-1}); }},
      {"an array cannot have 1000000 dimensions", "use at most 64 dimensions",
       [=](GraphBuilder& g) { g.reshape(g.input("x", DType::F32, {}), Shape(1000000, 1)); }},
      {"a size does not fit 64 bits: 9223372036854775807 + 9223372036854775807", "use smaller sizes",
       [=](GraphBuilder& g) {
         const NodeId x = g.input("x", DType::U8, {B});
         g.pad(x, {INT64_MAX}, {INT64_MAX}, lit(0));
       }},
      {"a size does not fit 64 bits: -9223372036854775808 * 9223372036854775806", "use smaller sizes",
       [=](GraphBuilder& g) {
         const NodeId x = g.input("x", DType::U8, {B});
         g.slice(x, {0}, {INT64_MAX}, {B});
         g.slice(x, {INT64_MIN}, {INT64_MIN}, {INT64_MAX});
       }},
  });
}

// Each step doubles the text of the size; without a bound, thirty lines of program fill the memory.
TEST(BuildError, SizesThatGrowWithoutEnd) {
  GraphBuilder g;
  NodeId x = g.input("x", DType::U8, {B});
  EXPECT_EQ(message_of<UserBuildError>([&] {
              for (int i = 0; i < 60; ++i) {
                const IntExpr size = g.shape(x)[0];
                x = g.concat({x, g.slice(x, {0}, {3}, {ceildiv(size, 3)})}, 0);
              };
            }),
            "the symbolic sizes of this array are too long to reason about: ((((((((((((B + 2) // 3) + B + 2) // 3) + "
            "((B + 2) // 3) + B...\ngive an input whose size is a symbol of its own, or use constant sizes");
  GraphBuilder h;
  Shape shape;
  for (int d = 0; d < 30; ++d) shape.push_back(sym(Symbol::size(std::string(1, static_cast<char>('a' + d)))) + 1);
  EXPECT_EQ(message_of<UserBuildError>([&] { h.reshape(h.input("x", DType::U8, shape), {-1}); }),
            "the symbolic sizes of this array are too long to reason about: k + 1...\ngive an input whose size is a "
            "symbol of its own, or use constant sizes");
}

TEST(BuildError, SlicePadConcatGather) {
  const auto slice = [](Shape a, std::vector<IntExpr> starts, std::vector<int64_t> steps, Shape result) {
    return [=](GraphBuilder& g) { g.slice(g.input("x", DType::F32, a), starts, steps, result); };
  };
  const auto pad = [](std::vector<IntExpr> low, Operand value) {
    return [=](GraphBuilder& g) { g.pad(g.input("x", DType::I32, {B}), low, {0}, value); };
  };
  const auto concat = [](Shape a, Shape b, int axis) {
    return [=](GraphBuilder& g) { g.concat({g.input("x", DType::I32, a), g.input("y", DType::I32, b)}, axis); };
  };
  expect_errors({
      {"the step of axis 0 of f32[4] is 0", "use another step", slice({4}, {0}, {0}, {1})},
      {"a slice of axis 0 of f32[4] reaches index 4, past the array", "", slice({4}, {0}, {2}, {3})},
      {"a slice of axis 0 of f32[4] begins at index -1, before the array", "", slice({4}, {3}, {-2}, {3})},
      {"a slice of axis 0 of f32[B] reaches index B, past the array", "", slice({B}, {B}, {-1}, {1})},
      {"shape [-1] has the negative size -1", "sizes are 0 or more", [](GraphBuilder& g) { g.iota({-1}, 0); }},
      {"a slice of axis 0 of f32[4] cannot have the negative size -1", "", slice({4}, {0}, {1}, {-1})},
      {"axis 0 of i32[B] cannot be padded by -2: widths are 0 or more", "", pad({-2}, lit(0))},
      {"cannot mix i32[B] with the float 0.5", "write f32(x)", pad({1}, L{0.5})},
      {"the padding value is f32[2], not a scalar", "pad with one number",
       [](GraphBuilder& g) { g.pad(g.input("x", DType::F32, {B}), {1}, {1}, g.input("v", DType::F32, {2})); }},
      {"cannot pad i8[B] with i32", "write i8(v)",
       [](GraphBuilder& g) { g.pad(g.input("x", DType::I8, {B}), {1}, {1}, g.input("v", DType::I32, {})); }},
      {"cannot concatenate i32[B, 2] and i32[B, 3] along axis 0", "all other sizes must be equal",
       concat({B, 2}, {B, 3}, 0)},
      {"cannot concatenate i32[2] and i32[2, 2] along axis 0", "all other sizes must be equal", concat({2}, {2, 2}, 0)},
      {"cannot concatenate scalars", "use stack, or reshape them to [1]", concat({}, {}, 0)},
      {"concat needs at least one array", "name the arrays that it joins", [](GraphBuilder& g) { g.concat({}, 0); }},
      {"cannot mix i32[2] with f32[2]", "write f32(x)",
       [](GraphBuilder& g) {
         g.concat({g.input("x", DType::I32, {2}), g.input("y", DType::F32, {2})}, 0);
       }},
      {"indices are integers, not f32[2]", "write i64(i)",
       [](GraphBuilder& g) {
         g.gather(g.input("x", DType::F32, {4}), g.input("i", DType::F32, {2}), 0, GatherMode::Check);
       }},
      {"cannot take elements of a scalar", "give an array of at least one dimension",
       [](GraphBuilder& g) {
         g.gather(g.input("x", DType::F32, {}), g.input("i", DType::I32, {2}), 0, GatherMode::Check);
       }},
      {"cannot take from axis 0 of f32[0]: it has no elements", "",
       [](GraphBuilder& g) {
         g.gather(g.input("x", DType::F32, {0}), g.input("i", DType::I32, {2}), 0, GatherMode::Clamp);
       }},
  });
}

}  // namespace
}  // namespace smelt

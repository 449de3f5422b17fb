// Gradients of every operation against finite differences, and at the places where there is no
// difference.
#include <gtest/gtest.h>

#include <map>

#include "finite_differences.hpp"
#include "graph/custom_code.hpp"
#include "graph/functions.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using namespace testing;
namespace f = functions;

// ---- scalar operations

struct Domain {
  double low, high;
};
// Where an argument must lie for the operation to have a finite derivative.
Domain domain_of(Op op, int argument) {
  switch (op) {
    case Op::Div:
    case Op::FloorDiv:
    case Op::Mod:
    case Op::Fmod: return argument == 1 ? Domain{1.2, 1.9} : Domain{-4.3, 4.4};
    case Op::Pow: return argument == 0 ? Domain{0.3, 2.4} : Domain{-1.7, 2.6};
    case Op::Reciprocal:
    case Op::Sqrt:
    case Op::Rsqrt:
    case Op::Cbrt:
    case Op::Log:
    case Op::Log2:
    case Op::Log10:
    case Op::Atan2:
    case Op::Hypot: return {0.4, 3.1};
    case Op::Log1p: return {-0.6, 2.2};
    case Op::Asin:
    case Op::Acos:
    case Op::Atanh: return {-0.8, 0.85};
    case Op::Acosh: return {1.2, 3.4};
    case Op::Tan: return {-1.2, 1.25};
    default: return {-1.9, 2.1};
  }
}

// A row without a derivative does not compile; one with a wrong derivative fails here.
TEST(Gradient, EveryScalarOperation) {
  int checked = 0;
  for (int i = 0; i < kOpCount; ++i) {
    const OpInfo& op = info(static_cast<Op>(i));
    if (!op.on_float) continue;
    const size_t first = op.rule == TypeRule::Select ? 1 : 0;
    std::vector<Tensor> inputs;
    if (first) inputs.push_back(array(DType::Bool, {7}, {1, 0, 0, 1, 1, 0, 1}));
    for (int a = static_cast<int>(first); a < op.arity; ++a) {
      const Domain d = domain_of(op.op, a);
      inputs.push_back(apart({7}, d.low, d.high, a));
    }
    const Formula formula = [&](GraphBuilder& b, const std::vector<NodeId>& x) {
      return b.cast(b.elementwise(op.op, std::vector<Operand>(x.begin(), x.end())), DType::F64);
    };
    EXPECT_TRUE(right_gradients(formula, inputs)) << op.name;
    ++checked;
  }
  EXPECT_GT(checked, 50);
}

// The gradient of the sum of one operation on rows of arguments.
std::vector<std::vector<double>> slopes(Op op, const std::vector<std::vector<double>>& arguments,
                                        DType dtype = DType::F64) {
  GraphBuilder b;
  std::vector<NodeId> x;
  std::vector<Tensor> inputs;
  for (const auto& numbers : arguments) {
    inputs.push_back(array(dtype, {static_cast<int64_t>(numbers.size())}, numbers));
    x.push_back(b.input("x", dtype, {inputs.back().dims[0]}));
  }
  const NodeId sum = b.reduce(ReduceKind::Sum, b.elementwise(op, std::vector<Operand>(x.begin(), x.end())), {}, false);
  const Graph graph = simplify(b.finish(gradient(b, sum, x)));
  std::vector<std::vector<double>> result;
  for (const Tensor& t : interpret(graph, {inputs.begin(), inputs.end()})) result.push_back(values(t));
  return result;
}

using Rows = std::vector<std::vector<double>>;

TEST(Gradient, OfScalarOperationsWhereTheyHaveNone) {
  EXPECT_EQ(slopes(Op::Abs, {{0, -0.0, -2, 3}}), (Rows{{0, 0, -1, 1}}));
  EXPECT_EQ(slopes(Op::Sqrt, {{0, 4, kInf}}), (Rows{{kInf, 0.25, 0}}));
  EXPECT_EQ(slopes(Op::Cbrt, {{0, 8}}), (Rows{{kInf, 1.0 / 12}}));
  EXPECT_EQ(slopes(Op::Max, {{1, 2, 3}, {1, 3, 2}}), (Rows{{0.5, 0, 1}, {0.5, 1, 0}}));
  EXPECT_EQ(slopes(Op::Min, {{1, 2, 3}, {1, 3, 2}}), (Rows{{0.5, 1, 0}, {0.5, 0, 1}}));
  EXPECT_EQ(slopes(Op::Hypot, {{0, 3, 0}, {0, 4, -2}}), (Rows{{0, 0.6, 0}, {0, 0.8, -1}}));
  EXPECT_EQ(slopes(Op::Copysign, {{0, -2, 3}, {1, 1, -1}}), (Rows{{0, -1, -1}, {0, 0, 0}}));
  EXPECT_EQ(slopes(Op::Floor, {{0.5, 1, -0.0}}), (Rows{{0, 0, 0}}));
  EXPECT_EQ(slopes(Op::Sign, {{0, 1, kNan}}), (Rows{{0, 0, 0}}));
  EXPECT_EQ(slopes(Op::Tanh, {{0, 40, -kInf}}), (Rows{{1, 0, 0}}));
}

TEST(Gradient, OfPowersAtZero) {
  EXPECT_EQ(slopes(Op::Pow, {{0, 0, 0, 0, 2}, {0, 1, 2, 3, 0}})[0], (std::vector<double>{0, 1, 0, 0, 0}));
  EXPECT_EQ(slopes(Op::Pow, {{0, 0, 2}, {2, 0, 0}})[1], (std::vector<double>{0, 0, std::log(2.0)}));
  EXPECT_EQ(slopes(Op::Pow, {{-2, -3}, {2, 3}})[0], (std::vector<double>{-4, 27}));
}

TEST(Gradient, ANumberOfTheProgramHasTheTie) {
  const auto at = [](const std::function<NodeId(GraphBuilder&, NodeId)>& function, std::vector<double> x) {
    GraphBuilder b;
    const NodeId in = b.input("x", DType::F64, {static_cast<int64_t>(x.size())});
    const NodeId sum = b.reduce(ReduceKind::Sum, function(b, in), {}, false);
    const Graph graph = simplify(b.finish(gradient(b, sum, {in})));
    return values(interpret(graph, {array(DType::F64, {static_cast<int64_t>(x.size())}, x)})[0]);
  };
  EXPECT_EQ(at(f::relu, {-1, 0, -0.0, 2}), (std::vector<double>{0, 0, 0, 1}));
  EXPECT_EQ(at([](GraphBuilder& b, NodeId x) { return f::clamp(b, x, Operand(-1.0), Operand(1.0)); }, {-1, 0, 1, 2}),
            (std::vector<double>{0, 1, 0, 0}));
}

TEST(Gradient, WhereTakesNothingFromTheOtherSide) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F64, {3}), positive = b.elementwise(Op::Gt, {x, Literal(0.0)});
  // As in JAX: 0 times the infinite slope of the side not taken is nan; with an argument that is
  // safe there it is 0.
  const NodeId plain = b.elementwise(Op::Where, {positive, b.elementwise(Op::Sqrt, {x}), Literal(0.0)});
  const NodeId safe = b.elementwise(
      Op::Where,
      {positive, b.elementwise(Op::Sqrt, {b.elementwise(Op::Where, {positive, x, Literal(1.0)})}), Literal(0.0)});
  const NodeId first = gradient(b, b.reduce(ReduceKind::Sum, plain, {}, false), {x})[0];
  const NodeId second = gradient(b, b.reduce(ReduceKind::Sum, safe, {}, false), {x})[0];
  const std::vector<Tensor> got = interpret(simplify(b.finish({first, second})), {array(DType::F64, {3}, {4, 0, -1})});
  EXPECT_TRUE(std::isnan(values(got[0])[1]));
  EXPECT_EQ(values(got[0])[0], 0.25);
  EXPECT_EQ(values(got[1]), (std::vector<double>{0.25, 0, 0}));
}

TEST(Gradient, CastsAndIntegers) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F16, {2});
  const NodeId wide = b.elementwise(Op::Mul, {b.cast(x, DType::F64), Literal(3.0)});
  const NodeId steps = b.cast(b.cast(x, DType::I32), DType::F64);  // flat
  const NodeId sum = b.reduce(ReduceKind::Sum, b.elementwise(Op::Add, {wide, steps}), {}, false);
  const Graph graph = b.finish(gradient(b, sum, {x}));
  EXPECT_EQ(graph.at(graph.outputs[0]).dtype, DType::F16);
  EXPECT_EQ(values(interpret(graph, {array(DType::F16, {2}, {1, 2})})[0]), (std::vector<double>{3, 3}));
}

TEST(Gradient, ConstantsOfHalvesAreNotRoundedToThem) {
  const Rows got = slopes(Op::Erf, {{0, 0}}, DType::BF16);
  EXPECT_EQ(got[0][0], 1.125);  // 2 / sqrt(pi) in bf16, rounded once
  GraphBuilder b;
  const NodeId x = b.input("x", DType::BF16, {1});
  const NodeId twice = b.elementwise(Op::Exp2, {x});
  const Graph graph = b.finish(gradient(b, b.reduce(ReduceKind::Sum, twice, {}, false), {x}));
  EXPECT_EQ(values(interpret(graph, {array(DType::BF16, {1}, {3})})[0])[0], 5.53125);  // 8 ln 2 = 5.545
}

// ---- values and what gradients are by

TEST(Gradient, StopsWhereItIsTold) {
  const Formula formula = [](GraphBuilder& b, const std::vector<NodeId>& x) {
    return b.elementwise(Op::Mul, {x[0], b.stop_gradient(b.elementwise(Op::Sin, {x[0]}))});
  };
  const Tensor x = apart({5});
  const std::vector<double> numbers = values(x), got = values(gradients(formula, {x})[0]);
  for (size_t i = 0; i < 5; ++i)
    EXPECT_NEAR(got[i], std::sin(numbers[i]) * std::cos(1.7 * static_cast<double>(i)), 1e-12);
}

TEST(Gradient, ByValuesInBetweenAndByWhatDoesNotMatter) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F64, {2}), unused = b.input("y", DType::F64, {3});
  const NodeId h = b.elementwise(Op::Square, {x});
  const NodeId value = b.reduce(ReduceKind::Sum, b.elementwise(Op::Square, {h}), {}, false);
  const Graph graph = b.finish(gradient(b, value, {x, h, unused, value}));
  const std::vector<Tensor> got = interpret(graph, {array(DType::F64, {2}, {2, 3}), array(DType::F64, {3}, {0, 0, 0})});
  EXPECT_EQ(values(got[0]), (std::vector<double>{32, 108}));
  EXPECT_EQ(values(got[1]), (std::vector<double>{8, 18}));
  EXPECT_EQ(values(got[2]), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(values(got[3]), (std::vector<double>{1}));
}

TEST(Gradient, AliasesAreApart) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F64, {2}), left = b.alias(x), right = b.alias(x);
  const NodeId value =
      b.reduce(ReduceKind::Sum, b.elementwise(Op::Sub, {left, b.elementwise(Op::Square, {right})}), {}, false);
  const Graph graph = simplify(b.finish(gradient(b, value, {left, right, x})));
  const std::vector<Tensor> got = interpret(graph, {array(DType::F64, {2}, {2, 3})});
  EXPECT_EQ(values(got[0]), (std::vector<double>{1, 1}));
  EXPECT_EQ(values(got[1]), (std::vector<double>{-4, -6}));
  EXPECT_EQ(values(got[2]), (std::vector<double>{-3, -5}));
}

TEST(Gradient, VectorJacobianProductsOfSeveralValues) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F64, {2}), g = b.input("g", DType::F32, {2}), h = b.input("h", DType::F64, {});
  const NodeId squares = b.elementwise(Op::Square, {x}), sum = b.reduce(ReduceKind::Sum, x, {}, false);
  const Graph graph = b.finish(vector_jacobian_product(b, {squares, sum}, {g, h}, {x}));
  EXPECT_EQ(values(run(graph, {array(DType::F64, {2}, {2, 3}), array(DType::F32, {2}, {1, 10}),
                               array(DType::F64, {}, {0.5})})),
            (std::vector<double>{4.5, 60.5}));
}

std::string message(const std::function<void(GraphBuilder&)>& build) {
  GraphBuilder b;
  try {
    build(b);
  } catch (const UserBuildError& e) {
    return e.what();
  }
  return "";
}

TEST(Gradient, Mistakes) {
  EXPECT_EQ(message([](GraphBuilder& b) {
              const NodeId x = b.input("x", DType::F32, {4});
              gradient(b, b.elementwise(Op::Exp, {x}), {x});
            }),
            "a gradient is of one number, not of f32[4]\n"
            "reduce it: sum(...) or mean(...); vjp takes values of any shape, with their cotangents");
  EXPECT_EQ(message([](GraphBuilder& b) {
              const NodeId x = b.input("x", DType::I32, {4});
              gradient(b, b.reduce(ReduceKind::Sum, b.cast(x, DType::F32), {}, false), {x});
            }),
            "there is no gradient by i32[4]: only floats have one\n"
            "cast it to a float first, f32(x), and take the gradient by that");
  EXPECT_EQ(message([](GraphBuilder& b) {
              const NodeId x = b.input("x", DType::F32, {4});
              gradient(b, b.reduce(ReduceKind::ArgMax, x, {}, false), {x});
            }),
            "there is no gradient of i64: only floats have one\ncast it to a float: f32(...)");
  EXPECT_EQ(message([](GraphBuilder& b) {
              const NodeId x = b.input("x", DType::F32, {4});
              vector_jacobian_product(b, {x}, {b.input("g", DType::F32, {3})}, {x});
            }),
            "the cotangent of f32[4] is f32[3]\na cotangent is a float array of the shape of its value");
  EXPECT_EQ(
      message([](GraphBuilder& b) {
        const NodeId x = b.input("x", DType::F32, {4});
        auto code = std::make_shared<CustomCode>();
        code->name = "sorted";
        const NodeId y = b.custom(code, {x}, {{DType::F32, {4}}});
        gradient(b, b.reduce(ReduceKind::Sum, y, {}, false), {x});
      }),
      "the operation sorted has no gradient\n"
      "give the CustomOperation of sorted a gradient function, or take its inputs as constants: stop_gradient(x)");
}

}  // namespace
}  // namespace smelt

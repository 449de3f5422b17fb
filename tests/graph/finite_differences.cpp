#include "finite_differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace smelt::testing {

NodeId weighted_sum(GraphBuilder& b, NodeId x) {
  const IntExpr n = count(b.shape(x));
  const NodeId numbers = b.cast(b.iota({n}, 0), b.dtype(x));
  const NodeId weights = b.elementwise(Op::Cos, {b.elementwise(Op::Mul, {numbers, Literal(1.7)})});
  return b.reduce(ReduceKind::Sum, b.elementwise(Op::Mul, {x, b.reshape(weights, b.shape(x))}), {}, false);
}

static std::vector<NodeId> declare(GraphBuilder& b, const std::vector<Tensor>& inputs,
                                   const std::vector<Shape>& shapes) {
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < inputs.size(); ++i)
    nodes.push_back(b.input("x", inputs[i].dtype,
                            shapes.empty() ? Shape(inputs[i].dims.begin(), inputs[i].dims.end()) : shapes[i]));
  return nodes;
}

static std::vector<NodeId> floats(const GraphBuilder& b, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> result;
  for (const NodeId id : nodes)
    if (b.dtype(id) == DType::F64) result.push_back(id);
  return result;
}

static std::vector<TensorView> views(const std::vector<Tensor>& tensors) { return {tensors.begin(), tensors.end()}; }

std::vector<Tensor> gradients(const Formula& formula, const std::vector<Tensor>& inputs,
                              const std::vector<Shape>& shapes) {
  GraphBuilder b;
  const std::vector<NodeId> x = declare(b, inputs, shapes);
  const Graph graph = b.finish(gradient(b, weighted_sum(b, formula(b, x)), floats(b, x)));
  verify(graph);
  const Graph simple = simplify(graph);
  verify(simple);
  const std::vector<Tensor> result = interpret(simple, views(inputs)), plain = interpret(graph, views(inputs));
  for (size_t i = 0; i < result.size(); ++i) {
    const std::vector<double> p = values(result[i]), q = values(plain[i]);
    for (size_t e = 0; e < p.size(); ++e)
      EXPECT_TRUE(p[e] == q[e] || (std::isnan(p[e]) && std::isnan(q[e])) ||
                  std::fabs(p[e] - q[e]) < 1e-9 * (1 + std::fabs(q[e])))
          << "simplify changed " << q[e] << " to " << p[e];
  }
  return result;
}

::testing::AssertionResult right_gradient(const Formula& formula, const std::vector<Tensor>& inputs,
                                          const std::vector<Shape>& shapes) {
  GraphBuilder b;
  const Graph sum = b.finish({weighted_sum(b, formula(b, declare(b, inputs, shapes)))});
  const std::vector<Tensor> got = gradients(formula, inputs, shapes);
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype != DType::F64) continue;
    const std::vector<double> gradient = values(got.at(next));
    if (got[next].dims != inputs[i].dims || got[next].dtype != DType::F64)
      return ::testing::AssertionFailure() << "the gradient by input " << i << " is " << str(got[next].dims);
    ++next;
    for (size_t e = 0; e < gradient.size(); ++e) {
      const double x = values(inputs[i])[e], h = 1e-5 * std::max(1.0, std::fabs(x));
      const auto at = [&](double value) {
        std::vector<Tensor> moved = inputs;
        std::vector<double> numbers = values(inputs[i]);
        numbers[e] = value;
        moved[i] = array(DType::F64, inputs[i].dims, numbers);
        return values(interpret(sum, views(moved))[0])[0];
      };
      // Fourth order: the error of the difference is far below the tolerance.
      const double difference = (8 * (at(x + h) - at(x - h)) - (at(x + 2 * h) - at(x - 2 * h))) / (12 * h);
      if (!(std::fabs(gradient[e] - difference) <= kTolerance * (1 + std::fabs(difference))))
        return ::testing::AssertionFailure() << fmt::format("input {}, element {}, at {}: gradient {}, difference {}",
                                                            i, e, x, gradient[e], difference);
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult right_gradients(const Formula& formula, const std::vector<Tensor>& inputs,
                                           const std::vector<Shape>& shapes) {
  if (auto first = right_gradient(formula, inputs, shapes); !first) return first;
  const Formula slope = [&](GraphBuilder& b, const std::vector<NodeId>& x) {
    NodeId total = b.constant(Scalar::of_float(DType::F64, 0));
    for (const NodeId g : gradient(b, weighted_sum(b, formula(b, x)), floats(b, x)))
      total = b.elementwise(Op::Add, {total, weighted_sum(b, b.elementwise(Op::Sin, {g}))});
    return total;
  };
  auto second = right_gradient(slope, inputs, shapes);
  return second ? second : second << ", of the gradient";
}

Tensor apart(const Dims& dims, double low, double high, int seed) {
  const int64_t n = element_count(dims);
  std::vector<double> numbers;
  for (int64_t i = 0; i < n; ++i) {
    // A permutation of equal steps.
    const auto place = static_cast<double>((i * 7919 + seed * 31) % std::max<int64_t>(n, 1));
    double x = low + (high - low) * (place + 0.37) / static_cast<double>(n);
    if (std::fabs(x - std::round(x)) < 1e-3) x += 4e-3;
    numbers.push_back(x);
  }
  return array(DType::F64, dims, numbers);
}

}  // namespace smelt::testing

// Random programs: simplify() changes no value, verify() takes everything, and the same seed gives
// the same program. SMELT_SEED=N runs one seed alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "arrays.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using namespace testing;

const IntExpr B = sym("B"_size);

class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {
    batch_ = std::vector<int64_t>{0, 1, 2, 3, 7}[pick(5)];
    for (DType t : {DType::F64, DType::F64, DType::I32, DType::U8, DType::Bool, DType::I8}) add_input(t);
    for (int tries = 0; tries < 40; ++tries) {
      try {
        if (const NodeId id = step(); id >= 0 && builder_.rank(id) <= 4) nodes_.push_back(id);
      } catch (const UserBuildError&) {
        // What does not fit is simply not part of this program.
      }
    }
    // Whatever nothing uses is an output, so that every step is seen.
    graph = builder_.finish({});
    const std::vector<int> uses = use_counts(graph);
    for (NodeId id : nodes_)
      if (uses[static_cast<size_t>(id)] == 0) graph.outputs.push_back(id);
  }

  Graph graph;
  std::vector<Tensor> inputs;

 private:
  size_t pick(size_t n) { return static_cast<size_t>(random_() % n); }
  NodeId any() { return nodes_[pick(nodes_.size())]; }

  void add_input(DType dtype) {
    const std::vector<Shape> shapes = {{B, 3}, {3}, {B, 1}, {1, 3}, {}, {B}, {2, B, 3}};
    const Shape shape = shapes[nodes_.empty() ? 0 : pick(shapes.size())];
    nodes_.push_back(builder_.input("x", dtype, shape));
    const Dims dims = evaluate(shape, {{"B"_size, batch_}});
    const std::vector<double> special = {kNan, kInf, -kInf, 0.0, -0.0, 1, -1, 2, -2.5, 3, 127, -128, 1e-300};
    std::vector<double> values;
    for (int64_t i = element_count(dims); i > 0; --i) values.push_back(special[pick(special.size())]);
    inputs.push_back(array(dtype, dims, values));
  }

  // Mostly of this dtype, so that most operations fit.
  Operand operand(DType dtype) {
    if (pick(3) == 0) {
      const Literal numbers[] = {lit(0), lit(1), lit(2), lit(8), lit(-1)};
      const Literal floats[] = {Literal{0.0}, Literal{-0.0}, Literal{1.0}, Literal{0.5}, Literal{kInf}};
      if (is_bool(dtype)) return Literal{pick(2) == 0};
      return is_float(dtype) && pick(2) ? floats[pick(5)] : numbers[pick(5)];
    }
    for (int tries = 0; tries < 8; ++tries)
      if (const NodeId id = any(); builder_.dtype(id) == dtype) return id;
    return any();
  }

  NodeId elementwise() {
    // Powers are left out: x ** 3 becomes two products, which round differently.
    const Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max,       Op::Min, Op::FloorDiv,
                      Op::Mod, Op::And, Op::Or,  Op::Xor, Op::Eq,        Op::Lt,  Op::Where,
                      Op::Neg, Op::Abs, Op::Not, Op::Neg, Op::ShiftLeft, Op::Not};
    const Op op = ops[pick(std::size(ops))];
    std::vector<Operand> args;
    const DType dtype = builder_.dtype(any());
    for (int i = 0; i < info(op).arity; ++i) args.push_back(operand(op == Op::Where && i == 0 ? DType::Bool : dtype));
    return builder_.elementwise(op, args);
  }

  NodeId movement() {
    const NodeId x = any();
    const int rank = builder_.rank(x);
    const Shape shape = builder_.shape(x);
    switch (pick(5)) {
      case 0: {
        std::vector<int> order(static_cast<size_t>(rank));
        for (int d = 0; d < rank; ++d) order[static_cast<size_t>(d)] = d;
        std::shuffle(order.begin(), order.end(), random_);
        return builder_.permute(x, order);
      }
      case 1: {
        Shape to = shape;
        to.insert(to.begin() + static_cast<long>(pick(to.size() + 1)), 1);
        return builder_.reshape(x, pick(2) ? to : Shape{-1});
      }
      case 2: {
        Shape to = shape;
        for (IntExpr& size : to)
          if (size.is(1)) size = pick(2) ? IntExpr(2) : B;
        if (pick(2)) to.insert(to.begin(), 2);
        return builder_.broadcast_to(x, to);
      }
      case 3: return reversed(x, shape);
      default: return rank ? builder_.concat({x, x}, static_cast<int>(pick(static_cast<size_t>(rank)))) : -1;
    }
  }

  // Each axis as it is, backwards, every second one, or its last one.
  NodeId reversed(NodeId x, const Shape& shape) {
    std::vector<IntExpr> starts;
    std::vector<int64_t> steps;
    Shape result;
    for (const IntExpr& size : shape) {
      const bool known = size.constant() && !size.is(0);
      const size_t how = pick(known ? 4 : 3);
      starts.push_back(how == 1 || how == 3 ? size - 1 : IntExpr(0));
      steps.push_back(how == 1 ? -1 : how == 2 ? 2 : 1);
      result.push_back(how == 2 ? ceildiv(size, 2) : how == 3 ? IntExpr(1) : size);
    }
    return builder_.slice(x, starts, steps, result);
  }

  NodeId step() {
    const DType types[] = {DType::F64, DType::I32, DType::I8, DType::U8, DType::I64, DType::Bool};
    switch (pick(8)) {
      case 0:
      case 1: return movement();
      case 2: return builder_.cast(any(), types[pick(std::size(types))], pick(2));
      case 3: {
        const NodeId x = any();
        const ReduceKind kind = pick(2) ? ReduceKind::Sum : ReduceKind::Any;
        if (builder_.rank(x) == 0) return -1;
        return builder_.reduce(kind, x, {static_cast<int>(pick(static_cast<size_t>(builder_.rank(x))))}, pick(2));
      }
      default: return elementwise();
    }
  }

  std::mt19937_64 random_;
  int64_t batch_ = 0;
  GraphBuilder builder_;
  std::vector<NodeId> nodes_;
};

void check_seed(uint64_t seed) {
  RandomProgram program(seed);
  const Graph after = simplify(program.graph);
  SCOPED_TRACE(fmt::format("SMELT_SEED={}\n{}became\n{}", seed, print(program.graph), print(after)));
  verify(program.graph);
  verify(after);
  EXPECT_EQ(print(simplify(after)), print(after));
  const std::vector<TensorView> views(program.inputs.begin(), program.inputs.end());
  const auto expected = interpret(program.graph, views), got = interpret(after, views);
  ASSERT_EQ(expected.size(), got.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(same(expected[i], got[i])) << "output " << i;
}

TEST(RandomPrograms, SimplifyChangesNoValue) {
  if (const char* seed = std::getenv("SMELT_SEED")) return check_seed(std::strtoull(seed, nullptr, 10));
  for (uint64_t seed = 0; seed < 1000 && !HasFailure(); ++seed) check_seed(seed);
}

TEST(RandomPrograms, TheSameSeedIsTheSameProgram) {
  EXPECT_EQ(print(RandomProgram(7).graph), print(RandomProgram(7).graph));
  EXPECT_NE(print(RandomProgram(7).graph), print(RandomProgram(8).graph));
}

}  // namespace
}  // namespace smelt

// Gradients of reductions, scans, movement, windows, gathers and scatters against finite
// differences.
#include <gtest/gtest.h>

#include "finite_differences.hpp"
#include "graph/functions.hpp"
#include "support/message_of.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using namespace testing;
namespace f = functions;
using Nodes = std::vector<NodeId>;

const IntExpr N = sym("N"_size), M = sym("M"_size);

// ---- reductions

TEST(GradientArrays, Reductions) {
  for (const ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max, ReduceKind::Min})
    for (const std::vector<int>& axes : {std::vector<int>{}, {0}, {1}, {-1}, {0, 2}, {1, 2}})
      for (const bool keep : {false, true}) {
        const Formula formula = [&](GraphBuilder& b, const Nodes& x) { return b.reduce(kind, x[0], axes, keep); };
        EXPECT_TRUE(right_gradients(formula, {apart({2, 3, 4})})) << name_of(kind) << axes.size();
        EXPECT_TRUE(right_gradient(formula, {apart({2, 3, 4})}, {{N, 3, M}})) << name_of(kind) << axes.size();
      }
}

TEST(GradientArrays, ReductionsOfNothingAndOfOne) {
  for (const ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod}) {
    const Formula formula = [&](GraphBuilder& b, const Nodes& x) { return b.reduce(kind, x[0], {1}, false); };
    for (const Dims& dims : {Dims{0, 3}, Dims{3, 0}, Dims{1, 1}, Dims{5, 1}})
      EXPECT_TRUE(right_gradient(formula, {apart(dims)}, {{N, M}}));
  }
}

TEST(GradientArrays, ProductsWithZeros) {
  const Formula formula = [](GraphBuilder& b, const Nodes& x) { return b.reduce(ReduceKind::Prod, x[0], {1}, false); };
  EXPECT_TRUE(
      right_gradients(formula, {array(DType::F64, {4, 4}, {1, 0, 2, 3, 0, 0, 2, 3, 0, 2, 0, 0.5, 1, 2, 3, 4})}));
}

TEST(GradientArrays, EqualExtremesShare) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F64, {2, 4});
  const NodeId sum = b.reduce(ReduceKind::Sum, b.reduce(ReduceKind::Max, x, {1}, false), {}, false);
  const Graph graph = b.finish(gradient(b, sum, {x}));
  EXPECT_EQ(values(run(graph, {array(DType::F64, {2, 4}, {1, 3, 3, 0, 2, 2, 2, 2})})),
            (std::vector<double>{0, 0.5, 0.5, 0, 0.25, 0.25, 0.25, 0.25}));
}

TEST(GradientArrays, FunctionsOfRows) {
  using Function = std::function<NodeId(GraphBuilder&, NodeId)>;
  const std::pair<const char*, Function> functions[] = {
      {"mean", [](auto& b, NodeId x) { return f::mean(b, x, {1}, false); }},
      {"var", [](auto& b, NodeId x) { return f::var(b, x, {1}, 1, false); }},
      {"std", [](auto& b, NodeId x) { return f::stddev(b, x, {0}, 0, true); }},
      {"logsumexp", [](auto& b, NodeId x) { return f::logsumexp(b, x, {1}, false); }},
      {"norm 3", [](auto& b, NodeId x) { return f::norm(b, x, 3, {1}, false); }},
      {"norm inf", [](auto& b, NodeId x) { return f::norm(b, x, HUGE_VAL, {1}, false); }},
      {"l2norm",
       [](auto& b, NodeId x) {
         return f::l2norm(b, x, {0, 1}, false);
       }},
      {"softmax", [](auto& b, NodeId x) { return f::softmax(b, x, {1}); }},
      {"log_softmax", [](auto& b, NodeId x) { return f::log_softmax(b, x, {0}); }},
      {"layernorm", [](auto& b, NodeId x) { return f::layernorm(b, x, {1}, Operand(1e-5), {}, {}); }},
      {"rmsnorm", [](auto& b, NodeId x) { return f::rmsnorm(b, x, {1}, Operand(1e-5), {}); }},
      {"groupnorm", [](auto& b, NodeId x) { return f::groupnorm(b, x, 2, Operand(1e-5), {}, {}); }},
      {"gelu", [](auto& b, NodeId x) { return f::gelu(b, x); }},
      {"gelu_tanh", [](auto& b, NodeId x) { return f::gelu_tanh(b, x); }},
      {"sigmoid", [](auto& b, NodeId x) { return f::sigmoid(b, x); }},
      {"silu", [](auto& b, NodeId x) { return f::silu(b, x); }},
      {"softplus", [](auto& b, NodeId x) { return f::softplus(b, x); }},
      {"mish", [](auto& b, NodeId x) { return f::mish(b, x); }},
      {"hardswish", [](auto& b, NodeId x) { return f::hardswish(b, x); }},
      {"elu", [](auto& b, NodeId x) { return f::elu(b, x, Operand(0.7)); }},
      {"cummean", [](auto& b, NodeId x) { return f::cummean(b, x, 1); }},
      {"logcumsumexp", [](auto& b, NodeId x) { return f::logcumsumexp(b, x, 1); }},
      {"rotary", [](auto& b, NodeId x) { return f::rope(b, x, b.iota({5}, 0), 100, true); }}};
  for (const auto& [name, function] : functions) {
    const Formula formula = [made = function](GraphBuilder& b, const Nodes& x) { return made(b, x[0]); };
    EXPECT_TRUE(right_gradients(formula, {apart({5, 4})})) << name;
  }
}

TEST(GradientArrays, LossesAndNormsOfSeveralArrays) {
  const Formula layernorm = [](GraphBuilder& b, const Nodes& x) {
    return f::layernorm(b, x[0], {1}, Operand(1e-5), x[1], x[2]);
  };
  EXPECT_TRUE(right_gradients(layernorm, {apart({3, 5}), apart({5}, 0.5, 2), apart({5})}, {{N, 5}, {5}, {5}}));
  const Formula batchnorm = [](GraphBuilder& b, const Nodes& x) {
    return f::batchnorm(b, x[0], x[1], x[2], Operand(1e-5), x[3], x[4], 1);
  };
  EXPECT_TRUE(
      right_gradients(batchnorm, {apart({2, 3, 2}), apart({3}), apart({3}, 0.5, 2), apart({3}, 1, 2), apart({3})}));
  const Formula entropy = [](GraphBuilder& b, const Nodes& x) {
    return f::cross_entropy(b, x[0], x[1], 1, f::Reduction::Mean);
  };
  EXPECT_TRUE(right_gradients(entropy, {apart({4, 3}), array(DType::I64, {4}, {0, 2, 1, 1})}, {{N, 3}, {N}}));
  const Formula huber = [](GraphBuilder& b, const Nodes& x) {
    return f::huber(b, x[0], x[1], Operand(0.9), f::Reduction::None);
  };
  EXPECT_TRUE(right_gradients(huber, {apart({6}), apart({6}, -1.1, 1.2, 5)}));
  const Formula mse = [](GraphBuilder& b, const Nodes& x) { return f::mse(b, x[0], x[1], f::Reduction::Sum); };
  EXPECT_TRUE(right_gradients(mse, {apart({3, 2}), apart({3, 2}, -1, 1, 5)}));
}

TEST(GradientArrays, Products) {
  const Formula matmul = [](GraphBuilder& b, const Nodes& x) { return f::matmul(b, x[0], x[1]); };
  EXPECT_TRUE(right_gradients(matmul, {apart({3, 4}), apart({4, 2}, -1, 1, 5)}, {{N, 4}, {4, 2}}));
  EXPECT_TRUE(right_gradients(matmul, {apart({2, 3, 4}), apart({4}, -1, 1, 5)}));
  EXPECT_TRUE(right_gradients(matmul, {apart({2, 1, 3}), apart({2, 3, 2}, -1, 1, 5)}));
  const Formula linear = [](GraphBuilder& b, const Nodes& x) { return f::linear(b, x[0], x[1], x[2]); };
  EXPECT_TRUE(right_gradients(linear, {apart({3, 4}), apart({2, 4}, -1, 1, 5), apart({2}, -1, 1, 7)}));
  const Formula einsum = [](GraphBuilder& b, const Nodes& x) {
    return f::einsum(b, "ij,jk,k->ik", {x[0], x[1], x[2]});
  };
  EXPECT_TRUE(right_gradients(einsum, {apart({3, 4}), apart({4, 2}, -1, 1, 5), apart({2}, -1, 1, 7)}));
  const Formula trace = [](GraphBuilder& b, const Nodes& x) { return f::einsum(b, "ii,ij->j", {x[0], x[0]}); };
  EXPECT_TRUE(right_gradients(trace, {apart({3, 3})}));
  const Formula tensordot = [](GraphBuilder& b, const Nodes& x) { return f::tensordot(b, x[0], x[1], {0, 2}, {1, 0}); };
  EXPECT_TRUE(right_gradients(tensordot, {apart({2, 3, 4}), apart({4, 2, 2}, -1, 1, 5)}));
  const Formula attention = [](GraphBuilder& b, const Nodes& x) {
    return f::attention(b, x[0], x[1], x[2], std::nullopt, true, std::nullopt);
  };
  EXPECT_TRUE(right_gradients(attention, {apart({3, 4}), apart({3, 4}, -1, 1, 5), apart({3, 2}, -1, 1, 7)}));
}

// ---- scans

TEST(GradientArrays, Scans) {
  for (const ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max, ReduceKind::Min})
    for (const bool reverse : {false, true})
      for (const bool exclusive : {false, true})
        for (const bool restarts : {false, true}) {
          const bool extremes = kind == ReduceKind::Max || kind == ReduceKind::Min;
          const Formula formula = [&](GraphBuilder& b, const Nodes& x) {
            const NodeId run = b.scan(kind, x[0], 1, reverse, exclusive, restarts ? std::optional(x[1]) : std::nullopt);
            // An exclusive extreme starts with an infinity, which is no finite difference.
            return extremes ? b.elementwise(Op::Max, {b.elementwise(Op::Min, {run, Literal(9.0)}), Literal(-9.0)})
                            : run;
          };
          const Tensor restart = array(DType::Bool, {3, 6}, {0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0});
          const std::string what = std::string(name_of_scan(kind)) + (reverse ? " reverse" : "") +
                                   (exclusive ? " exclusive" : "") + (restarts ? " restart" : "");
          EXPECT_TRUE(right_gradients(formula, {apart({3, 6}), restart})) << what;
          EXPECT_TRUE(right_gradient(formula, {apart({3, 6}), restart}, {{N, M}, {N, M}})) << what;
        }
}

// y[i] = factor[i] * y[i-1] + x[i]
TEST(GradientArrays, Recurrences) {
  for (const int axis : {0, 1})
    for (const bool reverse : {false, true}) {
      const Formula formula = [&](GraphBuilder& b, const Nodes& x) { return b.recurrence(x[0], x[1], axis, reverse); };
      for (const Dims& dims : {Dims{3, 6}, Dims{1, 1}, Dims{6, 1}})
        EXPECT_TRUE(right_gradients(formula, {apart(dims), apart(dims, -1, 1, 5)})) << axis << reverse << str(dims);
      EXPECT_TRUE(right_gradient(formula, {apart({3, 6}), apart({3, 6}, -1, 1, 5)}, {{N, M}, {N, M}})) << axis;
    }
}

TEST(GradientArrays, ScansOfZerosNothingAndOne) {
  const Tensor zeros = array(DType::F64, {3, 5}, {1, 0, 2, 3, 4, 0, 2, 0, 3, 1, 2, 3, 4, 5, 0});
  for (const bool reverse : {false, true})
    for (const bool exclusive : {false, true}) {
      const Formula product = [&](GraphBuilder& b, const Nodes& x) {
        return b.scan(ReduceKind::Prod, x[0], 1, reverse, exclusive);
      };
      EXPECT_TRUE(right_gradient(product, {zeros})) << reverse << exclusive;
    }
  for (const ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max})
    for (const Dims& dims : {Dims{2, 0}, Dims{0, 2}, Dims{2, 1}}) {
      const Formula formula = [&](GraphBuilder& b, const Nodes& x) { return b.scan(kind, x[0], 1); };
      EXPECT_TRUE(right_gradient(formula, {apart(dims)}, {{N, M}}));
    }
}

TEST(GradientArrays, TheFirstOfEqualRunningExtremes) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F64, {5});
  const Graph graph = b.finish(gradient(b, b.reduce(ReduceKind::Sum, b.scan(ReduceKind::Max, x, 0), {}, false), {x}));
  EXPECT_EQ(values(run(graph, {array(DType::F64, {5}, {1, 1, 0, 3, 3})})), (std::vector<double>{3, 0, 0, 2, 0}));
  EXPECT_EQ(values(run(graph, {array(DType::F64, {5}, {-kInf, -kInf, 0, 0, 3})})),
            (std::vector<double>{2, 0, 2, 0, 1}));
}

// ---- movement

TEST(GradientArrays, Movement) {
  using Function = std::function<NodeId(GraphBuilder&, NodeId)>;
  const std::pair<const char*, Function> functions[] = {
      {"reshape", [](auto& b, NodeId x) { return b.reshape(x, {-1}); }},
      {"transpose",
       [](auto& b, NodeId x) {
         return f::transpose(b, x, {1, 0});
       }},
      {"broadcast",
       [](auto& b, NodeId x) {
         return b.broadcast_to(f::expand_dims(b, x, {1}), {2, 3, 4, 6});
       }},
      {"flip", [](auto& b, NodeId x) { return f::flip(b, x, {1}); }},
      {"roll", [](auto& b, NodeId x) { return f::roll(b, x, 2, 1); }},
      {"tile",
       [](auto& b, NodeId x) {
         return f::tile(b, x, {2, 3});
       }},
      {"repeat", [](auto& b, NodeId x) { return f::repeat(b, x, 3, 0); }},
      {"stack",
       [](auto& b, NodeId x) {
         return f::stack(b, {x, b.elementwise(Op::Square, {x}), x}, 1);
       }},
      {"concat",
       [](auto& b, NodeId x) {
         return b.concat({x, b.elementwise(Op::Sin, {x})}, 1);
       }},
      {"tril", [](auto& b, NodeId x) { return f::tril(b, x, 1); }},
      {"slice",
       [](auto& b, NodeId x) {
         return b.slice(x, {1, 2}, {1, 1}, {2, 3});
       }},
      {"steps",
       [](auto& b, NodeId x) {
         return b.slice(x, {0, 1}, {2, 2}, {2, 3});
       }},
      {"back",
       [](auto& b, NodeId x) {
         return b.slice(x, {2, 5}, {-1, -2}, {3, 3});
       }},
      {"far",
       [](auto& b, NodeId x) {
         return b.slice(x, {0, 0}, {1, 5}, {3, 2});
       }},
      {"empty",
       [](auto& b, NodeId x) {
         return b.slice(x, {0, 3}, {1, 1}, {3, 0});
       }},
      {"pad", [](auto& b, NodeId x) { return b.pad(x, {1, 0}, {0, 2}, Literal(2.5)); }},
      {"split", [](auto& b, NodeId x) {
         const auto parts = f::split(b, x, {2, 3, 1}, 1);
         return b.concat({parts[2], parts[0], b.elementwise(Op::Square, {parts[1]})}, 1);
       }}};
  for (const auto& [name, function] : functions) {
    const Formula formula = [made = function](GraphBuilder& b, const Nodes& x) { return made(b, x[0]); };
    EXPECT_TRUE(right_gradients(formula, {apart({3, 6})})) << name;
  }
}

TEST(GradientArrays, MovementOfSizesThatAreNotKnown) {
  using Function = std::function<NodeId(GraphBuilder&, NodeId)>;
  const std::pair<const char*, Function> functions[] = {
      {"reshape", [](auto& b, NodeId x) { return b.reshape(x, {IntExpr(-1)}); }},
      {"back", [](auto& b, NodeId x) { return f::flip(b, x, {}); }},
      {"without ends",
       [](auto& b, NodeId x) {
         return b.slice(x, {1, 1}, {1, 1}, {N - 1, M - 2});
       }},
      {"halves",
       [](auto& b, NodeId x) {
         return b.slice(x, {0, 0}, {1, 2}, {N, floordiv(M + 1, 2)});
       }},
      {"others back",
       [](auto& b, NodeId x) {
         return b.slice(x, {0, M - 1}, {1, -2}, {N, floordiv(M + 1, 2)});
       }},
      {"roll", [](auto& b, NodeId x) { return f::roll(b, x, 1, 0); }},
      {"repeat", [](auto& b, NodeId x) { return f::repeat(b, x, M, 1); }},
      {"outer", [](auto& b, NodeId x) {
         return b.broadcast_to(b.reduce(ReduceKind::Max, x, {1}, true), {4, N, M});
       }}};
  for (const auto& [name, function] : functions)
    for (const Dims& dims : {Dims{3, 5}, Dims{2, 4}, Dims{1, 3}}) {
      const Formula formula = [made = function](GraphBuilder& b, const Nodes& x) { return made(b, x[0]); };
      EXPECT_TRUE(right_gradient(formula, {apart(dims)}, {{N, M}})) << name << str(dims);
    }
}

TEST(GradientArrays, ThePaddingValueHasAGradient) {
  const Formula formula = [](GraphBuilder& b, const Nodes& x) { return b.pad(x[0], {1, 0}, {2, 1}, x[1]); };
  EXPECT_TRUE(right_gradients(formula, {apart({2, 3}), array(DType::F64, {}, {0.7})}));
  EXPECT_TRUE(right_gradient(formula, {apart({2, 3}), array(DType::F64, {}, {0.7})}, {{N, M}, {}}));
}

TEST(GradientArrays, Extensions) {
  struct Case {
    Dims low, high;
  };
  for (const ExtendMode mode : {ExtendMode::Edge, ExtendMode::Reflect, ExtendMode::Symmetric, ExtendMode::Wrap})
    for (const Case& c : {Case{{1, 2}, {2, 1}}, Case{{0, 3}, {0, 0}}, Case{{2, 0}, {0, 3}}}) {
      const Formula formula = [&](GraphBuilder& b, const Nodes& x) {
        return b.extend(x[0], {c.low[0], c.low[1]}, {c.high[0], c.high[1]}, mode);
      };
      EXPECT_TRUE(right_gradients(formula, {apart({3, 4})})) << name_of(mode);
      EXPECT_TRUE(right_gradient(formula, {apart({3, 4})}, {{N, M}})) << name_of(mode);
    }
  const Formula turns = [](GraphBuilder& b, const Nodes& x) { return b.extend(x[0], {5}, {8}, ExtendMode::Wrap); };
  EXPECT_TRUE(right_gradients(turns, {apart({3})}));
  EXPECT_TRUE(right_gradient(turns, {apart({3})}, {{N}}));
}

// ---- windows

TEST(GradientArrays, Windows) {
  struct Case {
    int64_t size, step, dilation;
  };
  for (const Case& c : {Case{3, 1, 1}, Case{2, 2, 1}, Case{3, 2, 1}, Case{2, 3, 1}, Case{3, 1, 2}, Case{2, 2, 3},
                        Case{1, 2, 1}, Case{3, 3, 1}}) {
    const Formula one = [&](GraphBuilder& b, const Nodes& x) {
      return b.window(x[0], {1}, {c.size}, {c.step}, {c.dilation});
    };
    EXPECT_TRUE(right_gradients(one, {apart({2, 8})})) << c.size << c.step << c.dilation;
    EXPECT_TRUE(right_gradient(one, {apart({2, 8})}, {{N, M}})) << c.size << c.step << c.dilation;
    const Formula both = [&](GraphBuilder& b, const Nodes& x) {
      return b.window(x[0], {1, 0}, {c.size, 2}, {c.step, 2}, {c.dilation, 1});
    };
    EXPECT_TRUE(right_gradients(both, {apart({5, 8})})) << c.size << c.step << c.dilation;
    const Formula swapped = [&](GraphBuilder& b, const Nodes& x) {
      return b.window(x[0], {0, 1}, {2, c.size}, {1, c.step}, {1, c.dilation});
    };
    EXPECT_TRUE(right_gradients(swapped, {apart({4, 8})})) << c.size << c.step << c.dilation;
  }
}

TEST(GradientArrays, WindowsOfSizesThatAreNotKnown) {
  const Formula formula = [](GraphBuilder& b, const Nodes& x) {
    return b.window(x[0], {0, 1}, {b.shape(x[1])[0], IntExpr(2)}, {2, 2}, {1, 1});
  };
  EXPECT_TRUE(right_gradient(formula, {apart({7, 6}), apart({3})}, {{N, 6}, {M}}));
}

TEST(GradientArrays, PoolsAndFilters) {
  using Function = std::function<NodeId(GraphBuilder&, const Nodes&)>;
  const f::Pool overlapping{{3, 2}, {2, 1}, {1, 1}, {}};
  const std::pair<const char*, Function> functions[] = {
      {"max_pool",
       [](auto& b, const Nodes& x) {
         return f::max_pool(b, x[0], {{2, 2}, {}, {}, {}});
       }},
      {"max_pool overlapping", [&](auto& b, const Nodes& x) { return f::max_pool(b, x[0], overlapping); }},
      {"min_pool",
       [](auto& b, const Nodes& x) {
         return f::min_pool(b, x[0], {{2, 3}, {1}, {}, {}});
       }},
      {"avg_pool", [&](auto& b, const Nodes& x) { return f::avg_pool(b, x[0], overlapping, false); }},
      {"correlate", [](auto& b, const Nodes& x) { return f::correlate(b, x[0], x[1]); }},
      {"filter", [](auto& b, const Nodes& x) { return f::filter(b, x[0], x[1], ExtendMode::Reflect, Literal(0.0)); }}};
  for (const auto& [name, function] : functions) {
    const Formula formula = [made = function](GraphBuilder& b, const Nodes& x) { return made(b, x); };
    EXPECT_TRUE(right_gradients(formula, {apart({6, 5}), apart({3, 2})})) << name;
  }
}

TEST(GradientArrays, Convolutions) {
  for (const f::Conv& how :
       {f::Conv{}, f::Conv{{2}, {1}, {1}, 1}, f::Conv{{1}, {2}, {2}, 1}, f::Conv{{1}, {1}, {1}, 2}}) {
    const Formula formula = [&](GraphBuilder& b, const Nodes& x) { return f::conv(b, x[0], x[1], x[2], how); };
    const int64_t channels = how.groups == 2 ? 2 : 1;
    EXPECT_TRUE(right_gradients(formula, {apart({2, channels, 5, 6}), apart({2, 1, 3, 2}), apart({2})}));
  }
}

// ---- gathers and scatters

TEST(GradientArrays, Gathers) {
  const Tensor indices = array(DType::I32, {2, 2}, {2, -1, 0, 2}), far = array(DType::I64, {2, 2}, {7, -5, 0, 2});
  for (const int axis : {0, 1, 2}) {
    const Formula take = [&](GraphBuilder& b, const Nodes& x) { return b.gather(x[0], x[1], axis, GatherMode::Check); };
    EXPECT_TRUE(right_gradients(take, {apart({3, 4, 3}), indices}));
    for (const GatherMode mode : {GatherMode::Clamp, GatherMode::Wrap}) {
      const Formula any = [&](GraphBuilder& b, const Nodes& x) { return b.gather(x[0], x[1], axis, mode); };
      EXPECT_TRUE(right_gradients(any, {apart({3, 4, 3}), far}, {{N, M, 3}, {2, 2}}));
    }
  }
}

TEST(GradientArrays, GathersAlong) {
  for (const GatherMode mode : {GatherMode::Check, GatherMode::Clamp, GatherMode::Wrap})
    for (const int64_t picks : {1, 3}) {
      const Formula formula = [&](GraphBuilder& b, const Nodes& x) { return b.gather_along(x[0], x[1], 1, mode); };
      std::vector<double> wishes{1, -1, 3, 0, 2, -4};
      if (mode != GatherMode::Check) wishes[1] = 9;
      wishes.resize(static_cast<size_t>(2 * picks));
      const Tensor indices = array(DType::I32, {2, picks, 1}, wishes);
      EXPECT_TRUE(right_gradients(formula, {apart({2, 4, 3}), indices})) << picks;
      EXPECT_TRUE(right_gradient(formula, {apart({2, 4, 3}), indices}, {{2, N, M}, {2, picks, 1}})) << picks;
    }
}

TEST(GradientArrays, AnIndexOutOfRangeIsAnErrorOfTheGradientToo) {
  for (const bool along : {false, true}) {
    GraphBuilder b;
    const NodeId x = b.input("x", DType::F64, {3, 2}), i = b.input("i", DType::I64, along ? Shape{1, 2} : Shape{2});
    const NodeId picked = along ? b.gather_along(x, i, 0, GatherMode::Check) : b.gather(x, i, 0, GatherMode::Check);
    const Graph graph = simplify(b.finish(gradient(b, weighted_sum(b, picked), {x})));
    const Dims dims = along ? Dims{1, 2} : Dims{2};
    EXPECT_EQ(message_of([&] {
                interpret(graph, {apart({3, 2}), array(DType::I64, dims, {0, 3})});
              }),
              "index 3 is out of range for axis 0 of size 3 in gather\nhelp: indices go from -3 to 2");
    EXPECT_NO_THROW(interpret(graph, {apart({3, 2}), array(DType::I64, dims, {0, -3})}));
  }
}

TEST(GradientArrays, Scatters) {
  const Tensor x = apart({4, 2}), updates = apart({5, 2}, 0.3, 1.7, 3);
  const Tensor indices = array(DType::I64, {5}, {1, 3, 1, -1, 0}), far = array(DType::I64, {5}, {1, 9, 1, -1, 0});
  for (const ScatterKind kind :
       {ScatterKind::Set, ScatterKind::Add, ScatterKind::Mul, ScatterKind::Max, ScatterKind::Min})
    for (const GatherMode mode : {GatherMode::Check, GatherMode::Clamp, GatherMode::Wrap, GatherMode::Drop}) {
      const Formula formula = [&](GraphBuilder& b, const Nodes& n) {
        return b.scatter(kind, n[0], n[1], n[2], mode, false);
      };
      const Tensor& places = mode == GatherMode::Check ? indices : far;
      const std::string what = std::string(name_of(kind)) + std::to_string(static_cast<int>(mode));
      EXPECT_TRUE(right_gradients(formula, {x, places, updates})) << what;
      EXPECT_TRUE(right_gradient(formula, {x, places, updates}, {{N, 2}, {M}, {M, 2}})) << what;
    }
  const Formula axis = [](GraphBuilder& b, const Nodes& n) {
    return f::scatter(b, ScatterKind::Add, n[0], n[1], n[2], 1, GatherMode::Check, false);
  };
  EXPECT_TRUE(right_gradients(axis, {apart({2, 4}), array(DType::I64, {3}, {1, 1, 0}), apart({2, 3})}));
}

TEST(GradientArrays, ScattersOfProductsWithZeros) {
  const Formula formula = [](GraphBuilder& b, const Nodes& n) {
    return b.scatter(ScatterKind::Mul, n[0], n[1], n[2], GatherMode::Check, false);
  };
  EXPECT_TRUE(right_gradient(formula, {array(DType::F64, {3}, {2, 0, 3}), array(DType::I64, {6}, {0, 0, 1, 2, 2, 2}),
                                       array(DType::F64, {6}, {0, 5, 2, 0, 0, 4})}));
}

TEST(GradientArrays, SegmentsAndHistogramsWithWeights) {
  const Formula segments = [](GraphBuilder& b, const Nodes& n) { return f::segment_sum(b, n[0], n[1], 3, false); };
  EXPECT_TRUE(right_gradients(segments, {apart({4, 2}), array(DType::I64, {4}, {0, 2, 7, 0})}));
  const Formula counts = [](GraphBuilder& b, const Nodes& n) { return f::bincount(b, n[1], 3, n[0], false); };
  EXPECT_TRUE(right_gradients(counts, {apart({4}), array(DType::I64, {4}, {0, 2, -1, 0})}));
}

TEST(GradientArrays, DrawsAreMadeAgain) {
  const Formula formula = [](GraphBuilder& b, const Nodes& x) {
    const NodeId zero = b.constant(Scalar::of_int(DType::I64, 0));
    const f::Key key{b.constant(Scalar::of_int(DType::I64, 7)), zero, zero};
    const NodeId noisy = b.elementwise(Op::Mul, {f::dropout(b, x[0], Operand(0.4), key), x[0]});
    return b.elementwise(Op::Mul, {noisy, f::normal(b, b.shape(x[0]), key, DType::F64)});
  };
  EXPECT_TRUE(right_gradients(formula, {apart({3, 7})}));
}

}  // namespace
}  // namespace smelt

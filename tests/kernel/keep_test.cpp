// What a pass over a row keeps for later passes: each expensive value is computed once, however
// many passes follow.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/functions.hpp"
#include "kernel/lower.hpp"
#include "kernel/walk.hpp"
#include "plan/plan.hpp"

namespace smelt {
namespace {

namespace f = functions;

kernel::Kernel lowered(GraphBuilder& builder, NodeId result, bool gpu) {
  const Graph graph = builder.finish({result});
  plan::Options options;
  options.target.gpu = gpu;
  options.target.threads = gpu ? 132 : 4;
  const plan::Plan plan = plan::make_plan(graph, options);
  EXPECT_EQ(plan.groups.size(), 1u);
  return kernel::lower(graph, plan.groups[0], *plan.groups[0].schedule, "k0");
}

// Scratch, and the places where a function of the operation is.
struct Counted {
  size_t buffers = 0;
  int64_t functions = 0;
};

// Every statement prints what it computes, and what is shared once.
Counted counted(const kernel::Kernel& kernel, const std::string& word) {
  Counted c{kernel.buffers.size(), 0};
  const std::string text = print(kernel);
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++c.functions;
  return c;
}

TEST(Keep, AValueIsMadeOfWhatIsKept) {
  for (const bool gpu : {false, true}) {
    GraphBuilder b;
    const NodeId x = b.input("x", DType::F32, {64, 1024});
    NodeId h = f::layernorm(b, x, {-1}, 1e-5, {}, {});
    h = f::layernorm(b, b.elementwise(Op::Add, {f::gelu(b, h), x}), {-1}, 1e-5, {}, {});
    h = f::layernorm(b, b.elementwise(Op::Add, {f::gelu(b, h), x}), {-1}, 1e-5, {}, {});
    const kernel::Kernel kernel = lowered(b, h, gpu);
    const Counted c = counted(kernel, "copysign");  // one in each erf
    EXPECT_EQ(c.functions, 2) << print(kernel);
    EXPECT_EQ(c.buffers, 2u) << print(kernel);
  }
}

TEST(Keep, ADifferenceBesideAKeptValueIsNotKept) {
  GraphBuilder b;
  const NodeId x = b.input("x", DType::F32, {64, 1024});
  const kernel::Kernel kernel = lowered(b, f::layernorm(b, f::gelu(b, x), {-1}, 1e-5, {}, {}), false);
  const Counted c = counted(kernel, "copysign");
  EXPECT_EQ(c.functions, 1) << print(kernel);
  EXPECT_EQ(c.buffers, 1u) << print(kernel);
}

}  // namespace
}  // namespace smelt

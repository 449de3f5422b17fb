// What becomes one kernel, and what a cut says of itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontends/language.hpp"
#include "graph/build.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "support/programs.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

struct Planned {
  Graph graph;
  plan::Plan plan;
  std::string text() const { return print(graph) + plan::print(graph, plan); }
};

Planned planned(const std::string& program, const SizeBinding& sizes = {{"B"_size, 4096}, {"C"_size, 1024}},
                bool fuse = true) {
  Planned p;
  p.graph = simplify(lang::parse_program(program, "<plan>"));
  plan::Options options;
  options.fuse = fuse;
  options.target.threads = 2;
  options.sizes = sizes;
  for (const Symbol symbol : p.graph.size_symbols()) options.sizes.try_emplace(symbol, 1024);
  p.plan = plan::make_plan(p.graph, options);
  plan::verify(p.graph, p.plan);
  return p;
}

// min(x1) and f32(x1) + sum(x0) read the same array, and bool(x0) and sum(x0) do; but the first of
// each pair cannot wait for the other pair.
TEST(Plan, GroupsDoNotWaitForEachOther) {
  const Planned p = planned(
      "input x0: u64[3, B, N]\ninput x1: u64[3, 1, N]\nv = x1 + min(x1, axis=-1, keepdims=True)\n"
      "return f32(x1) + f32(sum(x0)), bf16(v if bool(x0) else x1)\n",
      {{"B"_size, 127}, {"N"_size, 1}});
  EXPECT_GE(p.plan.groups.size(), 2u) << p.text();
}

using Named = std::pair<const char*, std::string>;

class OneKernel : public ::testing::TestWithParam<Named> {};

TEST_P(OneKernel, IsOneKernel) {
  const Planned p = planned(GetParam().second);
  EXPECT_EQ(p.plan.groups.size(), 1u) << p.text();
  for (const plan::Decision& d : p.plan.decisions) {
    EXPECT_TRUE(d.fused) << p.text();
    EXPECT_FALSE(d.reason.empty());
    EXPECT_TRUE(d.remedy.empty()) << d.remedy;
  }
  // One kernel reads each input and writes each output once.
  EXPECT_EQ(p.plan.traffic.fused_bytes, p.plan.traffic.ideal_bytes) << p.text();
  EXPECT_GE(p.plan.traffic.unfused_bytes, p.plan.traffic.fused_bytes);
}

INSTANTIATE_TEST_SUITE_P(Programs, OneKernel,
                         ::testing::Values(Named{"relu_layernorm", shared_program("relu_layernorm", {"f32[B, C]"})},
                                           Named{"softmax", shared_program("softmax_f32", {"f32[B, C]"})},
                                           Named{"log_softmax", "input x: f32[B, C]\nreturn log_softmax(x)"},
                                           Named{"var", shared_program("var", {"f32[B, C]"})},
                                           Named{"rmsnorm", shared_program("rmsnorm_f32", {"f32[B, C]", "f32[C]"})},
                                           Named{"logsumexp", "input x: f32[B, C]\nreturn logsumexp(x, axis=1)"},
                                           Named{"gelu_bias", shared_program("gelu_bias", {"f32[B, C]", "f32[C]"})},
                                           Named{"quantize", "input x: f32[B, C]\nreturn quantize_int8(x, 4.2, 1)"},
                                           Named{"transposed_add",
                                                 shared_program("transpose_add", {"f32[B, C]", "f32[C, B]"})},
                                           Named{"two_outputs", "input x: f32[B, C]\ny = x * 2\nreturn y, exp(y)"},
                                           Named{"norm", "input x: f32[B, C]\nreturn norm(x, axis=1)"},
                                           Named{"argmax", "input x: f32[B, C]\nreturn argmax(x, axis=1)"},
                                           Named{"column_sums", "input x: f32[B, C]\nreturn sum(x, axis=0)"},
                                           Named{"groupnorm", "input x: f32[B, 64, C]\nreturn groupnorm(x, 8)"},
                                           Named{"stack_of_functions",
                                                 "input x: f32[B, C]\nt = sin(x)\nu = cos(x)\n"
                                                 "return stack((t, u, 2*t, 3*u, t*u, t-u, -t, -u, t/u), axis=-1)"},
                                           Named{"stack_of_columns",
                                                 "input x: f32[B, C, 3]\nt = sin(x)\na = t[..., 0]\nb = t[..., 1]\n"
                                                 "return stack((a, b, a*b, a-b, 2*a, 3*b, t[..., 2]), axis=-1)"}),
                         [](const auto& info) { return std::string(info.param.first); });

TEST(Cuts, SayWhyHowMuchAndWhatToDo) {
  // Rows of the one reduction lie across those of the other.
  const Planned p = planned("input x: f32[B, C]\nreturn sum(exp(sum(x, axis=1)))");
  ASSERT_GT(p.plan.groups.size(), 1u) << p.text();
  int cuts = 0;
  for (const plan::Decision& d : p.plan.decisions) {
    EXPECT_FALSE(d.reason.empty()) << p.text();
    EXPECT_GE(d.bytes, 0);
    if (d.fused) continue;
    ++cuts;
    EXPECT_EQ(d.remedy, "nothing: it takes a second kernel, which reads one value for each row") << p.text();
    EXPECT_GT(d.bytes, 0) << p.text();
    EXPECT_NE(d.reason.find("complete only when every workgroup is done"), std::string::npos) << d.reason;
  }
  EXPECT_GT(cuts, 0) << p.text();
}

TEST(Cuts, WithoutFusionEveryEdgeIsCutForThatReason) {
  const Planned p = planned("input x: f32[B, C]\nreturn exp(x * 2 + 1)", {{"B"_size, 4096}, {"C"_size, 1024}}, false);
  EXPECT_EQ(p.plan.groups.size(), 3u) << p.text();
  EXPECT_EQ(p.plan.decisions.size(), 2u) << p.text();
  for (const plan::Decision& d : p.plan.decisions) {
    EXPECT_FALSE(d.fused);
    EXPECT_EQ(d.reason, "fusion is off");
    EXPECT_EQ(d.remedy, "run with fusion");
  }
}

TEST(Cuts, OutputsThatLieAcrossEachOther) {
  for (const char* shape : {"[B, C]", "[3, 5]", "[A, B, C, D, E, F, G, H]"}) {
    SizeBinding sizes;
    for (const char* s : {"A", "B", "C", "D", "E", "F", "G", "H"}) sizes[Symbol::size(s)] = 8;
    const Planned p = planned(fmt::format("input x: f32{}\nreturn x + 1, x.T * 2", shape), sizes);
    ASSERT_EQ(p.plan.groups.size(), 1u) << p.text();
    EXPECT_EQ(p.plan.groups[0].parts.size(), 2u) << "side by side, but not in the same loops: " << p.text();
  }
}

// The angles of a rotary embedding serve all heads: sines are computed once where that saves more
// than a kernel costs.
TEST(Cuts, DearValuesThatManyReadAreStored) {
  const char* text = "input q: bf16[B, H, S, 128]\ninput p: i32[S]\nreturn rope(q, p)";
  const Planned large = planned(text, {{"B"_size, 16}, {"H"_size, 32}, {"S"_size, 2048}});
  EXPECT_EQ(large.plan.groups.size(), 3u) << large.text();
  size_t cuts = 0;
  for (const plan::Decision& d : large.plan.decisions)
    if (!d.fused) cuts += d.reason.find("would be computed again for each of") != std::string::npos;
  EXPECT_EQ(cuts, 3u) << large.text();
  const Planned small = planned(text, {{"B"_size, 1}, {"H"_size, 32}, {"S"_size, 1}});
  EXPECT_EQ(small.plan.groups.size(), 1u) << small.text();
}

// What is computed from nothing that is read is computed again by any number of readers.
TEST(Cuts, MasksOfIndicesAreNotStored) {
  std::string inputs, results;
  for (int i = 0; i < 6; ++i) {
    inputs += fmt::format("input a{}: f32[{}, C]\n", i, 100 + i);
    results += fmt::format("{}sum(where(mask, a{}, 0), axis=1)", i ? ", " : "return ", i);
  }
  const Planned p = planned(inputs + "mask = (arange(C) & 3) == 1\n" + results, {{"C"_size, 1000}});
  size_t stored = 0;
  for (const plan::FusionGroup& group : p.plan.groups) stored += group.outputs.size();
  EXPECT_EQ(stored, 6u) << p.text();
}

TEST(Depth, NoKernelHasMoreOperationsThanAllowed) {
  for (const int depth : {1, 2, 3, 5}) {
    GraphBuilder b;
    NodeId x = b.input("x", DType::F32, {sym("N"_size), 64});
    for (int i = 0; i < 7; ++i) x = b.elementwise(i % 2 ? Op::Add : Op::Mul, {x, 1.5});
    const NodeId sum = b.reduce(ReduceKind::Sum, x, {1}, true);
    const Graph graph = b.finish({b.elementwise(Op::Sub, {x, sum})});
    plan::Options options;
    options.sizes = {{"N"_size, 1000}};
    options.depth = depth;
    const plan::Plan plan = plan::make_plan(graph, options);
    plan::verify(graph, plan);
    for (const plan::FusionGroup& group : plan.groups) EXPECT_LE(group.nodes.size(), static_cast<size_t>(depth));
    EXPECT_GE(plan.groups.size(), static_cast<size_t>(9 / depth));
    bool said = false;
    for (const plan::Decision& d : plan.decisions)
      said = said || d.reason.find("no more than " + std::to_string(depth)) != std::string::npos;
    EXPECT_TRUE(said);
  }
}

// What two kernels read of the same input is a decision too.
TEST(ReadAgain, SaysWhyTwoReductionsAreTwoKernels) {
  const Planned p = planned("input x: f32[B, C]\nreturn sum(x, axis=0), sum(x, axis=1)");
  ASSERT_EQ(p.plan.groups.size(), 2u) << p.text();
  EXPECT_TRUE(p.plan.decisions.empty());
  ASSERT_EQ(p.plan.read_again.size(), 1u) << p.text();
  const plan::ReadAgain& again = p.plan.read_again[0];
  EXPECT_EQ(again.input, p.graph.inputs[0]);
  EXPECT_LT(again.first, again.again);
  EXPECT_NE(again.reason.find("reduces axis"), std::string::npos) << again.reason;
  EXPECT_EQ(again.remedy, "reduce over the same axes");
  EXPECT_EQ(again.bytes, 4096 * 1024 * 4);
  EXPECT_EQ(p.plan.traffic.fused_bytes, p.plan.traffic.ideal_bytes + again.bytes);
}

TEST(ReadAgain, WithFusionOffSaysSo) {
  const Planned p = planned("input x: f32[B, C]\nreturn x * 2, exp(x)", {{"B"_size, 8}, {"C"_size, 16}}, false);
  ASSERT_EQ(p.plan.read_again.size(), 1u) << p.text();
  EXPECT_EQ(p.plan.read_again[0].reason, "fusion is off");
}

TEST(ReadAgain, IsEmptyWhereOneKernelReadsAll) {
  EXPECT_TRUE(planned("input x: f32[B, C]\nreturn x * 2, exp(x)").plan.read_again.empty());
}

TEST(Traffic, AnInputThatIsAnOutputIsACopyInBoth) {
  const Planned p = planned("input x: f32[B, C]\nreturn x");
  EXPECT_EQ(p.plan.traffic.unfused_bytes, 2 * 4096 * 1024 * 4);
  EXPECT_EQ(p.plan.traffic.fused_bytes, p.plan.traffic.unfused_bytes);
  EXPECT_EQ(p.plan.traffic.savings_pct(), 0);
}

}  // namespace
}  // namespace smelt

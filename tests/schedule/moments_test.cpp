// Sums of products of what is measured from values of their rows: which are found, and where that
// saves a pass.
#include "schedule/moments.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontends/language.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "support/symbols.hpp"

namespace smelt::schedule {
namespace {

// The moment of the last Reduce node of a program: "2 measured, 1 scale", or "no".
std::string found(const std::string& program) {
  const Graph graph = simplify(lang::parse_program("input x: f32[N, C]\ninput y: f32[N, C]\n" + program, "<test>"));
  NodeId last = -1;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].kind == NodeKind::Reduce) last = static_cast<NodeId>(i);
  const auto is = moment(graph, last);
  if (!is) return "no";
  int measured = 0;
  for (const Moment::Factor& factor : is->factors) measured += factor.less >= 0;
  return fmt::format("{} measured, {} scale{}{}", measured, is->scales.size(), is->scales.size() == 1 ? "" : "s",
                     is->negative ? ", negative" : "");
}

TEST(Moments, AreFoundThroughProductsAndQuotients) {
  EXPECT_EQ(found("return var(x, axis=0)"), "2 measured, 0 scales");
  EXPECT_EQ(found("return sum(y * (x - mean(x, axis=0)), axis=0)"), "1 measured, 0 scales");
  EXPECT_EQ(found("m = mean(x, axis=0)\nreturn sum(y * (m - x), axis=0)"), "1 measured, 0 scales, negative");
  EXPECT_EQ(found("r = rsqrt(mean(x * x, axis=0))\nreturn sum(y * x * r, axis=0)"), "0 measured, 1 scale");
  EXPECT_EQ(found("s = max(x, axis=0)\nreturn sum(y * (x - mean(x, axis=0)) / s, axis=0)"), "1 measured, 1 scale");
}

TEST(Moments, AreNotFoundElsewhere) {
  EXPECT_EQ(found("return sum(x, axis=0)"), "no");
  EXPECT_EQ(found("d = x - mean(x, axis=0)\nreturn sum(d * d * d, axis=0)"), "no");
  EXPECT_EQ(found("return sum(exp(x - max(x, axis=0)), axis=0)"), "no");
  EXPECT_EQ(found("return sum(abs(x - mean(x, axis=0)), axis=0)"), "no");
}

plan::Plan planned(const std::string& program, const std::string& device, int64_t n) {
  const Graph graph = simplify(lang::parse_program(program, "<test>"));
  plan::Options options;
  options.target.gpu = device != "cpu";
  options.target.threads = options.target.gpu ? 132 : 16;
  options.target.clusters = options.target.gpu;
  options.target.device = device;
  options.sizes = {{"N"_size, n}};
  plan::Plan plan = plan::make_plan(graph, options);
  plan::verify(graph, plan);
  return plan;
}

const std::string kNorm = "m = mean(x, axis=0)\nr = rsqrt(var(x, axis=0) + 1e-5)\nh = (x - m) * r\n";

TEST(Moments, OneKernelForAVariance) {
  for (const char* device : {"cuda", "cpu"}) {
    EXPECT_EQ(planned("input x: f32[N, 256]\nreturn var(x, axis=0)", device, 1 << 20).groups.size(), 1U) << device;
    EXPECT_EQ(planned("input x: f32[N]\nreturn std(x, ddof=1)", device, 1 << 26).groups.size(), 1U) << device;
    EXPECT_EQ(planned("input x: bf16[N, 8]\nreturn var(f32(x), axis=0)", device, 1 << 22).groups.size(), 1U) << device;
    EXPECT_EQ(planned("input x: f32[3, N]\nreturn var(x, axis=1)", device, 1 << 22).groups.size(), 1U) << device;
  }
}

// Columns of which the lanes of a step do not fit near the core: no step takes fewer lanes, which
// would fetch every line again and again. Passes that are possible stay, since they are more
// accurate.
TEST(Moments, HighColumnsOnACpuHaveAKernelForEachPass) {
  const auto strategies = [](const std::string& type, const std::string& program) {
    std::vector<Strategy> found;
    for (const plan::FusionGroup& g : planned("input x: " + type + "\n" + program, "cpu", 1).groups)
      found.push_back(g.strategy());
    return found;
  };
  using Are = std::vector<Strategy>;
  EXPECT_EQ(strategies("f32[8000, 1000]", "return var(x, axis=0)"), (Are{Strategy::Split, Strategy::Split}));
  EXPECT_EQ(strategies("f32[40000, 1000]", "return var(x, axis=0)"), Are{Strategy::Split});
  EXPECT_EQ(strategies("f32[8000, 1000]", "return logsumexp(x, axis=0)"), (Are{Strategy::Split, Strategy::Split}));
  EXPECT_EQ(strategies("f32[8000, 16]", "return logsumexp(x, axis=0)"), Are{Strategy::Column})
      << "all of it stays near";
  EXPECT_EQ(strategies("f32[300, 1000]", kNorm + "return h"), Are{Strategy::Column});
}

TEST(Moments, TwoKernelsForANormOverTallColumns) {
  for (const char* device : {"cuda", "cpu"}) {
    EXPECT_EQ(planned("input x: f32[N, 256]\n" + kNorm + "return h", device, 1 << 19).groups.size(), 2U) << device;
    const plan::Plan backward =
        planned("input x: f32[N, 256]\ninput g: f32[N, 256]\n" + kNorm +
                    "return (g - mean(g, axis=0) - h * mean(g * h, axis=0)) * r, sum(g * h, axis=0)",
                device, 1 << 19);
    EXPECT_EQ(backward.groups.size(), 2U) << device;
    // Both arrays are read twice, and one is written; nothing between.
    EXPECT_LT(backward.traffic.fused_bytes, int64_t{1 << 19} * 256 * 4 * 5 + (1 << 20)) << device;
  }
}

// Rows that stay on chip keep their two passes.
TEST(Moments, NotWhereRowsStayOnChip) {
  const plan::Plan plan = planned("input x: f32[N, 1024]\nreturn var(x, axis=1)", "cuda", 1 << 16);
  ASSERT_EQ(plan.groups.size(), 1U);
  for (const Reduction& reduction : plan.groups[0].schedule->domain.reductions) EXPECT_FALSE(reduction.moment);
}

}  // namespace
}  // namespace smelt::schedule

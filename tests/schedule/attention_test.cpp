// Products whose rows are weights of the results of another one: what becomes one kernel, which
// keys it goes through, and what stays apart.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "frontends/language.hpp"
#include "kernel/lower.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "support/message_of.hpp"

namespace smelt::schedule {
namespace {

using testing::message_of;

plan::Plan plan_of(const Graph& graph, int compute) {
  plan::Options options;
  options.target.gpu = true;
  options.target.device = "cuda";
  options.target.threads = 132;
  options.target.compute = compute;
  plan::Plan plan = plan::make_plan(graph, options);
  plan::verify(graph, plan);
  return plan;
}

Graph graph_of(const std::string& program, const std::string& dtype = "bf16", int depth = 64) {
  std::string inputs;
  for (const char* name : {"q", "k", "v"}) inputs += fmt::format("input {}: {}[4, 512, {}]\n", name, dtype, depth);
  return simplify(lang::parse_program(inputs + program, "<test>"));
}

// The strategies of the kernels of a program: "chain".
std::string kernels_of(const std::string& program, const std::string& dtype = "bf16", int compute = 90) {
  const Graph graph = graph_of(program, dtype);
  std::string words;
  for (const plan::FusionGroup& group : plan_of(graph, compute).groups)
    words += fmt::format("{}{}", words.empty() ? "" : " ", name_of(group.strategy()));
  return words;
}

// The conditions on positions without which a key has no weight.
size_t bounds_of(const std::string& program) {
  const Graph graph = graph_of(program);
  return plan_of(graph, 90).groups.at(0).schedule->chain.value().seen.size();
}

const std::string kScores = "r = arange(512)[:, None]\ni = arange(512)\ns = f32(q) @ f32(k).mT\n";

TEST(Attention, IsOneKernelHoweverItIsWritten) {
  const std::string full = "return scaled_dot_product_attention(q, k, v)\n";
  EXPECT_EQ(kernels_of(full), "chain");
  EXPECT_EQ(kernels_of(full, "f16", 80), "chain");
  EXPECT_EQ(kernels_of("return softmax(q @ k.mT / 8) @ v\n"), "chain");
  EXPECT_EQ(kernels_of(kScores + "return gelu(f32(bf16(softmax(30 * tanh(s / 30))) @ v) + f32(q))\n"), "chain");
  EXPECT_EQ(kernels_of(kScores + "e = exp(s - max(s, axis=-1, keepdims=True))\n"
                                 "return bf16(e / sum(e, axis=-1, keepdims=True)) @ v\n"),
            "chain");
}

TEST(Attention, IsSeveralKernelsElsewhere) {
  const std::string full = "return scaled_dot_product_attention(q, k, v)\n";
  EXPECT_EQ(kernels_of(full, "bf16", 75).find("chain"), std::string::npos);
  EXPECT_EQ(kernels_of(full, "f32").find("chain"), std::string::npos);
  // Weights that are asked for, or that the sum of others divides.
  EXPECT_EQ(kernels_of("p = softmax(q @ k.mT)\nreturn p @ v, p\n").find("chain"), std::string::npos);
  EXPECT_EQ(kernels_of("p = softmax(q @ k.mT, axis=-2)\nreturn p @ v\n").find("chain"), std::string::npos);
  EXPECT_EQ(kernels_of(kScores + "e = exp(s - max(s, axis=-1, keepdims=True))\n"
                                 "return bf16(e / sum(e * e, axis=-1, keepdims=True)) @ v\n")
                .find("chain"),
            std::string::npos);
}

TEST(Attention, LeavesOutKeysThatNothingSees) {
  EXPECT_EQ(bounds_of("return scaled_dot_product_attention(q, k, v)\n"), 0u);
  EXPECT_EQ(bounds_of("return scaled_dot_product_attention(q, k, v, causal=True)\n"), 1u);
  EXPECT_EQ(bounds_of(kScores + "return bf16(softmax(where((i <= r) & (i > r - 100), s, -inf))) @ v\n"), 2u);
  // Other values than -inf have weight, and so has a key that one of two conditions leaves.
  EXPECT_EQ(bounds_of(kScores + "return bf16(softmax(where(i <= r, s, -1000))) @ v\n"), 0u);
  EXPECT_EQ(bounds_of(kScores + "return bf16(softmax(where((i <= r) | (i < 7), s, -inf))) @ v\n"), 0u);
}

// What is scratch of lanes and the registers of matrix units is proved to lie alike.
TEST(Attention, KernelsOfOtherLayoutsAreRefused) {
  const Graph graph = graph_of("return scaled_dot_product_attention(q, k, v, causal=True)\n", "bf16", 256);
  const plan::Plan plan = plan_of(graph, 90);
  const kernel::Kernel made = kernel::lower(graph, plan.groups.at(0), *plan.groups.at(0).schedule, "k");
  EXPECT_NO_THROW(kernel::verify(made));
  const auto refused = [&](const auto& change) {
    kernel::Kernel other = made;
    change(other);
    return message_of<InternalError>([&] { kernel::verify(other); });
  };
  const std::string first = "internal error in smelt: kernel k: scratch0 is not what fragment 0 has in registers";
  EXPECT_EQ(refused([](kernel::Kernel& k) { k.fragments[0].columns *= 2; }), first);
  EXPECT_EQ(refused([](kernel::Kernel& k) { k.fragments[1].down /= 2; }),
            "internal error in smelt: kernel k: scratch2 is not what fragment 1 has in registers");
  EXPECT_EQ(refused([](kernel::Kernel& k) { k.fragments[1].has_weights = false; }),
            "internal error in smelt: kernel k: the rows of fragment 1 have no weights");
  EXPECT_EQ(refused([](kernel::Kernel& k) {
              k.buffers[static_cast<size_t>(k.fragments[0].registers)].scope = kernel::Scope::Workgroup;
            }),
            first);
  EXPECT_EQ(refused([](kernel::Kernel& k) { std::swap(k.fragments[0].registers, k.fragments[1].registers); }),
            "internal error in smelt: kernel k: scratch0 is not what fragment 1 has in registers");
}

}  // namespace
}  // namespace smelt::schedule

#include "plan/channels_last.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "frontends/language.hpp"
#include "graph/graph.hpp"

namespace smelt::plan {
namespace {

using ::testing::HasSubstr;

// As compile() prepares programs for a GPU.
std::optional<StoredCopies> copied(const std::string& program, int compute = 90) {
  const Graph graph = with_local_reductions(simplify(lang::parse_program(program, "<test>")), 64, false, compute >= 80);
  Options options;
  options.target.device = "cuda", options.target.gpu = true, options.target.threads = 132;
  options.target.compute = compute;
  return with_channels_last(graph, options);
}

std::string convolution(const std::string& dtype, int channels, const std::string& how) {
  const std::string c = std::to_string(channels);
  return "input x: " + dtype + "[32, " + c + ", 56, 56]\ninput w: " + dtype + "[64, " + c + ", 3, 3]\nreturn " + how +
         "\n";
}

TEST(ChannelsLast, AreStoredForMatrixUnits) {
  const auto made = copied(convolution("bf16", 64, "conv(x, w, padding=1)"));
  ASSERT_TRUE(made);
  verify(made->graph);
  ASSERT_EQ(made->splits.size(), 2u);
  for (const Split& split : made->splits) {
    const Node& copy = made->graph.at(split.last);
    EXPECT_EQ(copy.kind, NodeKind::Cast);
    EXPECT_EQ(copy.dtype, DType::BF16) << "windows are of halves";
    EXPECT_TRUE(copy.shape.back().is(64)) << str(copy.shape);
    EXPECT_GT(split.times_as_long, 1);
  }
  const std::string text = print(made->graph);
  EXPECT_THAT(text, HasSubstr("window bf16[32, 64, 56, 56, 3, 3]"));
  EXPECT_THAT(text, HasSubstr("cast bf16[32, 56, 56, 64]")) << "without the zeros around it";
}

// Under autocast: pads and casts of computed halves, which nobody reads any more.
TEST(ChannelsLast, LeaveNothingUnusedBehind) {
  const auto made = copied(
      "input x: f32[8, 128, 128, 64]\ninput w: f32[64, 64, 3, 3]\n"
      "return conv(permute(bf16(x), (0, 3, 1, 2)), bf16(w) / 32, padding=1)\n");
  ASSERT_TRUE(made);
  Graph kept = made->graph;
  drop_unused(kept);
  EXPECT_EQ(kept.nodes.size(), made->graph.nodes.size());
}

TEST(ChannelsLast, AreStoredOnceForSeveralConvolutions) {
  const auto made = copied(convolution("f16", 32, "conv(x, w, padding=1), conv(x, w + 1)"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->splits.size(), 3u) << "the image, and weights of each";
}

TEST(ChannelsLast, ArePointlessElsewhere) {
  EXPECT_FALSE(copied(convolution("bf16", 64, "conv(x, w, padding=1)"), 75)) << "no matrix units";
  EXPECT_FALSE(copied(convolution("f32", 64, "conv(x, w, padding=1)"))) << "f32";
  EXPECT_FALSE(copied(convolution("bf16", 12, "conv(x, w, padding=1)"))) << "channels are no words";
  EXPECT_FALSE(
      copied("input x: bf16[32, 56, 56, 64]\ninput w: bf16[64, 3, 3, 64]\n"
             "return conv(permute(x, (0, 3, 1, 2)), permute(w, (0, 3, 1, 2)))\n"))
      << "they lie last";
  EXPECT_FALSE(copied("input a: bf16[512, 512]\ninput b: bf16[512, 512]\nreturn a @ b\n")) << "a product";
}

}  // namespace
}  // namespace smelt::plan
